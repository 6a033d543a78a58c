#pragma once

#include <string>

#include "ricochet/base/error.h"
#include "ricochet/shape/shape.h"

namespace ricochet::shape {

// What the functions that make shapes share.

constexpr double kFlat = 1e-12;  // angles, lengths and areas below this, relative, count as none

constexpr double kSmooth =
    1e-9;  // sine of the angle between faces of a surface that counts as flat

inline void demand(bool is_fine, const char* key, const std::string& message, const char* remedy) {
  if (!is_fine) throw base::InputError(key, message, remedy);
}

inline void demand_round(double round, const char* key) {
  demand(round >= 0.0 && std::isfinite(round), key, "the radius must be a number >= 0",
         "leave it out for sharp edges and corners");
}

template <int D>
void demand_finite(const std::vector<Vec<D>>& points, const char* key) {
  for (const Vec<D>& point : points) {
    demand(point.allFinite(), key, "a corner is not a finite number", "check its formula");
  }
}

/// The ball around all corners, about the middle of their box.
template <int D>
void enclose(Shape<D>& shape) {
  Vec<D> low = shape.corners[0];
  Vec<D> high = low;
  for (const Vec<D>& corner : shape.corners) {
    low = low.cwiseMin(corner);
    high = high.cwiseMax(corner);
  }
  shape.centre = 0.5 * (low + high);
  for (const Vec<D>& corner : shape.corners) {
    shape.extent = std::max(shape.extent, (corner - shape.centre).norm());
  }
  shape.extent += shape.round;
}

/// An edge in the plane, from corner i to corner j, its normal to the right.
inline void add_face(Shape<2>& shape, int i, int j) {
  const Vec<2> along =
      shape.corners[static_cast<std::size_t>(j)] - shape.corners[static_cast<std::size_t>(i)];
  const int begin = static_cast<int>(shape.around.size());
  shape.around.insert(shape.around.end(), {i, j});
  shape.faces.push_back({Vec<2>(along[1], -along[0]).normalized(), begin, begin + 2});
}

inline double cross(const Vec<2>& u, const Vec<2>& v) { return u[0] * v[1] - u[1] * v[0]; }

/// Edges between faces, from the corners around them.
void add_edges(Shape<3>& shape);

}  // namespace ricochet::shape
