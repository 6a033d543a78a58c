#pragma once

#include <Eigen/Core>

#include "ricochet/problem/report.h"

namespace ricochet::solve {

/// Friction whose loads are the reactions of joints: s >= 0 with s = r(s), where r says how hard
/// the joints press when friction has the loads s. r is continuous, linear by parts, and constant
/// once everything sticks, so that there is such an s however the parts jam. Plain rounds s <- r(s)
/// find it where friction changes the reactions by less than its own part; else Newton's method by
/// differences, from where the rounds are, from no load and from stick; a single load by bisection.
class LoadRounds {
 public:
  /// r(s), in `answer`.
  using Ask = problem::Report (*)(void* asked, const Eigen::VectorXd& s, Eigen::VectorXd& answer);

  /// From s, which it replaces. The last question it asks is about the s it leaves.
  problem::Report settle(Eigen::VectorXd& s, Ask ask, void* asked);

 private:
  bool is_settled(double part) const { return worst_ <= part * largest_; }
  bool look(const Eigen::VectorXd& s);  // off_ at s; false where that was not solved
  bool rounds(Eigen::VectorXd& s);
  bool newton(Eigen::VectorXd& s);
  bool newton_step(Eigen::VectorXd& s);
  bool bisect(Eigen::VectorXd& s);
  bool stick(Eigen::VectorXd& s);

  Ask ask_{nullptr};
  void* asked_{nullptr};
  problem::Report report_;
  Eigen::VectorXd answer_;
  Eigen::VectorXd off_;  // r(s) - s
  Eigen::VectorXd tried_;
  double worst_{0.0};    // of |off|
  double largest_{0.0};  // of loads and reactions
};

}  // namespace ricochet::solve
