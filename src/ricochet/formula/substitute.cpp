#include "ricochet/formula/substitute.h"

#include <unordered_map>

namespace ricochet::formula {
namespace {

/// `input_of` is what stands for an input, `part` is replaced by `by`.
template <class InputOf>
NodeId put(Graph& graph, NodeId root, InputOf&& input_of, NodeId part = -1, NodeId by = -1) {
  std::unordered_map<NodeId, NodeId> image;
  for (const NodeId id : graph.reachable({root})) {  // operands come before what is made of them
    const Node node = graph[id];
    if (id == part) {
      image[id] = by;
    } else if (node.op == Op::Constant) {
      image[id] = id;
    } else if (node.op == Op::Input) {
      image[id] = input_of(id, node.input);
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
  const NodeId by = graph.constant(value);
  return put(graph, root,
             [&](NodeId id, int slot) { return slot >= first && slot < last ? by : id; });
}

NodeId substitute(Graph& graph, NodeId root, int slot, NodeId by) {
  return put(graph, root, [&](NodeId id, int at) { return at == slot ? by : id; });
}

NodeId substitute(Graph& graph, NodeId root, const std::unordered_map<int, NodeId>& by_slot) {
  return put(graph, root, [&](NodeId id, int slot) {
    const auto found = by_slot.find(slot);
    return found == by_slot.end() ? id : found->second;
  });
}

NodeId replace(Graph& graph, NodeId root, NodeId part, NodeId by) {
  return put(
      graph, root, [](NodeId id, int) { return id; }, part, by);
}

}  // namespace ricochet::formula
