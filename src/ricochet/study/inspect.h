#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ricochet/formula/tape.h"
#include "ricochet/model/formula_view.h"
#include "ricochet/problem/report.h"
#include "ricochet/solve/solutions.h"
#include "ricochet/structure/linear_structure.h"

namespace ricochet::study {

/// What an active row does just after the instant.
enum class Standing {
  Pushing,      // stays closed, with a reaction
  Sticking,     // the same with friction, and without slip
  Sliding,      // the same with friction, slipping now or at once
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
  double gap{0.0};                             // g [gap unit]
  double gap_tolerance{0.0};                   // up to which g counts as closed
  double velocity{0.0};                        // U = J u + dg/dt [gap unit / s]
  double velocity_tolerance{0.0};              // up to which U counts as 0
  model::Vector<model::kDynamic> generator;    // -M^-1 J^T, of the normal cone
  double impulse{0.0};                         // of the shock
  double acceleration{0.0};                    // dU/dt = J q'' + gamma [gap unit / s^2]
  double reaction{0.0};                        // r
  int slips{0};                                // tangential directions, where there is friction
  Eigen::Vector2d slip{0.0, 0.0};              // U_T at the right velocity [m/s]
  double slip_tolerance{0.0};                  // up to which it counts as 0
  Eigen::Vector2d friction_impulse{0.0, 0.0};  // of the shock
  Eigen::Vector2d slip_acceleration{0.0, 0.0};
  Eigen::Vector2d friction{0.0, 0.0};  // tangential reaction [N]
  Standing standing{Standing::Touching};
  bool opens{false};  // it leaves, or will at once
};

/// Two contacts that touch at once: the angle of their gradients in the metric M^-1.
struct CornerPair {
  std::size_t first{0}, second{0};  // among `active`
  double cosine{0.0};               // <dg, dg'> / |dg| |dg'|
};

/// The velocity that follows where one contact is met a moment before the others: reflections one
/// after the other, each with its e, until none approaches.
struct CornerLimit {
  std::size_t first{0};  // among `active`
  model::Vector<model::kDynamic> velocity;
};

/// Contacts that are struck together. The motion is continuous in its data there where gradients
/// are orthogonal, and for e = 0 where no two make an acute angle [Paoli 2005]; elsewhere motions
/// that begin nearby, and meet one wall first, have the limits below.
struct Corner {
  std::vector<CornerPair> pairs;
  std::vector<CornerLimit> limits;  // where the velocity is not in the tangent cone
  bool is_continuous{true};         // the condition on the angles holds
};

/// The contact problem of the step that follows, and all its solutions: with friction there may be
/// several, or none.
struct NextStep {
  double length{0.0};                             // [s]
  std::vector<int> rows;                          // of the model, contact by contact
  int dim{2};                                     // components of one contact's impulse
  std::vector<solve::ContactSolution> solutions;  // `taken` is that of the scheme
  std::optional<std::size_t> taken;
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
  bool in_tangent_cone{true};    // u in V, to the tolerances of the rows
  Vec right_velocity;            // u, or prox(V, u)
  Corner corner;                 // where several contacts touch
  Vec free_acceleration;         // a = M^-1 (Q - c)
  Vec acceleration;              // nearest to a, in the metric M, of those the rows admit
  std::optional<NextStep> next;  // where there is friction, and few contacts
  problem::Report shock;         // how prox(V, u) was found
  problem::Report gauss;         // how the acceleration was found
  problem::Status status{problem::Status::Solved};  // the first that is not Solved

  bool ok() const { return status == problem::Status::Solved; }
  bool unique() const { return shock.unique && gauss.unique; }  // of impulses and reactions
};

/// What an inspection asks of a model at one instant. Rows are contacts, then joints:
/// U = J u + dg/dt, dU/dt = J q'' + gamma.
class Instant {
 public:
  using Vec = Inspection::Vec;
  virtual ~Instant() = default;

  virtual int joints() const { return 0; }
  int rows() const { return static_cast<int>(gap.size()); }

