#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/trial.h"

/// What positions lose where steps are short beside them.
namespace ricochet::certify {

/// Looks at one step in many, each for all since the last: first at every one, then at distances
/// that no motion can keep time with.
template <model::Model M>
class RoundingWatch {
 public:
  using Vec = Vector<M::kDofs>;

  explicit RoundingWatch(const Vec& u) : lost_(Vec::Zero(u.size())), way_(lost_), size_(lost_) {}

  bool is_due(long long step) const { return step >= next_; }
  long long due() const { return next_; }

  /// q+ - q less what the velocities of the step say.
  [[gnu::noinline]] void look(Context<M>& c, const Trial<M>& s, long long step) {
    const double weight = static_cast<double>(std::max(step - last_, 1LL));
    last_ = step;
    next_ = step + distance_after(step);
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
    way_ += weight * wanted.cwiseAbs();
    if (is_arc) leave_out_curves(wanted, moved);
    lost_ += weight * moved;
    model::difference_size(c.model, s.after.q, moved);
    size_ = size_.cwiseMax(moved);
  }

  /// The largest part of a way that was lost, where it is more than the coordinate's own digits.
  double lost_part() const {
    double worst = 0.0;
    for (Eigen::Index i = 0; i < lost_.size(); ++i) {
      const bool matters = std::abs(lost_[i]) > 1024.0 * kEpsilon * size_[i];
      if (matters) worst = std::max(worst, std::abs(lost_[i]) / way_[i]);
    }
    return worst;
  }

 private:
  /// To the next step that is looked at: about an eighth of those made, 1024 at most, scattered by
  /// the digits of a multiple of the golden section.
  static long long distance_after(long long step) {
    constexpr double kGolden = 0.6180339887498949;
    const long long mean = std::clamp(step / 8, 1LL, 1024LL);
    const double part = kGolden * static_cast<double>(step % 65536);
    return 1 +
           static_cast<long long>((part - std::floor(part)) * static_cast<double>(2 * mean - 1));
  }

  /// The velocities of an arc's ends tell its way only where it is next to nothing.
  void leave_out_curves(const Vec& wanted, Vec& off) const {
    for (Eigen::Index i = 0; i < lost_.size(); ++i) {
      if (std::abs(wanted[i]) > 4096.0 * kEpsilon * size_[i]) off[i] = 0.0;
    }
  }

  Vec lost_;
  Vec way_;
  Vec size_;  // of the coordinates
  long long last_{0};
  long long next_{0};
};

}  // namespace ricochet::certify
