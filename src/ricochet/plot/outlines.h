#pragma once

#include <vector>

#include "ricochet/body/world.h"

namespace ricochet::plot {

/// An outline in the frame of a body's mass centre: a circle, or a line through points.
struct Outline {
  bool is_circle{false};
  bool is_closed{true};
  double radius{0.0};
  std::vector<body::Vec<2>> points;  // of a circle its centre
};

/// By body. Half-planes are lines of half the length `reach` about a point of their boundary.
std::vector<std::vector<Outline>> outlines_of(const body::World<2>& world, double reach);

}  // namespace ricochet::plot
