#pragma once

#include <algorithm>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/body/world.h"

/// How deep bodies may come into each other before they are put back on the far side.
namespace ricochet::certify {

inline constexpr double kNoWidth = std::numeric_limits<double>::infinity();
// Of a width: who is that deep may be put back on the far side.
inline constexpr double kDeepPart = 0.25;

/// How thin a shape is, across its faces; infinite for points, half-spaces and surfaces, of which a
/// pair takes the width of the other one.
template <int D>
double width_of(const shape::Shape<D>& shape) {
  if (shape.kind == shape::Kind::Cylinder) return 2.0 * std::min(shape.axes[0], shape.axes[D - 1]);
  if (shape.kind == shape::Kind::Ellipsoid) return 2.0 * shape.axes.minCoeff();
  if (shape.kind != shape::Kind::Core || shape.extent == 0.0) return kNoWidth;
  double least = shape.faces.empty() ? 0.0 : kNoWidth;
  for (const shape::Face<D>& face : shape.faces) {
    const body::Vec<D>& on = shape.corners[base::index(shape.around[base::index(face.begin)])];
    double depth = 0.0;
    for (const body::Vec<D>& corner : shape.corners)
      depth = std::max(depth, face.normal.dot(on - corner));
    least = std::min(least, depth);
  }
  least += 2.0 * shape.round;
  return least > 0.0 ? least : kNoWidth;
}

/// Whether the distance of two still falls at the end of a way, from the look before it: then they
/// are put back to where they came from.
inline bool goes_deeper(double before, double apart, double way) {
  constexpr double kDeeper = 1e-3;
  return apart < before - kDeeper * way;
}

}  // namespace ricochet::certify
