#include "ricochet/step/run_formula.h"

namespace ricochet::step {
namespace {

const SchemeRunner& runner_of(const Scheme& scheme) {
  const SchemeRunner* found = scheme_runners().front();
  for (const SchemeRunner* runner : scheme_runners()) {
    if (runner->info == &scheme.info()) found = runner;
  }
  return *found;
}

}  // namespace

std::span<const SchemeInfo* const> all_schemes() {
  static const std::vector<const SchemeInfo*> all = [] {
    std::vector<const SchemeInfo*> infos;
    for (const SchemeRunner* runner : scheme_runners()) infos.push_back(runner->info);
    return infos;
  }();
  return all;
}

Outcome run_formula(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                    model::State<model::kDynamic>& state, const Observer& observe,
                    Monitor* monitor) {
  return runner_of(scheme).run(model, scheme, run, state, observe, monitor);
}

std::unique_ptr<SteppedRun> start_formula(const model::FormulaModel& model, const Scheme& scheme,
                                          const RunSettings& run,
                                          const model::State<model::kDynamic>& start,
                                          Observer observe) {
  return runner_of(scheme).start(model, scheme, run, start, std::move(observe));
}

std::unique_ptr<LaneRun> start_lane(const model::FormulaModel& model, const Scheme& scheme,
                                    const RunSettings& run,
                                    const model::State<model::kDynamic>& start) {
  return runner_of(scheme).lane(model, scheme, run, start);
}

Outcome run_structure(const structure::LinearStructure& structure, const Scheme& scheme,
                      const RunSettings& run, structure::Motion& state, const Observer& observe,
                      Monitor* monitor) {
  return runner_of(scheme).run_structure(structure, scheme, run, state, observe, monitor);
}

CapturedStep capture_step(const model::FormulaModel& model, const Scheme& scheme,
                          const RunSettings& run, const model::State<model::kDynamic>& state) {
  return runner_of(scheme).capture(model, scheme, run, state);
}

}  // namespace ricochet::step
