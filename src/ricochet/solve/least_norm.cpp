#include "ricochet/solve/least_norm.h"

#include <algorithm>
#include <cmath>

namespace ricochet::solve {
namespace {

/// Part of its length below which a column counts as a combination of those before it.
constexpr double kDependent = 1e-10;

/// Solves S x = b in place by Cholesky, S symmetric positive definite, destroyed.
template <class MatrixBlock, class VectorBlock>
void cholesky_in_place(MatrixBlock&& s, VectorBlock&& x) {
  const Eigen::Index n = s.rows();
  for (Eigen::Index k = 0; k < n; ++k) {
    s(k, k) = std::sqrt(s(k, k) - s.row(k).head(k).squaredNorm());
    for (Eigen::Index i = k + 1; i < n; ++i) {
      s(i, k) = (s(i, k) - s.row(i).head(k).dot(s.row(k).head(k))) / s(k, k);
    }
    x[k] = (x[k] - s.row(k).head(k).dot(x.head(k))) / s(k, k);
  }
  for (Eigen::Index k = n - 1; k >= 0; --k) {
    x[k] = (x[k] - s.col(k).tail(n - k - 1).dot(x.tail(n - k - 1))) / s(k, k);
  }
}

}  // namespace

void LeastNorm::reserve(Eigen::Index rows, Eigen::Index columns) {
  const Eigen::Index rank = std::min(rows, columns);
  if (basis_.rows() == rows && coordinates_.cols() >= columns) return;
  basis_.resize(rows, rank);
  coordinates_.resize(rank, columns);
  normal_.resize(rank, rank);
  right_.resize(rank);
  y_.resize(rows);
}

Eigen::Ref<const Eigen::VectorXd> LeastNorm::solve(const Eigen::Ref<const Eigen::MatrixXd>& A,
                                                   const Eigen::Ref<const Eigen::VectorXd>& c) {
  reserve(A.rows(), A.cols());
  Eigen::Index rank = 0;
  coordinates_.setZero();
  for (Eigen::Index j = 0; j < A.cols(); ++j) {  // A = Q R by Gram-Schmidt, twice
    y_ = A.col(j);
    const double length = y_.norm();
    for (int pass = 0; pass < 2; ++pass) {
      for (Eigen::Index k = 0; k < rank; ++k) {
        const double part = basis_.col(k).dot(y_);
        coordinates_(k, j) += part;
        y_ -= part * basis_.col(k);
      }
    }
    const double rest = y_.norm();
    if (rank == basis_.cols() || !(rest > kDependent * length)) continue;
    basis_.col(rank) = y_ / rest;
    coordinates_(rank, j) = rest;
    ++rank;
  }
  // y = Q x with R^T x = c, in the least-squares sense: R R^T x = R c.
  const auto R = coordinates_.topLeftCorner(rank, A.cols());
  auto S = normal_.topLeftCorner(rank, rank);
  auto x = right_.head(rank);
  for (Eigen::Index i = 0; i < rank; ++i) {
    x[i] = R.row(i).dot(c.transpose());
    for (Eigen::Index k = 0; k < rank; ++k) S(i, k) = R.row(i).dot(R.row(k));
  }
  cholesky_in_place(S, x);
  y_.setZero();
  for (Eigen::Index k = 0; k < rank; ++k) y_ += x[k] * basis_.col(k);
  return y_;
}

}  // namespace ricochet::solve
