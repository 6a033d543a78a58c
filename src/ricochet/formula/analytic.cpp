#include "ricochet/formula/analytic.h"

#include <cmath>
#include <unordered_map>

#include "ricochet/formula/range.h"

namespace ricochet::formula {
namespace {

enum class Place { Everywhere, ButForPoles, ButForPlaces, Kinked };

bool may_vanish(Range a) { return a.low <= 0.0 && a.high >= 0.0; }
bool is_decided(Range a) { return a.low == a.high; }
Place unless(bool bad, Place place) { return bad ? place : Place::Everywhere; }

bool is_condition(Op op) {
  return op == Op::Not || op == Op::Less || op == Op::LessEqual || op == Op::Equal ||
         op == Op::And || op == Op::Or;
}

/// Powers with a whole exponent are products; others are roots.
Place place_of_power(Range base, Range exponent) {
  const bool is_whole = is_decided(exponent) && exponent.low == std::round(exponent.low);
  if (is_whole && exponent.low >= 0.0) return Place::Everywhere;
  if (is_whole) return unless(may_vanish(base), Place::ButForPoles);
  return unless(base.low <= 0.0, Place::ButForPlaces);
}

/// Where one operation is analytic in its operands.
Place place_of(Op op, Range a, Range b, Range result) {
  constexpr double kQuarter = 1.5707963;
  switch (op) {
    case Op::Abs:
    case Op::Sign: return unless(may_vanish(a), Place::Kinked);
    case Op::Min:
    case Op::Max: return unless(a.low <= b.high && b.low <= a.high, Place::Kinked);
    case Op::Sqrt: return unless(a.low <= 0.0, Place::ButForPlaces);
    case Op::Log: return unless(a.low <= 0.0, Place::ButForPoles);
    case Op::Hypot: return unless(may_vanish(a) && may_vanish(b), Place::ButForPlaces);
    case Op::Divide:
    case Op::Ratio: return unless(may_vanish(b), Place::ButForPoles);
    case Op::Power: return place_of_power(a, b);
    case Op::Tan: return unless(a.low < -kQuarter || a.high > kQuarter, Place::ButForPoles);
    case Op::Asin:
    case Op::Acos: return unless(a.low <= -1.0 || a.high >= 1.0, Place::ButForPlaces);
    case Op::Atan2: return unless(b.low <= 0.0, Place::ButForPlaces);
    default: return unless(is_condition(op) && !is_decided(result), Place::Kinked);
  }
}

}  // namespace

Analyticity analyticity_of(const Graph& graph, NodeId root) {
  const std::unordered_map<NodeId, Range> ranges = ranges_of(graph, root);
  std::unordered_map<NodeId, bool> has_pole;
  Analyticity found;
  for (const NodeId id : graph.reachable({root})) {
    const Node& node = graph[id];
    const auto of = [&](std::size_t k) {
      return node.operands[k] < 0 ? Range{} : ranges.at(node.operands[k]);
    };
    const Place place = place_of(node.op, of(0), of(1), ranges.at(id));
    bool pole = place == Place::ButForPoles;
    for (const NodeId operand : node.operands) pole = pole || (operand >= 0 && has_pole[operand]);
    has_pole[id] = pole;
    if (place == Place::Kinked) return {false, is_condition(node.op) ? "if" : text_of(node.op)};
    if (node.op == Op::Exp && pole) return {false, "exp of a quotient whose divisor may vanish"};
    if (place == Place::Everywhere || !found.holds) continue;
    found = {std::nullopt, std::string(text_of(node.op)) + " where it is singular"};
  }
  return found;
}

}  // namespace ricochet::formula
