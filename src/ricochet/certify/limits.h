#pragma once

#include <limits>

namespace ricochet::certify {

/// How much a certificate tolerates. All numbers are written into the summary.
struct Limits {
  double residual{1e-10};    // [-], scale-free residual of one step
  double balance{1e-10};     // [-], momentum and kinematics, relative
  double lost{1e-6};         // [-], of a coordinate's way, by rounding: the digits are not there
  double correction{1e-9};   // [-], of a violation correction, relative
  double growth{10.0};       // [-], of T + V with nothing to drive the motion
  double created{0.01};      // [-], of the largest energy: by contacts whose law knows none
  double closure{1e-6};      // [-], of the same: what the ledger of a structure may miss
  double spring_gain{0.25};  // [-], of the same: what springs of structures may give in all
  double violation{std::numeric_limits<double>::infinity()};  // [gap]
  double arc{100.0};       // times the accuracy that the scene states: of an arc, relative
  double touching{1e-12};  // of what a gap is computed from: contact at an impact that was located
  double touching_gap{0.0};  // [gap], the same where it is known beforehand
  double rest{1e-3};         // of the first of a row of impacts: slower ones can be infinitely many
  double shock_speed{-1.0};  // [gap/s]; < 0: a fraction of the largest speed so far
  double shock_fraction{1e-3};  // [-], that fraction, speeds in the norm sqrt(2 T)
  bool tells_own_work{false};   // of schemes that damp or feed a motion; costs two forces a step
};

}  // namespace ricochet::certify
