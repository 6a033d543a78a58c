#include "ricochet/convex/friction_cone.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::convex {
namespace {

Tangent tangential(const ContactVector& R) { return R.tail<2>(); }

/// Nearest point of the ray through `direction`.
ContactVector on_ray(const ContactVector& direction, const ContactVector& R) {
  return std::max(0.0, direction.dot(R) / direction.squaredNorm()) * direction;
}

/// Outside C and outside its polar, so that the nearest point lies on the surface of C.
struct OnSurface {
  const ContactVector& R;

  /// The cone over the segment [low, high] along one tangential axis.
  ContactVector on_flat(double low, double high, Eigen::Index axis) const {
    ContactVector flat(R.x(), 0.0, 0.0);
    flat[axis] = R[axis];
    const bool is_inside = R[axis] <= high * R.x() && R[axis] >= low * R.x();
    if (is_inside) return flat;
    ContactVector edge(1.0, 0.0, 0.0);
    edge[axis] = R[axis] > 0.0 ? high : low;  // 0 only where the cone is this ray
    return on_ray(edge, flat);
  }

  ContactVector operator()(const Segment& section) const {
    return on_flat(section.low, section.high, 1);
  }

  ContactVector operator()(const Disc& section) const {
    const double length = tangential(R).norm();
    const Tangent along = tangential(R) / length;  // not 0 here
    return on_ray({1.0, section.radius * along.x(), section.radius * along.y()}, R);
  }

  /// The point is N / (1 - s), X / (1 + s/a^2), Y / (1 + s/b^2) with the s >= 0 that puts it on the
  /// surface: height(X, Y of s) (1 - s) = N, whose left side decreases in s.
  ContactVector operator()(const Ellipse& e) const {
    if (!(e.a > 0.0)) return on_flat(-e.b, e.b, 2);
    if (!(e.b > 0.0)) return on_flat(-e.a, e.a, 1);
    const Tangent squares(e.a * e.a, e.b * e.b);
    const auto tangent_at = [&](double s) {
      return Tangent(
          tangential(R).cwiseProduct(squares).cwiseQuotient((squares.array() + s).matrix()));
    };
    const auto height = [&](const Tangent& x) {
      return std::sqrt(x.cwiseAbs2().cwiseQuotient(squares).sum());
    };
    double low = 0.0;
    double high = 1.0;
    const auto excess = [&](double s) { return height(tangent_at(s)) * (1.0 - s) - R.x(); };
    while (excess(high) > 0.0 && high < 1e300) high *= 4.0;
    for (int round = 0; round < 200 && high - low > 2e-16 * high; ++round) {
      const double middle = 0.5 * (low + high);
      (excess(middle) > 0.0 ? low : high) = middle;
    }
    const Tangent x = tangent_at(0.5 * (low + high));
    return on_ray({height(x), x.x(), x.y()}, R);
  }

  ContactVector operator()(const Polygon& polygon) const {
    ContactVector best = ContactVector::Zero();
    double least = R.squaredNorm();
    const auto offer = [&](const ContactVector& point) {
      const double distance = (point - R).squaredNorm();
      if (distance >= least) return;
      least = distance;
      best = point;
    };
    const std::size_t count = polygon.corners.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Tangent& from = polygon.corners[i];
      const Tangent& to = polygon.corners[(i + 1) % count];
      const ContactVector one(1.0, from.x(), from.y());
      const ContactVector other(1.0, to.x(), to.y());
      offer(on_ray(one, R));
      const ContactVector outward = one.cross(other);
      const ContactVector point = R - (outward.dot(R) / outward.squaredNorm()) * outward;
      if (one.cross(point).dot(outward) >= 0.0 && point.cross(other).dot(outward) >= 0.0) {
        offer(point);
      }
    }
    return best;
  }
};

}  // namespace

ContactVector FrictionCone::project(const ContactVector& R) const {
  if (contains(R)) return R;
  const bool is_polar = R.x() + support(section, tangential(R)) <= 0.0;  // -R in C*
  if (is_polar) return ContactVector::Zero();
  return std::visit(OnSurface{R}, section);
}

bool FrictionCone::contains(const ContactVector& R) const {
  return R.x() >= 0.0 && convex::contains(section, tangential(R), R.x());
}

}  // namespace ricochet::convex
