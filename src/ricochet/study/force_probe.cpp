#include "ricochet/study/force_probe.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::study {
namespace {

constexpr double kMatters = 0.01;     // of the largest momentum of a coordinate
constexpr double kPart = 1.0 / 16.0;  // of what matters
constexpr int kMostPieces = 4000;
constexpr int kDeepest = 24;  // halves of a step
constexpr std::size_t kMostCoordinates = 32;
constexpr std::size_t kMostInstructions = 2000;

}  // namespace

ForceProbe::ForceProbe(const model::FormulaModel& model, const Trace& trace, double h,
                       bool in_middle, bool nets)
    : model_(model),
      tape_(model.force_tape()),
      trace_(trace),
      h_(h),
      in_middle_(in_middle),
      nets_(nets),
      left_(kMostPieces),
      registers_(tape_.registers()),
      ranges_(tape_.range_registers()) {
  const std::size_t n = trace.positions();
  for (std::vector<double>* v :
       {&limits_, &low_, &high_, &force_, &missed_, &from_.q, &from_.u, &to_.q, &to_.u}) {
    v->assign(n, 0.0);
  }
}

/// What matters: a part of the largest momentum of a coordinate.
void ForceProbe::take_momenta() {
  model::Vector<model::kDynamic> u(model_.dofs()), p(model_.dofs());
  for (std::size_t k = 0; k < trace_.marks(); ++k) {
    if (!trace_.has(k)) continue;
    for (int i = 0; i < u.size(); ++i) {
      u[i] = trace_.values(k)[limits_.size() + static_cast<std::size_t>(i)];
    }
    model_.mass().apply(u, p);
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      limits_[i] = std::max(limits_[i], kMatters * std::abs(p[static_cast<int>(i)]));
    }
  }
}

/// Between two marks, or a little beyond the ends of the run: velocities linear, positions their
/// integral.
void ForceProbe::place_at(double time, Place& place) const {
  const std::size_t last = trace_.marks() - 1;
  const double share = time / trace_.length() * static_cast<double>(last);
  auto k = static_cast<std::size_t>(std::clamp(share, 0.0, static_cast<double>(last - 1)));
  while (k > 0 && trace_.since_start(k) > time) --k;
  while (k + 1 < last && trace_.since_start(k + 1) < time) ++k;
  const double dt = trace_.since_start(k + 1) - trace_.since_start(k);
  const double s = (time - trace_.since_start(k)) / dt;
  const std::span<const double> a = trace_.values(k), b = trace_.values(k + 1);
  place.t = trace_.time(0) + trace_.sign() * time;
  const std::size_t n = limits_.size();
  for (std::size_t i = 0; i < n; ++i) {
    place.q[i] =
        a[i] + s * (b[i] - a[i]) - 0.5 * trace_.sign() * dt * s * (1.0 - s) * (b[n + i] - a[n + i]);
    place.u[i] = a[n + i] + s * (b[n + i] - a[n + i]);
  }
}

/// Whether the way between two marks is nearly what their velocities say: else it is not known.
bool ForceProbe::is_followed(std::size_t mark) const {
  constexpr double kNearly = 0.05;
  const std::span<const double> a = trace_.values(mark), b = trace_.values(mark + 1);
  const double dt = trace_.time(mark + 1) - trace_.time(mark);
  const std::size_t n = limits_.size();
  double off = 0.0;
  double way = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    off = std::max(off, std::abs(b[i] - a[i] - 0.5 * dt * (a[n + i] + b[n + i])));
    way = std::max(way, std::abs(dt) * std::max(std::abs(a[n + i]), std::abs(b[n + i])));
  }
  return off <= kNearly * way;
}

void ForceProbe::force_at(double time, std::span<double> out) {
  place_at(time, to_);
  registers_[0] = to_.t;
  std::copy(to_.q.begin(), to_.q.end(), registers_.begin() + 1);
  std::copy(to_.u.begin(), to_.u.end(), registers_.begin() + 1 + static_cast<long>(to_.q.size()));
  tape_.run(0, registers_.data());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = registers_[tape_.outputs(0)[i]];
}

/// Steps look at forces there.
void ForceProbe::see(double time) {
  force_at(std::clamp(time, 0.0, trace_.length()), force_);
  for (std::size_t i = 0; i < force_.size(); ++i) {
    low_[i] = std::min(low_[i], force_[i]);
    high_[i] = std::max(high_[i], force_[i]);
  }
}

