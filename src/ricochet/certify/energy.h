#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ricochet/certify/trial.h"

/// Where the energy goes, and whether it grows with nothing to drive it.
namespace ricochet::certify {

/// What is remembered of the energy from step to step.
struct EnergyWatch {
  double kinetic{0.0};
  double potential{0.0};
  double scale{0.0};                                     // of the start: what growth is measured by
  double look{std::numeric_limits<double>::infinity()};  // at steps with more T than this
  bool is_watched{false};                                // nothing drives the motion
  bool is_driven{false};                                 // by what is known, which is taken off
  base::Sum fed;                                         // by a potential that depends on t
  double highest{0.0};                   // T + |change of V| so far, of a motion that is driven
  model::GrowthWatch growth;             // of all other motions
  std::vector<model::Creation> created;  // by contact, under a law of mean positions
  std::vector<double> works;             // of the pushes of a step, under the same
};

/// Whether a scheme damps or feeds smooth motions by itself, to first order in the step.
template <model::Model M>
bool works_by_itself(const Context<M>& c) {
  if constexpr (model::ImplicitModel<M>) return false;  // its ledger tells
  switch (c.method.integrator) {
    case Integrator::End: return true;
    case Integrator::Theta: return c.method.theta != 0.5;
    case Integrator::MeanPosition: return c.method.average != Average::Central;
    case Integrator::Arcs:
    case Integrator::Affine:
    case Integrator::Conserving: return false;
    default: return c.model.force_uses_velocity();
  }
}

/// What a step looks for apart from growth is asked for once.
template <model::Model M>
void set_look(const Context<M>& c, EnergyWatch& watch) {
  watch.look = c.certificate.own.empty() ? watch.growth.bar : -1.0;
}

template <model::Model M>
void open_energy(Context<M>& c, const model::StateOf<M>& start, EnergyWatch& watch) {
  auto& s = c.scratch;
  c.model.momentum(start.q, start.u, c.place, s.start_momentum, s.slope);
  watch.kinetic = 0.5 * start.u.dot(s.start_momentum);
  watch.potential = c.model.gaps_and_potential(start.t, start.q, c.end_place);
  Ledger& ledger = c.certificate.ledger;
  ledger.kinetic_start = ledger.kinetic_end = ledger.kinetic_max = watch.kinetic;
  ledger.potential_start = ledger.potential_end = watch.potential;
  ledger.lowest = ledger.highest = watch.kinetic + watch.potential;
  watch.is_watched = c.method.balances_energy && c.model.is_autonomous();
  if constexpr (requires { c.model.is_conservative(); }) {
    watch.is_driven = c.method.balances_energy && !watch.is_watched && c.model.is_conservative();
  }
  if (c.limits.tells_own_work && works_by_itself(c)) {
    c.certificate.own.resize(c.has_constant_mass() ? static_cast<std::size_t>(c.model.dofs()) : 1);
  }
  if (!(model::ImplicitModel<M> || watch.is_watched || watch.is_driven ||
        c.method.integrator == Integrator::Arcs)) {
    watch.growth.base = watch.kinetic;
    watch.growth.bar = c.limits.growth * watch.kinetic;
  }
  set_look(c, watch);
}

/// The start is measured by its largest part, and by the energy one step of force gives, since V
/// has an arbitrary zero.
[[gnu::noinline]] inline void set_energy_scale(const Ledger& ledger, double first_work,
                                               EnergyWatch& watch) {
  watch.scale = std::max({ledger.kinetic_start, std::abs(ledger.potential_start),
                          std::abs(ledger.kinetic_start + ledger.potential_start), first_work});
}

/// Nothing drives the motion, yet T + V is above `growth` times its start. The gain must be most of
/// what moved, since V may have been zero at the start by chance.
template <model::Model M>
[[gnu::always_inline]] inline void watch_growth(Context<M>& c, const Trial<M>& s,
                                                const EnergyWatch& watch) {
  const Ledger& ledger = c.certificate.ledger;
  const double change = s.potential - ledger.potential_start;
  double corrected = ledger.correction.value() + s.correction;
  if (is_backward(c.model)) corrected += ledger.gain.value() + s.gained;  // seen backwards
  const double gain = s.kinetic - ledger.kinetic_start + change - corrected;
  if (gain > (c.limits.growth - 1.0) * watch.scale &&
      gain >= 0.5 * (s.kinetic + std::abs(change))) {
    c.fail(Failure::Diverged, s.after.t, -1, gain);
  }
}

/// The same where V depends on t, or walls and belts move: what these feed is known, and taken
/// off. Forces that a scene states one by one may feed anything.
template <model::Model M>
[[gnu::noinline]] void watch_driven_growth(Context<M>& c, Trial<M>& s, EnergyWatch& watch) {
  const Ledger& ledger = c.certificate.ledger;
  s.fed = s.potential - c.model.gaps_and_potential(s.before.t, s.after.q, c.joint_place);
  const double change = s.potential - ledger.potential_start;
  const double fed = watch.fed.value() + s.fed + ledger.contacts.value() + s.contact_work +
                     ledger.joints.value() + s.joint_work + ledger.correction.value() +
                     s.correction;
  const double gain = s.kinetic - ledger.kinetic_start + change - fed;
  const double level = s.kinetic + std::abs(change);
  if (level <= watch.highest) return;  // most of it may be elsewhere by now
  if (gain > (c.limits.growth - 1.0) * watch.scale && gain >= 0.5 * level) {
    c.fail(Failure::Diverged, s.after.t, -1, gain);
  }
}

/// Forces in u are explicit: the part that comes from u may oppose the motion (or be orthogonal
/// to it) at the start of a step and feed it by the end. Once what it fed is most of the motion,
/// the motion is the step's own.
template <model::Model M>
[[gnu::noinline]] void watch_explicit_force(Context<M>& c, Trial<M>& s, const EnergyWatch& watch) {
  auto& scratch = c.scratch;
  scratch.work.setZero();
  c.model.force(s.t_contact, *s.force_point, s.before.u, c.place, scratch.force);
  c.model.force(s.t_contact, *s.force_point, scratch.work, c.place, scratch.momentum);
  double at_start = 0.0, at_end = 0.0, size = 0.0;
  for (Eigen::Index i = 0; i < scratch.work.size(); ++i) {
    const double change = scratch.force[i] - scratch.momentum[i];  // Q(u) - Q(0)
    at_start += s.before.u[i] * change;
    at_end += s.after.u[i] * change;
    size += std::abs(s.before.u[i] * change);
  }
  const double fed = 0.5 * s.h * (at_start + at_end);
  const double rounding = 1e-12 * size;
  if (at_start > rounding || fed <= 0.0) return;
  s.explicit_gain = fed;
  const Ledger& ledger = c.certificate.ledger;
  const double gain = ledger.explicit_gain.value() + fed;
  const double spent = s.kinetic + std::abs(ledger.contacts.value());  // where energy went
  if (c.method.balances_energy && gain > (c.limits.growth - 1.0) * watch.scale &&
      s.kinetic > c.limits.growth * watch.scale && gain >= 0.5 * spent) {
    c.fail(Failure::Diverged, s.after.t, -1, gain);
  }
}

/// The work of forces along the way from q to q+, by coordinate, in scratch.momentum: taken at two
/// points that change from step to step, so that no period can hide between them. What velocities
/// make of a force works along the velocities, from which a step's way may differ by its order.
template <model::Model M>
void take_work_of_way(Context<M>& c, const Trial<M>& s) {
  auto& scratch = c.scratch;
  const double turns = 0.6180339887498949 * static_cast<double>(c.certificate.steps + 1);
  const double x = 0.5 * (turns - std::floor(turns));
  c.model.difference(s.after.q, s.before.q, scratch.work);
  if (s.is_shifted) scratch.work -= scratch.shift;
  scratch.momentum.setZero();
  const auto speed = [&](Eigen::Index i, double part) {
    return s.before.u[i] + part * (s.after.u[i] - s.before.u[i]);
  };
  const Eigen::Index dofs = scratch.work.size();
  for (const double part : {x, 1.0 - x}) {
    c.model.advance(s.before.q, scratch.work, part, scratch.q_work);
    for (Eigen::Index i = 0; i < dofs; ++i) scratch.free[i] = speed(i, part);
    const double t = s.before.t + part * (s.after.t - s.before.t);
    c.model.force(t, scratch.q_work, scratch.free, c.place, scratch.force);
    const bool along = c.model.force_uses_velocity();
    for (Eigen::Index i = 0; i < dofs; ++i) {
      const double way = along ? scratch.free[i] : scratch.work[i];
      scratch.momentum[i] += 0.5 * (along ? s.h : 1.0) * (way * scratch.force[i]);
    }
    if (!along) continue;
    scratch.free.setZero();
    c.model.force(t, scratch.q_work, scratch.free, c.place, scratch.force);
    for (Eigen::Index i = 0; i < dofs; ++i) {
      const double rest = scratch.work[i] - s.h * speed(i, part);
      scratch.momentum[i] += 0.5 * (rest * scratch.force[i]);
    }
  }
}

/// What the scheme itself gave in a step.
template <model::Model M>
[[gnu::noinline]] void enter_own_work(Context<M>& c, Trial<M>& s) {
  auto& own = c.certificate.own;
  const auto take = [](OwnWork& one, double given, double kinetic) {
    one.given += given;
    one.kinetic = std::max(one.kinetic, std::abs(kinetic));
  };
  if (!c.has_constant_mass()) return take(own[0], s.created, s.kinetic);
  c.model.mass(c.place).apply(s.after.u, s.end_momentum);
  for (int i = 0; i < c.model.dofs(); ++i) {
    take(own[static_cast<std::size_t>(i)], s.slope[i] - c.scratch.momentum[i],
         0.5 * s.after.u[i] * s.end_momentum[i]);
  }
}

/// Of Q (q+ - q): places have no more digits, however slow the motion.
template <model::Model M>
double rounding_of_work(const Trial<M>& s) {
  constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();
  double sum = 0.0;
  for (Eigen::Index i = 0; i < s.force.size() && i < s.after.q.size(); ++i) {
    sum += std::abs(s.force[i]) * std::max(std::abs(s.before.q[i]), std::abs(s.after.q[i]));
  }
  return kRounding * sum;
}

/// What forces alone would give in a step from rest, contacts or not.
template <model::Model M>
double work_from_rest(const Context<M>& c, const Trial<M>& s) {
  const double work = 0.5 * s.h * std::abs(s.force.dot(s.after.u - s.before.u));
  if (!c.has_constant_mass()) return work;
  return std::max(work, 0.5 * s.h * std::abs(s.force.dot(s.free - s.before.u)));
}

/// The kinetic energy of a step that neither forces nor contacts gave is the change of T less the
/// work along the way; for a force with a potential it is the change of T + V.
/// Forces that a scene states one by one may feed anything, so that growth alone proves nothing.
/// Where T grows tenfold and most of that was given by nobody, the motion is the step's own; unless
/// it grows tenfold once more by what is given, as from a rest that a force has only begun to
/// leave.
template <model::Model M>
[[gnu::noinline]] void follow_growth(Context<M>& c, Trial<M>& s, const EnergyWatch& watch) {
  constexpr double kMost = 0.75;       // of the growth over many steps
  constexpr double kNearlyAll = 0.95;  // of that in one
  if (s.claim.piece == Piece::Start || !(s.h > 0.0)) return;
  const model::GrowthWatch& growth = watch.growth;
  s.slope = 0.5 * s.h * (s.before.u + s.after.u).cwiseProduct(s.force);  // works of the scheme
  take_work_of_way(c, s);
  s.created = s.kinetic - watch.kinetic - c.scratch.momentum.sum() - s.contact_work - s.joint_work +
              s.spring_gain;
  if (!c.certificate.own.empty()) enter_own_work(c, s);
  s.is_followed = s.kinetic > growth.bar;
  if (!s.is_followed) return;
  if (!(s.kinetic > c.limits.growth * growth.base) || growth.base <= 0.0) return;
  const double created = growth.created.value() + s.created;
  const bool at_once = s.kinetic > c.limits.growth * watch.kinetic &&
                       s.created >= kNearlyAll * (s.kinetic - watch.kinetic);
  if (at_once || (growth.is_following && created >= kMost * (s.kinetic - growth.base))) {
    const double made_up = growth.is_following ? created : s.created;
    const auto steps = static_cast<double>(c.certificate.steps + 1 - growth.since);
    const double rounding = (growth.is_following ? steps : 1.0) * rounding_of_work(s);
    if (!(made_up <= rounding) || !std::isfinite(rounding)) s.made_up = made_up;
  }
}

/// Once the step holds: a new level, or on the way to it, or no longer.
[[gnu::noinline]] inline void enter_growth(const Limits& limits, double kinetic, double created,
                                           long long step, model::GrowthWatch& growth) {
  constexpr long long kPatience = 1000;
  if (!growth.is_following || kinetic > limits.growth * growth.base) {
    growth.span = step - growth.since;
    growth.since = step;
    growth.base = std::max(kinetic, growth.base);
    growth.created = {};
    growth.is_following = true;
    growth.bar = -1.0;
    return;
  }
  growth.created.add(created);
  if (step - growth.since <= kPatience + 4 * growth.span) return;
  growth.is_following = false;
  growth.bar = limits.growth * growth.base;
}

/// A law of mean positions lets a contact give back what it took a step before, and forces that act
/// in between leave a little of either sign. So works are summed up while a contact pushes, and
/// these sums over pushes, from anew where they fall below zero: what a contact has given and not
/// taken again, which no other contact's loss makes good. Of a wall at rest that is nothing; what
/// it is, is the step's own, and may be little of the largest energy, `level`.
template <model::Model M>
[[gnu::noinline]] void check_creation(Context<M>& c, Trial<M>& s, const EnergyWatch& watch,
                                      double level) {
  const Ledger& ledger = c.certificate.ledger;
  double created = 0.0;
  for (const model::Creation& one : watch.created) created += std::max(0.0, one.sum());
  for (int k = 0; k < s.claim.active.size(); ++k) {
    if (s.claim.impulses[k] == 0.0) continue;
    const double before = watch.created[static_cast<std::size_t>(s.claim.active[k])].sum();
    const double work = watch.works[static_cast<std::size_t>(k)];
    created += std::max(0.0, before + work) - std::max(0.0, before);
  }
  s.gained = std::max(0.0, created - ledger.gain.value());
  if (created > c.limits.created * level) c.fail(Failure::EnergyGain, s.after.t, -1, created);
}

/// Once the whole step holds.
template <model::Model M>
[[gnu::noinline]] void enter_creation(const Context<M>& c, const Trial<M>& s, EnergyWatch& watch) {
  const auto& active = s.claim.active;
  for (int a = 0, next = 0; a < c.contacts(); ++a) {
    const bool listed = next < active.size() && active[next] == a;
    model::Creation& one = watch.created[static_cast<std::size_t>(a)];
    if (listed && s.claim.impulses[next] != 0.0) {
      one.push += watch.works[static_cast<std::size_t>(next)];
    } else if (one.push != 0.0) {
      one = {std::max(0.0, one.sum()), 0.0};
    }
    if (listed) ++next;
  }
}

/// V changes when a violated position is put back on its wall; that is not the motion's doing.
template <model::Model M>
[[gnu::noinline]] void weigh_correction(Context<M>& c, Trial<M>& s) {
  const double moved = c.model.gaps_and_potential(s.t_contact, s.q_mid, c.place);
  c.model.advance(s.q_mid, c.scratch.shift, -1.0, s.q_work);
  s.correction = moved - c.model.gaps_and_potential(s.t_contact, s.q_work, c.place);
}

/// Change of T = forces + contacts + joints + defect; T + V does not grow by itself.
template <bool kExplicit, model::Model M>
[[gnu::always_inline]] inline void check_energy(Context<M>& c, Trial<M>& s, EnergyWatch& watch) {
  if (kExplicit) {
    s.force_work =
        0.5 * s.h * (convex::dot_of(s.before.u, s.force) + convex::dot_of(s.after.u, s.force));
  }
  if (!std::isfinite(s.kinetic + s.potential)) return c.fail(Failure::NotFinite, s.after.t);
  if (s.is_shifted) weigh_correction(c, s);
  if (c.certificate.steps == 0) {
    set_energy_scale(c.certificate.ledger, work_from_rest(c, s), watch);
  }
  if (watch.is_watched) {
    watch_growth(c, s, watch);
  } else if (watch.is_driven) {
    watch_driven_growth(c, s, watch);
  }
  if (s.kinetic > watch.look) [[unlikely]]
    follow_growth(c, s, watch);
  if (kExplicit && c.model.force_uses_velocity()) watch_explicit_force(c, s, watch);
}

/// What happened to T and V in a step that holds.
[[gnu::always_inline]] inline void enter_balance(Ledger& ledger, EnergyWatch& watch, double forces,
                                                 double contacts, double joints, double kinetic,
                                                 double potential) {
  const double defect = (kinetic - watch.kinetic) - forces - contacts - joints;
  ledger.forces.add(forces);
  ledger.contacts.add(contacts);
  ledger.defect.add(defect);
  ledger.defect_max = std::max(ledger.defect_max, std::abs(defect));
  ledger.kinetic_max = std::max(ledger.kinetic_max, kinetic);
  watch.kinetic = kinetic;
  watch.potential = potential;
  const double total = kinetic + potential;
  ledger.lowest = std::min(ledger.lowest, total);
  ledger.highest = std::max(ledger.highest, total);
}

/// T and V at the end of the run, of all steps that held.
inline void close_energy(Ledger& ledger, const EnergyWatch& watch) {
  ledger.kinetic_end = watch.kinetic;
  ledger.potential_end = watch.potential;
}

/// Once the whole step holds.
template <model::Model M>
[[gnu::always_inline]] inline void enter_energy(Context<M>& c, const Trial<M>& s,
                                                EnergyWatch& watch) {
  Ledger& ledger = c.certificate.ledger;
  enter_balance(ledger, watch, s.force_work, s.contact_work, s.joint_work, s.kinetic, s.potential);
  if constexpr (M::kSlips > 0) ledger.tangential.add(s.friction_work);
  if constexpr (!M::kPlain) ledger.joints.add(s.joint_work);
  if (s.is_shifted) ledger.correction.add(s.correction);
  if (s.explicit_gain > 0.0) ledger.explicit_gain.add(s.explicit_gain);
  if (s.made_up > 0.0) watch.growth.note(s.kinetic, s.after.t, s.made_up);
  if (s.is_followed) {
    enter_growth(c.limits, s.kinetic, s.created, c.certificate.steps + 1, watch.growth);
    set_look(c, watch);
  }
  if (watch.is_driven) {
    watch.fed.add(s.fed);
    watch.highest =
        std::max(watch.highest, s.kinetic + std::abs(s.potential - ledger.potential_start));
  }
}

}  // namespace ricochet::certify
