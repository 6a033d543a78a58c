#pragma once

#include "ricochet/step/push_stages.h"

namespace ricochet::step {

/// Opens the claim of a step whose contacts are looked at at time t.
template <model::Model M>
void open_nodes(double t, Workspace<M>& w, certify::Piece piece = certify::Piece::Step) {
  w.t_mid = t;
  w.claim.piece = piece;
  w.claim.active.clear();
  w.claim.shift_weights = nullptr;
  w.claim.reactions = nullptr;
  w.claim.flight = nullptr;
  w.unique = true;
  w.node_count = 0;
}

/// Forces are taken at (t, q, u) too, with that weight.
template <model::Model M>
void add_node(double t, const model::Vector<M::kPlaces>& q, const model::Vector<M::kDofs>& u,
              double weight, Workspace<M>& w) {
  w.nodes[static_cast<std::size_t>(w.node_count++)] = {t, &q, &u, weight};
}

/// Gradients, friction and laws of the active contacts.
template <model::Model M>
problem::Report take_active(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  if (w.claim.active.empty()) return {};
  model.gradients(w.claim.active, w.place);
  take_laws(model, s, w);
  return take_friction(model, s.u, w);
}

/// Contacts active at `point`, with their gradients, friction and laws.
template <model::Model M>
problem::Report take_contacts(const M& model, const model::StateOf<M>& s,
                              const model::Vector<M::kPlaces>& point, Workspace<M>& w) {
  find_touching(model, point, w);
  return take_active(model, s, w);
}

/// The same with the contacts that last.
template <model::Model M>
problem::Report take_lasting_contacts(const M& model, const model::StateOf<M>& s, double h,
                                      const model::Vector<M::kPlaces>& point, Workspace<M>& w,
                                      bool ahead = false) {
  find_contacts(model, s, h, point, w, ahead);
  return take_active(model, s, w);
}

/// u' = u + h M^-1 sum_j w_j (Q - c)(node j).
template <model::Model M>
void free_velocity_at_nodes(const M& model, const model::StateOf<M>& s, double h, Workspace<M>& w) {
  w.force.setZero();
  for (int j = 0; j < w.node_count; ++j) {
    const auto& node = w.nodes[static_cast<std::size_t>(j)];
    if (node.weight == 0.0) continue;
    model::applied_force(model, node.t, *node.q, *node.u, w.place, w.response);
    w.force += node.weight * w.response;
  }
  model.mass(w.place).solve(w.force, w.free);
  w.free = s.u + h * w.free;
}

/// Repeats `round`, which finds u+ from the nodes, whose velocities and positions depend on u+. Of
/// one u' several solvers' answers differ by more than rounding, and all are right. Contacts that
/// are looked at ahead depend on u+ too, of which rounding of their gaps has the size `gaps`.
template <model::Model M, class Round>
problem::Report settle_nodes(model::Vector<M::kDofs>& u_next, Workspace<M>& w, bool repeats,
                             Round&& round, double gaps = 0.0) {
  for (int i = 0; i < kMostRounds; ++i) {
    w.last = u_next;
    w.slope = w.free;  // of the round before
    const problem::Report report = round();
    if (report.status != problem::Status::Solved || !repeats) return report;
    if (i > 0 && is_settled(u_next, w.last, w.last.cwiseAbs().sum() + gaps)) return report;
    if (i > 0 && gaps == 0.0 && is_settled(w.free, w.slope, 0.0)) return report;
  }
  return is_close(u_next, w.last, w.last.cwiseAbs().sum() + w.free.cwiseAbs().sum());
}

/// Whether forces, or inertia, depend on the velocity.
template <model::Model M>
bool depends_on_velocity(const M& model) {
  return model.force_uses_velocity() || !model.has_constant_mass();
}

}  // namespace ricochet::step
