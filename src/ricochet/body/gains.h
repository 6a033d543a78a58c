#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/body/rows.h"
#include "ricochet/body/world.h"

namespace ricochet::body {

/// Whether motions of a world need what velocities gained in the step before.
template <int D>
bool needs_gains(const World<D>& world) {
  const auto throws = [](const PairLaw& law) { return !law.looks_ahead(); };
  if (std::any_of(world.laws.begin(), world.laws.end(), throws)) return true;
  return std::any_of(world.joints.begin(), world.joints.end(), [](const Joint<D>& joint) {
    return joint.has_limits && joint.restitution > 0.0;
  });
}

/// Whether open rows with e > 0 may act before they are entered: where some pairs throw back
/// partly, and no limit of a joint does.
template <int D>
bool may_land(const World<D>& world) {
  const auto is_partly = [](const PairLaw& law) { return law.throws_partly(); };
  const auto throws = [](const Joint<D>& joint) {
    return joint.has_limits && joint.restitution > 0.0;
  };
  return std::any_of(world.laws.begin(), world.laws.end(), is_partly) &&
         std::none_of(world.joints.begin(), world.joints.end(), throws);
}

/// How velocities and spins changed in the last step of a motion that threw a body back nowhere,
/// taken for a step of length h; before the first one by gravity. What comes together at a speed
/// that it mostly gained so hops by less than steps resolve: PairLaw::returned.
template <int D>
class Gains {
 public:
  Gains(const World<D>& world, const WorldState<D>& s, double h, const Vec<D>& gravity)
      : world_(world), s_(s), h_(h), gravity_(gravity) {}

  Gain<D> gain(int body) const {
    if (!s_.gains.empty()) return s_.gains[static_cast<std::size_t>(body)];
    Gain<D> falls;
    if (world_.body(body).is_free()) falls.v = gravity_;
    return falls;
  }

  /// As velocity and spin of a body.
  Motion<D> of(int body) const {
    const Gain<D> gained = gain(body);
    Motion<D> made;
    made.v = h_ * gained.v;
    made.spin = h_ * gained.spin;
    return made;
  }

  /// The same of the coordinate of a joint, which gained that: at least what gravity along it, or
  /// across the axis of a hinge, would make. Chains hop on their limits by turns.
  double of_limit(const Joint<D>& joint, const Vec<D>& along, const Spin<D>& turn,
                  double gained) const {
    const bool is_way = !along.isZero(0.0);
    double pull = is_way ? std::abs(gravity_.dot(along)) / along.norm() : gravity_.norm();
    if constexpr (D == 3) {
      if (!is_way && !turn.isZero(0.0)) pull = gravity_.cross(turn).norm() / turn.norm();
    }
    const bool is_angle = joint.kind == JointKind::Hinge && joint.size > 0.0;
    return std::max(gained, h_ * pull / (is_angle ? joint.size : 1.0));
  }

  /// What of the speed at which a pair comes together was gained, at most kRod h |g|; only asked
  /// for where it matters.
  double closing(const PairLaw& law, const Row<D>& row, double approach) const {
    const double most = kRod * h_ * gravity_.norm();
    if (!law.throws_partly() || !(approach > 0.0) || most == 0.0) return most;
    return gained(row);
  }

  /// e of a row whose bodies come together.
  double returned(const PairLaw& law, const Row<D>& row, double approach) const {
    constexpr double kStill = 1e-6;  // of g h: they do not
    if (law.throws_partly() && approach < kStill * h_ * gravity_.norm()) return 0.0;
    return law.returned(approach, closing(law, row, approach));
  }
  /// Whether bodies are thrown back by a row, by more than counts as rest.
  bool throws(const PairLaw& law, const Row<D>& row, double approach) const {
    constexpr double kRest = 1e-3;  // of g h
    return returned(law, row, approach) * approach > kRest * h_ * gravity_.norm();
  }
  /// How fast bodies are thrown back by a row, or 0 where that counts as rest.
  double thrown(const PairLaw& law, const Row<D>& row, double approach) const {
    return throws(law, row, approach) ? returned(law, row, approach) * approach : 0.0;
  }
  /// Whether an open row lands beside others that are thrown back at a speed: where gravity along
  /// its normal explains what would come of that.
  bool lands_beside(const PairLaw& law, const Row<D>& row, double speed) const {
    const double explained = kRod * h_ * std::abs(gravity_.dot(row.normal));
    return speed == 0.0 || lands(law.returned(speed, explained));
  }
  /// Whether nothing is thrown back, rounding aside.
  static bool lands(double e) { return e <= 1e-6; }

  /// The speed u at which a pair met that comes together in one another, and whose gap was put back
  /// by a lift d at the middle of the step: of what it gained, a, it gained a part below.
  ///
  ///     (u + a/2)² = (approach + a/2)² - 2 a d / h ,
  ///
  /// both sides at the middle, so that an elastic one pays for its lift; at least half of the
  /// approach.
  double met(const Row<D>& row, double approach, double lift) const {
    return lift > 0.0 ? met(approach, lift, gained(row)) : approach;
  }
  /// The same of the limit of a joint, whose coordinate gained that.
  double met_limit(const Joint<D>& joint, double approach, double lift, double gained) const {
    const bool is_angle = joint.kind == JointKind::Hinge && joint.size > 0.0;
    const double most = kRod * h_ * gravity_.norm() / (is_angle ? joint.size : 1.0);
    return lift > 0.0 ? met(approach, lift, std::clamp(gained, 0.0, most)) : approach;
  }

 private:
  double met(double approach, double lift, double a) const {
    if (a == 0.0 || !(approach > 0.0)) return approach;
    const double half = 0.5 * a;
    const double least = 0.5 * approach + half;
    const double middle = approach + half;
    const double square = middle * middle - 2.0 * a * lift / h_;
    return std::sqrt(std::max(square, least * least)) - half;
  }
  double gained(const Row<D>& row) const {
    const Vec<D> u =
        velocity_at(of(row.body_a), row.arm_a) - velocity_at(of(row.body_b), row.arm_b);
    return std::clamp(-row.normal.dot(u), 0.0, kRod * h_ * gravity_.norm());
  }

  /// A rod that falls about its end gains as many g at the other.
  static constexpr double kRod = 1.5;
  const World<D>& world_;
  const WorldState<D>& s_;
  double h_;
  Vec<D> gravity_;
};

}  // namespace ricochet::body
