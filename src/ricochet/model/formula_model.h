#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/formula/graph.h"
#include "ricochet/formula/tape.h"
#include "ricochet/model/friction.h"
#include "ricochet/model/impact.h"
#include "ricochet/model/model.h"
#include "ricochet/model/outside.h"
#include "ricochet/problem/restitution.h"

namespace ricochet::model {

/// The impact law of one contact, as formulas of t, q, q' and, in the slot `approach_slot`, of -U.
struct ImpactLaw {
  ImpactKind kind{ImpactKind::Newton};
  formula::NodeId restitution{-1};     // e where it is a formula; -1: a number
  std::vector<formula::NodeId> after;  // F of `Own`, one node for each coordinate
  problem::Restitution ending{problem::Restitution::Stronge};  // of a shock in impulse time
  bool is_plain() const { return kind == ImpactKind::Newton && restitution < 0; }
};

/// One entry M_ij, i >= j, of a mass matrix in symbols.
struct MassEntry {
  int row{0};
  int column{0};
  formula::NodeId node{-1};
};

/// A system as formulas: what a scene hands over. Input slots of the graph are t, then the
/// coordinates, then the velocities. Rows are the contacts, then the joints, and of these last the
/// velocities that are kept at 0.
struct FormulaSystem {
  formula::Graph graph;
  std::vector<std::string> coordinates;
  std::vector<std::string> contacts;   // names, one per row
  std::vector<formula::NodeId> gaps;   // g_a(t, q), one per row
  std::vector<formula::NodeId> where;  // the row exists where this is not 0; -1: everywhere
  int joints{0};                       // the last so many rows are equations g = 0
  std::vector<formula::NodeId> rolls;  // or v(t, q, u) = 0, affine in u: those of the last rows
  std::vector<Slip> slips;             // by row; may be empty: no friction at all
  std::vector<double> restitution;     // e by row; may be empty: 0
  std::vector<std::pair<std::size_t, formula::NodeId>> restitution_nodes;  // rows that slots set
  std::vector<ImpactLaw> laws;          // by row; may be empty: Newton's with that e
  bool wants_inertia{false};            // Q - c, where the mass varies, and d2g/dt2 are wanted
  std::vector<formula::NodeId> forces;  // one per coordinate, without those of the potential
  formula::NodeId potential{-1};        // V(t, q); -1: none
  formula::NodeId damping{-1};          // Rayleigh's D(t, q, u): forces -dD/du; -1: none
  formula::NodeId kinetic{-1};          // T(q, u) when the mass is not constant; else -1
  convex::Metric<kDynamic> mass{convex::Metric<kDynamic>::diagonal(Vector<kDynamic>())};
  std::vector<MassEntry> mass_nodes;  // of a constant mass that slots set, all entries

  // Functions of a program. Of what they give, the formulas above hold the place: gaps that depend
  // on every coordinate, a kinetic energy.
  std::shared_ptr<const Outside> outside;  // null: all is formulas
  std::vector<int> outside_gaps;           // by row: the number of the function, or -1
  bool outside_force{false};
  bool outside_mass{false};

  bool is_reversed{false};  // seen backwards in time: see `reversed`
  double rest{0.0};         // then: approaches slower than this times |J| are none

  FormulaSystem();
  FormulaSystem(const FormulaSystem&);
  FormulaSystem(FormulaSystem&&) noexcept;
  FormulaSystem& operator=(const FormulaSystem&);
  FormulaSystem& operator=(FormulaSystem&&) noexcept;
  ~FormulaSystem();

