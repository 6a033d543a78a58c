#include "ricochet/body/turning.h"

#include <Eigen/LU>

#include "ricochet/convex/dense.h"

namespace ricochet::body {
namespace {

using Mat3 = shape::Mat<3>;

Mat3 hat(const Vec<3>& a) {
  Mat3 m;
  m << 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0;
  return m;
}

/// exp(a + d) = exp(a) exp(J d) to first order.
Mat3 right_slope(const Vec<3>& a) {
  constexpr double kSmall = 1e-2;
  const double s = a.squaredNorm();
  const double r = std::sqrt(s);
  const bool is_small = r < kSmall;
  const double one = is_small ? 0.5 - s / 24.0 : (1.0 - std::cos(r)) / s;
  const double two = is_small ? 1.0 / 6.0 - s / 120.0 : (r - std::sin(r)) / (s * r);
  return Mat3::Identity() - one * hat(a) + two * hat(a) * hat(a);
}

}  // namespace

Turning turn_by(const Body<3>& body, const Motion<3>& from, double h, const Vec<3>& moment) {
  Turning made;
  if (body.is_even) {
    made.before = from.spin;
    made.after = from.spin + moment / body.inertia(0, 0);
    made.slope = Mat3::Identity() / body.inertia(0, 0);
    return made;
  }
  constexpr int kMostRounds = 30;
  constexpr double kMostTurn = 1.0;
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  const Mat3 R = from.turn.toRotationMatrix();
  const Vec<3>& start = from.rates;
  const Vec<3> whole = body.inertia * start + R.transpose() * moment;
  // I (2Ω̄ − Ω) = exp(−hΩ̄) (I Ω + Rᵀ T)
  Vec<3> mean = 0.5 * (start + convex::SmallCholesky<3>(body.inertia).solve(whole));
  Mat3 jacobian;
  double last = std::numeric_limits<double>::infinity();
  for (int round = 0;; ++round) {
    const Vec<3> end = rotation(-h * mean) * whole;
    const Vec<3> miss = body.inertia * (2.0 * mean - start) - end;
    jacobian = 2.0 * body.inertia - h * hat(end) * right_slope(h * mean);
    const Vec<3> change = jacobian.partialPivLu().solve(miss);
    mean -= change;
    const double size = change.norm();
    if (!(size < last) || size == 0.0) break;
    last = size;
    if (round < kMostRounds) continue;
    // Roundings go on: beside one that stays another may shrink, a last digit at a time.
    made.is_found = size <= kRounding * (start.norm() + mean.norm());
    break;
  }
  const Eigen::Quaterniond half = rotation(0.5 * h * mean);
  made.is_found = made.is_found && h * mean.norm() <= kMostTurn && mean.allFinite();
  made.rates = 2.0 * mean - start;
  made.before = R * (half * start);
  made.after = R * (half * made.rates);
  made.slope = R *
               (2.0 * Mat3::Identity() +
                0.5 * h * half.toRotationMatrix() * hat(start) * right_slope(0.5 * h * mean)) *
               jacobian.inverse() * rotation(-h * mean).toRotationMatrix() * R.transpose();
  return made;
}

void finish_turning(const Body<3>& body, double h, const Motion<3>& from, Motion<3>& m) {
  const double half = 0.5 * h;
  m.turn = body.is_even ? rotation(half * (from.spin + m.spin)) * from.turn
                        : from.turn * rotation(half * (from.rates + m.rates));
  m.turn.normalize();
  if (!body.is_even) m.spin = m.turn * m.rates;
}

}  // namespace ricochet::body
