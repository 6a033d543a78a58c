#include "ricochet/formula/growth.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "ricochet/formula/range.h"

namespace ricochet::formula {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

bool is_away_from_zero(const Graph& graph, NodeId id) {
  const Range range = range_of(graph, id);
  return range.low > 0.0 || range.high < 0.0;
}

double power(const Graph& graph, const Node& node, double base) {
  if (!graph.is_constant(node.operands[1])) return kUnknown;
  const double exponent = graph[node.operands[1]].value;
  if (exponent >= 0.0) return base == 0.0 ? 0.0 : exponent * base;
  return is_away_from_zero(graph, node.operands[0]) ? 0.0 : kUnknown;
}

double combine(const Graph& graph, const Node& node, double a, double b, double c) {
  switch (node.op) {
    case Op::Not:
    case Op::Sin:
    case Op::Cos:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Atan2:
    case Op::Tanh:
    case Op::Sign:
    case Op::Less:
    case Op::LessEqual:
    case Op::Equal:
    case Op::And:
    case Op::Or: return 0.0;
    case Op::Negate:
    case Op::Abs: return a;
    case Op::Add:
    case Op::Subtract:
    case Op::Min:
    case Op::Max:
    case Op::Hypot: return std::max(a, b);
    case Op::Multiply: return a + b;
    case Op::Select: return std::max(b, c);
    case Op::Sqrt: return 0.5 * a;
    case Op::Sinh:
    case Op::Cosh:
    case Op::Exp: return a == 0.0 ? 0.0 : kUnknown;  // of something bounded
    case Op::Divide: return is_away_from_zero(graph, node.operands[1]) ? a : kUnknown;
    case Op::Power: return power(graph, node, a);
    default: return kUnknown;
  }
}

}  // namespace

double growth_degree(const Graph& graph, NodeId root, int first, int last) {
  std::unordered_map<NodeId, double> degrees;
  for (const NodeId id : graph.reachable({root})) {
    const Node& node = graph[id];
    if (node.op == Op::Constant) {
      degrees[id] = 0.0;
    } else if (node.op == Op::Input) {
      degrees[id] = node.input >= first && node.input < last ? 1.0 : 0.0;
    } else {
      const auto of = [&](std::size_t k) {
        return node.operands[k] < 0 ? 0.0 : degrees.at(node.operands[k]);
      };
      degrees[id] = combine(graph, node, of(0), of(1), of(2));
    }
  }
  return degrees[root];
}

}  // namespace ricochet::formula
