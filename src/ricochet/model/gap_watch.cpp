#include "ricochet/model/gap_watch.h"

#include <algorithm>
#include <limits>

namespace ricochet::model {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
constexpr double kReach = 64.0;  // steps that a box is made for

double most_of(formula::Range range) { return std::max(std::abs(range.low), std::abs(range.high)); }
std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Whether a formula chooses between others: its second derivatives do not know of the kinks.
bool has_kinks(const formula::Graph& graph, formula::NodeId root) {
  using formula::Op;
  for (const formula::NodeId id : graph.reachable({root})) {
    const Op op = graph[id].op;
    for (const Op kink : {Op::Abs, Op::Sign, Op::Min, Op::Max, Op::Select, Op::Less, Op::LessEqual,
                          Op::Equal, Op::Not, Op::And, Op::Or}) {
      if (op == kink) return true;
    }
  }
  return false;
}

}  // namespace

GapWatch::GapWatch(const FormulaModel& model)
    : model_(model),
      pattern_(model.pattern()),
      low_(pattern_.coordinates.size(), kInfinity),
      high_(pattern_.coordinates.size(), -kInfinity),
      slopes_(pattern_.coordinates.size(), kInfinity),
      rates_(index(model.contacts()), 0.0),
      until_(index(model.contacts()), -kInfinity),
      most_(index(model.dofs()), 0.0) {
  const formula::Tape& tape = model.gap_tape();
  const std::vector<std::size_t>& at = tape.outputs(FormulaModel::kGradients);
  for (int row = 0; row < model.contacts() - model.joints(); ++row) {
    bool affine = tape.is_constant(at[pattern_.end(row) + index(row)]);
    for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
      affine = affine && tape.is_constant(at[e + index(row)]);
    }
    if (!affine && model.outside_gap(row) < 0) rows_.push_back(row);
  }
  if (rows_.empty()) return;
  ranges_ = tape.range_registers();
  registers_ = tape.registers();
  legs_.resize(2);
  if (model.curve_tape().groups() == 0) return;
  curves_.assign(model.curve_tape().outputs(0).size(), kInfinity);
  curve_ranges_ = model.curve_tape().range_registers();
  std::size_t at_curve = 0;
  for (int row = 0; row < model.contacts() - model.joints(); ++row) {
    first_.push_back(at_curve);
    is_smooth_.push_back(has_kinks(model.system().graph, model.system().gaps[index(row)]) ? 0 : 1);
    const std::size_t n = pattern_.end(row) - pattern_.begin(row) + 1;
    at_curve += n * (n + 1) / 2;
  }
}

bool GapWatch::is_outside(const StepPath& path, std::span<const int> suspects) const {
  for (const int row : suspects) {
    if (!(path.t + 2.0 * path.h <= until_[index(row)])) return true;
    for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
      const auto i = index(pattern_.coordinates[e]);
      const double moved = 0.5 * path.h * (std::abs(path.u0[i]) + std::abs(path.u1[i]));
      if (path.q1[i] - 2.0 * moved < low_[e] || path.q1[i] + 2.0 * moved > high_[e]) return true;
    }
  }
  return false;
}

/// Bounds of all slopes over a box around the end of the step; smaller boxes for those that have
/// none.
void GapWatch::take_box(const StepPath& path, double reach) {
  for (std::size_t i = 0; i < most_.size(); ++i) {
    most_[i] = std::max(most_[i], 0.5 * path.h * (std::abs(path.u0[i]) + std::abs(path.u1[i])));
    const double r = reach * most_[i] + kRounding * std::abs(path.q1[i]);
    ranges_[1 + i] = {path.q1[i] - r, path.q1[i] + r};
  }
  ranges_[0] = {path.t - path.h, path.t + reach * path.h};
  model_.gap_tape().bound(FormulaModel::kGaps, ranges_.data());
  model_.gap_tape().bound(FormulaModel::kGradients, ranges_.data());
  if (!curves_.empty()) {
    std::copy_n(ranges_.begin(), most_.size() + 1, curve_ranges_.begin());
    model_.curve_tape().bound(0, curve_ranges_.data());
  }
  const bool is_first = reach == kReach;
  for (const int row : rows_) {
    if (!is_first && rates_[index(row)] < kInfinity) continue;
    take_slopes(index(row));
    if (!curves_.empty() && is_smooth_[index(row)] != 0) take_curves(index(row));
  }
}

