#include "ricochet/study/bv_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/sum.h"

namespace ricochet::study {
namespace {

struct PlanePoint {
  double x{0.0};
  double y{0.0};
};

PlanePoint middle(PlanePoint a, PlanePoint b) { return {0.5 * (a.x + b.x), 0.5 * (a.y + b.y)}; }
double distance(PlanePoint a, PlanePoint b) { return std::hypot(a.x - b.x, a.y - b.y); }

double distance_to_segment(PlanePoint p, PlanePoint a, PlanePoint b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double squared = dx * dx + dy * dy;
  if (squared == 0.0) return distance(p, a);
  const double s = std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / squared, 0.0, 1.0);
  return distance(p, {a.x + s * dx, a.y + s * dy});
}

/// A completed graph as a polyline whose x does not decrease.
class Polyline {
 public:
  Polyline(const Curve& curve, double rate) {
    for (std::size_t k = 0; k < curve.size(); ++k) {
      points_.push_back({rate * curve.t[k], curve.value[k]});
    }
    if (points_.size() == 1) points_.push_back(points_[0]);
  }

  std::size_t segments() const { return points_.size() - 1; }
  PlanePoint operator[](std::size_t k) const { return points_[k]; }
  double distance_from(PlanePoint p, std::size_t segment) const {
    return distance_to_segment(p, points_[segment], points_[segment + 1]);
  }

  /// What rounding alone makes of a distance.
  double rounding() const {
    double largest = 0.0;
    for (const PlanePoint p : points_) largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
    return 8.0 * std::numeric_limits<double>::epsilon() * largest;
  }

  struct Found {
    std::size_t segment{0};
    double distance{std::numeric_limits<double>::infinity()};
  };

  /// The nearest segment, or the first one met that is not farther than `enough`. The search goes
  /// outwards from the place of p.x and ends where x alone is farther than the best.
  Found near(PlanePoint p, double enough) const {
    const auto at = std::upper_bound(points_.begin(), points_.end(), p.x,
                                     [](double x, PlanePoint q) { return x < q.x; });
    const auto place = static_cast<std::size_t>(at - points_.begin());
    std::size_t right = std::min(place == 0 ? 0 : place - 1, segments() - 1);
    std::size_t left = right;  // segments below it are still to be looked at
    Found best;
    const auto look = [&](std::size_t k) {
      const double d = distance_from(p, k);
      if (d < best.distance) best = {k, d};
    };
    while (best.distance > enough) {
      const bool more_right = right < segments() && points_[right].x - p.x < best.distance;
      const bool more_left = left > 0 && p.x - points_[left].x < best.distance;
      if (!more_right && !more_left) break;
      if (more_right) look(right++);
      if (more_left && best.distance > enough) look(--left);
    }
    return best;
  }

 private:
  std::vector<PlanePoint> points_;
};

/// The largest distance from a point of `from` to `to`, if larger than what is known already. A
/// point nearer than the largest distance found so far need not be followed  [Taha 2015]; the
/// distance to one segment is convex, so that between two points it is at most the larger of
/// theirs.
class OneSided {
 public:
  OneSided(const Polyline& from, const Polyline& to, double known)
      : from_(from),
        to_(to),
        largest_(known),
        rounding_(std::max(from.rounding(), to.rounding())) {}

  double find() {
    // A few points from all over first: the larger the distance known, the less is to be done.
    const std::size_t stride = std::max<std::size_t>(1, from_.segments() / 64);
    for (std::size_t k = 0; k <= from_.segments(); k += stride) (void)look(from_[k]);
    Polyline::Found left = look(from_[0]);
    for (std::size_t k = 0; k < from_.segments(); ++k) {
      const Polyline::Found right = look(from_[k + 1]);
      split(from_[k], left, from_[k + 1], right, 0);
      left = right;
    }
    return largest_;
  }

 private:
  Polyline::Found look(PlanePoint p) {
    // Neighbours have neighbours: what was near the last point often is near enough.
    const double again = to_.distance_from(p, last_);
    if (again <= largest_) return {last_, again};
    const Polyline::Found found = to_.near(p, largest_);
    largest_ = std::max(largest_, found.distance);
    last_ = found.segment;
    return found;
  }

