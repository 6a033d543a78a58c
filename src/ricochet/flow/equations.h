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
/// Rows, contacts or joints, in ascending order.
using Rows = std::vector<int>;

/// The motion while certain rows are held:
///   du/dt = M^-1 (Q - c + J^T r),   r = -W^-1 (J M^-1 (Q - c) + d2g/dt2 at du/dt = 0).
struct Mode {
  formula::Jet jet;            // of t, q, u, the variations, the integral of tr f_y
  formula::Tape acceleration;  // du/dt
  formula::Tape switching;     // by switch: its function's derivatives by t, q, u
};

/// u+ = R(t, q, u) of an impact on certain rows:  u+ = u - M^-1 J^T W^-1 (1 + e) U.
/// Outputs: u+, then by component its derivatives by t, q, u.
struct Reset {
  formula::Tape tape;
};

/// What the formulas of a system say of its arcs and events, derived in symbols: Jacobians f_y,
/// second derivatives of gaps, derivatives of impact laws. Modes and resets are made as they are
/// met.
class Equations {
 public:
  /// `watched`: formulas whose zeros are looked for besides. Throws base::InputError for what has
  /// no such equations: functions of a program, friction, parts of space.
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

  /// By row: g, U, e, J, dU/dq, M^-1 J^T, d2g/dt2 of the free motion.
  const formula::Tape& contact_tape() const { return contact_tape_; }
  std::size_t contact_outputs() const { return 4 + 3 * static_cast<std::size_t>(n_); }

 private:
  using Vector = std::vector<NodeId>;
  using Matrix = std::vector<Vector>;
  formula::Graph& graph() { return system_.graph; }
  NodeId dot(const Vector& a, const Vector& b);
  Matrix invert(Matrix matrix);
  void derive_mass();
  void derive_contacts();
  Vector response_of(int row);
  Matrix delassus(const Rows& rows);
  NodeId restitution_of(int row);
  Vector accelerations(const Rows& held, Vector& reactions);
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
  formula::Tape contact_tape_;
  std::map<Rows, std::unique_ptr<Mode>> modes_;
  std::map<std::pair<Rows, bool>, std::unique_ptr<Reset>> resets_;
};

}  // namespace ricochet::flow
