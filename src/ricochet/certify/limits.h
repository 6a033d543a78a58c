#pragma once

#include <limits>

namespace ricochet::certify {

/// How much a certificate tolerates. All numbers are written into the summary.
struct Limits {
  double residual{1e-10};   // [-], scale-free residual of one step
  double balance{1e-10};    // [-], momentum and kinematics, relative
  double correction{1e-9};  // [-], of a violation correction, relative
  double growth{10.0};      // [-], of T + V with nothing to drive the motion
  double violation{std::numeric_limits<double>::infinity()};  // [gap]
  double shock_speed{-1.0};             // [gap/s]; < 0: a fraction of the run's largest speed
  double shock_fraction{1e-3};          // [-], that fraction, speeds in the norm sqrt(2 T)
  bool energy_is_watched{true};         // false for a scheme known to drift
  double restitution{kAnyRestitution};  // the law of the contacts, or kOwnRestitution
  static constexpr double kAnyRestitution = -2.0;  // whatever the scheme says
};

}  // namespace ricochet::certify
