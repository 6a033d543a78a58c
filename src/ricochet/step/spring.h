#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ricochet::step {

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

}  // namespace ricochet::step
