#include "old_files.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace ricochet::app {
namespace {

/// "trajectory-001.csv".
bool is_trajectory_of_member(std::string_view name) {
  constexpr std::string_view kHead = "trajectory-";
  constexpr std::string_view kTail = ".csv";
  constexpr std::size_t kLeastDigits = 3;
  if (!name.starts_with(kHead) || !name.ends_with(kTail)) return false;
  if (name.size() < kHead.size() + kLeastDigits + kTail.size()) return false;
  const std::string_view digits =
      name.substr(kHead.size(), name.size() - kHead.size() - kTail.size());
  return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void remove_old_files(const std::filesystem::path& folder) {
  std::error_code ignored;  // what cannot be removed cannot be replaced either, and that is said
  std::vector<std::filesystem::path> old = {folder / kTrajectory, folder / kSummary,
                                            folder / kPlot,       folder / kReport,
                                            folder / kSpectra,    folder / kShapes};
  for (std::filesystem::directory_iterator at(folder, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    if (is_trajectory_of_member(at->path().filename().string())) old.push_back(at->path());
  }
  for (const std::filesystem::path& file : old) std::filesystem::remove(file, ignored);
}

}  // namespace ricochet::app
