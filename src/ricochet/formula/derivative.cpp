#include "ricochet/formula/derivative.h"

#include <unordered_map>

namespace ricochet::formula {
namespace {

/// Adds to the adjoints of a node's operands what the node's own adjoint contributes.
class Reverse {
 public:
  explicit Reverse(Graph& graph) : graph_(graph) {}

  void seed(NodeId root) { adjoints_[root] = graph_.constant(1.0); }

  NodeId adjoint(NodeId id) {
    const auto found = adjoints_.find(id);
    return found == adjoints_.end() ? graph_.constant(0.0) : found->second;
  }

  void propagate(NodeId id) {
    const NodeId w = adjoint(id);
    if (graph_.is_constant(w, 0.0)) return;
    const Node node = graph_[id];  // a copy: the graph grows while we work
    const NodeId a = node.operands[0];
    const NodeId b = node.operands[1];
    const int operands = arity(node.op);
    if (operands == 1) give(a, times(w, slope(node.op, a, id)));
    if (operands == 2) propagate_two(node.op, a, b, id, w);
    if (operands == 3) {
      const NodeId zero = graph_.constant(0.0);
      give(b, graph_.make(Op::Select, a, w, zero));
      give(node.operands[2], graph_.make(Op::Select, a, zero, w));
    }
  }

 private:
  NodeId number(double value) { return graph_.constant(value); }

  /// w * slope. An adjoint that is 0 on one side of a condition keeps the slope out of that side,
  /// where it may be undefined: 0 * NaN is not 0.
  NodeId times(NodeId w, NodeId slope) { return inside(w, slope, Op::Multiply); }
  NodeId over(NodeId w, NodeId divisor, Op op = Op::Divide) { return inside(w, divisor, op); }

  NodeId inside(NodeId w, NodeId other, Op op) {
    const Node node = graph_[w];
    if (node.op == Op::Select) {
      const NodeId zero = number(0.0);
      const NodeId yes = node.operands[1];
      const NodeId no = node.operands[2];
      if (yes == zero) {
        return graph_.make(Op::Select, node.operands[0], zero, inside(no, other, op));
      }
      if (no == zero) {
        return graph_.make(Op::Select, node.operands[0], inside(yes, other, op), zero);
      }
    }
    if (node.op == Op::Negate && graph_[node.operands[0]].op == Op::Select) {
      return graph_.negate(inside(node.operands[0], other, op));
    }
    return graph_.make(op, w, other);
  }

  /// Derivative of a function of one operand, `value` being the node of the function itself.
  NodeId slope(Op op, NodeId a, NodeId value) {
    Graph& g = graph_;
    switch (op) {
      case Op::Negate: return number(-1.0);
      case Op::Sin: return g.make(Op::Cos, a);
      case Op::Cos: return g.negate(g.make(Op::Sin, a));
      case Op::Tan: return g.add(number(1.0), g.multiply(value, value));
      case Op::Asin: return g.make(Op::Ratio, number(1.0), root_of_one_minus_square(a));
      case Op::Acos: return g.make(Op::Ratio, number(-1.0), root_of_one_minus_square(a));
      case Op::Atan: return g.divide(number(1.0), g.add(number(1.0), g.multiply(a, a)));
      case Op::Sinh: return g.make(Op::Cosh, a);
      case Op::Cosh: return g.make(Op::Sinh, a);
      case Op::Tanh: return g.subtract(number(1.0), g.multiply(value, value));
      case Op::Exp: return value;
      case Op::Log: return g.divide(number(1.0), a);
      case Op::Sqrt: return g.make(Op::Ratio, number(0.5), value);
      case Op::Abs: return g.make(Op::Sign, a);
      default: return number(0.0);  // Not, Sign
    }
  }

  NodeId root_of_one_minus_square(NodeId a) {
    return graph_.make(Op::Sqrt, graph_.subtract(number(1.0), graph_.multiply(a, a)));
  }

  void propagate_two(Op op, NodeId a, NodeId b, NodeId value, NodeId w) {
    Graph& g = graph_;
    switch (op) {
      case Op::Add: give(a, w), give(b, w); break;
      case Op::Subtract: give(a, w), give(b, g.negate(w)); break;
      case Op::Multiply: give(a, times(w, b)), give(b, times(w, a)); break;
      case Op::Divide:  // d(a/b) = da/b - (a/b) db/b
        give(a, over(w, b));
        give(b, g.negate(over(times(w, value), b)));
        break;
      case Op::Ratio:
        give(a, over(w, b, Op::Ratio));
        give(b, g.negate(over(times(w, value), b, Op::Ratio)));
        break;
      case Op::Power: propagate_power(a, b, value, w); break;
      case Op::Atan2: {  // d atan2(a, b) = (b da - a db) / (a^2 + b^2)
        const NodeId square = g.add(g.multiply(a, a), g.multiply(b, b));
        const NodeId scaled = over(w, square, Op::Ratio);
        give(a, times(scaled, b));
        give(b, g.negate(times(scaled, a)));
        break;
      }
      case Op::Hypot:
        give(a, times(w, g.make(Op::Ratio, a, value)));
        give(b, times(w, g.make(Op::Ratio, b, value)));
        break;
      case Op::Min: propagate_choice(g.make(Op::LessEqual, a, b), a, b, w); break;
      case Op::Max: propagate_choice(g.make(Op::LessEqual, b, a), a, b, w); break;
      default: break;  // comparisons and logic: 0
    }
  }

  void propagate_choice(NodeId first_is_taken, NodeId a, NodeId b, NodeId w) {
    give(a, graph_.make(Op::Select, first_is_taken, w, number(0.0)));
    give(b, graph_.make(Op::Select, first_is_taken, number(0.0), w));
  }

  /// d(a^b) = b a^(b-1) da + a^b log(a) db
  void propagate_power(NodeId a, NodeId b, NodeId value, NodeId w) {
    Graph& g = graph_;
    const NodeId lowered = g.power(a, g.subtract(b, number(1.0)));
    give(a, times(w, g.multiply(b, lowered)));
    if (g.is_constant(b)) return;
    const NodeId positive = g.make(Op::Less, number(0.0), a);
    const NodeId log = g.make(Op::Log, g.make(Op::Select, positive, a, number(1.0)));
    give(b, times(w, g.multiply(value, log)));
  }

  void give(NodeId operand, NodeId part) {
    const auto [entry, fresh] = adjoints_.try_emplace(operand, part);
    if (!fresh) entry->second = graph_.add(entry->second, part);
  }

  Graph& graph_;
  std::unordered_map<NodeId, NodeId> adjoints_;
};

}  // namespace

std::vector<NodeId> gradient(Graph& graph, NodeId root, const std::vector<int>& slots) {
  Reverse reverse(graph);
  reverse.seed(root);
  const std::vector<NodeId> order = graph.reachable({root});
  for (auto id = order.rbegin(); id != order.rend(); ++id) reverse.propagate(*id);
  std::vector<NodeId> derivatives;
  derivatives.reserve(slots.size());
  for (const int slot : slots) derivatives.push_back(reverse.adjoint(graph.input(slot)));
  return derivatives;
}

}  // namespace ricochet::formula
