#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "ricochet/formula/graph.h"

namespace ricochet::scene {

/// What a run keeps in files: [record].
struct RecordPlan {
  std::vector<std::size_t> columns;  // of a row, ascending, t first
  bool csv{true};
  bool npz{false};
  bool hdf5{false};
  bool vtp{false};
  formula::Graph graph;                                // its inputs are the columns of a row
  std::vector<std::array<formula::NodeId, 3>> points;  // of the .vtp: what moves
  bool needs_table() const { return npz || hdf5 || vtp; }
};

}  // namespace ricochet::scene
