#pragma once

#include "ricochet/convex/polyhedral_cone.h"
#include "ricochet/problem/report.h"
#include "ricochet/solve/least_norm.h"

namespace ricochet::solve {

/// Contacts without friction, W by its factor with all its zeros:
///
///     find p >= 0 with  U = W p + b >= 0  and  p . U = 0,   W = A^T A.
///
/// The last `held` rows are joints: U = 0 and p of any sign. Nearly dependent columns can be told
/// from dependent ones. Storage is kept between steps; only the first `count` columns count.
struct DenseRows {
  Eigen::Index dofs{0};
  Eigen::Index count{0};
  Eigen::Index held{0};
  Eigen::MatrixXd factor;  // A, one column per row
  Eigen::VectorXd free;    // b: the velocity without impulses
  Eigen::VectorXd noise;   // bound for the rounding error of each entry of b, same unit

  void resize(Eigen::Index new_dofs, Eigen::Index new_count) {
    dofs = new_dofs;
    count = new_count;
    if (factor.rows() != dofs || factor.cols() < count) factor.resize(dofs, count);
    if (free.size() < count) free.resize(count);
    if (noise.size() < count) noise.resize(count);
  }
};

/// Two contacts in closed form: the four regions of the dihedral cone. [Moreau 1986, par. 10]
/// False when the gradients are so nearly parallel that the form would lose digits.
bool solve_two(double w11, double w12, double w22, double b1, double b2, double& p1, double& p2);

/// Impulses of a unilateral problem. After `reserve` it does not allocate.
class UnilateralSolver {
 public:
  void reserve(Eigen::Index dofs, Eigen::Index contacts);

  /// Exact for any number of contacts: closed forms for one and two, else the active-set method.
  problem::Report solve(const DenseRows& problem);

  double impulse(Eigen::Index contact) const { return impulses_[contact]; }

 private:
  problem::Report solve_one(const DenseRows& problem);
  problem::Report solve_held(const DenseRows& problem);
  problem::Report solve_many(const DenseRows& problem);
  bool columns_independent(const DenseRows& problem);

  convex::ConeProjector projector_;
  Eigen::VectorXd impulses_;
  Eigen::MatrixXd basis_;  // of the columns, for their rank
  Eigen::VectorXd rest_;
  LeastNorm joints_;
  DenseRows inner_;               // the contacts, seen by velocities that the joints allow
  Eigen::VectorXd joint_motion_;  // what the joints ask for, in the unit metric
  Eigen::VectorXd joint_impulses_;
};

}  // namespace ricochet::solve
