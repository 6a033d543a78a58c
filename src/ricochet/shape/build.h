#pragma once

#include <string>

#include "ricochet/base/error.h"
#include "ricochet/shape/shape.h"

namespace ricochet::shape {

// What the functions that make shapes share.

constexpr double kFlat = 1e-12;  // angles, lengths and areas below this, relative, count as none

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

/// Edges between faces, from the corners around them.
void add_edges(Shape<3>& shape);

}  // namespace ricochet::shape
