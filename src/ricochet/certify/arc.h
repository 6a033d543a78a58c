#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ricochet/certify/energy.h"
#include "ricochet/certify/kinematics.h"
#include "ricochet/certify/law.h"
#include "ricochet/model/arc_sizes.h"
#include "ricochet/model/chord.h"
#include "ricochet/model/gap_path.h"

/// Motions from impact to impact. An arc is smooth, so that
///
///     u+ - u = int a dt,   q+ - q - h u = int (t+ - t) a dt,   a = M^-1 (Q - c + J^T r),
///
/// which is checked with Lobatto's rule at states that the judge finds itself: the ends, and
/// between them the polynomial of degree 5 through their positions, velocities and accelerations.
/// Its error enters a only, so that what is left is of the order h^7: no more than what arcs are
/// off by, of which the limit is a multiple. Along the same polynomial every gap is bounded, so
/// that no wall is stepped over.
namespace ricochet::certify {

/// What is remembered of arcs and impacts, and the arc under judgement.
template <model::Model M>
struct ArcMemory : model::JudgeMemory::Arcs {
  using Vec = Vector<M::kDofs>;
  std::array<Vector<M::kPlaces>, kArcNodes> q;
  std::array<Vec, kArcNodes> u;
  std::array<Vec, kArcNodes> a;
  Vec force;              // Q - c at the start
  model::ArcSizes known;  // with the arc
  model::ArcPath<M> path;
  model::GapSweep<M> sweep;
  model::Chord<M> chord;
  model::GapBends<M> bends;
  Vector<M::kContacts> bend;
  bool decided{true};  // no wall could have been stepped over