  static constexpr int kTimeSlot = 0;
  int dofs() const { return static_cast<int>(coordinates.size()); }
  int position_slot(int coordinate) const { return 1 + coordinate; }
  int velocity_slot(int coordinate) const { return 1 + dofs() + coordinate; }
  int inputs() const { return 1 + 2 * dofs(); }
  int approach_slot() const { return inputs(); }  // of laws alone: -U before the impact
  std::vector<int> position_slots() const;
  std::vector<int> velocity_slots() const;
};

/// The entries of d2T/du2 that are not zero, row by row, lower triangle.
std::vector<MassEntry> mass_entries(FormulaSystem& system, formula::NodeId kinetic);

/// c(q,u) = (d2T/du dq) u - dT/dq, one node for each coordinate.
std::vector<formula::NodeId> inertia_terms(FormulaSystem& system);

/// The model of a scene: gap gradients, mass matrix, inertia terms and potential forces are derived
/// from the formulas, and all are compiled to tapes. Const after construction and `take_scale`;
/// evaluated through a `FormulaView`.
class FormulaModel {
 public:
  /// Throws formula::GraphTooLarge when the derivatives outgrow the graph.
  explicit FormulaModel(FormulaSystem system);

  /// Sets the slots of the graph, and all that follows them: the same model as one that is made of
  /// these numbers, to the last bit. False where that is another one, or none: see Graph::refill.
  bool refill(std::span<const double> slots);
  bool follows_slots() const;  // some number of it does

  /// Sets what counts as zero in each gap: the rounding of its formula near this configuration.
  void take_scale(double t, const Vector<kDynamic>& q);
  void take_scale(const FormulaModel& other) { slack_ = other.slack_; }

  int dofs() const { return system_.dofs(); }
  int contacts() const { return static_cast<int>(system_.contacts.size()); }
  int joints() const { return system_.joints; }
  int rolls() const { return static_cast<int>(system_.rolls.size()); }
  const std::vector<std::string>& coordinates() const { return system_.coordinates; }
  const std::vector<std::string>& contact_names() const { return system_.contacts; }
  const convex::Metric<kDynamic>& mass() const { return system_.mass; }  // when it is constant
  const FormulaSystem& system() const { return system_; }                // with its derivatives

  bool has_potential() const { return system_.potential >= 0; }
  bool has_constant_mass() const { return system_.kinetic < 0; }
  bool has_where() const { return has_where_; }
  bool is_reversed() const { return system_.is_reversed; }
  bool is_autonomous() const { return is_autonomous_; }
  bool is_conservative() const { return is_conservative_; }  // V(t,q) and damping are all forces
  bool force_uses_velocity() const { return force_uses_velocity_; }
  bool has_friction() const { return most_slips_ > 0; }
  int most_slips() const { return most_slips_; }  // tangential directions of one contact
  int fewest_slips() const { return fewest_slips_; }
  const Slip& slip(int a) const { return system_.slips[static_cast<std::size_t>(a)]; }
  int slips(int a) const { return static_cast<int>(slip(a).velocities.size()); }
  /// Whether a row is friction without a contact, or a contact has restitution along itself.
  bool has_special_slips() const { return has_special_slips_; }
  double restitution(int a) const { return system_.restitution[static_cast<std::size_t>(a)]; }
  const Outside* outside() const { return system_.outside.get(); }  // null: all is formulas
  int outside_gap(int a) const {
    return system_.outside_gaps.empty() ? -1 : system_.outside_gaps[static_cast<std::size_t>(a)];
  }
  bool has_outside_gaps() const {
    return std::any_of(system_.outside_gaps.begin(), system_.outside_gaps.end(),
                       [](int number) { return number >= 0; });
  }
  bool has_laws() const { return has_laws_; }  // some contact has more than a constant e
  const ImpactLaw& law(int a) const { return system_.laws[static_cast<std::size_t>(a)]; }

