#pragma once

#include <algorithm>

#include "ricochet/certify/arc.h"

/// Pieces of affine velocity between impacts that are located inside the steps.
namespace ricochet::certify {

/// v = (M(q)^-1 + M(q+)^-1)/2 (P + P+)/2.
template <model::Model M>
bool mean_of_momenta(Context<M>& c, Trial<M>& s) {
  s.momentum = 0.25 * (s.start_momentum + s.end_momentum);
  s.free.setZero();
  for (const auto* q : {&s.before.q, &s.after.q}) {
    if (!c.model.load_mass(*q, c.place)) return false;
    c.model.mass(c.place).solve(s.momentum, s.work);
    s.free += s.work;
  }
  return true;
}

/// v, P, P+ - P and F of the piece, in s.free, s.start_momentum, s.end_momentum and s.force.
template <Integrator I, model::Model M>
bool tabulate_split(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  const auto& from = s.before;
  const auto& to = s.after;
  const bool varies = I == Integrator::Conserving && !c.has_constant_mass();
  if (varies) {
    c.model.momentum(from.q, from.u, c.place, s.start_momentum, s.slope);
    c.model.momentum(to.q, to.u, c.place, s.end_momentum, s.slope);
    if (!mean_of_momenta(c, s)) return false;
  } else {
    s.free = 0.5 * (from.u + to.u);
    c.model.advance(from.q, from.u, 0.5 * s.h, s.q_mid);
  }
  arc.chord.set(from.t, s.h, from.q, s.free);
  if (!c.model.load_mass(varies ? arc.chord.middle() : s.q_mid, c.place)) return false;
  if (varies) {
    arc.chord.take_slope(s.start_momentum, s.end_momentum, c.place, s.slope);
  } else {
    c.model.mass(c.place).apply(from.u, s.start_momentum);
    c.model.mass(c.place).apply(to.u, s.end_momentum);
  }
  s.t_contact = arc.chord.time();
  s.end_momentum -= s.start_momentum;
  if constexpr (I == Integrator::Conserving) {
    const double growth = varies ? s.kinetic - 0.5 * from.u.dot(s.start_momentum) : 0.0;
    arc.chord.take_force(s.free, s.slope, s.end_momentum, growth, c.place, s.force);
  } else {
    model::applied_force(c.model, s.t_contact, s.q_mid, s.free, c.place, s.force);
  }
  c.model.force(s.t_contact, I == Integrator::Conserving ? arc.chord.middle() : s.q_mid, s.free,
                c.place, s.work);
  s.force_work = s.h * s.free.dot(s.work);
  return true;
}

/// A contact pushes along a piece only where it touches at its start, and has come to rest: it
/// pushed in the piece before, or has no velocity.
template <model::Model M>
void check_lasting(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  const auto& active = s.claim.active;
  constexpr double kRest = 1e-9;  // of what a contact velocity is made of
  c.model.gaps(s.before.t, s.before.q, c.place);
  c.model.gradients(active, c.place);
  int last = -1, joints = 0;
  for (const int a : active) {
    if (a <= last || a >= c.model.contacts()) return c.fail(Failure::ActiveSet, s.before.t, a);
    last = a;
    const double gap = c.place.gap[a];
    const double allowed = allowed_gap(c, arc, a);
    if (a >= c.contacts()) {
      ++joints;
      if (!(std::abs(gap) <= allowed)) c.fail(Failure::ActiveSet, s.before.t, a, gap);
      continue;
    }
    const auto key = static_cast<model::Key>(a);
    const double U = c.place.normals.dot(a, s.before.u) + c.place.rate[a];
    const double size = std::max(c.place.normals.abs_dot(a, s.before.u) + std::abs(c.place.rate[a]),
                                 model::reach(c.place.normals, a, arc.known.u));
    const bool rests =
        std::abs(U) <= kRest * size || std::binary_search(c.touched.begin(), c.touched.end(), key);
    if (!(gap <= allowed) || !rests || !c.model.exists(a, c.place)) {
      return c.fail(Failure::ActiveSet, s.before.t, a, gap);
    }
  }
  if (joints != c.model.joints()) c.fail(Failure::ActiveSet, s.before.t);
}

/// 0 <= p, y = J v + dg/dt >= 0, p y = 0 with the mean gradients of the piece; joints y = 0.
template <model::Model M>
void check_split_rows(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  const auto& active = s.claim.active;
  if (active.empty()) return;
  arc.chord.take_rows(active, c.place);
  problem::Residual residual;
  clear_parts(c, s);
  auto& work = arc.force;
  for (int k = 0; k < active.size(); ++k) {
    const int a = active[k];
    const double p = s.claim.impulses[k];
    const auto& normals = c.place.normals;
    const double W = model::delassus(normals, a, c.model.mass(c.place), work, s.work);
    const double y = normals.dot(a, s.free) + c.place.rate[a];
    if (!is_weight(W)) return check_flat_contact(c, s.t_contact, a, W, p, y);
    const double lost = 32.0 * kEpsilon * normals.norm(a) * (s.before.u.norm() + s.after.u.norm()) +
                        8.0 * arc.chord.row_noise(a);
    residual.keep_in(part_of(c, s, k));
    if (a >= c.contacts()) {
      residual.add(convex::Line{}, p, 2.0 / W, y, y - 0.5 * W * p, lost, [&] { return lost; });
    } else {
      residual.add(convex::HalfLine{}, p, 2.0 / W, y, y - 0.5 * W * p, lost, [&] { return lost; });
    }
    normals.add_to(a, p, s.momentum);
    const double contact = p * normals.dot(a, s.free);
    (a < c.contacts() ? s.contact_work : s.joint_work) += contact;
    c.pushes[static_cast<std::size_t>(k)] = {-(normals.dot(a, s.before.u) + c.place.rate[a]), W,
                                             contact};
  }
  take_residual(c, s, residual);
}

/// P+ - P = h F + J^T p, and q+ = q + h v.
template <Integrator I, model::Model M>
void check_split_balance(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  const double error = (s.end_momentum - s.momentum).cwiseAbs().sum();
  double rounding =
      32.0 * kEpsilon * s.start_momentum.cwiseAbs().sum() + problem::Residual::kSmallest;
  if constexpr (I == Integrator::Conserving) rounding += 4.0 * arc.chord.noise();
  const double scale = s.end_momentum.cwiseAbs().sum() + s.h * s.force.cwiseAbs().sum() +
                       s.momentum.cwiseAbs().sum();
  if (!(error <= rounding)) {
    take_error(c, s, (error - rounding) / scale, Failure::Balance, c.limits.balance);
  }
  c.model.difference(s.after.q, arc.chord.end(), s.work);
  const double off = s.work.cwiseAbs().sum();
  if (off > 0.0 || std::isnan(off)) take_position_error(c, s, off, s.h * s.free.cwiseAbs().sum());
}

/// The change of T + V is the work of other forces, contacts and joints.
template <model::Model M>
void check_conservation(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc, const EnergyWatch& energy,
                        double kinetic) {
  const double before = c.model.gaps_and_potential(s.t_contact, s.before.q, c.joint_place);
  const double after = c.model.gaps_and_potential(s.t_contact, s.after.q, c.joint_place);
  const double work = arc.chord.other_work() + s.contact_work + s.joint_work;
  s.force_work = arc.chord.other_work() - (after - before);
  const double gain = s.kinetic - kinetic + after - before - work;
  const double size = std::max({s.kinetic, kinetic, energy.kinetic}) + std::abs(before) +
                      std::abs(after) + std::abs(work);
  if (gain > c.limits.balance * size) c.fail(Failure::EnergyGain, s.after.t, -1, gain);
}

template <Integrator I, model::Model M>
[[gnu::noinline]] void check_split_arc(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc,
                                       EnergyWatch& energy) {
  check_time(c, s, s.h);
  if (!(s.h > 0.0)) return c.fail(Failure::Kinematics, s.before.t);
  for (int a = 0; a < c.contacts(); ++a) {
    if (std::isnan(c.end_place.gap[a])) return c.fail(Failure::NotFinite, s.after.t, a);
  }
  c.held.clear();
  c.model.momentum(s.after.q, s.after.u, c.place, s.end_momentum, s.slope);
  s.kinetic = 0.5 * s.after.u.dot(s.end_momentum);
  if (!tabulate_split<I>(c, s, arc)) return c.fail(Failure::SingularMass, s.before.t);
  arc.known = arc.sizes;
  model::grow(arc.known, c.model, c.place, s.h, s.after.q, s.before.u, s.after.u, s.force, s.work,
              s.slope);
  s.momentum = s.h * s.force;
  check_lasting(c, s, arc);
  if (!c.certificate.ok()) return;
  check_split_rows(c, s, arc);
  check_split_balance<I>(c, s, arc);
  if (!c.certificate.ok()) return;
  for (const int a : s.claim.active) c.held.push(a);
  s.work = (s.after.u - s.before.u) / s.h;
  s.slope.setZero();
  if (I == Integrator::Conserving && !c.has_constant_mass()) {  // then q is cubic in t
    s.slope = 6.0 / s.h * (s.free - 0.5 * (s.before.u + s.after.u));
  }
  arc.path.set(s.before.t, s.h, s.before.q, s.before.u, s.work + s.slope, s.after.q, s.after.u,
               s.work - s.slope);
  check_between(c, s, arc);
  c.held.clear();
  if constexpr (I == Integrator::Conserving) {
    c.model.momentum(s.before.q, s.before.u, c.place, s.start_momentum, s.slope);
    check_conservation(c, s, arc, energy, 0.5 * s.before.u.dot(s.start_momentum));
  }
  check_energy<false>(c, s, energy);
}

}  // namespace ricochet::certify
