#pragma once

#include "ricochet/step/staggered.h"

namespace ricochet::step {

/// Elastic. For a constant mass without joints the energy of each step is balanced exactly.
/// [Moreau 1986, par. 7]
struct Elast {
  static constexpr auto kSettings = staggered_settings(0.0);
  static constexpr SchemeInfo kInfo{.name = "elast",
                                    .meaning = "at the middles of steps",
                                    .use = "energy balanced at each step",
                                    .integrator = certify::Integrator::Middle,
                                    .impact = certify::ImpactRule::Elastic,
                                    .is_staggered = true,
                                    .laws = Laws::Constants,
                                    .restitution = 1.0,
                                    .settings = kSettings};
  double anticipation{0.0};  // A_V [-]
  Correction correction{Correction::None};
  static Elast from(const Scheme& scheme) { return staggered_from<Elast>(scheme); }
  certify::Method method() const { return staggered_method(*this); }
};

/// One step of ELAST: elastic, for a constant mass without joints the energy of each step balanced
/// exactly. [Moreau 1986 (7.2)-(7.9)]
///
/// With one active contact that u' would violate, p solves the energy balance of the step,
///   u+ = u' - M^-1 J^T (2 J u + h J a) / W                           [Moreau 1986 (7.5), (7.7)]
/// that is J (u+ + u) = 0. On this branch p can be negative when u itself separates; such steps are
/// counted as adhesive. ((7.9) prints h Q where its derivation has h Q . g.)
/// Deviation: the metric is M, not the identity; only the gradient is anticipated, the test
/// g <= 0 stays at q_M (this reading reproduces the printed table of plate 5).
/// Beyond the source: several active contacts, or one beside joints, by u+ = -u + 2 prox(V, u + h/2
/// a), which balances the energy as well since u + u+ is orthogonal to the impulse.
template <model::Model M>
[[gnu::always_inline]] inline problem::Report advance(const Elast& scheme, const M& model,
                                                      const model::StateOf<M>& s, double h,
                                                      model::StateOf<M>& next, Workspace<M>& w) {
  half_step(model, s, h, w);  // q_M = q + h/2 u
  problem::Report report = correct(scheme, model, w);
  if (report.status != problem::Status::Solved) return report;
  report = free_velocity(model, s, h, w.q_mid, w);  // u' = u + h a
  if (report.status != problem::Status::Solved) return report;
  find_touching(model, w.q_mid, w);                   // A = { a : g_a(q_M) <= 0 }
  anticipate(model, scheme.anticipation, s.u, h, w);  // J at q' = q_M + A_V h u
  take_joint_gradients(model, w);
  next.u = w.free;
  if (w.claim.active.size() == 1 && model.joints() == 0) {
    const int a = w.claim.active[0];
    if (contact_velocity(w, a, w.free) < 0.0) {  // u' penetrates: v = 0
      const double extra = contact_velocity(w, a, s.u);
      report = settle(model, h, next.u, w, [&] { return push_one(model, extra, true, next.u, w); });
    } else {  // free: u+ = u', U+ >= 0
      w.claim.impulses[0] = 0.0;
    }
  } else if (!w.claim.active.empty()) {
    report = settle(model, h, next.u, w, [&] { return push_many(model, 1.0, s.u, next.u, w); });
  }
  finish_step(model, h, w, next);  // q+ = q_M + h/2 u+
  return report;
}

}  // namespace ricochet::step
