#pragma once

#include <string>
#include <vector>

#include "ricochet/formula/graph.h"
#include "ricochet/formula/tape.h"
#include "ricochet/model/model.h"

namespace ricochet::model {

/// A system as formulas: what a scene hands over. Input slots of the graph are t, then the
/// coordinates, then the velocities.
struct FormulaSystem {
  formula::Graph graph;
  std::vector<std::string> coordinates;
  std::vector<std::string> contacts;    // names, one per gap
  std::vector<formula::NodeId> gaps;    // g_a(t, q)
  std::vector<formula::NodeId> forces;  // one per coordinate, without those of the potential
  formula::NodeId potential{-1};        // V(t, q); -1: none
  convex::Metric<kDynamic> mass{convex::Metric<kDynamic>::diagonal(Vector<kDynamic>())};

  static constexpr int kTimeSlot = 0;
  int position_slot(int coordinate) const { return 1 + coordinate; }
  int velocity_slot(int coordinate) const {
    return 1 + static_cast<int>(coordinates.size()) + coordinate;
  }
  int inputs() const { return 1 + 2 * static_cast<int>(coordinates.size()); }
};

/// The model of a scene: gap gradients and potential forces are derived from the formulas, and all
/// are compiled to tapes. Const after construction; evaluated through a `FormulaView`.
class FormulaModel {
 public:
  /// Throws formula::GraphTooLarge when the derivatives outgrow the graph.
  explicit FormulaModel(FormulaSystem system);

  int dofs() const { return static_cast<int>(coordinates_.size()); }
  int contacts() const { return static_cast<int>(contact_names_.size()); }
  const std::vector<std::string>& coordinates() const { return coordinates_; }
  const std::vector<std::string>& contact_names() const { return contact_names_; }
  const convex::Metric<kDynamic>& mass() const { return mass_; }

  bool has_potential() const { return has_potential_; }
  bool is_autonomous() const { return is_autonomous_; }
  bool force_uses_velocity() const { return force_uses_velocity_; }

  /// What is wanted together is compiled together; each tape has a register file of its own.
  static constexpr int kGaps = 0;  // groups of the gap tape
  static constexpr int kGradients = 1;
  const formula::Tape& gap_tape() const { return gap_tape_; }      // g; then dg/dq, dg/dt
  const formula::Tape& cone_tape() const { return cone_tape_; }    // g, dg/dq, dg/dt at once
  const formula::Tape& end_tape() const { return end_tape_; }      // g, V at once
  const formula::Tape& force_tape() const { return force_tape_; }  // Q

  /// Gap of one contact at many configurations with the same t, in lanes: for pictures.
  void gap_grid(int contact, double t, const std::vector<Vector<kDynamic>>& points,
                std::vector<double>& gaps) const;

  /// What was derived, as text, for the curious: of "force" and of each contact by name.
  struct Derived {
    std::string of;
    std::string formula;
  };
  const std::vector<Derived>& derived() const { return derived_; }

 private:
  void describe(const FormulaSystem& system, const std::vector<formula::NodeId>& slopes,
                const std::vector<formula::NodeId>& forces);

  std::vector<std::string> coordinates_;
  std::vector<std::string> contact_names_;
  convex::Metric<kDynamic> mass_;
  formula::Tape gap_tape_;
  formula::Tape cone_tape_;
  formula::Tape end_tape_;
  formula::Tape force_tape_;
  bool has_potential_{false};
  bool is_autonomous_{false};
  bool force_uses_velocity_{false};
  std::vector<Derived> derived_;
};

}  // namespace ricochet::model
