#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <vector>

namespace ricochet::problem {

/// The unilateral problem with W = J M^-1 J^T stored by its entries, for many rows that each touch
/// few coordinates and a diagonal mass: row k keeps columns first[k] .. k (the envelope). A chain
/// in its natural order has a band of 2. The last `held` rows are joints: U = 0, p of any sign.
///
/// Filled by begin, add (row by row), finish; storage is kept between steps.
struct Banded {
  int count{0};
  int held{0};
  Eigen::VectorXd free;   // b: the velocity without impulses
  Eigen::VectorXd noise;  // bound for the rounding error of each entry of b

  std::vector<int> first;          // column of the first entry of each row
  std::vector<std::size_t> start;  // where that entry lies
  std::vector<double> entries;

  double diagonal(int k) const { return entry(k, k); }
  double entry(int row, int column) const {  // first[row] <= column <= row
    return entries[start[index(row)] + index(column - first[index(row)])];
  }

  void begin(int dofs, int rows, int joints) {
    count = rows;
    held = joints;
    if (free.size() < rows) free.resize(rows), noise.resize(rows);
    chain_.assign(index(dofs), -1);
    row_.clear();
    coordinate_.clear();
    value_.clear();
    next_.clear();
  }

  void add(int row, int coordinate, double value) {
    if (value == 0.0) return;
    row_.push_back(row);
    coordinate_.push_back(coordinate);
    value_.push_back(value);
    next_.push_back(chain_[index(coordinate)]);
    chain_[index(coordinate)] = static_cast<int>(row_.size()) - 1;
  }

  /// W_kl = sum over shared coordinates of J_k J_l / m.
  void finish(const double* inverse_mass) {
    first.resize(index(count));
    start.resize(index(count) + 1);
    for (int k = 0; k < count; ++k) first[index(k)] = k;
    each_pair([&](int k, int l, double, int) { first[index(k)] = std::min(first[index(k)], l); });
    start[0] = 0;
    for (int k = 0; k < count; ++k) {
      start[index(k) + 1] = start[index(k)] + index(k - first[index(k)] + 1);
    }
    entries.assign(start[index(count)], 0.0);
    each_pair([&](int k, int l, double product, int coordinate) {
      entries[start[index(k)] + index(l - first[index(k)])] += product * inverse_mass[coordinate];
    });
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  /// All pairs of entries of one coordinate, the later row first.
  template <class Work>
  void each_pair(Work&& work) const {
    for (std::size_t e = 0; e < row_.size(); ++e) {
      for (auto f = static_cast<int>(e); f >= 0; f = next_[index(f)]) {
        work(row_[e], row_[index(f)], value_[e] * value_[index(f)], coordinate_[e]);
      }
    }
  }

  std::vector<int> chain_;  // by coordinate: its latest entry
  std::vector<int> row_;    // by entry, row by row
  std::vector<int> coordinate_;
  std::vector<double> value_;
  std::vector<int> next_;  // the earlier entry of the same coordinate
};

}  // namespace ricochet::problem
