#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commands.h"
#include "ricochet/record/family_summary.h"
#include "ricochet/scene/scene.h"
#include "run_folder.h"

namespace ricochet::app {

/// What is kept of a member that was run.
struct MemberRun {
  record::MemberRow row;
  std::vector<double> final_place;
  std::string final_words;  // the last position
  std::vector<std::string> unmet;
  long long steps{0};
  long long rows{0};
  double residual{0.0};
  double violation{0.0};
  double failure_time{0.0};
  template <class Archive>
  void visit(Archive& archive) {
    archive(row.status, row.json, final_place, final_words, unmet, steps, rows, residual, violation,
            failure_time);
  }
};

/// Runs all members of a scene's family, on several threads, into trajectory-001.csv and so on,
/// plot.svg and one summary.json of `folder`. What is written is the same for any number of
/// threads, times excepted. Returns the exit code.
int run_family(const RunArguments& arguments, const FolderOptions& options,
               const scene::Scene& scene, const std::filesystem::path& folder);

}  // namespace ricochet::app
