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

/// How velocities and spins changed in the last step of a motion, taken for a step of length h;
/// before the first one by gravity. What comes together at a speed that it mostly gained so hops by
/// less than steps resolve: PairLaw::returned.
template <int D>
class Gains {
 public:
  Gains(const World<D>& world, const WorldState<D>& s, double h, const Vec<D>& gravity)
      : world_(world), s_(s), h_(h), gravity_(gravity) {}

  /// As velocity and spin of a body.
  Motion<D> of(int body) const {
    Motion<D> made;
    if (s_.gains.empty()) {
      if (world_.body(body).is_free()) made.v = h_ * gravity_;
      return made;
    }
    const Gain<D>& gain = s_.gains[static_cast<std::size_t>(body)];
    made.v = h_ * gain.v;
    made.spin = h_ * gain.spin;
    return made;
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
