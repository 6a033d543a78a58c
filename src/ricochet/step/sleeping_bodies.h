#pragma once

#include <vector>

#include "ricochet/body/world.h"
#include "ricochet/certify/limits.h"

namespace ricochet::step {

/// Bodies that sleep, where the world lets them (World::sleeps). An island, free bodies connected
/// by rows, all of whose bodies a step left where they were, with velocity 0, sleeps from the next
/// step on: its rows, impulses and places stay as they are. It wakes, as a whole, where
///
/// - a row with a body that does not sleep is found: somebody came within reach, or was born there;
/// - the length of the step, the weight or the level is another one;
/// - a state is given that is not the one which the step before made.
///
/// Fixed bodies connect nobody. Who touches a driven body does not sleep.
template <int D>
class SleepingBodies {
 public:
  using State = body::WorldState<D>;
  /// What a step is made with, and sleep depends on.
  struct Terms {
    double h{0.0};
    body::Vec<D> given = body::Vec<D>::Zero();  // h g
    certify::Level level{};
    bool operator==(const Terms& other) const {
      return h == other.h && given == other.given && level == other.level;
    }
  };
  explicit SleepingBodies(const body::World<D>& world);

  /// At the start of a step: those who fell asleep take their rows, of the step before, with them;
  /// those for whom something changed wake.
  void begin(const State& s, const Terms& terms, const std::vector<body::Row<D>>& last);
  bool sleeps(std::size_t body) const { return bed_[body] >= 0; }
  bool any() const { return any_; }
  bool may() const { return world_.sleeps; }
  /// By body: it sleeps or is fixed. Rows between two of these are those of the step before.
  const std::vector<char>& still() const { return still_; }
  /// Bodies that wake because of rows that were found.
  const std::vector<int>& wake(const std::vector<body::Row<D>>& rows);
  const std::vector<int>& woken() const { return woken_; }  // last
  void wake_all();
  /// At the end of a step: islands of its rows all of whose bodies stay, as they are in `next`,
  /// fall asleep.
  void end(const std::vector<body::Row<D>>& rows, const std::vector<char>& stays, const State& next,
           const Terms& terms);
  /// The rows of those who sleep, by key.
  const std::vector<body::Row<D>>& rows() const { return rows_; }
  /// Adds the impulses that they had to those of the others, by key.
  void add_pushes(const std::vector<body::Push<D>>& before,
                  std::vector<body::Push<D>>& pushes) const;

 private:
  int root(int body);
  int hub_of(const body::RowKey& key) const;
  void wake_marked();

  const body::World<D>& world_;
  std::vector<int> hub_;     // by solid: its body where that is free, else -1
  std::vector<int> bed_;     // by body: a body that stands for its island, -1 where it is awake
  std::vector<int> tired_;   // the same of those who fall asleep with the next step
  std::vector<char> still_;  // by body
  std::vector<char> marks_;  // by body that stands for an island, for a moment
  std::vector<int> parent_;  // by body, for a moment
  std::vector<int> woken_;
  std::vector<body::Motion<D>> places_;  // by body
  std::vector<body::Row<D>> rows_;
  Terms terms_;
  long long steps_{-1};  // of the state that was made last
  bool any_{false};
  bool any_tired_{false};
};

extern template class SleepingBodies<2>;
extern template class SleepingBodies<3>;

}  // namespace ricochet::step
