#pragma once

#include <algorithm>
#include <array>

#include "ricochet/body/world.h"

namespace ricochet::body {

/// What is told of a body, by name; the first `kPlaces` say where it is and stand in rows. In space
/// w is the spin, wx, wy, wz in space, w1, w2, w3 along the axes of the body; tilt is the angle
/// between its third axis and z.
template <int D>
struct Figures;
template <>
struct Figures<2> {
  static constexpr std::size_t kPlaces = 3;
  static constexpr std::array<const char*, 7> kNames = {"x",  "y",    "angle", "vx",
                                                        "vy", "spin", "speed"};
};
template <>
struct Figures<3> {
  static constexpr std::size_t kPlaces = 7;
  static constexpr std::array<const char*, 19> kNames = {
      "x",  "y",  "z",  "qw", "qx", "qy", "qz",   "vx",    "vy",  "vz",
      "wx", "wy", "wz", "w1", "w2", "w3", "spin", "speed", "tilt"};
};

inline std::array<double, 7> figures_of(const Motion<2>& m) {
  return {m.x[0], m.x[1], m.angle, m.v[0], m.v[1], m.spin, m.v.norm()};
}
inline std::array<double, 19> figures_of(const Motion<3>& m) {
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

/// The first of them, and how fast they change.
template <int D>
std::array<double, Figures<D>::kPlaces> places_of(const Motion<D>& m) {
  std::array<double, Figures<D>::kPlaces> places{};
  const auto all = figures_of(m);
  std::copy_n(all.begin(), places.size(), places.begin());
  return places;
}
inline std::array<double, 3> rates_of(const Motion<2>& m) { return {m.v[0], m.v[1], m.spin}; }
inline std::array<double, 7> rates_of(const Motion<3>& m) {
  const Eigen::Quaterniond half(0.0, 0.5 * m.spin[0], 0.5 * m.spin[1], 0.5 * m.spin[2]);
  const Eigen::Quaterniond q = half * m.turn;
  return {m.v[0], m.v[1], m.v[2], q.w(), q.x(), q.y(), q.z()};
}

}  // namespace ricochet::body
