#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <variant>
#include <vector>

#include "ricochet/certify/energy.h"
#include "ricochet/certify/flight_rule.h"
#include "ricochet/certify/kinematics.h"
#include "ricochet/certify/law.h"
#include "ricochet/model/arc_sizes.h"
#include "ricochet/model/chord.h"
#include "ricochet/model/flight.h"
#include "ricochet/model/gap_path.h"

/// Arcs under judgement, and what is looked at in each place of one.
namespace ricochet::certify {

/// What is remembered of arcs and impacts, and the arc under judgement.
template <model::Model M>
struct ArcMemory : model::JudgeMemory::Arcs {
  using Vec = Vector<M::kDofs>;
  static constexpr std::size_t kNodes = FlightRule::kNodes + FlightRule::kBetween;
  std::array<Vector<M::kPlaces>, kNodes> q;
  std::array<Vec, kNodes> u;
  std::array<Vec, kNodes> a;
  Vec force;              // Q - c at the start
  model::ArcSizes known;  // with the arc
  model::ArcPath<M> path;
  model::GapSweep<M> sweep;
  model::Chord<M> chord;
  model::GapBends<M> bends;
  Vector<M::kContacts> bend;
  bool decided{true};  // no wall could have been stepped over
  bool flies{false};   // the model may have flights
  bool flew{false};    // the last arc was one

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
    if constexpr (model::HasFormulas<M>) flies = model::has_flights(model.formulas());
  }
};

/// Whether motions of the model may go from impact to impact: scenes that do are run at any size,
/// and structures never do.
template <model::Model M>
inline constexpr bool kLocates =
    !model::ImplicitModel<M> && !(model::HasFormulas<M> && M::kDofs != kDynamic);

template <model::Model M>
using ArcsOf = std::conditional_t<kLocates<M>, std::unique_ptr<ArcMemory<M>>, std::monostate>;

/// None where the method locates no impacts.
template <model::Model M>
ArcsOf<M> open_arcs(Context<M>& c, const model::StateOf<M>& start) {
  if (!is_located(c.method.integrator)) return nullptr;
  if (!is_split(c.method.integrator)) {
    c.certificate.arc_limit = c.limits.arc * c.method.accuracy;
  }
  return std::make_unique<ArcMemory<M>>(c.model, start);
}

/// What an arc may be off by, relative: so many times what the scene states; of a flight, that.
template <model::Model M>
double arc_limit(const Context<M>& c, const ArcMemory<M>& arc) {
  return (arc.flew ? 1.0 : c.limits.arc) * c.method.accuracy;
}

/// How far from zero a gap may be along an arc: what positions may be off by. Gaps of contacts that
/// last along affine velocities drift where the ways of pieces are near rounding.
template <model::Model M>
double allowed_gap(const Context<M>& c, const ArcMemory<M>& arc, int a) {
  const double part = (is_split(c.method.integrator) ? 1e3 : 1.0) * c.limits.touching;
  const double rounding = part * model::gap_size(c.place.normals, a, arc.known);
  return arc_limit(c, arc) * model::reach(c.place.normals, a, arc.known.q) + rounding;
}

/// A velocity that is kept at 0 is so at the ends of an arc; between them the path is known less
/// well than the motion, and its acceleration is checked.
template <model::Model M>
void check_arc_roll(Context<M>& c, const ArcMemory<M>& arc, int node, double t, int a) {
  const auto i = static_cast<std::size_t>(node);
  if (i > 0 && i + 1 < kArcNodes) return;
  const double v = velocity_of(c.place, a, arc.u[i]);
  const double size = model::reach(c.place.normals, a, arc.known.u) + std::abs(c.place.rate[a]);
  if (!(std::abs(v) <= (arc_limit(c, arc) + 64.0 * kEpsilon) * size)) c.fail(Failure::Law, t, a, v);
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

/// a = M^-1 (Q - c + J^T r) at a node, that part of the arc, and what forces and reactions do
/// there. The first node sets the sizes.
template <model::Model M>
bool accelerate(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc, std::size_t i, double part,
                double weight) {
  const auto node = static_cast<int>(i);
  const double t = s.before.t + part * s.h;
  weight *= s.h;
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
  if (!c.has_constant_mass()) c.model.force(t, arc.q[i], arc.u[i], c.place, s.work);
  s.force_work += weight * arc.u[i].dot(c.has_constant_mass() ? s.momentum : s.work);
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

}  // namespace ricochet::certify
