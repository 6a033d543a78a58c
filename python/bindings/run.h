#pragma once

#include <memory>

#include "bindings.h"
#include "ricochet/record/trajectory.h"
#include "ricochet/study/companions.h"
#include "ricochet/study/family.h"
#include "ricochet/study/run_report.h"
#include "scene.h"

namespace ricochet::python {

/// A run that is over: its rows lie in one block that arrays look into.
struct KeptRun {
  study::RunReport report;
  std::shared_ptr<record::Trajectory> rows;
};

/// Runs a scene. `error_bar`: whether its error is told, by runs of the executor. `no_facts` says
/// why the facts of [expect] are not to be checked; empty: they are.
std::shared_ptr<KeptRun> keep_run(const scene::Scene& scene, const std::string& no_facts,
                                  step::Monitor& monitor, study::BarChoice error_bar,
                                  const study::Executor& executor);

}  // namespace ricochet::python
