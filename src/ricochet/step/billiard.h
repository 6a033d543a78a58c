#pragma once

#include "ricochet/step/staggered.h"

namespace ricochet::step {

/// One law of reflection at the end of the step; its energy drifts.   [Moreau 1986 (7.4)]
struct Billiard {
  static constexpr auto kSettings = staggered_settings(0.0);
  static constexpr SchemeInfo kInfo{.name = "billiard",
                                    .meaning = "at the middles of steps; u' is reflected",
                                    .use = "its energy drifts: kept for comparison",
                                    .integrator = certify::Integrator::Middle,
                                    .impact = certify::ImpactRule::Free,
                                    .is_staggered = true,
                                    .laws = Laws::Constants,
                                    .restitution = 1.0,
                                    .balances_energy = false,
                                    .settings = kSettings};
  double anticipation{0.0};  // A_V [-]
  Correction correction{Correction::None};
  static Billiard from(const Scheme& scheme) { return staggered_from<Billiard>(scheme); }
  certify::Method method() const { return staggered_method(*this); }
};

/// One step of the "billiard": the free velocity is reflected.          [Moreau 1986 (7.2)-(7.4)]
/// Kept to show its energy drift: a force that presses on the wall does work h Q . (u + u+)/2 that
/// the reflection of u' does not give back.
/// Beyond the source: several active contacts, or one beside joints, by
/// u+ = -u' + 2 prox(V, u') [Paoli 2001 (5.3)].
template <model::Model M>
problem::Report advance(const Billiard& scheme, const M& model, const model::StateOf<M>& s,
                        double h, model::StateOf<M>& next, Workspace<M>& w) {
  half_step(model, s, h, w);  // q_M = q + h/2 u
  problem::Report report = correct(scheme, model, w);
  if (report.status != problem::Status::Solved) return report;
  report = free_velocity(model, s, h, w.q_mid, w);  // u' = u + h M^-1 Q(t_M, q_M, u)
  if (report.status != problem::Status::Solved) return report;
  find_touching(model, w.q_mid, w);                   // A = { a : g_a(q_M) <= 0 }
  anticipate(model, scheme.anticipation, s.u, h, w);  // J at q' = q_M + A_V h u
  take_joint_gradients(model, w);
  next.u = w.free;
  if (!w.claim.active.empty()) {
    report = settle(model, h, next.u, w, [&] {
      if (w.claim.active.size() > 1 || model.joints() > 0) {
        return push_many(model, 1.0, w.free, next.u, w);
      }
      const double extra = contact_velocity(w, w.claim.active[0], w.free);
      return push_one(model, extra, false, next.u, w);
    });  // v = U+ + U(u') >= 0; one contact: u+ = u' - 2 M^-1 J^T U(u') / W
  }
  finish_step(model, h, w, next);  // q+ = q_M + h/2 u+
  return report;
}

}  // namespace ricochet::step
