#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/base/clock.h"
#include "ricochet/problem/contact_velocity.h"
#include "ricochet/solve/contact.h"

namespace ricochet::solve {

/// How good impulses are, for a method on its way: cheap to have, on W by its blocks.
struct Progress {
  double relative{std::numeric_limits<double>::infinity()};
  double strict{std::numeric_limits<double>::infinity()};  // scale-free, by the impulses alone
  double scale_free{std::numeric_limits<double>::infinity()};
  double merit{std::numeric_limits<double>::infinity()};  // |natural map|, in the metric 1 / rho_i
};

/// A problem being solved: what all methods share. Methods improve `r` and say what they have
/// through `measure`; the best impulses are kept.
class ContactTask {
 public:
  ContactTask(const problem::ContactProblem& problem, const ContactSettings& settings,
              const Eigen::VectorXd& start);

  /// The problem with W by its blocks; formed when first asked for.
  const problem::LocalProblem& local() const;
  const problem::ContactProblem& problem() const { return problem_; }
  const ContactSettings& settings() const { return settings_; }
  const problem::ContactVelocity& velocity() const { return velocity_; }
  double rho(int i) const { return rho_[static_cast<std::size_t>(i)]; }

  Eigen::VectorXd r;  // the present impulses

  /// Of impulses that are first projected on their cones. Keeps them when they are the best so far.
  Progress measure(Eigen::VectorXd& impulses);
  /// Velocities W r + q of the impulses measured last.
  const Eigen::VectorXd& measured_velocity() const { return u_; }

  const Progress& best() const { return best_progress_; }
  const Eigen::VectorXd& best_impulses() const { return best_; }

  /// Whether the best impulses are good enough, with a margin for the other way of computing u.
  bool done() const { return is_solution(best_progress_); }
  bool is_solution(const Progress& progress) const;
  /// No time, or no iterations left.
  bool over() const;

  void count(int iterations) { iterations_ += iterations; }
  void count_factorisation() { ++factorisations_; }
  int iterations() const { return iterations_; }
  int factorisations() const { return factorisations_; }
  double seconds() const { return clock_.seconds(); }

  /// Scales both tolerances: below 1 to go on where the definition was not satisfied.
  void tighten(double factor) { tightened_ *= factor; }

 private:
  void project(Eigen::VectorXd& impulses) const;

  base::Stopwatch clock_;
  const problem::ContactProblem& problem_;
  const ContactSettings& settings_;
  mutable problem::ContactVelocity velocity_;
  mutable std::optional<problem::LocalProblem> local_;
  std::vector<double> rho_;
  double q_norm_{0.0};
  double free_scale_{0.0};  // max_i rho_i |q_i + mu |q_T| n|
  Eigen::VectorXd u_;
  Eigen::VectorXd best_;
  Progress best_progress_;
  int iterations_{0};
  int factorisations_{0};
  double tightened_{1.0};
};

/// What `suits` asks.
inline constexpr int kMostEnumerated = 2;      // contacts
inline constexpr int kMostTableauRows = 4000;  // of complementary pivoting

/// The methods. Each takes task.r as its start, works until the task is done or over or it has
/// nothing left to try, and leaves its best in the task.
void run_gauss_seidel(ContactTask& task);
void run_proximal_newton(ContactTask& task);
void run_interior_point(ContactTask& task);
void run_admm(ContactTask& task);
void run_enumeration(ContactTask& task);
void run_pivoting(ContactTask& task);
/// Returns the method that found the impulses.
ContactMethod run_auto(ContactTask& task);

/// Calls work<2>() or work<3>().
template <class Work>
auto with_dimension(int dim, Work&& work) {
  return dim == 3 ? work.template operator()<3>() : work.template operator()<2>();
}

}  // namespace ricochet::solve
