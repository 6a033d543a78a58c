#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ricochet/formula/tape.h"
#include "ricochet/model/formula_view.h"
#include "ricochet/problem/report.h"

namespace ricochet::study {

/// What an active row does just after the instant.
enum class Standing {
  Pushing,      // stays closed, with a reaction
  Touching,     // stays closed to second order, without a reaction
  Opening,      // U = 0 and dU/dt > 0: the motion leaves the contact
  Leaving,      // U > 0: it has left already
  Penetrating,  // U < 0: no motion without a shock
  Held,         // a joint
};

std::string name_of(Standing standing);

/// One row of the active set. "Gap unit" is the unit of its formula; forces are such that J^T r is
/// a generalised force.
struct ActiveRow {
  int row{0};  // among the contacts and joints of the model
  bool is_joint{false};
  double gap{0.0};                           // g [gap unit]
  double gap_tolerance{0.0};                 // up to which g counts as closed
  double velocity{0.0};                      // U = J u + dg/dt [gap unit / s]
  double velocity_tolerance{0.0};            // up to which U counts as 0
  model::Vector<model::kDynamic> generator;  // -M^-1 J^T, of the normal cone
  double impulse{0.0};                       // of the shock
  double acceleration{0.0};                  // dU/dt = J q'' + gamma [gap unit / s^2]
  double reaction{0.0};                      // r
  Standing standing{Standing::Touching};
  bool opens{false};  // it leaves, or will at once
};

/// A state as Moreau's principles see it [Moreau 1986, par. 3-4, 8]: what touches, whether the
/// velocity may go on, and the acceleration that follows. Accelerations are right derivatives: they
/// belong to `right_velocity`, which is u, or the velocity after an inelastic shock where u may not
/// go on.
struct Inspection {
  using Vec = model::Vector<model::kDynamic>;

  model::State<model::kDynamic> state;
  double step{0.0};  // length of the steps that led here; 0: the state is exact
  std::vector<ActiveRow> active;
  bool in_tangent_cone{true};  // u in V, to the tolerances of the rows
  Vec right_velocity;          // u, or prox(V, u)
  Vec free_acceleration;       // a = M^-1 (Q - c)
  Vec acceleration;            // nearest to a, in the metric M, of those the rows admit
  problem::Report shock;       // how prox(V, u) was found
  problem::Report gauss;       // how the acceleration was found
  problem::Status status{problem::Status::Solved};  // the first that is not Solved

  bool ok() const { return status == problem::Status::Solved; }
  bool unique() const { return shock.unique && gauss.unique; }  // of impulses and reactions
};

/// Inspects states of one model. For active rows with U = 0, Gauss' principle reads: minimise
/// |q'' - a|_M under
///
///     J q'' + gamma >= 0  (joints: = 0),   gamma = u^T (d2g/dq2) u + 2 (d2g/dq dt) u + d2g/dt2,
///
/// and its multipliers are the reactions: M q'' + c = Q + J^T r, r >= 0, r . (J q'' + gamma) = 0.
class Inspector {
 public:
  using State = model::State<model::kDynamic>;

  /// The model must outlive it. Throws formula::GraphTooLarge where second derivatives outgrow the
  /// graph.
  explicit Inspector(const model::FormulaModel& model);

  /// `step` > 0: the state was reached by steps of this length, so that gaps and their rates count
  /// as 0 up to what they change in one step. A mass that is singular there is the status
  /// SingularMass, with nothing computed; rows that contradict each other
  /// are Infeasible, values that are not finite Degenerate.
  Inspection at(const State& state, double step = 0.0) const;

  /// Part of its natural size up to which a gap or a rate counts as 0.
  static constexpr double kTolerance = 1e-9;
  /// The same for accelerations, which only rounding disturbs.
  static constexpr double kRounding = 1e-12;

 private:
  using View = model::FormulaView<model::kDynamic, model::kDynamic>;
  using Vec = model::Vector<model::kDynamic>;
  struct Work;

  void evaluate(const Vec& u, Work& work) const;
  void find_active(double step, Work& work) const;
  static bool is_finite(const Work& work);
  static double right_rate(const ActiveRow& row, const Work& work);
  void meet_shock(Work& work) const;
  void apply_gauss(Work& work) const;
  void judge_rows(Work& work) const;

  const model::FormulaModel& model_;
  View view_;
  formula::Tape tape_;  // dU/dq (entries of the pattern) and dU/dt, row by row; then c
};

}  // namespace ricochet::study
