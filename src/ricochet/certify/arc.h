#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ricochet/certify/energy.h"
#include "ricochet/certify/kinematics.h"
#include "ricochet/certify/law.h"

/// Motions from impact to impact. An arc is smooth, so that
///
///     u+ - u = int a dt,   q+ - q - h u = int (t+ - t) a dt,   a = M^-1 (Q - c + J^T r),
///
/// which is checked with Lobatto's rule at states that the judge finds itself: the ends, and
/// between them the polynomial of degree 5 through their positions, velocities and accelerations.
/// Its error enters a only, so that what is left is of the order h^7: no more than what arcs are
/// off by, of which the limit is a multiple.
namespace ricochet::certify {

/// Intervals in a row, each shorter than the one before, after which impacts can be infinitely
/// many.
inline constexpr int kShrinkingIntervals = 4;

inline void add_impact(double t, model::ImpactSeries& series) {
  const double interval = t - series.last;
  series.ratio = interval / series.interval;
  series.shrinking = series.count > 1 && series.ratio < 1.0 ? series.shrinking + 1 : 0;
  series.interval = interval;
  series.last = t;
  ++series.count;
}

/// The sum of the geometric series of intervals to come.
inline double limit_of(const model::ImpactSeries& series) {
  return series.last + series.interval * series.ratio / (1.0 - series.ratio);
}

/// What is remembered of arcs and impacts, and the arc under judgement.
template <int Q, int N>
struct ArcMemory : model::JudgeMemory::Arcs {
  std::array<Vector<Q>, kArcNodes> q{};
  std::array<Vector<N>, kArcNodes> u{};
  std::array<Vector<N>, kArcNodes> a{};
};

template <model::Model M>
using ArcsOf = ArcMemory<M::kPlaces, M::kDofs>;

template <model::Model M>
double arc_limit(const Context<M>& c) {
  return c.limits.arc * c.method.accuracy;
}

/// Reactions at a node push, and only where the node touches; no wall is crossed there.
template <model::Model M>
void check_arc_contacts(Context<M>& c, Trial<M>& s, const ArcsOf<M>& arc, int node, double t) {
  const auto i = static_cast<std::size_t>(node);
  const auto reaction = [&](int a) {
    return s.claim.reactions != nullptr ? (*s.claim.reactions)[i][a] : 0.0;
  };
  c.listed.clear();
  c.model.gaps(t, arc.q[i], c.place);
  for (int a = 0; a < c.model.contacts(); ++a) {
    const double gap = c.place.gap[a];
    if (std::isnan(gap)) return c.fail(Failure::NotFinite, t, a);
    if (reaction(a) != 0.0 || (gap < 0.0 && c.model.exists(a, c.place))) c.listed.push(a);
  }
  if (c.listed.empty()) return;
  c.model.gradients(c.listed, c.place);
  for (const int a : c.listed) {
    const double gap = c.place.gap[a];
    const double size = std::max(arc.gap_size, c.place.normals.norm(a) * arc.q_size);
    const double allowed = arc_limit(c) * size;
    if (!(reaction(a) >= 0.0)) c.fail(Failure::Law, t, a, reaction(a));
    if (!(gap >= -allowed)) {
      c.fail(c.place.normals.norm(a) > 0.0 ? Failure::ActiveSet : Failure::Degenerate, t, a, gap);
    }
    if (reaction(a) == 0.0) continue;
    if (!(gap <= allowed)) c.fail(Failure::ActiveSet, t, a, gap);
    if (std::find(c.held.begin(), c.held.end(), a) == c.held.end()) c.held.push(a);
  }
}

/// a = M^-1 (Q - c + J^T r) at a node, and what forces and reactions do there.
template <model::Model M>
bool accelerate(Context<M>& c, Trial<M>& s, ArcsOf<M>& arc, int node) {
  const auto i = static_cast<std::size_t>(node);
  const double t = s.before.t + kArcPoints[i] * s.h;
  const double weight = s.h * kArcWeights[i];
  if (!c.model.load_mass(arc.q[i], c.place)) c.fail(Failure::SingularMass, t);
  check_arc_contacts(c, s, arc, node, t);
  if (!c.certificate.ok()) return false;
  model::applied_force(c.model, t, arc.q[i], arc.u[i], c.place, s.momentum);
  s.work = s.momentum;
  if (!c.has_constant_mass()) c.model.force(t, arc.q[i], arc.u[i], c.place, s.work);
  s.force_work += weight * arc.u[i].dot(s.work);
  for (const int a : c.listed) {
    if (s.claim.reactions == nullptr) break;
    const double r = (*s.claim.reactions)[i][a];
    c.place.normals.add_to(a, r, s.momentum);
    s.contact_work += weight * r * c.place.normals.dot(a, arc.u[i]);
  }
  c.model.mass(c.place).solve(s.momentum, arc.a[i]);
  return true;
}

/// Position and velocity at a node inside, by the polynomial of degree 5 that has the positions,
/// velocities and accelerations of both ends. Where the arc is so short that its way is rounding,
/// velocities are those of degree 3 that have the velocities and accelerations.
template <model::Model M>
void look_along_arc(Context<M>& c, Trial<M>& s, ArcsOf<M>& arc, std::size_t i) {
  constexpr std::size_t kEnd = kArcNodes - 1;
  const double h = s.h, x = kArcPoints[i], y = 1.0 - x;
  const auto &u0 = arc.u[0], &u1 = arc.u[kEnd], &a0 = arc.a[0], &a1 = arc.a[kEnd];
  const auto value = [](double z) { return z * z * z * (10.0 + z * (-15.0 + 6.0 * z)); };
  const auto slope = [](double z) { return z * z * z * (-4.0 + z * (7.0 - 3.0 * z)); };
  const auto bend = [](double z) { return 0.5 * z * z * z * (1.0 + z * (-2.0 + z)); };
  const auto d_value = [](double z) { return z * z * (30.0 + z * (-60.0 + 30.0 * z)); };
  const auto d_slope = [](double z) { return z * z * (-12.0 + z * (28.0 - 15.0 * z)); };
  const auto d_bend = [](double z) { return 0.5 * z * z * (3.0 + z * (-8.0 + 5.0 * z)); };
  c.model.difference(arc.q[kEnd], arc.q[0], s.work);
  const double rounding = kEpsilon * (arc.q[0].norm() + arc.q[kEnd].norm());
  if (rounding > 1e-13 * s.work.norm()) {
    arc.u[i] =
        y * y * (1.0 + 2.0 * x) * u0 + x * x * (1.0 + 2.0 * y) * u1 + h * x * y * (y * a0 - x * a1);
  } else {
    arc.u[i] = d_value(x) / h * s.work + d_slope(x) * u1 + d_slope(y) * u0 +
               h * (d_bend(x) * a1 - d_bend(y) * a0);
  }
  s.work = value(x) * s.work + h * (slope(x) * u1 - slope(y) * u0) +
           h * h * (bend(x) * a1 + bend(y) * a0);
  c.model.advance(arc.q[0], s.work, 1.0, arc.q[i]);
}

template <model::Model M>
[[gnu::noinline]] void check_arc(Context<M>& c, Trial<M>& s, ArcsOf<M>& arc, EnergyWatch& energy) {
  check_time(c, s, s.h);
  if (!s.claim.active.empty()) return c.fail(Failure::ActiveSet, s.before.t);
  constexpr std::size_t kEnd = kArcNodes - 1;
  c.held.clear();
  arc.q[0] = s.before.q;
  arc.u[0] = s.before.u;
  arc.q[kEnd] = s.after.q;
  arc.u[kEnd] = s.after.u;
  arc.q_size = std::max({arc.q_size, arc.q[0].norm(), arc.q[kEnd].norm(), s.h * arc.u[0].norm()});
  if (!accelerate(c, s, arc, 0) || !accelerate(c, s, arc, kArcNodes - 1)) return;
  for (std::size_t i = 1; i < kEnd; ++i) {
    look_along_arc(c, s, arc, i);
    if (!accelerate(c, s, arc, static_cast<int>(i))) return;
  }
  s.force = s.after.u - s.before.u;
  c.model.difference(s.after.q, s.before.q, s.momentum);
  s.momentum -= s.h * s.before.u;
  for (std::size_t i = 0; i < kArcNodes; ++i) {
    s.force -= s.h * kArcWeights[i] * arc.a[i];
    s.momentum -= s.h * s.h * kArcWeights[i] * (1.0 - kArcPoints[i]) * arc.a[i];
  }
  arc.u_size = std::max({arc.u_size, arc.u[0].norm(), arc.u[kEnd].norm(), s.h * arc.a[0].norm()});
  const double tiny = std::numeric_limits<double>::min();
  const double off_u = s.force.norm() / (arc.u_size + tiny);
  const double off_q = s.momentum.norm() / (arc.q_size + tiny);
  if (!(off_u <= arc_limit(c))) c.fail(Failure::Balance, s.before.t, -1, off_u);
  if (!(off_q <= arc_limit(c))) c.fail(Failure::Kinematics, s.before.t, -1, off_q);
  s.arc = std::max(off_u, off_q);
  c.model.momentum(s.after.q, s.after.u, c.place, s.end_momentum, s.slope);
  s.kinetic = 0.5 * s.after.u.dot(s.end_momentum);
  c.model.mass(c.place).apply(arc.a[0], s.force);  // the first arc sets the scale of the energy
  check_energy<false>(c, s, energy);
}

/// How near a gap is to zero at an impact whose time was found.
template <model::Model M>
double touching_gap(const Context<M>& c, const ArcsOf<M>& arc) {
  const double size = std::max(c.limits.touching * arc.gap_size, c.limits.touching_gap);
  return std::max(size, std::numeric_limits<double>::min());
}

/// Contacts that are struck touch; those that are not are open, or do not approach.
template <model::Model M>
void check_struck(Context<M>& c, Trial<M>& s, ArcsOf<M>& arc) {
  const auto& active = s.claim.active;
  const auto& normals = c.place.normals;
  c.listed.clear();
  for (int a = 0; a < c.model.contacts(); ++a) c.listed.push(a);
  c.model.gradients(c.listed, c.place);
  int next = 0;
  for (int a = 0; a < c.model.contacts(); ++a) {
    const bool listed = next < active.size() && active[next] == a;
    if (listed) ++next;
    const double gap = c.place.gap[a];
    if (std::isnan(gap)) return c.fail(Failure::NotFinite, s.t_contact, a);
    const double U = normals.dot(a, s.after.u) + c.place.rate[a];
    if (listed) arc.gap_size = std::max(arc.gap_size, normals.abs_dot(a, s.before.q));
    // Walls that move are met to the rounding of t.
    const double speed = std::abs(normals.dot(a, s.before.u) + c.place.rate[a]);
    const double near =
        std::max(touching_gap(c, arc), 8.0 * kEpsilon * std::abs(s.before.t) * speed);
    const bool exists = c.model.exists(a, c.place);
    const double lost = 32.0 * kEpsilon * normals.norm(a) * (s.before.u.norm() + s.after.u.norm());
    const bool enters = gap <= 0.0 && U < -lost;
    if (!exists ? listed : (listed ? gap > near : gap < -near || enters)) {
      c.fail(Failure::ActiveSet, s.t_contact, a, gap);
    }
  }
  if (next != active.size()) c.fail(Failure::ActiveSet, s.t_contact);
}

/// Speed of approach in the kinetic norm.
template <model::Model M>
double impact_speed(Context<M>& c, Trial<M>& s, int a) {
  const double W =
      model::delassus(c.place.normals, a, c.model.mass(c.place), s.start_momentum, s.work);
  const double U = c.place.normals.dot(a, s.before.u) + c.place.rate[a];
  return W > 0.0 ? std::max(0.0, -U) / std::sqrt(W) : 0.0;
}

/// Infinitely many impacts end only where their intervals shrink and the last are slow.
template <model::Model M>
int find_accumulation(Context<M>& c, Trial<M>& s, const ArcsOf<M>& arc) {
  for (const int a : s.claim.active) {
    model::ImpactSeries series = arc.impacts[static_cast<std::size_t>(a)];
    add_impact(s.before.t, series);
    const double speed = impact_speed(c, s, a);
    if (series.shrinking >= kShrinkingIntervals && speed <= c.limits.rest * arc.fastest) return a;
  }
  return -1;
}

/// M (u+ - u) = J^T p at an instant, p by the law of the contacts.
template <model::Model M>
[[gnu::noinline]] void check_impact(Context<M>& c, Trial<M>& s, ArcsOf<M>& arc,
                                    EnergyWatch& energy) {
  s.t_contact = s.before.t;
  s.cone_point = &s.before.q;
  c.held.clear();
  if (s.after.t != s.before.t || s.h != 0.0 || s.after.q != s.before.q) {
    return c.fail(Failure::Kinematics, s.before.t);
  }
  if (!c.model.load_mass(s.before.q, c.place)) return c.fail(Failure::SingularMass, s.before.t);
  s.force.setZero();
  s.momentum.setZero();
  s.free = s.before.u;
  c.model.gaps(s.t_contact, s.before.q, c.place);
  check_struck(c, s, arc);
  if (!c.certificate.ok()) return;
  if (s.claim.piece == Piece::Rest) {
    const int a = find_accumulation(c, s, arc);
    if (a < 0) return c.fail(Failure::Law, s.before.t);
    s.restitution = 0.0;
  }
  check_contacts(c, s);
  c.model.mass(c.place).apply(s.before.u, s.start_momentum);
  c.model.mass(c.place).apply(s.after.u, s.end_momentum);
  s.kinetic = 0.5 * s.after.u.dot(s.end_momentum);
  const double error = (s.end_momentum - s.start_momentum - s.momentum).cwiseAbs().sum();
  const double size = s.start_momentum.cwiseAbs().sum() + s.end_momentum.cwiseAbs().sum();
  const double rounding = 16.0 * kEpsilon * size + problem::Residual::kSmallest;
  if (error > rounding || std::isnan(error)) {
    const double scale =
        (s.end_momentum - s.start_momentum).cwiseAbs().sum() + s.momentum.cwiseAbs().sum();
    take_error(c, s, (error - rounding) / scale, Failure::Balance, c.limits.balance);
  }
  check_energy<false>(c, s, energy);
}

/// Once an arc or an impact holds.
template <model::Model M>
void enter_arc(Context<M>& c, Trial<M>& s, ArcsOf<M>& arc) {
  for (int a = 0; a < c.model.contacts(); ++a) {
    arc.gap_size = std::max(arc.gap_size, std::abs(c.end_place.gap[a]));
  }
  c.certificate.arc_max = std::max(c.certificate.arc_max, s.arc);
  if (s.claim.piece == Piece::Arc) return;
  if (s.claim.piece == Piece::Rest) {
    const int a = find_accumulation(c, s, arc);
    model::ImpactSeries& series = arc.impacts[static_cast<std::size_t>(a)];
    add_impact(s.before.t, series);
    c.certificate.zeno_time = limit_of(series);
    ++c.certificate.zeno_count;
    series = {};
    return;
  }
  for (int k = 0; k < s.claim.active.size(); ++k) {
    if (!(s.claim.impulses[k] > 0.0)) continue;
    const int a = s.claim.active[k];
    add_impact(s.before.t, arc.impacts[static_cast<std::size_t>(a)]);
    arc.fastest = std::max(arc.fastest, impact_speed(c, s, a));
  }
}

}  // namespace ricochet::certify
