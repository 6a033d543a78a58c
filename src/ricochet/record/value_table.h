#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ricochet::record {

/// Columns of numbers, kept for files that are written as a whole: trajectory.npz, .h5, .vtp.
class ValueTable {
 public:
  ValueTable() = default;
  explicit ValueTable(std::vector<std::string> names) : names_(std::move(names)) {
    columns_.resize(names_.size());
  }

  void add(std::span<const double> row) {
    for (std::size_t k = 0; k < columns_.size(); ++k) columns_[k].push_back(row[k]);
  }
  std::size_t rows() const { return columns_.empty() ? 0 : columns_[0].size(); }
  const std::vector<std::string>& names() const { return names_; }
  std::span<const double> column(std::size_t k) const { return columns_[k]; }

  /// Numbers in all.
  static constexpr double kMost = 1e8;

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<double>> columns_;
};

/// An archive that numpy.load reads: an array for each column, by its name.
std::string npz_of(const ValueTable& table);

/// Polygonal data of VTK, which ParaView opens: the way of each point as a line, with all columns
/// of `table` as values at its points. `places` has as many rows, and columns 3 i to 3 i + 2 are
/// those of point i.
std::string vtp_of(const ValueTable& table, const ValueTable& places);

}  // namespace ricochet::record
