#include "ricochet/certify/body_joint_view.h"

#include <cmath>

namespace ricochet::certify {
namespace {

using body::JointKind;

shape::Mat<2> turn_matrix(const body::Motion<2>& m) {
  const double c = std::cos(m.angle);
  const double s = std::sin(m.angle);
  shape::Mat<2> R;
  R << c, -s, s, c;
  return R;
}
shape::Mat<3> turn_matrix(const body::Motion<3>& m) { return m.turn.toRotationMatrix(); }

/// Axes of the joint in space, as columns.
shape::Mat<2> axes_of(const body::Motion<2>& m, double frame) {
  body::Motion<2> turned;
  turned.angle = m.angle + frame;
  return turn_matrix(turned);
}
shape::Mat<3> axes_of(const body::Motion<3>& m, const shape::Mat<3>& frame) {
  return turn_matrix(m) * frame;
}

/// The angle that axes of b have turned, seen along the first one of a; in the plane it is counted.
template <int D>
double angle_between(const body::Joint<D>& joint, const body::Motion<D>& a,
                     const body::Motion<D>& b) {
  if constexpr (D == 2) {
    return (b.angle - a.angle) + (joint.frame_b - joint.frame_a);
  } else {
    const shape::Mat<3> relative =
        axes_of(a, joint.frame_a).transpose() * axes_of(b, joint.frame_b);
    return std::atan2(relative(2, 1), relative(1, 1));
  }
}

/// Rows of rotation: what is left of the axes of b, seen from a.
template <int D>
void add_turns(const body::Joint<D>& joint, const body::Motion<D>& a, const body::Motion<D>& b,
               std::vector<SeenRow<D>>& rows) {
  SeenRow<D> row;
  if constexpr (D == 2) {
    if (joint.kind == JointKind::Hinge || joint.kind == JointKind::Ball) return;
    row.value = angle_between<2>(joint, a, b);
    row.size = std::abs(a.angle) + std::abs(b.angle) + std::abs(joint.frame_a) +
               std::abs(joint.frame_b) + 1.0;
    row.couple = 1.0;
    rows.push_back(row);
  } else {
    const shape::Mat<3> A = axes_of(a, joint.frame_a);
    const shape::Mat<3> B = axes_of(b, joint.frame_b);
    const shape::Mat<3> relative = A.transpose() * B;
    const auto add = [&](int i, int k) {
      row.value = relative(i, k);
      row.size = 4.0;
      row.couple = B.col(k).cross(A.col(i));
      rows.push_back(row);
    };
    if (joint.kind == JointKind::Hinge) {
      add(1, 0);
      add(2, 0);
    } else if (joint.kind != JointKind::Ball) {
      add(0, 1);
      add(1, 2);
      add(2, 0);
    }
  }
}

}  // namespace

template <int D>
SeenJoint<D> see_joint(const body::Joint<D>& joint, const body::Motion<D>& a,
                       const body::Motion<D>& b) {
  using Vec = body::Vec<D>;
  SeenJoint<D> seen;
  seen.there = true;
  SeenRow<D> row;
  row.arm_a = turn_matrix(a) * joint.on_a;
  row.arm_b = turn_matrix(b) * joint.on_b;
  const Vec way = (b.x + row.arm_b) - (a.x + row.arm_a);
  row.size = joint.size + a.x.norm() + b.x.norm() + row.arm_a.norm() + row.arm_b.norm();
  const auto axes = axes_of(a, joint.frame_a);
  const bool slides = joint.kind == JointKind::Slider;
  if (slides) row.arm_a += way;  // the rail turns with a, and b pushes on it where it is
  if (joint.kind == JointKind::Distance) {
    row.along = way.norm() > 0.0 ? Vec(way / way.norm()) : Vec(Vec::Unit(0));
    row.value = way.norm();
    seen.free = row;
    row.value -= joint.length;
    row.size += joint.length;
    if (joint.holds_length) seen.held.push_back(row);
    return seen;
  }
  for (int k = slides ? 1 : 0; k < D; ++k) {
    row.along = slides ? Vec(axes.col(k)) : Vec(Vec::Unit(k));
    row.value = row.along.dot(way);
    seen.held.push_back(row);
  }
  add_turns<D>(joint, a, b, seen.held);
  if (slides) {
    row.along = axes.col(0);
    row.value = row.along.dot(way) + joint.start;
    seen.free = row;
  } else if (joint.kind == JointKind::Hinge) {
    seen.free.value = angle_between<D>(joint, a, b) + joint.start;
    if constexpr (D == 2) {
      seen.free.couple = 1.0;
      seen.free.size = std::abs(a.angle) + std::abs(b.angle) + std::abs(joint.frame_a) +
                       std::abs(joint.frame_b) + 1.0;
    } else {
      seen.free.couple = axes.col(0);
      seen.free.size = 4.0;
      const double half = 3.141592653589793;  // turns that bring it between its limits, or near
      const double centre = joint.has_limits ? 0.5 * (joint.low + joint.high) : joint.start;
      if (seen.free.value > centre + half) seen.free.value -= 2.0 * half;
      if (seen.free.value < centre - half) seen.free.value += 2.0 * half;
    }
  }
  return seen;
}

template SeenJoint<2> see_joint(const body::Joint<2>&, const body::Motion<2>&,
                                const body::Motion<2>&);
template SeenJoint<3> see_joint(const body::Joint<3>&, const body::Motion<3>&,
                                const body::Motion<3>&);

}  // namespace ricochet::certify
