#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/formula/jet.h"
#include "ricochet/formula/tape.h"
#include "ricochet/model/formula_model.h"

namespace ricochet::flow {

using formula::NodeId;
/// Rows, contacts or joints, in ascending order; behind them grips, each with what it does.
using Rows = std::vector<int>;

/// Dry friction in the plane, of a contact that lasts or of a load:
///   it sticks with |r_T| <= mu N,   or slips with r_T = -s mu N, s the sign of its velocity V.
struct Grip {
  int row{-1};
  NodeId velocity{-1};         // V(t, q, u), affine in u
  NodeId bend{-1};             // dV/dt at du/dt = 0
  NodeId load{-1};             // N, where there is no contact; -1: the contact's reaction
  NodeId scale{-1};            // N over the reaction of the gap; -1: the gap is a length
  NodeId still{-1};            // mu at V = 0
  std::vector<NodeId> slopes;  // dV/du
  model::FrictionLaw law;
};

/// The motion while certain rows are held and grips stick or slip:
///   du/dt = M^-1 (Q - c + J^T r),   r = -W^-1 (J M^-1 (Q - c) + d2g/dt2 at du/dt = 0).
/// What is watched in the jet: gaps, reactions, watched formulas, and of each grip s V where it
/// slips, mu N - r_T and mu N + r_T where it sticks.
struct Mode {
  formula::Jet jet;            // of t, q, u, the variations, the integral of tr f_y
  formula::Tape acceleration;  // du/dt
  formula::Tape switching;     // by switch: its function's derivatives by t, q, u
  formula::Tape holding;       // by grip: s dV/dt where it slips, both margins where it sticks
  formula::Tape letting_go;    // by function of a grip: its derivatives by t, q, u
};

/// u+ = R(t, q, u) of an impact on certain rows:  u+ = u - M^-1 J^T W^-1 (1 + e) U.
/// With a grip behind the row p_T = -s mu p, or V+ = 0.
/// Outputs: u+, then by component its derivatives by t, q, u, then of the grip s V+, or both
/// margins.
struct Reset {
  formula::Tape tape;
};

/// What the formulas of a system say of its arcs and events, derived in symbols: Jacobians f_y,
/// second derivatives of gaps, derivatives of impact laws. Modes and resets are made as they are
/// met.
class Equations {
 public:
  /// `watched`: formulas whose zeros are looked for besides. Throws base::InputError for what has
  /// no such equations: functions of a program, friction in space, parts of space.
  Equations(const model::FormulaModel& model, bool with_variations,
            const std::vector<NodeId>& watched);

  int dofs() const { return n_; }
  int rows() const { return static_cast<int>(system_.gaps.size()); }
  int joints() const { return system_.joints; }
  bool has_variations() const { return with_variations_; }
  std::size_t watched() const { return watched_.size(); }
  const std::string& name(int row) const { return system_.contacts[static_cast<std::size_t>(row)]; }

  // Slots of a jet: t, q, u, one of the laws, then the columns of variations (each dq, du), then
  // the integral of tr f_y.
  int inputs() const { return system_.inputs() + 1; }
  int variation_slot(int column) const { return inputs() + 2 * n_ * column; }
  int trace_slot() const { return inputs() + 4 * n_ * n_; }
  int jet_inputs() const { return with_variations_ ? trace_slot() + 1 : inputs(); }

  const Mode& mode(const Rows& held);
  const Reset& reset(const Rows& struck, bool is_plastic);

  // A grip among rows: it slips with the sign -1 or 1, or sticks, 0.
  const std::vector<Grip>& grips() const { return grips_; }
  bool is_load(int row) const;  // friction without a contact
  int code(int grip, int state) const { return rows() + 3 * grip + state + 1; }
  int grip_of(int code) const { return (code - rows()) / 3; }
  int state_of(int code) const { return (code - rows()) % 3 - 1; }

  /// By row: g, U, e, J, dU/dq, M^-1 J^T, d2g/dt2 of the free motion; by grip 0, V, how much more
  /// it holds at rest than when it slips, and the same of V.
  const formula::Tape& contact_tape() const { return contact_tape_; }
  std::size_t contact_outputs() const { return 4 + 3 * static_cast<std::size_t>(n_); }

 private:
  using Vector = std::vector<NodeId>;
  using Matrix = std::vector<Vector>;
  formula::Graph& graph() { return system_.graph; }
  /// What pushes while rows are held and grips do what they do: a = free + columns r, with
  /// gradients a + bends = 0.
  struct Pushes {
    Matrix gradients, columns;
    Vector bends, free, reactions, acceleration;
    std::vector<Vector> functions;  // by grip, as they are watched
    Vector holding;
  };
  NodeId dot(const Vector& a, const Vector& b);
  Vector times(const Matrix& matrix, const Vector& b);
  void derive_grips();
  NodeId coefficient(const Grip& grip, int state);
  Vector slipping(const Grip& grip, int state);  // J - s mu H of its row
  void solve(const Rows& rows, Pushes& pushes);
  void add_functions(const Rows& rows, Pushes& pushes);
  void add_grip_outputs(const Rows& struck, const Vector& after, const Vector& impulses,
                        Vector& outputs);
  Matrix invert(Matrix matrix);
  void derive_mass();
  void derive_contacts();
  Vector response_of(int row);
  NodeId restitution_of(int row);
  void add_variations(const Vector& acceleration, std::vector<formula::Jet::Rate>& rates);
  std::vector<int> state_slots() const;  // t, q, u

  model::FormulaSystem system_;
  bool with_variations_;
  std::vector<NodeId> watched_;
  int n_;
  Matrix inverse_mass_;
  Vector free_;   // accelerations without contacts
  Matrix J_;      // by row
  Vector speed_;  // U
  Vector bend_;   // d2g/dt2 at du/dt = 0
  std::vector<Grip> grips_;
  formula::Tape contact_tape_;
  std::map<Rows, std::unique_ptr<Mode>> modes_;
  std::map<std::pair<Rows, bool>, std::unique_ptr<Reset>> resets_;
};

}  // namespace ricochet::flow
