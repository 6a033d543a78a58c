#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ricochet::base {

/// When to look at parts of a step for something that costs more than the step, and what was found
/// there: in the rounds 1, 2, 4, 7, 11, ..., and, for three hundred times, where a part is new or
/// does something else than before. A value that belongs to the state of a motion.
struct Looks {
  using Part = std::uint64_t;  // its name
  static constexpr int kMostChanges = 300;
  static constexpr std::size_t kMostParts = 64;
  struct Entry {
    Part part{0};
    std::uint64_t pattern{0};  // of what it did
    long long looked{0};       // the round in which it was looked at last
    bool found{false};
    bool is_new{true};  // it does something else than when it was looked at last
  };

  long long rounds{0};
  long long next{1};
  long long apart{0};
  int changes{0};
  bool is_due{false};
  std::vector<Entry> parts;  // by name

  Looks() = default;
  ~Looks() = default;
  Looks(const Looks&) = default;
  Looks(Looks&&) = default;
  Looks& operator=(Looks&&) = default;
  /// States are copied at every step, and most never look.
  Looks& operator=(const Looks& other) {
    if (this == &other || (rounds == 0 && other.rounds == 0)) return *this;
    rounds = other.rounds;
    next = other.next;
    apart = other.apart;
    changes = other.changes;
    is_due = other.is_due;
    parts = other.parts;
    return *this;
  }

  void begin() {
    ++rounds;
    is_due = rounds >= next;
    if (!is_due) return;
    next = rounds + ++apart;
    if (parts.size() >= kMostParts) parts.clear();
  }

  /// Whether to look at this part, which does what `pattern` says.
  bool asks(Part part, std::uint64_t pattern) {
    Entry* entry = find(part);
    if (entry == nullptr) {
      if (parts.size() >= kMostParts) return is_due;
      const auto at = std::lower_bound(parts.begin(), parts.end(), part, is_before);
      entry = &*parts.insert(at, {part, pattern});
    } else if (entry->pattern == pattern) {
      return is_due && entry->looked != rounds;
    }
    entry->pattern = pattern;
    entry->is_new = true;
    return is_due || changes++ < kMostChanges;
  }
  /// What was once found stays, until the part does something else and it is not found again.
  void note(Part part, bool found) {
    Entry* entry = find(part);
    if (entry == nullptr) return;
    entry->looked = rounds;
    entry->found = found || (entry->found && !entry->is_new);
    entry->is_new = false;
  }
  bool has_found(Part part) {
    const Entry* entry = find(part);
    return entry != nullptr && entry->found;
  }

 private:
  static bool is_before(const Entry& one, Part part) { return one.part < part; }
  Entry* find(Part part) {
    const auto at = std::lower_bound(parts.begin(), parts.end(), part, is_before);
    return at != parts.end() && at->part == part ? &*at : nullptr;
  }
};

}  // namespace ricochet::base