  ArcMemory(const M& model, const model::StateOf<M>& start)
      : force(start.u),
        path(model, start.q, start.u),
        sweep(model, start.q, start.u),
        chord(model, start.q, start.u),
        bends(model, start.q),
        bend(Vector<M::kContacts>::Zero(model.contacts())) {
    static_cast<model::JudgeMemory::Arcs&>(*this) = start.memory.judge.arcs;
    impacts.resize(static_cast<std::size_t>(model.contacts()));
    model::grow(sizes, model, start.q, force);
    model::open_gaps(sizes, model, start.t, start.q);
    known = sizes;
    q.fill(start.q);
    u.fill(start.u);
    a.fill(start.u);
  }
};

template <model::Model M>
double arc_limit(const Context<M>& c) {
  return c.limits.arc * c.method.accuracy;
}

/// How far from zero a gap may be along an arc: what positions may be off by. Gaps of contacts that
/// last along affine velocities drift where the ways of pieces are near rounding.
template <model::Model M>
double allowed_gap(const Context<M>& c, const ArcMemory<M>& arc, int a) {
  const double part = (is_split(c.method.integrator) ? 1e3 : 1.0) * c.limits.touching;
  const double rounding = part * model::gap_size(c.place.normals, a, arc.known);
  return arc_limit(c) * model::reach(c.place.normals, a, arc.known.q) + rounding;
}

/// A velocity that is kept at 0 is so at the ends of an arc; between them the path is known less
/// well than the motion, and its acceleration is checked.
template <model::Model M>
void check_arc_roll(Context<M>& c, const ArcMemory<M>& arc, int node, double t, int a) {
  const auto i = static_cast<std::size_t>(node);
  if (i > 0 && i + 1 < kArcNodes) return;
  const double v = velocity_of(c.place, a, arc.u[i]);
  const double size = model::reach(c.place.normals, a, arc.known.u) + std::abs(c.place.rate[a]);
  if (!(std::abs(v) <= (arc_limit(c) + 64.0 * kEpsilon) * size)) c.fail(Failure::Law, t, a, v);
}

/// Reactions at a node push, and only where the node touches; no wall is crossed there. Joints are
/// kept, by reactions of either sign.
template <model::Model M>
void check_arc_contacts(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc, int node, double t) {
  const auto i = static_cast<std::size_t>(node);
  const auto reaction = [&](int a) {
    return s.claim.reactions != nullptr ? (*s.claim.reactions)[i][a] : 0.0;
  };
  c.listed.clear();
  c.model.gaps(t, arc.q[i], c.place);
  for (int a = 0; a < c.model.contacts(); ++a) {
    const double gap = c.place.gap[a];
    if (std::isnan(gap)) return c.fail(Failure::NotFinite, t, a);
    if (reaction(a) != 0.0 || a >= c.contacts() || (gap < 0.0 && c.model.exists(a, c.place))) {
      c.listed.push(a);
    }
  }
  if (c.listed.empty()) return;
  c.model.gradients(c.listed, c.place);
  for (const int a : c.listed) {
    const double gap = c.place.gap[a];
    const double allowed = allowed_gap(c, arc, a);
    if (a >= c.contacts()) {
      if (!(std::abs(gap) <= allowed)) c.fail(Failure::ActiveSet, t, a, gap);
      if (a >= c.first_roll()) check_arc_roll(c, arc, node, t, a);
      continue;
    }
    const double beyond = arc.sizes.beyond[static_cast<std::size_t>(a)];
    if (!(reaction(a) >= 0.0)) c.fail(Failure::Law, t, a, reaction(a));
    if (!(gap >= beyond - allowed)) {
      c.fail(c.place.normals.norm(a) > 0.0 ? Failure::ActiveSet : Failure::Degenerate, t, a, gap);
    }
    if (reaction(a) == 0.0) continue;
    if constexpr (M::kSlips > 0) {
      if (c.model.slips(a) > 0) c.fail(Failure::LastingFriction, t, a);
    }
    if (!(gap <= allowed) || !c.model.exists(a, c.place)) c.fail(Failure::ActiveSet, t, a, gap);
    if (std::find(c.held.begin(), c.held.end(), a) == c.held.end()) c.held.push(a);
  }
}

/// a = M^-1 (Q - c + J^T r) at a node, and what forces and reactions do there. The first node sets
/// the sizes.
template <model::Model M>
bool accelerate(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc, int node) {
  const auto i = static_cast<std::size_t>(node);
  const double t = s.before.t + kArcPoints[i] * s.h;
  const double weight = s.h * kArcWeights[i];
  if (!c.model.load_mass(arc.q[i], c.place)) {
    c.fail(Failure::SingularMass, t);
    return false;
  }
  model::applied_force(c.model, t, arc.q[i], arc.u[i], c.place, s.momentum);
  if (node == 0) {
    arc.known = arc.sizes;
    model::grow(arc.known, c.model, c.place, s.h, s.after.q, s.before.u, s.after.u, s.momentum,
                s.work, s.slope);
  }
  check_arc_contacts(c, s, arc, node, t);
  if (!c.certificate.ok()) return false;
  s.work = s.momentum;
  if (!c.has_constant_mass()) c.model.force(t, arc.q[i], arc.u[i], c.place, s.work);
  s.force_work += weight * arc.u[i].dot(s.work);
  for (const int a : c.listed) {
    if (s.claim.reactions == nullptr) break;
    const double r = (*s.claim.reactions)[i][a];
    c.place.normals.add_to(a, r, s.momentum);
    (a < c.contacts() ? s.contact_work : s.joint_work) +=
        weight * r * c.place.normals.dot(a, arc.u[i]);
  }
  c.model.mass(c.place).solve(s.momentum, arc.a[i]);
  return true;
}

/// No wall is met between the nodes by contacts that do not push.
template <model::Model M>
void check_between(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  c.listed.clear();
  for (int a = 0; a < c.model.contacts(); ++a) c.listed.push(a);
  c.model.gaps(s.after.t, s.after.q, c.place);
  c.model.gradients(c.listed, c.place);
  const auto crossing = arc.sweep.first(arc.path, [&](int a) {
    const bool pushes =
        a >= c.contacts() || std::find(c.held.begin(), c.held.end(), a) != c.held.end();
    return pushes ? -1.0 : allowed_gap(c, arc, a) - arc.sizes.beyond[static_cast<std::size_t>(a)];
  });
  arc.decided = crossing.decided;
  if (crossing.contact < 0) return;
  c.fail(Failure::ActiveSet, arc.path.time_at(crossing.to), crossing.contact);
}

template <model::Model M>
[[gnu::noinline]] void check_arc(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc,
                                 EnergyWatch& energy) {
  check_time(c, s, s.h);
  if (!s.claim.active.empty()) return c.fail(Failure::ActiveSet, s.before.t);
  constexpr std::size_t kEnd = kArcNodes - 1;
  c.held.clear();
  arc.q[0] = s.before.q;
  arc.u[0] = s.before.u;
  arc.q[kEnd] = s.after.q;
  arc.u[kEnd] = s.after.u;
  if (!accelerate(c, s, arc, 0) || !accelerate(c, s, arc, kArcNodes - 1)) return;
  arc.path.set(s.before.t, s.h, arc.q[0], arc.u[0], arc.a[0], arc.q[kEnd], arc.u[kEnd],
               arc.a[kEnd]);
  for (std::size_t i = 1; i < kEnd; ++i) {
    arc.path.at(kArcPoints[i], arc.q[i], arc.u[i]);
    if (!accelerate(c, s, arc, static_cast<int>(i))) return;
  }
  s.force = s.after.u - s.before.u;
  c.model.difference(s.after.q, s.before.q, s.momentum);
  s.momentum -= s.h * s.before.u;
  for (std::size_t i = 0; i < kArcNodes; ++i) {
    s.force -= s.h * kArcWeights[i] * arc.a[i];
    s.momentum -= s.h * s.h * kArcWeights[i] * (1.0 - kArcPoints[i]) * arc.a[i];
  }
  s.work.setZero();
  const double off_u = model::relative<Vector<M::kDofs>>(s.force, arc.known.u, s.work);
  model::difference_size(c.model, s.before.q, s.work);
  s.work *= 8.0 * kEpsilon;
  const double off_q = model::relative<Vector<M::kDofs>>(s.momentum, arc.known.q, s.work);
  if (!(off_u <= arc_limit(c))) c.fail(Failure::Balance, s.before.t, -1, off_u);
  if (!(off_q <= arc_limit(c))) c.fail(Failure::Kinematics, s.before.t, -1, off_q);
  if (!c.certificate.ok()) return;
  check_between(c, s, arc);
  s.arc = std::max(off_u, off_q);
  c.model.momentum(s.after.q, s.after.u, c.place, s.end_momentum, s.slope);
  s.kinetic = 0.5 * s.after.u.dot(s.end_momentum);
  c.model.mass(c.place).apply(arc.a[0], s.force);  // the first arc sets the scale of the energy
  check_energy<false>(c, s, energy);
}

/// How near a gap is to zero at an impact whose time was found: walls that move are met to the
/// rounding of t.
template <model::Model M>
double touching_gap(const Context<M>& c, const Trial<M>& s, const ArcMemory<M>& arc, int a) {
  const double speed = std::abs(c.place.normals.dot(a, s.before.u) + c.place.rate[a]);
  return std::max({c.limits.touching * model::gap_size(c.place.normals, a, arc.sizes),
                   c.limits.touching_gap, 32.0 * kEpsilon * std::abs(s.before.t) * speed,
                   std::numeric_limits<double>::min()});
}

/// Contacts that are struck touch; those that are not are open, or do not approach.
template <model::Model M>
void check_struck(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
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
    if (a >= c.contacts()) {
      if (!listed || !(std::abs(gap) <= allowed_gap(c, arc, a))) {
        c.fail(Failure::ActiveSet, s.t_contact, a, gap);
      }
      continue;
    }
    const double U = normals.dot(a, s.after.u) + c.place.rate[a];
    double near = touching_gap(c, s, arc, a);
    const auto key = static_cast<model::Key>(a);
    if (!c.touched.empty() && std::binary_search(c.touched.begin(), c.touched.end(), key)) {
      near = std::max(near, allowed_gap(c, arc, a));
    }
    const bool exists = c.model.exists(a, c.place);
    const double lost = 32.0 * kEpsilon * normals.norm(a) * (s.before.u.norm() + s.after.u.norm());
    const bool enters = gap <= 0.0 && U < -lost;
    const double beyond = arc.sizes.beyond[static_cast<std::size_t>(a)];
    const double deep = std::max(near, allowed_gap(c, arc, a)) - beyond;
    const bool far = (gap > near && !c.model.touches(a, c.place)) || gap < -deep;
    if (!exists ? listed : (listed ? far : gap < beyond - near || enters)) {
      c.fail(Failure::ActiveSet, s.t_contact, a, gap);
    }
  }
  if (next != active.size()) c.fail(Failure::ActiveSet, s.t_contact);
}

