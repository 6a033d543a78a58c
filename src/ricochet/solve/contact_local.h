#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace ricochet::solve {

/// One contact alone, exactly: given b = u - W r, find r with
///
///     u = W r + b,   K* ∋ u + mu |u_T| n  ⟂  r ∈ K.
///
/// Three cases in turn. b_N >= 0: r = 0. Else u = 0, if that r lies in K. Else it slips: u_N = 0
/// and u_T = -lambda r_T give, with A = W_TT - w w^T / w_NN and c = b_T - w b_N / w_NN,
///
///     r_T = -(A + lambda)^-1 c,   |r_T| = mu r_N.
///
/// In the frame of A that is one equation in lambda (the quartic of [Bonnefon 2011], not multiplied
/// out): F(lambda) = |p| - mu w.p / w_NN = -mu b_N / w_NN with p = -r_T. F - right side is positive
/// at 0, since u = 0 was not in K, and negative at infinity, so there is a root, and a bracketed
/// Newton iteration on 1/F, which is nearly a straight line, cannot miss it.
///
/// W is replaced by its symmetric part S; who calls takes the rest, `twist`, into b.
template <int D>
class LocalContact;

template <>
class LocalContact<3> {
 public:
  using Vector = Eigen::Vector3d;
  using Matrix = Eigen::Matrix3d;

  LocalContact(const Matrix& block, double mu) : mu_(mu) {
    const Matrix S = 0.5 * (block + block.transpose());
    const double floor = kFloor * S.trace();
    const double nn = std::max(S(0, 0), floor);
    inverse_nn_ = 1.0 / nn;
    const double a = S(1, 1) - S(1, 0) * S(1, 0) / nn;
    const double b = S(2, 1) - S(1, 0) * S(2, 0) / nn;
    const double d = S(2, 2) - S(2, 0) * S(2, 0) / nn;
    const double half = 0.5 * (a - d);
    const double root = std::sqrt(half * half + b * b);
    const double angle = 0.5 * std::atan2(b, half);
    cos_ = std::cos(angle);
    sin_ = std::sin(angle);
    a1_ = std::max(0.5 * (a + d) + root, floor);
    a2_ = std::max(0.5 * (a + d) - root, floor);
    w1_ = (cos_ * S(1, 0) + sin_ * S(2, 0)) * inverse_nn_;
    w2_ = (-sin_ * S(1, 0) + cos_ * S(2, 0)) * inverse_nn_;
    inverse_a1_ = 1.0 / a1_;
    inverse_a2_ = 1.0 / a2_;
    const Matrix skew = 0.5 * (block - block.transpose());
    axis_ = {skew(2, 1), skew(0, 2), skew(1, 0)};
    is_twisted_ = axis_ != Vector::Zero();
  }

  /// (W - S) r is not always nothing, and then `twist(r)`.
  bool is_twisted() const { return is_twisted_; }
  Vector twist(const Vector& r) const {
    return {axis_[1] * r[2] - axis_[2] * r[1], axis_[2] * r[0] - axis_[0] * r[2],
            axis_[0] * r[1] - axis_[1] * r[0]};
  }

  /// `lambda` is where the search begins, and where it ended.
  Vector solve(const Vector& b, double& lambda) const {
    if (b[0] >= 0.0) return Vector::Zero();
    const double push = -b[0] * inverse_nn_;                   // r_N without friction
    const double c1 = cos_ * b[1] + sin_ * b[2] - w1_ * b[0];  // c in the frame of A
    const double c2 = -sin_ * b[1] + cos_ * b[2] - w2_ * b[0];
    double p1 = c1 * inverse_a1_;
    double p2 = c2 * inverse_a2_;
    double n = push + w1_ * p1 + w2_ * p2;
    const double limit = mu_ * n;
    if (!(n >= 0.0 && p1 * p1 + p2 * p2 <= limit * limit)) {
      if (mu_ == 0.0) return {push, 0.0, 0.0};
      lambda = find_slip(c1, c2, mu_ * push, lambda);
      p1 = c1 / (a1_ + lambda);
      p2 = c2 / (a2_ + lambda);
      n = std::sqrt(p1 * p1 + p2 * p2) / mu_;
    }
    return {n, -(cos_ * p1 - sin_ * p2), -(sin_ * p1 + cos_ * p2)};
  }

