#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ricochet/base/looks.h"

namespace ricochet::problem {

/// Names a contact from step to step.
using Key = std::uint64_t;

/// What a solver of contacts takes from one solve into the next: the impulses to begin at, and the
/// numbers that it adapts. A value that belongs to the state of a motion and not to a solver: a
/// motion continued from a state begins each solve where the whole one did.
struct WarmStart {
  struct Entry {
    Key key{0};
    Eigen::Vector3d impulse{Eigen::Vector3d::Zero()};
  };
  static constexpr double kHeaviest = 1e4;

  std::vector<Entry> entries;  // of the last solve, keys ascending; empty: begin at zero
  base::Looks looks;           // for other ways to share a load
  // Impulses beyond this part of what free velocities ask for seem to hold each other.
  double heaviest{kHeaviest};
  std::array<double, 2> mean_change{0.0, 0.0};  // of the last sweep, in the plane and in space

  bool is_new() const {
    return entries.empty() && heaviest == kHeaviest && mean_change[0] == 0.0 &&
           mean_change[1] == 0.0 && looks.rounds == 0;
  }

  /// The last impulse of a contact; null where it has none.
  const Entry* find(Key key) const {
    const auto entry = std::lower_bound(entries.begin(), entries.end(), key,
                                        [](const Entry& one, Key k) { return one.key < k; });
    return entry != entries.end() && entry->key == key ? &*entry : nullptr;
  }
  /// After entries were added in the order of the problem's contacts.
  void sort() {
    const auto before = [](const Entry& a, const Entry& b) { return a.key < b.key; };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) {
      std::sort(entries.begin(), entries.end(), before);
    }
  }
};

}  // namespace ricochet::problem