inline constexpr double kApproaches = 1e-12;  // of what a contact velocity is made of

/// The impacts of the contacts that approach are counted, in the kinetic norm; `count(a, series)`.
template <model::Model M, class Count>
void count_impacts(Context<M>& c, Trial<M>& s, const ArcMemory<M>& arc, Count&& count) {
  for (const int a : s.claim.active) {
    if (a >= c.contacts()) continue;
    const double W =
        model::delassus(c.place.normals, a, c.model.mass(c.place), s.start_momentum, s.work);
    const double approach = -(c.place.normals.dot(a, s.before.u) + c.place.rate[a]);
    const double size = std::max(c.place.normals.abs_dot(a, s.before.u),
                                 model::reach(c.place.normals, a, arc.sizes.u));
    if (!(approach > kApproaches * size) || !(W > 0.0)) continue;
    model::ImpactSeries series = arc.impacts[static_cast<std::size_t>(a)];
    series.add(s.before.t, approach / std::sqrt(W));
    count(a, series, approach);
  }
}

/// Where pieces have affine velocities: whether all further impacts of contact a would fall within
/// a step, or it is none of those that bounce.
template <model::Model M>
bool is_brief(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc, int a, double approach) {
  if (!is_split(c.method.integrator)) return false;
  if (!model::bounces(c.model, a)) return true;
  if (model::has_other_laws(c.model)) return false;
  const double time = s.before.memory.maker.step;
  model::applied_force(c.model, s.before.t, s.before.q, s.before.u, c.place, s.start_momentum);
  c.model.mass(c.place).solve(s.start_momentum, s.work);
  arc.bends.take(s.before.t, s.before.q, s.before.u, s.claim.active, time, arc.bend);
  const double closing = c.place.normals.dot(a, s.work) + arc.bend[a];
  return model::ends_within(c.model.restitution(a), (1.0 - 1e-9) * approach, closing, time);
}

