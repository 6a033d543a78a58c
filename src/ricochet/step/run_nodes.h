#pragma once

#include "ricochet/step/run_formula.h"

namespace ricochet::step {

/// `run_formula` for the schemes that are not staggered, at any size.
Outcome run_nodes(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                  model::State<model::kDynamic>& state, const Observer& observe, Monitor* monitor);

}  // namespace ricochet::step
