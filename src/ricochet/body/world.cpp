#include "ricochet/body/world.h"

#include <Eigen/LU>

#include "ricochet/body/rows.h"

namespace ricochet::body {

Eigen::Quaterniond rotation(const Vec<3>& a) {
  constexpr double kSmall = 1e-4;
  const double angle = a.norm();
  if (angle == 0.0) return {1.0, 0.5 * a[0], 0.5 * a[1], 0.5 * a[2]};
  const double part = angle > kSmall ? std::sin(0.5 * angle) / angle : 0.5 - angle * angle / 48.0;
  return {std::cos(0.5 * angle), part * a[0], part * a[1], part * a[2]};
}

void Motion<3>::advance(double h) { shift(h * v, h * spin); }

void Motion<3>::shift(const Vec<3>& by, const Vec<3>& turn_by) {
  x += by;
  turn = (rotation(turn_by) * turn).normalized();
}

double size_of_inertia(const Body<3>& body) { return body.inertia.diagonal().minCoeff(); }

void settle_inertia(Body<3>& body) {
  constexpr double kEven = 1e-12;
  const double mean = body.inertia.trace() / 3.0;
  const shape::Mat<3> even = mean * shape::Mat<3>::Identity();
  body.is_even = (body.inertia - even).norm() <= kEven * mean;
  if (body.is_even) body.inertia = even;
}

Vec<3> spin_between(const Motion<3>& from, const Motion<3>& to, double h) {
  const Eigen::AngleAxisd by(to.turn * from.turn.conjugate());
  return by.angle() / h * by.axis();
}

shape::Pose<2> pose_of(const Body<2>& body, const Motion<2>& m) {
  shape::Pose<2> pose = shape::pose(m.x, m.angle);
  pose.x -= pose.R * body.centre;
  return pose;
}
shape::Pose<3> pose_of(const Body<3>& body, const Motion<3>& m) {
  shape::Pose<3> pose{m.x, m.turn.toRotationMatrix()};
  pose.x -= pose.R * body.centre;
  return pose;
}

Vec<3> momentum_of(const Body<3>& body, const Motion<3>& m) {
  if (body.is_even) return body.inertia(0, 0) * m.spin;
  return m.turn * Vec<3>(body.inertia * m.rates);
}

Ease<3> ease_of(const Body<3>& body, const Motion<3>& m) {
  if (body.is_even) return {shape::Mat<3>::Identity() / body.inertia(0, 0)};
  const shape::Mat<3> R = m.turn.toRotationMatrix();
  return {R * body.inertia.inverse() * R.transpose()};
}

}  // namespace ricochet::body
