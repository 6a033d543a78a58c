#include "ricochet/formula/range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace ricochet::formula {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Range kEverything{-kInfinity, kInfinity};

double product(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

Range times(Range a, Range b) {
  const double corners[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                            product(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Range square(Range a) {
  const double most = std::max(product(a.low, a.low), product(a.high, a.high));
  if (a.low <= 0.0 && a.high >= 0.0) return {0.0, most};
  return {std::min(a.low * a.low, a.high * a.high), most};
}

/// A truth value that holds surely, surely not, or perhaps.
Range truth(bool surely, bool surely_not) { return {surely ? 1.0 : 0.0, surely_not ? 0.0 : 1.0}; }
bool is_true(Range a) { return a.low > 0.0 || a.high < 0.0; }
bool is_false(Range a) { return a.low == 0.0 && a.high == 0.0; }

Range hull(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Range absolute(Range a) {
  const double most = std::max(std::abs(a.low), std::abs(a.high));
  if (a.low <= 0.0 && a.high >= 0.0) return {0.0, most};
  return {std::min(std::abs(a.low), std::abs(a.high)), most};
}

Range combine(const Node& node, Range a, Range b, Range c) {
  switch (node.op) {
    case Op::Negate: return {-a.high, -a.low};
    case Op::Add: return {a.low + b.low, a.high + b.high};
    case Op::Subtract: return {a.low - b.high, a.high - b.low};
    case Op::Multiply: return node.operands[0] == node.operands[1] ? square(a) : times(a, b);
    case Op::Sin:
    case Op::Cos:
    case Op::Tanh:
    case Op::Sign: return {-1.0, 1.0};
    case Op::Cosh: return {1.0, kInfinity};
    case Op::Exp: return {std::exp(a.low), std::exp(a.high)};
    case Op::Sqrt: return {std::sqrt(std::max(0.0, a.low)), std::sqrt(std::max(0.0, a.high))};
    case Op::Abs: return absolute(a);
    case Op::Hypot: return {std::max(absolute(a).low, absolute(b).low), kInfinity};
    case Op::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::Less: return truth(a.high < b.low, a.low >= b.high);
    case Op::LessEqual: return truth(a.high <= b.low, a.low > b.high);
    case Op::Equal: return truth(false, a.high < b.low || b.high < a.low);
    case Op::Not: return truth(is_false(a), is_true(a));
    case Op::And: return truth(is_true(a) && is_true(b), is_false(a) || is_false(b));
    case Op::Or: return truth(is_true(a) || is_true(b), is_false(a) && is_false(b));
    case Op::Select: return is_true(a) ? b : is_false(a) ? c : hull(b, c);
    default: return kEverything;
  }
}

}  // namespace

Range range_of(const Graph& graph, NodeId root) {
  std::unordered_map<NodeId, Range> ranges;
  for (const NodeId id : graph.reachable({root})) {
    const Node& node = graph[id];
    const auto of = [&](std::size_t k) {
      return node.operands[k] < 0 ? kEverything : ranges.at(node.operands[k]);
    };
    Range range = kEverything;
    if (node.op == Op::Constant) range = {node.value, node.value};
    if (node.op != Op::Constant && node.op != Op::Input) {
      range = combine(node, of(0), of(1), of(2));
    }
    if (std::isnan(range.low) || std::isnan(range.high)) range = kEverything;
    ranges.emplace(id, range);
  }
  return ranges.at(root);
}

}  // namespace ricochet::formula
