#include "ricochet/plot/states.h"

#include <algorithm>
#include <cmath>

namespace ricochet::plot {

void States::add(double t, double state) {
  if (!is_started_) {  // the start has no step before it
    is_started_ = true;
    last_ = t;
    return;
  }
  const int number =
      std::isfinite(state) ? std::clamp(static_cast<int>(std::lround(state)), 0, 7) : 0;
  const auto mask = static_cast<std::uint8_t>(1U << static_cast<unsigned>(number));
  const double begin = last_;
  last_ = t;
  if (!runs_.empty()) {
    Run& run = runs_.back();
    if (run.mask == mask) {
      run.end = t;
      return;
    }
    if (std::abs(run.end - run.begin) < shortest_) {
      run.end = t;
      run.mask = static_cast<std::uint8_t>(run.mask | mask);
      return;
    }
  }
  runs_.push_back({begin, t, mask});
  if (runs_.size() > kMostRuns) join_short();
}

void States::join_short() {
  const double whole = std::abs(runs_.back().end - runs_.front().begin);
  shortest_ = std::max(2.0 * shortest_, whole / static_cast<double>(kMostRuns));
  std::vector<Run> joined;
  for (const Run& run : runs_) {
    const bool fits =
        !joined.empty() && std::abs(joined.back().end - joined.back().begin) < shortest_;
    const bool same = !joined.empty() && joined.back().mask == run.mask;
    if (fits || same) {
      joined.back().end = run.end;
      joined.back().mask = static_cast<std::uint8_t>(joined.back().mask | run.mask);
    } else {
      joined.push_back(run);
    }
  }
  runs_ = std::move(joined);
}

}  // namespace ricochet::plot
