#pragma once

#include <string>

#include "ricochet/certify/certificate.h"
#include "ricochet/plot/collector.h"
#include "ricochet/plot/frames.h"
#include "ricochet/scene/scene.h"

namespace ricochet::plot {

/// How many rows of a run an animation shows, at most.
std::size_t most_frames(const scene::Scene& scene);

/// A part of a page: one panel of the picture, on which the motion can be played. Without a script
/// it is the picture.
std::string make_player(const scene::Scene& scene, const Collector& data, const Frames& frames,
                        const certify::Certificate& certificate);

/// What a page with players needs once: style and script.
std::string player_script();

}  // namespace ricochet::plot
