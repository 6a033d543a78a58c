#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "convergence_text.h"
#include "number_option.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/study/convergence_json.h"
#include "scene_file.h"

namespace ricochet::app {

int command_converge(const ConvergeArguments& arguments) {
  study::ConvergeSettings settings;
  for (const std::string& word : words_of(arguments.steps)) {
    if (word.empty()) throw base::InputError("--steps", "has an empty place", "write 0.01,0.005");
    settings.steps.push_back(positive_option("--steps", word));
  }
  settings.reference_step = positive_option("--reference", arguments.reference);
  settings.window = positive_option("--window", arguments.window);
  const scene::Scene scene = read_scene(with_step(arguments.scene, words_of(arguments.steps)[0]));
  host::StopSignals signals;
  const study::Convergence found = study::converge(scene, settings, &signals.monitor());
  const std::string json = study::to_json(found, scene);
  std::string text = arguments.json ? json : describe_convergence(found, scene);
  if (!arguments.out.empty()) {
    const std::filesystem::path folder = arguments.out;
    host::write_file(folder / "converge.json", json);
    const std::string picture = draw_convergence(found, scene);
    if (!picture.empty()) host::write_file(folder / "converge.svg", picture);
    if (!arguments.json) {
      text += entry("written", fmt::format("{}: converge.json{}", folder.string(),
                                           picture.empty() ? "" : ", converge.svg"));
    }
  }
  fmt::print("{}", text);
  if (found.failed) {
    std::fflush(stdout);
    fmt::print(stderr, "error: step {:g}: {}\n", found.failed->step,
               certify::describe_failure(found.failed->certificate));
    return kFailed;
  }
  return found.interrupted ? kInterrupted : kFine;
}

}  // namespace ricochet::app
