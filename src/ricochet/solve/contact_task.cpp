#include "ricochet/solve/contact_task.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_measure.h"

namespace ricochet::solve {
namespace {

using base::index;

/// Nearer to the tolerances, which both count.
bool better(const Progress& a, const Progress& b, const ContactSettings& settings) {
  const auto worst = [&](const Progress& p) {
    return std::max(
        p.relative / settings.tolerance,
        (settings.judge_by_impulses ? p.strict : p.scale_free) / settings.scale_free_tolerance);
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
  const ContactSums sums = with_dimension(
      problem_.dim, [&]<int D>() { return measure_contacts<D>(problem_.mu, rho_, impulses, u_); });
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
         (settings_.judge_by_impulses ? progress.strict : progress.scale_free) <=
             factor * settings_.scale_free_tolerance;
}

bool ContactTask::over() const {
  return iterations_ >= settings_.max_iterations || clock_.seconds() > settings_.time_limit;
}

}  // namespace ricochet::solve
