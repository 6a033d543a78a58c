#include "ricochet/solve/contact_task.h"

#include <algorithm>
#include <cmath>

namespace ricochet::solve {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

template <int D>
using Vec = Eigen::Matrix<double, D, 1>;

template <int D>
Vec<D> projected(double mu, const Vec<D>& z) {
  const double t = z.template tail<D - 1>().norm();
  if (z[0] >= 0.0 && t <= mu * z[0]) return z;  // the first counts where mu = 0
  if (mu * t <= -z[0]) return Vec<D>::Zero();
  const double s = (z[0] + mu * t) / (1.0 + mu * mu);
  Vec<D> result = Vec<D>::Zero();
  if (t > 0.0) result.template tail<D - 1>() = (mu * s / t) * z.template tail<D - 1>();
  result[0] = s;
  return result;
}

struct Sums {
  double natural{0.0};
  double merit{0.0};
  double distance{0.0};
  double largest{0.0};
};

template <int D>
Sums add_up(const std::vector<double>& friction, const std::vector<double>& rho,
            const Eigen::VectorXd& r, const Eigen::VectorXd& u) {
  Sums sums;
  for (int i = 0; i < static_cast<int>(friction.size()); ++i) {
    const double mu = friction[index(i)];
    const Vec<D> mine = r.segment<D>(D * i);
    Vec<D> lifted = u.segment<D>(D * i);
    lifted[0] += mu * lifted.template tail<D - 1>().norm();
    sums.natural += (mine - projected<D>(mu, mine - lifted)).squaredNorm();
    const double step = rho[index(i)];
    const double scaled = (mine - projected<D>(mu, mine - step * lifted)).squaredNorm();
    sums.merit += scaled / step;
    sums.distance = std::max(sums.distance, scaled);
    sums.largest = std::max(sums.largest, mine.squaredNorm());
  }
  return sums;
}

/// Nearer to the tolerances, which both count.
bool better(const Progress& a, const Progress& b, const ContactSettings& settings) {
  const auto worst = [&](const Progress& p) {
    return std::max(p.relative / settings.tolerance, p.strict / settings.scale_free_tolerance);
  };
  return worst(a) < worst(b);
}

}  // namespace

ContactTask::ContactTask(const problem::ContactProblem& problem, const ContactSettings& settings,
                         const Eigen::VectorXd& start)
    : problem_(problem), settings_(settings), velocity_(problem) {
  const int d = problem.dim;
  const Eigen::VectorXd& free = velocity_.free();
  q_norm_ = free.norm();
  for (int i = 0; i < problem.contacts(); ++i) {
    rho_.push_back(1.0 / velocity_.mobility()[i]);
    Eigen::VectorXd q = free.segment(d * i, d);
    q[0] += problem.mu[index(i)] * q.tail(d - 1).norm();
    free_scale_ = std::max(free_scale_, rho_.back() * q.norm());
  }
  r = start.size() == problem.rows() && start.allFinite() ? start
                                                          : Eigen::VectorXd::Zero(problem.rows());
  best_ = Eigen::VectorXd::Zero(problem.rows());
  measure(best_);
  if (start.size() == problem.rows()) measure(r);
}

const problem::LocalProblem& ContactTask::local() const {
  if (!local_) local_.emplace(velocity_.local());
  return *local_;
}

void ContactTask::project(Eigen::VectorXd& impulses) const {
  with_dimension(problem_.dim, [&]<int D>() {
    for (int i = 0; i < problem_.contacts(); ++i) {
      impulses.segment<D>(D * i) =
          projected<D>(problem_.mu[index(i)], impulses.template segment<D>(D * i));
    }
  });
}

Progress ContactTask::measure(Eigen::VectorXd& impulses) {
  project(impulses);
  if (local_) {
    problem::multiply(local_->W, impulses, u_);
    u_ += local_->q;
  } else {
    velocity_(impulses, u_);
  }
  Progress progress;
  if (!u_.allFinite()) return progress;
  const Sums sums = with_dimension(
      problem_.dim, [&]<int D>() { return add_up<D>(problem_.mu, rho_, impulses, u_); });
  const auto ratio = [](double a, double b) { return a == 0.0 ? 0.0 : a / b; };
  progress.relative = ratio(std::sqrt(sums.natural), q_norm_);
  progress.strict = ratio(std::sqrt(sums.distance), std::sqrt(sums.largest));
  progress.scale_free =
      ratio(std::sqrt(sums.distance), std::max(std::sqrt(sums.largest), free_scale_));
  progress.merit = std::sqrt(sums.merit);
  if (better(progress, best_progress_, settings_) || best_progress_.merit > 1e300) {
    best_progress_ = progress;
    best_ = impulses;
  }
  return progress;
}

bool ContactTask::is_solution(const Progress& progress) const {
  constexpr double kMargin = 0.9;
  const double factor = kMargin * tightened_;
  return progress.relative <= factor * settings_.tolerance &&
         (strict_ ? progress.strict : progress.scale_free) <=
             factor * settings_.scale_free_tolerance;
}

bool ContactTask::over() const {
  return iterations_ >= settings_.max_iterations || clock_.seconds() > settings_.time_limit;
}

}  // namespace ricochet::solve
