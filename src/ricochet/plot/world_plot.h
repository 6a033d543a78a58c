#pragma once

#include <string>

#include "ricochet/plot/sheet.h"
#include "ricochet/record/world_record.h"
#include "ricochet/scene/scene.h"

namespace ricochet::plot {

/// Bodies at the start and at the end of a run, side by side; at the end lines between bodies that
/// push each other, as wide as their impulse is large.
Sheet draw_world(const scene::Scene& scene, const record::WorldRecord& record,
                 const std::string& subtitle);

/// The same before anything is run.
Sheet draw_world_start(const scene::Scene& scene);

/// A part of a page: the bodies as they move, on a canvas, with the lines of pushes. Empty where
/// fewer than two frames were kept.
std::string play_world(const scene::Scene& scene, const record::WorldRecord& record);

}  // namespace ricochet::plot
