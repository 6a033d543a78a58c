#pragma once

#include <string>
#include <vector>

#include "ricochet/body/world.h"
#include "ricochet/record/world_record.h"

namespace ricochet::plot {

/// A solid of space as it is drawn, in the frame of its body's mass centre: balls, and faces whose
/// corners go round counterclockwise as seen from outside.
struct Solid {
  using Vec = body::Vec<3>;
  std::vector<std::pair<Vec, double>> balls;
  std::vector<std::vector<Vec>> faces;
};

/// By body. Half-spaces are squares of half the side `reach` about the foot of `middle`.
std::vector<Solid> solids_of(const body::World<3>& world, const body::Vec<3>& middle, double reach);

/// Where bodies are at an instant.
body::Motion<3> motion_of(const record::BodyFrame& frame, std::size_t body);

/// What moves in these frames: the middle of its box, and the half of its diagonal.
struct Surroundings {
  body::Vec<3> middle = body::Vec<3>::Zero();
  double reach{1.0};
};
Surroundings surroundings_of(const body::World<3>& world,
                             const std::vector<record::BodyFrame>& frames);

}  // namespace ricochet::plot
