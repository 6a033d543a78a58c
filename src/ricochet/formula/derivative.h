#pragma once

#include <vector>

#include "ricochet/formula/graph.h"

namespace ricochet::formula {

/// Partial derivatives of `root` with respect to the inputs `slots`, as nodes of the same graph
/// (reverse accumulation, so the cost is that of the formula, not times the number of inputs).
///
/// Where a function has no derivative, one is chosen so that no NaN arises:
///   abs' = sign, sign' = 0, sign(0) = 0;   comparisons, and, or, not: 0;
///   min, max: of the smaller (larger) argument, of the first when they are equal;
///   if(c, a, b): of the branch taken;
///   sqrt at 0, hypot and atan2 at the origin, asin and acos at +-1: 0;
///   a^b with a <= 0: the part that comes through b is 0.
std::vector<NodeId> gradient(Graph& graph, NodeId root, const std::vector<int>& slots);

}  // namespace ricochet::formula
