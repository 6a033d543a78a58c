#include "ricochet/scene/vector_formulas.h"

namespace ricochet::scene {

using formula::NodeId;
using formula::Op;

NodeVector constants(formula::Graph& graph, const std::vector<double>& values) {
  NodeVector made;
  for (const double value : values) made.push_back(graph.constant(value));
  return made;
}

NodeVector sum(formula::Graph& graph, const NodeVector& a, const NodeVector& b) {
  NodeVector made;
  for (std::size_t i = 0; i < a.size(); ++i) made.push_back(graph.add(a[i], b[i]));
  return made;
}

NodeVector difference(formula::Graph& graph, const NodeVector& a, const NodeVector& b) {
  NodeVector made;
  for (std::size_t i = 0; i < a.size(); ++i) made.push_back(graph.subtract(a[i], b[i]));
  return made;
}

NodeVector times(formula::Graph& graph, NodeId factor, NodeVector vector) {
  for (NodeId& component : vector) component = graph.multiply(factor, component);
  return vector;
}

NodeId dot(formula::Graph& graph, const NodeVector& a, const NodeVector& b) {
  NodeId sum = graph.constant(0.0);
  for (std::size_t i = 0; i < a.size(); ++i) sum = graph.add(sum, graph.multiply(a[i], b[i]));
  return sum;
}

NodeId length(formula::Graph& graph, const NodeVector& vector) {
  if (vector.size() == 2) return graph.make(Op::Hypot, vector[0], vector[1]);
  return graph.make(Op::Sqrt, dot(graph, vector, vector));
}

NodeVector normalized(formula::Graph& graph, NodeVector n) {
  const NodeId size = graph.make(Op::Sqrt, dot(graph, n, n));
  for (NodeId& component : n) component = graph.divide(component, size);
  return n;
}

NodeVector select(formula::Graph& graph, NodeId condition, const NodeVector& a,
                  const NodeVector& b) {
  NodeVector made;
  for (std::size_t i = 0; i < a.size(); ++i) {
    made.push_back(graph.make(Op::Select, condition, a[i], b[i]));
  }
  return made;
}

std::vector<NodeVector> tangents_of(formula::Graph& graph, const NodeVector& n) {
  if (n.size() == 2) return {{n[1], graph.negate(n[0])}};
  const NodeId zero = graph.constant(0.0);
  const NodeId one = graph.constant(1.0);
  const NodeId below = graph.make(Op::Less, n[2], zero);
  const NodeId sign = graph.make(Op::Select, below, graph.constant(-1.0), one);
  const NodeId a = graph.divide(graph.constant(-1.0), graph.add(sign, n[2]));
  const NodeId b = graph.multiply(graph.multiply(n[0], n[1]), a);
  const auto square = [&](NodeId x) { return graph.multiply(x, x); };
  const NodeId xx = graph.multiply(graph.multiply(sign, square(n[0])), a);
  const NodeId yy = graph.multiply(square(n[1]), a);
  return {{graph.add(one, xx), graph.multiply(sign, b), graph.negate(graph.multiply(sign, n[0]))},
          {b, graph.add(sign, yy), graph.negate(n[1])}};
}

}  // namespace ricochet::scene
