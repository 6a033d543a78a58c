#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/friction.h"
#include "ricochet/problem/report.h"

namespace ricochet::solve {

/// Several contacts with friction. Sweeps over the contacts, each solved exactly with the others
/// held (block Gauss-Seidel [Jean 1999]), bring the impulses near; then Newton's method on the
/// equations of the projections [Alart 1991] finishes in a few rounds, since near the solution they
/// are smooth. Joints are eliminated first. Ellipses are made discs by stretching.
class FrictionSolver {
 public:
  problem::Report solve(const problem::Frictional& problem);

  double impulse(Eigen::Index row) const { return impulses_[row]; }
  problem::Grip grip(std::size_t contact) const { return grips_[contact]; }

 private:
  struct Contact {
    Eigen::Index first{0};
    int slips{0};
    convex::Section section{convex::Disc{}};
    double rho{0.0};  // d / tr W_ii
  };

  void take(const problem::Frictional& problem);
  bool eliminate_joints(const problem::Frictional& problem);
  void find_joint_impulses(const problem::Frictional& problem);
  void sweep();
  void solve_block(Contact& contact, problem::Grip& grip);
  double residual();  // scale-free; leaves v_ at W R + b
  bool newton_step();
  void fill_newton_rows(const Contact& contact, std::size_t at);
  bool polish(double& error);
  void clean();
  Eigen::Vector3d image_of(const Contact& contact) const;
  void read_grips();

  Eigen::Index rows_{0};  // without joints
  std::vector<Contact> contacts_;
  std::vector<problem::Grip> grips_;
  Eigen::MatrixXd W_;
  Eigen::VectorXd b_;
  Eigen::VectorXd stretch_;  // of each row
  Eigen::VectorXd v_;
  Eigen::VectorXd R_;
  Eigen::VectorXd kept_;
  Eigen::VectorXd impulses_;  // in the rows of the problem
  Eigen::MatrixXd jacobian_;
  Eigen::VectorXd defect_;
  Eigen::MatrixXd joint_W_;
  Eigen::MatrixXd joint_coupling_;
  Eigen::VectorXd joint_free_;
  bool unique_{true};
};

}  // namespace ricochet::solve
