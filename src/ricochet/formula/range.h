#pragma once

#include <unordered_map>
#include <vector>

#include "ricochet/formula/graph.h"

namespace ricochet::formula {

/// An interval that contains every value of a formula.
struct Range {
  double low{0.0};
  double high{0.0};
};

Range operator+(Range a, Range b);
Range operator*(Range a, Range b);

/// The values of one operation over intervals of its operands; `same`: the first two are one.
Range bound(Op op, Range a, Range b, Range c, bool same);

/// Bounds of `root` over all values of its inputs, by interval arithmetic: safe, not sharp. Enough
/// to prove that a condition never holds.
Range range_of(const Graph& graph, NodeId root);
/// The same of every node that `root` is made of.
std::unordered_map<NodeId, Range> ranges_of(const Graph& graph, NodeId root);

/// What rounding may make of `root` at these inputs, in units of the machine's epsilon, to first
/// order: every operation rounds its result, and hands on what its operands are off by. Inputs and
/// constants are taken as exact. 0 where it cannot be told.
double rounding_of(const Graph& graph, NodeId root, const std::vector<double>& inputs);

}  // namespace ricochet::formula
