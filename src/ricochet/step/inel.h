#pragma once

#include "ricochet/step/stages.h"

namespace ricochet::step {

/// One step of INEL: u+ = prox(V(q'), u'), standard inelastic shocks.   [Moreau 1986 (10.2)-(10.7)]
///
/// Deviation: the source takes the force at q' = q_M + A_V h u always, which makes free flight
/// first order; here it is taken there only when a contact is active at q', else at q_M. For
/// constant forces there is no difference.
template <model::Model M>
problem::Report advance(const Inel& scheme, const M& model, const model::State<M::kDofs>& s,
                        double h, model::State<M::kDofs>& next, Workspace<M>& w) {
  half_step(model, s, h, w);  // q_M = q + h/2 u         (10.3)
  if (scheme.correction == Correction::Project) correct_violation(model, w);
  model.advance(w.q_mid, s.u, scheme.anticipation * h, w.q_cone);  // q' = q_M + A_V h u
  find_touching(model, w.q_cone, w);                               // A = { a : g_a(q') <= 0 }
  w.claim.restitution = 0.0;                                       // v = U+
  w.claim.reference = certify::Reference::Start;
  problem::Report report;
  if (w.claim.active.empty()) {
    free_velocity(model, s, h, w.q_mid, w);  // u' = u + h a            (10.4)
    next.u = w.free;                         // V is the whole space    (10.6)
  } else {
    free_velocity(model, s, h, w.q_cone, w);
    model.gradients(w.claim.active, w.place);  // V = { v : J v >= 0 }
    report = w.claim.active.size() == 1        // u+ = prox(V, u')        (10.5)
                 ? push_one(model, 0.0, certify::Branch::Unilateral, next.u, w)
                 : push_many(model, 0.0, s.u, next.u, w);
  }
  finish_step(model, h, w, next);  // q+ = q_M + h/2 u+       (6.17)
  return report;
}

}  // namespace ricochet::step
