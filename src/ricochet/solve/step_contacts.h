#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ricochet/problem/contact_form.h"
#include "ricochet/problem/grip.h"
#include "ricochet/problem/report.h"
#include "ricochet/problem/step_problem.h"
#include "ricochet/problem/warm_start.h"
#include "ricochet/solve/contact.h"
#include "ricochet/solve/contact_newton.h"
#include "ricochet/solve/gauss_seidel.h"

namespace ricochet::solve {

/// Sweeps and Newton's method for problems of d = D that come one after the other, in room that is
/// kept: what `auto` begins with, without its allocations.
template <int D>
class WarmContacts {
 public:
  /// The problem must outlive this; its numbers and size may change between solves.
  explicit WarmContacts(const problem::LocalProblem& problem);

  /// Improves r, which is at least as long as the problem has rows, until the scale-free residual
  /// is at most `tolerance`, or the methods have nothing left to try. Returns the residual.
  double solve(Eigen::VectorXd& r, double tolerance);
  /// A few Newton steps more, as long as they help. Leaves the velocities at those of r. `steps`:
  /// so many may follow each other before it is asked whether they help; where rows act along the
  /// same direction one with a bound is led beyond it, cut back, and only the next step knows that
  /// it slips.
  double finish(Eigen::VectorXd& r, int steps = 1);

  /// The parts of `solve`: takes the problem and measures r, which is projected on its cones; a
  /// number of sweeps and, while they pay, Newton steps; the residual and the velocities of r.
  double begin(Eigen::VectorXd& r);
  double improve(Eigen::VectorXd& r, int sweeps, double tolerance);
  double residual(Eigen::VectorXd& r) { return measure(r).residual; }

  /// What one solve hands to the next besides r: see WarmStart.
  double mean_change() const { return sweeps_.mean_change(); }
  void set_mean_change(double change) { sweeps_.set_mean_change(change); }

  int iterations() const { return iterations_; }
  const Eigen::VectorXd& velocity() const { return u_; }
  double rho(std::size_t contact) const { return rho_[contact]; }
  double free_scale() const { return free_scale_; }  // the impulse that free velocities ask for

 private:
  struct Size {
    double residual{0.0};  // scale-free
    double merit{0.0};
  };
  void refresh();
  void make_ready();
  void refresh_scales();
  Size measure(Eigen::VectorXd& r);  // of impulses projected on their cones
  void sweep(Eigen::VectorXd& r, int count);
  Size polish(Eigen::VectorXd& r, Size now, double tolerance);

  problem::LocalProblem problem_;
  GaussSeidel<D> sweeps_;
  ContactNewton<D> newton_;
  std::vector<double> rho_;
  double free_scale_{0.0};
  Eigen::VectorXd u_;
  Eigen::VectorXd trial_;
  int iterations_{0};
  bool is_ready_{false};  // sweeps and Newton's method have the problem
};

extern template class WarmContacts<2>;
extern template class WarmContacts<3>;

template <int D>
class Sharing;

/// All contacts of a step, however many: `WarmContacts` from the impulses of the step before, and
/// `auto`, then every other method of solve_contacts, where that does not do. Storage grows to the
/// largest step so far and is kept; only `auto` allocates, and the order of elimination where more
/// than 64 contacts change.
class StepContacts {
 public:
  using Step = problem::StepProblem;
  StepContacts();
  ~StepContacts();
  StepContacts(const StepContacts&) = delete;  // its parts refer to each other
  StepContacts& operator=(const StepContacts&) = delete;

  /// False when the step is not of the form that contact problems have (see ContactForm).
  bool take(const Step& step) { return form_.take(step); }
  problem::Report solve(const Step& step, problem::WarmStart& warm) {
    return solve_form(step, warm, true);
  }
  /// The same without `auto`: allocates nothing, and may have to say that it is not solved.
  problem::Report attempt(const Step& step, problem::WarmStart& warm) {
    return solve_form(step, warm, false);
  }

  /// Impulses that solve the step and were found elsewhere: where the load may be shared in another
  /// way, and another motion follows, those of equally stiff contacts take their place. True then.
  /// `asks`: whether others are looked for, or were found before.
  bool reconsider(const Step& step, const Eigen::VectorXd& impulses, bool asks,
                  problem::WarmStart& warm, problem::Report& report);
  static base::Looks::Part part_of(const Step& step);
  static std::uint64_t pattern_of(std::span<const problem::Grip> grips);

  const Eigen::VectorXd& impulses() const { return impulses_; }  // of the step's rows
  double impulse(int row) const { return impulses_[row]; }
  problem::Grip grip(std::size_t contact) const { return grips_[contact]; }
  double residual() const { return residual_; }  // scale-free, of the problem as it was solved

 private:
  problem::Report solve_form(const Step& step, problem::WarmStart& warm, bool insists);
  template <int D>
  problem::Report solve_in(std::optional<WarmContacts<D>>& methods, const Step& step,
                           problem::WarmStart& warm, bool insists);
  template <int D>
  double warm_solve(WarmContacts<D>& methods, const Step& step, problem::WarmStart& warm);
  template <int D>
  void begin(const Step& step, const problem::WarmStart& warm);
  template <int D>
  void remember(const Step& step, const WarmContacts<D>& methods, problem::WarmStart& warm);
  void ask(const problem::ContactProblem& problem, ContactMethod method);
  template <int D>
  double insist(WarmContacts<D>& methods);
  bool is_unique(const Step& step);
  bool rubs() const;
  template <int D>
  bool look(const Step& step, problem::WarmStart& warm, problem::Report& report);
  template <int D>
  bool reconsider_in(std::optional<WarmContacts<D>>& methods, const Step& step,
                     const Eigen::VectorXd& impulses, bool asks, problem::WarmStart& warm,
                     problem::Report& report);
  template <int D>
  bool share(base::Looks::Part part, bool asks, problem::WarmStart& warm, problem::Report& report);
  template <int D>
  Sharing<D>& sharing();

  problem::ContactForm form_;
  std::optional<WarmContacts<2>> plane_;
  std::optional<WarmContacts<3>> space_;
  std::unique_ptr<Sharing<2>> plane_sharing_;  // made where they are needed
  std::unique_ptr<Sharing<3>> space_sharing_;
  Eigen::VectorXd r_;
  Eigen::VectorXd kept_;  // impulses that seemed to hold each other
  Eigen::VectorXd impulses_;
  std::vector<problem::Grip> grips_;
  Eigen::MatrixXd columns_;  // those that push, for their rank
  Eigen::VectorXd scratch_;
  double residual_{0.0};
};

}  // namespace ricochet::solve
