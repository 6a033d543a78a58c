#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/QR>
#include <memory>
#include <vector>

#include "ricochet/problem/friction.h"
#include "ricochet/problem/report.h"
#include "ricochet/problem/warm_start.h"

namespace ricochet::solve {

class StepContacts;

/// Several contacts with friction. Sweeps over the contacts, each solved exactly with the others
/// held (block Gauss-Seidel [Jean 1999]), bring the impulses near; then Newton's method on the
/// equations of the projections [Alart 1991] finishes in a few rounds, since near the solution they
/// are smooth. Where it does not, sweeps go on from where they were, another way. Joints are
/// eliminated first. Ellipses are made discs by stretching.
///
/// That is for one and two contacts, and for sections that contact problems do not have (polygons,
/// segments with two different ends). More contacts go to `StepContacts`, which begins at the
/// impulses of the last solve by it; up to kFew rows of them are finished here.
///
/// Storage grows to the largest problem so far and is kept.
class FrictionSolver {
 public:
  FrictionSolver();
  ~FrictionSolver();
  FrictionSolver(const FrictionSolver&) = delete;
  FrictionSolver& operator=(const FrictionSolver&) = delete;

  /// Begins at `warm`, which is left as the next solve is to find it.
  problem::Report solve(const problem::Frictional& problem, problem::WarmStart& warm);

  double impulse(Eigen::Index row) const { return impulses_[row]; }
  problem::Grip grip(std::size_t contact) const { return grips_[contact]; }

  static constexpr int kFew = 36;  // rows whose Newton equations need no heap

 private:
  using FewRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kFew, kFew>;
  using FewValues = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kFew, 1>;

  struct Contact {
    Eigen::Index first{0};
    int slips{0};
    convex::Section section{convex::Disc{}};
    double rho{0.0};    // d / tr W_ii
    double rho_N{0.0};  // 1 / W_NN: Newton's equations may scale the two parts apart
    double rho_T{0.0};
    bool is_flat{false};  // no impulse moves it along its normal
  };

  problem::Report solve_directly(const problem::Frictional& problem);
  problem::Report solve_generally(const problem::Frictional& problem, problem::WarmStart& warm);
  problem::Report finish_directly(const problem::Frictional& problem, problem::Report report);
  void give_general(const problem::Frictional& problem);
  void grow(Eigen::Index rows, Eigen::Index held);
  void take(const problem::Frictional& problem);
  bool eliminate_joints(const problem::Frictional& problem);
  bool weigh_contacts(const problem::Frictional& problem);
  void find_joint_impulses(const problem::Frictional& problem);
  void sweep(bool backward, double share);
  void solve_block(const Contact& contact, double share);
  double residual();  // scale-free; leaves v at W R + b
  Eigen::Vector3d image_of(const Contact& contact) const;
  void newton_step();
  void newton_step_of_many();
  template <class Rows>
  void fill_newton_rows(const Contact& contact, Rows& jacobian);
  bool polish(double& error);
  void clean();
  void read_grips();

  auto W() { return W_.topLeftCorner(rows_, rows_); }
  auto b() { return b_.head(rows_); }
  auto v() { return v_.head(rows_); }
  auto R() { return R_.head(rows_); }

  Eigen::Index rows_{0};  // without joints
  std::vector<Contact> contacts_;
  std::vector<problem::Grip> grips_;
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
  Eigen::CompleteOrthogonalDecomposition<FewRows> few_;
  Eigen::MatrixXd jacobian_;  // of more rows: as large as the largest problem so far
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> many_;
  Eigen::VectorXd many_right_;
  Eigen::MatrixXd joint_W_;
  Eigen::MatrixXd joint_coupling_;  // W_jc
  Eigen::MatrixXd joint_solved_;    // W_jj^-1 W_jc
  Eigen::VectorXd joint_free_;
  Eigen::VectorXd joint_impulses_;
  Eigen::LDLT<Eigen::MatrixXd> joint_factors_;
  double scale_{1.0};  // of rho_N and rho_T
  bool unique_{true};
  std::unique_ptr<StepContacts> many_contacts_;  // behind a pointer: few files need to know it
};

}  // namespace ricochet::solve
