#pragma once

#include "ricochet/convex/metric.h"
#include "ricochet/model/memory.h"

namespace ricochet::model {

using convex::kDynamic;
using convex::Matrix;
using convex::Vector;

/// One instant of a motion. Positions are taken at t, velocities just after t.
template <int Q, int U = Q>
struct State {
  double t{0.0};    // [s]
  Vector<Q> q;      // places, in the units of the scene
  Vector<U> u;      // right velocity u(t+)
  Memory memory{};  // of the steps before
};

}  // namespace ricochet::model
