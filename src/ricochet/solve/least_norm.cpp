#include "ricochet/solve/least_norm.h"

#include <algorithm>
#include <cmath>

namespace ricochet::solve {
namespace {

/// Part of its length below which a column counts as a combination of those before it.
constexpr double kDependent = 1e-10;

}  // namespace

void LeastNorm::reserve(Eigen::Index rows, Eigen::Index columns) {
  const Eigen::Index rank = std::min(rows, columns);
  if (basis_.rows() == rows && coordinates_.cols() >= columns) return;
  basis_.resize(rows, rank);
  coordinates_.resize(rank, columns);
  transposed_.resize(columns, rank);
  triangle_.resize(rank, rank);
  right_.resize(rank);
  y_.resize(rows);
}

/// A = Q R by Gram-Schmidt, twice, leaving out dependent columns; then R^T = P S the same way, so
/// that systems in R and in R^T are solved by substitution and no condition number is squared.
void LeastNorm::orthogonalise(const Eigen::Ref<const Eigen::MatrixXd>& A) {
  reserve(A.rows(), A.cols());
  rank_ = 0;
  columns_ = A.cols();
  coordinates_.setZero();
  for (Eigen::Index j = 0; j < A.cols(); ++j) {
    y_ = A.col(j);
    const double length = y_.norm();
    for (int pass = 0; pass < 2; ++pass) {
      for (Eigen::Index k = 0; k < rank_; ++k) {
        const double part = basis_.col(k).dot(y_);
        coordinates_(k, j) += part;
        y_ -= part * basis_.col(k);
      }
    }
    const double rest = y_.norm();
    if (rank_ == basis_.cols() || !(rest > kDependent * length)) continue;
    basis_.col(rank_) = y_ / rest;
    coordinates_(rank_, j) = rest;
    ++rank_;
  }
  triangle_.setZero();
  for (Eigen::Index j = 0; j < rank_; ++j) {
    auto column = transposed_.col(j).head(columns_);
    column = coordinates_.row(j).head(columns_).transpose();
    for (int pass = 0; pass < 2; ++pass) {
      for (Eigen::Index k = 0; k < j; ++k) {
        const auto earlier = transposed_.col(k).head(columns_);
        const double part = earlier.dot(column);
        triangle_(k, j) += part;
        column -= part * earlier;
      }
    }
    triangle_(j, j) = column.norm();
    column /= triangle_(j, j);
  }
}

Eigen::Ref<const Eigen::VectorXd> LeastNorm::solve(const Eigen::Ref<const Eigen::MatrixXd>& A,
                                                   const Eigen::Ref<const Eigen::VectorXd>& c) {
  orthogonalise(A);
  // y = Q x with R^T x = P S x = c in the least-squares sense: S x = P^T c.
  for (Eigen::Index i = rank_ - 1; i >= 0; --i) {
    right_[i] = transposed_.col(i).head(columns_).dot(c);
    for (Eigen::Index k = i + 1; k < rank_; ++k) right_[i] -= triangle_(i, k) * right_[k];
    right_[i] /= triangle_(i, i);
  }
  y_.setZero();
  for (Eigen::Index k = 0; k < rank_; ++k) y_ += right_[k] * basis_.col(k);
  return y_;
}

Eigen::Ref<const Eigen::VectorXd> LeastNorm::orthogonal_part(
    const Eigen::Ref<const Eigen::VectorXd>& v) {
  y_ = v;
  for (int pass = 0; pass < 2; ++pass) {
    for (Eigen::Index k = 0; k < rank_; ++k) y_ -= basis_.col(k).dot(y_) * basis_.col(k);
  }
  return y_;
}

void LeastNorm::coefficients(const Eigen::Ref<const Eigen::VectorXd>& y,
                             Eigen::Ref<Eigen::VectorXd> p) {
  // R p = S^T P^T p = Q^T y; the shortest p is P z with S^T z = Q^T y.
  for (Eigen::Index i = 0; i < rank_; ++i) {
    right_[i] = basis_.col(i).dot(y);
    for (Eigen::Index k = 0; k < i; ++k) right_[i] -= triangle_(k, i) * right_[k];
    right_[i] /= triangle_(i, i);
  }
  p.setZero();
  for (Eigen::Index k = 0; k < rank_; ++k) p += right_[k] * transposed_.col(k).head(columns_);
}

}  // namespace ricochet::solve
