#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ricochet/formula/graph.h"
#include "ricochet/formula/scope.h"
#include "ricochet/formula/syntax.h"

namespace ricochet::formula {

/// Names that stand for a number in one formula only: the i of `for`.
using Locals = std::vector<std::pair<std::string, double>>;

/// Puts a formula into the graph, with its names looked up in the scope and its sums written out.
/// Throws FormulaError for unknown names, wrong numbers of arguments, values that are not finite,
/// and formulas that outgrow the graph's limit.
NodeId lower(const Syntax& syntax, const Scope& scope, Graph& graph, const Locals& locals = {});

/// One side-by-side comparison of a chain: `left <op> right`, op one of < <= > >= == !=.
struct Comparison {
  NodeId left{-1};
  std::string op;
  NodeId right{-1};
};

/// The comparisons of a formula that is an inequality or a chain of them, a <= g <= b.
std::vector<Comparison> lower_relation(const Syntax& syntax, const Scope& scope, Graph& graph,
                                       const Locals& locals = {});

/// A formula that has no inputs: a constant of the graph.
NodeId lower_constant(const Syntax& syntax, const Scope& scope, Graph& graph,
                      const Locals& locals = {});

/// The value of a formula that has no inputs; slots may not change it any more.
double lower_number(const Syntax& syntax, const Scope& scope, Graph& graph,
                    const Locals& locals = {});

/// Throws FormulaError where the formula has a name that is not in the scope, nor one of `indices`,
/// nor an index of its sums: for formulas that are lowered later.
void check_names(const Syntax& syntax, const Scope& scope, const std::vector<std::string>& indices);

bool is_function(const std::string& name);

/// Names of all functions, sorted.
std::vector<std::string> function_names();

}  // namespace ricochet::formula
