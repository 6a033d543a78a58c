#pragma once

#include <functional>
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

/// Pictures of the motion as it goes on, one after the other: as many a second as stated, over
/// `played_seconds`.
void draw_frames(const scene::Scene& scene, const Collector& data, const Frames& frames,
                 double frames_per_second, const std::function<void(const std::string&)>& take);

/// Motions of some seconds are shown as fast as they are, others in eight seconds.
double played_seconds(double span);

/// A picture with controls below it, in which the numbers of `json` move: see player.js.
std::string wrap_player(const std::string& title, std::string svg, double start,
                        const std::string& json);

/// The times of the shocks, for the script.
std::string shocks_json(const certify::Certificate& certificate);

/// What a page with players needs once: style and script.
std::string player_script();

}  // namespace ricochet::plot
