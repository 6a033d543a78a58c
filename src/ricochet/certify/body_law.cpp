#include "ricochet/certify/body_law.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/certify/body_told.h"
#include "ricochet/certify/body_turning.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::certify {

using base::index;
using body::Vec;
namespace {

/// |v| and that of its tangential part, number by number: vectors of which one number has just been
/// changed are slow to load as a whole.
double length_of(const Vec<2>& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1]); }
double length_of(const Vec<3>& v) { return std::sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]); }
double slip_of(const Vec<2>& v) { return std::abs(v[1]); }
double slip_of(const Vec<3>& v) { return std::sqrt(v[1] * v[1] + v[2] * v[2]); }

/// The judge's own projection on { |r_T| <= mu r_N }.
template <int D>
Vec<D> nearest_in_cone(double mu, const Vec<D>& z) {
  const double slip = slip_of(z);
  if (z[0] >= 0.0 && slip <= mu * z[0]) return z;
  if (mu * slip <= -z[0]) return Vec<D>::Zero();
  const double n = (z[0] + mu * slip) / (1.0 + mu * mu);
  const double part = slip > 0.0 ? mu * n / slip : 0.0;
  Vec<D> p;
  p[0] = n;
  for (int k = 1; k < D; ++k) p[k] = part * z[k];
  return p;
}

/// The parts (n, t) of vectors of space at a row, its frame made once.
struct Parts2 {
  const body::Row<2>& row;
  explicit Parts2(const body::Row<2>& of) : row(of) {}
  Vec<2> operator()(const Vec<2>& u) const { return body::in_frame(row, u); }
};
struct Parts3 {
  shape::Mat<3> back;
  explicit Parts3(const body::Row<3>& of) : back(body::frame_of(of).transpose()) {}
  Vec<3> operator()(const Vec<3>& u) const { return back * u; }
};
template <int D>
using Parts = std::conditional_t<D == 2, Parts2, Parts3>;

/// A spin or moment: its part along the tangents and its part about the normal; in the plane all
/// of it is along the tangents, as that of what rolls in space.
struct Parted {
  Vec<3> rolls = Vec<3>::Zero();
  double about{0.0};
};
Parted parted(const Vec<2>&, double spin) { return {Vec<3>(spin, 0.0, 0.0), 0.0}; }
Parted parted(const Vec<3>& normal, const Vec<3>& spin) {
  const double about = normal.dot(spin);
  return {spin - about * normal, about};
}

/// How far a moment is from the law of maximal dissipation, m = P(m - rho w), P on |m| <= most.
double distance_from_law(const Vec<3>& m, const Vec<3>& w, double rho, double most) {
  const Vec<3> z = m - rho * w;
  const double size = z.norm();
  return (m - (size > most ? Vec<3>(most / size * z) : z)).norm();
}

/// |p_T| <= mu p_N, 0 <= p_N.
template <int D>
BodyFault check_cone(const JudgedRow<D>& one) {
  const double most = one.law->friction * one.impulse[0];
  const double slip = one.impulse.template tail<D - 1>().norm();
  const bool holds = !(one.impulse[0] < 0.0 || slip > most * (1.0 + 1e-12));
  return holds ? BodyFault{} : BodyFault{0, Failure::Residual, slip - most};
}

/// |m| <= rolling p_N along the tangents, spinning p_N about the normal: 0 where nothing is stated,
/// but for what rounding makes of a direction in space.
template <int D>
BodyFault check_turning(const JudgedRow<D>& one) {
  const double size = body::size_of(one.moment);
  if (size == 0.0) return {};
  const Parted m = parted(one.row.normal, one.moment);
  const double rounding = D == 2 || !one.law->resists_turning() ? 0.0 : 16.0 * kRoundoff * size;
  const double most = one.law->rolling * one.impulse[0] * (1.0 + 1e-12);
  const double most_about = one.law->spinning * one.impulse[0] * (1.0 + 1e-12);
  const double beyond = std::max(m.rolls.norm() - most, std::abs(m.about) - most_about);
  return beyond <= rounding ? BodyFault{} : BodyFault{0, Failure::Residual, beyond};
}

}  // namespace

template <int D>
bool BodyLaw<D>::check() {
  trial_.measures.resize(trial_.rows.size());
  pieces_.look(trial_.executor, trial_.rows.size(),
               [&](std::size_t k, Piece& piece) { look_at_row(k, piece); });
  const BodyFault fault = pieces_.first_fault();
  if (fault.is_there()) {
    return trial_.fail_at(fault.failure, trial_.t_mid, fault.value, trial_.rows[fault.at].row);
  }
  sum_up();
  return true;
}

