#pragma once

#include <limits>

namespace ricochet::certify {

/// How well impulses of bodies obey the law. Whatever the level, momentum, places, r in K, gaps and
/// the ledger are exact to rounding: what the lower two leave open is how fast a contact creeps
/// that should stick or stay shut, delta_i = |F_i| / rho_i [m/s].
enum class Level : char {
  Exact,    // the scale-free residual is at most `residual`
  Tight,    // that residual is at most 1e-6, and |delta| at most 1e-8 of the free velocities
  Bounded,  // delta is at most `speed`, or where none is stated what its group may have
};

/// How much a certificate tolerates. All numbers are written into the summary.
struct Limits {
  double residual{1e-10};       // [-], scale-free residual of one step
  Level aim{Level::Tight};      // of bodies: what a step with many contacts is solved to
  Level least{Level::Bounded};  // and what it may fall to; with few contacts it is exact
  double speed{0.0};            // [m/s] of Level::Bounded; 0: a hundredth of g h
  double meeting{1e-4};         // [-], of the speed at which bodies of a group meet: Bounded too
  double balance{1e-10};        // [-], momentum and kinematics, relative
  double lost{1e-6};            // [-], of a coordinate's way, by rounding: the digits are not there
  double correction{1e-9};      // [-], of a violation correction, relative
  double growth{10.0};          // [-], of T + V with nothing to drive the motion
  double created{0.01};         // [-], of the largest energy: by contacts whose law knows none
  double closure{1e-6};         // [-], of the same: what the ledger of a structure may miss
  double spring_gain{0.25};     // [-], of the same: what springs of structures may give in all
  double violation{std::numeric_limits<double>::infinity()};  // [gap]
  double arc{100.0};       // times the accuracy that the scene states: of an arc, relative
  double touching{1e-12};  // of what a gap is computed from: contact at an impact that was located
  double touching_gap{0.0};  // [gap], the same where it is known beforehand
  double rest{1e-3};         // of the first of a row of impacts: slower ones can be infinitely many
  double shock_speed{-1.0};  // [gap/s]; < 0: a fraction of the largest speed so far
  double shock_fraction{1e-3};  // [-], that fraction, speeds in the norm sqrt(2 T)
  bool tells_own_work{false};   // of schemes that damp or feed a motion; costs two forces a step

  /// delta of Level::Bounded in a step that gives a free body the velocity `gh`, for bodies that do
  /// not meet: the strict limit.
  double creep_limit(double gh) const { return speed > 0.0 ? speed : 0.01 * gh; }
  /// And what a group whose bodies meet may have instead, where that is more: a part of the largest
  /// speed at which they do. None where a speed is stated.
  double creep_part() const { return speed > 0.0 ? 0.0 : meeting; }
  /// Whether so many free bodies may be held to no more than `level`: where none is stated, a few
  /// bodies are exact.
  bool may_fall(Level level, int bodies) const {
    constexpr int kFew = 8;
    return level <= least && (aim == least || bodies > kFew);
  }
};

}  // namespace ricochet::certify
