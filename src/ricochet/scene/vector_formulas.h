#pragma once

#include <vector>

#include "ricochet/formula/graph.h"

namespace ricochet::scene {

/// A vector of the plane or of space, as nodes of a graph.
using NodeVector = std::vector<formula::NodeId>;

NodeVector constants(formula::Graph& graph, const std::vector<double>& values);
NodeVector sum(formula::Graph& graph, const NodeVector& a, const NodeVector& b);
NodeVector difference(formula::Graph& graph, const NodeVector& a, const NodeVector& b);
NodeVector times(formula::Graph& graph, formula::NodeId factor, NodeVector vector);
formula::NodeId dot(formula::Graph& graph, const NodeVector& a, const NodeVector& b);
formula::NodeId length(formula::Graph& graph, const NodeVector& vector);
/// n / |n|.
NodeVector normalized(formula::Graph& graph, NodeVector n);
/// a where the condition is not 0, else b.
NodeVector select(formula::Graph& graph, formula::NodeId condition, const NodeVector& a,
                  const NodeVector& b);

/// Directions orthogonal to a unit vector and to each other: in the plane n turned clockwise, so
/// that a floor (0, 1) has (1, 0); in space those of [Duff 2017], so that (0, 0, 1) has the first
/// two axes.
std::vector<NodeVector> tangents_of(formula::Graph& graph, const NodeVector& n);

}  // namespace ricochet::scene
