#include "ricochet/body/figures.h"

namespace ricochet::body {

std::array<double, 19> figures_of(const Motion<3>& m) {
  const Eigen::Quaterniond& q = m.turn;
  const Vec<3> own = q.conjugate() * m.spin;
  const Vec<3> axis = q * Vec<3>::UnitZ();
  return {m.x[0],
          m.x[1],
          m.x[2],
          q.w(),
          q.x(),
          q.y(),
          q.z(),
          m.v[0],
          m.v[1],
          m.v[2],
          m.spin[0],
          m.spin[1],
          m.spin[2],
          own[0],
          own[1],
          own[2],
          m.spin.norm(),
          m.v.norm(),
          std::atan2(std::hypot(axis[0], axis[1]), axis[2])};
}

std::array<double, 7> rates_of(const Motion<3>& m) {
  const Eigen::Quaterniond half(0.0, 0.5 * m.spin[0], 0.5 * m.spin[1], 0.5 * m.spin[2]);
  const Eigen::Quaterniond q = half * m.turn;
  return {m.v[0], m.v[1], m.v[2], q.w(), q.x(), q.y(), q.z()};
}

}  // namespace ricochet::body
