#include "ricochet/formula/substitute.h"

#include <unordered_map>

namespace ricochet::formula {
namespace {

NodeId put(Graph& graph, NodeId root, int first, int last, NodeId by, NodeId part = -1) {
  std::unordered_map<NodeId, NodeId> image;
  for (const NodeId id : graph.reachable({root})) {  // operands come before what is made of them
    const Node node = graph[id];
    if (id == part) {
      image[id] = by;
    } else if (node.op == Op::Constant) {
      image[id] = id;
    } else if (node.op == Op::Input) {
      image[id] = node.input >= first && node.input < last ? by : id;
    } else {
      const auto of = [&](NodeId operand) { return operand < 0 ? operand : image.at(operand); };
      image[id] =
          graph.make(node.op, of(node.operands[0]), of(node.operands[1]), of(node.operands[2]));
    }
  }
  return image.at(root);
}

}  // namespace

NodeId substitute(Graph& graph, NodeId root, int first, int last, double value) {
  return put(graph, root, first, last, graph.constant(value));
}

NodeId substitute(Graph& graph, NodeId root, int slot, NodeId by) {
  return put(graph, root, slot, slot + 1, by);
}

NodeId replace(Graph& graph, NodeId root, NodeId part, NodeId by) {
  return put(graph, root, 0, 0, by, part);
}

}  // namespace ricochet::formula
