#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/energy.h"
#include "ricochet/certify/law.h"
#include "ricochet/problem/spring.h"

/// The laws of contacts that are not velocity laws: mean positions, and springs.
namespace ricochet::certify {

/// Momentum and work of contact k, whose W is known.
template <model::Model M>
void add_push(Context<M>& c, Trial<M>& s, int k, double W) {
  const int a = s.claim.active[k];
  const double p = s.claim.impulses[k];
  const double rate = c.place.rate[a];
  const double start = c.place.normals.dot(a, s.before.u) + rate;
  const double end = c.place.normals.dot(a, s.after.u) + rate;
  c.place.normals.add_to(a, p, s.momentum);
  const double work = 0.5 * p * (start + end - 2.0 * rate);
  s.contact_work += work;
  s.gain += 0.5 * p * (start + end);
  c.pushes[static_cast<std::size_t>(k)] = {-start, W, work};
}

/// W_aa; M^-1 J^T is left in s.work.
template <model::Model M>
double weight_of(Context<M>& c, Trial<M>& s, int a) {
  s.start_momentum.setZero();
  c.place.normals.add_to(a, 1.0, s.start_momentum);
  c.model.mass(c.place).solve(s.start_momentum, s.work);
  return s.start_momentum.dot(s.work);
}

template <model::Model M>
void check_mean_contact(Context<M>& c, Trial<M>& s, int k, double e, problem::Residual& residual) {
  const auto& normals = c.place.normals;
  const int a = s.claim.active[k];
  const double p = s.claim.impulses[k];
  const double W = weight_of(c, s, a);
  const double v = (1.0 + e) * c.place.gap[a] / s.h;
  if (!is_weight(W)) return check_flat_contact(c, s.t_contact, a, W, p, v);
  if (p != 0.0 && c.model.restitution(a) != e) c.fail(Failure::Law, s.t_contact, a);
  const double free = v - normals.dot(a, s.end_momentum);
  const double lost = 64.0 * kEpsilon *
                      (normals.abs_dot(a, s.q_cone) / s.h + normals.abs_dot(a, s.before.u) +
                       normals.abs_dot(a, s.after.u));
  if (p == 0.0 && v > lost && !c.model.touches(a, c.place)) {
    c.fail(Failure::ActiveSet, s.t_contact, a, c.place.gap[a]);
  }
  residual.add(convex::HalfLine{}, p, 1.0 / W, v, free, lost, [&] { return lost; });
  add_push(c, s, k, W);
}

/// The law of mean positions knows no energy: an impact takes several steps, which give and take.
/// What a contact gives, its wall's own motion apart, and forces did not lend it by acting in the
/// same step is its own.
template <model::Model M>
void check_mean_gain(Context<M>& c, Trial<M>& s, EnergyWatch& energy) {
  s.work = s.free - s.before.u;
  for (int k = 0; k < s.claim.active.size(); ++k) {
    const int a = s.claim.active[k];
    const double p = s.claim.impulses[k];
    const double mean =
        0.5 * (c.place.normals.dot(a, s.before.u) + c.place.normals.dot(a, s.after.u));
    const double work = p * (mean + c.place.rate[a]);
    const double lent = 0.5 * std::abs(p * c.place.normals.dot(a, s.work));
    energy.works[static_cast<std::size_t>(k)] = work - lent;
  }
  const Ledger& ledger = c.certificate.ledger;
  check_creation(c, s, energy, std::max(ledger.kinetic_max, ledger.highest - ledger.lowest));
}

/// p >= 0, g(q_bar) >= 0, p g(q_bar) = 0 for all contacts at the mean position
/// q_bar = (q+ + e q-) / (1 + e), J and W there; e is one, which every contact that pushes states.
///                                                                   [Paoli 2001 (3.2)]
template <model::Model M>
void check_mean_position(Context<M>& c, Trial<M>& s, double e, EnergyWatch& energy) {
  const auto& active = s.claim.active;
  c.model.advance(s.before.q, s.before.u, -s.h, s.q_work);  // q-
  c.model.difference(s.q_work, s.after.q, s.work);
  c.model.advance(s.after.q, s.work, e / (1.0 + e), s.q_cone);
  s.t_contact = s.before.t + s.h * (1.0 - e) / (1.0 + e);
  const double size = s.q_cone.cwiseAbs().sum() + s.after.q.cwiseAbs().sum();
  c.model.gaps(s.t_contact, s.q_cone, c.place);
  c.model.gradients(active, c.place);
  s.start_momentum.setZero();
  for (int k = 0; k < active.size(); ++k) {
    c.place.normals.add_to(active[k], s.claim.impulses[k], s.start_momentum);
  }
  c.model.mass(c.place).solve(s.start_momentum, s.end_momentum);  // M^-1 J^T p
  problem::Residual residual;
  clear_parts(c, s);
  int next = 0;
  for (int a = 0; a < c.model.contacts(); ++a) {
    const bool listed = next < active.size() && active[next] == a;
    const double gap = c.place.gap[a];
    if (std::isnan(gap)) return c.fail(Failure::NotFinite, s.t_contact, a);
    if (listed) {
      residual.keep_in(part_of(c, s, next));
      check_mean_contact(c, s, next++, e, residual);
    } else if (c.model.exists(a, c.place) && gap < 0.0 && !(-gap <= 64.0 * kEpsilon * size)) {
      c.fail(Failure::ActiveSet, s.t_contact, a, gap);
    }
  }
  if (next != active.size()) c.fail(Failure::ActiveSet, s.t_contact);
  take_residual(c, s, residual);
  check_mean_gain(c, s, energy);
}

/// Springs with dashpots where q_M is beyond a wall, one contact after the other.
template <model::Model M>
void check_springs(Context<M>& c, Trial<M>& s) {
  const auto& active = s.claim.active;
  c.model.gaps(s.t_contact, s.q_mid, c.place);
  check_active_set(c, s);
  if (active.empty() || !c.certificate.ok()) return;
  c.model.gradients(active, c.place);
  c.model.gaps(s.before.t, s.before.q, c.joint_place);
  s.slope = s.free;  // the velocity with the springs so far
  for (int k = 0; k < active.size(); ++k) {
    const int a = active[k];
    const double W = weight_of(c, s, a);
    const double p = s.claim.impulses[k];
    if (!is_weight(W)) {
      return c.fail(W <= kLeastWeight ? Failure::Degenerate : Failure::NotFinite, s.t_contact, a,
                    W);
    }
    const double m = 1.0 / W;
    const double stiffness = problem::spring_stiffness(c.method.stiffness, m, s.h);
    const double start = c.place.normals.dot(a, s.before.u) + c.place.rate[a];
    const double free = c.place.normals.dot(a, s.slope) + c.place.rate[a];
    const double own = s.h * problem::spring_force(stiffness, m, c.model.restitution(a),
                                                   c.place.gap[a], 0.5 * (start + free), s.h);
    const double scale = std::max({std::abs(p), own, m * (std::abs(start) + std::abs(free))});
    const double off = std::abs(p - own);
    const double residual = off > problem::Residual::kSmallest ? off / scale : 0.0;
    if (!(residual <= c.limits.residual)) c.fail(Failure::Residual, s.t_contact, a, residual);
    s.residual = std::max(s.residual, residual);
    s.slope += p * s.work;
    add_push(c, s, k, W);
    // p (U + U+)/2, and what the spring stores at the end more than at the start.
    const double mean = 0.5 * (start + c.place.normals.dot(a, s.after.u) + c.place.rate[a]);
    const double deep = std::min(c.end_place.gap[a], 0.0);
    const double deep_before = std::min(c.joint_place.gap[a], 0.0);
    s.spring_gain += p * mean + 0.5 * stiffness * (deep - deep_before) * (deep + deep_before);
  }
}

}  // namespace ricochet::certify
