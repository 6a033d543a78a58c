#pragma once

#include "ricochet/step/push_stages.h"
#include "ricochet/step/staggered.h"

namespace ricochet::step {

/// Standard inelastic, any number of contacts.              [Moreau 1986, par. 10]
struct Inel {
  static constexpr auto kSettings = staggered_settings(0.5);
  static constexpr SchemeInfo kInfo{.name = "inel",
                                    .meaning = "at the middles of steps",
                                    .use = "contacts that last",
                                    .integrator = certify::Integrator::MiddleAhead,

                                    .is_staggered = true,
                                    .laws = Laws::Constants,
                                    .restitution = 0.0,
                                    .gains_by_correction = true,
                                    .settings = kSettings};
  double anticipation{0.5};  // A_V [-]
  Correction correction{Correction::None};
  static Inel from(const Scheme& scheme) { return staggered_from<Inel>(scheme); }
  certify::Method method() const {
    certify::Method method = staggered_method(*this);
    method.contacts_last = method.corrects;
    return method;
  }
};

/// One step of INEL: u+ = prox(V(q'), u'), standard inelastic shocks.   [Moreau 1986 (10.2)-(10.7)]
///
/// Deviation: the source takes the force at q' = q_M + A_V h u always, which makes free flight
/// first order; here it is taken there only when a contact is active at q', else at q_M. For
/// constant forces there is no difference. Where violations are corrected contacts last, as those
/// of `Moreau`: the curve of a wall may leave what was put on it a little outside.
template <model::Model M>
[[gnu::always_inline]] inline problem::Report advance(const Inel& scheme, const M& model,
                                                      const model::StateOf<M>& s, double h,
                                                      model::StateOf<M>& next, Workspace<M>& w) {
  half_step(model, s, h, w);  // q_M = q + h/2 u, half of (10.3), as (6.14)
  const bool corrects = scheme.correction != Correction::None;
  problem::Report report = correct(scheme, model, w);
  if (report.status != problem::Status::Solved) return report;
  model.advance(w.q_mid, s.u, scheme.anticipation * h, w.q_cone);  // q' = q_M + A_V h u
  if (corrects) {
    find_contacts(model, s, h, w.q_cone, w);
  } else {
    find_touching(model, w.q_cone, w);  // A = { a : g_a(q') <= 0 }
  }
  const bool touches = w.claim.active.size() > model.joints();
  report = free_velocity(model, s, h, touches ? w.q_cone : w.q_mid, w);  // u' = u + h a   (10.4)
  if (report.status != problem::Status::Solved) return report;
  next.u = w.free;  // V is the whole space    (10.6)
  if (!w.claim.active.empty()) {
    if (touches) model.gradients(w.claim.active, w.place);  // V = { v : J v >= 0 }
    take_joint_gradients(model, w);
    report = settle(model, h, next.u, w, [&] {  // u+ = prox(V, u')        (10.5)
      return w.claim.active.size() == 1 && model.joints() == 0
                 ? push_one(model, lasting_speed(w.claim.active[0], w), false, next.u, w)
                 : push_many(model, 0.0, s.u, next.u, w);
    });
  }
  if (corrects) remember_contacts(model, s, w, next);
  finish_step(model, h, w, next);  // q+ = q_M + h/2 u+       (6.17)
  return report;
}

}  // namespace ricochet::step