template <int D>
void BodyLaw<D>::look_at_row(std::size_t k, Piece& piece) {
  JudgedRow<D>& one = trial_.rows[k];
  RowMeasure& found = trial_.measures[k] = {};
  found.a = trial_.is_free(one.row.body_a) ? one.row.body_a : -1;
  found.b = trial_.is_free(one.row.body_b) ? one.row.body_b : -1;
  found.pushes = one.impulse[0] > 0.0;
  found.bounces = !one.law->looks_ahead();
  measure(one, found);
  measure_works(one, found);
  if (trial_.level == Level::Bounded) found.closes = closes(one);
  if (found.closes) piece.fastest = std::max(piece.fastest, found.comes);
  if (found.off > 0.0 || found.pushes) found.power = CreepCounts::place_of(found.creep);
  piece.deepest = std::max(piece.deepest, -one.row.gap);
  if (-one.row.gap > piece.sunk.depth) piece.sunk.merge(trial_.sunk_of(one.row));
  piece.pushes += found.pushes ? 1 : 0;
  piece.has_ghosts = piece.has_ghosts || pushes_early(trial_, one);
  if (piece.fault.is_there()) return;
  piece.fault = check_cone(one);
  if (!piece.fault.is_there()) piece.fault = check_turning(one);
  piece.fault.at = k;
}

/// e of a row that comes together with its velocity before.
template <int D>
double BodyLaw<D>::returned(const JudgedRow<D>& one) const {
  return trial_.gains().returned(*one.law, one.row, -one.before[0]);
}

/// The speed at which it met, before places were put back.
template <int D>
double BodyLaw<D>::met(const JudgedRow<D>& one) const {
  const double approach = -one.before[0];
  if (trial_.unshifted.empty()) return approach;
  const body::Row<D>& row = one.row;
  const double gap = shape::gap_of(
      trial_.world.solid(row.key.a).shape, trial_.unshifted[index(row.body_a)],
      trial_.world.solid(row.key.b).shape, trial_.unshifted[index(row.body_b)], row.key.feature);
  return trial_.gains().met(row, approach, gap < 0.0 ? row.gap - gap : 0.0);
}

/// û, rho and the distance from the law; |F| less what rounding of velocities and gaps makes of it.
template <int D>
void BodyLaw<D>::measure(JudgedRow<D>& one, RowMeasure& found) const {
  const body::Row<D>& row = one.row;
  const std::size_t a = index(row.body_a);
  const std::size_t b = index(row.body_b);
  const Parts<D> parts(row);
  one.before = parts(Vec<D>(body::velocity_at(trial_.middle[a], row.arm_a) -
                            body::velocity_at(trial_.middle[b], row.arm_b)));
  one.after = parts(Vec<D>(body::velocity_at(trial_.middle_after[a], row.arm_a) -
                           body::velocity_at(trial_.middle_after[b], row.arm_b)));
  Vec<D> forced = one.before;
  double trace = 0.0;
  const Vec<D> g = parts(Vec<D>(trial_.gravity * trial_.h));
  for (const bool of_a : {true, false}) {
    const std::size_t i = of_a ? a : b;
    const BodyFact& fact = trial_.facts[i];
    if (!fact.is_free()) continue;
    const Vec<D>& arm = of_a ? row.arm_a : row.arm_b;
    trace += D / fact.mass + (D == 3 && fact.is_even
                                  ? 2.0 * arm.squaredNorm() / fact.moment
                                  : turning_trace(trial_.world.bodies[i], trial_.middle[i], arm));
    forced += (of_a ? 1.0 : -1.0) * g;
  }
  const double rho = D / trace;
  const double mu = one.law->friction;
  const double e = one.law->looks_ahead() ? 0.0 : returned(one);
  const bool is_ahead =
      one.law->looks_ahead() ||
      (row.gap > row.slack && (body::Gains<D>::lands(e) || !trial_.is_put(row.key)));
  const double shifted =
      is_ahead ? way_of(row.gap, row.slack, trial_.level, trial_.h, trial_.creep_limit) / trial_.h
               : -e * (e > 0.0 ? met(one) : -one.before[0]);
  const auto lifted = [&](Vec<D> u) {
    u[0] += shifted + mu * slip_of(u);
    return u;
  };
  const auto [ends, distance, rolls] = end_of(one, rho, shifted);
  const double place =
      8.0 * kRoundoff *
      (trial_.paces[a].place + trial_.paces[b].place + row.arm_a.norm() + row.arm_b.norm());
  double rounding = 32.0 * kRoundoff * (trial_.paces[a].speeds + trial_.paces[b].speeds);
  if (is_ahead && row.gap > -place) rounding += place / trial_.h;
  if (rolls) rounding += 4.0 * place / trial_.h;  // gaps of two places, turned
  const double size = one.impulse.norm();
  found.off = std::max(0.0, distance - rho * rounding);
  found.free = length_of(lifted(forced));
  found.size = size;
  found.scale = std::max(size, rho * found.free);
  found.unresolved = found.off * length_of(ends) + size * found.off / rho;
  found.creep = found.off / rho;
  if (one.law->resists_turning()) measure_turning(one, found);
}

