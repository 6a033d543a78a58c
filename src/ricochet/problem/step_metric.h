#pragma once

#include <Eigen/Core>
#include <concepts>
#include <limits>
#include <type_traits>

#include "ricochet/convex/metric.h"

namespace ricochet::problem {

/// The kinetic metric M = L L^T of a step's problem, whatever it is stored as: the unit matrix,
/// a diagonal, or a metric that is asked for L^-1 v. Refers to the model's metric, which must live
/// as long. A problem may have more coordinates than the metric: these have M = 1.
class StepMetric {
 public:
  StepMetric() = default;  // M = 1
  /// M diagonal: the entries of M^-1 and of L^-1.
  StepMetric(const double* inverse, const double* half_inverse)
      : inverse_(inverse), half_inverse_(half_inverse) {}

  template <convex::MetricLike M>
  static StepMetric of(const M&& metric) {  // of a temporary: nothing could be referred to
    static_assert(std::is_same_v<M, convex::UnitMetric<M::kSize>>, "mass() must give a reference");
    (void)metric;
    return {};
  }
  template <convex::MetricLike M>
  static StepMetric of(const M& metric) {
    StepMetric result;
    if constexpr (std::is_same_v<M, convex::UnitMetric<M::kSize>>) return result;
    if constexpr (requires { metric.inverse_diagonal(); }) {
      result.inverse_ = metric.inverse_diagonal();
      result.half_inverse_ = metric.half_inverse_diagonal();
      if (result.inverse_ != nullptr) return result;
    }
    result.other_ = &metric;
    result.half_solve_ = [](const void* other, Eigen::VectorXd& v) {
      work<M>(v, [&](auto& in) { static_cast<const M*>(other)->half_solve(in, in); });
    };
    result.half_solve_transposed_ = [](const void* other, Eigen::VectorXd& v) {
      work<M>(v, [&](auto& in) { static_cast<const M*>(other)->half_solve_transposed(in, in); });
    };
    return result;
  }

  /// Coordinates from this one on have M = 1.
  void end_at(int coordinates) { own_ = coordinates; }
  int own() const { return own_; }

  bool is_unit() const { return other_ == nullptr && inverse_ == nullptr; }
  bool is_diagonal() const { return other_ == nullptr; }
  double inverse(int i) const { return inverse_ == nullptr || i >= own_ ? 1.0 : inverse_[i]; }
  double half_inverse(int i) const {
    return half_inverse_ == nullptr || i >= own_ ? 1.0 : half_inverse_[i];
  }

  void half_solve(Eigen::VectorXd& v) const {  // v <- L^-1 v
    if (other_ != nullptr) return half_solve_(other_, v);
    if (is_unit()) return;
    for (Eigen::Index i = 0; i < v.size(); ++i) v[i] *= half_inverse(static_cast<int>(i));
  }
  void half_solve_transposed(Eigen::VectorXd& v) const {  // v <- L^-T v
    if (other_ == nullptr) return half_solve(v);
    half_solve_transposed_(other_, v);
  }

 private:
  /// On a vector of the size that the metric is written for.
  template <class M, class Work>
  static void work(Eigen::VectorXd& v, Work&& solve) {
    if constexpr (M::kSize == convex::kDynamic) {
      solve(v);
    } else {
      convex::Vector<M::kSize> sized = v;
      solve(sized);
      v = sized;
    }
  }

  int own_{std::numeric_limits<int>::max()};
  const double* inverse_{nullptr};
  const double* half_inverse_{nullptr};
  const void* other_{nullptr};
  void (*half_solve_)(const void*, Eigen::VectorXd&){nullptr};
  void (*half_solve_transposed_)(const void*, Eigen::VectorXd&){nullptr};
};

}  // namespace ricochet::problem
