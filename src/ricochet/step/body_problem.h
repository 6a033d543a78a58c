#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/step/body_contacts.h"
#include "ricochet/step/body_neighbours.h"
#include "ricochet/step/body_step.h"
#include "ricochet/step/body_turns.h"
#include "ricochet/step/open_rows.h"

namespace ricochet::step {

/// The contact problem of a step, for BodyContacts: q = U' + max(0, g)/h where e = 0, U' + e U
/// where the pair touches; others do not act.
template <int D>
class BodyProblem {
 public:
  using State = body::WorldState<D>;
  BodyProblem(BodyStep<D>& step, BodyNeighbours<D>& neighbours, BodyContacts<D>& contacts,
              BodyJoints<D>& joints, BodyTurns<D>& turns, const SleepingBodies<D>& sleeping);

  void begin() { is_wider_ = false; }
  /// Begins with the impulses of the step before, or below Level::Exact with those of the round
  /// before.
  void pose(const State& s, bool is_first);
  /// Whether bodies go farther than was looked for them, and rows of a larger reach are others:
  /// then these are the step's, with the impulses found so far.
  bool widens(const State& s) { return outruns() && widen(s); }

 private:
  double shift_of(const body::Row<D>& row, const body::PairLaw& law, double comes) const;
  void pose_row(std::size_t row);
  void find_bounds(const State& s);
  int pace_of(int body, const State& s) const;
  bool outruns();
  bool widen(const State& s);

  BodyStep<D>& step_;
  BodyNeighbours<D>& neighbours_;
  BodyContacts<D>& contacts_;
  BodyJoints<D>& joints_;
  BodyTurns<D>& turns_;
  const SleepingBodies<D>& sleeping_;
  OpenRows<D> open_;
  std::vector<double> bounds_;       // by body: no particle is faster, without impulses [m/s]
  std::vector<char> pace_;           // by body: see pace_of
  std::vector<body::Row<D>> wider_;  // rows of a larger reach
  bool is_wider_{false};             // rows are others than in the round before
  Eigen::VectorXd kept_;             // impulses of the round before
  std::vector<body::Spin<D>> kept_moments_;  // and moments of rolling friction
};

extern template class BodyProblem<2>;
extern template class BodyProblem<3>;

}  // namespace ricochet::step