/// û at the end of a step, for a row that rolls where it is then, and how far the impulse is from
/// the law there.
template <int D>
typename BodyLaw<D>::End BodyLaw<D>::end_of(const JudgedRow<D>& one, double rho,
                                            double shifted) const {
  const double mu = one.law->friction;
  const auto end_with = [&](Vec<D> u, bool rolls) -> End {
    u[0] += shifted + mu * slip_of(u);
    Vec<D> z;
    for (int k = 0; k < D; ++k) z[k] = one.impulse[k] - rho * u[k];
    Vec<D> off = nearest_in_cone<D>(mu, z);
    for (int k = 0; k < D; ++k) off[k] = one.impulse[k] - off[k];
    return {u, length_of(off), rolls};
  };
  const body::Row<D>& row = one.row;
  const bool may_roll =
      one.law->looks_ahead() && !(trial_.is_free(row.body_a) && trial_.is_free(row.body_b));
  if (!may_roll || !trial_.world.rolls(row.key)) return end_with(one.after, false);
  const End there = end_with(one.after + bend_of(row), true);
  if (!shape::is_on_rim(row.key.feature)) return there;
  const double turn = body::rim_turn(trial_.world, row, trial_.before->bodies, trial_.middle,
                                     trial_.h, trial_.gravity_step);
  const bool is_steady = turn < body::kMostRimTurn;
  const bool may_both = std::abs(turn / body::kMostRimTurn - 1.0) < 1e-6;  // rounding decides
  if (shape::is_lowest_of_rim(row.key.feature)) {
    const End here = end_with(one.after, false);
    return (may_both ? there.distance < here.distance : is_steady) ? there : here;
  }
  const bool is_idle = (is_steady || may_both) && one.impulse == Vec<D>::Zero();
  return is_idle ? End{there.velocity, 0.0, true} : there;  // the lowest point holds it
}

/// What a row that rolls on a half-space has at the end of the step, its gap at the next middle and
/// the velocity of its particle, less what is linear at this middle.
template <int D>
Vec<D> BodyLaw<D>::bend_of(const body::Row<D>& row) const {
  Vec<D> bend = Vec<D>::Zero();
  if constexpr (D == 3) {
    const bool of_a = trial_.world.body(row.body_a).is_free();
    const std::size_t i = index(of_a ? row.body_a : row.body_b);
    const body::Motion<D>& end = trial_.after->bodies[i];
    const auto look = [&](const body::Motion<D>& there, Vec<D>& on) {
      Vec<D> normal;
      Vec<D> other;
      const shape::Pose<D> pose = body::pose_of(trial_.world.bodies[i], there);
      return shape::gap_of(
          trial_.world.solid(row.key.a).shape, of_a ? pose : trial_.poses[index(row.body_a)],
          trial_.world.solid(row.key.b).shape, of_a ? trial_.poses[index(row.body_b)] : pose,
          row.key.feature, &normal, of_a ? &on : &other, of_a ? &other : &on);
    };
    Vec<D> particle;
    body::Motion<D> next = end;
    next.x += 0.5 * trial_.h * end.v;
    turn(next, 0.5 * trial_.h * end.spin);
    const double gap = look(next, particle);
    look(end, particle);
    const Vec<D> then = end.v + end.spin.cross(particle - end.x);
    const Vec<D> now =
        trial_.middle_after[i].v + trial_.middle_after[i].spin.cross(of_a ? row.arm_a : row.arm_b);
    const double sign = of_a ? 1.0 : -1.0;
    bend = sign * body::in_frame(row, Vec<D>(then - now));
    bend[0] = (gap - row.gap) / trial_.h - sign * row.normal.dot(now);
  }
  return bend;
}

