#pragma once

#include "ricochet/step/run_formula.h"

namespace ricochet::step {

/// `run_formula` for what is asked for rarely: step control, and runs backwards in time.
Outcome run_special(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                    model::State<model::kDynamic>& state, const Observer& observe,
                    Monitor* monitor);

}  // namespace ricochet::step
