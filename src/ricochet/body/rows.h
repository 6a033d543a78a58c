#pragma once

#include "ricochet/body/world.h"

/// Velocities and impulses at the rows between bodies, and what impulses do to bodies.
namespace ricochet::body {

/// Velocity of the particle of a body at an arm from its mass centre.
inline Vec<2> velocity_at(const Motion<2>& m, const Vec<2>& arm) {
  return m.v + m.spin * Vec<2>(-arm[1], arm[0]);
}
inline Vec<3> velocity_at(const Motion<3>& m, const Vec<3>& arm) { return m.v + m.spin.cross(arm); }

/// arm × impulse.
inline double moment(const Vec<2>& arm, const Vec<2>& p) { return arm[0] * p[1] - arm[1] * p[0]; }
inline Vec<3> moment(const Vec<3>& arm, const Vec<3>& p) { return arm.cross(p); }

/// Columns n, t, t': right-handed, by a rule that is smooth but where n_z is slightly negative; not
/// at 0, where upright walls have it and rounding would decide.
inline shape::Mat<3> frame_of(const Row<3>& row) {
  const Vec<3>& n = row.normal;
  const double sign = n[2] < -1e-9 ? -1.0 : 1.0;
  const double a = -1.0 / (sign + n[2]);
  const double b = n[0] * n[1] * a;
  shape::Mat<3> frame;
  frame.col(0) = n;
  frame.col(1) = Vec<3>(1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]);
  frame.col(2) = Vec<3>(b, sign + n[1] * n[1] * a, -n[1]);
  return frame;
}

/// The parts (n, t) of a vector of space.
inline Vec<2> in_frame(const Row<2>& row, const Vec<2>& u) {
  const Vec<2> tangent(-row.normal[1], row.normal[0]);
  return {row.normal.dot(u), tangent.dot(u)};
}
inline Vec<3> in_frame(const Row<3>& row, const Vec<3>& u) { return frame_of(row).transpose() * u; }

/// Relative velocity of the two particles of a row, (n, t).
template <int D>
Vec<D> relative(const Row<D>& row, const Motion<D>& a, const Motion<D>& b) {
  const Vec<D> u = velocity_at(a, row.arm_a) - velocity_at(b, row.arm_b);
  return in_frame(row, u);
}

/// When a row that is apart touches, by velocities before and h g alone; infinity: never.
template <int D>
double time_to_touch(const World<D>& world, const Row<D>& row, const Vec<D>& given,
                     const std::vector<Motion<D>>& before) {
  const auto a = static_cast<std::size_t>(row.body_a);
  const auto b = static_cast<std::size_t>(row.body_b);
  Vec<D> u = velocity_at(before[a], row.arm_a) - velocity_at(before[b], row.arm_b);
  if (world.bodies[a].is_free()) u += given;
  if (world.bodies[b].is_free()) u -= given;
  const double closes = -row.normal.dot(u);
  const double way = std::max(0.0, row.gap - row.slack);
  return closes > 0.0 ? way / closes : std::numeric_limits<double>::infinity();
}

/// The angle by which the lowest point of a rim may go round it in a step, by the velocity at its
/// beginning and what the ground may give; 0 for rows of another kind. Up to kMostRimTurn the
/// lowest point rolls, and holds all of the rim; beyond, next to flat, it has no place of its own:
/// it is taken where it is at the middle, and fixed points of the rim act beside it.
template <int D>
double rim_turn(const World<D>& world, const Row<D>& row, const std::vector<Motion<D>>& start,
                const std::vector<Motion<D>>& middle, double h, double gh) {
  if constexpr (D == 3) {
    if (!shape::is_on_rim(row.key.feature)) return 0.0;
    const auto i =
        static_cast<std::size_t>(world.body(row.body_a).is_free() ? row.body_a : row.body_b);
    const Vec<3> axis = pose_of(world.bodies[i], middle[i]).R.col(2);
    const double falls = std::abs(row.normal.dot(start[i].v)) + gh;
    const double tilts = start[i].spin.cross(axis).norm() + falls / world.bodies[i].reach;
    const double steep = row.normal.cross(axis).norm();
    return h * tilts / std::max(steep, std::numeric_limits<double>::min());
  }
  return 0.0;
}
constexpr double kMostRimTurn = 0.1;  // [rad]

/// The impulse on a in space, of its parts (n, t).
inline Vec<2> in_space(const Row<2>& row, const Vec<2>& p) {
  return row.normal * p[0] + Vec<2>(-row.normal[1], row.normal[0]) * p[1];
}
inline Vec<3> in_space(const Row<3>& row, const Vec<3>& p) { return frame_of(row) * p; }

/// The directions (n, t) of a row, made once for several vectors.
template <int D>
struct Frame;
template <>
struct Frame<2> {
  const Row<2>& row;
  explicit Frame(const Row<2>& of) : row(of) {}
  Vec<2> in_frame(const Vec<2>& u) const { return body::in_frame(row, u); }
  Vec<2> in_space(const Vec<2>& p) const { return body::in_space(row, p); }
};
template <>
struct Frame<3> {
  shape::Mat<3> columns;
  explicit Frame(const Row<3>& of) : columns(frame_of(of)) {}
  Vec<3> in_frame(const Vec<3>& u) const { return columns.transpose() * u; }
  Vec<3> in_space(const Vec<3>& p) const { return columns * p; }
};

/// What a moment does to a body's spin: in space a matrix that the step sets.
template <int D>
struct Ease;
template <>
struct Ease<2> {
  double inertia{0.0};
  double operator()(double given) const { return given / inertia; }
  template <class A, class B>
  auto between(const A& one, const B& other) const {
    return (one * other.transpose() / inertia).eval();
  }
};
template <>
struct Ease<3> {
  shape::Mat<3> inverse = shape::Mat<3>::Zero();
  Vec<3> operator()(const Vec<3>& given) const { return inverse * given; }
  template <class A, class B>
  auto between(const A& one, const B& other) const {
    return (one * inverse * other.transpose()).eval();
  }
};
inline Ease<2> ease_of(const Body<2>& body, const Motion<2>&) { return {body.inertia}; }
Ease<3> ease_of(const Body<3>& body, const Motion<3>& m);

}  // namespace ricochet::body
