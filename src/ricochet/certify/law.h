#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/friction_law.h"
#include "ricochet/certify/impact_law.h"
#include "ricochet/certify/islands.h"
#include "ricochet/certify/trial.h"
#include "ricochet/convex/cone.h"
#include "ricochet/problem/residual.h"

/// Whether the impulses of a step obey the laws of contacts and joints.
namespace ricochet::certify {

/// Whether a correction put the contact on its wall: it stays active, on whichever side of zero the
/// curve of the wall leaves it.
template <model::Model M>
[[gnu::cold, gnu::noinline]] bool is_put_on_wall(const Context<M>& c, int a) {
  return std::find(c.listed.begin(), c.listed.end(), a) != c.listed.end();
}

/// A contact is active exactly where g <= 0 at the point of the test, to the rounding of g, or
/// where it lasts; joints always.
template <model::Model M>
[[gnu::always_inline]] inline void check_active_set(Context<M>& c, const Trial<M>& s) {
  const auto& active = s.claim.active;
  if (!c.lasting.empty()) c.lasting.clear();
  if (!c.touched.empty() || c.method.looks_ahead) {
    c.lasting.find(c.model, s.t_contact, *s.cone_point, s.before.u, s.h, c.touched, c.place,
                   c.joint_place, c.method.looks_ahead);
  }
  int next = 0;
  const int contacts = c.contacts();
  for (int a = 0; a < c.model.contacts(); ++a) {
    const double gap = c.place.gap[a];
    const bool listed = next < active.size() && active[next] == a;
    if (listed) ++next;
    if (std::isnan(gap)) return c.fail(Failure::NotFinite, s.t_contact, a);
    const bool touches = a >= contacts || c.model.touches(a, c.place) ||
                         (!c.lasting.empty() && c.lasting.holds(a)) ||
                         (s.is_shifted && is_put_on_wall(c, a));
    if (listed != touches) {
      return c.fail(Failure::ActiveSet, s.t_contact, a, gap);
    }
  }
  if (next != active.size()) c.fail(Failure::ActiveSet, s.t_contact);
}

/// Of velocities that are kept at 0, h times what they are at the end of the step, where joints
/// have their gaps at the next middle.
template <model::Model M>
[[gnu::cold, gnu::noinline]] void take_rolls(Context<M>& c, Trial<M>& s) {
  c.model.advance(s.q_mid, s.after.u, 0.5 * s.h, s.q_work);
  c.model.gaps(s.t_contact + 0.5 * s.h, s.q_work, c.ahead_place);
  c.model.gradients(c.joints, c.ahead_place);
  for (int a = c.first_roll(); a < c.model.contacts(); ++a) {
    c.joint_place.gap[a] = s.h * velocity_of(c.ahead_place, a, s.after.u);
  }
}

/// Gradients of the joints at q_M, and their values at the next middle.
template <model::Model M>
void take_joints(Context<M>& c, Trial<M>& s) {
  if (c.model.joints() == 0 || s.h == 0.0) return;  // an impact happens where the contacts are
  c.model.gaps(s.t_contact, s.q_mid, c.joint_place);
  c.model.gradients(c.joints, c.joint_place);
  for (const int a : c.joints) {
    c.place.normals.take(a, c.joint_place.normals);
    c.place.rate[a] = c.joint_place.rate[a];
  }
  c.model.advance(s.q_mid, s.after.u, s.h, s.q_work);
  c.model.gaps(s.t_contact + s.h, s.q_work, c.joint_place);
  if (c.first_roll() < c.model.contacts()) take_rolls(c, s);
}

/// A joint keeps g = 0 at the next middle: v = g / h, and v - U is what the curve of the surface
/// adds. g itself is known to the rounding of its formula only. At an impact v = U. Where a
/// velocity is kept at 0, v is that velocity at the end of the step.
template <model::Model M>
void check_joint(Context<M>& c, Trial<M>& s, int k, problem::Residual& residual) {
  const auto& normals = c.place.normals;
  const int a = s.claim.active[k];
  const double p = s.claim.impulses[k];
  const double W = model::delassus(normals, a, c.model.mass(c.place), s.start_momentum, s.work);
  const double rate = c.place.rate[a];
  const double start = normals.dot(a, s.before.u) + rate;
  const double end = normals.dot(a, s.after.u) + rate;
  const double v = s.h > 0.0 ? c.joint_place.gap[a] / s.h : end;
  if (!is_weight(W)) return check_flat_contact(c, s.t_contact, a, W, p, 0.0);
  const bool has_gaps = s.h > 0.0 && c.first_roll() > c.contacts();
  const double size = (has_gaps ? normals.abs_dot(a, s.q_mid) / s.h : 0.0) +
                      normals.abs_dot(a, s.before.u) + normals.abs_dot(a, s.after.u);
  const double lost = 32.0 * kEpsilon * size;
  const double free = normals.dot(a, s.free) + rate + (v - end);
  residual.add(convex::Line{}, p, 1.0 / W, v, free, lost, [&] { return lost; });
  normals.add_to(a, p, s.momentum);
  s.joint_work += 0.5 * p * (start + end - 2.0 * rate);
}

/// A single contact of an elastic scheme: U+ + U = 0 where the free motion penetrates, with p of
/// either sign; else p = 0.                                            [Moreau 1986 (7.5), (7.7)]
template <model::Model M, class Lost>
[[gnu::always_inline]] inline void check_reflection(Context<M>& c, const Trial<M>& s, double rho,
                                                    double start, double free, double end,
                                                    double lost, Lost&& lost_exactly,
                                                    problem::Residual& residual) {
  const double p = s.claim.impulses[0];
  const bool same_bits = c.has_constant_mass() && !s.is_shifted;  // as the scheme's own u'
  const bool reflects = same_bits ? free < 0.0 : p != 0.0;
  if (!same_bits && c.has_constant_mass() && reflects != (free < 0.0) &&
      std::abs(free) > lost_exactly()) {
    c.fail(Failure::Law, s.t_contact, s.claim.active[0]);
  }
  if (reflects) {
    residual.add(convex::Line{}, p, rho, end + start, free + start, lost, lost_exactly);
  } else {
    residual.add(convex::HalfLine{}, p, rho, end, free, lost, lost_exactly);
  }
}

/// The law of one active contact without friction, and the momentum it gives.
template <model::Model M>
[[gnu::always_inline]] inline void check_smooth_contact(Context<M>& c, Trial<M>& s, int k,
                                                        problem::Residual& residual) {
  const auto& normals = c.place.normals;
  const int a = s.claim.active[k];
  const double p = s.claim.impulses[k];
  const double W = model::delassus(normals, a, c.model.mass(c.place), s.start_momentum, s.work);
  const double rate = c.place.rate[a];
  const double start = normals.dot(a, s.before.u) + rate;  // U before
  const double free = normals.dot(a, s.free) + rate;       // U without contacts
  const double end = normals.dot(a, s.after.u) + rate;     // U after
  if (!is_weight(W)) return check_flat_contact(c, s.t_contact, a, W, p, end);
  const double rho = 1.0 / W;
  // What the evaluation of J u loses, 32 eps |J| (|u| + |u+|): the norms only where it matters.
  const double lost = 32.0 * kEpsilon * normals.largest(a) * s.largest_speeds;
  const auto lost_exactly = [&] {
    const double speed = normals.norm(a) * (s.before.u.norm() + s.after.u.norm());
    return 32.0 * kEpsilon * speed + lost_ahead(c, s, a);
  };
  const bool alone = s.claim.active.size() == 1 && c.model.joints() == 0;
  if (s.acts_by_law) {
    check_beyond_law(c, s, k, rho, end, free, lost, residual);
  } else if (c.method.impact == ImpactRule::Elastic && alone) {
    check_reflection(c, s, rho, start, free, end, lost, lost_exactly, residual);
  } else {
    const double reference = c.method.impact == ImpactRule::Free ? free : start;
    const bool lasts = !c.lasting.empty() && c.lasting.holds(a);
    const bool is_passive = c.method.impact == ImpactRule::Passive && start > 0.0;
    const double e = is_passive ? 1.0 : restitution_of(c, s, a);
    const double extra = lasts ? c.lasting.speed(a) : e * reference;
    residual.add(convex::HalfLine{}, p, rho, end + extra, free + extra, lost, lost_exactly);
  }
  normals.add_to(a, p, s.momentum);
  const double work = 0.5 * p * (start + end - 2.0 * rate);  // (u + u+)/2 . J^T p
  s.contact_work += work;
  s.gain += 0.5 * p * (start + end);
  if (c.method.impact != ImpactRule::Passive) {
    s.gain_allowed += 0.5 * std::abs(p * (free - start)) * (1.0 + 1e-12);
  }
  if (c.lasting.has_ahead()) s.gain_allowed += 0.5 * std::abs(p * curve_ahead(c, s, a));
  c.pushes[static_cast<std::size_t>(k)] = {-start, W, work};
}

template <model::Model M>
[[gnu::always_inline]] inline void check_contact(Context<M>& c, Trial<M>& s, int k,
                                                 problem::Residual& residual) {
  const int a = s.claim.active[k];
  if constexpr (!M::kPlain) {
    if (a >= c.contacts()) return check_joint(c, s, k, residual);
  }
  if constexpr (M::kSlips > 0) {
    if (c.model.slips(a) > 0) return check_frictional_contact(c, s, k, residual);
  }
  check_smooth_contact(c, s, k, residual);
}

/// Energy that contacts create beyond what splitting force and contact explains is a failure,
/// unless it is rounding or the law allows it. Newton's law contact by contact can create energy
/// with friction and e > 0 [Kane 1985], and without friction where contacts differ in e and one
/// that already separates is driven back by others: p (1 - e) U / 2 > 0 with U > 0.
template <model::Model M>
[[gnu::noinline]] void check_gain(Context<M>& c, Trial<M>& s) {
  const double speeds = s.before.u.norm() + s.after.u.norm();
  double lost = problem::Residual::kSmallest;
  for (int k = 0; k < s.claim.active.size(); ++k) {
    const double length = c.place.normals.norm(s.claim.active[k]);
    lost += 32.0 * kEpsilon * std::abs(s.claim.impulses[k]) * length * speeds;
    if constexpr (M::kSlips > 0) lost += friction_rounding(c, s, k, speeds);
  }
  if (s.gain <= s.gain_allowed + lost) return;
  if (c.may_gain && !s.restitution) {
    s.gained = s.gain - s.gain_allowed;
  } else {
    c.fail(Failure::EnergyGain, s.t_contact, -1, s.gain);
  }
}

/// Where the mass varies the velocity without impulses is u' = u+ - M^-1 J^T p.
template <model::Model M>
void free_velocity_of_varying_mass(Context<M>& c, Trial<M>& s) {
  s.start_momentum.setZero();
  for (int k = 0; k < s.claim.active.size(); ++k) {
    c.place.normals.add_to(s.claim.active[k], s.claim.impulses[k], s.start_momentum);
    add_friction(c, s, k, s.start_momentum);
  }
  c.model.mass(c.place).solve(s.start_momentum, s.free);
  s.free = s.after.u - s.free;
}

/// The residual of the step, island by island.
template <model::Model M>
[[gnu::always_inline]] inline void take_residual(Context<M>& c, Trial<M>& s,
                                                 const problem::Residual& residual) {
  s.residual = residual.value();
  s.creep = residual.creep();
  if (s.residual > 0.0 && residual.is_finite() && part_of(c, s, 0) != nullptr &&
      !share_coordinate(c, s)) {
    s.residual = island_residual(c, s);
  }
  if (!(s.residual <= c.limits.residual)) c.fail(Failure::Residual, s.t_contact, -1, s.residual);
}

/// J, W and U of the active rows, whose gaps were just taken at the cone point; then the law of
/// each, and the energy they create together.
template <model::Model M>
[[gnu::always_inline]] inline void check_contacts(Context<M>& c, Trial<M>& s) {
  const auto& active = s.claim.active;
  if (active.empty()) return;
  s.largest_speeds = largest(s.before.u) + largest(s.after.u);
  if constexpr (M::kSlips > 0) s.speeds = s.before.u.norm() + s.after.u.norm();
  problem::Residual residual;
  clear_parts(c, s);
  if constexpr (M::kSlips > 0) c.doubted.clear();
  if constexpr (M::kSlips > 0) c.shocks.clear();
  c.model.gradients(active, c.place);
  if constexpr (M::kSlips > 0) {
    c.model.friction(s.t_contact, *s.cone_point, s.before.u, active, c.place);
  }
  if constexpr (!M::kPlain) take_joints(c, s);
  if (c.lasting.has_ahead()) aim_ahead(c, s);
  if (!c.has_constant_mass()) free_velocity_of_varying_mass(c, s);
  if constexpr (model::ImpactModel<M>) {
    if (c.model.has_laws() && !s.restitution) check_impact_law(c, s, residual);
  }
  for (int k = 0; k < active.size(); ++k) {
    residual.keep_in(part_of(c, s, k));
    check_contact(c, s, k, residual);
  }
  take_residual(c, s, residual);
  if constexpr (M::kSlips > 0) {
    if (!c.doubted.empty()) [[unlikely]]
      settle_doubts(c, s);
  }
  if (s.gain > s.gain_allowed) check_gain(c, s);
}

}  // namespace ricochet::certify
