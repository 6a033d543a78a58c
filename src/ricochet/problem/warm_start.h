#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

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

  /// When to look whether contacts with friction may share their load in another way: at the solves
  /// 1, 2, 4, 7, 11, ..., and, for a hundred times, where their number changes.
  struct Looks {
    static constexpr int kMostChanges = 100;
    long long solves{0};
    long long next{1};
    long long apart{0};
    int contacts{0};
    int changes{0};
    bool is_due{false};      // in this solve
    bool has_others{false};  // the last look found another motion

    void begin(int count) {
      ++solves;
      const bool changed = count != contacts && changes < kMostChanges;
      is_due = solves >= next || changed;
      if (solves >= next) next = solves + ++apart;
      changes += changed ? 1 : 0;
      contacts = count;
      if (is_due) has_others = false;
    }
  };

  std::vector<Entry> entries;  // of the last solve, keys ascending; empty: begin at zero
  Looks looks;
  // Impulses beyond this part of what free velocities ask for seem to hold each other.
  double heaviest{kHeaviest};
  std::array<double, 2> mean_change{0.0, 0.0};  // of the last sweep, in the plane and in space

  bool is_new() const {
    return entries.empty() && heaviest == kHeaviest && mean_change[0] == 0.0 &&
           mean_change[1] == 0.0 && looks.solves == 0;
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