  /// False: the mass is singular, and nothing else may be asked.
  virtual bool is_regular() const = 0;
  /// Finds what depends on the velocity, at u: gamma and the free acceleration.
  virtual void set_velocity(const Vec& u) = 0;

  virtual bool exists(int) const { return true; }
  /// e of a contact; none where it is no number.
  virtual std::optional<double> restitution(int) const { return 0.0; }
  virtual double slack(int row) const = 0;  // up to which a gap is closed by its formula's size
  virtual double dot(int row, const Vec& v) const = 0;      // J v
  virtual double abs_dot(int row, const Vec& v) const = 0;  // |J| |v|
  virtual double abs_sum(int row) const = 0;                // |J| 1
  virtual Vec response(int row) const = 0;                  // M^-1 J^T
  virtual Vec half_response(int row) const = 0;             // L^-1 J^T, M = L L^T

  /// Friction: tangential rows S, U_T = S u + rate, and the section of what they may do.
  virtual int slips(int) const { return 0; }
  virtual Vec slip_row(int, int) const { return {}; }            // S
  virtual Vec slip_response(int, int) const { return {}; }       // M^-1 S^T
  virtual Vec slip_half_response(int, int) const { return {}; }  // L^-1 S^T
  virtual double slip_rate(int, int) const { return 0.0; }       // U_T at u = 0
  virtual double slip_gamma(int, int) const { return 0.0; }      // dU_T/dt without S q''
  virtual double stretch(int) const { return 1.0; }              // normal velocity over U
  virtual convex::Section section(int, bool) const { return convex::Disc{}; }  // after stick or not
  virtual bool is_loaded(int) const { return false; }       // friction without a contact,
  virtual double load(int) const { return 0.0; }            // its load [N],
  virtual std::vector<int> holds(int) const { return {}; }  // or the joints that press

  Vec q;
  Vec gap;
  Vec rate;        // dg/dt
  Vec gamma;       // d2g/dt2 along the motion, without J q''
  Vec gamma_size;  // sum of the sizes of its terms
  Vec free;        // a = M^-1 (Q - c)
};

/// Part of its natural size up to which a gap or a rate counts as 0.
inline constexpr double kInspectTolerance = 1e-9;
/// The same for accelerations, which only rounding disturbs.
inline constexpr double kInspectRounding = 1e-12;

/// Inspects a state with the velocity u. For active rows with U = 0, Gauss' principle reads:
/// minimise |q'' - a|_M under
///
///     J q'' + gamma >= 0  (joints: = 0),   gamma = u^T (d2g/dq2) u + 2 (d2g/dq dt) u + d2g/dt2,
///
/// and its multipliers are the reactions: M q'' + c = Q + J^T r, r >= 0, r . (J q'' + gamma) = 0.
///
/// With friction the reactions obey Coulomb's law in accelerations: where U_T = 0, as the impulses
/// of a step do in velocities; where a contact slips, R_T is at the end of its section that opposes
/// the slip. Shocks are inelastic, with friction.
///
/// `step` > 0: the state was reached by steps of this length, so that gaps and their rates count as
/// 0 up to what they change in one. A mass that is singular there is the status SingularMass, with
/// nothing computed; rows that contradict each other are Infeasible, values that are not finite
/// Degenerate.
Inspection inspect(Instant& instant, const Inspection::Vec& u, double step = 0.0);

/// Inspects states of one model of formulas.
class Inspector {
 public:
  using State = model::State<model::kDynamic>;

  /// The model must outlive it. Throws formula::GraphTooLarge where second derivatives outgrow the
  /// graph.
  explicit Inspector(const model::FormulaModel& model);

  Inspection at(const State& state, double step = 0.0) const;

 private:
  class AtState;
  const model::FormulaModel& model_;
  model::FormulaView<model::kDynamic, model::kDynamic> view_;
  formula::Tape tape_;  // dU/dq (entries of the pattern) and dU/dt, row by row; then c
};

/// A structure at an instant, told at its points; its rows are the sides of its guides. Their
/// friction is left out.
Inspection inspect_structure(const structure::LinearStructure& structure,
                             const structure::Motion& state, double step = 0.0);

}  // namespace ricochet::study
