#include "ricochet/certify/body_balance.h"

#include <algorithm>
#include <cmath>

#include "ricochet/body/shares.h"
#include "ricochet/certify/body_turning.h"

namespace ricochet::certify {

using base::index;
using body::Kind;
using body::Vec;

/// Impulses and moments on bodies, with the sums of their sizes.
template <int D>
void BodyBalance<D>::find_given(const BodyClaim<D>& claim) {
  body::in_shares(&trial_.executor, trial_.rows.size(), trial_.given.size(),
                  [&](const body::Share& share) {
                    for (const JudgedRow<D>& one : trial_.rows) add_given(one, share);
                  });
  joints_.each_impulse(claim.reactions, [&](int i, const Vec<D>& p, const body::Spin<D>& moment,
                                            double size, double lever) {
    BodyGiven<D>& to = trial_.given[index(i)];
    to.p += p;
    to.moment += moment;
    to.size += size;
    to.lever += lever;
  });
}

/// What a row gives to those of its bodies that are asked for.
template <int D>
void BodyBalance<D>::add_given(const JudgedRow<D>& one, const body::Share& share) {
  if (!share.has(one.row.body_a) && !share.has(one.row.body_b)) return;
  if (one.impulse == Vec<D>::Zero() && body::size_of(one.moment) == 0.0) return;
  const Vec<D> p = body::in_space(one.row, one.impulse);
  const double size = p.norm();
  for (const bool of_a : {true, false}) {
    const int body = of_a ? one.row.body_a : one.row.body_b;
    if (!share.has(body)) continue;
    BodyGiven<D>& to = trial_.given[index(body)];
    const Vec<D>& arm = of_a ? one.row.arm_a : one.row.arm_b;
    const double sign = of_a ? 1.0 : -1.0;
    to.p += sign * p;
    to.moment += sign * body::moment(arm, p);
    to.size += size;
    to.lever += arm.norm() * size;
    to.moment += sign * one.moment;
    to.lever += body::size_of(one.moment);
  }
}

/// All bodies, driven ones after the others: formulas are asked by one thread.
template <int D>
bool BodyBalance<D>::check(const BodyClaim<D>& claim) {
  find_given(claim);
  pieces_.look(trial_.executor, trial_.facts.size(), [&](std::size_t i, Piece& piece) {
    if (piece.fault.is_there()) return;
    const Kind kind = trial_.facts[i].kind;
    const bool is_known = kind == Kind::Free && still_.has(static_cast<int>(i));
    if (kind != Kind::Driven && !is_known) piece.fault = check_body(i, piece);
    const bool holds = !trial_.needs_gains || gained(i);
    if (!holds && !piece.fault.is_there()) piece.fault = {i, Failure::Kinematics};
    add_up(i, piece.sums);
  });
  BodyFault fault = pieces_.first_fault();
  for (const std::size_t i : trial_.driven) {
    if (i > fault.at) break;
    const BodyFault own = check_unmoved(i);
    if (own.is_there()) fault = own;
  }
  if (fault.is_there()) {
    return trial_.fail_body(fault.failure, trial_.t_mid, fault.value, fault.at);
  }
  sum_up();
  return check_energies();
}

/// That kinetic and potential energies are numbers: squares overflow where velocities do not.
template <int D>
bool BodyBalance<D>::check_energies() {
  if (std::isfinite(sums_.kinetic.value() + sums_.potential.value())) return true;
  for (std::size_t i = 0; i < trial_.facts.size(); ++i) {
    if (!trial_.facts[i].is_free()) continue;
    BodySums own;
    add_up(i, own);
    if (std::isfinite(own.kinetic.value() + own.potential.value())) continue;
    return trial_.fail_body(Failure::NotFinite, trial_.t_mid, 0.0, i);
  }
  return trial_.fail(Failure::NotFinite, trial_.t_mid);
}

template <int D>
void BodyBalance<D>::sum_up() {
  const std::span<Piece> pieces = pieces_.used();
  sums_ = pieces[0].sums;
  worst_ = pieces[0].worst;
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    const BodySums& more = pieces[k].sums;
    sums_.kinetic.add(more.kinetic.value());
    sums_.potential.add(more.potential.value());
    sums_.forces.add(more.forces.value());
    sums_.fastest = std::max(sums_.fastest, more.fastest);
    sums_.removed += more.removed;
    worst_ = std::max(worst_, pieces[k].worst);
  }
}

