#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "ricochet/shape/shape.h"

namespace ricochet::shape {

/// A pair of features of two shapes: what they are in the highest bits, then the number of A's,
/// then that of B's. The same on every machine.
using Key = std::uint64_t;

/// One feature of A facing one feature of B. Its gap is an analytic function of the two poses, with
/// d(gap)/dt = normal . (velocity of A at on_a - velocity of B at on_b).
template <int D>
struct Row {
  Key feature{0};
  double gap{0.0};  // [m] negative where they overlap
  Vec<D> normal;    // unit, from B towards A
  Vec<D> on_a;      // world points of A and of B
  Vec<D> on_b;
};

/// Appends a row for every pair of features that is valid at these poses, with gap <= reach, sorted
/// by feature. Where the shapes are within reach there is at least one, whose gap is their
/// distance, or minus the depth of their overlap.
template <int D>
void gaps(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb, double reach,
          std::vector<Row<D>>& out);

/// One row of those above, from its feature alone; NaN where it is not valid. Pointers may be null.
template <int D>
double gap_of(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb,
              Key feature, Vec<D>* normal = nullptr, Vec<D>* on_a = nullptr,
              Vec<D>* on_b = nullptr);

/// Whether a feature is a point of a cylinder's rim; and whether it is the lowest one, which goes
/// round it as the cylinder tilts.
bool is_on_rim(Key feature);
bool is_lowest_of_rim(Key feature);

/// Distance of two shapes, or minus the depth of their overlap, by their support functions,
///
///     max over unit n of  min over A of n . x  -  max over B of n . y :
///
/// every n gives a lower bound. Shares no code with the rows. Returns as soon as a bound is above
/// `enough`.
template <int D>
double separation(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb,
                  double enough = std::numeric_limits<double>::infinity());

}  // namespace ricochet::shape
