#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/energy.h"
#include "ricochet/certify/kinematics.h"
#include "ricochet/certify/node_law.h"

/// Steps of linear structures, whose stiffness and damping are implicit:
///
///     M (u+ - u) = h (f - C u_C - K q_K) + G^T p,
///
/// with u_C and q_K the means of the step's ends, f at its middle or smoothed around it; under End
/// all of them at the end, and q+ = q + h u.
namespace ricochet::certify {

inline constexpr double kLinearRounding = 64.0 * kEpsilon;

/// The tangential impulse at place k; what is said of a contact without friction does not count.
template <model::ImplicitModel M>
double along_at(const Context<M>& c, const Trial<M>& s, int k) {
  return c.model.slips(s.claim.active[k]) > 0 ? s.claim.tangential[k] : 0.0;
}

/// f of the step, in c.place.loads.
template <Integrator I, model::ImplicitModel M>
void take_loads(Context<M>& c, const Trial<M>& s) {
  auto& loads = c.place.loads;
  c.model.take_loads(I == Integrator::End ? s.after.t : s.t_contact, c.place);
  if constexpr (I == Integrator::AveragePosition) {  // (G- + 2 G + G+)/4      [Paoli 2001 (3.13)]
    auto& sum = c.end_place.loads;
    sum = 0.5 * loads;
    for (const double shift : {-s.h, s.h}) {
      c.model.take_loads(s.t_contact + shift, c.place);
      sum += 0.25 * loads;
    }
    loads = sum;
  }
}

/// h (f - C u_C - K q_K) in s.momentum, its parts' works and the largest entry of any of them.
/// The mean velocity is left in s.slope: works are its own, for which the change of T is exact.
template <Integrator I, model::ImplicitModel M>
double gather_linear_forces(Context<M>& c, Trial<M>& s) {
  constexpr bool kAtEnd = I == Integrator::End;
  s.slope = 0.5 * (s.before.u + s.after.u);
  if constexpr (kAtEnd) {
    s.q_work = s.after.q;
  } else {
    s.q_work = 0.5 * (s.before.q + s.after.q);
  }
  s.force.setZero();
  c.model.add_stiffness(-1.0, s.q_work, c.place, s.force);
  double size = largest(s.force);
  s.elastic = s.h * s.slope.dot(s.force);
  s.work.setZero();
  c.model.add_damping(-1.0, kAtEnd ? s.after.u : s.slope, c.place, s.work);
  size = std::max(size, largest(s.work));
  s.damping = s.h * s.slope.dot(s.work);
  s.force += s.work;
  take_loads<I>(c, s);
  for (const double load : c.place.loads) size = std::max(size, std::abs(load));
  s.loads = s.h * c.model.load_power(c.place.loads, s.slope);
  c.model.add_loads(1.0, c.place.loads, s.force);
  s.momentum = s.h * s.force;
  s.force_work = s.loads + s.elastic + s.damping;
  return s.h * size;
}

/// M (u+ - u) = s.momentum; `size` is that of its parts. Positions are rounded, and K makes much of
/// it: what the evaluation itself loses is taken off.
template <model::ImplicitModel M>
void check_linear_balance(Context<M>& c, Trial<M>& s, double size) {
  s.work = s.after.u - s.before.u;
  c.model.multiply_mass(s.work, s.end_momentum);
  size = std::max(size, largest(s.end_momentum));
  for (int k = 0; k < s.claim.active.size(); ++k) {
    size = std::max({size, std::abs(s.claim.impulses[k]), std::abs(along_at(c, s, k))});
  }
  const double places = std::max(largest(s.before.q), largest(s.after.q));
  const double speeds = std::max(largest(s.before.u), largest(s.after.u));
  const double lost = kLinearRounding * (s.h * c.model.stiffness_size() * (places + s.h * speeds) +
                                         c.model.mass_size() * speeds);
  if (size > 0.0) s.rounding = lost / size;
  const double error = largest(s.end_momentum - s.momentum) - lost;
  if (!(error <= 0.0)) take_error(c, s, error / size, Failure::Balance, c.limits.balance);
}

/// q+ = q + h (u + u+)/2, or q + h u.
template <Integrator I, model::ImplicitModel M>
void check_linear_positions(Context<M>& c, Trial<M>& s) {
  s.q_work = s.after.q - s.before.q - s.h * (I == Integrator::End ? s.before.u : s.slope);
  const double size = std::max({largest(s.before.q), largest(s.after.q),
                                s.h * std::max(largest(s.before.u), largest(s.after.u))});
  const double error = largest(s.q_work) - kLinearRounding * size;
  if (!(error <= 0.0)) take_error(c, s, error / size, Failure::Kinematics, c.limits.balance);
}

/// Momentum and works of an active contact that the law of velocities does not speak of.
template <model::ImplicitModel M>
void add_linear_push(Context<M>& c, Trial<M>& s, int k, double W, problem::Residual& residual) {
  const int a = s.claim.active[k];
  const double p = s.claim.impulses[k];
  if (c.model.slips(a) == 0) return add_push(c, s, k, W);
  FrictionPush& push = c.friction_pushes[static_cast<std::size_t>(k)];
  const double along = s.claim.tangential[k];
  push.impulse = {p, along, 0.0};
  push.start = velocity_at(c, a, s.before.u);
  push.end = velocity_at(c, a, s.after.u);
  push.free = push.end - W * push.impulse;
  push.W_normal = push.W_tangential = W;
  const convex::Section section = c.model.section(a, false, c.place);
  const double slip = push.end[1];
  const double wanted = convex::project(section, {along - slip / W, 0.0}, std::abs(p)).x();
  const double lost = kLinearRounding * (std::abs(push.free[1]) + std::abs(slip));
  const auto same = [&] { return lost; };
  residual.add(convex::Line{}, along, 1.0 / W, W * (along - wanted), push.free[1], lost, same);
  check_grip(c, s, k, push, convex::FrictionCone{section}, lost, 1.0 / W);
  c.place.normals.add_to(a, p, s.momentum);
  add_friction(c, s, k, s.momentum);
  add_friction_work(c, s, a, push);
}

/// 0 <= p, g((U+ + e U-)/(1 + e)) >= 0, one of them 0, for all contacts: with U = q_M, which ends
/// at U+ = q_M + h u+ and came from U- = q_M - h u.                          [Paoli 2001 (3.12)]
template <model::ImplicitModel M>
void check_average(Context<M>& c, Trial<M>& s, problem::Residual& residual) {
  const auto& active = s.claim.active;
  const auto& normals = c.place.normals;
  int next = 0;
  for (int a = 0; a < c.contacts(); ++a) {
    const bool listed = next < active.size() && active[next] == a;
    const double p = listed ? s.claim.impulses[next] : 0.0;
    const double e = c.model.restitution(a);
    const double W = c.model.mass(c.place).row_weight(a);
    const double start = normals.dot(a, s.before.u);
    const double end = normals.dot(a, s.after.u);
    const double v = end - e * start + (1.0 + e) * c.place.gap[a] / s.h;
    const double lost = kLinearRounding * (std::abs(start) + std::abs(end) + std::abs(W * p) +
                                           2.0 * normals.abs_dot(a, s.q_mid) / s.h);
    residual.add(convex::HalfLine{}, p, 1.0 / W, v, v - W * p, lost, [&] { return lost; });
    s.average_gap = std::min(s.average_gap, s.h * v / (1.0 + e));
    s.average_allowed = std::max(s.average_allowed, lost * s.h);
    if (listed) add_linear_push(c, s, next++, W, residual);
  }
  if (next != active.size()) c.fail(Failure::ActiveSet, s.t_contact);
}

/// p = h max(0, -k g - c g') with the means of the step, where q_M is beyond a wall.
template <model::ImplicitModel M>
void check_linear_springs(Context<M>& c, Trial<M>& s, problem::Residual& residual) {
  auto& springs = c.place.springs;
  if (springs.empty()) springs = c.model.springs(c.method.stiffness);
  check_active_set(c, s);
  for (int k = 0; k < s.claim.active.size(); ++k) {
    const int a = s.claim.active[k];
    const auto& spring = springs[static_cast<std::size_t>(c.model.guide_at(a))];
    const double W = c.model.mass(c.place).row_weight(a);
    const double U = c.place.normals.dot(a, s.slope);
    const double p = s.claim.impulses[k];
    // At the mean of the ends the gap is that of q_M and a quarter of a step of what u gained.
    const double gap = c.end_place.gap[a] - 0.5 * s.h * U;
    const double own = s.h * std::max(0.0, -spring.stiffness * gap - spring.dashpot * U);
    const double lost = kLinearRounding * s.h * spring.stiffness *
                        (c.place.normals.abs_dot(a, s.q_mid) + std::abs(gap)) * W;
    residual.add(convex::Line{}, p, 1.0 / W, W * (p - own), W * p, lost, [&] { return lost; });
    add_linear_push(c, s, k, W, residual);
  }
}

/// The law of the guides, and the momentum that they give.
template <Integrator I, model::ImplicitModel M>
void check_guides(Context<M>& c, Trial<M>& s) {
  s.free = s.after.u;
  for (int k = 0; k < s.claim.active.size(); ++k) {
    c.model.add_response(s.claim.active[k], -s.claim.impulses[k], -along_at(c, s, k), s.free);
  }
  c.model.gaps(s.t_contact, *s.cone_point, c.place);
  if constexpr (I == Integrator::AveragePosition || I == Integrator::Spring) {
    problem::Residual residual;
    if constexpr (I == Integrator::Spring) {
      check_linear_springs(c, s, residual);
    } else {
      check_average(c, s, residual);
    }
    s.residual = residual.value();
    if (!(s.residual <= c.limits.residual)) {
      c.fail(Failure::Residual, s.t_contact, -1, s.residual);
    }
  } else {
    check_active_set(c, s);
    check_contacts(c, s);
  }
}

/// Change of T + V = loads + damping + contacts + closure, which is rounding where K acts on the
/// mean: else the balance was lost in it.
template <Integrator I, model::ImplicitModel M>
void check_closure(Context<M>& c, Trial<M>& s, const EnergyWatch& energy) {
  const Ledger& ledger = c.certificate.ledger;
  s.closure = s.kinetic - energy.kinetic + s.potential - energy.potential - s.loads - s.damping -
              s.contact_work;
  const double traded =
      std::max({ledger.highest, s.kinetic + s.potential, std::abs(ledger.loads.value() + s.loads)});
  const double missed = std::abs(ledger.closure.value() + s.closure);
  if (I != Integrator::End && missed > c.limits.closure * traded) {
    c.fail(Failure::Balance, s.after.t, -1, missed / traded);
  }
  const double given = ledger.contacts.value() + s.contact_work;
  if (I == Integrator::Spring && given > c.limits.spring_gain * traded) {
    c.fail(Failure::EnergyGain, s.after.t, -1, given);
  }
}

/// The work of the contact at place k; 0 where it is rounding.
template <model::ImplicitModel M>
double work_of_push(const Context<M>& c, const Trial<M>& s, int k) {
  const int a = s.claim.active[k];
  const double p = s.claim.impulses[k];
  const double along = along_at(c, s, k);
  double work = 0.5 * p * (c.place.normals.dot(a, s.before.u) + c.place.normals.dot(a, s.after.u));
  if (along != 0.0) {
    work +=
        0.5 * along * (c.place.tangents.dot(a, s.before.u) + c.place.tangents.dot(a, s.after.u));
  }
  const double size = std::abs(p) + std::abs(along);
  const double speeds = c.place.normals.abs_sum(a) * (largest(s.before.u) + largest(s.after.u)) +
                        c.model.mass(c.place).row_weight(a) * size;
  return std::abs(work) <= kLinearRounding * size * speeds ? 0.0 : work;
}

template <Integrator I, model::ImplicitModel M>
[[gnu::noinline]] void check_implicit(Context<M>& c, Trial<M>& s, EnergyWatch& energy) {
  if (s.claim.piece != Piece::Step) return c.fail(Failure::Law, s.before.t);
  if (s.claim.shift_weights != nullptr) return c.fail(Failure::Correction, s.before.t);
  check_time(c, s, s.h);
  s.t_contact = I == Integrator::End ? s.after.t : s.before.t + 0.5 * s.h;
  c.model.advance(s.before.q, s.before.u, 0.5 * s.h, s.q_mid);
  s.cone_point = I == Integrator::End ? &s.after.q : &s.q_mid;
  const double size = gather_linear_forces<I>(c, s);
  check_guides<I>(c, s);
  check_linear_positions<I>(c, s);
  check_linear_balance(c, s, size);
  c.model.multiply_mass(s.after.u, s.end_momentum);
  s.kinetic = 0.5 * s.after.u.dot(s.end_momentum);
  check_energy<false>(c, s, energy);
  check_closure<I>(c, s, energy);
  if constexpr (I == Integrator::AveragePosition) {
    for (int k = 0; k < s.claim.active.size(); ++k) {
      energy.works[static_cast<std::size_t>(k)] = work_of_push(c, s, k);
    }
    const Ledger& ledger = c.certificate.ledger;
    check_creation(c, s, energy,
                   std::max({ledger.highest, s.kinetic + s.potential, ledger.kinetic_max, s.kinetic,
                             energy.scale}));
  }
}

/// Once the whole step holds.
template <model::ImplicitModel M>
void enter_works(Certificate& c, const Trial<M>& s) {
  c.ledger.loads.add(s.loads);
  c.ledger.damping.add(s.damping);
  c.ledger.elastic.add(s.elastic);
  c.ledger.closure.add(s.closure);
  c.ledger.closure_max = std::max(c.ledger.closure_max, std::abs(s.closure));
  c.balance_rounding = std::max(c.balance_rounding, s.rounding);
  c.average_gap = std::min(c.average_gap, s.average_gap);
  c.average_allowed = std::max(c.average_allowed, s.average_allowed);
}

}  // namespace ricochet::certify
