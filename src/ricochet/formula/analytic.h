#pragma once

#include <optional>
#include <string>

#include "ricochet/formula/graph.h"

namespace ricochet::formula {

/// Whether a formula is analytic in its inputs, as far as it can be read off.
struct Analyticity {
  std::optional<bool> holds{true};  // none: there may be places where it is not
  std::string why;                  // of what is not true: "abs", "sqrt where it vanishes", ...
};

/// A walk of the graph. Sums, products, exp, sin and their like are analytic everywhere. A kink or
/// a jump that the values of its operands do not exclude (abs, min, sign, if, ...) makes it false,
/// and so does an exponential whose exponent has a pole, exp(-1/t^2): smooth, and not analytic.
/// Roots, logarithms, quotients, fractional powers are analytic where they do not vanish; where
/// bounds of their operands do not exclude that, nothing is said.
Analyticity analyticity_of(const Graph& graph, NodeId root);

}  // namespace ricochet::formula
