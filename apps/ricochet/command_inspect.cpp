#include <fmt/format.h>

#include <optional>

#include "commands.h"
#include "inspect_text.h"
#include "progress.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/study/inspect_json.h"
#include "ricochet/study/inspect_scene.h"
#include "scene_file.h"

namespace ricochet::app {
namespace {

std::optional<double> instant_of(const std::string& at) {
  if (at.empty()) return std::nullopt;
  const std::optional<double> t = base::parse_number(at);
  if (t) return t;
  throw base::InputError("--at " + at, "is not a number", "write a time, such as --at 0.5");
}

}  // namespace

int command_inspect(const InspectArguments& arguments) {
  scene::Scene scene = read_scene(arguments.scene);
  scene.run = study::run_to(instant_of(arguments.at), scene.run, "--at " + arguments.at);
  host::StopSignals signals;
  std::optional<ProgressBar> bar;
  bar.emplace(signals.monitor(), scene.run.steps);
  const study::SceneInspection inspection = study::inspect_end(scene, &signals.monitor());
  bar.reset();
  const certify::Certificate& c = inspection.reached.certificate;
  if (!c.ok()) {
    const certify::FailureText failure = certify::describe(c.failure);
    fmt::print(stderr, "FAILED: the run ends at t = {:.9g}, before {}: {} ({})\ntry: {}\n",
               c.failure_time, arguments.at, failure.meaning, failure.name,
               step::remedy_of(c.failure, scene.scheme));
    return kFailed;
  }
  if (inspection.reached.interrupted) {
    fmt::print(stderr, "interrupted before t = {}\n", arguments.at);
    return kInterrupted;
  }
  fmt::print("{}", arguments.json ? study::to_json(*inspection.found, scene.columns)
                                  : describe_inspection(*inspection.found, scene));
  return inspection.found->ok() ? kFine : kFailed;
}

}  // namespace ricochet::app
