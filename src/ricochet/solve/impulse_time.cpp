#include "ricochet/solve/impulse_time.h"

#include <algorithm>
#include <limits>

namespace ricochet::solve {
namespace {

using Eigen::Vector2d;
using Phase = ImpulseTime::Phase;

/// Of one phase: R_T per R_N, and the sense of the slip in it.
struct Sliding {
  Phase phase;
  double ratio;
};

/// Where the slip is not zero its sense decides; where it is, it stays so if the cone allows.
Sliding phase_at(const Eigen::Matrix2d& W, double slip, const convex::Segment& section) {
  if (slip > 0.0) return {Phase::Forward, section.low};
  if (slip < 0.0) return {Phase::Backward, section.high};
  const double stuck = -W(1, 0) / W(1, 1);  // keeps U_T = 0
  if (stuck < section.low) return {Phase::Forward, section.low};
  if (stuck > section.high) return {Phase::Backward, section.high};
  return {Phase::Stick, stuck};
}

}  // namespace

ImpulseTime follow_shock(const Eigen::Matrix2d& W, const Vector2d& before,
                         const convex::Segment& section, double e) {
  ImpulseTime shock;
  shock.velocity = before;
  const double target = -e * before.x();
  constexpr int kMostPhases = 4;  // slip, stop or turn, end
  for (int count = 0; count < kMostPhases && shock.velocity.x() < target; ++count) {
    const Sliding now = phase_at(W, shock.velocity.y(), section);
    const Vector2d rate = W * Vector2d(1.0, now.ratio);  // dU / dR_N
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const double to_end = rate.x() > 0.0 ? (target - shock.velocity.x()) / rate.x() : kNever;
    const bool stops = now.phase != Phase::Stick && shock.velocity.y() * rate.y() < 0.0;
    const double to_stop = stops ? -shock.velocity.y() / rate.y() : kNever;
    const double length = std::min(to_end, to_stop);
    if (length == kNever) break;
    shock.phases.push_back(now.phase);
    shock.impulse += length * Vector2d(1.0, now.ratio);
    shock.velocity += length * rate;
    if (to_stop <= to_end) shock.velocity.y() = 0.0;
    if (to_end <= to_stop) shock.velocity.x() = target;
    if (now.phase == Phase::Stick) shock.velocity.y() = 0.0;
  }
  shock.ended = shock.velocity.x() >= target;
  return shock;
}

}  // namespace ricochet::solve
