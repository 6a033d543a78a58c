#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ricochet/formula/range.h"
#include "ricochet/formula/roots.h"
#include "ricochet/model/model.h"

namespace ricochet::model {

/// Positions between two instants: a polynomial in s from 0 to 1, of degree 5 with the positions,
/// velocities and accelerations of both, or another. Where the way is so short that it is rounding,
/// its length is that of the velocities and accelerations.
template <Model M>
class ArcPath {
 public:
  using Vec = Vector<M::kDofs>;
  using Place = Vector<M::kPlaces>;
  static constexpr std::size_t kStride = formula::kMostPowers + 1;

  ArcPath(const M& model, const Place& q, const Vec& u)
      : model_(model),
        start_(q),
        off_(u),
        way_(u),
        c_(kStride * static_cast<std::size_t>(u.size()), 0.0) {}

  void set(double t, double h, const Place& q0, const Vec& u0, const Vec& a0, const Place& q1,
           const Vec& u1, const Vec& a1) {
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    open(t, h, q0, 5);
    model_.difference(q1, q0, way_);
    difference_size(model_, q0, off_);
    if (2.0 * kEpsilon * off_.norm() > 1e-13 * way_.norm()) {
      way_ = 0.5 * h * (u0 + u1) + h * h / 12.0 * (a0 - a1);
    }
    for (Eigen::Index i = 0; i < way_.size(); ++i) {
      double* const c = powers(i);
      c[1] = h * u0[i];
      c[2] = 0.5 * h * h * a0[i];
      c[3] = 10.0 * way_[i] - h * (6.0 * u0[i] + 4.0 * u1[i]) + h * h * (0.5 * a1[i] - 1.5 * a0[i]);
      c[4] = -15.0 * way_[i] + h * (8.0 * u0[i] + 7.0 * u1[i]) + h * h * (1.5 * a0[i] - a1[i]);
      c[5] = 6.0 * way_[i] - 3.0 * h * (u0[i] + u1[i]) + 0.5 * h * h * (a1[i] - a0[i]);
    }
  }

  /// From there, of that degree, with the powers of s of each coordinate's way to be set.
  void open(double t, double h, const Place& q0, int degree) {
    t_ = t;
    h_ = h;
    start_ = q0;
    degree_ = degree;
  }
  double* powers(Eigen::Index i) { return c_.data() + kStride * static_cast<std::size_t>(i); }
  const double* powers(Eigen::Index i) const {
    return c_.data() + kStride * static_cast<std::size_t>(i);
  }

  double time_at(double s) const { return t_ + s * h_; }
  double length() const { return h_; }
  int degree() const { return degree_; }
  const Place& start() const { return start_; }

  void at(double s, Place& q, Vec& u) {
    for (Eigen::Index i = 0; i < off_.size(); ++i) {
      const double* const c = powers(i);
      double way = c[degree_];
      for (int k = degree_ - 1; k > 0; --k) way = c[k] + s * way;
      off_[i] = s * way;
      double velocity = (degree_ - 1) * c[degree_ - 1] + s * degree_ * c[degree_];
      for (int k = degree_ - 2; k > 0; --k) velocity = k * c[k] + s * velocity;
      u[i] = velocity / h_;
    }
    model_.advance(start_, off_, 1.0, q);
  }

  /// What the way, and the velocity, of coordinate i are between s - w and s + w.
  void bound(int i, double s, double w, formula::Range& way, formula::Range& velocity) const {
    std::array<double, kStride> b;  // of the same polynomial around s
    const auto degree = static_cast<std::size_t>(degree_);
    std::copy_n(powers(i), degree + 1, b.begin());
    for (std::size_t k = 0; k < degree; ++k) {
      for (std::size_t j = degree; j-- > k;) b[j] += s * b[j + 1];
    }
    double spread = 0.0, change = 0.0;
    for (std::size_t k = degree; k > 0; --k) spread = w * (std::abs(b[k]) + spread);
    for (std::size_t k = degree; k > 1; --k) {
      change = w * (static_cast<double>(k) * std::abs(b[k]) + change);
    }
    way = {b[0] - spread, b[0] + spread};
    velocity = {(b[1] - change) / h_, (b[1] + change) / h_};
  }

 private:
  const M& model_;
  double t_{0.0};
  double h_{0.0};
  int degree_{5};
  Place start_;
  Vec off_;
  Vec way_;
  std::vector<double> c_;  // by coordinate: of s^k; of s^0 it is 0
};

}  // namespace ricochet::model
