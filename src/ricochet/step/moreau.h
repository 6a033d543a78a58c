#pragma once

#include "ricochet/step/acting.h"
#include "ricochet/step/push_stages.h"
#include "ricochet/step/staggered.h"

namespace ricochet::step {

/// Those of Moreau's schemes, and which contacts act. A scene that names no scheme gets no wall
/// entered, and places put back where a curved wall or a bounce left them beyond.
constexpr std::array<Setting, 3> moreau_settings() {
  auto [anticipation, correction] = staggered_settings(0.0);
  correction.unnamed = static_cast<double>(Correction::Unilateral);
  return {anticipation, correction, kActingSetting};
}

/// Dry friction and restitution, any number of contacts.    [Moreau 1986, par. 11-13]
struct Moreau {
  static constexpr std::array<Setting, 3> kSettings = moreau_settings();
  static constexpr SchemeInfo kInfo{.name = "moreau",
                                    .meaning = "at the middles of steps",
                                    .use = "the default",
                                    .integrator = certify::Integrator::MiddleAhead,
                                    .is_staggered = true,
                                    .laws = Laws::All,
                                    .has_friction = true,
                                    .follows_shocks = true,
                                    .contacts_last = true,
                                    .gains_by_correction = true,
                                    .is_default = true,
                                    .has_lanes = true,
                                    .runs_structures = true,
                                    .settings = kSettings};
  double anticipation{0.0};  // A_V [-]
  Correction correction{Correction::None};
  Acting contact{Acting::Touching};
  static Moreau from(const Scheme& scheme) {
    Moreau moreau = staggered_from<Moreau>(scheme);
    moreau.contact = scheme.choice<Acting>("contact");
    return moreau;
  }
  certify::Method method() const {
    certify::Method method = staggered_method(*this);
    method.looks_ahead = contact == Acting::Ahead;
    return method;
  }
};

/// One step with dry friction: u+ = u' + M^-1 G^T R, with R in C and -G u+ in proj_T of the normal
/// cone of C at R; standard inelastic without friction.     [Moreau 1986 (11.17)-(11.23); 1986n]
///
/// G and C are taken at q' = q_M + A_V h u, C by the velocity at the start of the step. Deviations:
/// the metric is M, not the identity; several contacts, coupled; restitution, by U_N + e U_N(u) in
/// place of U_N; the force is taken at q_M unless a contact is active (see `Inel`); contacts of the
/// step before last while their gap is no more than a step's curve, or those with e = 0 are kept
/// from being entered at the next middle (both: `model::Lasting`). Without friction, restitution
/// and such gaps this is `Inel` with the same A_V.
template <model::Model M>
problem::Report advance(const Moreau& scheme, const M& model, const model::StateOf<M>& s, double h,
                        model::StateOf<M>& next, Workspace<M>& w) {
  half_step(model, s, h, w);  // q_M = q + h/2 u, half of (11.18)
  open_friction(h, w);
  problem::Report report = correct(scheme, model, w);
  if (report.status != problem::Status::Solved) return report;
  model.advance(w.q_mid, s.u, scheme.anticipation * h, w.q_cone);            // q' = q_M + A_V h u
  find_contacts(model, s, h, w.q_cone, w, scheme.contact == Acting::Ahead);  // g_a(q') <= 0
  const bool touches = w.claim.active.size() > model.joints();
  report = free_velocity(model, s, h, touches ? w.q_cone : w.q_mid, w);  // u' = u + h a   (11.19)
  if (report.status != problem::Status::Solved) return report;
  next.u = w.free;  // no contact: u+ = u'
  if (!w.claim.active.empty()) {
    if (touches) model.gradients(w.claim.active, w.place);  // g = grad f              (11.20)
    report = take_friction(model, s.u, w);                  // G, C
    if (report.status != problem::Status::Solved) return report;
    take_laws(model, s, w);  // e
    take_joint_gradients(model, w);
    report = settle<true>(model, h, next.u, w, [&] {  // (11.21)-(11.23)
      return push(model, s, next.u, w);
    });
  }
  remember_contacts(model, s, w, next);
  finish_step(model, h, w, next);  // q+ = q_M + h/2 u+
  return report;
}

}  // namespace ricochet::step
