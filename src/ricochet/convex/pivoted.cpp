#include "ricochet/convex/pivoted.h"

#include <algorithm>

namespace ricochet::convex {
namespace {

using Eigen::Index;

double dot(const double* a, const double* b, Index count) {
  double sums[2] = {0.0, 0.0};
  Index i = 0;
  for (; i + 1 < count; i += 2) {
    sums[0] += a[i] * b[i];
    sums[1] += a[i + 1] * b[i + 1];
  }
  if (i < count) sums[0] += a[i] * b[i];
  return sums[0] + sums[1];
}

/// y += s x.
void add(double s, const double* x, double* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] += s * x[i];
}

template <class T>
void grow(std::vector<T>& room, Index count) {
  const auto size = static_cast<std::size_t>(count);
  if (room.size() < size) room.resize(size);
}

std::size_t at(Index k) { return static_cast<std::size_t>(k); }

}  // namespace

void PivotedQr::take(const Matrix& matrix) {
  rows_ = matrix.rows();
  columns_ = matrix.cols();
  pivots_ = std::min(rows_, columns_);
  grow(entries_, rows_ * columns_);
  for (std::vector<double>* room : {&shares_, &folds_}) grow(*room, pivots_);
  for (std::vector<double>* room : {&lengths_, &fresh_}) grow(*room, columns_);
  grow(right_, std::max(rows_, columns_));
  grow(places_, columns_);
  largest_ = 0.0;
  is_folded_ = false;
  for (Index j = 0; j < columns_; ++j) {
    double* entries = column(j);
    for (Index i = 0; i < rows_; ++i) entries[i] = matrix(i, j);
    lengths_[at(j)] = fresh_[at(j)] = std::sqrt(dot(entries, entries, rows_));
    places_[at(j)] = j;
  }
}

void PivotedQr::bring_longest(Index k) {
  Index longest = k;
  for (Index j = k + 1; j < columns_; ++j) {
    if (lengths_[at(j)] > lengths_[at(longest)]) longest = j;
  }
  if (longest == k) return;
  std::swap_ranges(column(k), column(k) + rows_, column(longest));
  std::swap(lengths_[at(k)], lengths_[at(longest)]);
  std::swap(fresh_[at(k)], fresh_[at(longest)]);
  std::swap(places_[at(k)], places_[at(longest)]);
}

/// I - share (1, v)(1, v)^T makes of column k, from its row k on, its length and zeros. The share.
double PivotedQr::reflect_column(Index k) {
  double* entries = column(k) + k;
  const Index below = rows_ - k - 1;
  const double rest = dot(entries + 1, entries + 1, below);
  if (rest <= std::numeric_limits<double>::min()) {
    std::fill(entries + 1, entries + 1 + below, 0.0);
    return 0.0;
  }
  const double first = entries[0];
  const double length = std::copysign(std::sqrt(first * first + rest), -first);
  for (Index i = 1; i <= below; ++i) entries[i] /= first - length;
  entries[0] = length;
  return (length - first) / length;
}

/// What is left of the columns after k. Where most of a column went, its length is summed up anew:
/// the difference has lost its digits.
void PivotedQr::shorten_others(Index k) {
  const double* mirror = column(k) + k;
  const Index below = rows_ - k - 1;
  for (Index j = k + 1; j < columns_; ++j) {
    double* entries = column(j) + k;
    const double moved = shares_[at(k)] * (entries[0] + dot(mirror + 1, entries + 1, below));
    entries[0] -= moved;
    add(-moved, mirror + 1, entries + 1, below);
    double& length = lengths_[at(j)];
    if (length == 0.0) continue;
    const double part = std::abs(entries[0]) / length;
    const double left = std::max(0.0, (1.0 + part) * (1.0 - part));
    const double since = length / fresh_[at(j)];
    if (left * since * since <= std::sqrt(std::numeric_limits<double>::epsilon())) {
      length = fresh_[at(j)] = std::sqrt(dot(entries + 1, entries + 1, below));
    } else {
      length *= std::sqrt(left);
    }
  }
}

