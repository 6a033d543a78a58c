#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/contact.h"
#include "ricochet/problem/contact_velocity.h"

namespace ricochet::problem {

/// How far impulses r are from being a solution, each figure from its definition, with
/// û = u + mu |u_T| n and P_K the projection on K, contact by contact.
struct ContactResidual {
  double relative{0.0};  // err_q = |r - P_K(r - û)|_2 / |q|_2, the measure of the literature
  double scale_free{
      0.0};  // max_i |r_i - P_K(r_i - rho_i û_i)| / max_i max(|r_i|, rho_i |û_free,i|)

  // The physical ones, at the worst contact, and the worst of them with velocities by the largest
  // |q_i| and impulses by the largest |r_i|.
  double approach{0.0};         // max(0, -u_N), in units of velocity
  double cone{0.0};             // max(0, |r_T| - mu r_N, -r_N), in units of impulse
  double complementarity{0.0};  // |r_N u_N|, in units of work
  double slip{0.0};  // | |u_T| mu r_N + u_T . r_T |: where there is slip, friction opposes it
  double physical{0.0};

  // max_i |r_i - P_K(r_i - rho_i û_i)| / max_i |r_i|: stricter than scale_free when all impulses
  // are small beside what the free velocities could ask for.
  double strict{0.0};
};

/// The residuals of r, whose velocities are u = W r + q; rho_i = 1 / mobility_i = d / tr W_ii.
/// Infinity where a number is not finite.
ContactResidual residual_of(int dim, const std::vector<double>& mu, const Eigen::VectorXd& mobility,
                            const Eigen::VectorXd& q, const Eigen::VectorXd& r,
                            const Eigen::VectorXd& u);

/// The same with u computed from the problem as it is given.
ContactResidual residual_of(const ContactProblem& problem, const ContactVelocity& velocity,
                            const Eigen::VectorXd& r);
ContactResidual residual_of(const ContactProblem& problem, const Eigen::VectorXd& r);

}  // namespace ricochet::problem
