#include "ricochet/plot/frames.h"

#include <algorithm>
#include <cassert>

namespace ricochet::plot {

Frames::Frames(const std::vector<std::string>& columns, std::size_t most)
    : columns_(columns.size()), most_(std::max<std::size_t>(most, 2)) {
  for (const std::string& name : columns) {
    is_summed_.push_back(name.find(".impulse_") != std::string::npos);
  }
}

void Frames::add(std::span<const double> row) {
  assert(row.size() == columns_);
  std::vector<double> before;
  if (last_is_extra_) {  // a later row is the last one now, with the impulses of this one
    before.assign(values_.end() - static_cast<std::ptrdiff_t>(columns_), values_.end());
    values_.resize(values_.size() - columns_);
  }
  values_.insert(values_.end(), row.begin(), row.end());
  double* last = values_.data() + values_.size() - columns_;
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (is_summed_[k]) last[k] += before[k];
  }
  last_is_extra_ = waiting_ > 0;
  if (last_is_extra_) {
    --waiting_;
    return;
  }
  waiting_ = every_ - 1;
  if (size() >= 2 * most_) thin();
}

/// Every second row, and the last one, which is then half a period after the one before it.
void Frames::thin() {
  const std::size_t rows = size();
  assert(rows % 2 == 0);
  std::vector<double> kept;
  kept.reserve(values_.size());
  for (std::size_t r = 0; r < rows; r += 2) {
    const std::size_t begin = kept.size();
    kept.insert(kept.end(), row(r).begin(), row(r).end());
    for (std::size_t k = 0; r > 0 && k < columns_; ++k) {
      if (is_summed_[k]) kept[begin + k] += row(r - 1)[k];
    }
  }
  kept.insert(kept.end(), row(rows - 1).begin(), row(rows - 1).end());
  values_ = std::move(kept);
  last_is_extra_ = true;
  waiting_ = every_ - 1;
  every_ *= 2;
}

}  // namespace ricochet::plot
