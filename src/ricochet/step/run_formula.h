#pragma once

#include <memory>

#include "ricochet/model/formula_model.h"
#include "ricochet/step/capture.h"
#include "ricochet/step/lanes.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"
#include "ricochet/structure/linear_structure.h"

namespace ricochet::step {

/// `simulate` for the model of a scene, compiled once for each small number of coordinates.
Outcome run_formula(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                    model::State<model::kDynamic>& state, const Observer& observe,
                    Monitor* monitor = nullptr);

/// A run of a scene that is made a few steps at a time: see `Stepped`.
class SteppedRun {
 public:
  SteppedRun() = default;
  virtual ~SteppedRun() = default;
  SteppedRun(const SteppedRun&) = delete;
  SteppedRun& operator=(const SteppedRun&) = delete;
  virtual bool advance(long long steps) = 0;
  virtual const certify::Certificate& certificate() = 0;
  virtual Outcome finish(model::State<model::kDynamic>& end) = 0;
};

/// Null where the steps of the scheme are not of one length.
std::unique_ptr<SteppedRun> start_formula(const model::FormulaModel& model, const Scheme& scheme,
                                          const RunSettings& run,
                                          const model::State<model::kDynamic>& start,
                                          Observer observe);

/// Null where the scheme has no lanes: see `run_lanes`.
std::unique_ptr<LaneRun> start_lane(const model::FormulaModel& model, const Scheme& scheme,
                                    const RunSettings& run,
                                    const model::State<model::kDynamic>& start);

/// The same as `run_formula` for a linear structure, by a scheme that runs structures: of all its
/// coordinates.
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
  std::unique_ptr<SteppedRun> (*start)(const model::FormulaModel&, const Scheme&,
                                       const RunSettings&, const model::State<model::kDynamic>&,
                                       Observer);
  Outcome (*run_structure)(const structure::LinearStructure&, const Scheme&, const RunSettings&,
                           structure::Motion&, const Observer&, Monitor*);
  std::unique_ptr<LaneRun> (*lane)(const model::FormulaModel&, const Scheme&, const RunSettings&,
                                   const model::State<model::kDynamic>&);
};

/// In the order of schemes.list, from which this table is generated.
std::span<const SchemeRunner* const> scheme_runners();

}  // namespace ricochet::step