void PivotedQr::find_rank(double threshold) {
  const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(pivots_);
  const double zero = (threshold == kRounding ? rounding : threshold) * largest_;
  rank_ = 0;
  for (Index k = 0; k < pivots_; ++k) rank_ += std::abs(column(k)[k]) > zero ? 1 : 0;
}

void PivotedQr::compute(const Matrix& matrix, double threshold) {
  take(matrix);
  for (Index k = 0; k < pivots_; ++k) {
    bring_longest(k);
    shares_[at(k)] = reflect_column(k);
    largest_ = std::max(largest_, std::abs(column(k)[k]));
    shorten_others(k);
  }
  find_rank(threshold);
}

double PivotedQr::volume() const {
  double product = 1.0;
  for (Index k = 0; k < pivots_; ++k) product *= std::abs(entries_[at(k * rows_ + k)]);
  return product;
}

/// right_ = Q^T b, as far as the rank goes.
void PivotedQr::turn_right(const Right& b) {
  for (Index i = 0; i < rows_; ++i) right_[at(i)] = b[i];
  for (Index k = 0; k < rank_; ++k) {
    const double* mirror = column(k) + k;
    double* values = right_.data() + k;
    const Index below = rows_ - k - 1;
    const double moved = shares_[at(k)] * (values[0] + dot(mirror + 1, values + 1, below));
    values[0] -= moved;
    add(-moved, mirror + 1, values + 1, below);
  }
}

void PivotedQr::solve_triangle() {
  for (Index k = rank_ - 1; k >= 0; --k) {
    right_[at(k)] /= column(k)[k];
    add(-right_[at(k)], column(k), right_.data(), k);
  }
  std::fill(right_.begin() + rank_, right_.begin() + columns_, 0.0);
}

void PivotedQr::solve(const Right& b, Solution x) {
  turn_right(b);
  solve_triangle();
  for (Index k = 0; k < columns_; ++k) x[places_[at(k)]] = right_[at(k)];
}

/// Reflections of rows put what R has beside its first `rank` columns into these: the k-th one is
/// (1, w) in the places k and rank, rank + 1, ... Afterwards w stands where zeros would.
void PivotedQr::fold_rows() {
  is_folded_ = true;
  for (Index k = rank_ - 1; k >= 0; --k) {
    double rest = 0.0;
    for (Index j = rank_; j < columns_; ++j) rest += column(j)[k] * column(j)[k];
    folds_[at(k)] = 0.0;
    if (rest <= std::numeric_limits<double>::min()) {
      for (Index j = rank_; j < columns_; ++j) column(j)[k] = 0.0;
      continue;
    }
    const double first = column(k)[k];
    const double length = std::copysign(std::sqrt(first * first + rest), -first);
    for (Index j = rank_; j < columns_; ++j) column(j)[k] /= first - length;
    column(k)[k] = length;
    folds_[at(k)] = (length - first) / length;
    for (Index i = 0; i < k; ++i) {
      double along = column(k)[i];
      for (Index j = rank_; j < columns_; ++j) along += column(j)[i] * column(j)[k];
      along *= folds_[at(k)];
      column(k)[i] -= along;
      for (Index j = rank_; j < columns_; ++j) column(j)[i] -= along * column(j)[k];
    }
  }
}

void PivotedQr::solve_shortest(const Right& b, Solution x) {
  if (rank_ == columns_) return solve(b, x);
  turn_right(b);
  if (!is_folded_) fold_rows();
  solve_triangle();
  for (Index k = 0; k < rank_; ++k) {
    double along = right_[at(k)];
    for (Index j = rank_; j < columns_; ++j) along += right_[at(j)] * column(j)[k];
    along *= folds_[at(k)];
    right_[at(k)] -= along;
    for (Index j = rank_; j < columns_; ++j) right_[at(j)] -= along * column(j)[k];
  }
  for (Index k = 0; k < columns_; ++k) x[places_[at(k)]] = right_[at(k)];
}

}  // namespace ricochet::convex
