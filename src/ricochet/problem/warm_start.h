#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ricochet::problem {

/// What iterative solvers carry from one step to the next, by the keys of contacts. It belongs to
/// the state of a motion and not to a solver: a motion continued from a state begins each solve
/// where the whole one did. A solve replaces it.
struct WarmStart {
  struct Entry {
    std::uint64_t key{0};
    std::array<double, 3> impulse{};  // normal, then tangential ones: rows of the step's problem
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  static constexpr double kWedged = 1e4;

  std::vector<Entry> impulses;  // of contacts that pushed in the last solve; keys ascend
  double heaviest{kWedged};     // impulses beyond this part of what free velocities ask for may
                                // hold each other, and the solve is tried from zero
  double mean_change{0.0};      // of impulses in the last sweep: by it contacts count as quiet

  /// The last impulse of a contact; null where it did not push.
  const Entry* find(std::uint64_t key) const {
    const auto found =
        std::lower_bound(impulses.begin(), impulses.end(), key,
                         [](const Entry& entry, std::uint64_t k) { return entry.key < k; });
    return found != impulses.end() && found->key == key ? &*found : nullptr;
  }

  /// After entries were added in the order of the problem's contacts.
  void sort() {
    const auto before = [](const Entry& a, const Entry& b) { return a.key < b.key; };
    if (!std::is_sorted(impulses.begin(), impulses.end(), before)) {
      std::sort(impulses.begin(), impulses.end(), before);
    }
  }

  friend bool operator==(const WarmStart&, const WarmStart&) = default;
};

}  // namespace ricochet::problem
