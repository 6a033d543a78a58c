#include "ricochet/record/trajectory.h"

#include <algorithm>
#include <utility>

namespace ricochet::record {
namespace {

std::vector<std::string> names_with_energy(const Columns& columns) {
  std::vector<std::string> names = step::names_of(columns);
  names.emplace_back("energy");
  return names;
}

}  // namespace

Trajectory::Trajectory(Columns columns, double expected)
    : columns_(std::move(columns)), names_(names_with_energy(columns_)) {
  constexpr double kMost = 1e8;  // numbers; the system gives pages only as they are written
  const double numbers = expected * static_cast<double>(width());
  values_.reserve(static_cast<std::size_t>(std::min(numbers, kMost)));
}

void Trajectory::add(const step::Sample& sample) {
  fill_row(columns_, sample, row_);
  row_.push_back(sample.kinetic + sample.potential);
  values_.insert(values_.end(), row_.begin(), row_.end());
}

}  // namespace ricochet::record
