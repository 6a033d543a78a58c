#pragma once

#include "ricochet/step/event_pace.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/split_arc.h"

namespace ricochet::step {

/// Pieces that conserve T + V exactly between impacts that are located inside the step: of second
/// order through impacts, and what T + V changes by is the work of forces without a potential and
/// what impacts lose, to rounding.                                     [Gonzalez 1996]
struct Conserving {
  static constexpr SchemeInfo kInfo{.name = "conserving",
                                    .meaning = "pieces that keep T + V, shocks located in the step",
                                    .use = "second order through impacts; creates no energy",
                                    .integrator = certify::Integrator::Conserving,
                                    .has_joints = true};
  template <class M>
  using Pace = EventPace<M, Conserving>;
  static Conserving from(const Scheme&) { return {}; }
  static constexpr bool stops_at_accumulations() { return false; }
  template <class M>
  SplitArc<M, true> arc(const M& model, const model::StateOf<M>& start, Workspace<M>& w) const {
    return {model, start, w};
  }
  certify::Method method() const { return method_of(kInfo); }
};

}  // namespace ricochet::step
