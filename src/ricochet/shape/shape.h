#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <vector>

namespace ricochet::shape {

template <int D>
using Vec = Eigen::Matrix<double, D, 1>;
template <int D>
using Mat = Eigen::Matrix<double, D, D>;

/// Where a shape's frame is: a point p of the shape is x + R p in the world.
template <int D>
struct Pose {
  Vec<D> x = Vec<D>::Zero();      // [m]
  Mat<D> R = Mat<D>::Identity();  // rotation

  Vec<D> place(const Vec<D>& p) const { return x + R * p; }
};

inline Pose<2> pose(const Vec<2>& x, double angle) {
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  Pose<2> made{x, {}};
  made.R << c, -s, s, c;
  return made;
}

enum class Kind {
  Core,       // convex hull of corners (a point, a segment, a polygon, a polytope), rounded
  HalfSpace,  // { p : normal . (p - corner 0) <= 0 }
  Cylinder,   // |(p_x, p_y)| <= axes[0], |p_z| <= axes[2]; space, against half-spaces
  Ellipsoid,  // sum (p_i / axes[i])^2 <= 1; space, against half-spaces
  Surface     // fixed: a chain of segments, a mesh of triangles; solid behind its faces
};

/// A face of a core or a surface: an edge in the plane, a convex polygon in space.
template <int D>
struct Face {
  Vec<D> normal;  // unit, outwards
  int begin{0};   // its corners are corners[around[begin]], ..., corners[around[end - 1]],
  int end{0};     // counterclockwise as seen from outside; in the plane two
};

/// An edge in space, between the faces `left` and `right` (-1: none). Of a chain in the plane a
/// corner, from == to.
struct Edge {
  int from{0};
  int to{0};
  int left{-1};
  int right{-1};
  int turn{1};  // 1: sticks out, as all of convex shapes do; 0: flat; -1: hollow
};

/// Faces begin, ..., end - 1 of a surface lie within this ball, `round` not included: those far
/// away need no closer look.
template <int D>
struct Group {
  Vec<D> centre;
  double extent{0.0};
  double longest{0.0};  // of the ways from the first corner of a face to its others
  int begin{0};
  int end{0};
};

/// A shape in its own frame. Made by the functions below, which check it.
template <int D>
struct Shape {
  Kind kind{Kind::Core};
  double round{0.0};             // [m] all points within this distance of the core belong to it
  std::vector<Vec<D>> corners;   // of the core; of a half-space one point of its boundary
  std::vector<Face<D>> faces;    // of a half-space one, without corners
  std::vector<int> around;       // corners of faces
  std::vector<Edge> edges;       // in space, and of chains
  std::vector<int> beside;       // of surfaces, for each of `around`: the edge that begins there
  std::vector<int> fans;         // of meshes, for each corner: where its edges begin in `fan`
  std::vector<int> fan;          // of meshes: the edges of each corner, ascending
  std::vector<Group<D>> groups;  // of surfaces
  Vec<D> axes =
      Vec<D>::Zero();  // [m] semi-axes of an ellipsoid, radius and half height of a cylinder
  Vec<D> centre = Vec<D>::Zero();  // of a ball that contains the shape
  double extent{0.0};              // [m] its radius, `round` included; infinite for a half-space
};

// All throw base::InputError, with what is wrong and the remedy.

/// A disc or a sphere, with its centre at c; radius 0 is a point.
template <int D>
Shape<D> ball(double radius, const Vec<D>& c = Vec<D>::Zero());
/// All points within `radius` of the segment from p to q.
template <int D>
Shape<D> capsule(const Vec<D>& p, const Vec<D>& q, double radius);
/// Sides parallel to the axes of the frame, its middle at the origin; rounded outwards.
template <int D>
Shape<D> box(const Vec<D>& sides, double round = 0.0);
template <>
Shape<2> box(const Vec<2>& sides, double round);
template <>
Shape<3> box(const Vec<3>& sides, double round);
/// Corners in order, either way round; convex, without repeated corners or straight angles.
Shape<2> polygon(std::vector<Vec<2>> corners, double round = 0.0);
/// The convex hull of points; those inside it are left out.
Shape<3> polytope(const std::vector<Vec<3>>& points, double round = 0.0);
/// All p with normal . (p - point) <= 0: the normal points out of the solid.
template <int D>
Shape<D> half_space(const Vec<D>& point, const Vec<D>& normal);
Shape<3> cylinder(double radius, double height);  // about z, its middle at the origin
Shape<3> ellipsoid(const Vec<3>& semi_axes);
/// Fixed ground. The free side lies to the left of the way from the first point to the last.
Shape<2> chain(const std::vector<Vec<2>>& points, bool closed = false, double round = 0.0);
/// Fixed ground. Triangles are counterclockwise as seen from the free side.
Shape<3> mesh(const std::vector<Vec<3>>& points, const std::vector<std::array<int, 3>>& triangles,
              double round = 0.0);
/// Fixed ground over a rectangle: heights[i + columns j] at (dx i, dy j).
Shape<3> heightfield(int columns, int rows, double dx, double dy,
                     const std::vector<double>& heights);

/// Moment of inertia about the centre: a number in the plane, a matrix in space.
template <int D>
struct MassProperties {
  double mass{0.0};  // [kg]
  Vec<D> centre = Vec<D>::Zero();
  Eigen::Matrix<double, D == 2 ? 1 : 3, D == 2 ? 1 : 3> inertia;  // [kg m^2]
};

/// Of a shape of uniform density, per area in the plane, per volume in space; exact, with `round`.
template <int D>
MassProperties<D> mass_of(const Shape<D>& shape, double density);

/// Least and largest coordinates of a shape in the world; infinite for a half-space.
template <int D>
struct Bounds {
  Vec<D> low;
  Vec<D> high;
};
template <int D>
Bounds<D> bounds(const Shape<D>& shape, const Pose<D>& pose);

/// Whether `gaps` knows this pair of shapes.
template <int D>
bool can_meet(const Shape<D>& a, const Shape<D>& b);

}  // namespace ricochet::shape
