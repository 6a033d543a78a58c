#pragma once

#include <vector>

#include "ricochet/body/world.h"
#include "ricochet/scene/part.h"
#include "ricochet/step/run_bodies.h"

/// What the contacts of an instant leave open: how deep what touches lies, and how it shares loads.
namespace ricochet::study {

/// The least shifts and turns after which all that touches at an instant has the gap 0, and joints
/// hold: a step takes for touching what is within the slack, and puts back to half of it. By body,
/// shifts as velocities and turns as spins.
template <int D>
std::vector<body::Motion<D>> shifts_to_touch(const body::World<D>& world,
                                             const body::WorldState<D>& s);

/// Which numbers of watches are forces that momentum does not determine at a step: rigid bodies
/// leave open how contacts share a load, and the run has one of many ways. By number of the
/// watches.
template <int D>
std::vector<char> forces_left_open(const scene::WorldPart& part, const body::World<D>& world,
                                   const step::BodySample<D>& s);

}  // namespace ricochet::study
