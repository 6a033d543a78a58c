#include "ricochet/plot/outlines.h"

#include <cmath>
#include <numbers>

#include "ricochet/base/index.h"

namespace ricochet::plot {
namespace {

using Vec = body::Vec<2>;
using base::index;

/// A rounded core: its corners moved outwards, with arcs in between.
Outline rounded(const shape::Shape<2>& shape) {
  Outline outline;
  const std::size_t n = shape.corners.size();
  if (n == 1) {
    outline.is_circle = true;
    outline.radius = shape.round;
    outline.points = shape.corners;
    return outline;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const Vec& at = shape.corners[k];
    if (shape.round == 0.0) {
      outline.points.push_back(at);
      continue;
    }
    const Vec in = at - shape.corners[(k + n - 1) % n];
    const Vec out = shape.corners[(k + 1) % n] - at;
    const double from = std::atan2(-in[0], in[1]);
    double to = std::atan2(-out[0], out[1]);
    while (to < from) to += 2.0 * std::numbers::pi;
    constexpr int kArc = 8;
    for (int j = 0; j <= kArc; ++j) {
      const double a = from + (to - from) * j / kArc;
      outline.points.push_back(at + shape.round * Vec(std::cos(a), std::sin(a)));
    }
  }
  return outline;
}

/// A half-plane is drawn as its boundary, long enough for any picture.
Outline outline_of(const shape::Shape<2>& shape, double reach) {
  Outline outline;
  if (shape.kind == shape::Kind::HalfSpace) {
    const Vec& normal = shape.faces[0].normal;
    const Vec along(-normal[1], normal[0]);
    outline.is_closed = false;
    outline.points = {shape.corners[0] - reach * along, shape.corners[0] + reach * along};
  } else if (shape.kind == shape::Kind::Surface) {
    outline.is_closed = false;
    outline.points = shape.corners;
  } else {
    outline = rounded(shape);
  }
  return outline;
}

}  // namespace

std::vector<std::vector<Outline>> outlines_of(const body::World<2>& world, double reach) {
  std::vector<std::vector<Outline>> all(world.bodies.size());
  for (const body::Solid<2>& solid : world.solids) {
    Outline outline = outline_of(solid.shape, reach);
    for (Vec& point : outline.points) point -= world.body(solid.body).centre;
    all[index(solid.body)].push_back(std::move(outline));
  }
  return all;
}

}  // namespace ricochet::plot
