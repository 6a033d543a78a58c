#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands.h"
#include "inspect_text.h"
#include "progress.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/study/inspect_json.h"
#include "ricochet/study/motion.h"
#include "scene_file.h"
#include "stop_signals.h"

namespace ricochet::app {
namespace {

/// The run shortened to the instant asked for; without steps: the start.
step::RunSettings run_to(const std::string& at, step::RunSettings run) {
  run.record_every = 0;
  run.steps = 0;
  if (at.empty()) return run;
  const std::optional<double> t = base::parse_number(at);
  if (!t || !std::isfinite(*t)) {
    throw base::InputError("--at " + at, "is not a number", "write a time, such as --at 0.5");
  }
  if (*t < run.start_time - 1e-6 * run.step) {
    throw base::InputError(
        "--at " + at, fmt::format("is before the start of the scene, t = {:g}", run.start_time),
        fmt::format("choose a time >= {:g}, or an earlier run.start_time", run.start_time));
  }
  constexpr double kMostSteps = 1e15;  // a double counts this far without gaps
  if ((*t - run.start_time) / run.step > kMostSteps) {
    throw base::InputError("--at " + at,
                           fmt::format("is more than 1e15 steps of {:g} away", run.step),
                           "choose an earlier time, or a longer step");
  }
  run.steps = step::steps_until(run.start_time, *t, run.step);
  run.end_time = *t;
  return run;
}

/// The state at the end of the scene's run, or how the run failed.
study::Motion reach(const scene::Scene& scene, step::Monitor& monitor) {
  const ProgressBar bar(monitor, scene.run.steps);
  return study::run_scene(scene, false, {}, &monitor);
}

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

study::Inspector make_inspector(const model::FormulaModel& model) {
  try {
    return study::Inspector(model);
  } catch (const formula::GraphTooLarge& error) {
    throw base::InputError("", fmt::format("the second derivatives of the gaps: {}", error.what()),
                           "inspect a smaller system, or write shorter formulas in keep");
  }
}

}  // namespace

int command_inspect(const InspectArguments& arguments) {
  scene::Scene scene = read_scene_file(arguments.scene);
  scene.run = run_to(arguments.at, scene.run);
  const bool is_start = scene.run.steps == 0;
  model::State<model::kDynamic> state = scene.start;
  if (!is_start) {
    StopSignals signals;
    const study::Motion motion = reach(scene, signals.monitor());
    const certify::Certificate& c = motion.outcome.certificate;
    if (c.failure == certify::Failure::SingularMass) refuse_singular_mass(c.failure_time);
    if (!c.ok()) {
      const certify::FailureText failure = certify::describe(c.failure);
      fmt::print(stderr, "FAILED: the run ends at t = {:.9g}, before {}: {} ({})\ntry: {}\n",
                 c.failure_time, arguments.at, failure.meaning, failure.name,
                 step::remedy_of(c.failure, scene.scheme));
      return kFailed;
    }
    if (motion.outcome.interrupted) {
      fmt::print(stderr, "interrupted before t = {}\n", arguments.at);
      return kInterrupted;
    }
    state = motion.final_state;
  }
  const study::Inspector inspector = make_inspector(*scene.model);
  const study::Inspection found =
      inspector.at(state, is_start ? 0.0 : resolution(scene.run, state));
  if (found.status == problem::Status::SingularMass) refuse_singular_mass(state.t);
  fmt::print("{}", arguments.json ? study::to_json(found, *scene.model)
                                  : describe_inspection(found, scene));
  return found.ok() ? kFine : kFailed;
}

}  // namespace ricochet::app
