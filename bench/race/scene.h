#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

/// What every engine of the race is given: spheres above the floor of a box without a lid.
namespace race {

struct Sphere {
  double x{0.0};  // [m]
  double y{0.0};
  double z{0.0};
  double r{0.0};
};

struct Scene {
  double step{0.002};      // [s]
  double gravity{9.81};    // [m/s^2], along -z
  double friction{0.5};    // of all pairs; no restitution
  double density{1000.0};  // [kg/m^3]
  double width{0.0};       // of the box, 0 <= x, y <= width, 0 <= z [m]
  int settling{0};         // steps of which the first phase is made
  int resting{0};          // the last steps, of the second phase
  int steps{0};            // in all
  int every{10};           // steps from one that is written to the next
  std::vector<Sphere> spheres;

  double mass(const Sphere& s) const {
    return density * 4.0 / 3.0 * std::acos(-1.0) * s.r * s.r * s.r;
  }
  double inertia(const Sphere& s) const { return 0.4 * mass(s) * s.r * s.r; }
  bool is_judged(int step_number) const { return step_number % every == 0; }
  bool settles(int step_number) const { return step_number <= settling; }
  bool rests(int step_number) const { return step_number > steps - resting; }
};

/// Radii between 0.9 and 1.1 of 5 cm, in layers that are not quite regular and do not touch.
inline Scene spheres(int count) {
  Scene scene;
  constexpr double kRadius = 0.05;
  constexpr double kPitch = 2.4 * kRadius;
  const int across = static_cast<int>(std::lround(std::cbrt(static_cast<double>(count))));
  scene.width = kPitch * across;
  scene.settling = 500;
  scene.resting = 250;
  scene.steps = 1500;
  std::uint64_t seed = 1;
  const auto next = [&] {  // Knuth's linear congruence, the upper bits
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(seed >> 11U) / 9007199254740992.0;
  };
  for (int k = 0; k < count; ++k) {
    Sphere s;
    s.r = kRadius * (0.9 + 0.2 * next());
    const double play = 0.5 * kPitch - 1.1 * kRadius;
    s.x = kPitch * (k % across + 0.5) + play * (2.0 * next() - 1.0);
    s.y = kPitch * (k / across % across + 0.5) + play * (2.0 * next() - 1.0);
    s.z = kPitch * (k / (across * across) + 0.5) + play * (2.0 * next() - 1.0);
    scene.spheres.push_back(s);
  }
  return scene;
}

/// The same spheres so far from each other and from the floor that none touches: what a free body
/// costs.
inline Scene free_spheres(int count) {
  constexpr double kApart = 10.0;
  constexpr double kHeight = 1e3;  // [m]
  Scene scene = spheres(count);
  scene.width *= kApart;
  scene.settling = scene.resting = scene.steps = 200;
  for (Sphere& s : scene.spheres) {
    s.x *= kApart;
    s.y *= kApart;
    s.z = kApart * s.z + kHeight;
  }
  return scene;
}

}  // namespace race
