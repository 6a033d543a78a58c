#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

#include "ricochet/convex/dense.h"

namespace ricochet::convex {

template <int N>
using Vector = Eigen::Matrix<double, N, 1>;
template <int Rows, int Columns>
using Matrix = Eigen::Matrix<double, Rows, Columns>;

inline constexpr int kDynamic = Eigen::Dynamic;

/// out = a + s b. Few entries are taken one by one: put together into registers of two they would
/// wait for each other.
template <int N>
[[gnu::always_inline]] inline void add_scaled(const Vector<N>& a, double s, const Vector<N>& b,
                                              Vector<N>& out) {
  if constexpr (N == kDynamic) {
    if (out.size() != a.size()) out.resize(a.size());
    for (Eigen::Index i = 0; i < a.size(); ++i) out[i] = a[i] + s * b[i];
  } else if constexpr (N % 2 == 0) {
    out = a + s * b;
  } else {
    for (int i = 0; i < N; ++i) out[i] = a[i] + s * b[i];
  }
}

/// Entries added up without their signs: few of a vector of any size in a plain loop, in the order
/// in which Eigen adds them.
template <class V>
[[gnu::always_inline]] inline double sum_of_sizes(const V& v) {
  if constexpr (V::RowsAtCompileTime == kDynamic) {
    if (v.size() <= 3) {
      double sum = 0.0;
      for (Eigen::Index i = 0; i < v.size(); ++i) sum += std::abs(v[i]);
      return sum;
    }
  }
  return v.cwiseAbs().sum();
}

/// a . b: few entries of vectors of any size in a plain loop, in the order in which Eigen adds
/// them.
template <class A, class B>
[[gnu::always_inline]] inline double dot_of(const A& a, const B& b) {
  if constexpr (A::RowsAtCompileTime == kDynamic) {
    if (a.size() <= 3) {
      double sum = 0.0;
      for (Eigen::Index i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      return sum;
    }
  }
  return a.dot(b);
}

/// Entry by entry.
template <int N>
[[gnu::always_inline]] inline void multiply(const Vector<N>& a, const Vector<N>& b,
                                            Vector<N>& out) {
  if constexpr (N == kDynamic || N % 2 == 0) {
    out = a.cwiseProduct(b);
  } else {
    for (int i = 0; i < N; ++i) out[i] = a[i] * b[i];
  }
}

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

/// M = diag(d). Every entry must be > 0: see `is_valid`.
template <int N>
class DiagonalMetric {
 public:
  static constexpr int kSize = N;

  explicit DiagonalMetric(const Vector<N>& d)
      : diagonal_(d), inverse_(d.cwiseInverse()), half_inverse_(inverse_.cwiseSqrt()) {}

  bool is_valid() const { return diagonal_.allFinite() && (diagonal_.array() > 0.0).all(); }

  void apply(const Vector<N>& v, Vector<N>& out) const { multiply(diagonal_, v, out); }
  void solve(const Vector<N>& v, Vector<N>& out) const { multiply(inverse_, v, out); }
  void half_solve(const Vector<N>& v, Vector<N>& out) const { out = half_inverse_.cwiseProduct(v); }
  void half_solve_transposed(const Vector<N>& v, Vector<N>& out) const { half_solve(v, out); }
  double half_square(const Vector<N>& v) const { return 0.5 * v.cwiseProduct(diagonal_).dot(v); }
  Matrix<N, N> matrix() const { return diagonal_.asDiagonal(); }
  const Vector<N>& diagonal() const { return diagonal_; }
  const Vector<N>& inverse() const { return inverse_; }
  const Vector<N>& half_inverse() const { return half_inverse_; }

 private:
  Vector<N> diagonal_;
  Vector<N> inverse_;
  Vector<N> half_inverse_;
};
static_assert(MetricLike<DiagonalMetric<2>>);

/// A full symmetric matrix, factored once; the lower triangle is read.
template <int N>
class FullMetric {
 public:
  static constexpr int kSize = N;

  explicit FullMetric(const Matrix<N, N>& m) : matrix_(m), factor_(m) {}

  /// Another matrix of the same size, without allocation. False when it is not positive definite.
  bool reset(const Matrix<N, N>& m) {
    matrix_ = m;
    return refactor();
  }
  /// The same after its entries were changed, column by column.
  double* entries() { return matrix_.data(); }
  bool refactor() {
    factor_.compute(matrix_);
    return factor_.is_regular();
  }

  /// With the digits of a matrix of any size.
  void solve_by_columns() {
    if constexpr (N != kDynamic) factor_.solve_by_columns();
  }

  bool is_valid() const { return is_definite(matrix_); }

  void apply(const Vector<N>& v, Vector<N>& out) const { out.noalias() = matrix_ * v; }
  void solve(const Vector<N>& v, Vector<N>& out) const {
    if constexpr (N == kDynamic) return factor_.solve(v, out);
    out = v;
    factor_.half_solve(out);
    factor_.half_solve_transposed(out);
  }
  void half_solve(const Vector<N>& v, Vector<N>& out) const {
    out = v;
    factor_.half_solve(out);
  }
  void half_solve_transposed(const Vector<N>& v, Vector<N>& out) const {
    out = v;
    factor_.half_solve_transposed(out);
  }
  double half_square(const Vector<N>& v) const {
    double total = 0.0;
    for (Eigen::Index i = 0; i < v.size(); ++i) total += v[i] * matrix_.col(i).dot(v);
    return 0.5 * total;
  }
  const Matrix<N, N>& matrix() const { return matrix_; }

 private:
  Matrix<N, N> matrix_;
  std::conditional_t<N == kDynamic, Cholesky, SmallCholesky<N>> factor_;
};
static_assert(MetricLike<FullMetric<2>>);

/// One of the two, known only at run time.
template <int N>
class Metric {
 public:
  static constexpr int kSize = N;

  Metric(DiagonalMetric<N> metric) : metric_(std::move(metric)) {}
  Metric(FullMetric<N> metric) : metric_(std::move(metric)) {}
  static Metric diagonal(const Vector<N>& d) { return DiagonalMetric<N>(d); }
  static Metric full(const Matrix<N, N>& m) { return FullMetric<N>(m); }

  bool is_full() const { return std::holds_alternative<FullMetric<N>>(metric_); }
  /// Whether M is a number times the unit matrix.
  bool is_scalar() const {
    const auto* d = std::get_if<DiagonalMetric<N>>(&metric_);
    return d != nullptr && (d->diagonal().array() == d->diagonal()[0]).all();
  }
  bool is_valid() const {
    return visit([](const auto& m) { return m.is_valid(); });
  }

  [[gnu::always_inline]] void apply(const Vector<N>& v, Vector<N>& out) const {
    map(v, out, [](const auto& m, const Vector<N>& a, Vector<N>& b) { m.apply(a, b); });
  }
  [[gnu::always_inline]] void solve(const Vector<N>& v, Vector<N>& out) const {
    map(v, out, [](const auto& m, const Vector<N>& a, Vector<N>& b) { m.solve(a, b); });
  }
  void half_solve(const Vector<N>& v, Vector<N>& out) const {
    visit([&](const auto& m) { m.half_solve(v, out); });
  }
  void half_solve_transposed(const Vector<N>& v, Vector<N>& out) const {
    visit([&](const auto& m) { m.half_solve_transposed(v, out); });
  }
  double half_square(const Vector<N>& v) const {
    return visit([&](const auto& m) { return m.half_square(v); });
  }
  /// Where M is diagonal, the entries of its inverse; else null.
  const double* inverse_diagonal() const {
    const auto* d = std::get_if<DiagonalMetric<N>>(&metric_);
    return d == nullptr ? nullptr : d->inverse().data();
  }
  /// And those of L^-1.
  const double* half_inverse_diagonal() const {
    const auto* d = std::get_if<DiagonalMetric<N>>(&metric_);
    return d == nullptr ? nullptr : d->half_inverse().data();
  }
  /// A full metric takes another matrix of the same size. False when it is not positive definite.
  bool reset(const Matrix<N, N>& m) { return std::get<FullMetric<N>>(metric_).reset(m); }
  /// Where it is full, with the digits of one of any size.
  void solve_by_columns() {
    if (auto* const full = std::get_if<FullMetric<N>>(&metric_)) full->solve_by_columns();
  }
  /// The matrix of a full metric, to be changed.
  FullMetric<N>& as_full() { return *std::get_if<FullMetric<N>>(&metric_); }
  Matrix<N, N> matrix() const {
    return visit([](const auto& m) -> Matrix<N, N> { return m.matrix(); });
  }

  /// The same metric with its size known to the compiler, or no longer.
  template <int Other>
  Metric<Other> resized() const {
    if (const auto* d = std::get_if<DiagonalMetric<N>>(&metric_)) {
      return DiagonalMetric<Other>(d->diagonal());
    }
    return FullMetric<Other>(std::get<FullMetric<N>>(metric_).matrix());
  }

 private:
  /// A plain branch: std::visit would not be inlined into the step.
  template <class Work>
  [[gnu::always_inline]] decltype(auto) visit(Work&& work) const {
    if (const auto* d = std::get_if<DiagonalMetric<N>>(&metric_)) return work(*d);
    return work(*std::get_if<FullMetric<N>>(&metric_));
  }

  /// A diagonal of known size is inlined into the step. A full matrix is called with copies, so
  /// that vectors of the step may stay in registers.
  template <class Work>
  [[gnu::always_inline]] void map(const Vector<N>& v, Vector<N>& out, const Work& work) const {
    if constexpr (N == kDynamic) return map_any(v, out, work);
    if (const auto* d = std::get_if<DiagonalMetric<N>>(&metric_)) return work(*d, v, out);
    Vector<N> mapped;
    map_any(Vector<N>(v), mapped, work);
    out = mapped;
  }
  template <class Work>
  [[gnu::noinline]] void map_any(const Vector<N>& v, Vector<N>& out, const Work& work) const {
    visit([&](const auto& m) { work(m, v, out); });
  }

  std::variant<DiagonalMetric<N>, FullMetric<N>> metric_;
};
static_assert(MetricLike<Metric<2>>);
static_assert(MetricLike<Metric<kDynamic>>);

}  // namespace ricochet::convex
