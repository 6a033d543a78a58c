#pragma once

#include <cstddef>
#include <vector>

namespace ricochet::study {

/// A function of time of bounded variation: linear between its nodes, whose times do not decrease.
/// Two nodes at one time are a jump; its completed graph holds the segment between them.
struct Curve {
  std::vector<double> t;
  std::vector<double> value;

  void add(double time, double x) {
    t.push_back(time);
    value.push_back(x);
  }
  std::size_t size() const { return t.size(); }
  /// Highest less lowest value.
  double range() const;
};

/// The part of a curve between two times, which lie within its own.
Curve clipped(const Curve& curve, double from, double to);

/// The integral of |a - b| over the times that both have: exact but for rounding, in O(n).
double l1_distance(const Curve& a, const Curve& b);

/// The Hausdorff distance between the completed graphs of a and b in the plane (rate t, value),
/// exact to a thousandth: for functions of bounded variation it is small when the jumps of one are
/// near those of the other, whichever comes first [Moreau 1978]. `rate` > 0 says what a time is
/// worth in values. Points are looked up by time, and none is followed that cannot be the farthest.
double graph_distance(const Curve& a, const Curve& b, double rate);

}  // namespace ricochet::study
