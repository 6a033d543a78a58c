#pragma once

#include <cassert>
#include <functional>
#include <vector>

#include "ricochet/plot/point.h"

namespace ricochet::plot {

/// Values of a function on a grid of columns x rows points, row by row from the lowest y.
struct Grid {
  int columns{0};
  int rows{0};
  Point low;   // corner of the smallest x and y
  Point high;  // opposite corner
  std::vector<double> values;

  Point point(int column, int row) const {
    return {low.x + (high.x - low.x) * column / (columns - 1),
            low.y + (high.y - low.y) * row / (rows - 1)};
  }
  double value(int column, int row) const {
    assert(column >= 0 && column < columns && row >= 0 && row < rows);
    return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                  static_cast<std::size_t>(column)];
  }
};

/// The curves where the values are zero (marching squares). Each curve runs with the negative side
/// on its right. Where it crosses an edge of the grid is interpolated, and then found exactly where
/// the function itself is given; a change of sign without a zero (a pole) makes no curve.
std::vector<std::vector<Point>> zero_curves(const Grid& grid,
                                            const std::function<double(Point)>& f = {});

}  // namespace ricochet::plot
