#pragma once

#include <array>
#include <utility>
#include <vector>

#include "ricochet/certify/body_trial.h"

namespace ricochet::certify {

template <int D>
class BodyMotions;

/// What the rows of a group of bodies that are still, or of all, were found to be.
struct Quiet {
  double worst{0.0};
  double creep{0.0};
  double squares{0.0};
  double free{0.0};
  double unresolved{0.0};
  double deepest{0.0};
  long long pushes{0};
  void add(const Quiet& more);
};

/// Bodies that touch and do not move, where the world sleeps: groups of bodies connected by rows
/// that were accepted in a step that moved none of them. As long as not a bit of their places,
/// velocities and impulses changes, and no other row is found at one of them, their rows are those
/// of that step, and not made again.
template <int D>
class StillBodies {
 public:
  using Pairs = std::vector<std::pair<int, int>>;
  explicit StillBodies(const BodyTrial<D>& trial);

  /// Who is still in this step, as far as states and claims tell.
  void look(const BodyClaim<D>& claim);
  bool has(int body) const { return !is_still_.empty() && is_still_[base::index(body)] != 0; }
  /// Whether both bodies of a row are still: then the row is known.
  bool has(const body::RowKey& key) const {
    return has(trial_.world.solid(key.a).body) && has(trial_.world.solid(key.b).body);
  }
  /// Pairs that are looked at: all but those of two bodies that are still, which were looked at
  /// where they are.
  const Pairs& fresh(const Pairs& pairs, BodyMotions<D>& motions);
  std::size_t pushes() const { return pushes_.size(); }
  /// Of all groups that are still.
  Quiet all() const;
  /// By row: a body of it, its place in CreepCounts.
  const std::vector<std::array<int, 2>>& powers() const { return powers_; }
  /// Keeps groups of bodies that did not move in a step that was accepted.
  void remember(const BodyClaim<D>& claim);

 private:
  bool is_as_before(std::size_t body) const;
  void compare_pushes(const BodyClaim<D>& claim);
  void look_who_comes(const Pairs& pairs, BodyMotions<D>& motions);
  void disturb(int body);
  void forget_disturbed();
  void forget_all();
  bool find_calm();
  void find_groups();
  void enter_row(std::size_t row, int group);

  const BodyTrial<D>& trial_;
  bool any_{false};
  std::vector<int> group_;                  // by body: one that stands for its group; -1
  std::vector<Quiet> quiet_;                // by body that stands for a group
  std::vector<body::Motion<D>> at_;         // by body
  std::vector<body::Push<D>> pushes_;       // by key
  std::vector<std::array<int, 2>> powers_;  // by row
  body::Vec<D> gravity_ = body::Vec<D>::Zero();
  double h_{0.0};
  Level level_{Level::Exact};
  std::vector<char> is_still_;       // by body, in this step: in such a group, or fixed
  std::vector<char> disturbed_;      // by body that stands for a group
  std::vector<char> calm_;           // by body: it did not move in this step; for a moment
  Pairs fresh_;                      // pairs that are looked at
  std::vector<shape::Row<D>> near_;  // of a pair, for a moment
  BodyGroups groups_;                // by rows of this step
};

extern template class StillBodies<2>;
extern template class StillBodies<3>;

}  // namespace ricochet::certify
