#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ricochet/record/rows.h"

namespace ricochet::record {

/// The rows of a run, kept: one block of numbers, row after row, in the order of trajectory.csv
/// with T + V behind. Once the run is over it does not move, so that others may look into it.
class Trajectory {
 public:
  /// Room for `expected` rows is made at once, within reason.
  Trajectory(Columns columns, double expected);

  void add(const step::Sample& sample);

  const Columns& columns() const { return columns_; }
  const std::vector<std::string>& names() const { return names_; }  // of the columns, in order
  std::size_t width() const { return names_.size(); }
  std::size_t rows() const { return values_.size() / width(); }
  const double* data() const { return values_.data(); }
  double* data() { return values_.data(); }

 private:
  Columns columns_;
  std::vector<std::string> names_;
  std::vector<double> row_;
  std::vector<double> values_;
};

}  // namespace ricochet::record
