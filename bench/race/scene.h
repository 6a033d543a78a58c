#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

/// What every engine of the race is given, by the name of a scene.
namespace race {

using Triple = std::array<double, 3>;
inline const double kPi = std::acos(-1.0);

/// A sphere, or a prism: a convex profile in x and z, counterclockwise, between -depth and +depth
/// along y. Its mass centre is the origin and its axes are principal.
struct Body {
  double r{0.0};  // of a sphere [m]; 0: a prism
  std::vector<std::array<double, 2>> profile;
  double depth{0.0};  // half of the prism's length along y [m]
  double mass{0.0};
  Triple inertia{};                        // about x, y, z of the body [kg m^2]
  Triple at{};                             // where it starts [m]
  std::array<double, 4> turn{1, 0, 0, 0};  // quaternion w, x, y, z: from the body to space

  bool is_sphere() const { return r > 0.0; }
  bool is_box() const { return !is_sphere() && profile[0][0] == profile[3][0]; }
  Triple half_sides() const { return {profile[2][0], depth, profile[2][1]}; }  // of a box
  std::vector<Triple> corners() const {
    std::vector<Triple> made;
    for (const double y : {-depth, depth}) {
      for (const auto& p : profile) made.push_back({p[0], y, p[1]});
    }
    return made;
  }
  /// The farthest point from the mass centre.
  double reach() const {
    double most = r;
    for (const Triple& c : corners()) most = std::max(most, std::hypot(c[0], c[1], c[2]));
    return most;
  }
  /// The radius of a sphere, the least of a prism's sides.
  double size() const {
    if (is_sphere()) return r;
    double least = 2.0 * depth;
    for (std::size_t k = 0; k < profile.size(); ++k) {
      const auto& p = profile[k];
      const auto& q = profile[(k + 1) % profile.size()];
      least = std::min(least, std::hypot(q[0] - p[0], q[1] - p[1]));
    }
    return least;
  }
};

/// Fixed: the free side is { x : normal . x >= offset }.
struct Wall {
  Triple normal{};
  double offset{0.0};
};

/// Steps that are measured together.
struct Phase {
  const char* name{""};
  int first{1};
  int last{0};
  bool has(int step) const { return step >= first && step <= last; }
};

struct Scene {
  std::string title;
  double step{0.002};  // [s]
  Triple gravity{0.0, 0.0, -9.81};
  double friction{0.5};  // of all pairs; no restitution
  bool is_plane{false};  // prisms that could as well be polygons in x and z
  int steps{0};          // in all
  int every{10};         // steps from one that is written to the next
  std::vector<Phase> phases;
  std::vector<Body> bodies;
  std::vector<Wall> walls;

