#pragma once

#include <array>

#include "ricochet/step/node_stages.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// How much of a step's force the first velocity has: all, as in the sources, or half: then
/// velocities are those of a leapfrog, and positions in smooth motion of order 2.
enum class FirstVelocity { Whole, Half };
inline constexpr std::array<std::string_view, 2> kFirstVelocities = {"whole", "half"};

/// Velocities at the end of steps, e-averaged; no friction.   [Mabrouk 1998; Paoli 2001, par. 4]
struct Mabrouk {
  static constexpr std::array<Setting, 1> kSettings = {
      {{.name = "first_velocity",
        .meaning =
            "the force in the start value: that of a whole step, as in the paper, or of half "
            "a step, which makes positions of order 2 where nothing is struck",
        .words = kFirstVelocities}}};
  static constexpr SchemeInfo kInfo{
      .name = "mabrouk",
      .meaning = "q⁺ = q + hu, u⁺ at the end of the step; implicit where forces use velocities",
      .use = "the convergence theorem of [Mabrouk 1998]",
      .integrator = certify::Integrator::End,
      .runs_structures = true,
      .settings = kSettings};
  FirstVelocity first{FirstVelocity::Whole};
  static Mabrouk from(const Scheme& scheme) {
    return {scheme.choice<FirstVelocity>("first_velocity")};
  }
  double start_weight() const { return first == FirstVelocity::Half ? 0.5 : 1.0; }
  certify::Method method() const {
    certify::Method method = method_of(kInfo);
    method.start_weight = start_weight();
    return method;
  }
};

/// v+ = -e v + (1+e) prox(V(q), v + h/(1+e) a(t, q, v+)), written with its impulses:
/// M (v+ - v) = h (Q - c)(t, q, v+) + J^T p, 0 <= p, U+ + e U >= 0, p . (U+ + e U) = 0.
///                                                  [Mabrouk 1998 (5), (9); Paoli 2001 (4.12)]
/// Beyond the sources: each contact may have its own e.
template <model::Model M>
problem::Report update_velocity(const M& model, const model::StateOf<M>& s, double h,
                                model::StateOf<M>& next, Workspace<M>& w) {
  problem::Report report = take_contacts(model, s, next.q, w);
  if (report.status != problem::Status::Solved) return report;
  if (!model.load_mass(next.q, w.place)) return {.status = problem::Status::SingularMass};
  next.u = s.u;
  return settle_nodes(next.u, w, depends_on_velocity(model), [&] {
    free_velocity_at_nodes(model, s, h, w);  // the force at u+, which is the node's velocity
    if (!w.claim.active.empty()) return push(model, s, next.u, w);
    next.u = w.free;
    return problem::Report{};
  });
}

/// The start value v^0, at q^0 and t_0: a step in velocity alone.    [Mabrouk 1998 (7); Paoli 2001
/// (4.14)]
/// A structure starts with the velocity given.
template <model::Model M>
requires(!model::ImplicitModel<M>) problem::Report
    begin(const Mabrouk& scheme, const M& model, const model::StateOf<M>& s, double h,
          model::StateOf<M>& next, Workspace<M>& w) {
  open_nodes(s.t, w, certify::Piece::Start);
  next.t = s.t;
  next.q = s.q;
  add_node(s.t, next.q, next.u, scheme.start_weight(), w);
  return update_velocity(model, s, h, next, w);
}

/// One step of Monteiro Marques and Mabrouk: the position by the old velocity, then the velocity at
/// the new position.                                [Mabrouk 1998 (8)-(9); Paoli 2001 (4.15)]
template <model::Model M>
problem::Report advance(const Mabrouk&, const M& model, const model::StateOf<M>& s, double h,
                        model::StateOf<M>& next, Workspace<M>& w) {
  open_nodes(next.t, w);
  add_node(next.t, next.q, next.u, 1.0, w);      // Q(t+, q+, v+)
  model.advance(s.q, s.u, h, next.q);            // (8)
  return update_velocity(model, s, h, next, w);  // (9)
}

}  // namespace ricochet::step
