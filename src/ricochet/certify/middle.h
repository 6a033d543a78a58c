#pragma once

#include "ricochet/certify/energy.h"
#include "ricochet/certify/kinematics.h"
#include "ricochet/certify/law.h"

/// Steps on Moreau's middles.
namespace ricochet::certify {

inline constexpr bool is_middle(Integrator integrator) {
  return integrator == Integrator::Middle || integrator == Integrator::MiddleAhead;
}

/// q_M = q + h/2 u, corrected where that is asked for, and q' = q_M + A_V h u; gaps at the point of
/// the test.
template <Integrator I, model::Model M>
[[gnu::always_inline]] inline void take_middle(Context<M>& c, Trial<M>& s) {
  s.t_contact = s.before.t + 0.5 * s.h;
  c.model.advance(s.before.q, s.before.u, 0.5 * s.h, s.q_mid);
  if (c.method.corrects) {
    recompute_shift(c, s);
  } else if (s.claim.shift_weights != nullptr) {
    c.fail(Failure::Correction, s.t_contact);
  }
  s.force_point = s.cone_point = &s.q_mid;
  if constexpr (I == Integrator::MiddleAhead) {
    c.model.advance(s.q_mid, s.before.u, c.method.anticipation * s.h, s.q_cone);
    s.cone_point = &s.q_cone;
    if (s.claim.active.size() > c.model.joints()) s.force_point = &s.q_cone;
  }
  c.model.gaps(s.t_contact, *s.cone_point, c.place);
}

/// Gradients may be taken ahead of the test.
template <Integrator I, model::Model M>
[[gnu::always_inline]] inline void take_cone(Context<M>& c, Trial<M>& s) {
  if constexpr (I == Integrator::Middle) {
    if (c.method.anticipation == 0.0 || s.claim.active.empty()) return;
    c.model.advance(s.q_mid, s.before.u, c.method.anticipation * s.h, s.q_cone);
    s.cone_point = &s.q_cone;
    c.model.gaps(s.t_contact, s.q_cone, c.place);
  }
}

template <Integrator I, model::Model M>
[[gnu::always_inline]] inline void check_middle(Context<M>& c, Trial<M>& s, EnergyWatch& energy) {
  if (s.claim.piece != Piece::Step) return c.fail(Failure::Law, s.before.t);
  check_time(c, s, s.h);        // t+ = t + h
  take_middle<I>(c, s);         // q_M
  recompute_free_motion(c, s);  // Q, M^-1 Q, u'
  check_active_set(c, s);       // a active <=> g_a <= 0
  if (!c.certificate.ok()) return;
  take_cone<I>(c, s);                // q'
  check_contacts(c, s);              // J, W, U: residual, work, gain of energy
  check_balance(c, s);               // M (u+ - u) = h Q + J^T p
  check_positions(c, s);             // q+ = q_M + h/2 u+
  check_energy<true>(c, s, energy);  // T + V does not grow by itself
}

}  // namespace ricochet::certify