/// Infinitely many impacts end only where all contacts that approach lose speed for good, in
/// intervals that shrank, and are slow by now. Where none approaches it does not matter.
template <model::Model M>
bool may_rest(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  bool all = true;
  count_impacts(c, s, arc, [&](int a, const model::ImpactSeries& series, double approach) {
    all = all && (series.accumulates(c.limits.rest) || is_brief(c, s, arc, a, approach)) &&
          model::loses_speed(c.model, a, s.before.t, s.before.q, s.before.u, approach, c.place);
  });
  return all;
}

/// M (u+ - u) = J^T p at an instant, p by the law of the contacts.
template <model::Model M>
[[gnu::noinline]] void check_impact(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc,
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
    if (!may_rest(c, s, arc)) return c.fail(Failure::Law, s.before.t);
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
void enter_arc(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  Certificate& known = c.certificate;
  known.arc_max = std::max(known.arc_max, s.arc);
  c.touched.clear();
  if (s.claim.piece == Piece::Arc) {
    for (int k = 0; k < s.claim.active.size(); ++k) {
      if (s.claim.impulses[k] > 0.0)
        c.touched.push_back(static_cast<model::Key>(s.claim.active[k]));
    }
    arc.sizes = arc.known;
    model::follow_gaps(arc.sizes, c.end_place.gap);
    if (!arc.decided && known.undecided_crossings++ == 0) known.undecided_time = s.before.t;
    return;
  }
  const bool rests = s.claim.piece == Piece::Rest;
  count_impacts(c, s, arc, [&](int a, const model::ImpactSeries& series, double) {
    if (rests) known.zeno_time = series.limit();
    arc.impacts[static_cast<std::size_t>(a)] = rests ? model::ImpactSeries{} : series;
  });
  if (rests) ++known.zeno_count;
}

}  // namespace ricochet::certify
