#pragma once

#include <array>
#include <string>
#include <vector>

#include "ricochet/body/world.h"
#include "ricochet/certify/limits.h"

namespace ricochet::certify {

/// What a step of bodies claims besides its states: who pushed whom, and how places were put back.
template <int D>
struct BodyClaim {
  std::vector<body::Push<D>> pushes;               // by key, those with p_N > 0
  std::vector<std::vector<body::Push<D>>> shifts;  // weights of each round of the projection
  std::vector<body::Reaction<D>> reactions;        // by joint
  std::vector<std::vector<body::Reaction<D>>> joint_shifts;  // weights of each round
  Level level{Level::Exact};  // of the law that the step was made with
};

std::string name_of(Level level);  // "exact", "tight", "bounded"
inline constexpr std::array<Level, 3> kLevels = {Level::Exact, Level::Tight, Level::Bounded};

/// How deep a row may lie, and below Level::Exact how near touches: the slack, and what contacts
/// may creep in a step.
inline double depth_of(double slack, Level level, double h, double creep_limit) {
  return level == Level::Bounded ? slack + h * creep_limit : slack;
}
/// What is left of a gap for the law: 0 where it touches.
inline double way_of(double gap, double slack, Level level, double h, double creep_limit) {
  const bool touches = level != Level::Exact && gap <= depth_of(slack, level, h, creep_limit);
  return touches ? 0.0 : (gap > 0.0 ? gap : 0.0);
}

}  // namespace ricochet::certify
