#include "ricochet/model/reversed.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <utility>

#include "ricochet/formula/substitute.h"

namespace ricochet::model {
namespace {

using formula::NodeId;

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

}  // namespace

FormulaSystem reversed(FormulaSystem system, double rest) {
  formula::Graph& graph = system.graph;
  system.restitution.resize(system.gaps.size(), 0.0);
  system.laws.resize(system.gaps.size());
  std::unordered_map<int, NodeId> mirrored;
  for (const int slot : system.velocity_slots()) mirrored[slot] = graph.negate(graph.input(slot));
  mirrored[FormulaSystem::kTimeSlot] = graph.negate(graph.input(FormulaSystem::kTimeSlot));
  const auto turn = [&](NodeId& node) {
    if (node >= 0) node = formula::substitute(graph, node, mirrored);
  };
  for (auto* nodes : {&system.gaps, &system.where, &system.rolls, &system.forces}) {
    for (NodeId& node : *nodes) turn(node);
  }
  for (NodeId& roll : system.rolls) roll = graph.negate(roll);  // so that dv/du stays what it is
  turn(system.potential);
  turn(system.damping);  // -dD/du keeps its sign
  if (system.damping >= 0) system.damping = graph.negate(system.damping);
  const std::size_t contacts = system.gaps.size() - static_cast<std::size_t>(system.joints);
  for (std::size_t a = 0; a < contacts; ++a) {
    const double e = system.restitution[a];
    if (e > 0.0 && e < 1.0) system.laws[a].restitution = graph.constant(1.0 / e);
  }
  if (system.outside) system.outside = std::make_shared<ReversedOutside>(system.outside);
  system.is_reversed = true;
  system.rest = rest;
  return system;
}

}  // namespace ricochet::model
