// The default: sweeps first, which settle most contacts; Newton's method when the modes are found;
// interior points when they are not; and whatever there is when that fails.

#include <algorithm>
#include <cmath>
#include <optional>

#include "ricochet/solve/contact_newton.h"
#include "ricochet/solve/contact_task.h"
#include "ricochet/solve/gauss_seidel.h"
#include "ricochet/solve/interior_point.h"
#include "ricochet/solve/proximal_newton.h"

namespace ricochet::solve {
namespace {

constexpr int kFirstSweeps = 10;
constexpr int kPolishSteps = 8;
constexpr int kInteriorSteps = 60;
constexpr int kProximalPoints = 60;

/// From this many contacts on sweeps go colour by colour, with threads or without.
constexpr int kColoured = 4096;

/// Block products that one factorisation may take (some seconds).
constexpr double kMostWork = 3e9;

template <int D>
class Auto {
 public:
  explicit Auto(ContactTask& task)
      : task_(task),
        sweeps_(task.local(), {.coloured = task.local().contacts() >= kColoured},
                task.settings().executor) {}

  ContactMethod run() {
    sweep(kFirstSweeps);
    if (finished()) return ContactMethod::GaussSeidel;
    if (polish(task_.r, kPolishSteps)) return ContactMethod::ProximalNewton;
    if (interior()) return ContactMethod::InteriorPoint;
    if (proximal_interior()) return ContactMethod::InteriorPoint;
    if (persist()) return ContactMethod::ProximalNewton;
    return ContactMethod::Auto;
  }

 private:
  bool finished() const { return task_.done() || task_.over(); }

  void sweep(int count) {
    sweeps_.wake();
    for (int k = 0; k < count; ++k) sweeps_.sweep(task_.r);
    task_.count(count);
    now_ = task_.measure(task_.r);
  }

  /// Newton steps from r, each followed by a sweep, while they halve the merit.
  bool polish(const Eigen::VectorXd& from, int most) {
    if (!newton_) newton_.emplace(task_.local());
    Eigen::VectorXd r = from;
    Progress before = task_.measure(r);
    double alpha = std::clamp(1e-3 * before.strict, 1e-11, 1e-4);
    for (int k = 0; k < most && !task_.over(); ++k) {
      task_.count(1);
      task_.count_factorisation();
      if (!newton_->step(alpha, r, task_.measured_velocity())) return false;
      sweeps_.wake();
      sweeps_.sweep(r);
      const Progress after = task_.measure(r);
      if (task_.is_solution(after)) return true;
      if (!(after.merit < 0.5 * before.merit)) return false;
      before = after;
      alpha = std::max(1e-12, 0.1 * alpha);
    }
    return false;
  }

  bool interior() {
    inside_.emplace(task_.local());
    if (inside_->work() > kMostWork) return false;
    inside_->start(1.0);
    double next_polish = 1e-4;
    for (int k = 0; k < kInteriorSteps && !task_.over(); ++k) {
      if (!step_inside()) break;
      Eigen::VectorXd r = inside_->impulses();
      const Progress progress = task_.measure(r);
      if (task_.is_solution(progress)) return true;
      if (progress.relative > next_polish) continue;
      next_polish = 0.03 * progress.relative;
      if (polish(r, kPolishSteps)) return true;
    }
    return polish(task_.best_impulses(), kPolishSteps);
  }

  bool step_inside() {
    task_.count(1);
    task_.count_factorisation();
    return inside_->step();
  }

  /// The proximal problem of `centre` from the inside; false when its path was lost.
  bool solve_proximal(double alpha, const Eigen::VectorXd& centre) {
    inside_->start_near(centre, 0.1);
    inside_->set_proximal(alpha, centre);
    const double end = 1e-13 * inside_->complementarity();
    int short_steps = 0;
    for (int k = 0; k < kInteriorSteps && !task_.over(); ++k) {
      if (!step_inside()) return false;
      if (inside_->complementarity() < end) return true;
      short_steps = inside_->length() < 0.02 ? short_steps + 1 : 0;
      if (short_steps > 4) return false;
    }
    return false;
  }

  /// Proximal points, each found from the inside: the term makes W well-conditioned, and fades.
  bool proximal_interior() {
    double alpha = 0.1;
    Eigen::VectorXd centre = Eigen::VectorXd::Zero(task_.r.size());
    for (int k = 0; k < kProximalPoints && !task_.over(); ++k) {
      if (!solve_proximal(alpha, centre)) {
        alpha = std::min(10.0, 5.0 * alpha);
        continue;
      }
      centre = inside_->impulses();
      Eigen::VectorXd r = centre;
      task_.measure(r);
      if (task_.done() || polish(centre, kPolishSteps)) return true;
      alpha = std::max(1e-10, 0.3 * alpha);
    }
    return false;
  }

  bool persist() {
    task_.r = task_.best_impulses();
    return ProximalNewton<D>(task_, *newton_, sweeps_).run(2000);
  }

  ContactTask& task_;
  GaussSeidel<D> sweeps_;
  std::optional<ContactNewton<D>> newton_;
  std::optional<InteriorPoint<D>> inside_;
  Progress now_;
};

}  // namespace

ContactMethod run_auto(ContactTask& task) {
  return with_dimension(task.problem().dim, [&]<int D>() { return Auto<D>(task).run(); });
}

}  // namespace ricochet::solve
