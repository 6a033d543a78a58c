#pragma once

#include <array>

#include "ricochet/step/node_stages.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

using certify::Average;

/// Positions alone, projected on the admissible set.           [Paoli 2001, par. 3]
struct PaoliSchatzman {
  static constexpr std::array<std::string_view, 3> kAverages = {"central", "backward", "forward"};
  static constexpr std::array kSettings = {Setting{
      .name = "average", .meaning = "the velocity at which forces are taken", .words = kAverages}};
  static constexpr SchemeInfo kInfo{.name = "paoli-schatzman",
                                    .meaning = "positions only: projected on the admissible set",
                                    .use = "small violations, non-convex sets",
                                    .integrator = certify::Integrator::MeanPosition,
                                    .laws = Laws::OneConstant,
                                    .settings = kSettings};
  Average average{Average::Central};
  static PaoliSchatzman from(const Scheme& scheme) {
    return {.average = scheme.choice<Average>("average")};
  }
  certify::Method method() const {
    certify::Method method = method_of(kInfo);
    method.average = average;
    return method;
  }
};

/// The mean position q_bar = (q+ + e q-)/(1+e) = z + h/(1+e) M^-1 J(q_bar)^T p is the projection on
/// K of z = (2q - (1-e) q- + h^2 F)/(1+e), in the metric M(q).            [Paoli 2001 (3.2)]
///
/// Newton's method on the conditions of the projection, without the curvature of K: in each round
/// the gaps are linearised at q_bar and the projection on the polyhedron they bound is exact, so
/// that several constraints and their edges need no special case. Rounds that do not come nearer
/// are shortened. Contacts that q_bar violates join; K need not be convex.
template <model::Model M>
class MeanProjection {
 public:
  using Place = model::Vector<M::kPlaces>;

  MeanProjection(const M& model, double e, double h, double t_mean, Workspace<M>& w)
      : model_(model), scale_(h / (1.0 + e)), t_(t_mean), w_(w) {}

  /// From z in `z`; leaves q_bar in w.q_cone and the impulses in the claim.
  problem::Report solve(const Place& z) {
    w_.q_cone = z;
    model_.gaps(t_, w_.q_cone, w_.place);
    w_.claim.active.clear();
    if (!join()) return {};
    double shorten = 1.0;
    double last = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kMostRounds; ++round) {
      const problem::Report report = project_linearised(z);
      if (report.status != problem::Status::Solved) return report;
      model_.difference(w_.q_end, w_.q_cone, w_.gathered);
      const double move = w_.gathered.cwiseAbs().sum();
      if (move > 0.9 * last) shorten = std::max(0.125, 0.5 * shorten);
      last = move;
      model_.advance(w_.q_cone, w_.gathered, shorten, w_.q_cone);
      model_.gaps(t_, w_.q_cone, w_.place);
      const bool joined = join();
      const double size = w_.q_cone.cwiseAbs().sum() + z.cwiseAbs().sum();
      if (!joined && move <= 4.0 * std::numeric_limits<double>::epsilon() * size) return report;
    }
    const double size = w_.q_cone.cwiseAbs().sum() + z.cwiseAbs().sum();
    return {.status =
                last <= 1e-12 * size ? problem::Status::Solved : problem::Status::NoConvergence};
  }

 private:
  /// Adds the contacts that q_bar touches or violates; true when there are new ones.
  bool join() {
    auto& active = w_.claim.active;
    const int before = active.size();
    w_.joints.clear();  // all of them, in order
    int next = 0;
    for (int a = 0; a < model_.contacts(); ++a) {
      const bool listed = next < before && active[next] == a;
      if (listed) ++next;
      if (listed || model_.touches(a, w_.place)) w_.joints.push(a);
    }
    active.clear();
    for (const int a : w_.joints) active.push(a);
    return active.size() > before;
  }

  /// p >= 0, v = (1+e)/h (g + J (z - x)) + W p >= 0, p . v = 0; the point z + M^-1 J^T p in q_end.
  problem::Report project_linearised(const Place& z) {
    const auto& active = w_.claim.active;
    model_.gradients(active, w_.place);
    model_.difference(z, w_.q_cone, w_.gathered);
    assemble(model_, w_, [&](int k, double&) {
      const int a = active[k];
      return (w_.place.gap[a] + w_.place.normals.dot(a, w_.gathered)) / scale_;
    });
    const problem::Report report = w_.solver.solve(w_.problem, *w_.warm);
    w_.unique = report.unique;
    w_.gathered.setZero();
    for (int k = 0; k < active.size(); ++k) {
      w_.claim.impulses[k] = w_.solver.impulse(k);
      w_.place.normals.add_to(active[k], w_.claim.impulses[k], w_.gathered);
    }
    model_.mass(w_.place).solve(w_.gathered, w_.response);  // M^-1 J^T p
    model_.advance(z, w_.response, scale_, w_.q_end);
    return report;
  }

  const M& model_;
  double scale_;
  double t_;
  Workspace<M>& w_;
};

