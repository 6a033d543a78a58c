#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "ricochet/problem/report.h"
#include "ricochet/problem/step_problem.h"

namespace ricochet::solve {

/// W = G M^-1 G^T by its entries, M diagonal: row k keeps columns first[k] .. k (the envelope). A
/// chain in its natural order has a band of 2. Storage is kept between steps.
class Envelope {
 public:
  /// False when it would hold more than kMost entries a row, in the mean.
  bool take(const problem::StepProblem& problem);

  int rows() const { return static_cast<int>(first_.size()); }
  int first(int row) const { return first_[index(row)]; }
  double entry(int row, int column) const {  // first(row) <= column <= row
    return entries_[start_[index(row)] + index(column - first(row))];
  }
  const double* row(int k) const { return entries_.data() + start_[index(k)]; }  // from first(k)

  static constexpr std::size_t kMost = 64;

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  template <class Work>
  void each_pair(const problem::StepProblem& problem, Work&& work) const;

  std::vector<int> first_;          // column of the first entry of each row
  std::vector<std::size_t> start_;  // where that entry lies
  std::vector<double> entries_;
  std::vector<int> latest_;   // by coordinate: the latest entry of G there
  std::vector<int> earlier_;  // by entry of G: the one before it of the same coordinate
  std::vector<int> row_;      // by entry of G
};

/// Exact impulses of a problem without friction by block principal pivoting [Judice 1994]: guess
/// which rows push, solve W_FF p_F = -b_F by a Cholesky factor that stays within the envelope,
/// exchange the rows whose sign is wrong, and one at a time when that stops helping. The guess is
/// that all push, as in a column at rest; the cost of a round is linear in the rows for a chain.
///
/// IterationLimit is returned when the gradients of pushing rows depend on each other in a way that
/// matters, or the envelope is too wide: other methods are for those. Does not allocate once it has
/// seen as many rows.
class BandedSolver {
 public:
  problem::Report solve(const problem::StepProblem& problem);

  /// W x = -b, all rows. False when W is singular, or its envelope too wide.
  bool solve_equations(const problem::StepProblem& problem);

  double impulse(int row) const { return impulses_[row]; }

 private:
  using Problem = problem::StepProblem;
  void reserve(int rows);
  bool factor();  // of the pushing rows; false: some depend on others
  void solve_factored(Eigen::VectorXd& x) const;
  void multiply(const Problem& problem);  // velocities_ = W p + b, sizes_ = |W| |p| + |b|
  void solve_pushing(const Problem& problem);
  void refine();
  int count_wrong(const Problem& problem);
  bool find_pushing(const Problem& problem, problem::Report& report);

  Envelope W_;
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
