#pragma once

#include "ricochet/model/formula_model.h"
#include "ricochet/step/capture.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"
#include "ricochet/structure/linear_structure.h"

namespace ricochet::step {

/// `simulate` for the model of a scene, compiled once for each small number of coordinates.
Outcome run_formula(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                    model::State<model::kDynamic>& state, const Observer& observe,
                    Monitor* monitor = nullptr);

/// The same for a linear structure, by a scheme that runs structures: of all its coordinates.
Outcome run_structure(const structure::LinearStructure& structure, const Scheme& scheme,
                      const RunSettings& run, structure::Motion& state, const Observer& observe,
                      Monitor* monitor = nullptr);

/// What the source of a scheme gives to the table of all of them.
struct SchemeRunner {
  const SchemeInfo* info;
  Outcome (*run)(const model::FormulaModel&, const Scheme&, const RunSettings&,
                 model::State<model::kDynamic>&, const Observer&, Monitor*);
  CapturedStep (*capture)(const model::FormulaModel&, const Scheme&, const RunSettings&,
                          const model::State<model::kDynamic>&);
  Outcome (*run_structure)(const structure::LinearStructure&, const Scheme&, const RunSettings&,
                           structure::Motion&, const Observer&, Monitor*);
};

/// In the order of schemes.list, from which this table is generated.
std::span<const SchemeRunner* const> scheme_runners();

}  // namespace ricochet::step
