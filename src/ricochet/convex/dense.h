#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

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

/// A = L L^T, symmetric positive definite, factored again and again without allocation.
class Cholesky {
 public:
  explicit Cholesky(const Eigen::MatrixXd& matrix);
  void compute(const Eigen::MatrixXd& matrix);
  Eigen::ComputationInfo info() const { return factor_.info(); }
  double rcond() const;
  const Eigen::MatrixXd& matrixLLT() const { return factor_.matrixLLT(); }
  void solve(Eigen::VectorXd& x) const;                  // x becomes A^-1 x
  void half_solve(Eigen::VectorXd& x) const;             // L^-1 x
  void half_solve_transposed(Eigen::VectorXd& x) const;  // L^-T x

 private:
  Eigen::LLT<Eigen::MatrixXd> factor_;
};

}  // namespace ricochet::convex
