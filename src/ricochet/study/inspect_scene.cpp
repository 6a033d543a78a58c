#include "ricochet/study/inspect_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/step/capture.h"

namespace ricochet::study {
namespace {

/// The time to which a state that was reached is known. Under step control positions are known to
/// the tolerance, so that a shock may be off by the time the motion takes to cover it.
double resolution(const step::RunSettings& run, const model::State<model::kDynamic>& state) {
  if (!run.control.is_on()) return run.step;
  const double fastest = state.u.cwiseAbs().maxCoeff();
  const double off = fastest > 0.0 ? run.control.tolerance / fastest : run.step;
  return std::min(run.step, std::max(run.control.smallest, off));
}

[[noreturn]] void refuse_singular_mass(double t) {
  throw base::InputError(
      "", fmt::format("the mass matrix is not positive definite at t = {:.9g}", t),
      "choose another time, or coordinates in which every velocity has kinetic energy");
}

/// Second derivatives are derived from formulas.
void refuse_functions(const model::FormulaModel& model) {
  bool has_gaps = false;
  for (int a = 0; a < model.contacts(); ++a) has_gaps = has_gaps || model.outside_gap(a) >= 0;
  if (!has_gaps && !model.system().outside_mass) return;
  throw base::InputError(
      "", "gaps and masses that are functions of a program have no second derivatives to inspect",
      "write them as formulas; forces may be functions");
}

Inspector make_inspector(const model::FormulaModel& model) {
  refuse_functions(model);
  try {
    return Inspector(model);
  } catch (const formula::GraphTooLarge& error) {
    throw base::InputError("", fmt::format("the second derivatives of the gaps: {}", error.what()),
                           "inspect a smaller system, or write shorter formulas in keep");
  }
}

/// What the scheme's next step poses to its solver, solved in all ways.
std::optional<NextStep> next_step(const scene::Scene& scene,
                                  const model::State<model::kDynamic>& state) {
  const model::FormulaModel& model = *scene.formulas();
  if (!model.has_friction() || !scene.scheme.info().is_staggered || scene.run.backward) return {};
  const step::CapturedStep captured = step::capture_step(model, scene.scheme, scene.run, state);
  if (!captured.has_form || captured.contacts.contacts() == 0 ||
      !solve::may_be_listed(captured.contacts)) {
    return {};
  }
  NextStep next{scene.run.step,
                captured.rows,
                captured.contacts.dim,
                solve::all_solutions(captured.contacts),
                {}};
  const Eigen::Map<const Eigen::VectorXd> taken(
      captured.impulses.data(), static_cast<Eigen::Index>(captured.impulses.size()));
  for (std::size_t k = 0; k < next.solutions.size(); ++k) {
    const Eigen::VectorXd& r = next.solutions[k].impulses;
    if ((r - taken).norm() <= 1e-6 * (r.norm() + taken.norm())) next.taken = k;
  }
  return next;
}

}  // namespace

step::RunSettings run_to(std::optional<double> at, step::RunSettings run,
                         const std::string& option) {
  run.record_every = 0;
  run.steps = 0;
  if (!at) return run;
  if (!std::isfinite(*at)) {
    throw base::InputError(option, "is not a number", "write a time, such as 0.5");
  }
  if (*at < run.start_time - 1e-6 * run.step) {
    throw base::InputError(
        option, fmt::format("is before the start of the scene, t = {:g}", run.start_time),
        fmt::format("choose a time >= {:g}, or an earlier run.start_time", run.start_time));
  }
  constexpr double kMostSteps = 1e15;  // a double counts this far without gaps
  if ((*at - run.start_time) / run.step > kMostSteps) {
    throw base::InputError(option, fmt::format("is more than 1e15 steps of {:g} away", run.step),
                           "choose an earlier time, or a longer step");
  }
  run.steps = step::steps_until(run.start_time, *at, run.step);
  run.end_time = *at;
  return run;
}

SceneInspection inspect_end(const scene::Scene& scene, step::Monitor* monitor) {
  if (scene.world() != nullptr) {
    throw base::InputError("inspect", "is for systems and structures, not for bodies",
                           "run a few steps; the summary tells who pushes");
  }
  const bool is_start = scene.run.steps == 0;
  model::State<model::kDynamic> state = scene.start;
  SceneInspection inspection;
  if (!is_start || scene.structure() != nullptr) {
    const Motion motion = run_scene(scene, false, {}, monitor);
    inspection.reached = motion.outcome;
    const certify::Certificate& c = motion.outcome.certificate;
    if (c.failure == certify::Failure::SingularMass) refuse_singular_mass(c.failure_time);
    if (!c.ok() || motion.outcome.interrupted) return inspection;
    state = motion.final_state;
    if (motion.whole) {
      inspection.found = inspect_structure(*motion.whole->model, motion.whole->state,
                                           is_start ? 0.0 : scene.run.step);
    }
  }
  if (const model::FormulaModel* model = scene.formulas()) {
    const Inspector inspector = make_inspector(*model);
    inspection.found = inspector.at(state, is_start ? 0.0 : resolution(scene.run, state));
    if (inspection.found->ok()) inspection.found->next = next_step(scene, state);
  }
  if (inspection.found->status == problem::Status::SingularMass) refuse_singular_mass(state.t);
  return inspection;
}

}  // namespace ricochet::study
