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

/// A = L L^T, symmetric positive definite, factored again and again without allocation. Few rows
/// are done by plain loops, in the order in which Eigen does them.
class Cholesky : private Eigen::LLT<Eigen::MatrixXd> {
 public:
  using LLT::info;
  using LLT::LLT;
  using LLT::matrixLLT;

  void compute(const Eigen::MatrixXd& matrix) {
    if (!is_small()) return compute_large(matrix);
    m_info = Eigen::Success;
    m_l1_norm = -1.0;  // not known
    for (Eigen::Index k = 0; k < rows(); ++k) {
      for (Eigen::Index i = k; i < rows(); ++i) {
        double sum = 0.0;
        for (Eigen::Index j = 0; j < k; ++j) sum += m_matrix(i, j) * m_matrix(k, j);
        const double rest = matrix(i, k) - sum;
        if (i == k && !(rest > 0.0)) m_info = Eigen::NumericalIssue;
        m_matrix(i, k) = i == k ? std::sqrt(rest) : rest / m_matrix(k, k);
      }
    }
  }
  double rcond() const;
  /// Whether the matrix, of few rows, is finite and positive definite to 1e-14.
  bool is_regular() const {
    if (m_info != Eigen::Success) return false;
    double least = m_matrix(0, 0), most = least;
    for (Eigen::Index k = 0; k < rows(); ++k) {
      for (Eigen::Index i = k; i < rows(); ++i) {
        if (!std::isfinite(m_matrix(i, k))) return false;
      }
      least = std::min(least, m_matrix(k, k));
      most = std::max(most, m_matrix(k, k));
    }
    return least > 1e-7 * most;
  }
  void solve(Eigen::VectorXd& x) const {  // x becomes A^-1 x
    half_solve(x);
    half_solve_transposed(x);
  }
  void half_solve(Eigen::VectorXd& x) const {  // L^-1 x
    if (!is_small()) return half_solve_large(x);
    for (Eigen::Index i = 0; i < rows(); ++i) {
      x[i] /= m_matrix(i, i);
      for (Eigen::Index j = i + 1; j < rows(); ++j) x[j] -= x[i] * m_matrix(j, i);
    }
  }
  void half_solve_transposed(Eigen::VectorXd& x) const {  // L^-T x
    if (!is_small()) return half_solve_transposed_large(x);
    for (Eigen::Index i = rows() - 1; i >= 0; --i) {
      double sum = 0.0;
      for (Eigen::Index j = i + 1; j < rows(); ++j) sum += m_matrix(j, i) * x[j];
      x[i] = (x[i] - sum) / m_matrix(i, i);
    }
  }
  bool is_small() const { return rows() <= 4; }

 private:
  void compute_large(const Eigen::MatrixXd& matrix);
  void half_solve_large(Eigen::VectorXd& x) const;
  void half_solve_transposed_large(Eigen::VectorXd& x) const;
};

}  // namespace ricochet::convex
