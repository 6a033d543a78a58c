#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ricochet/record/world_record.h"
#include "ricochet/scene/part.h"

namespace ricochet::plot {

/// The surface of a body as files for ParaView have it, in the frame of its mass centre; in the
/// plane z = 0.
struct BodySurface {
  using Vec = body::Vec<3>;
  std::vector<std::pair<Vec, double>> balls;  // centre, radius
  std::vector<std::vector<Vec>> lines;
  std::vector<std::vector<Vec>> faces;
};

/// By body; what has no end is cut off a little outside of what moves in the frames.
std::vector<BodySurface> surfaces_of(const scene::WorldPart& part,
                                     const std::vector<record::BodyFrame>& frames);

/// Bodies at an instant as a .vtp file: polygons, lines, and of balls in space their centres; with
/// body, family, velocity and spin of each cell, and where there are balls of each point, with the
/// radius.
std::string vtp_of(const scene::WorldPart& part, const std::vector<BodySurface>& surfaces,
                   const record::BodySnapshot& shot);

/// Contacts at an instant: each a vertex where it is, and a line through it between mass centres.
std::string vtp_of(const record::ContactSnapshot& shot);

}  // namespace ricochet::plot
