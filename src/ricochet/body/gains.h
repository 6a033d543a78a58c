#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/body/rows.h"
#include "ricochet/body/world.h"

namespace ricochet::body {

/// Whether motions of a world need what velocities gained in the step before.
template <int D>
bool needs_gains(const World<D>& world) {
  const auto is_partly = [](const PairLaw& law) { return law.throws_partly(); };
  if (std::any_of(world.laws.begin(), world.laws.end(), is_partly)) return true;
  return std::any_of(world.joints.begin(), world.joints.end(), [](const Joint<D>& joint) {
    return joint.has_limits && joint.restitution > 0.0 && joint.restitution < 1.0;
  });
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

  /// What of the speed at which a pair comes together was gained, at most h |g|; only asked for
  /// where it matters.
  double closing(const PairLaw& law, const Row<D>& row, double approach) const {
    const double most = h_ * gravity_.norm();
    if (!law.throws_partly() || !(approach > 0.0) || most == 0.0) return most;
    const Vec<D> u =
        velocity_at(of(row.body_a), row.arm_a) - velocity_at(of(row.body_b), row.arm_b);
    return std::clamp(-row.normal.dot(u), 0.0, most);
  }

 private:
  const World<D>& world_;
  const WorldState<D>& s_;
  double h_;
  Vec<D> gravity_;
};

}  // namespace ricochet::body
