#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "convergence_text.h"
#include "number_option.h"
#include "report_text.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/study/convergence_json.h"
#include "scene_file.h"

namespace ricochet::app {

int command_compare(const CompareArguments& arguments) {
  study::CompareSettings settings;
  settings.schemes = words_of(arguments.schemes);
  settings.reference_step = positive_option("--reference", arguments.reference);
  settings.reference_scheme = arguments.reference_scheme;
  settings.window = positive_option("--window", arguments.window);
  const auto read = [&](const std::string& scheme) {
    SceneArguments of_scheme = arguments.scene;
    of_scheme.scheme = scheme;
    return read_scene(of_scheme);
  };
  host::StopSignals signals;
  const study::Comparison found = study::compare(read, settings, &signals.monitor());
  const std::string json = study::to_json(found, arguments.scene.file);
  std::string text = arguments.json ? json : describe_comparison(found);
  if (!arguments.out.empty()) {
    const std::filesystem::path folder = arguments.out;
    host::write_file(folder / "compare.json", json);
    host::write_file(folder / "compare.svg", draw_comparison(found));
    if (!arguments.json) {
      text += entry("written", folder.string() + ": compare.json, compare.svg");
    }
  }
  fmt::print("{}", text);
  if (found.interrupted) return kInterrupted;
  if (found.ok()) return kFine;
  std::fflush(stdout);
  fmt::print(stderr, "error: a certificate failed\n");
  return kFailed;
}

}  // namespace ricochet::app
