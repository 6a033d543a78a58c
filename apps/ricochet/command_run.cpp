#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "report_text.h"
#include "run_family.h"
#include "run_folder.h"
#include "scene_file.h"
#include "stop_signals.h"

namespace ricochet::app {

int command_run(const RunArguments& arguments) {
  const scene::Scene scene = read_scene_file(arguments.scene);
  const std::filesystem::path folder = arguments.out.empty()
                                           ? std::filesystem::path("out") / scene.name
                                           : std::filesystem::path(arguments.out);
  if (!scene.family.empty()) return run_family(arguments, scene, folder);
  // The expectations are about the scene as written, not about what the arguments make of it.
  const FolderOptions options{.check_facts = !changes_scene(arguments.scene),
                              .show_progress = !arguments.quiet};
  StopSignals signals;
  const FolderRun run = run_into(folder, scene, options, signals.monitor());
  const step::Outcome& outcome = run.motion.outcome;
  const bool met = std::all_of(run.facts.begin(), run.facts.end(),
                               [](const study::Fact& fact) { return fact.holds; });
  const bool good = outcome.certificate.ok() && met;
  if (!arguments.quiet || !good) {
    fmt::print(good ? stdout : stderr, "{}", describe_run(run, folder));
  }
  if (!good) return kFailed;
  return outcome.interrupted ? kInterrupted : kFine;
}

}  // namespace ricochet::app
