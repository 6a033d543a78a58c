// The default: sweeps first, which settle most contacts; Newton's method when the modes are found;
// interior points when they are not; and whatever there is when that fails.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ricochet/solve/contact_newton.h"
#include "ricochet/solve/contact_task.h"
#include "ricochet/solve/gauss_seidel.h"
#include "ricochet/solve/interior_point.h"
#include "ricochet/solve/natural_newton.h"
#include "ricochet/solve/proximal_newton.h"

namespace ricochet::solve {
namespace {

constexpr int kFirstSweeps = 10;
constexpr int kPolishSteps = 8;
constexpr int kInteriorSteps = 60;
constexpr int kProximalPoints = 60;

/// From this many contacts on sweeps go colour by colour, with threads or without.
constexpr int kColoured = 4096;

/// Sweeps between two looks at what they have done, at most.
constexpr int kLongBatch = 100;

/// Steps that an interior point takes, at the least.
constexpr double kTypicalSteps = 8.0;

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
    inside_.emplace(task_.local());
    if (sweep_while_it_pays()) return ContactMethod::GaussSeidel;
    if (std::isfinite(inside_->work())) {
      if (interior() || proximal_interior()) return ContactMethod::InteriorPoint;
      const bool are_few = task_.local().contacts() <= NaturalNewton<D>::kMost;
      if (are_few && NaturalNewton<D>(task_).run()) return ContactMethod::ProximalNewton;
      if (persist()) return ContactMethod::ProximalNewton;
    }
    task_.r = task_.best_impulses();
    while (!finished()) sweep(kLongBatch);
    return task_.done() ? ContactMethod::GaussSeidel : ContactMethod::Auto;
  }

 private:
  bool finished() const { return task_.done() || task_.over(); }

  void sweep(int count) {
    sweeps_.wake();
    for (int k = 0; k < count; ++k) sweeps_.sweep(task_.r);
    task_.count(count);
    now_ = task_.measure(task_.r);
  }

  /// Sweeps as long as what is left of them, at the present rate, costs less than the steps of an
  /// interior point would: counted in operations, so that the choice does not depend on the clock.
  bool sweep_while_it_pays() {
    const problem::BlockRows& W = task_.local().W;
    const double one_sweep = 3.5 * static_cast<double>(W.blocks()) + 30.0 * W.rows;
    const double inside = kTypicalSteps * (18.0 * inside_->work() + 1000.0 * W.rows);
    const double budget = std::isfinite(inside) ? inside : std::numeric_limits<double>::max();
    double spent = 0.0;
    int batch = 2 * kFirstSweeps;
    while (!finished() && spent < budget) {
      const double before = distance(now_);
      sweep(batch);
      spent += batch * one_sweep;
      const double rate = std::log(before / distance(now_)) / batch;  // per sweep
      const double left = std::log(distance(now_)) / std::max(rate, 1e-300) * one_sweep;
      // One look can mislead: sweeps get a tenth of the price in any case.
      if (std::isfinite(inside) && spent > 0.1 * inside && !(left < budget)) break;
      batch = std::min(2 * batch, kLongBatch);
    }
    return task_.done();
  }

  /// How many times the residuals are above what is asked.
  double distance(const Progress& progress) const {
    const ContactSettings& settings = task_.settings();
    const double scaled = settings.judge_by_impulses ? progress.strict : progress.scale_free;
    return std::max({1.0 + 1e-9, progress.relative / settings.tolerance,
                     scaled / settings.scale_free_tolerance});
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
