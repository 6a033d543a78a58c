#include "ricochet/convex/section.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::convex {
namespace {

Tangent nearest_on_edge(const Tangent& from, const Tangent& to, const Tangent& x) {
  const Tangent along = to - from;
  const double length = along.squaredNorm();
  if (!(length > 0.0)) return from;
  return from + std::clamp(along.dot(x - from) / length, 0.0, 1.0) * along;
}

double cross(const Tangent& a, const Tangent& b) { return a.x() * b.y() - a.y() * b.x(); }

}  // namespace

Tangent Segment::project(const Tangent& x, double r) const {
  return {std::clamp(x.x(), r * low, r * high), 0.0};
}
double Segment::support(const Tangent& d) const { return d.x() > 0.0 ? d.x() * high : d.x() * low; }
bool Segment::contains(const Tangent& x, double r) const {
  return x.y() == 0.0 && r * low <= x.x() && x.x() <= r * high;
}

Tangent Disc::project(const Tangent& x, double r) const {
  const double length = x.norm();
  return length <= r * radius ? x : (r * radius / length) * x;
}
double Disc::support(const Tangent& d) const { return radius * d.norm(); }
bool Disc::contains(const Tangent& x, double r) const { return x.norm() <= r * radius; }

/// With A, B the half axes, of which B is the shorter one, the nearest point is
/// (x R/(R + s), y/(1 + s)), R = (A/B)^2, for the s >= 0 that puts it on the curve: the root of a
/// convex decreasing function, to which Newton's method climbs from below.       [Eberly 2013]
Tangent Ellipse::project(const Tangent& x, double r) const {
  if (contains(x, r)) return x;
  const Tangent axes(r * a, r * b);
  if (!(axes.minCoeff() > 0.0)) return x.cwiseMin(axes).cwiseMax(-axes);
  const int major = axes[0] >= axes[1] ? 0 : 1;
  const int minor = 1 - major;
  const double ratio = axes[major] / axes[minor];
  const double square = ratio * ratio;
  const double far_x = std::abs(x[major]) / axes[major];
  const double far_y = std::abs(x[minor]) / axes[minor];
  double s = std::max({0.0, square * (far_x - 1.0), far_y - 1.0});  // neither part is above 1
  constexpr int kMostRounds = 100;
  for (int round = 0; round < kMostRounds; ++round) {
    const double along = far_x * square / (square + s);
    const double across = far_y / (1.0 + s);
    const double value = along * along + across * across - 1.0;
    const double slope = -2.0 * (along * along / (square + s) + across * across / (1.0 + s));
    const double next = s - value / slope;
    if (!(next > s)) break;
    s = next;
  }
  Tangent nearest;
  nearest[major] = x[major] * square / (square + s);
  nearest[minor] = x[minor] / (1.0 + s);
  return nearest / std::hypot(nearest.x() / axes.x(), nearest.y() / axes.y());
}
double Ellipse::support(const Tangent& d) const { return std::hypot(a * d.x(), b * d.y()); }
bool Ellipse::contains(const Tangent& x, double r) const {
  if (!(a > 0.0 && b > 0.0)) return std::abs(x.x()) <= r * a && std::abs(x.y()) <= r * b;
  return std::hypot(x.x() * b, x.y() * a) <= r * a * b;
}

Tangent Polygon::project(const Tangent& x, double r) const {
  if (contains(x, r)) return x;
  Tangent best = Tangent::Zero();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Tangent& next = corners[(i + 1) % corners.size()];
    const Tangent point = nearest_on_edge(r * corners[i], r * next, x);
    const double distance = (point - x).squaredNorm();
    if (distance < least) {
      least = distance;
      best = point;
    }
  }
  return best;
}
double Polygon::support(const Tangent& d) const {
  double most = 0.0;  // 0 lies in it
  for (const Tangent& corner : corners) most = std::max(most, d.dot(corner));
  return most;
}
bool Polygon::contains(const Tangent& x, double r) const {
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Tangent along = corners[(i + 1) % corners.size()] - corners[i];
    if (cross(along, x - r * corners[i]) < 0.0) return false;
  }
  return true;
}

Tangent project(const Section& section, const Tangent& x, double r) {
  return std::visit([&](const auto& kind) { return kind.project(x, r); }, section);
}
double support(const Section& section, const Tangent& d) {
  return std::visit([&](const auto& kind) { return kind.support(d); }, section);
}
bool contains(const Section& section, const Tangent& x, double r) {
  return std::visit([&](const auto& kind) { return kind.contains(x, r); }, section);
}

PolygonFault check_polygon(std::span<const Tangent> corners, bool& is_clockwise) {
  const std::size_t count = corners.size();
  if (count < 3) return PolygonFault::TooFew;
  double area = 0.0;
  for (std::size_t i = 0; i < count; ++i) area += cross(corners[i], corners[(i + 1) % count]);
  is_clockwise = area < 0.0;
  const double sense = is_clockwise ? -1.0 : 1.0;
  double turned = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const Tangent here = corners[(i + 1) % count] - corners[i];
    const Tangent next = corners[(i + 2) % count] - corners[(i + 1) % count];
    const double turn = sense * cross(here, next);
    if (!(turn > 0.0)) return PolygonFault::NotConvex;
    turned += std::atan2(turn, here.dot(next));
  }
  constexpr double kOnce = 7.0;  // a star turns left at each corner too, but twice round
  if (turned > kOnce) return PolygonFault::NotConvex;
  for (std::size_t i = 0; i < count; ++i) {
    if (sense * cross(corners[i], corners[(i + 1) % count]) < 0.0) {
      return PolygonFault::NotAroundZero;
    }
  }
  return PolygonFault::None;
}

}  // namespace ricochet::convex