  void split(PlanePoint a, Polyline::Found near_a, PlanePoint b, Polyline::Found near_b,
             int depth) {
    constexpr double kTolerance = 1e-3;
    constexpr int kDeepest = 40;
    const double through_a = std::max(near_a.distance, to_.distance_from(b, near_a.segment));
    const double through_b = std::max(near_b.distance, to_.distance_from(a, near_b.segment));
    const double by_length = 0.5 * (near_a.distance + near_b.distance + distance(a, b));
    const double bound = std::min({through_a, through_b, by_length});
    if (bound <= (1.0 + kTolerance) * largest_ + rounding_ || depth == kDeepest) return;
    const PlanePoint m = middle(a, b);
    const Polyline::Found near_m = look(m);
    split(a, near_a, m, near_m, depth + 1);
    split(m, near_m, b, near_b, depth + 1);
  }

  const Polyline& from_;
  const Polyline& to_;
  double largest_;
  double rounding_;
  std::size_t last_{0};
};

/// The integral of |d| over a time h in which d goes linearly from d0 to d1.
double integral_of_size(double d0, double d1, double h) {
  const double s0 = std::abs(d0);
  const double s1 = std::abs(d1);
  if ((d0 < 0.0) == (d1 < 0.0) || s0 + s1 == 0.0) return 0.5 * h * (s0 + s1);
  return 0.5 * h * (s0 * s0 + s1 * s1) / (s0 + s1);  // two triangles
}

/// The segments of a curve that take time, one after the other.
class Walk {
 public:
  explicit Walk(const Curve& curve) : curve_(curve) { skip(); }
  bool is_over() const { return k_ + 1 >= curve_.size(); }
  double begin() const { return curve_.t[k_]; }
  double end() const { return curve_.t[k_ + 1]; }
  double at(double t) const {
    const double s = (t - begin()) / (end() - begin());
    return curve_.value[k_] + s * (curve_.value[k_ + 1] - curve_.value[k_]);
  }
  void next() {
    ++k_;
    skip();
  }

 private:
  void skip() {
    while (!is_over() && end() <= begin()) ++k_;
  }
  const Curve& curve_;
  std::size_t k_{0};
};

}  // namespace

double Curve::range() const {
  if (value.empty()) return 0.0;
  const auto [low, high] = std::minmax_element(value.begin(), value.end());
  return *high - *low;
}

Curve clipped(const Curve& curve, double from, double to) {
  Curve part;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    const double t = curve.t[k];
    if (k > 0) {
      const double before = curve.t[k - 1];
      const auto between = [&](double at) {
        const double s = (at - before) / (t - before);
        return curve.value[k - 1] + s * (curve.value[k] - curve.value[k - 1]);
      };
      if (before < from && from < t) part.add(from, between(from));
      if (before < to && to < t) part.add(to, between(to));
    }
    if (from <= t && t <= to) part.add(t, curve.value[k]);
  }
  return part;
}

double l1_distance(const Curve& a, const Curve& b) {
  base::Sum sum;
  Walk in_a(a);
  Walk in_b(b);
  while (!in_a.is_over() && !in_b.is_over()) {
    const double begin = std::max(in_a.begin(), in_b.begin());
    const double end = std::min(in_a.end(), in_b.end());
    if (begin < end) {
      sum.add(integral_of_size(in_a.at(begin) - in_b.at(begin), in_a.at(end) - in_b.at(end),
                               end - begin));
    }
    const bool a_ends = in_a.end() <= in_b.end();
    const bool b_ends = in_b.end() <= in_a.end();
    if (a_ends) in_a.next();
    if (b_ends) in_b.next();
  }
  return sum.value();
}

double graph_distance(const Curve& a, const Curve& b, double rate) {
  const Polyline of_a(a, rate);
  const Polyline of_b(b, rate);
  const double one_way = OneSided(of_a, of_b, 0.0).find();
  return OneSided(of_b, of_a, one_way).find();
}

}  // namespace ricochet::study