template <int D>
BodyFault BodyBalance<D>::check_body(std::size_t i, Piece& piece) const {
  if (trial_.exists[i] == 0 || trial_.facts[i].kind != Kind::Free) return check_unmoved(i);
  const body::Motion<D>& start = trial_.before->bodies[i];
  const body::Motion<D>& to = trial_.after->bodies[i];
  const Speeds speeds = {start.v.norm() + to.v.norm(),
                         body::size_of(start.spin) + body::size_of(to.spin)};
  double found = 0.0;
  const BodyFault fault = check_momentum(i, speeds, found);
  if (fault.is_there()) return fault;
  piece.worst = std::max(piece.worst, found);
  return check_position(i, speeds);
}

/// Bodies that impulses do not move: fixed and unborn ones are where they were, driven ones where
/// their formulas say.
template <int D>
BodyFault BodyBalance<D>::check_unmoved(std::size_t i) const {
  const body::Motion<D>& start = trial_.before->bodies[i];
  const body::Motion<D>& to = trial_.after->bodies[i];
  body::Motion<D> wanted = start;
  if (trial_.exists[i] != 0 && trial_.facts[i].kind == Kind::Driven) {
    trial_.world.bodies[i].drive(trial_.t_mid + 0.5 * trial_.h, wanted);
  } else {
    const double kept = (to.v - start.v).norm() + body::size_of(to.spin - start.spin);
    if (kept > 0.0) return {i, Failure::Balance, kept};
  }
  if ((trial_.after->gone[i] != 0) != (trial_.before->gone[i] != 0)) return {i, Failure::ActiveSet};
  const double off = (to.x - wanted.x).norm();
  const double turned = angle_off(to, angle_of(wanted));
  const double way = trial_.h * (wanted.v.norm() + start.v.norm());
  const double turn = trial_.h * (body::size_of(wanted.spin) + body::size_of(start.spin));
  const bool holds = off <= trial_.limits.balance * way + 8.0 * kRoundoff * wanted.x.norm() &&
                     turned <= trial_.limits.balance * turn + 8.0 * kRoundoff * angle_size(wanted);
  return holds ? BodyFault{} : BodyFault{i, Failure::Kinematics, std::max(off, turned)};
}

/// m (v+ - v) = h m g + sum p, and the same of moments.
template <int D>
BodyFault BodyBalance<D>::check_momentum(std::size_t i, const Speeds& speeds, double& found) const {
  const BodyFact& fact = trial_.facts[i];
  const body::Motion<D>& to = trial_.after->bodies[i];
  Vec<D> miss = fact.mass * (to.v - trial_.before->bodies[i].v - trial_.h * trial_.gravity);
  double scale = fact.mass * (speeds.v + trial_.gravity_step);
  body::Spin<D> turning;
  double turn_scale = 0.0;
  if (D == 2 || fact.is_even) {
    turning = fact.moment * (to.spin - trial_.start_of(i).spin);
    turn_scale = fact.moment * speeds.spin;
  } else {
    const body::Spin<D> begin = turning_momentum(trial_.world.bodies[i], trial_.start_of(i));
    const body::Spin<D> end = turning_momentum(trial_.world.bodies[i], to);
    turning = end - begin;
    turn_scale = body::size_of(begin) + body::size_of(end);
  }
  if (trial_.is_ready[i] != 0) {
    miss -= trial_.given[i].p;
    scale += trial_.given[i].size;
    turning -= trial_.given[i].moment;
    turn_scale += trial_.given[i].lever;
  }
  const double off = std::max(0.0, miss.norm() - rounding_of_momentum(i, speeds));
  const double missed = body::size_of(turning);
  const double turned = std::max(0.0, missed - rounding_of_moment(i));
  found = std::max(off > 0.0 ? off / scale : 0.0, turned > 0.0 ? turned / turn_scale : 0.0);
  const bool are_numbers = std::isfinite(miss.norm()) && std::isfinite(missed);
  const bool holds = are_numbers && found <= trial_.limits.balance;
  return holds ? BodyFault{} : BodyFault{i, Failure::Balance, found};
}

/// Whether the state tells what velocity and spin gained in this step, on which the next one
/// relies; where impulses act, and where joints may hand them on, it may be what was told before.
template <int D>
bool BodyBalance<D>::gained(std::size_t i) const {
  if (trial_.after->gains.size() != trial_.facts.size()) return false;
  const body::Gain<D>& told = trial_.after->gains[i];
  const body::Gain<D> last = trial_.gains().gain(static_cast<int>(i));
  const bool was_pushed = joints_.any() || (trial_.is_ready[i] != 0 && trial_.given[i].size > 0.0);
  const bool stays = told.v == last.v && body::size_of(body::Spin<D>(told.spin - last.spin)) == 0.0;
  if (stays && was_pushed) return true;
  const body::Motion<D>& from = trial_.before->bodies[i];
  const body::Motion<D>& to = trial_.after->bodies[i];
  const double v = (to.v - from.v - trial_.h * told.v).norm();
  const double spin = body::size_of(body::Spin<D>(to.spin - from.spin - trial_.h * told.spin));
  return v <= 4.0 * kRoundoff * (from.v.norm() + to.v.norm()) &&
         spin <= 4.0 * kRoundoff * (body::size_of(from.spin) + body::size_of(to.spin));
}

