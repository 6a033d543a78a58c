#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <concepts>

namespace ricochet::convex {

template <int N>
using Vector = Eigen::Matrix<double, N, 1>;
template <int Rows, int Columns>
using Matrix = Eigen::Matrix<double, Rows, Columns>;

inline constexpr int kDynamic = Eigen::Dynamic;

/// What a metric |v|^2 = v^T M v is asked for, M = L L^T symmetric positive definite. Used through
/// these alone, so that M need not be stored as a matrix.
template <class M>
concept MetricLike = requires(const M& m, const Vector<M::kSize>& v, Vector<M::kSize>& out) {
  { m.apply(v, out) } -> std::same_as<void>;                  // M v
  { m.solve(v, out) } -> std::same_as<void>;                  // M^-1 v
  { m.half_solve(v, out) } -> std::same_as<void>;             // L^-1 v
  { m.half_solve_transposed(v, out) } -> std::same_as<void>;  // L^-T v
  { m.half_square(v) } -> std::same_as<double>;               // v^T M v / 2
};

/// M = identity.
template <int N>
struct UnitMetric {
  static constexpr int kSize = N;
  static void apply(const Vector<N>& v, Vector<N>& out) { out = v; }
  static void solve(const Vector<N>& v, Vector<N>& out) { out = v; }
  static void half_solve(const Vector<N>& v, Vector<N>& out) { out = v; }
  static void half_solve_transposed(const Vector<N>& v, Vector<N>& out) { out = v; }
  static double half_square(const Vector<N>& v) { return 0.5 * v.squaredNorm(); }
};
static_assert(MetricLike<UnitMetric<2>>);

/// A constant metric, diagonal or full.
template <int N>
class Metric {
 public:
  static constexpr int kSize = N;

  Metric() = default;

  /// diag(d); every entry must be > 0 (see is_valid).
  static Metric diagonal(const Vector<N>& d) {
    Metric metric;
    metric.diagonal_ = d;
    metric.inverse_ = d.cwiseInverse();
    metric.half_inverse_ = metric.inverse_.cwiseSqrt();
    metric.valid_ = d.allFinite() && (d.array() > 0.0).all();
    return metric;
  }

  /// A full symmetric matrix; the lower triangle is read.
  static Metric full(const Matrix<N, N>& m) {
    Metric metric;
    metric.is_full_ = true;
    metric.matrix_ = m;
    metric.factor_.compute(m);
    const bool pivots_hold = metric.factor_.info() == Eigen::Success &&
                             metric.factor_.rcond() > 1e-15;  // else singular to working precision
    metric.valid_ = m.allFinite() && pivots_hold;
    return metric;
  }

  bool is_valid() const { return valid_; }  // symmetric positive definite, as far as it was read
  bool is_full() const { return is_full_; }

  void apply(const Vector<N>& v, Vector<N>& out) const {
    if (is_full_) {
      out.noalias() = matrix_ * v;
    } else {
      out = diagonal_.cwiseProduct(v);
    }
  }
  void solve(const Vector<N>& v, Vector<N>& out) const {
    if (is_full_) {
      out = v;
      factor_.solveInPlace(out);
    } else {
      out = inverse_.cwiseProduct(v);
    }
  }
  void half_solve(const Vector<N>& v, Vector<N>& out) const {
    if (is_full_) {
      out = v;
      factor_.matrixL().solveInPlace(out);
    } else {
      out = half_inverse_.cwiseProduct(v);
    }
  }
  void half_solve_transposed(const Vector<N>& v, Vector<N>& out) const {
    if (is_full_) {
      out = v;
      factor_.matrixU().solveInPlace(out);
    } else {
      out = half_inverse_.cwiseProduct(v);
    }
  }
  double half_square(const Vector<N>& v) const {
    if (!is_full_) return 0.5 * v.cwiseProduct(diagonal_).dot(v);
    double total = 0.0;
    for (Eigen::Index i = 0; i < v.size(); ++i) total += v[i] * matrix_.col(i).dot(v);
    return 0.5 * total;
  }

  Matrix<N, N> matrix() const {
    if (is_full_) return matrix_;
    return diagonal_.asDiagonal();
  }

 private:
  bool is_full_{false};
  bool valid_{false};
  Vector<N> diagonal_;
  Vector<N> inverse_;
  Vector<N> half_inverse_;
  Matrix<N, N> matrix_;
  Eigen::LLT<Matrix<N, N>> factor_;
};
static_assert(MetricLike<Metric<2>>);
static_assert(MetricLike<Metric<kDynamic>>);

}  // namespace ricochet::convex
