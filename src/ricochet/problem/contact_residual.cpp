#include "ricochet/problem/contact_residual.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::problem {
namespace {

using Vector = Eigen::Vector3d;  // (N, T1, T2); the last is 0 in the plane

/// Nearest point of K = { |r_T| <= mu r_N }.
Vector project(double mu, const Vector& r) {
  const double n = r[0];
  const double t = std::hypot(r[1], r[2]);
  if (n >= 0.0 && t <= mu * n) return r;  // the first counts where mu = 0
  if (mu * t <= -n) return Vector::Zero();
  const double s = (n + mu * t) / (1.0 + mu * mu);
  if (t == 0.0) return {s, 0.0, 0.0};
  return {s, mu * s * r[1] / t, mu * s * r[2] / t};
}

/// û = u + mu |u_T| n.                                                        [Saxce 1998]
Vector lifted(double mu, Vector u) {
  u[0] += mu * std::hypot(u[1], u[2]);
  return u;
}

struct Sums {
  double natural{0.0};  // squares of |r - P_K(r - û)|
  double distance{0.0};
  double largest{0.0};  // impulse
  double scale{0.0};
  double speed{0.0};  // largest |q_i|

  void add(double mu, double rho, const Vector& q, const Vector& r, const Vector& u,
           ContactResidual& result) {
    const Vector hat = lifted(mu, u);
    natural += (r - project(mu, r - hat)).squaredNorm();
    distance = std::max(distance, (r - project(mu, r - rho * hat)).norm());
    largest = std::max(largest, r.norm());
    speed = std::max(speed, q.norm());
    scale = std::max({scale, r.norm(), rho * lifted(mu, q).norm()});
    const double t = std::hypot(r[1], r[2]);
    const double slip = std::hypot(u[1], u[2]);
    result.approach = std::max(result.approach, -u[0]);
    result.cone = std::max({result.cone, t - mu * r[0], -r[0]});
    result.complementarity = std::max(result.complementarity, std::abs(r[0] * u[0]));
    result.slip = std::max(result.slip, std::abs(slip * mu * r[0] + u[1] * r[1] + u[2] * r[2]));
  }
};

double ratio(double a, double b) { return a == 0.0 ? 0.0 : a / b; }  // 0/0 = 0

}  // namespace

ContactResidual residual_of(int dim, const std::vector<double>& mu, const Eigen::VectorXd& mobility,
                            const Eigen::VectorXd& q, const Eigen::VectorXd& r,
                            const Eigen::VectorXd& u) {
  ContactResidual result;
  if (!r.allFinite() || !u.allFinite()) {  // NaN would vanish in max()
    const double infinity = std::numeric_limits<double>::infinity();
    return {infinity, infinity, infinity, infinity, infinity, infinity, infinity, infinity};
  }
  Sums sums;
  const auto part = [&](const Eigen::VectorXd& v, Eigen::Index i) -> Vector {
    return {v[i], v[i + 1], dim == 3 ? v[i + 2] : 0.0};
  };
  for (std::size_t i = 0; i < mu.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const Eigen::Index first = k * dim;
    sums.add(mu[i], 1.0 / mobility[k], part(q, first), part(r, first), part(u, first), result);
  }
  result.relative = ratio(std::sqrt(sums.natural), q.norm());
  result.scale_free = ratio(sums.distance, sums.scale);
  result.strict = ratio(sums.distance, sums.largest);
  result.physical =
      std::max({ratio(result.approach, sums.speed), ratio(result.cone, sums.largest),
                ratio(std::max(result.complementarity, result.slip), sums.speed * sums.largest)});
  return result;
}

ContactResidual residual_of(const ContactProblem& problem, const ContactVelocity& velocity,
                            const Eigen::VectorXd& r) {
  Eigen::VectorXd u;
  velocity(r, u);
  return residual_of(problem.dim, problem.mu, velocity.mobility(), velocity.free(), r, u);
}

ContactResidual residual_of(const ContactProblem& problem, const Eigen::VectorXd& r) {
  return residual_of(problem, ContactVelocity(problem), r);
}

}  // namespace ricochet::problem
