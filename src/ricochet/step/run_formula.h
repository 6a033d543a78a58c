#pragma once

#include "ricochet/model/formula_model.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// `simulate` for the model of a scene, compiled once for each small number of coordinates.
Outcome run_formula(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                    model::State<model::kDynamic>& state, const Observer& observe,
                    Monitor* monitor = nullptr);

}  // namespace ricochet::step