 private:
  static constexpr double kFloor = 1e-14;  // part of tr W below which a stiffness counts as this

  /// lambda > 0 with F(lambda) = target.
  double find_slip(double c1, double c2, double target, double guess) const {
    double low = 0.0;
    double high = 0.0;  // 0: not known yet
    double lambda = guess > 0.0 ? guess : 0.0;
    for (int k = 0; k < kMostSteps; ++k) {
      const double s1 = a1_ + lambda;
      const double s2 = a2_ + lambda;
      const double inverse = 1.0 / (s1 * s2);
      const double i1 = s2 * inverse;
      const double i2 = s1 * inverse;
      const double p1 = c1 * i1;
      const double p2 = c2 * i2;
      const double length = std::sqrt(p1 * p1 + p2 * p2);
      const double F = length - mu_ * (w1_ * p1 + w2_ * p2);
      const double slope =
          -(p1 * p1 * i1 + p2 * p2 * i2) / length + mu_ * (w1_ * p1 * i1 + w2_ * p2 * i2);
      if (F >= target) {
        low = lambda;
      } else {
        high = lambda;
      }
      double next = lambda + F * (target - F) / (slope * target);  // Newton on 1/F
      double digits = kNewtonDigits;
      if (!(next > low) || (high > 0.0 && !(next < high)) || !(slope < 0.0)) {
        next = high > 0.0 ? 0.5 * (low + high) : 2.0 * (lambda + a1_);
        digits = kDigits;
      }
      if (std::abs(next - lambda) <= digits * (next + a2_)) return next;
      lambda = next;
    }
    return lambda;
  }

  static constexpr int kMostSteps = 100;  // bisection alone would end before
  static constexpr double kDigits = 1e-12;
  static constexpr double kNewtonDigits = 1e-7;  // of a step of Newton's: the error is its square

  double mu_;
  double inverse_nn_;
  double cos_, sin_;  // of the frame of A
  double a1_, a2_;    // A in it
  double inverse_a1_, inverse_a2_;
  double w1_, w2_;  // w / w_NN in it
  Vector axis_;     // of W - S: (W - S) r = axis x r
  bool is_twisted_;
};

template <>
class LocalContact<2> {
 public:
  using Vector = Eigen::Vector2d;
  using Matrix = Eigen::Matrix2d;

  LocalContact(const Matrix& block, double mu) : mu_(mu) {
    const double coupling = 0.5 * (block(1, 0) + block(0, 1));
    const double floor = kFloor * block.trace();
    const double nn = std::max(block(0, 0), floor);
    inverse_nn_ = 1.0 / nn;
    a_ = std::max(block(1, 1) - coupling * coupling / nn, floor);
    w_ = coupling * inverse_nn_;
    skew_ = 0.5 * (block(1, 0) - block(0, 1));
  }

  bool is_twisted() const { return skew_ != 0.0; }
  Vector twist(const Vector& r) const { return {-skew_ * r[1], skew_ * r[0]}; }

  Vector solve(const Vector& b, double& /*lambda*/) const {
    if (b[0] >= 0.0) return Vector::Zero();
    const double push = -b[0] * inverse_nn_;
    const double c = b[1] - w_ * b[0];
    const double p = c / a_;
    const double n = push + w_ * p;
    if (n >= 0.0 && std::abs(p) <= mu_ * n) return {n, -p};
    const double side = c > 0.0 ? 1.0 : -1.0;
    const double slipping = push / (1.0 - mu_ * w_ * side);  // > 0, since u = 0 was not in K
    return {slipping, -mu_ * slipping * side};
  }

 private:
  static constexpr double kFloor = 1e-14;
  double mu_;
  double inverse_nn_;
  double a_;
  double w_;
  double skew_;
};

}  // namespace ricochet::solve
