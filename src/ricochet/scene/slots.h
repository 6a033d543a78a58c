#pragma once

#include <vector>

#include "ricochet/formula/graph.h"

namespace ricochet::scene {

/// Constants of the start, by coordinate; -1: a number as it is written.
struct StartSlots {
  std::vector<formula::NodeId> q;
  std::vector<formula::NodeId> u;
  formula::NodeId t{-1};
  double tolerance{-1.0};  // of the start; < 0: none is stated
};

/// What of a scene follows parameters that are slots: its model, and the constants of this graph.
struct Slots {
  formula::Graph graph;
  StartSlots start;
  formula::NodeId period{-1};
  bool has_period{false};
  int count{0};  // of parameters that became slots
};

}  // namespace ricochet::scene
