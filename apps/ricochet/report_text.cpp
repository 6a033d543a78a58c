#include "report_text.h"

#include <fmt/format.h>

namespace ricochet::app {

std::string describe_run(const FolderRun& run, const std::filesystem::path& folder) {
  return study::describe(run) +
         entry("written", fmt::format("{}: {}{}summary.json, {}", folder.string(), run.lines,
                                      run.lines.empty() ? "" : ", ", run.files)) +
         study::describe_speed(run.motion.outcome);
}

}  // namespace ricochet::app