void GapWatch::take_curves(std::size_t a) {
  const int row = static_cast<int>(a);
  const std::size_t n = pattern_.end(row) - pattern_.begin(row) + 1;
  const std::vector<std::size_t>& at = model_.curve_tape().outputs(0);
  for (std::size_t k = first_[a]; k < first_[a] + n * (n + 1) / 2; ++k) {
    curves_[k] = most_of(curve_ranges_[at[k]]);
  }
}

void GapWatch::take_slopes(std::size_t a) {
  const int row = static_cast<int>(a);
  const std::vector<std::size_t>& at = model_.gap_tape().outputs(FormulaModel::kGradients);
  rates_[a] = most_of(ranges_[at[pattern_.end(row) + a]]);
  until_[a] = ranges_[0].high;
  for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
    slopes_[e] = most_of(ranges_[at[e + a]]);
    if (!(slopes_[e] < kInfinity)) rates_[a] = kInfinity;
    const formula::Range place = ranges_[1 + index(pattern_.coordinates[e])];
    low_[e] = place.low;
    high_[e] = place.high;
  }
}

void GapWatch::take_legs(const StepPath& path) {
  const std::size_t n = most_.size();
  const double h = path.bends ? 0.5 * path.h : path.h;
  for (Leg& leg : legs_) {
    leg.t = path.t;
    leg.dt = h;
    leg.from.assign(path.q0.begin(), path.q0.end());
    leg.way.resize(n);
  }
  legs_[1].t += h;
  for (std::size_t i = 0; i < n; ++i) {
    if (!path.bends) {
      legs_[0].way[i] = path.q1[i] - path.q0[i];
      continue;
    }
    legs_[0].way[i] = h * path.u0[i];
    legs_[1].way[i] = h * path.u1[i];
    legs_[1].from[i] = path.q1[i] - h * path.u1[i];
  }
  pieces_.clear();
  if (path.bends) pieces_.push_back({&legs_[1], 0.0, 1.0});
  pieces_.push_back({&legs_[0], 0.0, 1.0});
}

double GapWatch::gap_at(int row, double t, std::span<const double> q, std::span<const double> u,
                        double dt) {
  registers_[0] = t + dt;
  for (std::size_t i = 0; i < q.size(); ++i) registers_[1 + i] = q[i] + dt * u[i];
  model_.gap_tape().run(FormulaModel::kGaps, registers_.data());
  return registers_[model_.gap_tape().outputs(FormulaModel::kGaps)[index(row)]];
}

double GapWatch::tolerance(const StepPath& path, int row) {
  const double d = path.h / 16.0;
  const std::vector<std::size_t>& at = model_.gap_tape().outputs(FormulaModel::kGradients);
  double allowed = kInfinity;
  for (const bool end : {false, true}) {
    const auto q = end ? path.q1 : path.q0;
    const auto u = end ? path.u1 : path.u0;
    const double t = end ? path.t + path.h : path.t;
    const double curve = gap_at(row, t, q, u, d) + gap_at(row, t, q, u, -d);
    const double gap = gap_at(row, t, q, u, 0.0);
    const double bend = std::abs(curve - 2.0 * gap) * 256.0 / 6.0;
    model_.gap_tape().run(FormulaModel::kGradients, registers_.data());
    double fall = 0.0;
    for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
      const auto i = index(pattern_.coordinates[e]);
      const double slope = std::abs(registers_[at[e + index(row)]]);
      const double turn = 0.25 * path.h * std::abs(path.u1[i] - path.u0[i]);
      fall += slope * (turn + 1024.0 * kRounding * std::abs(q[i]));
    }
    if (gap > 0.0) allowed = std::min(allowed, bend + fall);
  }
  return allowed < kInfinity ? allowed : 0.0;
}

bool GapWatch::exists_at_start(const StepPath& path, int row) {
  if (!model_.has_where()) return true;
  gap_at(row, path.t, path.q0, path.u0, 0.0);
  const std::vector<std::size_t>& at = model_.gap_tape().outputs(FormulaModel::kGaps);
  return registers_[at[index(model_.contacts() + row)]] != 0.0;
}

