#pragma once

#include <algorithm>
#include <vector>

#include "ricochet/shape/shape.h"

namespace ricochet::testing {

/// Least distance from points to the edges of a line or polygon, of points whose foot lies inside
/// of an edge: found by looking at all.
inline double least_to_edges(const std::vector<shape::Vec<2>>& points,
                             const std::vector<shape::Vec<2>>& line, bool is_closed) {
  constexpr double kInside = 1e-6;  // of an edge
  double least = 1e9;
  for (std::size_t k = 0; k + (is_closed ? 0 : 1) < line.size(); ++k) {
    const shape::Vec<2> from = line[k];
    const shape::Vec<2> along = line[(k + 1) % line.size()] - from;
    for (const shape::Vec<2>& point : points) {
      const double part = along.dot(point - from) / along.squaredNorm();
      if (part < kInside || part > 1.0 - kInside) continue;
      least = std::min(least, (point - from - part * along).norm());
    }
  }
  return least;
}

inline std::vector<shape::Vec<2>> corners_at(const shape::Shape<2>& shape,
                                             const shape::Pose<2>& at) {
  std::vector<shape::Vec<2>> corners;
  for (const shape::Vec<2>& corner : shape.corners) corners.push_back(at.place(corner));
  return corners;
}

}  // namespace ricochet::testing
