#pragma once

#include <functional>

#include "ricochet/model/formula_model.h"
#include "ricochet/step/simulate.h"

namespace ricochet::step {

using Observer = std::function<void(const Sample&)>;

/// `simulate` for the model of a scene, compiled once for each small number of coordinates.
Outcome run_formula(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                    model::State<model::kDynamic>& state, const Observer& observe,
                    Monitor* monitor = nullptr);

}  // namespace ricochet::step
