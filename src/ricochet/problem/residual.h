#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/convex/cone.h"
#include "ricochet/convex/friction_cone.h"

namespace ricochet::problem {

/// What one contact adds to a residual.
struct ResidualPart {
  double distance{0.0};  // |r - P_K(r - rho v)| beyond rounding
  double scale{0.0};     // max(|r|, rho |v_free|)
};

/// The scale-free residual of one step, contact by contact:
///
///     residual = max_i max(0, |r_i - P_K(r_i - rho_i v_i)| - rounding_i) / max_i scale_i,
///     scale_i  = max(|r_i|, rho_i |v_free,i|),    rho_i = 1 / W_ii,
///
/// where v = U + e U_ref is the velocity that is complementary to the impulse r, v_free the same
/// without impulses, and rounding_i = 32 eps rho_i |J_i| (|u| + |u+|) what the evaluation of v
/// itself loses; for joints, whose v is g / h, also 32 eps rho_i |J_i| |q_M| / h. 0/0 = 0. Scaling
/// masses, lengths or times changes nothing.
class Residual {
 public:
  /// Below this, numbers are too near to the smallest there are to have digits.
  static constexpr double kSmallest = 1e-290;

  /// `lost` is a lower bound of rounding_i / rho_i that is cheap to have, `lost_exactly()` the
  /// value: most steps are decided by the first.
  template <convex::LineCone K, class Lost>
  void add(const K& cone, double r, double rho, double v, double v_free, double lost,
           Lost&& lost_exactly) {
    const double natural = std::abs(r - cone.project(r - rho * v));
    const double scale = std::max(std::abs(r), rho * std::abs(v_free));
    scale_ = std::max(scale_, scale);
    if (part_ != nullptr) part_->scale = std::max(part_->scale, scale);
    if (natural <= rho * lost) return;
    take(natural, natural - rho * lost_exactly(), rho);
  }

  /// The same for a contact with friction, whose r and v are vectors.
  void add(const convex::FrictionCone& cone, const convex::ContactVector& r, double rho,
           const convex::ContactVector& v, const convex::ContactVector& v_free, double lost) {
    const double natural = (r - cone.project(r - rho * v)).norm();
    const double scale = std::max(r.norm(), rho * v_free.norm());
    scale_ = std::max(scale_, scale);
    if (part_ != nullptr) part_->scale = std::max(part_->scale, scale);
    take(natural, natural - rho * lost, rho);
  }

  /// What is added next is kept there too, by contact; null: nowhere.
  void keep_in(ResidualPart* part) { part_ = part; }

  bool is_finite() const { return finite_; }
  double value() const {
    if (!finite_) return std::numeric_limits<double>::infinity();
    if (distance_ <= kSmallest) return 0.0;
    return distance_ / scale_;
  }

  double distance() const { return distance_; }
  /// max_i of the distance over rho_i: at what speed a contact creeps against its law.
  double creep() const { return creep_; }

 private:
  void take(double natural, double distance, double rho) {
    finite_ = finite_ && std::isfinite(natural);  // NaN would vanish in max()
    distance_ = std::max(distance_, distance);
    creep_ = std::max(creep_, distance / rho);
    if (part_ != nullptr) part_->distance = std::max(part_->distance, distance);
  }

  double distance_{0.0};
  double scale_{0.0};
  double creep_{0.0};
  bool finite_{true};
  ResidualPart* part_{nullptr};
};

}  // namespace ricochet::problem
