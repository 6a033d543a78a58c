#include "ricochet/solve/admm.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_task.h"

namespace ricochet::solve {
namespace {

using base::index;

template <int D>
using Vec = Eigen::Matrix<double, D, 1>;

template <int D>
Vec<D> projected(double mu, const Vec<D>& z) {
  const double t = z.template tail<D - 1>().norm();
  if (z[0] >= 0.0 && t <= mu * z[0]) return z;
  if (mu * t <= -z[0]) return Vec<D>::Zero();
  const double s = (z[0] + mu * t) / (1.0 + mu * mu);
  Vec<D> result = Vec<D>::Zero();
  if (t > 0.0) result.template tail<D - 1>() = (mu * s / t) * z.template tail<D - 1>();
  result[0] = s;
  return result;
}

}  // namespace

void LocalShiftedSystem::factor(const Eigen::VectorXd& penalty) {
  problem::SparseMatrix shifted = W_;
  for (Eigen::Index k = 0; k < penalty.size(); ++k) shifted.coeffRef(k, k) += penalty[k];
  shifted.makeCompressed();
  lu_.compute(shifted);
}

void GlobalShiftedSystem::factor(const Eigen::VectorXd& penalty) {
  inverse_penalty_ = penalty.cwiseInverse();
  const problem::SparseMatrix scaled = form_.H * inverse_penalty_.asDiagonal();
  problem::SparseMatrix sum = form_.M + problem::SparseMatrix(scaled * form_.H.transpose());
  sum.makeCompressed();
  lu_.compute(sum);
}

/// (H^T M^-1 H + R)^-1 = R^-1 - R^-1 H^T (M + H R^-1 H^T)^-1 H R^-1.
Eigen::VectorXd GlobalShiftedSystem::solve(const Eigen::VectorXd& right) const {
  const Eigen::VectorXd scaled = inverse_penalty_.cwiseProduct(right);
  const Eigen::VectorXd inner = lu_.solve(form_.H * scaled);
  return scaled - inverse_penalty_.cwiseProduct(form_.H.transpose() * inner);
}

namespace {

/// r = argmin of the smooth part, z = its projection on the cones, w = the scaled multiplier:
///
///     (W + R) r = R (z - w) - q - s n,   z+ = P_K(r + w),   w+ = w + r - z+,     R_i = c / rho_i,
///
/// with s = mu |u_T| from the present velocity [Boyd 2011], [Saxce 1998].
template <int D, class System>
class Admm {
 public:
  Admm(ContactTask& task, System system)
      : task_(task),
        system_(std::move(system)),
        n_(task.problem().contacts()),
        penalty_(task.r.size()),
        z_(task.r),
        w_(Eigen::VectorXd::Zero(task.r.size())),
        slip_(Eigen::VectorXd::Zero(n_)) {}

  void run() {
    constexpr int kLook = 20;
    set_penalty(1.0);
    for (int k = 1; !task_.done() && !task_.over(); ++k) {
      iterate();
      if (k % kLook != 0) continue;
      task_.count(kLook);
      task_.r = z_;
      task_.measure(task_.r);
      adapt();
    }
  }

 private:
  void set_penalty(double c) {
    w_ *= c_ / c;
    c_ = c;
    for (int i = 0; i < n_; ++i) penalty_.segment<D>(D * i).setConstant(c / task_.rho(i));
    system_.factor(penalty_);
    task_.count_factorisation();
  }

  void iterate() {
    constexpr double kRelaxation = 1.6;
    right_ = penalty_.cwiseProduct(z_ - w_) - task_.velocity().free();
    for (int i = 0; i < n_; ++i) right_[D * i] -= slip_[i];
    r_ = system_.solve(right_);
    // W r + q + s n = R (z - w - r): the velocity comes for free.
    for (int i = 0; i < n_; ++i) {
      const double mu = task_.problem().mu[index(i)];
      const Vec<D> lifted = penalty_[D * i] * (z_ - w_ - r_).template segment<D>(D * i);
      slip_[i] = mu * lifted.template tail<D - 1>().norm();
    }
    primal_ = dual_ = 0.0;
    for (int i = 0; i < n_; ++i) {
      const Vec<D> old = z_.segment<D>(D * i);
      const Vec<D> relaxed = kRelaxation * r_.segment<D>(D * i) + (1.0 - kRelaxation) * old;
      const Vec<D> next =
          projected<D>(task_.problem().mu[index(i)], relaxed + w_.segment<D>(D * i));
      w_.segment<D>(D * i) += relaxed - next;
      z_.segment<D>(D * i) = next;
      primal_ += (r_.segment<D>(D * i) - next).squaredNorm() / task_.rho(i);
      dual_ += (next - old).squaredNorm() * c_ * c_ / task_.rho(i);
    }
  }

  /// Both residuals are to fall together; a new penalty costs a factorisation.
  void adapt() {
    const double ratio = std::sqrt(primal_ / std::max(dual_, 1e-300));
    if (ratio > kImbalance || ratio < 1.0 / kImbalance) {
      imbalance_ *= kPatience;  // less and less often, so that it ends
      if (ratio > imbalance_ || ratio < 1.0 / imbalance_) {
        set_penalty(std::clamp(c_ * std::clamp(std::sqrt(ratio), 0.2, 5.0), 1e-8, 1e4));
      }
    }
  }

  static constexpr double kImbalance = 3.0;
  static constexpr double kPatience = 1.05;
  ContactTask& task_;
  System system_;
  int n_;
  Eigen::VectorXd penalty_, z_, w_, r_, right_, slip_;
  double c_{1.0};
  double primal_{0.0}, dual_{0.0};
  double imbalance_{kImbalance};
};

}  // namespace

void run_admm(ContactTask& task) {
  with_dimension(task.problem().dim, [&]<int D>() {
    if (const auto* form = std::get_if<problem::GlobalForm>(&task.problem().matrix)) {
      Admm<D, GlobalShiftedSystem>(task, GlobalShiftedSystem(*form)).run();
    } else {
      Admm<D, LocalShiftedSystem>(task, LocalShiftedSystem(task.local())).run();
    }
  });
}

}  // namespace ricochet::solve
