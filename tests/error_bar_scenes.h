#pragma once

#include <string>
#include <vector>

#include "ricochet/base/random.h"

namespace ricochet::testing {

/// A scene with random numbers and its exact state at the end, from closed forms between impacts
/// and roots to rounding, or from an integration a thousand times finer than the run (pendulums).
struct KnownScene {
  std::string kind;
  std::string text;
  std::vector<double> q;
  std::vector<double> u;
};

inline constexpr int kKnownKinds = 18;

/// A scene of one kind, 0 to kKnownKinds - 1.
KnownScene random_known_scene(int kind, base::Random& random);

}  // namespace ricochet::testing
