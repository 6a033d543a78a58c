#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "ricochet/problem/banded.h"
#include "ricochet/problem/report.h"

namespace ricochet::solve {

/// Exact impulses of a banded problem by block principal pivoting [Judice 1994]: guess which rows
/// push, solve W_FF p_F = -b_F by a Cholesky factor that stays within the envelope, exchange the
/// rows whose sign is wrong, and one at a time when that stops helping. The guess is that all push,
/// as in a column at rest; the cost of a round is linear in the rows for a chain.
///
/// IterationLimit is returned when the gradients of pushing rows depend on each other in a way that
/// matters: the dense method is for those. Does not allocate once it has seen as many rows.
class BandedSolver {
 public:
  problem::Report solve(const problem::Banded& problem);

  /// W x = -b, all rows. False when W is singular.
  bool solve_equations(const problem::Banded& problem);

  double impulse(int row) const { return impulses_[row]; }

 private:
  void reserve(int rows);
  bool factor(const problem::Banded& problem);  // of the pushing rows; false: some depend on others
  void solve_factored(Eigen::VectorXd& x) const;
  void multiply(const problem::Banded& problem);  // velocities_ = W p + b, sizes_ = |W| |p| + |b|
  void solve_pushing(const problem::Banded& problem);
  void refine();
  int count_wrong(const problem::Banded& problem);

  std::vector<char> pushes_;
  std::vector<char> wrong_;
  std::vector<int> members_;        // the pushing rows
  std::vector<int> before_;         // how many of them come before each row
  std::vector<int> first_;          // of each factor row
  std::vector<std::size_t> start_;  // where it lies
  std::vector<double> factor_;
  std::vector<char> dependent_;  // factor rows left out
  Eigen::VectorXd right_;
  Eigen::VectorXd impulses_;
  Eigen::VectorXd velocities_;
  Eigen::VectorXd sizes_;
};

}  // namespace ricochet::solve
