#include "ricochet/plot/states.h"

#include <algorithm>
#include <cmath>

namespace ricochet::plot {
namespace {

std::size_t number_of(double state) {
  if (!std::isfinite(state)) return States::kFree;
  return static_cast<std::size_t>(std::clamp(std::lround(state), 0L, 4L));
}

}  // namespace

bool States::Run::is_pure() const {
  return std::count_if(time.begin(), time.end(), [](double t) { return t > 0.0; }) <= 1;
}

void States::add(double t, double state) {
  const std::size_t number = number_of(state);
  const bool unknown = of_sums_ && of_pushes_ && number == kContact;
  add(t, unknown ? static_cast<double>(kTouched) : state, number == kFree ? 0.0 : 1.0);
}

void States::add(double t, double state, double pushed) {
  if (!is_started_) {  // the start has no step before it
    is_started_ = true;
    last_ = t;
    return;
  }
  Run run{last_, t, {}};
  const std::size_t number = number_of(state);
  const double length = std::abs(t - last_);
  const double part = std::clamp(pushed, 0.0, 1.0);
  // A row of several steps says shock where one of them was, and free where the last one was.
  const bool unknown = number == kFree || (number == kShock && of_sums_);
  run.time[unknown ? kTouched : number] += part * length;
  run.time[kFree] += (1.0 - part) * length;
  last_ = t;
  append(run);
  if (runs_.size() > kMostRuns) join_short();
}

/// To the run before, where both are of one state or the one before is too short to be seen.
void States::append(const Run& run) {
  if (!runs_.empty()) {
    Run joined = runs_.back();
    joined.end = run.end;
    for (std::size_t s = 0; s < kCount; ++s) joined.time[s] += run.time[s];
    const Run& last = runs_.back();
    if (joined.is_pure() || std::abs(last.end - last.begin) < shortest_) {
      runs_.back() = joined;
      return;
    }
  }
  runs_.push_back(run);
}

void States::join_short() {
  const double whole = std::abs(runs_.back().end - runs_.front().begin);
  shortest_ = std::max(2.0 * shortest_, whole / static_cast<double>(kMostRuns));
  const std::vector<Run> old = std::move(runs_);
  runs_.clear();
  for (const Run& run : old) append(run);
}

}  // namespace ricochet::plot
