#include "old_files.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "series_files.h"

namespace ricochet::app {
namespace {

/// "trajectory.npz", "trajectory-001.csv".
bool is_trajectory(std::string_view name) {
  constexpr std::string_view kHead = "trajectory";
  constexpr std::size_t kLeastDigits = 3;
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view tail = name.substr(dot);
  if (!name.starts_with(kHead)) return false;
  if (tail != ".csv" && tail != ".npz" && tail != ".h5" && tail != ".vtp") return false;
  std::string_view digits = name.substr(kHead.size(), dot - kHead.size());
  if (digits.empty()) return true;
  if (digits[0] != '-' || digits.size() < 1 + kLeastDigits) return false;
  digits.remove_prefix(1);
  return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void remove_old_files(const std::filesystem::path& folder) {
  std::error_code ignored;  // what cannot be removed cannot be replaced either, and that is said
  std::vector<std::filesystem::path> old = {folder / kEvents, folder / kSummary, folder / kPlot,
                                            folder / kReport, folder / kSpectra, folder / kShapes};
  for (std::filesystem::directory_iterator at(folder, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (is_trajectory(name) || is_of_series(name)) old.push_back(at->path());
  }
  for (const std::filesystem::path& file : old) std::filesystem::remove(file, ignored);
}

}  // namespace ricochet::app
