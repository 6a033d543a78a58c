#pragma once

#include <Eigen/Core>
#include <span>
#include <variant>

namespace ricochet::convex {

/// A section D of a friction cone: what tangential impulses a unit normal impulse allows. Closed,
/// convex, bounded, and 0 lies in it. Each kind can, for r >= 0,
///
///   project(x, r)    the point of r D nearest to x
///   support(d)       max of d . y over y in D
///   contains(x, r)   whether x lies in r D
///
/// Tangential vectors have two components; of contacts in the plane the second one is 0.
using Tangent = Eigen::Vector2d;

/// D = [low, high], low <= 0 <= high: friction in the plane, the two ways apart.
struct Segment {
  double low{0.0};
  double high{0.0};
  Tangent project(const Tangent& x, double r) const;
  double support(const Tangent& d) const;
  bool contains(const Tangent& x, double r) const;
};

/// |x| <= radius: isotropic friction.
struct Disc {
  double radius{0.0};
  Tangent project(const Tangent& x, double r) const;
  double support(const Tangent& d) const;
  bool contains(const Tangent& x, double r) const;
};

/// (x/a)^2 + (y/b)^2 <= 1, a, b >= 0; a segment where one of them is 0.
struct Ellipse {
  double a{0.0};
  double b{0.0};
  Tangent project(const Tangent& x, double r) const;
  double support(const Tangent& d) const;
  bool contains(const Tangent& x, double r) const;
};

/// A convex polygon by its corners, counterclockwise. The corners belong to somebody else.
struct Polygon {
  std::span<const Tangent> corners;
  Tangent project(const Tangent& x, double r) const;
  double support(const Tangent& d) const;
  bool contains(const Tangent& x, double r) const;
};

using Section = std::variant<Segment, Disc, Ellipse, Polygon>;

Tangent project(const Section& section, const Tangent& x, double r);
double support(const Section& section, const Tangent& d);
bool contains(const Section& section, const Tangent& x, double r);

/// What is wrong with corners meant for a polygon.
enum class PolygonFault { None, TooFew, NotConvex, NotAroundZero };

/// Whether the corners, in this order, go round a convex polygon with 0 in it. Clockwise is as
/// good, and needs turning round.
PolygonFault check_polygon(std::span<const Tangent> corners, bool& is_clockwise);

}  // namespace ricochet::convex
