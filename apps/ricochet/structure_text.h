#pragma once

#include <string>

#include "ricochet/study/structure_run.h"

namespace ricochet::app {

/// "newmark, step 1e-05, t = 0 to 1", with the source before it.
std::string describe_structure_run(const scene::StructureScene& scene);

/// What a scene is, before it is run.
std::string describe_structure_scene(const scene::StructureScene& scene);

/// A run in words: certificate, energy, guides, points.
std::string describe_structure(const study::StructureRun& run);

}  // namespace ricochet::app
