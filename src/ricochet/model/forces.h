#pragma once

#include <vector>

#include "ricochet/model/formula_model.h"

namespace ricochet::model {

/// Q = force - dV/dq - dD/du, one node for each coordinate.
std::vector<formula::NodeId> total_forces(FormulaSystem& system);

}  // namespace ricochet::model
