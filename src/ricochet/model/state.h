#pragma once

#include <vector>

#include "ricochet/convex/metric.h"

namespace ricochet::model {

using convex::kDynamic;
using convex::Matrix;
using convex::Vector;

/// One instant of a motion. Positions are taken at t, velocities just after t.
template <int N>
struct State {
  double t{0.0};              // [s]
  Vector<N> q;                // configuration, in the units of the scene
  Vector<N> u;                // right velocity u(t+)
  std::vector<char> stuck{};  // by contact: the step before ended in stick; empty without friction
};

}  // namespace ricochet::model
