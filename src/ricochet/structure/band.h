#pragma once

#include <Eigen/Core>
#include <vector>

namespace ricochet::structure {

/// A symmetric matrix whose entries lie within `band` of the diagonal; row i keeps the columns
/// i - band to i.
class BandMatrix {
 public:
  BandMatrix() = default;
  BandMatrix(int size, int band)
      : size_(size),
        band_(band),
        entries_(static_cast<std::size_t>(size) * static_cast<std::size_t>(band + 1), 0.0) {}

  int size() const { return size_; }
  int band() const { return band_; }
  double& at(int row, int column) { return entries_[place(row, column)]; }  // row >= column
  double at(int row, int column) const { return entries_[place(row, column)]; }
  const double* row(int i) const { return entries_.data() + place(i, i - band_); }

  /// y = A x.
  void multiply(const double* x, double* y) const;

 private:
  template <int Band>
  void multiply_band(const double* x, double* y) const;  // 0: any
  std::size_t place(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(band_ + 1) +
           static_cast<std::size_t>(column - row + band_);
  }
  int size_{0};
  int band_{0};
  std::vector<double> entries_;
};

/// A = L D L^T of a symmetric positive definite band matrix, factored once: a solve costs
/// 2 (band + 1) multiplications a row.
class BandFactor {
 public:
  /// False when the matrix is not positive definite in this arithmetic.
  [[nodiscard]] bool factor(const BandMatrix& matrix);

  /// x becomes A^-1 x.
  void solve(double* x) const;
  /// x becomes D^-1/2 L^-1 x, whose square is x^T A^-1 x.
  void half_solve(double* x) const;

  int size() const { return size_; }

 private:
  template <int Band>
  void solve_band(double* x) const;
  void solve_any(double* x) const;
  double entry(int i, int j) const {  // of L, j < i
    return lower_[static_cast<std::size_t>(i) * static_cast<std::size_t>(band_) +
                  static_cast<std::size_t>(j - i + band_)];
  }

  int size_{0};
  int band_{0};
  std::vector<double> lower_;    // row i: L(i, i - band .. i - 1); places left of the matrix are 0
  std::vector<double> inverse_;  // 1 / D
};

}  // namespace ricochet::structure
