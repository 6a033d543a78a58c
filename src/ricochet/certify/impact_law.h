#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/islands.h"
#include "ricochet/certify/shock_law.h"
#include "ricochet/certify/trial.h"
#include "ricochet/convex/cone.h"
#include "ricochet/problem/residual.h"

/// Impact laws beyond a constant e: formulas, Poisson's, reflections in turn, a law of the user's.
namespace ricochet::certify {

/// M^-1 J^T (sum of weight_k l_k) of the active rows, in s.work.
template <model::ImpactModel M, class Weight>
void respond_to_law(Context<M>& c, Trial<M>& s, Weight&& weight) {
  s.start_momentum.setZero();
  for (int k = 0; k < s.claim.active.size(); ++k) {
    c.place.normals.add_to(s.claim.active[k], weight(k) * s.claim.lawful[k], s.start_momentum);
  }
  c.model.mass(c.place).solve(s.start_momentum, s.work);
}

/// Poisson: p_C = l / (1 + e) >= 0, U after compression >= 0, and p_C U = 0.
template <model::ImpactModel M>
void check_compression(Context<M>& c, Trial<M>& s, problem::Residual& residual) {
  const auto& normals = c.place.normals;
  const auto part = [&](int k) { return 1.0 / (1.0 + c.laws[s.claim.active[k]]); };
  respond_to_law(c, s, part);
  s.end_momentum = s.before.u + s.work;  // the velocity after compression
  for (int k = 0; k < s.claim.active.size(); ++k) {
    const int a = s.claim.active[k];
    const double W = model::delassus(normals, a, c.model.mass(c.place), s.start_momentum, s.work);
    if (!is_weight(W)) continue;
    const double start = normals.dot(a, s.before.u) + c.place.rate[a];
    const double end = normals.dot(a, s.end_momentum) + c.place.rate[a];
    const double lost = 32.0 * kEpsilon * normals.norm(a) * s.largest_speeds;
    residual.keep_in(part_of(c, s, k));
    residual.add(convex::HalfLine{}, part(k) * s.claim.lawful[k], 1.0 / W, end, start, lost,
                 [&] { return lost; });
  }
}

/// u+ = -e u at one contact after the other, until none approaches.
template <model::ImpactModel M>
void reflect_in_turn(Context<M>& c, Trial<M>& s, Vector<M::kDofs>& F) {
  int left = 1000;
  for (bool approaches = true; approaches && left > 0;) {
    approaches = false;
    for (const int a : s.claim.active) {
      const double U = c.place.normals.dot(a, F) + c.place.rate[a];
      if (!(U < 0.0)) continue;
      s.start_momentum.setZero();
      c.place.normals.add_to(a, 1.0, s.start_momentum);
      c.model.mass(c.place).solve(s.start_momentum, s.work);  // M^-1 J^T
      F -= (1.0 + c.laws[a]) * U / s.start_momentum.dot(s.work) * s.work;
      approaches = true;
      --left;
    }
  }
}

/// F of the first contact that is struck, or of reflections in turn.
template <model::ImpactModel M>
void recompute_law(Context<M>& c, Trial<M>& s, model::ImpactKind kind, Vector<M::kDofs>& F) {
  F = s.before.u;
  if (kind == model::ImpactKind::Own) {
    for (const int a : s.claim.active) {
      const double U = c.place.normals.dot(a, s.before.u) + c.place.rate[a];
      if (!(U < 0.0)) continue;
      return c.model.impact(a, s.t_contact, *s.cone_point, s.before.u, -U, c.place, F);
    }
  }
  reflect_in_turn(c, s, F);
}

/// The three conditions on an impact law: F in V, F - u = M^-1 J^T l with l >= 0, and no gain of
/// energy, l . (U + U_F) / 2 <= 0: with walls at rest |F| <= |u|.          [Ballard 2013, par. 3]
template <model::ImpactModel M>
void check_conditions(Context<M>& c, Trial<M>& s, model::ImpactKind kind) {
  constexpr double kTolerance = 1e-9;
  const auto& claim = s.claim;
  Vector<M::kDofs>& F = s.end_momentum;
  recompute_law(c, s, kind, F);
  if (!F.allFinite()) return c.fail(Failure::NotFinite, s.t_contact, claim.active[0]);
  const double least = -kTolerance * claim.lawful.head(claim.active.size()).cwiseAbs().sum();
  double gain = 0.0;
  double size = problem::Residual::kSmallest;
  for (int k = 0; k < claim.active.size(); ++k) {
    const int a = claim.active[k];
    const double start = c.place.normals.dot(a, s.before.u) + c.place.rate[a];
    const double end = c.place.normals.dot(a, F) + c.place.rate[a];
    const double scale = c.place.normals.norm(a) * (s.before.u.norm() + F.norm());
    if (!(end >= -kTolerance * scale)) return c.fail(Failure::LawEnters, s.t_contact, a, end);
    gain += 0.5 * claim.lawful[k] * (start + end);
    size += std::abs(claim.lawful[k]) * (std::abs(start) + std::abs(end));
    if (!(claim.lawful[k] >= least)) return c.fail(Failure::LawPulls, s.t_contact, a);
  }
  respond_to_law(c, s, [](int) { return 1.0; });
  const double off = (F - s.before.u - s.work).norm();
  if (!(off <= kTolerance * (F.norm() + s.before.u.norm()))) {
    return c.fail(Failure::LawPulls, s.t_contact, claim.active[0], off);
  }
  if (!(gain <= kTolerance * size)) c.fail(Failure::LawGains, s.t_contact, -1, gain);
}

/// Whether some active contact has friction.
template <model::Model M>
bool has_friction(const Context<M>& c, const Trial<M>& s) {
  if constexpr (M::kSlips > 0) {
    for (const int a : s.claim.active) {
      if (a < c.contacts() && c.model.slips(a) > 0) return true;
    }
  }
  return false;
}

/// e of the active contacts, and what the model's law says of this impact, if it is one.
template <model::ImpactModel M>
[[gnu::noinline]] void check_impact_law(Context<M>& c, Trial<M>& s, problem::Residual& residual) {
  if constexpr (requires { c.model.impact_ending(0); }) {
    if (c.model.impact_kind(s.claim.active[0]) == model::ImpactKind::ImpulseTime) {
      return follow_shocks(c, s);
    }
  }
  bool struck = false;
  for (const int a : s.claim.active) {
    const double U = c.place.normals.dot(a, s.before.u) + c.place.rate[a];
    c.laws[a] = c.model.restitution_at(a, s.t_contact, *s.cone_point, s.before.u, std::max(0.0, -U),
                                       c.place);
    if (!(c.laws[a] >= 0.0 && c.laws[a] <= most_restitution(c.model))) {
      return c.fail(Failure::BadRestitution, s.t_contact, a, c.laws[a]);
    }
    struck = struck || U < 0.0;
  }
  const model::ImpactKind kind = c.model.impact_kind(s.claim.active[0]);
  if (!struck || kind == model::ImpactKind::Newton) return;
  if (has_friction(c, s)) return c.fail(Failure::Law, s.t_contact, s.claim.active[0]);
  s.acts_by_law = true;
  if (kind == model::ImpactKind::Poisson) return check_compression(c, s, residual);
  check_conditions(c, s, kind);
}

/// What pushes beyond the law's own impulse keeps U+ >= 0.
template <model::Model M>
void check_beyond_law(Context<M>& c, const Trial<M>& s, int k, double rho, double end, double free,
                      double lost, problem::Residual& residual) {
  if constexpr (model::ImpactModel<M>) {
    const double own = s.claim.lawful[k];
    const double rounding = lost + 8.0 * kEpsilon * std::abs(own) / rho;
    const double size = std::max(std::abs(free), std::abs(own) / rho);
    residual.add(convex::HalfLine{}, s.claim.impulses[k] - own, rho, end, size, rounding,
                 [&] { return rounding; });
  } else {
    c.fail(Failure::Law, s.t_contact, s.claim.active[k]);
  }
}

}  // namespace ricochet::certify
