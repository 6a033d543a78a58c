#pragma once

#include "ricochet/step/guide_stages.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// The mean of the step for the structure and a velocity law for its guides, made so that no
/// contact ever gives energy.
struct Passive {
  static constexpr SchemeInfo kInfo{
      .name = "passive",
      .meaning = "stiffness at the mean of the step, guides by velocities, e = 1 where one opens",
      .use = "structures: contacts that provably create no energy",
      .integrator = certify::Integrator::MiddleAhead,
      .impact = certify::ImpactRule::Passive,
      .laws = Laws::Constants,
      .is_default = true,
      .runs_systems = false,
      .runs_structures = true};
  static Passive from(const Scheme&) { return {}; }
  static certify::Method method() { return method_of(kInfo); }
};

/// With A = M + h C/2 + h^2 K/4, for the sides whose gap is closed at q_M = q + h u/2,
///
///     A (u+ - u) = h (f - C u - K q_M) + G^T p,   0 <= p,  U+ + e' U >= 0,  p (U+ + e' U) = 0,
///
/// e' = e where U <= 0 and e' = 1 where U > 0. Multiplied by the mean velocity (u + u+)/2 this is
///
///     change of T + V = h (f - C (u + u+)/2) . (u + u+)/2 + sum of p (U + U+)/2,
///
/// to rounding, for any step; and p (U + U+)/2 = p (1 - e) U/2 <= 0 where U <= 0, and 0 where U >
/// 0. Without loads T + V cannot grow, whatever the step. Newton's law with e < 1 in its place may
/// give p (1 - e) U/2 > 0 to a guide that is opening and is driven back by the structure within the
/// step. Without source; friction is left out: its law at the end of a step knows no such bound.
template <model::ImplicitModel M>
problem::Report advance(const Passive&, const M& model, const model::StateOf<M>& s, double h,
                        model::StateOf<M>& next, Workspace<M>& w) {
  half_step(model, s, h, w);
  find_touching(model, w.q_mid, w);
  const problem::Report free = free_velocity(model, s, h, w.q_mid, w);
  if (free.status != problem::Status::Solved) return free;
  open_guides(model, s, w);
  auto& g = w.guides;
  for (const int a : w.claim.active) {
    const int k = model.guide_at(a);
    const bool is_upper = model.side(a).is_upper;
    const double U = is_upper ? -g.before[k] : g.before[k];
    const double e = U > 0.0 ? 1.0 : model.restitution(a);
    (is_upper ? g.high : g.low)[k] = -e * g.before[k];
  }
  const problem::Report report = solve_guides(model, model.weights(), w);
  take_reactions(model, next.u, w);
  finish_step(model, h, w, next);
  return report;
}

}  // namespace ricochet::step
