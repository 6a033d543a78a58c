#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/trial.h"

/// What positions lose where steps are short beside them.
namespace ricochet::certify {

/// Looks at one step in many, since what adds up does so in all of them.
template <model::Model M>
class RoundingWatch {
 public:
  using Vec = Vector<M::kDofs>;

  explicit RoundingWatch(const Vec& u) : lost_(Vec::Zero(u.size())), way_(lost_), size_(lost_) {}

  bool is_due(long long step) const { return step >= next_; }
  long long due() const { return next_; }

  /// q+ - q less what the velocities of the step say.
  [[gnu::noinline]] void look(Context<M>& c, const Trial<M>& s, long long step) {
    constexpr long long kAll = 64, kStride = 251, kMany = 4096, kLongStride = 1021;  // primes
    next_ = step + (step < kAll ? 1 : step < kMany ? kStride : kLongStride);
    double start = 0.5, end = 0.5;
    switch (c.method.integrator) {
      case Integrator::End: start = 1.0, end = 0.0; break;
      case Integrator::Theta: start = 1.0 - c.method.theta, end = c.method.theta; break;
      case Integrator::MeanPosition: start = 0.0, end = 1.0; break;
      default: break;
    }
    const bool is_arc = s.claim.piece == Piece::Arc;
    if (s.claim.piece != Piece::Step && !is_arc) return;
    auto& moved = c.scratch.work;
    auto& wanted = c.scratch.slope;
    wanted = s.h * (start * s.before.u + end * s.after.u);
    if (s.is_shifted) wanted += c.scratch.shift;
    c.model.difference(s.after.q, s.before.q, moved);
    moved -= wanted;
    way_ += wanted.cwiseAbs();
    lost_ += moved;
    if (is_arc) leave_out_curves(moved, wanted);
    model::difference_size(c.model, s.after.q, moved);
    size_ = size_.cwiseMax(moved);
    ++looks_;
  }

  /// The largest part of a way that was lost, where it is more than the coordinate's own digits.
  double lost_part(long long steps) const {
    double worst = 0.0;
    if (looks_ == 0) return worst;
    const double share = static_cast<double>(looks_) / static_cast<double>(std::max(steps, 1LL));
    for (Eigen::Index i = 0; i < lost_.size(); ++i) {
      const bool matters = std::abs(lost_[i]) > 1024.0 * kEpsilon * size_[i] * share;
      if (matters) worst = std::max(worst, std::abs(lost_[i]) / way_[i]);
    }
    return worst;
  }

 private:
  /// The velocities of an arc's ends tell its way only where it is next to nothing.
  void leave_out_curves(const Vec& off, const Vec& wanted) {
    for (Eigen::Index i = 0; i < lost_.size(); ++i) {
      if (std::abs(wanted[i]) > 4096.0 * kEpsilon * size_[i]) lost_[i] -= off[i];
    }
  }

  Vec lost_;
  Vec way_;
  Vec size_;  // of the coordinates
  long long looks_{0};
  long long next_{0};
};

}  // namespace ricochet::certify