/// Whether bounds of the forces over a piece are beyond what was seen by more than `part` of what
/// matters.
bool ForceProbe::may_matter(const Piece& piece, double part) {
  --left_;
  const std::size_t n = limits_.size();
  place_at(piece.from, from_);
  place_at(piece.to, to_);
  ranges_[0] = {std::min(from_.t, to_.t), std::max(from_.t, to_.t)};
  for (std::size_t i = 0; i < n; ++i) {
    const double out = 0.25 * (piece.to - piece.from) * std::abs(to_.u[i] - from_.u[i]);
    ranges_[1 + i] = {std::min(from_.q[i], to_.q[i]) - out, std::max(from_.q[i], to_.q[i]) + out};
    ranges_[1 + n + i] = {std::min(from_.u[i], to_.u[i]), std::max(from_.u[i], to_.u[i])};
  }
  tape_.bound(0, ranges_.data());
  for (std::size_t i = 0; i < n; ++i) {
    const formula::Range range = ranges_[tape_.outputs(0)[i]];
    const double beyond = std::max(range.high - high_[i], low_[i] - range.low);
    if (beyond * (piece.to - piece.from) > part * limits_[i]) return true;
  }
  return false;
}

/// Whether bounds of the forces over the piece that was bounded last are near their values in its
/// middle.
bool ForceProbe::is_known(double length) const {
  for (std::size_t i = 0; i < force_.size(); ++i) {
    const formula::Range range = ranges_[tape_.outputs(0)[i]];
    const double off = std::max(range.high - force_[i], force_[i] - range.low);
    if (!(off * length <= kPart * limits_[i])) return false;
  }
  return true;
}

/// Whether what steps do not see over a piece of a few steps matters: low_ and high_ are what they
/// see. Where the motion shows it, it was seen.
bool ForceProbe::is_missed(const Piece& steps) {
  missed_.assign(missed_.size(), 0.0);
  std::vector<Piece> pieces = {{steps.from, steps.to, 0}};
  while (!pieces.empty()) {
    const Piece piece = pieces.back();
    pieces.pop_back();
    if (left_ <= 0) return false;
    if (!may_matter(piece, kPart)) continue;
    const double middle = 0.5 * (piece.from + piece.to);
    const double length = piece.to - piece.from;
    force_at(middle, force_);
    if (piece.depth < kDeepest && !is_known(length)) {
      pieces.push_back({middle, piece.to, piece.depth + 1});
      pieces.push_back({piece.from, middle, piece.depth + 1});
      continue;
    }
    for (std::size_t i = 0; i < missed_.size(); ++i) {
      const double beyond =
          std::max(force_[i] - high_[i], 0.0) + std::min(force_[i] - low_[i], 0.0);
      missed_[i] += length * (nets_ ? beyond : std::abs(beyond));
    }
  }
  place_at(steps.from, from_);
  place_at(steps.to, to_);
  model::Vector<model::kDynamic> change(model_.dofs()), gained(model_.dofs());
  for (int i = 0; i < change.size(); ++i) {
    const auto j = static_cast<std::size_t>(i);
    change[i] = trace_.sign() * (to_.u[j] - from_.u[j]);
  }
  model_.mass().apply(change, gained);
  for (std::size_t i = 0; i < missed_.size(); ++i) {
    const double seen = 0.5 * (low_[i] + high_[i]) * (steps.to - steps.from);
    const double own = gained[static_cast<int>(i)] - seen;
    if (std::abs(missed_[i]) > limits_[i] && std::abs(own) < 0.5 * std::abs(missed_[i]))
      return true;
  }
  return false;
}

std::optional<double> ForceProbe::find() {
  const bool is_small =
      limits_.size() <= kMostCoordinates && tape_.instructions() <= kMostInstructions;
  if (!is_small || !model_.has_constant_mass() || model_.outside() != nullptr ||
      trace_.marks() < 3) {
    return {};
  }
  for (std::size_t k = 0; k < trace_.marks(); ++k) {
    if (!trace_.has(k)) return {};
  }
  take_momenta();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<Piece> pieces;
  for (std::size_t k = trace_.marks() - 1; k-- > 0;) {
    if (is_followed(k)) pieces.push_back({trace_.since_start(k), trace_.since_start(k + 1), 0});
  }
  while (!pieces.empty() && left_ > 0) {
    const Piece piece = pieces.back();
    pieces.pop_back();
    low_.assign(low_.size(), kInfinity);
    high_.assign(high_.size(), -kInfinity);
    const double first = std::floor(piece.from / h_ + 1e-6);
    const double last = std::max(first + 1.0, std::ceil(piece.to / h_ - 1e-6));
    const double shift = in_middle_ ? -0.5 : 0.0;
    see((first + shift) * h_);
    see((last - shift) * h_);
    see((std::floor(0.5 * (first + last)) - shift) * h_);
    if (last - first < 4.0) {
      for (double i = first; i < last; i += 1.0) see((i - shift) * h_);
    }
    if (!may_matter(piece, 1.0)) continue;
    if (last - first < 4.0) {
      if (is_missed(piece)) return trace_.time(0) + trace_.sign() * piece.from;
      continue;
    }
    const double middle = 0.5 * (piece.from + piece.to);
    pieces.push_back({middle, piece.to, 0});
    pieces.push_back({piece.from, middle, 0});
  }
  return {};
}

}  // namespace ricochet::study