/// Gaps over a piece of the path.
void GapWatch::bound(const Piece& piece) {
  const Leg& leg = *piece.leg;
  const double s = 0.5 * (piece.from + piece.to);
  ranges_[0] = {leg.t + piece.from * leg.dt, leg.t + piece.to * leg.dt};
  registers_[0] = leg.t + s * leg.dt;
  for (std::size_t i = 0; i < leg.from.size(); ++i) {
    const double one = leg.from[i] + piece.from * leg.way[i];
    const double other = leg.from[i] + piece.to * leg.way[i];
    const double r = kRounding * std::abs(leg.from[i]);
    ranges_[1 + i] = {std::min(one, other) - r, std::max(one, other) + r};
    registers_[1 + i] = leg.from[i] + s * leg.way[i];
  }
  model_.gap_tape().bound(FormulaModel::kGaps, ranges_.data());
}

bool GapWatch::exists(int row) const {
  if (!model_.has_where()) return true;
  const std::vector<std::size_t>& at = model_.gap_tape().outputs(FormulaModel::kGaps);
  const formula::Range holds = ranges_[at[index(model_.contacts() + row)]];
  return holds.low != 0.0 || holds.high != 0.0;
}

/// By the bound of the gap, or by its value at the middle and the bound of its slope.
bool GapWatch::is_free(const Piece& piece, int row, double allowed) {
  const std::vector<std::size_t>& gaps = model_.gap_tape().outputs(FormulaModel::kGaps);
  const std::vector<std::size_t>& at = model_.gap_tape().outputs(FormulaModel::kGradients);
  if (!exists(row) || ranges_[gaps[index(row)]].low >= -allowed) return true;
  double change = most_of(ranges_[at[pattern_.end(row) + index(row)]]) * piece.leg->dt;
  for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
    const double way = std::abs(piece.leg->way[index(pattern_.coordinates[e])]);
    if (way > 0.0) change += most_of(ranges_[at[e + index(row)]]) * way;
  }
  return registers_[gaps[index(row)]] - 0.5 * (piece.to - piece.from) * change >= -allowed;
}

GapWatch::Finding GapWatch::search(std::span<const int> suspects, std::span<const double> allowed) {
  constexpr double kShortest = 0x1p-30;
  int left = 400;  // pieces to look at
  Finding finding;
  const std::vector<std::size_t>& gaps = model_.gap_tape().outputs(FormulaModel::kGaps);
  while (!pieces_.empty()) {
    const Piece piece = pieces_.back();
    pieces_.pop_back();
    bound(piece);
    model_.gap_tape().bound(FormulaModel::kGradients, ranges_.data());
    model_.gap_tape().run(FormulaModel::kGaps, registers_.data());
    int unsure = -1;
    for (std::size_t k = 0; k < suspects.size(); ++k) {
      const int row = suspects[k];
      if (is_free(piece, row, allowed[k])) continue;
      unsure = row;
      const double gap = registers_[gaps[index(row)]];
      const bool holds =
          !model_.has_where() || registers_[gaps[index(model_.contacts() + row)]] != 0.0;
      if (gap < -allowed[k] && holds) return {Verdict::Crossed, row, gap};
    }
    if (unsure < 0) continue;
    if (--left <= 0 || piece.to - piece.from < kShortest) {
      finding = {Verdict::Undecided, unsure, registers_[gaps[index(unsure)]]};
      if (left <= 0) return finding;
      continue;
    }
    const double middle = 0.5 * (piece.from + piece.to);
    pieces_.push_back({piece.leg, middle, piece.to});
    pieces_.push_back({piece.leg, piece.from, middle});
  }
  return finding;
}

GapWatch::Finding GapWatch::look(const StepPath& path, std::span<const int> suspects) {
  take_legs(path);
  bool is_free = true;
  for (const Piece& piece : pieces_) {
    bound(piece);
    const std::vector<std::size_t>& gaps = model_.gap_tape().outputs(FormulaModel::kGaps);
    for (const int row : suspects) {
      is_free = is_free && (!exists(row) || ranges_[gaps[index(row)]].low > 0.0);
    }
  }
  Finding finding;
  if (!is_free) {
    allowed_.clear();
    for (const int row : suspects) allowed_.push_back(tolerance(path, row));
    finding = search(suspects, allowed_);
  }
  if (is_outside(path, suspects)) {
    for (double reach = kReach; reach > 1.0; reach /= 8.0) take_box(path, reach);
  }
  return finding;
}

}  // namespace ricochet::model