  /// What is wanted together is compiled together; each tape has a register file of its own.
  /// "g" stands for all gaps and then, if any row has one, all `where`.
  static constexpr int kGaps = 0;  // groups of the gap tape
  static constexpr int kGradients = 1;
  const formula::Tape& gap_tape() const { return gap_tape_; }            // g; then dg/dq, dg/dt
  const formula::Tape& cone_tape() const { return cone_tape_; }          // g, dg/dq, dg/dt at once
  const formula::Tape& end_tape() const { return end_tape_; }            // g, V at once
  const formula::Tape& force_tape() const { return force_tape_; }        // Q
  const formula::Tape& mass_tape() const { return mass_tape_; }          // entries of M(q)
  const formula::Tape& momentum_tape() const { return momentum_tape_; }  // dT/du, dT/dq
  const formula::Tape& applied_tape() const { return applied_tape_; }    // Q - c, where wanted
  const formula::Tape& bend_tape() const {
    return bend_tape_;
  }  // d2g/dt2 at du/dt = 0, where wanted
  /// dg/dq (the entries of the pattern) and dg/dt, row by row.
  const std::vector<formula::NodeId>& slopes() const { return slopes_; }
  /// Second derivatives of the gaps of contacts by the coordinates of the pattern and t, upper
  /// triangles row by row; empty in large systems.
  const std::vector<formula::NodeId>& curves() const { return curves_; }
  /// Group 2 a: e of contact a where it is a formula; group 2 a + 1: F of its own law.
  const formula::Tape& law_tape() const { return law_tape_; }
  /// Of each contact with friction: dU_T/du (the entries of the slip pattern) and U_T at u = 0,
  /// direction by direction; stretch; two coefficients.
  const formula::Tape& friction_tape() const { return friction_tape_; }
  const Pattern& slip_pattern() const { return slip_pattern_; }  // row 2 a + j
  std::size_t friction_output(int a) const {
    return friction_outputs_[static_cast<std::size_t>(a)];
  }

  const Pattern& pattern() const { return pattern_; }  // of dg/dq, each row's followed by dg/dt
  /// Registers of dg/dq by row and coordinate, each row's followed by dg/dt, where a tape has the
  /// slopes from output `first` of the group on.
  std::vector<std::size_t> slope_registers(const formula::Tape& tape, int group,
                                           std::size_t first) const;
  const std::vector<std::pair<int, int>>& mass_places() const { return mass_places_; }
  const std::vector<double>& slack() const { return slack_; }  // g <= slack is g <= 0
  /// What rounding of all that the formula of gap a is made of may be, in machine epsilons; 0 of
  /// functions of a program.
  double gap_rounding(int a, double t, const double* q) const;

  /// Gap of one contact at many configurations with the same t, in lanes: for pictures.
  void gap_grid(int contact, double t, const std::vector<Vector<kDynamic>>& points,
                std::vector<double>& gaps) const;

  /// What was derived, as text, for the curious: of "mass", "inertia", "force" and each contact.
  struct Derived {
    std::string of;
    std::string formula;
  };
  const std::vector<Derived>& derived() const { return derived_; }

 private:
  std::vector<formula::NodeId> derive_slopes();
  formula::NodeId roll_of(std::size_t row) const;  // -1: the row has a gap
  void compile(const std::vector<formula::NodeId>& slopes,
               const std::vector<formula::NodeId>& forces);
  void compile_mass();
  void compile_bends();
  void compile_friction();
  void derive_curves();
  void compile_laws();
  bool refill_mass();
  void describe(const std::vector<formula::NodeId>& slopes,
                const std::vector<formula::NodeId>& forces);

  FormulaSystem system_;
  Pattern pattern_;
  std::vector<std::pair<int, int>> mass_places_;
  std::vector<double> slack_;
  formula::Tape gap_tape_;
  formula::Tape cone_tape_;
  formula::Tape end_tape_;
  formula::Tape force_tape_;
  formula::Tape mass_tape_;
  formula::Tape momentum_tape_;
  formula::Tape friction_tape_;
  formula::Tape applied_tape_;
  formula::Tape bend_tape_;
  formula::Tape law_tape_;
  std::vector<formula::NodeId> slopes_;
  std::vector<formula::NodeId> curves_;
  Pattern slip_pattern_;
  std::vector<std::size_t> friction_outputs_;  // of the tape, the first of each contact
  int most_slips_{0};
  int fewest_slips_{0};
  bool has_moving_belt_{false};
  bool has_special_slips_{false};
  bool has_where_{false};
  bool is_autonomous_{false};
  bool is_conservative_{false};
  bool has_laws_{false};
  bool force_uses_velocity_{false};
  std::vector<Derived> derived_;
};

}  // namespace ricochet::model
