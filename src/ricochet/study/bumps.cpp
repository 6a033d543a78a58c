#include "ricochet/study/bumps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ricochet/formula/derivative.h"

namespace ricochet::study {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kBumpMatters = 0.01;   // of the way of a step
constexpr int kMostBumpPieces = 20000;  // that may be looked at, and a few more in each step
constexpr std::size_t kMostBumpRows = 32;
constexpr std::size_t kMostOfARow = 8;  // of a row

double magnitude(formula::Range range) {
  return std::max(std::abs(range.low), std::abs(range.high));
}

}  // namespace

Bumps::Bumps(const model::FormulaModel* model, bool are_springs)
    : model_(model), are_springs_(are_springs) {
  if (model == nullptr || model->outside() != nullptr || !model->has_constant_mass()) return;
  const model::FormulaSystem& system = model->system();
  formula::Graph graph = system.graph;
  for (int a = 0; a < model->contacts(); ++a) {
    const formula::NodeId gap = system.gaps[static_cast<std::size_t>(a)];
    std::vector<int> slots = graph.inputs_of(gap);
    const bool moves = std::erase(slots, model::FormulaSystem::kTimeSlot) > 0;
    if (slots.empty() || slots.size() > kMostOfARow) continue;
    Row row;
    row.contact = a;
    row.moves = moves;
    row.is_joint = a >= model->contacts() - model->joints();
    for (const int slot : slots) row.coordinates.push_back(static_cast<std::size_t>(slot - 1));
    slots.push_back(model::FormulaSystem::kTimeSlot);
    const std::vector<formula::NodeId> slopes = formula::gradient(graph, gap, slots);
    std::vector<formula::NodeId> curves;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::vector<int> others(slots.begin() + static_cast<std::ptrdiff_t>(i), slots.end());
      const auto more = formula::gradient(graph, slopes[i], others);
      curves.insert(curves.end(), more.begin(), more.end());
    }
    const bool affine = std::all_of(curves.begin(), curves.end(),
                                    [&](formula::NodeId id) { return graph.is_constant(id, 0.0); });
    if (affine) continue;
    row.tape = formula::Tape(graph, system.inputs(), {{gap}, slopes, curves});
    row.curves.assign(curves.size(), kUnbounded);
    row.box.assign(row.coordinates.size(), {kUnbounded, -kUnbounded});
    rows_.push_back(std::move(row));
  }
  if (rows_.size() > kMostBumpRows) rows_.clear();
}

bool Bumps::is_inside(const Row& row) const {
  bool inside = !row.moves || (t1_ >= row.times.low && t1_ <= row.times.high);
  for (std::size_t k = 0; k < row.coordinates.size(); ++k) {
    const std::size_t i = row.coordinates[k];
    inside = inside && std::min(q0_[i], q1_[i]) >= row.box[k].low &&
             std::max(q0_[i], q1_[i]) <= row.box[k].high;
  }
  return inside;
}

/// A box around the end of the step, its second derivatives, and the slope there.
void Bumps::take_box(Row& row) {
  const double h = std::abs(t1_ - t0_);
  ranges_ = row.tape.range_registers();
  ranges_[0] = row.times = {t1_ - row.reach * h, t1_ + row.reach * h};
  for (std::size_t k = 0; k < row.coordinates.size(); ++k) {
    const std::size_t i = row.coordinates[k];
    const double r = row.reach * moved(i) + 1e-12 * std::abs(q1_[i]);
    ranges_[1 + i] = row.box[k] = {q1_[i] - r, q1_[i] + r};
  }
  for (int group = 0; group < 3; ++group) row.tape.bound(group, ranges_.data());
  for (std::size_t k = 0; k < row.curves.size(); ++k) {
    row.curves[k] = magnitude(ranges_[row.tape.outputs(2)[k]]);
  }
  row.size = size_at_end(row);
}

/// |dg/dq| at the end of the step, in the metric of the masses.
double Bumps::size_at_end(Row& row) {
  gap_at(row, 1.0);
  row.tape.run(1, registers_.data());
  model::Vector<model::kDynamic> slope = model::Vector<model::kDynamic>::Zero(model_->dofs());
  for (std::size_t k = 0; k < row.coordinates.size(); ++k) {
    slope[static_cast<Eigen::Index>(row.coordinates[k])] = registers_[row.tape.outputs(1)[k]];
  }
  model::Vector<model::kDynamic> solved(model_->dofs());
  model_->mass().solve(slope, solved);
  return std::sqrt(std::max(0.0, slope.dot(solved)));
}

void Bumps::follow_spring(Row& row, double gap) {
  constexpr double kEven = 2.0;
  if (gap > 0.0) {
    row.most = 0.0;
    return;
  }
  const double size = size_at_end(row);
  row.least = row.most > 0.0 ? std::min(row.least, size) : size;
  row.most = std::max(row.most, size);
  if (row.most > kEven * row.least && !uneven_) {
    uneven_ = {t0_, static_cast<std::size_t>(row.contact)};
  }
}

/// A bound of the second derivative along the way.
double Bumps::curve(const Row& row) const {
  const std::size_t n = row.coordinates.size();
  std::array<double, kMostOfARow + 1> way;
  for (std::size_t k = 0; k < n; ++k) way[k] = moved(row.coordinates[k]);
  way[n] = std::abs(t1_ - t0_);
  double sum = 0.0;
  const double* bound = row.curves.data();
  for (std::size_t i = 0; i <= n; ++i) {
    double part = 0.5 * *bound++ * way[i];
    for (std::size_t j = i + 1; j <= n; ++j) part += *bound++ * way[j];
    sum += part * way[i];
  }
  return 2.0 * sum;
}

