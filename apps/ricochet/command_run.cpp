#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <string_view>

#include "commands.h"
#include "dump_step.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/host/ranks.h"
#include "ricochet/host/stop_signals.h"
#include "run_family.h"
#include "run_folder.h"
#include "scene_file.h"

namespace ricochet::app {

namespace {

/// The expectations are about the scene as written, not about what the arguments make of it.
FolderOptions options_of(const RunArguments& arguments) {
  FolderOptions options{.show_progress = !arguments.quiet, .report = arguments.report};
  for (const scene::Override& change : changes_of(arguments.scene)) {
    options.overrides.push_back(fmt::format("{}={}", change.key, change.value));
  }
  options.error_bar =
      arguments.error_bar.empty() ? study::BarChoice::Auto : study::bar_choice(arguments.error_bar);
  options.threads = arguments.threads;
  const std::string changed_by =
      arguments.backward ? "--backward" : changing_options(arguments.scene);
  options.check_facts = changed_by.empty();
  if (!options.check_facts) options.no_facts = "the scene was changed by " + changed_by;
  return options;
}

/// out/<scene>, with what --set changes behind the name, so that such runs have folders of their
/// own: out/wave,R=20.
std::filesystem::path folder_of(const RunArguments& arguments, const scene::Scene& scene) {
  if (!arguments.out.empty()) return arguments.out;
  constexpr std::size_t kLongest = 200;  // file systems take 255
  std::string name = scene.name;
  for (const std::string& change : arguments.scene.set) name += "," + change;
  for (char& c : name) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(code) != 0 || code >= 0x80U ||
                          std::string_view("._-+,=").find(c) != std::string_view::npos;
    if (!is_plain && !arguments.scene.set.empty()) c = '_';
  }
  if (name.size() > kLongest && !arguments.scene.set.empty()) {
    const std::size_t hash =
        std::hash<std::string>{}(fmt::format("{}", fmt::join(arguments.scene.set, ",")));
    name = fmt::format("{},{:x}", scene.name.substr(0, kLongest), hash);
  }
  return std::filesystem::path("out") / name;
}

/// The run in one line, when it is not good.
std::string describe_fault(const FolderRun& run) {
  const certify::Certificate& c = run.motion.outcome.certificate;
  if (!c.ok()) return "error: " + certify::describe_failure(c);
  if (const auto& line = run.motion.structure; line && line->reduction) {
    const certify::Failure failure = line->reduction->failure;
    if (failure != certify::Failure::None) {
      return fmt::format("error: the whole model, for comparison: {}",
                         certify::describe(failure).meaning);
    }
  }
  if (const auto& world = run.motion.world; world && !world->stop_fault.empty()) {
    return "error: " + world->stop_fault;
  }
  const auto unmet = std::count_if(run.facts.begin(), run.facts.end(),
                                   [](const study::Fact& fact) { return !fact.holds; });
  if (unmet == 0) return "";
  return fmt::format("error: {} of {} not met", unmet,
                     counted(static_cast<long long>(run.facts.size()), "stated fact"));
}

}  // namespace

int command_run(const RunArguments& arguments) {
  scene::Scene scene = read_scene(arguments.scene);
  scene.run.backward = arguments.backward;
  study::check_direction(scene);
  const std::filesystem::path folder = folder_of(arguments, scene);
  const FolderOptions options = options_of(arguments);
  const std::vector<StepDump> dumps = read_dumps(arguments.dumps, scene);
  if (!scene.family.empty()) {
    return run_family(arguments, options, scene, folder);
  }
  if (host::ranks().count > 1) {
    throw base::InputError("mpirun", "shares the members of a family, and this is one run",
                           "write a [family], or run it without mpirun");
  }
  host::StopSignals signals;
  const FolderRun run = run_into(folder, scene, options, signals.monitor());
  const std::string fault = describe_fault(run);
  if (!arguments.quiet || !fault.empty()) fmt::print("{}", describe_run(run, folder));
  if (!run.motion.outcome.interrupted) {
    for (const StepDump& dump : dumps) {
      const std::string words = dump_step(dump, scene);
      if (!arguments.quiet) fmt::print("{}", words);
    }
  }
  if (!fault.empty()) {
    std::fflush(stdout);  // the report first
    fmt::print(stderr, "{}\n", fault);
    return kFailed;
  }
  return run.motion.outcome.interrupted ? kInterrupted : kFine;
}

}  // namespace ricochet::app
