#include "ricochet/solve/least_norm.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace ricochet::solve {
namespace {

/// Part of its length below which a column counts as a combination of those before it.
constexpr double kDependent = 1e-10;

using Index = Eigen::Index;
using Numbers = Eigen::Map<const Eigen::VectorXd>;

/// Vectors of at most so many entries are taken in plain loops, in the order in which Eigen adds
/// them.
constexpr Index kFew = 3;

/// The number of entries is an Index, or a constant up to kFew.
template <class Count>
[[gnu::always_inline]] inline double dot(const double* a, const double* b, Count n) {
  if constexpr (std::is_same_v<Count, Index>) {
    return Numbers(a, n).dot(Numbers(b, n));
  } else {
    double sum = a[0] * b[0];
    for (Index i = 1; i < n; ++i) sum += a[i] * b[i];
    return sum;
  }
}

template <class Count>
[[gnu::always_inline]] inline double norm(const double* a, Count n) {
  if constexpr (std::is_same_v<Count, Index>) return Numbers(a, n).norm();
  return std::sqrt(dot(a, a, n));
}

/// out += scale * a.
template <class Count>
[[gnu::always_inline]] inline void add(double scale, const double* a, Count n, double* out) {
  for (Index i = 0; i < n; ++i) out[i] += scale * a[i];
}

/// out = a / size.
template <class Count>
[[gnu::always_inline]] inline void divide(const double* a, double size, Count n, double* out) {
  for (Index i = 0; i < n; ++i) out[i] = a[i] / size;
}

/// Calls work with n as a constant where it is small.
template <class Work>
[[gnu::always_inline]] inline void with_count(Index n, Work&& work) {
  static_assert(kFew == 3);
  if (n == 1) return work(std::integral_constant<Index, 1>());
  if (n == 2) return work(std::integral_constant<Index, 2>());
  if (n == 3) return work(std::integral_constant<Index, 3>());
  work(n);
}

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
  with_count(A.rows(), [&](auto n) {
    for (Index j = 0; j < columns_; ++j) add_column(A.col(j).data(), j, n);
  });
  with_count(columns_, [&](auto m) { transpose(m); });
}

/// Column j of A, of n entries.
template <class Count>
void LeastNorm::add_column(const double* column, Index j, Count n) {
  double* const y = y_.data();
  double* const coordinate = &coordinates_(0, j);
  for (Index i = 0; i < n; ++i) y[i] = column[i];
  for (Index k = 0; k < coordinates_.rows(); ++k) coordinate[k] = 0.0;
  const double length = norm(y, n);
  for (int pass = 0; pass < 2; ++pass) {
    for (Index k = 0; k < rank_; ++k) {
      const double* const basis = &basis_(0, k);
      const double part = dot(basis, y, n);
      coordinate[k] += part;
      add(-part, basis, n, y);
    }
  }
  const double rest = norm(y, n);
  if (rank_ == basis_.cols() || !(rest > kDependent * length)) return;
  divide(y, rest, n, &basis_(0, rank_));
  coordinate[rank_++] = rest;
}

/// R^T = P S, with m columns of A.
template <class Count>
void LeastNorm::transpose(Count m) {
  for (Index j = 0; j < rank_; ++j) {
    double* const column = &transposed_(0, j);
    for (Index k = 0; k < m; ++k) column[k] = coordinates_(j, k);
    for (Index k = 0; k < j; ++k) triangle_(k, j) = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
      for (Index k = 0; k < j; ++k) {
        const double* const earlier = &transposed_(0, k);
        const double part = dot(earlier, column, m);
        triangle_(k, j) += part;
        add(-part, earlier, m, column);
      }
    }
    triangle_(j, j) = norm(column, m);
    divide(column, triangle_(j, j), m, column);
  }
}

Eigen::Ref<const Eigen::VectorXd> LeastNorm::solve(const Eigen::Ref<const Eigen::MatrixXd>& A,
                                                   const Eigen::Ref<const Eigen::VectorXd>& c) {
  orthogonalise(A);
  // y = Q x with R^T x = P S x = c in the least-squares sense: S x = P^T c.
  with_count(columns_, [&](auto m) {
    for (Index i = rank_ - 1; i >= 0; --i) {
      double x = dot(&transposed_(0, i), c.data(), m);
      for (Index k = i + 1; k < rank_; ++k) x -= triangle_(i, k) * right_[k];
      right_[i] = x / triangle_(i, i);
    }
  });
  y_.setZero();
  with_count(y_.size(), [&](auto n) {
    for (Index k = 0; k < rank_; ++k) add(right_[k], &basis_(0, k), n, y_.data());
  });
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
  with_count(basis_.rows(), [&](auto n) {
    for (Index i = 0; i < rank_; ++i) {
      double x = dot(&basis_(0, i), y.data(), n);
      for (Index k = 0; k < i; ++k) x -= triangle_(k, i) * right_[k];
      right_[i] = x / triangle_(i, i);
    }
  });
  p.setZero();
  with_count(columns_, [&](auto m) {
    for (Index k = 0; k < rank_; ++k) add(right_[k], &transposed_(0, k), m, p.data());
  });
}

}  // namespace ricochet::solve
