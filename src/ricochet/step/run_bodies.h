#pragma once

#include <functional>

#include "ricochet/certify/bodies.h"
#include "ricochet/step/moreau_bodies.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// A world after a step, or at its start: views that are valid during the call only.
template <int D>
struct BodySample {
  const body::WorldState<D>& state;
  const std::vector<body::Row<D>>& rows;  // of the step; empty at the start
  const certify::BodyClaim<D>& claim;     // pushes by key, of the same rows
  double kinetic{0.0};
  double potential{0.0};
};

/// Sees the start and every step; false ends the run, as a condition of the scene may.
template <int D>
using BodyObserver = std::function<bool(const BodySample<D>&)>;

/// Runs a world with Moreau's step, each step judged; `state` ends at the last one that holds.
template <int D>
Outcome run_bodies(const body::World<D>& world, const RunSettings& run, body::WorldState<D>& state,
                   const BodyObserver<D>& observe, Monitor* monitor, certify::BodyStatistics& told);

/// The start of a world: every body where it is placed.
template <int D>
body::WorldState<D> start_of(const body::World<D>& world, double t);

}  // namespace ricochet::step
