#pragma once

#include "ricochet/formula/graph.h"

namespace ricochet::formula {

/// An interval that contains every value of a formula.
struct Range {
  double low;
  double high;
};

/// Bounds of `root` over all values of its inputs, by interval arithmetic: safe, not sharp. Enough
/// to prove that a condition never holds.
Range range_of(const Graph& graph, NodeId root);

}  // namespace ricochet::formula
