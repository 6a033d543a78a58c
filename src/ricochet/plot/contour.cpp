#include "ricochet/plot/contour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace ricochet::plot {
namespace {

/// An edge of the grid: from its lower left point to the right (0) or upwards (1).
using Edge = std::array<int, 3>;  // column, row, direction

/// The ends of an edge, and the values there.
struct Crossing {
  Point from;
  Point to;
  double a{0.0};
  double b{0.0};
  Point at(double part) const {
    return {from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)};
  }
};

Crossing ends_of(const Grid& grid, const Edge& edge) {
  const int next_column = edge[0] + (edge[2] == 0 ? 1 : 0);
  const int next_row = edge[1] + (edge[2] == 0 ? 0 : 1);
  return {grid.point(edge[0], edge[1]), grid.point(next_column, next_row),
          grid.value(edge[0], edge[1]), grid.value(next_column, next_row)};
}

/// Where on the edge the function changes its sign, by bisection; nothing where it has a pole.
std::optional<Point> crossing(const Grid& grid, const Edge& edge,
                              const std::function<double(Point)>& f) {
  const Crossing ends = ends_of(grid, edge);
  if (!f) return ends.at(ends.a / (ends.a - ends.b));
  double low = 0.0;
  double high = 1.0;
  double value = ends.a;
  constexpr int kHalvings = 16;  // of two pixels
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    value = f(ends.at(middle));
    if (!std::isfinite(value)) return std::nullopt;
    ((value < 0.0) == (ends.a < 0.0) ? low : high) = middle;
  }
  const double largest = std::max(std::abs(ends.a), std::abs(ends.b));
  if (std::abs(value) > largest) return std::nullopt;
  return ends.at(0.5 * (low + high));
}

/// The directed pieces of curve in one cell: pairs of edges, the negative side on the right.
void cell_pieces(const Grid& grid, int column, int row,
                 std::vector<std::pair<Edge, Edge>>& pieces) {
  const std::array<Edge, 4> side = {Edge{column, row, 0}, Edge{column + 1, row, 1},
                                    Edge{column, row + 1, 0}, Edge{column, row, 1}};
  const std::array<double, 4> corner = {grid.value(column, row), grid.value(column + 1, row),
                                        grid.value(column + 1, row + 1),
                                        grid.value(column, row + 1)};
  for (const double value : corner) {
    if (!std::isfinite(value)) return;
  }
  // Going round anticlockwise, a curve enters the cell where the sign turns from + to - and leaves
  // where it turns back, so that - stays on its right.
  std::vector<Edge> enters;
  std::vector<Edge> leaves;
  for (std::size_t k = 0; k < 4; ++k) {
    const bool here = corner[k] < 0.0;
    const bool next = corner[(k + 1) % 4] < 0.0;
    if (here && !next) leaves.push_back(side[k]);
    if (!here && next) enters.push_back(side[k]);
  }
  if (enters.size() == 2) {  // a saddle: the mean decides which corners are joined
    const bool joined = corner[0] + corner[1] + corner[2] + corner[3] < 0.0;
    const bool first_negative = corner[0] < 0.0;
    if (joined == first_negative) std::swap(leaves[0], leaves[1]);
  }
  for (std::size_t k = 0; k < enters.size(); ++k) pieces.emplace_back(enters[k], leaves[k]);
}

}  // namespace

std::vector<std::vector<Point>> zero_curves(const Grid& grid,
                                            const std::function<double(Point)>& f) {
  std::vector<std::pair<Edge, Edge>> pieces;
  for (int row = 0; row + 1 < grid.rows; ++row) {
    for (int column = 0; column + 1 < grid.columns; ++column)
      cell_pieces(grid, column, row, pieces);
  }
  std::map<Edge, Edge> next;
  std::map<Edge, Edge> previous;
  for (const auto& [from, to] : pieces) {
    next[from] = to;
    previous[to] = from;
  }
  std::vector<std::vector<Point>> curves;
  const auto add = [&](const Edge& edge) {
    if (const std::optional<Point> p = crossing(grid, edge, f)) {
      curves.back().push_back(*p);
    } else if (!curves.back().empty()) {
      curves.emplace_back();
    }
  };
  while (!next.empty()) {
    Edge start = next.begin()->first;
    for (auto back = previous.find(start); back != previous.end(); back = previous.find(start)) {
      start = back->second;
      if (start == next.begin()->first) break;  // a closed curve
    }
    curves.emplace_back();
    add(start);
    for (auto piece = next.find(start); piece != next.end(); piece = next.find(start)) {
      start = piece->second;
      add(start);
      previous.erase(start);
      next.erase(piece);
    }
  }
  std::erase_if(curves, [](const auto& curve) { return curve.size() < 2; });
  return curves;
}

}  // namespace ricochet::plot
