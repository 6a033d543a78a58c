#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

namespace ricochet::problem {

/// Names a contact from step to step.
using Key = std::uint64_t;

/// What a solver of contacts takes from one solve into the next: the impulses to begin at, and the
/// numbers that it adapts. A value: who owns it decides what follows what.
struct WarmStart {
  struct Entry {
    Key key{0};
    Eigen::Vector3d impulse{Eigen::Vector3d::Zero()};
  };
  static constexpr double kHeaviest = 1e4;

  std::vector<Entry> entries;  // of the last solve, keys ascending; empty: begin at zero
  // Impulses beyond this part of what free velocities ask for seem to hold each other.
  double heaviest{kHeaviest};
  std::array<double, 2> mean_change{0.0, 0.0};  // of the last sweep, in the plane and in space

  bool is_new() const {
    return entries.empty() && heaviest == kHeaviest && mean_change[0] == 0.0 &&
           mean_change[1] == 0.0;
  }
};

}  // namespace ricochet::problem
