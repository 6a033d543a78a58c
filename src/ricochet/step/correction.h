#pragma once

#include "ricochet/step/stages.h"

namespace ricochet::step {

/// Replaces a violated q_M by q_M - M^-1 J^T W^-1 g, the intersection of the active surfaces to
/// first order; least-norm when W is singular.                    [Moreau 1986 (10.8)-(10.9)]
/// Joints, which the impulses keep, are put right along with the contacts.
/// By pushes alone: 0 <= weights, g + J shift >= 0 and one of them 0, so that nothing is pulled.
template <model::Model M>
problem::Report correct_violation(const M& model, Workspace<M>& w, bool by_pushes) {
  if constexpr (!M::kPlain) {
    if (!model.load_mass(w.q_mid, w.place)) return {.status = problem::Status::SingularMass};
  }
  find_touching(model, w.q_mid, w);
  if constexpr (!M::kPlain) {
    w.claim.active.erase_if([&](int a) { return model::is_loaded(model, a); });
  }
  bool violated = false;
  const int contacts = w.claim.active.size() - model.joints();
  for (int k = 0; k < contacts; ++k) violated = violated || w.place.gap[w.claim.active[k]] < 0.0;
  if (!violated) return {};
  take_gradients(model, w.q_mid, w);
  if (w.weights.size() < w.claim.active.size()) w.weights.resize(w.claim.active.size());
  assemble(model, w, [&](int k, double&) { return w.place.gap[w.claim.active[k]]; });
  if (by_pushes) {
    problem::WarmStart none;
    const problem::Report report = w.solver.solve(w.problem, none);
    if (report.status != problem::Status::Solved) return report;
  } else {
    w.solver.balance(w.problem);  // W weights = -g
  }
  w.gathered.setZero();
  w.put.clear();
  for (int k = 0; k < w.claim.active.size(); ++k) {
    w.weights[k] = w.solver.impulse(k);
    w.place.normals.add_to(w.claim.active[k], w.weights[k], w.gathered);
    if (!by_pushes || w.weights[k] > 0.0) w.put.push(w.claim.active[k]);
  }
  if (by_pushes) {
    model.mass(w.place).solve(w.gathered, w.shift);
  } else {
    w.shift = w.solver.motion();
  }
  model.advance(w.q_mid, w.shift, 1.0, w.q_mid);
  w.claim.shift_weights = &w.weights;
  return {};
}

}  // namespace ricochet::step
