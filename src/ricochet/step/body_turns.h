#pragma once

#include <vector>

#include "ricochet/body/shares.h"
#include "ricochet/step/body_contacts.h"
#include "ricochet/step/body_step.h"

namespace ricochet::step {

/// What is not linear in the impulses of a step: rotations in space (body/turning.h), and rows that
/// move over a half-space while bodies roll. Both are found in turns, from the impulses that were
/// found with what was known of them: `linearise`, then `settle` until they agree.
template <int D>
class BodyTurns {
 public:
  BodyTurns(BodyStep<D>& step, BodyContacts<D>& contacts, BodyJoints<D>& joints);

  void begin();
  /// Another turn; false where there are too many.
  bool begin_turn() { return ++turns_ < kMostTurns; }
  int turns() const { return turns_; }
  /// Whether turns and bends have not settled for long: then the impulses of the last turn are gone
  /// on from, and no others are looked for.
  bool is_stubborn() const { return turns_ >= 30; }
  /// before = R̄Ω, after = R̄Ω⁺ of the moments found last, less what is linear in them; false where a
  /// body turns too far in one step.
  bool linearise();
  /// Joints hold with the impulses found, turns belong to them and rows that roll end where they
  /// do; whether all was known when the impulses were found.
  bool settle();
  /// By row: velocities of those that roll, beyond the linear.
  const std::vector<body::Vec<D>>& bends() const { return bends_; }
  void forget_bends() { bends_.clear(); }

 private:
  static constexpr int kMostTurns = 200;
  bool linearise_turn(int body);
  bool hold_joints();
  void find_next();
  bool settle_turns();
  bool settle_turn(int body);
  void find_moments();
  void add_moments(std::size_t row, const body::Share& share);
  struct Bending;
  bool settle_bends();
  bool may_bend(const body::Row<D>& row) const;
  void bend_row(std::size_t row, Bending& all);
  void hasten_bends(const Bending& all);
  body::Row<D> again(const body::Row<D>& row, std::size_t body, const body::Motion<D>& there) const;
  /// Whether rounds of a step are few enough to go on until they change rounding alone: joints make
  /// more of it than contacts do.
  bool waits_for_joints() const { return rounds_ < 12; }

  BodyStep<D>& step_;
  BodyContacts<D>& contacts_;
  BodyJoints<D>& joints_;
  int turns_{0};                       // of this step
  int rounds_{0};                      // of a step with joints
  double last_bend_{0.0};              // how much bends changed last
  std::vector<char> is_still_;         // by body: no moments in the round before
  std::vector<body::Vec<D>> bends_;    // by row
  std::vector<body::Vec<D>> changes_;  // of bends, in the last turn
  std::vector<body::Motion<D>> next_;  // with joints: the next middle
};

extern template class BodyTurns<2>;
extern template class BodyTurns<3>;

}  // namespace ricochet::step
