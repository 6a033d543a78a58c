#pragma once

#include "ricochet/certify/flight.h"

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

/// What forces and reactions leave unexplained at the end of an arc, relative.
template <model::Model M>
void check_nodes(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  constexpr std::size_t kEnd = kArcNodes - 1;
  const auto take = [&](std::size_t i) {
    return accelerate(c, s, arc, i, kArcPoints[i], kArcWeights[i]);
  };
  arc.q[kEnd] = s.after.q;
  arc.u[kEnd] = s.after.u;
  if (!take(0) || !take(kEnd)) return;
  arc.path.set(s.before.t, s.h, arc.q[0], arc.u[0], arc.a[0], arc.q[kEnd], arc.u[kEnd],
               arc.a[kEnd]);
  for (std::size_t i = 1; i < kEnd; ++i) {
    arc.path.at(kArcPoints[i], arc.q[i], arc.u[i]);
    if (!take(i)) return;
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
  if (!(off_u <= arc_limit(c, arc))) c.fail(Failure::Balance, s.before.t, -1, off_u);
  if (!(off_q <= arc_limit(c, arc))) c.fail(Failure::Kinematics, s.before.t, -1, off_q);
  s.arc = std::max(off_u, off_q);
}

template <model::Model M>
[[gnu::noinline]] void check_arc(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc,
                                 EnergyWatch& energy) {
  check_time(c, s, s.h);
  if (!s.claim.active.empty()) return c.fail(Failure::ActiveSet, s.before.t);
  c.held.clear();
  arc.q[0] = s.before.q;
  arc.u[0] = s.before.u;
  arc.flew = s.claim.flight != nullptr;
  if constexpr (M::kPlaces == M::kDofs) {
    arc.flew ? check_flight(c, s, arc) : check_nodes(c, s, arc);
  } else {
    check_nodes(c, s, arc);
  }
  if (!c.certificate.ok()) return;
  check_between(c, s, arc);
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