  bool has_spheres() const { return bodies.front().is_sphere(); }
  bool is_judged(int step_number) const { return step_number % every == 0; }
  double weight() const {  // [N]
    double mass = 0.0;
    for (const Body& body : bodies) mass += body.mass;
    return mass * std::hypot(gravity[0], gravity[1], gravity[2]);
  }
};

inline Body sphere(double r, double density, const Triple& at) {
  Body made;
  made.r = r;
  made.mass = density * 4.0 / 3.0 * kPi * r * r * r;
  made.inertia.fill(0.4 * made.mass * r * r);
  made.at = at;
  return made;
}

/// A prism whose profile is a trapezoid, even in x: `low` and `high` are half widths at its lower
/// and upper side. Moments of inertia by the integrals of the width w(z) and of w(z)^3.
inline Body trapezoid(double low, double high, double height, double depth, double density) {
  const double slope = (high - low) / height;  // half width low + slope s at a height s
  const double area = (low + high) * height;
  const double s1 = low * height * height + 2.0 / 3.0 * slope * height * height * height;
  const double middle = s1 / area;  // of the mass
  const double s2 = 2.0 / 3.0 * low * height * height * height + 0.5 * slope * std::pow(height, 4);
  const double zz = s2 - middle * middle * area;                              // ∫ z²
  const double xx = (low + high) * (low * low + high * high) * height / 6.0;  // ∫ x²
  const double along = 2.0 * depth;
  Body made;
  made.profile = {
      {-low, -middle}, {low, -middle}, {high, height - middle}, {-high, height - middle}};
  made.depth = depth;
  made.mass = density * area * along;
  const double yy = made.mass * depth * depth / 3.0;
  made.inertia = {density * along * zz + yy, density * along * (xx + zz),
                  density * along * xx + yy};
  return made;
}

/// Sides of a box along x, y, z.
inline Body box(double x, double y, double z, double density) {
  return trapezoid(0.5 * x, 0.5 * x, z, 0.5 * y, density);
}

inline std::array<double, 4> turned(int axis, double angle) {
  std::array<double, 4> made{std::cos(0.5 * angle), 0, 0, 0};
  made[static_cast<std::size_t>(1 + axis)] = std::sin(0.5 * angle);
  return made;
}

/// Radii between 0.9 and 1.1 of 5 cm, in layers that are not quite regular and do not touch, above
/// the floor of a box without a lid.
inline Scene spheres(int count) {
  Scene scene;
  scene.title = std::to_string(count) + " spheres";
  constexpr double kRadius = 0.05;
  constexpr double kPitch = 2.4 * kRadius;
  const int across = static_cast<int>(std::lround(std::cbrt(static_cast<double>(count))));
  const double width = kPitch * across;
  scene.steps = 1000;
  scene.phases = {{"settling", 1, 400}, {"at rest", 901, 1000}};
  scene.walls = {
      {{0, 0, 1}, 0}, {{1, 0, 0}, 0}, {{-1, 0, 0}, -width}, {{0, 1, 0}, 0}, {{0, -1, 0}, -width}};
  std::uint64_t seed = 1;
  const auto next = [&] {  // Knuth's linear congruence, the upper bits
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(seed >> 11U) / 9007199254740992.0;
  };
  for (int k = 0; k < count; ++k) {
    const double r = kRadius * (0.9 + 0.2 * next());
    const double play = 0.5 * kPitch - 1.1 * kRadius;
    Triple at{};
    at[0] = kPitch * (k % across + 0.5) + play * (2.0 * next() - 1.0);
    at[1] = kPitch * (k / across % across + 0.5) + play * (2.0 * next() - 1.0);
    at[2] = kPitch * (k / (across * across) + 0.5) + play * (2.0 * next() - 1.0);
    scene.bodies.push_back(sphere(r, 1000.0, at));
  }
  return scene;
}

/// The same spheres so far from each other and from the floor that none touches: what a free body
/// costs.
inline Scene free_spheres(int count) {
  constexpr double kApart = 10.0;
  constexpr double kHeight = 1e3;  // [m]
  Scene scene = spheres(count);
  scene.title += ", apart from each other";
  scene.steps = 200;
  scene.phases = {{"free", 1, scene.steps}};
  for (Wall& wall : scene.walls) wall.offset *= kApart;
  for (Body& body : scene.bodies) {
    for (double& x : body.at) x *= kApart;
    body.at[2] += kHeight;
  }
  return scene;
}

/// Box2D's large_pyramid: squares of 1 m that touch in rows of `base`, base - 1, ... 1.
inline Scene pyramid(int base) {
  Scene scene;
  scene.friction = 0.6;
  scene.is_plane = true;
  scene.step = 0.004;
  scene.steps = 100;
  scene.phases = {{"at rest", 21, 100}};
  scene.walls = {{{0, 0, 1}, 0}};
  for (int row = 0; row < base; ++row) {
    for (int k = 0; k < base - row; ++k) {
      Body square = box(1.0, 1.0, 1.0, 100.0);
      square.at = {k + 0.5 * (row + 1) - 0.5 * base, 0.0, row + 0.5};
      scene.bodies.push_back(square);
    }
  }
  scene.title = "pyramid of " + std::to_string(scene.bodies.size()) + " squares";
  return scene;
}

/// Kapla: planks laid crosswise, three in each of 18 layers, that touch without play.
inline Scene tower() {
  constexpr double kLong = 0.1175, kBroad = 0.0235, kHigh = 0.0078;  // [m]
  Scene scene;
  scene.step = 0.001;
  scene.steps = 400;
  scene.phases = {{"at rest", 101, 400}};
  scene.walls = {{{0, 0, 1}, 0}};
  for (int layer = 0; layer < 18; ++layer) {
    for (int j = -1; j <= 1; ++j) {
      const double off = 0.5 * j * (kLong - kBroad);
      const bool is_cross = layer % 2 == 1;
      Body plank = box(kLong, kBroad, kHigh, 650.0);
      if (is_cross) plank.turn = turned(2, 0.5 * kPi);
      plank.at = {is_cross ? off : 0.0, is_cross ? 0.0 : off, kHigh * (layer + 0.5)};
      scene.bodies.push_back(plank);
    }
  }
  scene.title = "tower of 54 planks";
  return scene;
}

/// Oppenheim's arch of seven stones, R = 10 m, thickness 0.15 R, 157.5 degrees, on ground tilted by
/// `degrees`: by limit analysis of these polygons it falls beyond 20.486 degrees.
inline Scene arch(double degrees) {
  constexpr double kRadius = 10.0, kThick = 1.5;
  constexpr int kStones = 7;
  const double all = 157.5 * kPi / 180.0;
  const double foot = 0.5 * (kPi - all);
  const double half = 0.5 * all / kStones;
  const double tilt = degrees * kPi / 180.0;
  Scene scene;
  scene.title = "arch of 7 stones";
  if (degrees != 0.0) scene.title += ", tilted by " + std::to_string(std::lround(degrees)) + "°";
  scene.friction = 0.8;
  scene.is_plane = true;
  scene.steps = 2000;
  scene.phases = {{"at rest", 1501, 2000}};
  scene.gravity = {9.81 * std::sin(tilt), 0.0, -9.81 * std::cos(tilt)};
  scene.walls = {{{-std::sin(foot), 0, std::cos(foot)}, 0},
                 {{std::sin(foot), 0, std::cos(foot)}, 0}};
  // Corners lie on the circles of radius R -+ thickness / 2: sides of a stone are chords.
  const double inner = kRadius - 0.5 * kThick, outer = kRadius + 0.5 * kThick;
  const double low = inner * std::sin(half), high = outer * std::sin(half);
  for (int k = 0; k < kStones; ++k) {
    Body stone = trapezoid(low, high, kThick * std::cos(half), 1.0, 2000.0);
    const double angle = foot + (2 * k + 1) * half;                        // of its middle
    const double out = inner * std::cos(half) - stone.profile.front()[1];  // of its mass centre
    stone.at = {out * std::cos(angle), 0.0, out * std::sin(angle)};
    stone.turn = turned(1, 0.5 * kPi - angle);  // its z outwards
    scene.bodies.push_back(stone);
  }
  return scene;
}

/// "spheres-N", "free-N", "pyramid" or "pyramid-ROWS", "tower", "arch" or "arch-DEGREES".
inline Scene scene_of(const std::string& name) {
  const std::string kind = name.substr(0, name.find('-'));
  const bool has_number = kind.size() < name.size();
  const int number = has_number ? std::atoi(name.c_str() + kind.size() + 1) : 0;
  if (kind == "spheres" && number > 0) return spheres(number);
  if (kind == "free" && number > 0) return free_spheres(number);
  if (kind == "pyramid") return pyramid(number > 0 ? number : 100);
  if (kind == "tower") return tower();
  if (kind == "arch") return arch(number);
  throw std::runtime_error("no scene " + name +
                           ": take spheres-N, free-N, pyramid, tower, arch or arch-DEGREES");
}

}  // namespace race
