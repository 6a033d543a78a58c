#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/report.h"

namespace ricochet::solve {

/// Small problems with a symmetric positive definite W between boxes, exactly, by principal
/// pivoting: guess for each row whether its impulse or its velocity is at a bound, solve, exchange
/// the rows that are wrong, all at once while their number falls, else the last of them alone
/// [Judice 1994]. The guess is that of the last call.
///
/// After `reserve` it does not allocate.
class BoxSolver {
 public:
  void reserve(Eigen::Index rows);
  /// The next call guesses that no row is at a bound.
  void forget();

  /// v = W p + b with low <= v <= high, p >= 0 where v = low, p <= 0 where v = high, else p = 0.
  problem::Report solve_velocities(const Eigen::MatrixXd& W, const Eigen::VectorXd& b,
                                   const Eigen::VectorXd& low, const Eigen::VectorXd& high,
                                   Eigen::VectorXd& p);

  /// v = W p + b with |p| <= bound, v = 0 where |p| < bound, else v opposed to p.
  problem::Report solve_impulses(const Eigen::MatrixXd& W, const Eigen::VectorXd& b,
                                 const Eigen::VectorXd& bound, Eigen::VectorXd& p);

 private:
  enum class Side : char { Inside, Low, High };

  template <class IsGiven, class Given, class Judge>
  problem::Report pivot(const Eigen::MatrixXd& W, const Eigen::VectorXd& b, std::vector<Side>& side,
                        const IsGiven& impulse_is_given, const Given& given, const Judge& judge,
                        Eigen::VectorXd& p);
  bool solve_free_rows(const Eigen::MatrixXd& W, Eigen::VectorXd& p);

  std::vector<Side> normal_;   // sides of the last solve_velocities
  std::vector<Side> sliding_;  // and of the last solve_impulses
  std::vector<Eigen::Index> free_;
  Eigen::MatrixXd factor_;
  Eigen::VectorXd right_;
  Eigen::VectorXd velocity_;
};

}  // namespace ricochet::solve
