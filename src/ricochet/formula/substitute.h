#pragma once

#include <unordered_map>

#include "ricochet/formula/graph.h"

namespace ricochet::formula {

/// The formula with a number put for every input whose slot satisfies first <= slot < last.
NodeId substitute(Graph& graph, NodeId root, int first, int last, double value);

/// The formula with another one put for the input `slot`.
NodeId substitute(Graph& graph, NodeId root, int slot, NodeId by);

/// The formula with others put for all inputs whose slots are listed.
NodeId substitute(Graph& graph, NodeId root, const std::unordered_map<int, NodeId>& by_slot);

/// The formula with another one put for a part of it.
NodeId replace(Graph& graph, NodeId root, NodeId part, NodeId by);

}  // namespace ricochet::formula
