#include "ricochet/shape/shape.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "ricochet/shape/build.h"

namespace ricochet::shape {

namespace {

double area_of(const std::vector<Vec<2>>& corners) {
  double doubled = 0.0;
  for (std::size_t k = 1; k + 1 < corners.size(); ++k) {
    doubled += cross(corners[k] - corners[0], corners[k + 1] - corners[0]);
  }
  return 0.5 * doubled;
}

void demand_convex(const std::vector<Vec<2>>& corners) {
  const std::size_t count = corners.size();
  double turn = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    const Vec<2> before = corners[k] - corners[(k + count - 1) % count];
    const Vec<2> after = corners[(k + 1) % count] - corners[k];
    const double sine = cross(before, after);
    demand(sine >= -kFlat * before.norm() * after.norm(), "polygon",
           "the polygon is concave at corner " + std::to_string(k + 1),
           "make the body of several convex shapes");
    turn += std::atan2(sine, before.dot(after));
  }
  demand(turn < 3.0 * std::numbers::pi, "polygon", "the corners go round more than once",
         "give each corner once, in order");
}

}  // namespace

template <int D>
Shape<D> ball(double radius, const Vec<D>& c) {
  demand_round(radius, D == 2 ? "disc" : "sphere");
  demand(c.allFinite(), D == 2 ? "disc" : "sphere", "the centre is not finite",
         "check its formula");
  Shape<D> made;
  made.round = radius;
  made.corners = {c};
  enclose(made);
  return made;
}

template <int D>
Shape<D> capsule(const Vec<D>& p, const Vec<D>& q, double radius) {
  demand_round(radius, "capsule");
  demand_finite<D>({p, q}, "capsule");
  demand((p - q).norm() > kFlat * (p.norm() + q.norm()), "capsule",
         "its two ends are the same point", D == 2 ? "use a disc" : "use a sphere");
  Shape<D> made;
  made.round = radius;
  made.corners = {p, q};
  if constexpr (D == 2) {
    add_face(made, 0, 1);
    add_face(made, 1, 0);
  } else {
    made.edges = {{0, 1, -1, -1}};
  }
  enclose(made);
  return made;
}

Shape<2> polygon(std::vector<Vec<2>> corners, double round) {
  demand_round(round, "polygon");
  demand_finite<2>(corners, "polygon");
  demand(corners.size() >= 3, "polygon", "a polygon has three corners or more",
         "for two points use a capsule, for one a disc");
  double size = 0.0;
  for (const Vec<2>& corner : corners) size = std::max(size, (corner - corners[0]).norm());
  for (std::size_t k = 0; k < corners.size(); ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      demand((corners[k] - corners[l]).norm() > kFlat * size, "polygon",
             "corners " + std::to_string(l + 1) + " and " + std::to_string(k + 1) +
                 " are the same point",
             "give each corner once");
    }
  }
  const double area = area_of(corners);
  demand(std::abs(area) > kFlat * size * size, "polygon", "the polygon has no area",
         "its corners lie on one line; for a segment use a capsule");
  if (area < 0.0) std::reverse(corners.begin() + 1, corners.end());
  demand_convex(corners);
  Shape<2> made;
  made.round = round;
  made.corners = std::move(corners);
  const int count = static_cast<int>(made.corners.size());
  for (int k = 0; k < count; ++k) add_face(made, k, (k + 1) % count);
  enclose(made);
  return made;
}

template <>
Shape<2> box(const Vec<2>& sides, double round) {
  demand(sides.allFinite() && sides.minCoeff() > 0.0, "box", "its sides must be > 0",
         "for a segment use a capsule");
  const double x = 0.5 * sides[0];
  const double y = 0.5 * sides[1];
  return polygon({{-x, -y}, {x, -y}, {x, y}, {-x, y}}, round);
}

template <>
Shape<3> box(const Vec<3>& sides, double round) {
  demand(sides.allFinite() && sides.minCoeff() > 0.0, "box", "its sides must be > 0",
         "for a segment use a capsule");
  std::vector<Vec<3>> corners;
  for (int k = 0; k < 8; ++k) {
    const Vec<3> sign((k & 1) != 0 ? 0.5 : -0.5, (k & 2) != 0 ? 0.5 : -0.5,
                      (k & 4) != 0 ? 0.5 : -0.5);
    corners.push_back(sides.cwiseProduct(sign));
  }
  return polytope(corners, round);
}

template <int D>
Shape<D> half_space(const Vec<D>& point, const Vec<D>& normal) {
  demand(point.allFinite() && normal.allFinite() && normal.norm() > 0.0, "half_space",
         "it needs a point and a normal that is not zero", "the normal points out of the solid");
  Shape<D> made;
  made.kind = Kind::HalfSpace;
  made.corners = {point};
  made.faces = {{normal.normalized(), 0, 0}};
  made.centre = point;
  made.extent = std::numeric_limits<double>::infinity();
  return made;
}

Shape<3> cylinder(double radius, double height) {
  demand(radius > 0.0 && height > 0.0 && std::isfinite(radius + height), "cylinder",
         "radius and height must be > 0", "for a thin disc take a small height");
  Shape<3> made;
  made.kind = Kind::Cylinder;
  made.axes = {radius, radius, 0.5 * height};
  made.extent = std::hypot(radius, 0.5 * height);
  return made;
}

Shape<3> ellipsoid(const Vec<3>& semi_axes) {
  demand(semi_axes.allFinite() && semi_axes.minCoeff() > 0.0, "ellipsoid",
         "its three semi-axes must be > 0", "give half of each diameter");
  Shape<3> made;
  made.kind = Kind::Ellipsoid;
  made.axes = semi_axes;
  made.extent = semi_axes.maxCoeff();
  return made;
}

template <int D>
Bounds<D> bounds(const Shape<D>& shape, const Pose<D>& pose) {
  if (shape.kind == Kind::HalfSpace) {
    const Vec<D> all = Vec<D>::Constant(std::numeric_limits<double>::infinity());
    return {-all, all};
  }
  Vec<D> wide = Vec<D>::Zero();  // half sizes
  if (shape.kind == Kind::Ellipsoid) {
    wide = (pose.R * shape.axes.asDiagonal()).rowwise().norm();
  } else if (shape.kind == Kind::Cylinder) {
    for (int i = 0; i < D; ++i) {
      const double along = pose.R(i, D - 1);
      wide[i] = shape.axes[D - 1] * std::abs(along) +
                shape.axes[0] * std::sqrt(std::max(0.0, 1.0 - along * along));
    }
  } else {
    Bounds<D> box{pose.place(shape.corners[0]), {}};
    box.high = box.low;
    for (const Vec<D>& corner : shape.corners) {
      const Vec<D> at = pose.place(corner);
      box.low = box.low.cwiseMin(at);
      box.high = box.high.cwiseMax(at);
    }
    return {box.low.array() - shape.round, box.high.array() + shape.round};
  }
  return {pose.x - wide, pose.x + wide};
}

#define RICOCHET_SHAPES(D)                                         \
  template Shape<D> ball(double, const Vec<D>&);                   \
  template Shape<D> capsule(const Vec<D>&, const Vec<D>&, double); \
  template Shape<D> half_space(const Vec<D>&, const Vec<D>&);      \
  template Bounds<D> bounds(const Shape<D>&, const Pose<D>&);
RICOCHET_SHAPES(2)
RICOCHET_SHAPES(3)
#undef RICOCHET_SHAPES

}  // namespace ricochet::shape
