#include "ricochet/solve/impulse_time.h"

#include <algorithm>
#include <cmath>
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

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The impulse after which the shock is over, from U_N = u at the rate r = dU_N/dR_N; `impulse` and
/// the works so far are those of the shock.
class End {
 public:
  End(double before, double e, Restitution kind) : before_(before), e_(e), kind_(kind) {}

  /// Once, where the compression ends.
  void turn(const ImpulseTime& shock) { impulse_ = (1.0 + e_) * shock.impulse.x(); }

  double left(const ImpulseTime& shock, double u, double r) const {
    if (kind_ == Restitution::Poisson) return std::max(0.0, impulse_ - shock.impulse.x());
    if (kind_ == Restitution::Newton) {
      const double more = -e_ * before_ - u;
      return more <= 0.0 ? 0.0 : r > 0.0 ? more / r : kNever;
    }
    const double work = -e_ * e_ * shock.compression - shock.expansion;  // u x + r x^2 / 2
    if (work <= 0.0) return 0.0;
    const double root = u * u + 2.0 * r * work;
    return root > 0.0 ? 2.0 * work / (u + std::sqrt(root)) : kNever;
  }

 private:
  double before_, e_;
  Restitution kind_;
  double impulse_{0.0};
};

}  // namespace

ImpulseTime follow_shock(const Eigen::Matrix2d& W, const Vector2d& before,
                         const convex::Segment& section, double e, Restitution kind) {
  ImpulseTime shock;
  shock.velocity = before;
  shock.ended = !(before.x() < 0.0);
  End end(before.x(), e, kind);
  bool expands = false;
  constexpr int kMostPieces = 6;  // slip, stop or turn, end of compression, end
  for (int count = 0; count < kMostPieces && !shock.ended; ++count) {
    const Sliding now = phase_at(W, shock.velocity.y(), section);
    const Vector2d rate = W * Vector2d(1.0, now.ratio);  // dU / dR_N
    const double u = shock.velocity.x();
    const double to_end = expands          ? end.left(shock, u, rate.x())
                          : rate.x() > 0.0 ? -u / rate.x()
                                           : kNever;
    const bool stops = now.phase != Phase::Stick && shock.velocity.y() * rate.y() < 0.0;
    const double to_stop = stops ? -shock.velocity.y() / rate.y() : kNever;
    const double length = std::min(to_end, to_stop);
    if (length == kNever) return shock;
    const bool is_same = !shock.phases.empty() && shock.phases.back() == now.phase;
    if (length > 0.0 && !is_same) shock.phases.push_back(now.phase);
    shock.impulse += length * Vector2d(1.0, now.ratio);
    shock.velocity += length * rate;
    (expands ? shock.expansion : shock.compression) += length * (u + 0.5 * length * rate.x());
    if (to_stop <= to_end || now.phase == Phase::Stick) shock.velocity.y() = 0.0;
    if (to_end > to_stop) continue;
    if (expands || e == 0.0) {
      shock.ended = true;
      if (e == 0.0) shock.velocity.x() = 0.0;
      if (kind == Restitution::Newton) shock.velocity.x() = -e * before.x();
    } else {
      shock.velocity.x() = 0.0;
      end.turn(shock);
    }
    expands = true;
  }
  return shock;
}

}  // namespace ricochet::solve
