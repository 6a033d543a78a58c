#pragma once

#include "ricochet/body/world.h"

/// What joints ask of the places and velocities of their two bodies.
namespace ricochet::body {

/// One number of a joint, a gap that is held at 0 or the coordinate, and how it changes:
///
///     rate = along · (v_b − v_a) + turn_b · ω_b − turn_a · ω_a ;
///
/// an impulse p of the row is p along on b, with the moment p turn_b, and the opposite on a.
template <int D>
struct JointRow {
  double gap{0.0};
  Vec<D> along = Vec<D>::Zero();
  Spin<D> turn_a = Motion<D>{}.spin;
  Spin<D> turn_b = Motion<D>{}.spin;
  double size{0.0};  // of the numbers that the gap is made of: its rounding is a part of them
};

/// All rows of a joint at some places; the first Joint::rows() of `held` count.
template <int D>
struct JointRows {
  std::array<JointRow<D>, 6> held;
  JointRow<D> free;  // gap is the coordinate; a ball and a weld have none
};

JointRows<2> rows_of(const Joint<2>& joint, const Motion<2>& a, const Motion<2>& b);
JointRows<3> rows_of(const Joint<3>& joint, const Motion<3>& a, const Motion<3>& b);

inline double dot(double one, double other) { return one * other; }
inline double dot(const Vec<3>& one, const Vec<3>& other) { return one.dot(other); }

template <int D>
double rate_of(const JointRow<D>& row, const Motion<D>& a, const Motion<D>& b) {
  return row.along.dot(b.v - a.v) + dot(row.turn_b, b.spin) - dot(row.turn_a, a.spin);
}

/// The way between two values of a coordinate: angles of hinges in space are known up to turns.
template <int D>
double coordinate_way(const Joint<D>& joint, double from, double to) {
  constexpr double kTurn = 6.283185307179586;
  const bool wraps = D == 3 && joint.kind == JointKind::Hinge;
  return wraps ? std::remainder(to - from, kTurn) : to - from;
}

/// What counts as holding: some hundred roundings.
template <int D>
double slack_of(const JointRow<D>& row) {
  return 256.0 * std::numeric_limits<double>::epsilon() * row.size;
}

/// The same of its limits: what is nearer touches.
template <int D>
double limit_slack(const JointRow<D>& free) {
  return 1e-9 * free.size;
}

/// A limit as a row whose gap is the way to it; along it from there to the inside.
template <int D>
JointRow<D> limit_of(const Joint<D>& joint, const JointRow<D>& free, bool is_low) {
  JointRow<D> inside = free;
  inside.gap = is_low ? free.gap - joint.low : joint.high - free.gap;
  if (is_low) return inside;
  inside.along = -free.along;
  inside.turn_a = -free.turn_a;
  inside.turn_b = -free.turn_b;
  return inside;
}

/// When a limit that is apart is reached, by velocities before and h g alone; infinity: never.
template <int D>
double time_to_limit(const World<D>& world, const Joint<D>& joint, const JointRow<D>& limit,
                     const Vec<D>& given, const std::vector<Motion<D>>& before) {
  double rate = rate_of(limit, before[static_cast<std::size_t>(joint.a)],
                        before[static_cast<std::size_t>(joint.b)]);
  if (world.body(joint.a).is_free()) rate -= limit.along.dot(given);
  if (world.body(joint.b).is_free()) rate += limit.along.dot(given);
  const double way = std::max(0.0, limit.gap - limit_slack(limit));
  return rate < 0.0 ? way / -rate : std::numeric_limits<double>::infinity();
}

}  // namespace ricochet::body
