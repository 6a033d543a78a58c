#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace ricochet::convex {

/// A P = Q R by Householder's reflections, the largest of the columns that are left first
/// [Businger 1965], by plain loops. Storage grows to the largest matrix so far and is kept.
class PivotedQr {
 public:
  using Matrix = Eigen::Ref<const Eigen::MatrixXd>;
  using Right = Eigen::Ref<const Eigen::VectorXd>;
  using Solution = Eigen::Ref<Eigen::VectorXd>;

  /// Pivots up to `threshold` times the largest count as zero; by default the rounding of as many
  /// numbers as there are columns, or rows if these are fewer.
  void compute(const Matrix& matrix, double threshold = kRounding);
  Eigen::Index rank() const { return rank_; }
  /// |det A| of a square matrix.
  double volume() const;

  /// An x with the least |A x - b| that has as many zeros as can be.
  void solve(const Right& b, Solution x);
  /// The shortest of all these x [Golub 1965].
  void solve_shortest(const Right& b, Solution x);

 private:
  static constexpr double kRounding = -1.0;

  double* column(Eigen::Index j) { return entries_.data() + j * rows_; }
  void take(const Matrix& matrix);
  void bring_longest(Eigen::Index k);
  double reflect_column(Eigen::Index k);
  void shorten_others(Eigen::Index k);
  void find_rank(double threshold);
  void fold_rows();
  void turn_right(const Right& b);
  void solve_triangle();

  Eigen::Index rows_{0}, columns_{0}, pivots_{0}, rank_{0};
  std::vector<double> entries_;  // R, and below it the reflections; by columns
  std::vector<double> shares_;   // of the reflections of columns
  std::vector<double> folds_;    // of those of rows
  std::vector<double> lengths_;  // of what is left of the columns
  std::vector<double> fresh_;    // those lengths when they were last summed up
  std::vector<double> right_;
  std::vector<Eigen::Index> places_;
  double largest_{0.0};
  bool is_folded_{false};
};

/// P A Q = L U of a few rows known to the compiler, by exchanges of rows and columns.
template <int N>
class FullyPivoted {
 public:
  using Matrix = Eigen::Matrix<double, N, N>;
  using Vector = Eigen::Matrix<double, N, 1>;

  explicit FullyPivoted(const Matrix& matrix) : a_(matrix) {
    for (int k = 0; k < N; ++k) rows_[at(k)] = columns_[at(k)] = k;
    for (int k = 0; k < N; ++k) {
      if (!bring_largest(k)) break;
      for (int i = k + 1; i < N; ++i) a_(i, k) /= a_(k, k);
      for (int j = k + 1; j < N; ++j) {
        for (int i = k + 1; i < N; ++i) a_(i, j) -= a_(i, k) * a_(k, j);
      }
    }
  }

  double least_pivot() const { return a_.diagonal().cwiseAbs().minCoeff(); }
  double largest_pivot() const { return a_.diagonal().cwiseAbs().maxCoeff(); }
  int rank() const {
    const double zero = N * std::numeric_limits<double>::epsilon() * largest_pivot();
    int rank = 0;
    for (int k = 0; k < N; ++k) rank += std::abs(a_(k, k)) > zero ? 1 : 0;
    return rank;
  }

  Matrix inverse() const {
    Matrix made;
    for (int k = 0; k < N; ++k) made.col(k) = solve(Vector::Unit(k));
    return made;
  }

  /// A^-1 b; where A is singular, with zeros instead of what is not determined.
  Vector solve(const Vector& b) const {
    const int rank = this->rank();
    Vector y;
    for (int i = 0; i < N; ++i) {
      double sum = 0.0;
      for (int j = 0; j < i; ++j) sum += a_(i, j) * y[j];
      y[i] = b[rows_[at(i)]] - sum;
    }
    Vector x = Vector::Zero();
    for (int i = rank - 1; i >= 0; --i) {
      double sum = 0.0;
      for (int j = i + 1; j < rank; ++j) sum += a_(i, j) * y[j];
      y[i] = (y[i] - sum) / a_(i, i);
      x[columns_[at(i)]] = y[i];
    }
    return x;
  }

 private:
  static constexpr std::size_t at(int k) { return static_cast<std::size_t>(k); }

  /// The largest entry from (k, k) on comes there; false where all are zero.
  bool bring_largest(int k) {
    int row = k, column = k;
    double largest = std::abs(a_(k, k));
    for (int j = k; j < N; ++j) {
      for (int i = k; i < N; ++i) {
        if (!(std::abs(a_(i, j)) > largest)) continue;
        largest = std::abs(a_(i, j));
        row = i;
        column = j;
      }
    }
    if (largest == 0.0) return false;
    for (int j = 0; j < N; ++j) std::swap(a_(k, j), a_(row, j));
    for (int i = 0; i < N; ++i) std::swap(a_(i, k), a_(i, column));
    std::swap(rows_[at(k)], rows_[at(row)]);
    std::swap(columns_[at(k)], columns_[at(column)]);
    return true;
  }

  Matrix a_;
  std::array<int, at(N)> rows_{}, columns_{};
};

}  // namespace ricochet::convex
