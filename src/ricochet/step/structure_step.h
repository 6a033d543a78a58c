#pragma once

#include <vector>

#include "ricochet/certify/structure_claim.h"
#include "ricochet/problem/report.h"
#include "ricochet/solve/box.h"
#include "ricochet/step/structure_scheme.h"
#include "ricochet/structure/linear_structure.h"

namespace ricochet::step {

/// What the schemes of structures share: the effective matrix A, factored once, the columns
/// A^-1 g^T of the guides, and the small problem W = g A^-1 g^T on them.
///
/// A step finds du = A^-1 (r + G^T p): one solve with A whatever the guides do, since the columns
/// are there.
class StructureStep {
 public:
  StructureStep(const structure::LinearStructure& structure, const StructureSettings& settings,
                double h);

  /// False: A is not positive definite.
  bool is_ready() const { return ready_; }

  /// About how many times the spacing of numbers a solve with A may be off by: its condition.
  static double condition(const structure::LinearStructure& structure, double h);
  /// The largest eigenvalue of W, what all guides together give way to a unit of impulse. A spring
  /// of stiffness k that is met within a step may give h^2 k / 4 times it of the energy too much.
  double largest_compliance() const;
  static constexpr double kMostCondition = 7e14;  // beyond it, refinement does not help

  /// One step from `now`, whose middle is at t_mid, into `next`; its instant is set by the caller.
  problem::Report advance(const structure::Motion& now, double t_mid, structure::Motion& next);

  const certify::StructureClaim& claim() const { return claim_; }
  long long solves() const { return solves_; }  // with A, since the first step
  /// Of penalty; other schemes have none.
  double spring(std::size_t guide) const { return springs_.empty() ? 0.0 : springs_[guide]; }

 private:
  friend struct NewmarkStages;
  friend struct StructureStages;
  void smooth_loads(double t_mid);  // (G- + 2 G + G+)/4 into loads_
  void take_loads(double t);
  /// A^-1 h (f - C u - K q) into change_.
  void find_free(const structure::Motion& now, const Eigen::VectorXd& q);
  void refine(const Eigen::VectorXd& right, Eigen::VectorXd& solution);
  void read_guides(const structure::Motion& now, double part_of_step);
  problem::Report solve_guides();
  void push(const structure::Motion& now, structure::Motion& next) const;
  void set_springs();
  double spring_share(std::size_t guide) const;
  problem::Report solve_springs();

  const structure::LinearStructure& structure_;
  StructureSettings settings_;
  double h_;
  structure::EffectiveMatrix effective_;
  bool ready_{false};
  double damping_factor_{0.0};  // of A: a h and b h^2
  double stiffness_factor_{0.0};
  int refinements_{0};       // of a solve with A, where it loses digits that count
  bool planes_meet_{false};  // a normal and a friction act in one plane
  Eigen::MatrixXd columns_;  // A^-1 g^T, one of each guide, in its plane
  Eigen::MatrixXd normal_W_;
  Eigen::MatrixXd cross_W_;  // of normals by frictions
  solve::BoxSolver box_;
  certify::StructureClaim claim_;
  long long solves_{0};
  std::vector<double> springs_;  // stiffness and dashpot of penalty, by guide
  std::vector<double> dashpots_;
  Eigen::MatrixXd spring_W_;  // W and what the springs give way

  std::vector<double> registers_;
  Eigen::VectorXd loads_;
  Eigen::VectorXd load_now_;  // at the middles of the last step, this one and the next
  Eigen::VectorXd load_before_;
  Eigen::VectorXd load_after_;
  double loads_at_{0.0};
  bool has_loads_at_{false};
  Eigen::VectorXd middle_;  // q + h u/2, all coordinates
  Eigen::VectorXd change_;  // du
  Eigen::VectorXd scratch_;
  Eigen::VectorXd right_side_;  // of A
  Eigen::VectorXd rest_;        // what a solution leaves of it
  Eigen::VectorXd place_;       // of each guide, where the law looks
  Eigen::VectorXd before_;      // its speed at the start
  Eigen::VectorXd free_;        // and at the end without reactions
  Eigen::VectorXd free_along_;
  Eigen::VectorXd right_;
  Eigen::VectorXd low_;
  Eigen::VectorXd high_;
  Eigen::VectorXd bound_;
  Eigen::VectorXd last_;
};

}  // namespace ricochet::step
