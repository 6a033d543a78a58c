#include "ricochet/convex/dense.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include "ricochet/convex/pivoted.h"

namespace ricochet::convex {

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(matrix);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

Eigen::MatrixXd gram_matrix(const Eigen::MatrixXd& columns) {
  return columns.transpose() * columns;
}

Eigen::MatrixXd half_solve(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right) {
  return Eigen::LLT<Eigen::MatrixXd>(matrix).matrixL().solve(right);
}

Eigen::MatrixXd solve_symmetric(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right) {
  return matrix.ldlt().solve(right);
}

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix) {
  return matrix.partialPivLu().inverse();
}

Eigen::VectorXd least_squares(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right) {
  PivotedQr factor;
  factor.compute(matrix);
  Eigen::VectorXd x(matrix.cols());
  factor.solve_shortest(right, x);
  return x;
}

Eigen::Index rank_of(const Eigen::MatrixXd& matrix, double threshold) {
  PivotedQr factor;
  factor.compute(matrix, threshold);
  return factor.rank();
}

/// Householder's reflections from both sides leave two diagonals d and e. The symmetric matrix with
/// d_0, e_0, d_1, e_1, ... beside a diagonal of zeros has the eigenvalues +-s.     [Golub 1965]
Eigen::VectorXd singular_values(Eigen::MatrixXd a) {
  const Eigen::Index n = a.cols();
  if (n == 0) return {};
  Eigen::VectorXd beside = Eigen::VectorXd::Zero(2 * n - 1);
  Eigen::VectorXd room(n);
  double tau = 0.0;
  for (Eigen::Index k = 0; k < n; ++k) {
    const Eigen::Index rest = n - k - 1;
    auto column = a.col(k).tail(rest + 1);
    column.makeHouseholderInPlace(tau, beside[2 * k]);
    a.bottomRightCorner(rest + 1, rest)
        .applyHouseholderOnTheLeft(column.tail(rest), tau, room.data());
    if (rest == 0) break;
    auto row = a.row(k).tail(rest);
    row.makeHouseholderInPlace(tau, beside[2 * k + 1]);
    a.bottomRightCorner(rest, rest)
        .applyHouseholderOnTheRight(row.tail(rest - 1).transpose(), tau, room.data());
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen;
  eigen.computeFromTridiagonal(Eigen::VectorXd::Zero(2 * n).eval(), beside, Eigen::EigenvaluesOnly);
  return eigen.eigenvalues().tail(n).reverse().cwiseMax(0.0);
}

bool is_definite(const Eigen::MatrixXd& matrix) {
  const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
  return matrix.allFinite() && factor.info() == Eigen::Success && factor.rcond() > 1e-15;
}

Cholesky::Cholesky(const Eigen::MatrixXd& matrix) : LLT(matrix) {}

void Cholesky::compute_large(const Eigen::MatrixXd& matrix) { LLT::compute(matrix); }

void Cholesky::half_solve_large(Eigen::VectorXd& x) const { matrixL().solveInPlace(x); }

void Cholesky::half_solve_transposed_large(Eigen::VectorXd& x) const { matrixU().solveInPlace(x); }

}  // namespace ricochet::convex
