#include "ricochet/model/reversed.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "ricochet/formula/derivative.h"
#include "ricochet/formula/substitute.h"

namespace ricochet::model {
namespace {

using formula::NodeId;
using formula::Op;

/// The functions of a program, seen backwards.
class ReversedOutside : public Outside {
 public:
  explicit ReversedOutside(std::shared_ptr<const Outside> forward) : forward_(std::move(forward)) {}

  int find_gap(const std::string& contact) const override { return forward_->find_gap(contact); }
  bool has_force() const override { return forward_->has_force(); }
  bool has_mass() const override { return forward_->has_mass(); }
  bool force_uses_velocity() const override { return forward_->force_uses_velocity(); }
  double gap(int number, double s, std::span<const double> q) const override {
    return forward_->gap(number, -s, q);
  }
  double slope(int number, double s, std::span<const double> q,
               std::span<double> slope) const override {
    return -forward_->slope(number, -s, q, slope);
  }
  void add_force(double s, std::span<const double> q, std::span<const double> w,
                 std::span<double> force) const override {
    velocity_.resize(w.size());
    std::transform(w.begin(), w.end(), velocity_.begin(), std::negate<>());
    forward_->add_force(-s, q, velocity_, force);
  }
  void mass(std::span<const double> q, Matrix<kDynamic, kDynamic>& mass) const override {
    forward_->mass(q, mass);
  }

 private:
  std::shared_ptr<const Outside> forward_;
  mutable std::vector<double> velocity_;  // one instant is asked for at a time
};

/// |J|, J = dg/dq; of a gap from outside it is not known, and 1.
NodeId length_of_gradient(FormulaSystem& system, std::size_t row) {
  formula::Graph& graph = system.graph;
  const bool is_outside = !system.outside_gaps.empty() && system.outside_gaps[row] >= 0;
  if (is_outside) return graph.constant(1.0);
  NodeId square = graph.constant(0.0);
  for (const NodeId entry : formula::gradient(graph, system.gaps[row], system.position_slots())) {
    square = graph.add(square, graph.multiply(entry, entry));
  }
  return graph.make(Op::Sqrt, square);
}

}  // namespace

FormulaSystem reversed(FormulaSystem system, double rest) {
  formula::Graph& graph = system.graph;
  std::vector<int> slots = system.velocity_slots();
  slots.push_back(FormulaSystem::kTimeSlot);
  const auto turn = [&](NodeId& node) {
    if (node < 0) return;
    for (const int slot : slots) {
      node = formula::substitute(graph, node, slot, graph.negate(graph.input(slot)));
    }
  };
  for (auto* nodes : {&system.gaps, &system.where, &system.rolls, &system.forces}) {
    for (NodeId& node : *nodes) turn(node);
  }
  turn(system.potential);
  turn(system.damping);  // -dD/du keeps its sign
  if (system.damping >= 0) system.damping = graph.negate(system.damping);
  const std::size_t contacts = system.gaps.size() - static_cast<std::size_t>(system.joints);
  for (std::size_t a = 0; a < contacts; ++a) {
    const double e = system.restitution[a];
    if (!(e > 0.0 && e < 1.0)) continue;
    const NodeId slow = graph.multiply(graph.constant(rest), length_of_gradient(system, a));
    const NodeId is_struck = graph.make(Op::Less, slow, graph.input(system.approach_slot()));
    system.laws[a].restitution =
        graph.make(Op::Select, is_struck, graph.constant(1.0 / e), graph.constant(0.0));
  }
  if (system.outside) system.outside = std::make_shared<ReversedOutside>(system.outside);
  system.is_reversed = true;
  return system;
}

}  // namespace ricochet::model
