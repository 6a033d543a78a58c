#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

#include "ricochet/convex/pivoted.h"
#include "ricochet/problem/grip.h"
#include "ricochet/problem/report.h"
#include "ricochet/problem/step_problem.h"

namespace ricochet::solve {

/// Several contacts with friction, directly. Sweeps over the contacts, each solved exactly with the
/// others held (block Gauss-Seidel [Jean 1999]), bring the impulses near; then Newton's method on
/// the equations of the projections [Alart 1991] finishes in a few rounds, since near the solution
/// they are smooth. Where it does not, sweeps go on from where they were, another way. Joints are
/// eliminated first. Ellipses are made discs by stretching.
///
/// W is kept with its zeros: this is for few contacts, and for sections that contact problems do
/// not have (polygons, segments with two different ends).
///
/// Storage grows to the largest problem so far and is kept.
class FrictionSolver {
 public:
  problem::Report solve(const problem::StepProblem& problem);

  /// Newton's method from impulses that are nearly right, which it replaces where it can. False
  /// when it cannot begin.
  bool finish(const problem::StepProblem& problem, const Eigen::VectorXd& impulses);

  double impulse(Eigen::Index row) const { return impulses_[row]; }
  problem::Grip grip(std::size_t contact) const { return grips_[contact]; }

  static constexpr int kFew = 36;  // rows of which Newton's method takes the shortest step

 private:
  struct Contact {
    Eigen::Index first{0};
    int slips{0};
    convex::Section section{convex::Disc{}};
    double rho{0.0};    // d / tr W_ii
    double rho_N{0.0};  // 1 / W_NN: Newton's equations may scale the two parts apart
    double rho_T{0.0};
    bool is_flat{false};  // no impulse moves it along its normal
  };

  void grow(Eigen::Index rows, Eigen::Index held);
  void take(const problem::StepProblem& problem);
  void take_factor(const problem::StepProblem& problem);
  double product(const problem::StepProblem& problem, Eigen::Index i, Eigen::Index j) const;
  bool eliminate_joints(const problem::StepProblem& problem);
  bool weigh_contacts(const problem::StepProblem& problem);
  void find_joint_impulses(const problem::StepProblem& problem);
  void sweep(bool backward, double share);
  void solve_block(const Contact& contact, double share);
  double residual();  // scale-free; leaves v at W R + b
  Eigen::Vector3d image_of(const Contact& contact) const;
  void newton_step();
  void fill_newton_rows(const Contact& contact);
  bool polish(double& error);
  void clean();
  static bool is_inside(const Contact& contact, const Eigen::Vector3d& R, double margin);
  void read_grips(double error);

  auto W() { return W_.topLeftCorner(rows_, rows_); }
  auto b() { return b_.head(rows_); }
  auto v() { return v_.head(rows_); }
  auto R() { return R_.head(rows_); }

  Eigen::Index rows_{0};  // without joints
  std::vector<Contact> contacts_;
  std::vector<problem::Grip> grips_;
  Eigen::MatrixXd factor_;  // A, one column per row; of few rows, or a metric that is not diagonal
  bool has_factor_{false};
  Eigen::VectorXd scratch_;
  Eigen::MatrixXd W_;
  Eigen::VectorXd b_;
  Eigen::VectorXd stretch_;  // of each row
  Eigen::VectorXd v_;
  Eigen::VectorXd R_;
  Eigen::VectorXd kept_;      // R before a step of Newton's method
  Eigen::VectorXd swept_;     // R before Newton's method
  Eigen::VectorXd step_;      // of Newton's method
  Eigen::VectorXd impulses_;  // in the rows of the problem
  Eigen::VectorXd defect_;
  Eigen::MatrixXd jacobian_;  // of Newton's equations
  convex::PivotedQr newton_;
  Eigen::MatrixXd joint_W_;
  Eigen::MatrixXd joint_coupling_;  // W_jc
  Eigen::MatrixXd joint_solved_;    // W_jj^-1 W_jc
  Eigen::VectorXd joint_free_;
  Eigen::VectorXd joint_impulses_;
  Eigen::LDLT<Eigen::MatrixXd> joint_factors_;
  double scale_{1.0};    // of rho_N and rho_T
  double largest_{0.0};  // impulse, or what free velocities ask for
  bool unique_{true};
};

}  // namespace ricochet::solve