/// q^1 = q^0 + h u^0 + h^2/2 a, the velocity between them.            [Paoli 2001 (3.1)]
template <model::Model M>
problem::Report first_step(const M& model, const model::StateOf<M>& s, double h,
                           model::StateOf<M>& next, Workspace<M>& w) {
  open_nodes(s.t, w, certify::Piece::Start);
  add_node(s.t, s.q, s.u, 0.5, w);
  if (!model.load_mass(s.q, w.place)) return {.status = problem::Status::SingularMass};
  free_velocity_at_nodes(model, s, h, w);
  next.u = w.free;
  model.advance(s.q, next.u, h, next.q);
  return {};
}

/// Contacts that a round of the projection met and the last left open are not active.
template <model::Model M>
void leave_out_open(const M& model, Workspace<M>& w) {
  auto& active = w.claim.active;
  w.joints.clear();  // all of them, in order
  for (const int a : active) w.joints.push(a);
  active.clear();
  for (int k = 0; k < w.joints.size(); ++k) {
    const double p = w.claim.impulses[k];
    if (p == 0.0 && !model.touches(w.joints[k], w.place)) continue;
    w.claim.impulses[active.size()] = p;
    active.push(w.joints[k]);
  }
}

/// One step of Paoli and Schatzman: q+ = -e q- + (1+e) P_K[(2q - (1-e) q- + h^2 F)/(1+e)].
///                                                                   [Paoli 2001 (3.1)-(3.3)]
/// The velocity of a state is that between the last two positions, u = (q - q-)/h, so that q- need
/// not be kept, and the impulses p follow from M (u+ - u) = h M F + J(q_bar)^T p. F = M^-1 (Q - c)
/// at (t, q) and at the velocity that `average` names. The metric is frozen at q.
template <model::Model M>
problem::Report advance(const PaoliSchatzman& scheme, const M& model, const model::StateOf<M>& s,
                        double h, model::StateOf<M>& next, Workspace<M>& w) {
  if (s.memory.steps == 0) return first_step(model, s, h, next, w);
  const double e = model.contacts() > 0 ? model.restitution(0) : 0.0;
  const double t_mean = s.t + h * (1.0 - e) / (1.0 + e);  // of t+ and e t-, as q_bar
  open_nodes(t_mean, w);
  add_node(s.t, s.q, w.node_u, 1.0, w);
  if (!model.load_mass(s.q, w.place)) return {.status = problem::Status::SingularMass};
  next.u = s.u;
  const bool repeats = depends_on_velocity(model) && scheme.average != Average::Backward;
  const problem::Report report = settle_nodes(next.u, w, repeats, [&] {
    switch (scheme.average) {
      case Average::Backward: w.node_u = s.u; break;
      case Average::Central: w.node_u = 0.5 * (s.u + next.u); break;
      case Average::Forward: w.node_u = next.u; break;
    }
    free_velocity_at_nodes(model, s, h, w);
    w.gathered = w.free - e * s.u;
    model.advance(s.q, w.gathered, h / (1.0 + e), w.q_mid);  // z
    const problem::Report projected = MeanProjection<M>(model, e, h, t_mean, w).solve(w.q_mid);
    next.u = w.free;
    if (!w.claim.active.empty()) next.u += w.response;
    return projected;
  });
  model.advance(s.q, next.u, h, next.q);
  leave_out_open(model, w);
  return report;
}

}  // namespace ricochet::step
