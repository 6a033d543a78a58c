#pragma once

#include <string>
#include <vector>

#include "ricochet/formula/graph.h"
#include "ricochet/scene/family.h"

namespace ricochet::scene {

/// [section]: where a motion is looked at, and what is kept of it.
struct SectionPlan {
  enum class Kind { None, Every, When, Impact };
  Kind kind{Kind::None};
  double every{0.0};                  // [s]
  formula::NodeId when{-1};           // of the model's graph: where it vanishes
  int direction{0};                   // 1: as it rises, -1: as it falls, 0: both
  int contact{-1};                    // of Impact
  bool is_after{false};               // just after the impact, not just before
  std::vector<std::string> names;     // of what is kept
  std::vector<formula::NodeId> keep;  // formulas of t, q, u, phase, approach
  formula::Graph graph;               // of `keep`
};

/// [sweep]: parameters or starts that vary.
struct SweepPlan {
  enum class Follow { Forward, Backward, Both, Fresh };
  Family over;
  Follow follow{Follow::Forward};
  int settle{300};  // sections let go
  int show{200};    // sections kept
  int seeds{0};     // further starts at each value
};

/// What the studies of attractors read in a scene.
struct DynamicsPlan {
  double period{0.0};  // of forces and walls in t; 0: none is stated
  SectionPlan section;
  SweepPlan sweep;
};

}  // namespace ricochet::scene
