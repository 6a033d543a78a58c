#include "ricochet/certify/body_trial.h"
#include "ricochet/certify/body_turning.h"

#include <fmt/format.h>

#include <cmath>

namespace ricochet::certify {

using base::index;

template <int D>
BodyTrial<D>::BodyTrial(const body::World<D>& of, const Limits& allowed, const State& start)
    : world(of),
      limits(allowed),
      mixes_restitution(of.mixes_restitution()),
      needs_gains(body::needs_gains(of)),
      exists(of.bodies.size(), 1),
      speed(of.bodies.size(), 0.0),
      top_speed(of.bodies.size(), 0.0),
      reach(of.bodies.size(), 0.0),
      is_ready(of.bodies.size(), 0),
      middle(of.bodies.size()),
      middle_after(of.bodies.size()),
      poses(of.bodies.size()),
      paces(of.bodies.size()),
      from(of.bodies.size()),
      shift(of.bodies.size()),
      shift_rounding(of.bodies.size()),
      given(of.bodies.size()) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    const body::Body<D>& body = world.bodies[i];
    BodyFact& fact = facts.emplace_back();
    top_speed[i] = body::speed_bound(body, start.bodies[i]);
    fact.born = body.born;
    fact.mass = body.mass;
    fact.reach = body.reach;
    fact.size = body.size;
    fact.material = body.material;
    fact.kind = body.kind;
    fact.is_even = body.is_even;
    if constexpr (D == 2) fact.moment = body.inertia;
    if constexpr (D == 3) fact.moment = body.inertia(0, 0);
    fact.first = end;
    while (end < world.solids.size() && index(world.solids[end].body) == i) ++end;
    fact.end = end;
    if (fact.kind == body::Kind::Driven) driven.push_back(i);
    if (!body.is_free() || fact.end - fact.first != 1) continue;
    const shape::Shape<D>& shape = world.solids[fact.first].shape;
    fact.is_centred = shape.centre == body.centre && std::isfinite(shape.extent);
    const bool is_round = is_ball(shape) && shape.corners[0] == body::Vec<D>::Zero() &&
                          body.centre == body::Vec<D>::Zero();
    fact.turns = D == 2 || !is_round || !world.joints.empty();
  }
  for (const body::Solid<D>& solid : world.solids) {
    body_of.push_back(solid.body);
    extent.push_back(solid.shape.extent);
  }
}

template <int D>
bool BodyTrial<D>::begin(const State& from_here, const State& to, double step, Level law,
                         bool whole) {
  before = &from_here;
  after = &to;
  h = step;
  t_mid = before->t + 0.5 * h;
  gravity = world.gravity(t_mid);
  gravity_step = h * gravity.norm();
  level = law;
  creep_limit = limits.creep_limit(gravity_step);
  is_whole = whole;
  refusal = {};
  const double off = std::abs(after->t - before->t - h);
  const bool is_late = off > 8.0 * kRoundoff * (std::abs(after->t) + h) + 1e-12 * h;
  return !is_late || fail(Failure::Kinematics, t_mid);
}

template <int D>
SunkPair BodyTrial<D>::sunk_of(const body::Row<D>& row) const {
  constexpr double kMost = 4.0;        // times what bodies move in a step
  constexpr double kRounding = 100.0;  // times what counts as touching
  if (before->steps == 0 || !(-row.gap > kRounding * depth_of(row.slack))) return {};
  double way = 0.0;
  for (const int i : {row.body_a, row.body_b}) {
    const body::Body<D>& body = world.body(i);
    if (has_no_end(body) || body.born > before->t - 1.5 * h) return {};
    way += h * (body::speed_bound(body, middle[index(i)]) + gravity_step);
  }
  if (-row.gap <= kMost * way) return {};
  return {-row.gap, row.body_a, row.body_b};
}

template <int D>
bool BodyTrial<D>::fail(Failure failure, double t, double value) {
  if (refusal.failure == Failure::None) refusal = {failure, t, value, {}, {}};
  return false;
}

template <int D>
bool BodyTrial<D>::fail_at(Failure failure, double t, double value, const body::Row<D>& row) {
  return fail_between(failure, t, value, row.body_a, row.body_b);
}

template <int D>
bool BodyTrial<D>::fail_between(Failure failure, double t, double value, int body_a, int body_b) {
  fail(failure, t, value);
  refusal.where =
      fmt::format("between '{}' and '{}'", world.body(body_a).name, world.body(body_b).name);
  return false;
}

template <int D>
bool BodyTrial<D>::fail_body(Failure failure, double t, double value, std::size_t body) {
  fail(failure, t, value);
  refusal.where = fmt::format("of '{}'", world.bodies[body].name);
  return false;
}

template struct BodyTrial<2>;
template struct BodyTrial<3>;

}  // namespace ricochet::certify
