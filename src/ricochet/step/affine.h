#pragma once

#include "ricochet/step/event_pace.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/split_arc.h"

namespace ricochet::step {

/// Velocities that are affine between the shocks, which lie inside the steps: the technique that
/// [Moreau 1986, par. 6] names and leaves aside.
///
///   u(t) = u + (t - t_i) a up to the shock at t_c, u_c+ by the impact law at q(t_c), and the same
///   again for what is left of the step; a = M^-1 Q at the middle of each piece, as in (6.7) to
///   (6.17), q the primitive of u.
///
/// Deviations: where Moreau estimates t_c by affine approximants of the gaps, they are renewed
/// until the wall is met (to rounding); forces that use velocities take the mean of the piece;
/// contacts last by a law of their own, see `SplitArc`.
struct Affine {
  static constexpr SchemeInfo kInfo{
      .name = "affine",
      .meaning = "affine velocities, shocks located inside the step",
      .use = "second order through impacts; exact for constant forces",
      .integrator = certify::Integrator::Affine,
      .has_joints = true};
  template <class M>
  using Pace = EventPace<M, Affine>;
  static Affine from(const Scheme&) { return {}; }
  static constexpr bool stops_at_accumulations() { return false; }
  template <class M>
  SplitArc<M, false> arc(const M& model, const model::StateOf<M>& start, Workspace<M>& w) const {
    return {model, start, w};
  }
  certify::Method method() const { return method_of(kInfo); }
};

}  // namespace ricochet::step
