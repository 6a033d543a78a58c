#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace ricochet::convex {

// Decompositions of full matrices whose size is known at run time only. They take long to compile,
// so that this is done in one source; they allocate, and are not for stepping loops.

/// A = V diag(values) V^T, values ascending.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// Of a symmetric matrix; the lower triangle is read.
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix);
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix);

/// A^T A.
Eigen::MatrixXd gram_matrix(const Eigen::MatrixXd& columns);

/// L^-1 B, with A = L L^T symmetric positive definite.
Eigen::MatrixXd half_solve(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right);

/// A^-1 B, A symmetric.
Eigen::MatrixXd solve_symmetric(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right);

/// A^-1, by elimination with exchanges of rows; not finite where A is singular.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix);

/// The shortest of all x with the least |A x - b|.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right);

/// Singular values of a square matrix, descending.
Eigen::VectorXd singular_values(Eigen::MatrixXd matrix);

/// Number of independent columns: of pivots above `threshold` times the largest.
Eigen::Index rank_of(const Eigen::MatrixXd& matrix, double threshold);

/// Whether A is symmetric positive definite to working precision; the lower triangle is read.
bool is_definite(const Eigen::MatrixXd& matrix);

/// A = L L^T by plain loops, in the order in which Eigen does it where there are few rows. False
/// when A is not positive definite.
template <class M>
bool factor_by_loops(const M& a, M& l) {
  bool is_positive = true;
  for (Eigen::Index k = 0; k < a.rows(); ++k) {
    for (Eigen::Index i = k; i < a.rows(); ++i) {
      double sum = 0.0;
      for (Eigen::Index j = 0; j < k; ++j) sum += l(i, j) * l(k, j);
      const double rest = a(i, k) - sum;
      if (i == k && !(rest > 0.0)) is_positive = false;
      l(i, k) = i == k ? std::sqrt(rest) : rest / l(k, k);
    }
  }
  return is_positive;
}

/// x becomes L^-T x.
template <class M, class V>
void solve_upper_by_loops(const M& l, V& x) {
  for (Eigen::Index i = l.rows() - 1; i >= 0; --i) {
    double sum = 0.0;
    for (Eigen::Index j = i + 1; j < l.rows(); ++j) sum += l(j, i) * x[j];
    x[i] = (x[i] - sum) / l(i, i);
  }
}

/// Whether L is finite, and L L^T positive definite to 1e-14.
template <class M>
bool has_regular_pivots(const M& l) {
  double least = l(0, 0), most = least;
  for (Eigen::Index k = 0; k < l.rows(); ++k) {
    for (Eigen::Index i = k; i < l.rows(); ++i) {
      if (!std::isfinite(l(i, k))) return false;
    }
    least = std::min(least, l(k, k));
    most = std::max(most, l(k, k));
  }
  return least > 1e-7 * most;
}

/// A = L L^T, symmetric positive definite, factored again and again without allocation. Few rows
/// are done by plain loops, in registers.
class Cholesky : private Eigen::LLT<Eigen::MatrixXd> {
 public:
  explicit Cholesky(const Eigen::MatrixXd& matrix);

  void compute(const Eigen::MatrixXd& matrix);
  /// Whether the matrix is finite and positive definite to 1e-14.
  bool is_regular() const;
  void half_solve(Eigen::VectorXd& x) const;                         // x becomes L^-1 x
  void half_solve_transposed(Eigen::VectorXd& x) const;              // L^-T x
  void solve(const Eigen::VectorXd& v, Eigen::VectorXd& out) const;  // A^-1 v

 private:
  static constexpr Eigen::Index kFew = 4;
};

/// The same for N rows, few and known to the compiler.
template <int N>
class SmallCholesky {
 public:
  using Matrix = Eigen::Matrix<double, N, N>;
  using Vector = Eigen::Matrix<double, N, 1>;

  explicit SmallCholesky(const Matrix& matrix) { compute(matrix); }

  void compute(const Matrix& matrix) { is_positive_ = factor_by_loops(matrix, lower_); }
  bool is_regular() const { return is_positive_ && has_regular_pivots(lower_); }
  /// From now on x loses column after column of L, as it does with matrices of any size; else the
  /// sums of rows, which for three rows round otherwise.
  void solve_by_columns() { by_columns_ = true; }
  void half_solve(Vector& x) const {  // x becomes L^-1 x
    for (int i = 0; i < N; ++i) {
      if (N > 2 && by_columns_) {
        for (int j = 0; j < i; ++j) x[i] -= x[j] * lower_(i, j);
        x[i] /= lower_(i, i);
        continue;
      }
      double sum = 0.0;
      for (int j = 0; j < i; ++j) sum += lower_(i, j) * x[j];
      x[i] = (x[i] - sum) / lower_(i, i);
    }
  }
  void half_solve_transposed(Vector& x) const { solve_upper_by_loops(lower_, x); }
  Vector solve(Vector x) const {
    half_solve(x);
    half_solve_transposed(x);
    return x;
  }

 private:
  Matrix lower_;
  bool is_positive_{false};
  bool by_columns_{false};
};

}  // namespace ricochet::convex
