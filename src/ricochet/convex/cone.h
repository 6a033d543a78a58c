#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

namespace ricochet::convex {

/// A closed convex cone of impulses on a line: the reaction of a contact without friction.
template <class K>
concept LineCone = requires(const K& cone, double r) {
  { cone.project(r) } -> std::same_as<double>;    // nearest point of K
  { cone.violation(r) } -> std::same_as<double>;  // distance to K, 0 inside
};

/// K = { r >= 0 }: a contact that pushes and does not pull.
struct HalfLine {
  static double project(double r) { return std::max(r, 0.0); }
  static double violation(double r) { return std::max(-r, 0.0); }
};
static_assert(LineCone<HalfLine>);

/// K = R: a joint, or a contact on a branch where its scheme fixes the velocity.
struct Line {
  static double project(double r) { return r; }
  static double violation(double) { return 0.0; }
};
static_assert(LineCone<Line>);

}  // namespace ricochet::convex
