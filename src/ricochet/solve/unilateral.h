#pragma once

#include "ricochet/convex/polyhedral_cone.h"
#include "ricochet/problem/report.h"
#include "ricochet/problem/unilateral.h"
#include "ricochet/solve/least_norm.h"

namespace ricochet::solve {

/// Two contacts in closed form: the four regions of the dihedral cone. [Moreau 1986, par. 10]
/// False when the gradients are so nearly parallel that the form would lose digits.
bool solve_two(double w11, double w12, double w22, double b1, double b2, double& p1, double& p2);

/// Impulses of a unilateral problem. After `reserve` it does not allocate.
class UnilateralSolver {
 public:
  void reserve(Eigen::Index dofs, Eigen::Index contacts);

  /// Exact for any number of contacts: closed forms for one and two, else the active-set method.
  problem::Report solve(const problem::Unilateral& problem);

  double impulse(Eigen::Index contact) const { return impulses_[contact]; }

 private:
  problem::Report solve_one(const problem::Unilateral& problem);
  problem::Report solve_held(const problem::Unilateral& problem);
  problem::Report solve_many(const problem::Unilateral& problem);
  bool columns_independent(const problem::Unilateral& problem);

  convex::ConeProjector projector_;
  Eigen::VectorXd impulses_;
  Eigen::MatrixXd basis_;  // of the columns, for their rank
  Eigen::VectorXd rest_;
  LeastNorm joints_;
  problem::Unilateral inner_;     // the contacts, seen by velocities that the joints allow
  Eigen::VectorXd joint_motion_;  // what the joints ask for, in the unit metric
  Eigen::VectorXd joint_impulses_;
};

}  // namespace ricochet::solve
