#pragma once

#include <filesystem>

#include "ricochet/scene/scene.h"
#include "ricochet/study/facts.h"
#include "ricochet/study/motion.h"

namespace ricochet::app {

/// A run whose files lie in a folder.
struct FolderRun {
  study::Motion motion;
  std::vector<study::Fact> facts;  // of [expect], when asked for
  std::vector<std::string> warnings;
  long long rows{0};
};

struct FolderOptions {
  bool keep_rows{false};
  bool check_facts{true};
  bool show_progress{true};
};

/// Runs a scene into trajectory.csv, summary.json and plot.svg of `folder`. Ctrl-C and SIGTERM end
/// it between two steps, with the files whole.
FolderRun run_into(const std::filesystem::path& folder, const scene::Scene& scene,
                   const FolderOptions& options);

}  // namespace ricochet::app
