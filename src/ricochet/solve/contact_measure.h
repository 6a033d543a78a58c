#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

namespace ricochet::solve {

template <int D>
using ContactVector = Eigen::Matrix<double, D, 1>;

/// Nearest point of K = { |r_T| <= mu r_N }.
template <int D>
ContactVector<D> projected(double mu, const ContactVector<D>& z) {
  const double t = z.template tail<D - 1>().norm();
  if (z[0] >= 0.0 && t <= mu * z[0]) return z;  // the first counts where mu = 0
  if (mu * t <= -z[0]) return ContactVector<D>::Zero();
  const double s = (z[0] + mu * t) / (1.0 + mu * mu);
  ContactVector<D> result = ContactVector<D>::Zero();
  if (t > 0.0) result.template tail<D - 1>() = (mu * s / t) * z.template tail<D - 1>();
  result[0] = s;
  return result;
}

/// Sums and maxima over the contacts that the residuals are made of.
struct ContactSums {
  double natural{0.0};   // sum of |r - P_K(r - û)|^2
  double merit{0.0};     // sum of |r - P_K(r - rho û)|^2 / rho
  double distance{0.0};  // max of |r - P_K(r - rho û)|^2
  double largest{0.0};   // max of |r|^2
};

/// Of impulses r with velocities u; the vectors may be longer than the contacts need.
template <int D>
ContactSums measure_contacts(const std::vector<double>& friction, const std::vector<double>& rho,
                             const Eigen::VectorXd& r, const Eigen::VectorXd& u) {
  ContactSums sums;
  for (std::size_t k = 0; k < friction.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const double mu = friction[k];
    const ContactVector<D> mine = r.segment<D>(D * i);
    ContactVector<D> lifted = u.segment<D>(D * i);
    lifted[0] += mu * lifted.template tail<D - 1>().norm();
    sums.natural += (mine - projected<D>(mu, mine - lifted)).squaredNorm();
    const double step = rho[k];
    const double scaled = (mine - projected<D>(mu, mine - step * lifted)).squaredNorm();
    sums.merit += scaled / step;
    sums.distance = std::max(sums.distance, scaled);
    sums.largest = std::max(sums.largest, mine.squaredNorm());
  }
  return sums;
}

}  // namespace ricochet::solve