/// What rounding of velocities at joints makes of impulses: a body that only turns has no other.
template <int D>
double BodyBalance<D>::rounding_of_momentum(std::size_t i, const Speeds& speeds) const {
  const BodyFact& fact = trial_.facts[i];
  return joints_.any() ? 8.0 * kRoundoff * fact.mass * fact.reach * speeds.spin : 0.0;
}

/// What rounding of places makes of the moments of impulses: their arms may be 0.
template <int D>
double BodyBalance<D>::rounding_of_moment(std::size_t i) const {
  if (trial_.is_ready[i] == 0) return 0.0;
  const double place = trial_.middle[i].x.norm() + trial_.world.bodies[i].size;
  return 8.0 * kRoundoff * trial_.given[i].size * place;
}

/// x+ = x_M + h/2 v+, and how a free body ends turned.
template <int D>
BodyFault BodyBalance<D>::check_position(std::size_t i, const Speeds& speeds) const {
  const body::Motion<D>& start = trial_.before->bodies[i];
  const body::Motion<D>& to = trial_.after->bodies[i];
  const bool leaves = !trial_.world.keeps(to.x);
  if ((trial_.after->gone[i] != 0) != (leaves || trial_.before->gone[i] != 0))
    return {i, Failure::ActiveSet};
  const Vec<D> middle =
      trial_.is_whole ? trial_.middle[i].x : Vec<D>(start.x + 0.5 * trial_.h * start.v);
  const Vec<D> x = middle + 0.5 * trial_.h * to.v;
  double room = trial_.limits.balance * trial_.h * speeds.v;
  const double off = (to.x - x).squaredNorm();
  bool holds = off <= room * room;
  if (!holds) {
    room += 8.0 * kRoundoff * x.norm() + (trial_.is_whole ? trial_.shift_rounding[i][0] : 0.0);
    holds = std::sqrt(off) <= room;
  }
  double turned = 0.0;
  double size = 0.0;
  if constexpr (D == 2) {
    const double halfway =
        trial_.is_whole ? trial_.middle[i].angle : start.angle + 0.5 * trial_.h * start.spin;
    const double wanted = halfway + 0.5 * trial_.h * to.spin;
    turned = angle_off(to, wanted);
    size = std::abs(wanted);
  } else {
    size = angle_size(to);
    if (speeds.spin > 0.0 || trial_.is_whole || !is_turned_alike(start, to)) {
      turned = turn_off(trial_.world.bodies[i], trial_.start_of(i), to, trial_.h);
    }
  }
  holds = holds && turned <= trial_.limits.balance * trial_.h * speeds.spin +
                                 8.0 * kRoundoff * size +
                                 (trial_.is_whole ? trial_.shift_rounding[i][1] : 0.0);
  return holds ? BodyFault{} : BodyFault{i, Failure::Kinematics, std::max(std::sqrt(off), turned)};
}

/// Energies at the end, and works of gravity.
template <int D>
void BodyBalance<D>::add_up(std::size_t i, BodySums& sums) const {
  const BodyFact& fact = trial_.facts[i];
  sums.removed += trial_.after->gone[i] - trial_.before->gone[i];
  if (fact.kind != Kind::Free) return;
  const body::Motion<D>& to = trial_.after->bodies[i];
  const double turning = D == 2 || fact.is_even ? 0.5 * fact.moment * square_of(to.spin)
                                                : energy_of(trial_.world.bodies[i], to);
  sums.kinetic.add(0.5 * fact.mass * to.v.squaredNorm() + turning);
  sums.potential.add(-fact.mass * trial_.gravity.dot(to.x));
  if (trial_.exists[i] == 0) return;
  sums.forces.add(0.5 * trial_.h * fact.mass *
                  trial_.gravity.dot(trial_.before->bodies[i].v + to.v));
  sums.fastest = std::max(sums.fastest, trial_.speed[i]);
}

template class BodyBalance<2>;
template class BodyBalance<3>;

}  // namespace ricochet::certify
