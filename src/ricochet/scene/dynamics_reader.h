#pragma once

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/dynamics_plan.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/table_reader.h"

namespace ricochet::scene {

/// Reads [section] and [sweep]. To be called before the model takes its copy of the graph: the
/// formula of `when` is to be in it.
void read_dynamics(const Document& document, FormulaReader& formulas,
                   const std::vector<CoordinateGroup>& groups,
                   const std::vector<std::string>& contacts, const Value* section,
                   const Value* sweep, DynamicsPlan& plan);

/// Forces and walls must repeat after `period`. Throws base::InputError.
void check_period(const Document& document, const model::FormulaSystem& system, double period);

}  // namespace ricochet::scene
