#pragma once

#include <string>

#include "ricochet/plot/frames.h"
#include "ricochet/scene/scene.h"

namespace ricochet::plot {

/// A part of a page: the motion of a particle in space, to be turned and played; walls are sections
/// of the surfaces where gaps vanish, as at the end. "" where the scene has no particle in space:
/// its coordinates are three lengths, or some of them are x, y and z.
std::string make_space(const scene::Scene& scene, const Frames& frames);

}  // namespace ricochet::plot
