#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "number_option.h"
#include "report_text.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/study/lyapunov.h"
#include "scene_file.h"

namespace ricochet::app {

int command_lyapunov(const DynamicsArguments& arguments) {
  study::LyapunovSettings settings;
  settings.until = positive_option("--for", arguments.time);
  if (!arguments.settle.empty()) settings.settle = positive_option("--settle", arguments.settle);
  const scene::Scene scene = read_exact_scene(arguments.scene);
  host::StopSignals signals;
  const study::Lyapunov found = study::lyapunov(scene, settings, &signals.monitor());
  const std::string json = study::to_json(found, scene);
  const std::filesystem::path folder = out_folder(arguments.out, scene);
  host::write_file(folder / "lyapunov.json", json);
  fmt::print("{}", arguments.json ? json
                                  : study::describe(found, scene) +
                                        entry("written", folder.string() + ": lyapunov.json"));
  if (found.interrupted) return kInterrupted;
  if (found.exponents.empty() && found.lost == 0) {
    std::fflush(stdout);
    fmt::print(stderr, "error: {}\n",
               found.broken.empty() ? found.failure : "no derivative, " + found.broken);
    return kFailed;
  }
  return kFine;
}

}  // namespace ricochet::app
