#include "ricochet/solve/proximal_newton.h"

#include <algorithm>
#include <limits>

namespace ricochet::solve {
namespace {

constexpr int kSmoothing = 2;
constexpr int kMostSweeps = 200;
constexpr double kLeastAlpha = 1e-12;
constexpr double kMostAlpha = 10.0;

}  // namespace

template <int D>
Progress ProximalNewton<D>::smooth(Eigen::VectorXd& r, int sweeps) {
  sweeps_.wake();
  for (int k = 0; k < sweeps; ++k) sweeps_.sweep(r);
  task_.count(sweeps);
  return task_.measure(r);
}

template <int D>
bool ProximalNewton<D>::try_step(double& merit) {
  full_ = task_.r;
  task_.measure(full_);
  task_.count_factorisation();
  if (!newton_.step(alpha_, full_, task_.measured_velocity())) return false;
  double best = std::numeric_limits<double>::infinity();
  double length = 0.0;
  for (const double t : {1.0, 0.5, 0.2}) {
    trial_ = task_.r + t * (full_ - task_.r);
    const Progress progress = smooth(trial_, kSmoothing);
    if (progress.merit < best) {
      best = progress.merit;
      length = t;
      chosen_.swap(trial_);
    }
    if (best < 0.5 * merit || task_.is_solution(progress)) break;
  }
  if (!(best < merit)) return false;
  task_.r.swap(chosen_);
  if (length == 1.0) alpha_ = std::max(kLeastAlpha, alpha_ * (best < 0.3 * merit ? 0.1 : 0.5));
  merit = best;
  back_ = 10;
  return true;
}

template <int D>
void ProximalNewton<D>::fall_back(double& merit) {
  alpha_ = std::min(kMostAlpha, 8.0 * alpha_);
  merit = smooth(task_.r, back_).merit;
  back_ = std::min(2 * back_, kMostSweeps);
}

template <int D>
bool ProximalNewton<D>::run(int steps) {
  double merit = task_.measure(task_.r).merit;
  for (int k = 0; k < steps && !task_.done() && !task_.over(); ++k) {
    if (!try_step(merit)) fall_back(merit);
  }
  return task_.done();
}

template class ProximalNewton<2>;
template class ProximalNewton<3>;

void run_proximal_newton(ContactTask& task) {
  with_dimension(task.problem().dim, [&]<int D>() {
    constexpr int kFirstSweeps = 20;
    GaussSeidel<D> sweeps(task.local(), {});
    for (int k = 0; k < kFirstSweeps; ++k) sweeps.sweep(task.r);
    task.count(kFirstSweeps);
    ContactNewton<D> newton(task.local());
    ProximalNewton<D>(task, newton, sweeps).run(std::numeric_limits<int>::max());
  });
}

}  // namespace ricochet::solve
