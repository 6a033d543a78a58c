#pragma once

#include "ricochet/formula/graph.h"

namespace ricochet::formula {

/// How a formula grows with some of its inputs: |f| <= c(others) (1 + |x|^degree) for x made of the
/// slots first <= slot < last, with c bounded where the other inputs are. Infinity where no such
/// degree can be read off the formula. Safe, not sharp: cancellation is not seen.
double growth_degree(const Graph& graph, NodeId root, int first, int last);

}  // namespace ricochet::formula
