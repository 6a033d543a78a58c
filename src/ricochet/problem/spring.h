#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ricochet::problem {

/// -ln e of a spring with the share zeta of critical damping that pushes and does not pull: the
/// contact ends where its force does, before the gap is zero again. [Schwager 2007]
inline double spring_loss(double zeta) {
  const double rest = 1.0 - zeta * zeta;
  const double root = std::sqrt(std::abs(rest));
  if (root < 1e-8) return 2.0;
  if (rest < 0.0) return zeta / root * std::log((zeta + root) / (zeta - root));
  return zeta / root * (std::numbers::pi - std::atan2(2.0 * zeta * root, 1.0 - 2.0 * zeta * zeta));
}

/// The share of critical damping that gives a spring the restitution e; at most that of 0.001.
inline double damping_ratio(double e) {
  const double loss = -std::log(std::max(e, 1e-3));
  double low = 0.0;
  double high = 17.0;  // e = 0.00086
  double f_low = -loss;
  double f_high = spring_loss(high) - loss;
  double zeta = loss / std::hypot(std::numbers::pi, loss);  // of a spring that pulls too
  for (int k = 0; k < 60 && high - low > 1e-12; ++k) {
    const double f = spring_loss(zeta) - loss;
    if (std::abs(f) <= 1e-12) break;
    (f < 0.0 ? low : high) = zeta;
    (f < 0.0 ? f_low : f_high) = f;
    (f < 0.0 ? f_high : f_low) *= 0.5;  // the rule of Illinois
    zeta = low + (high - low) * f_low / (f_low - f_high);
  }
  return zeta;
}

/// How many steps a contact with a spring lasts where no stiffness is stated.
inline constexpr double kSpringSteps = 20.0;

/// The stiffness of a wall: what is stated, or by the mass m that it stops and the step.
inline double spring_stiffness(double stated, double m, double h) {
  const double lasting = kSpringSteps * h / std::numbers::pi;
  return stated > 0.0 ? stated : m / (lasting * lasting);
}

/// The force of a spring and its dashpot over a step of length h, which pushes and does not pull:
/// r = max(0, -k g - c (U + U+)/2), with U+ of this contact alone; `mean` is (U + U+)/2 without r.
inline double spring_force(double stiffness, double m, double e, double gap, double mean,
                           double h) {
  const double dashpot = 2.0 * damping_ratio(e) * std::sqrt(stiffness * m);
  return std::max(0.0, (-stiffness * gap - dashpot * mean) / (1.0 + 0.5 * h * dashpot / m));
}

}  // namespace ricochet::problem
