#include "ricochet/certify/body_ledger.h"

#include <algorithm>
#include <cmath>

#include "ricochet/certify/body_turning.h"

namespace ricochet::certify {

using base::index;
using body::Kind;
using body::Vec;

template <int D>
double BodyLedger<D>::kinetic(const State& s) const {
  base::Sum sum;
  for (std::size_t i = 0; i < s.bodies.size(); ++i) {
    const body::Body<D>& body = trial_.world.bodies[i];
    if (!body.is_free()) continue;
    sum.add(0.5 * body.mass * s.bodies[i].v.squaredNorm() + energy_of(body, s.bodies[i]));
  }
  return sum.value();
}

template <int D>
double BodyLedger<D>::potential(const State& s) const {
  if (!trial_.world.gravity_is_constant) return 0.0;
  const Vec<D> g = trial_.world.gravity(s.t);
  base::Sum sum;
  for (std::size_t i = 0; i < s.bodies.size(); ++i) {
    const body::Body<D>& body = trial_.world.bodies[i];
    if (body.is_free()) sum.add(-body.mass * g.dot(s.bodies[i].x));
  }
  sum.add(joints_.springs(s.bodies, s.gone));
  return sum.value();
}

template <int D>
void BodyLedger<D>::begin(const State& start) {
  Ledger& ledger = c_.ledger;
  ledger.kinetic_start = ledger.kinetic_end = ledger.kinetic_max = kinetic(start);
  ledger.potential_start = ledger.potential_end = potential(start);
  ledger.lowest = ledger.highest = ledger.kinetic_start + ledger.potential_start;
}

template <int D>
void BodyLedger<D>::enter(const BodyClaim<D>& claim, const BodySums& sums) {
  Ledger& ledger = c_.ledger;
  const double contacts = ledger.contacts.value();
  const double walls = ledger.joints.value();
  const Works joints = enter_joints(claim);
  enter_works(joints);
  if (trial_.is_whole) enter_corrections();
  base::Sum forces = sums.forces;
  forces.add(joints.forces);
  ledger.forces.add(forces.value());
  speed_max_ = std::max(speed_max_, sums.fastest);
  const double kinetic_before = ledger.kinetic_end;
  enter_energies(sums);
  const double defect = ledger.kinetic_end - kinetic_before - forces.value() -
                        (ledger.contacts.value() - contacts) - (ledger.joints.value() - walls);
  ledger.defect.add(defect);
  ledger.defect_max = std::max(ledger.defect_max, std::abs(defect));
}

/// T and V at the end of the step.
template <int D>
void BodyLedger<D>::enter_energies(const BodySums& sums) {
  Ledger& ledger = c_.ledger;
  ledger.kinetic_end = sums.kinetic.value();
  ledger.potential_end = 0.0;
  if (trial_.world.gravity_is_constant) {
    base::Sum potential = sums.potential;
    potential.add(joints_.springs(trial_.after->bodies, trial_.after->gone));
    ledger.potential_end = potential.value();
  }
  ledger.kinetic_max = std::max(ledger.kinetic_max, ledger.kinetic_end);
  const double energy = ledger.kinetic_end + ledger.potential_end;
  ledger.lowest = std::min(ledger.lowest, energy);
  ledger.highest = std::max(ledger.highest, energy);
}

/// What places that were put back gain of potential energy.
template <int D>
void BodyLedger<D>::enter_corrections() {
  for (std::size_t i = 0; i < trial_.facts.size(); ++i) {
    if (trial_.exists[i] == 0 || !trial_.facts[i].is_free()) continue;
    const Vec<D>& shift = trial_.shift[i];
    if (shift.squaredNorm() == 0.0) continue;
    c_.ledger.correction.add(-trial_.facts[i].mass * trial_.gravity.dot(shift));
    told_.statistics.shift_max = std::max(told_.statistics.shift_max, shift.norm());
  }
}

/// Approach speeds from which an impulse is a shock [m/s].
template <int D>
double BodyLedger<D>::shock_threshold() const {
  const Limits& limits = trial_.limits;
  return limits.shock_speed >= 0.0 ? limits.shock_speed : limits.shock_fraction * speed_max_;
}

/// Works of joints.
template <int D>
typename BodyLedger<D>::Works BodyLedger<D>::enter_joints(const BodyClaim<D>& claim) {
  if (!joints_.any()) return {};
  const auto works =
      joints_.works(claim.reactions, trial_.middle, trial_.middle_after, trial_.before->reactions,
                    shock_threshold(), trial_.gravity_step);
  Ledger& ledger = c_.ledger;
  ledger.joints.add(works.joints);
  ledger.contacts.add(works.contacts);
  ledger.friction.add(works.friction);
  ledger.tangential.add(works.friction);
  ledger.shocks.add(works.shocks);
  told_.statistics.shocks += works.struck;
  if (works.struck > 0) c_.shocks_cut = true;
  return works;
}

/// Works of rows: dT = h m g . (v + v+)/2 + sum p . (U + U+)/2 + what driven bodies give.
template <int D>
void BodyLedger<D>::enter_works(const Works& joints) {
  Ledger& ledger = c_.ledger;
  const std::vector<body::Push<D>>& pushes = trial_.before->pushes;
  const double threshold = shock_threshold();
  double lent = joints.lent;
  double all = joints.relative;
  bool bounces = joints.has_power;
  c_.creep_max = std::max(c_.creep_max, still_.all().creep);
  for (const auto& [body, power] : still_.powers()) told_.creeps.add(power);
  auto last = pushes.begin();  // by key, as rows are but for a few
  const auto has_pushed = [&](const body::RowKey& key) {
    const auto is_before = [](const body::Push<D>& p, const body::RowKey& q) { return p.key < q; };
    if (last != pushes.begin() && !(std::prev(last)->key < key)) {
      last = std::lower_bound(pushes.begin(), last, key, is_before);
    }
    while (last != pushes.end() && last->key < key) ++last;
    return last != pushes.end() && last->key == key;
  };
  for (std::size_t k = 0; k < trial_.measures.size(); ++k) {
    const RowMeasure& one = trial_.measures[k];
    if (one.power >= 0) {
      c_.creep_max = std::max(c_.creep_max, one.creep);
      told_.creeps.add(one.power);
    }
    if (!one.pushes) continue;
    ledger.contacts.add(one.normal + one.tangential);
    ledger.tangential.add(one.tangential);
    all += one.normal + one.tangential;
    lent += 0.5 * one.size * trial_.gravity_step;
    bounces = bounces || one.bounces;
    if (one.comes > threshold && !has_pushed(trial_.rows[k].row.key)) {
      ++told_.statistics.shocks;
      c_.shocks_cut = true;  // pairs have no names to list them by
      ledger.shocks.add(one.normal + one.tangential);
    } else {
      ledger.friction.add(one.tangential);
    }
  }
  if (!trial_.driven.empty()) enter_walls();
  if (!joints.has_power && all > lent + 1e-12 * ledger.kinetic_max) {
    ledger.gain.add(all - lent);
    if (!bounces &&
        ledger.gain.value() > trial_.limits.created * std::max(ledger.kinetic_max, 1e-300)) {
      trial_.fail(Failure::EnergyGain, trial_.t_mid, all);
    }
  }
}

/// What moving walls give.
template <int D>
void BodyLedger<D>::enter_walls() {
  for (const JudgedRow<D>& one : trial_.rows) {
    if (!(one.impulse[0] > 0.0)) continue;
    for (const bool of_a : {true, false}) {
      const int i = of_a ? one.row.body_a : one.row.body_b;
      if (trial_.facts[index(i)].kind != Kind::Driven) continue;
      const Vec<D>& arm = of_a ? one.row.arm_a : one.row.arm_b;
      const Vec<D> wall = 0.5 * (body::velocity_at(trial_.middle[index(i)], arm) +
                                 body::velocity_at(trial_.middle_after[index(i)], arm));
      const body::Spin<D> spin =
          0.5 * (trial_.middle[index(i)].spin + trial_.middle_after[index(i)].spin);
      c_.ledger.joints.add((of_a ? -1.0 : 1.0) * (body::in_space(one.row, one.impulse).dot(wall) +
                                                  power_of(one.moment, spin)));
    }
  }
}

template class BodyLedger<2>;
template class BodyLedger<3>;

}  // namespace ricochet::certify
