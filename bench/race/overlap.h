#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <algorithm>
#include <limits>
#include <vector>

#include "frames.h"
#include "scene.h"

namespace race {

using Vec = Eigen::Vector3d;
inline Vec vec(const Triple& v) { return {v[0], v[1], v[2]}; }
inline Eigen::Quaterniond turn(const std::array<double, 4>& q) { return {q[0], q[1], q[2], q[3]}; }

/// A prism in space: its corners, normals of its faces (one of each parallel pair may be left out)
/// and directions of its edges.
struct Placed {
  std::vector<Vec> corners;
  std::vector<Vec> normals;
  std::vector<Vec> edges;
};

inline Placed place(const Body& body, const Vec& x, const Eigen::Quaterniond& q) {
  Placed made;
  for (const Triple& c : body.corners()) made.corners.push_back(x + q * vec(c));
  made.normals.push_back(q * Vec::UnitY());
  made.edges.push_back(q * Vec::UnitY());
  for (std::size_t k = 0; k < body.profile.size(); ++k) {
    const auto& from = body.profile[k];
    const auto& to = body.profile[(k + 1) % body.profile.size()];
    const Vec edge = q * Vec(to[0] - from[0], 0.0, to[1] - from[1]).normalized();
    made.edges.push_back(edge);
    made.normals.push_back(edge.cross(q * Vec::UnitY()));
  }
  return made;
}

/// How far b would have to move along n, or against it, to be beside a.
inline double depth_along(const Placed& a, const Placed& b, const Vec& n) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double low_a = kFar, high_a = -kFar, low_b = kFar, high_b = -kFar;
  for (const Vec& c : a.corners) {
    low_a = std::min(low_a, n.dot(c));
    high_a = std::max(high_a, n.dot(c));
  }
  for (const Vec& c : b.corners) {
    low_b = std::min(low_b, n.dot(c));
    high_b = std::max(high_b, n.dot(c));
  }
  return std::min(high_a - low_b, high_b - low_a);
}

/// Depth by which prisms overlap, or a prism a wall (b = -1 - k); 0 where they do not. Of all
/// directions in which convex polytopes may be apart, normals of faces and products of edges are
/// enough.
inline double overlap(const Scene& scene, const Frame& frame, int a, int b) {
  const auto placed = [&](int i) {
    const auto k = static_cast<std::size_t>(i);
    return place(scene.bodies[k], vec(frame.places[k]), turn(frame.turns[k]));
  };
  const Placed one = placed(a);
  if (b < 0) {
    const Wall& wall = scene.walls[static_cast<std::size_t>(-1 - b)];
    double least = 0.0;
    for (const Vec& c : one.corners) least = std::min(least, vec(wall.normal).dot(c) - wall.offset);
    return -least;
  }
  const Placed other = placed(b);
  double depth = std::numeric_limits<double>::infinity();
  for (const Placed* solid : {&one, &other}) {
    for (const Vec& n : solid->normals) {
      depth = std::min(depth, depth_along(one, other, n));
      if (depth <= 0.0) return 0.0;
    }
  }
  for (const Vec& e : one.edges) {
    for (const Vec& f : other.edges) {
      const Vec n = e.cross(f);
      if (n.norm() < 1e-6) continue;
      depth = std::min(depth, depth_along(one, other, n.normalized()));
      if (depth <= 0.0) return 0.0;
    }
  }
  return depth;
}

}  // namespace race
