#pragma once

#include <Eigen/Core>

#include "ricochet/solve/contact_newton.h"
#include "ricochet/solve/contact_task.h"
#include "ricochet/solve/gauss_seidel.h"

namespace ricochet::solve {

/// Newton steps with a proximal term that shrinks as they succeed and grows as they fail. A step is
/// shortened until it lowers the merit, each trial after sweeps that bring it back to where every
/// contact satisfies its own law. Where none does, sweeps from the old impulses take its place.
template <int D>
class ProximalNewton {
 public:
  ProximalNewton(ContactTask& task, ContactNewton<D>& newton, GaussSeidel<D>& sweeps)
      : task_(task), newton_(newton), sweeps_(sweeps) {}

  /// From task.r, at most that many steps. True when the task is done.
  bool run(int steps);

 private:
  bool try_step(double& merit);
  void fall_back(double& merit);
  Progress smooth(Eigen::VectorXd& r, int sweeps);

  ContactTask& task_;
  ContactNewton<D>& newton_;
  GaussSeidel<D>& sweeps_;
  double alpha_{1e-4};
  int back_{10};  // sweeps when a step fails
  Eigen::VectorXd full_, trial_, chosen_;
};

extern template class ProximalNewton<2>;
extern template class ProximalNewton<3>;

}  // namespace ricochet::solve