/// Whether the gap leaves its line by less than what matters: an eighth of the curve at most.
bool Bumps::is_straight(const Row& row, double square) const {
  const double most = curve(row);
  const double limit = 8.0 * kBumpMatters * row.size;
  return most * most <= limit * limit * square;
}

/// The gap on the way from one end of the step, 0, to the other, 1.
double Bumps::gap_at(Row& row, double s) {
  registers_ = row.tape.registers();
  registers_[0] = t0_ + s * (t1_ - t0_);
  for (const std::size_t i : row.coordinates) registers_[1 + i] = q0_[i] + s * (q1_[i] - q0_[i]);
  row.tape.run(0, registers_.data());
  return registers_[row.tape.outputs(0)[0]];
}

/// Whether the gap leaves the line between `at` and a step's way later by more than `limit`, and by
/// more than a curve, or a kink, explains that the ways around show too; or that cannot be excluded
/// any more.
bool Bumps::has_bump(Row& row, double limit, double at) {
  const double before = gap_at(row, at - 1.0), start = gap_at(row, at);
  const double end = gap_at(row, at + 1.0), after = gap_at(row, at + 2.0);
  const double bend = std::min(std::abs(before - 2.0 * start + end),  // of steps around
                               std::abs(start - 2.0 * end + after));
  limit = std::max({limit, bend, 0.5 * std::abs(after - end - start + before)});
  struct Piece {
    double from, to;
  };
  std::vector<Piece> pieces = {{at, at + 1.0}};
  ranges_ = row.tape.range_registers();
  const auto bound = [&](const Piece& piece) {
    const auto between = [&](double a, double b) {
      const double one = a + piece.from * (b - a), other = a + piece.to * (b - a);
      return formula::Range{std::min(one, other), std::max(one, other)};
    };
    ranges_[0] = between(t0_, t1_);
    for (const std::size_t i : row.coordinates) ranges_[1 + i] = between(q0_[i], q1_[i]);
    row.tape.bound(0, ranges_.data());
    row.tape.bound(1, ranges_.data());
    formula::Range change =
        ranges_[row.tape.outputs(1).back()] * formula::Range{t1_ - t0_, t1_ - t0_};
    for (std::size_t k = 0; k < row.coordinates.size(); ++k) {
      const double way = q1_[row.coordinates[k]] - q0_[row.coordinates[k]];
      change = change + ranges_[row.tape.outputs(1)[k]] * formula::Range{way, way};
    }
    return 0.5 * (piece.to - piece.from) *
           magnitude({change.low - (end - start), change.high - (end - start)});
  };
  while (!pieces.empty()) {
    if (left_-- <= 0) return true;
    const Piece piece = pieces.back();
    pieces.pop_back();
    const double middle = 0.5 * (piece.from + piece.to);
    const double off = gap_at(row, middle) - (start + (middle - at) * (end - start));
    if (-off > limit || (row.is_joint && off > limit)) return true;
    if (std::abs(off) + bound(piece) <= limit || piece.to - piece.from < 0x1p-24) continue;
    pieces.push_back({middle, piece.to});
    pieces.push_back({piece.from, middle});
  }
  return false;
}

/// Whether the way of the step before was nearly that of this one.
bool Bumps::goes_on() const {
  constexpr double kNearly = 0.1;
  double off = 0.0, most = 0.0;
  for (std::size_t i = 0; i < q1_.size(); ++i) {
    const double way = i < q_.size() ? q0_[i] - q_[i] : kUnbounded;
    off = std::max(off, std::abs(q1_[i] - q0_[i] - way));
    most = std::max(most, moved(i));
  }
  return off <= kNearly * most;
}

void Bumps::follow(const step::Sample& sample) {
  q_.swap(q0_);
  q0_.swap(q1_);
  t0_ = t1_;
  q1_.resize(sample.q.size());
  std::copy(sample.q.begin(), sample.q.end(), q1_.begin());
  t1_ = sample.t;
  if (q0_.empty() || first_ || !(sample.kinetic > 0.0 && t1_ != t0_)) return;
  left_ = std::min(left_ + 4, kMostBumpPieces);
  const double square = 2.0 * sample.kinetic * (t1_ - t0_) * (t1_ - t0_);  // of the way
  for (Row& row : rows_) {
    const auto a = static_cast<std::size_t>(row.contact);
    if (are_springs_ && !row.is_joint) follow_spring(row, sample.gaps[a]);
    if (!row.is_joint && sample.impulses[a] == 0.0 && sample.gaps[a] > 0.0) continue;
    if (!is_inside(row)) take_box(row);
    if (is_straight(row, square)) {
      row.reach = std::min(4096.0, row.reach * 1.01);
      continue;
    }
    row.reach = std::max(4.0, 0.5 * row.reach);
    take_box(row);
    if (is_straight(row, square)) continue;
    const double limit = kBumpMatters * row.size * std::sqrt(square);
    // A bump at the end of a step shows between the middles of two.
    if (has_bump(row, limit, 0.0) || (goes_on() && has_bump(row, limit, -0.5))) first_ = {t0_, a};
  }
}

}  // namespace ricochet::study
