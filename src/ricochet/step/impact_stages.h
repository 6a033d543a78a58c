#pragma once

#include "ricochet/step/stages.h"

namespace ricochet::step {

/// e of the active contacts, where some contact has more than a constant: at the point of the cone,
/// for the velocity at the start of the step.
template <model::Model M>
[[gnu::always_inline]] inline void take_laws(const M& model, const model::StateOf<M>& s,
                                             Workspace<M>& w) {
  if constexpr (model::ImpactModel<M>) {
    if (!model.has_laws()) return;
    for (const int a : w.claim.active) {
      const double approach = std::max(0.0, -contact_velocity(w, a, s.u));
      const bool follows = model.impact_kind(a) == model::ImpactKind::ImpulseTime;  // has its own
      w.laws[a] =
          follows ? 0.0 : model.restitution_at(a, w.t_mid, *w.cone_point, s.u, approach, w.place);
    }
  }
}

/// Whether an impact of another law than Newton's happens in this step: some active contact
/// approaches.
template <model::ImpactModel M>
bool acts_by_law(const M& model, const model::StateOf<M>& s, const Workspace<M>& w) {
  if (!model.has_laws()) return false;
  if (model.impact_kind(w.claim.active[0]) == model::ImpactKind::Newton) return false;
  for (const int a : w.claim.active) {
    if (contact_velocity(w, a, s.u) < 0.0) return true;
  }
  return false;
}

/// u+ = -e u at one contact after the other, until none approaches.    [Moreau 1986, par. 5 Rem. 2]
/// One round is enough where the contacts are decoupled; else the order matters.
template <model::ImpactModel M>
void reflect_in_turn(const M& model, Workspace<M>& w, model::Vector<M::kDofs>& v) {
  constexpr int kMostReflections = 1000;
  int left = kMostReflections;
  for (bool approaches = true; approaches && left > 0;) {
    approaches = false;
    for (const int a : w.claim.active) {
      const double U = contact_velocity(w, a, v);
      if (!(U < 0.0)) continue;
      w.place.normals.copy_to(a, w.gathered);
      model.mass(w.place).solve(w.gathered, w.response);
      v -= (1.0 + w.laws[a]) * U / w.gathered.dot(w.response) * w.response;
      approaches = true;
      --left;
    }
  }
}

/// F(t, q, u) of the contacts that are struck: of the first of them, if each states its own.
template <model::ImpactModel M>
void velocity_by_law(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  w.law = s.u;
  if (model.impact_kind(w.claim.active[0]) == model::ImpactKind::Sequential) {
    return reflect_in_turn(model, w, w.law);
  }
  for (const int a : w.claim.active) {
    const double U = contact_velocity(w, a, s.u);
    if (!(U < 0.0)) continue;
    return model.impact(a, w.t_mid, *w.cone_point, s.u, -U, w.place, w.law);
  }
}

/// l with M (F - u) = J^T l, in the sense of least squares: W l = J (F - u).
template <model::ImpactModel M>
problem::Report impulses_by_law(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  const auto& active = w.claim.active;
  velocity_by_law(model, s, w);
  assemble(model, w, [&](int k, double&) {
    return contact_velocity(w, active[k], s.u) - contact_velocity(w, active[k], w.law);
  });
  w.solver.balance(w.problem);
  for (int k = 0; k < active.size(); ++k) w.claim.lawful[k] = w.solver.impulse(k);
  return {};
}

/// Poisson: l = (1 + e) p_C, where p_C >= 0 compresses to U >= 0 without forces.   [Glocker 1995]
template <model::ImpactModel M>
problem::Report impulses_of_compression(const M& model, const model::StateOf<M>& s,
                                        Workspace<M>& w) {
  const auto& active = w.claim.active;
  assemble(model, w, [&](int k, double&) { return contact_velocity(w, active[k], s.u); });
  const problem::Report report = w.solver.solve(w.problem, *w.warm);
  for (int k = 0; k < active.size(); ++k) {
    w.claim.lawful[k] = (1.0 + w.laws[active[k]]) * w.solver.impulse(k);
  }
  return report;
}

/// An impact by another law than Newton's, with the forces of the step:
/// u+ = prox(V, u' + M^-1 J^T l), l the impulses of the law, so that p = l + more.
template <model::ImpactModel M>
problem::Report push_by_law(const M& model, const model::StateOf<M>& s,
                            model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  const bool poisson = model.impact_kind(w.claim.active[0]) == model::ImpactKind::Poisson;
  problem::Report report =
      poisson ? impulses_of_compression(model, s, w) : impulses_by_law(model, s, w);
  if (report.status != problem::Status::Solved) return report;
  const auto& active = w.claim.active;
  w.law_free = w.free;
  w.gathered.setZero();
  for (int k = 0; k < active.size(); ++k) {
    w.place.normals.add_to(active[k], w.claim.lawful[k], w.gathered);
  }
  model.mass(w.place).solve(w.gathered, w.response);
  w.free += w.response;
  report = push_many(model, 0.0, s.u, u_next, w);
  w.free = w.law_free;
  for (int k = 0; k < active.size(); ++k) {
    w.claim.impulses[k] += w.claim.lawful[k];
  }
  return report;
}

}  // namespace ricochet::step
