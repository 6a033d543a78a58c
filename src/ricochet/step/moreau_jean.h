#pragma once

#include <array>

#include "ricochet/step/acting.h"
#include "ricochet/step/node_stages.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// The theta-method of contact dynamics codes, with friction.  [Jean 1999]
struct MoreauJean {
  static constexpr std::array kSettings = {
      Setting{.name = "theta",
              .meaning = "θ, from ½ to 1",
              .standard = 0.5,
              .least = 0.5,
              .most = 1.0,
              .remedy = "1/2 keeps energy and is of second order, 1 damps the most"},
      kActingSetting};
  static constexpr SchemeInfo kInfo{.name = "moreau-jean",
                                    .meaning = "θ-method, as in contact dynamics codes [Jean 1999]",
                                    .use = "comparison with those codes",
                                    .integrator = certify::Integrator::Theta,
                                    .has_friction = true,
                                    .follows_shocks = true,
                                    .contacts_last = true,
                                    .settings = kSettings};
  double theta{0.5};                 // in [1/2, 1]: 1/2 is of second order in smooth motion
  Acting contact{Acting::Touching};  // ahead with theta = 1/2 only, whose middles it looks at
  static MoreauJean from(const Scheme& scheme) {
    return {.theta = scheme.value("theta"), .contact = scheme.choice<Acting>("contact")};
  }
  certify::Method method() const {
    certify::Method method = method_of(kInfo);
    method.theta = theta;
    method.looks_ahead = contact == Acting::Ahead;
    return method;
  }
};

/// One step of the theta-method of contact dynamics codes, with Newton impacts and friction at the
/// velocity level:                                              [Jean 1999; Acary 2008, ch. 10]
///
///   M (u+ - u) = h [theta F(t+, q+, u+) + (1 - theta) F(t, q, u)] + G^T R,   F = Q - c,
///   q+ = q + h [theta u+ + (1 - theta) u],
///   contacts with g(q + h/2 u) <= 0 obey the law of friction with U_N + e U_N(u) in place of U_N.
///
/// Deviations: M and G are taken at q + h/2 u too; contacts of the step before last while their gap
/// is no more than a step's curve, or those with e = 0 are kept from being entered at the next
/// middle (both: `model::Lasting`); the equations are solved by a fixed
/// point, not by Newton's method, so that h^2 theta^2 times the stiffness must stay below the mass.
template <model::Model M>
problem::Report advance(const MoreauJean& scheme, const M& model, const model::StateOf<M>& s,
                        double h, model::StateOf<M>& next, Workspace<M>& w) {
  const double theta = scheme.theta;
  const bool ahead = scheme.contact == Acting::Ahead;
  open_nodes(s.t + 0.5 * h, w);
  open_friction(h, w);
  add_node(s.t, s.q, s.u, 1.0 - theta, w);
  add_node(next.t, next.q, next.u, theta, w);
  model.advance(s.q, s.u, 0.5 * h, w.q_mid);  // where contacts are looked for
  problem::Report report = take_lasting_contacts(model, s, h, w.q_mid, w, ahead);
  if (report.status != problem::Status::Solved) return report;
  if (!model.load_mass(w.q_mid, w.place)) return {.status = problem::Status::SingularMass};
  const auto move = [&] {
    model.advance(s.q, s.u, (1.0 - theta) * h, next.q);
    model.advance(next.q, next.u, theta * h, next.q);
  };
  next.u = s.u;
  const double gaps = w.lasting.has_ahead() ? w.q_mid.cwiseAbs().sum() / h : 0.0;
  const auto round = [&] {
    move();
    free_velocity_at_nodes(model, s, h, w);
    if (w.lasting.has_ahead()) {
      w.lasting.aim(model, w.t_mid, w.q_mid, w.last, h, w.place, w.joint_place);
    }
    if (!w.claim.active.empty()) return push(model, s, next.u, w);
    next.u = w.free;
    return problem::Report{};
  };
  report = settle_nodes(next.u, w, true, round, gaps);
  move();
  remember_contacts(model, s, w, next);
  return report;
}

}  // namespace ricochet::step
