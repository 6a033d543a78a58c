#pragma once

#include "ricochet/model/formula_model.h"
#include "ricochet/problem/contact.h"
#include "ricochet/problem/report.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// The contacts of one step, as a problem that can be stored and solved alone.
struct CapturedStep {
  bool has_form{false};              // false: a section of friction that such problems do not have
  problem::ContactProblem contacts;  // joints eliminated; v = U + e U_ref is its velocity
  std::vector<int> rows;             // of the model, that its contacts are
  std::vector<double> impulses;      // that the step found: rows of the problem
  problem::Report report;            // how the step fared
};

/// What the step of length run.step from `state` poses to its solver. The step is taken as a run
/// would take it, and need not succeed.
CapturedStep capture_step(const model::FormulaModel& model, const Scheme& scheme,
                          const RunSettings& run, const model::State<model::kDynamic>& state);

}  // namespace ricochet::step
