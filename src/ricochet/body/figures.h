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
std::array<double, 19> figures_of(const Motion<3>& m);

/// The first of them, and how fast they change.
template <int D>
std::array<double, Figures<D>::kPlaces> places_of(const Motion<D>& m) {
  std::array<double, Figures<D>::kPlaces> places{};
  const auto all = figures_of(m);
  std::copy_n(all.begin(), places.size(), places.begin());
  return places;
}
inline std::array<double, 3> rates_of(const Motion<2>& m) { return {m.v[0], m.v[1], m.spin}; }
std::array<double, 7> rates_of(const Motion<3>& m);

}  // namespace ricochet::body
