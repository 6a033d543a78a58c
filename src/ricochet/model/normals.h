#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "ricochet/convex/metric.h"

namespace ricochet::model {

/// Which coordinates each gap depends on: entries offsets[a] .. offsets[a + 1] of `coordinates`.
struct Pattern {
  std::vector<std::size_t> offsets{0};
  std::vector<int> coordinates;

  std::size_t begin(int a) const { return offsets[static_cast<std::size_t>(a)]; }
  std::size_t end(int a) const { return offsets[static_cast<std::size_t>(a) + 1]; }
};

/// Gap gradients: J_a^T = (dg_a/dq)^T for each contact a. Columns of a matrix where the number of
/// coordinates is small and known; else only the entries of the pattern are stored.
template <int N, int K>
class Normals {
 public:
  Normals() = default;
  Normals(int dofs, int contacts, const Pattern* = nullptr) : columns_(dofs, contacts) {
    columns_.setZero();
  }

  auto col(int a) { return columns_.col(a); }
  void take(int a, const Normals& other) { columns_.col(a) = other.columns_.col(a); }
  auto col(int a) const { return columns_.col(a); }
  void set(int a, std::size_t, int coordinate, double value) { columns_(coordinate, a) = value; }

  template <class V>
  double dot(int a, const V& v) const {
    return columns_.col(a).dot(v);
  }
  template <class V>
  double abs_dot(int a, const V& v) const {
    return columns_.col(a).cwiseAbs().dot(v.cwiseAbs());
  }
  template <class V>
  void add_to(int a, double scale, V& out) const {
    if constexpr (N != convex::kDynamic && N % 2 != 0) {  // of odd lengths Eigen makes a call
      for (int i = 0; i < N; ++i) out[i] += scale * columns_(i, a);
    } else {
      out += scale * columns_.col(a);
    }
  }
  template <class V>
  void add_size_to(int a, double scale, V& out) const {  // entry by entry, without signs
    out += std::abs(scale) * columns_.col(a).cwiseAbs();
  }
  template <class V>
  void copy_to(int a, V& out) const {
    out = columns_.col(a);
  }
  template <class Work>
  void each(int a, Work&& work) const {  // work(coordinate, entry)
    for (Eigen::Index i = 0; i < columns_.rows(); ++i) work(static_cast<int>(i), columns_(i, a));
  }
  double norm(int a) const { return columns_.col(a).norm(); }
  double largest(int a) const {
    double most = 0.0;
    for (Eigen::Index i = 0; i < columns_.rows(); ++i) {
      most = std::max(most, std::abs(columns_(i, a)));
    }
    return most;
  }
  double abs_sum(int a) const { return columns_.col(a).cwiseAbs().sum(); }

 private:
  convex::Matrix<N, K> columns_;
};

template <>
class Normals<convex::kDynamic, convex::kDynamic> {
 public:
  Normals() = default;
  Normals(int, int, const Pattern* pattern)
      : pattern_(pattern), values_(pattern->coordinates.size(), 0.0) {}

  void set(int, std::size_t entry, int, double value) { values_[entry] = value; }
  void take(int a, const Normals& other) {  // of the same pattern
    for (std::size_t e = pattern_->begin(a); e < pattern_->end(a); ++e) {
      values_[e] = other.values_[e];
    }
  }
  const Pattern& pattern() const { return *pattern_; }
  double value(std::size_t entry) const { return values_[entry]; }

  template <class V>
  double dot(int a, const V& v) const {
    double sum = 0.0;
    each(a, [&](int i, double value) { sum += value * v[i]; });
    return sum;
  }
  template <class V>
  double abs_dot(int a, const V& v) const {
    double sum = 0.0;
    each(a, [&](int i, double value) { sum += std::abs(value * v[i]); });
    return sum;
  }
  template <class V>
  void add_to(int a, double scale, V& out) const {
    each(a, [&](int i, double value) { out[i] += scale * value; });
  }
  template <class V>
  void add_size_to(int a, double scale, V& out) const {
    each(a, [&](int i, double value) { out[i] += std::abs(scale * value); });
  }
  template <class V>
  void copy_to(int a, V& out) const {
    out.setZero();
    add_to(a, 1.0, out);
  }
  double norm(int a) const {
    double sum = 0.0;
    each(a, [&](int, double value) { sum += value * value; });
    return std::sqrt(sum);
  }
  double largest(int a) const {
    double most = 0.0;
    each(a, [&](int, double value) { most = std::max(most, std::abs(value)); });
    return most;
  }
  double abs_sum(int a) const {
    double sum = 0.0;
    each(a, [&](int, double value) { sum += std::abs(value); });
    return sum;
  }

  template <class Work>
  void each(int a, Work&& work) const {  // work(coordinate, entry)
    const std::size_t end = pattern_->end(a);
    for (std::size_t e = pattern_->begin(a); e < end; ++e) {
      work(pattern_->coordinates[e], values_[e]);
    }
  }

 private:
  const Pattern* pattern_{nullptr};
  std::vector<double> values_;
};

/// W_aa = J_a M^-1 J_a^T; `normal` and `response` are left at J_a^T and M^-1 J_a^T, except where
/// the metric knows W_aa, or M is diagonal and the gradient sparse.
template <int N, int K, class Metric, class V>
[[gnu::always_inline]] inline double delassus(const Normals<N, K>& normals, int a,
                                              const Metric& mass, V& normal, V& response) {
  if constexpr (requires { mass.row_weight(a); }) return mass.row_weight(a);
  if constexpr (requires { mass.inverse_diagonal(); } && N == convex::kDynamic &&
                K == convex::kDynamic) {
    if (const double* inverse = mass.inverse_diagonal()) {
      double sum = 0.0;
      const Pattern& pattern = normals.pattern();
      for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
        sum += normals.value(e) * normals.value(e) * inverse[pattern.coordinates[e]];
      }
      return sum;
    }
  }
  normals.copy_to(a, normal);
  mass.solve(normal, response);
  return normal.dot(response);
}

}  // namespace ricochet::model