/// The law of rolling friction: spins count as velocities L w of particles of the smaller free
/// body, L its reach, and moments as impulses m/L.
template <int D>
void BodyLaw<D>::measure_turning(const JudgedRow<D>& one, RowMeasure& found) const {
  const std::size_t a = index(one.row.body_a);
  const std::size_t b = index(one.row.body_b);
  double length = std::numeric_limits<double>::infinity();
  double trace = 0.0;
  for (const std::size_t i : {a, b}) {
    if (!trial_.world.bodies[i].is_free()) continue;
    length = std::min(length, trial_.world.bodies[i].reach);
    trace += spin_trace(trial_.world.bodies[i], trial_.middle[i]);
  }
  const double rho = body::kSpins<D> / (length * length * trace);
  const auto speed_of = [&](const std::vector<body::Motion<D>>& motions) {
    return length * (body::size_of(motions[a].spin) + body::size_of(motions[b].spin));
  };
  const Parted m = parted(one.row.normal, one.moment);
  const Parted w =
      parted(one.row.normal,
             body::Spin<D>(length * (trial_.middle_after[a].spin - trial_.middle_after[b].spin)));
  const Parted w_free = parted(
      one.row.normal, body::Spin<D>(length * (trial_.middle[a].spin - trial_.middle[b].spin)));
  const double rounding =
      32.0 * kRoundoff * (speed_of(trial_.middle) + speed_of(trial_.middle_after));
  const auto enter = [&](const Vec<3>& moment, const Vec<3>& speed, const Vec<3>& free,
                         double friction) {
    const double most = friction * one.impulse[0] / length;
    const double distance = distance_from_law(moment / length, speed, rho, most);
    const double defect = std::max(0.0, distance - rho * rounding);
    found.off = std::max(found.off, defect);
    found.creep = std::max(found.creep, defect / rho);
    found.scale = std::max({found.scale, moment.norm() / length, rho * free.norm()});
    found.free = std::hypot(found.free, free.norm());
    found.unresolved += defect * speed.norm() + moment.norm() / length * defect / rho;
  };
  const auto along = [](double about) { return Vec<3>(about, 0.0, 0.0); };
  const body::PairLaw& law = *one.law;
  if (law.rolling > 0.0) enter(m.rolls, w.rolls, w_free.rolls, law.rolling);
  if (law.spinning > 0.0) enter(along(m.about), along(w.about), along(w_free.about), law.spinning);
}

/// p . (U + U+)/2 of what pushes.
template <int D>
void BodyLaw<D>::measure_works(const JudgedRow<D>& one, RowMeasure& found) const {
  found.comes = -one.before[0];
  if (!found.pushes) return;
  const Vec<D> mean = 0.5 * (one.before + one.after);
  found.normal = one.impulse[0] * mean[0];
  found.tangential =
      one.impulse.template tail<D - 1>().dot(mean.template tail<D - 1>()) + work_of_turning(one);
}

/// m . (w + w+)/2 of rolling friction.
template <int D>
double BodyLaw<D>::work_of_turning(const JudgedRow<D>& one) const {
  const std::size_t a = index(one.row.body_a);
  const std::size_t b = index(one.row.body_b);
  const body::Spin<D> mean = 0.5 * (trial_.middle[a].spin - trial_.middle[b].spin +
                                    trial_.middle_after[a].spin - trial_.middle_after[b].spin);
  return power_of(one.moment, mean);
}

/// Whether a row touches at the middle or at the end of the step, as its bodies move.
template <int D>
bool BodyLaw<D>::closes(const JudgedRow<D>& one) const {
  const double open =
      trial_.h * std::max(trial_.creep_limit, trial_.limits.creep_part() * -one.before[0]);
  return one.row.gap <= trial_.depth_of(one.row.slack) ||
         one.row.gap + trial_.h * one.after[0] <= one.row.slack + open;
}

template <int D>
void BodyLaw<D>::sum_up() {
  const Quiet still = still_.all();
  deepest_ = still.deepest;
  fastest_ = 0.0;
  pushes_ = still.pushes;
  may_have_ghosts_ = false;
  sunk_ = {};
  for (const Piece& piece : pieces_.used()) {
    deepest_ = std::max(deepest_, piece.deepest);
    fastest_ = std::max(fastest_, piece.fastest);
    pushes_ += piece.pushes;
    sunk_.merge(piece.sunk);
    may_have_ghosts_ = may_have_ghosts_ || piece.has_ghosts;
  }
}

template class BodyLaw<2>;
template class BodyLaw<3>;

}  // namespace ricochet::certify
