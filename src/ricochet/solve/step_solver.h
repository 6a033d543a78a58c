#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "ricochet/problem/grip.h"
#include "ricochet/problem/report.h"
#include "ricochet/problem/step_problem.h"
#include "ricochet/problem/warm_start.h"
#include "ricochet/solve/banded.h"
#include "ricochet/solve/islands.h"
#include "ricochet/solve/least_norm.h"
#include "ricochet/solve/unilateral.h"

namespace ricochet::solve {

class FrictionSolver;
class StepContacts;

/// Impulses of a step's problem, whatever its size; here it is chosen how:
///
///   without friction  few rows: closed forms, else the active-set method (`UnilateralSolver`);
///                     more than kShort and M diagonal: W by its envelope (`BandedSolver`);
///   with friction     up to two contacts, and sections that contact problems do not have:
///                     `FrictionSolver`; more: `StepContacts`, up to kFew rows finished by the
///                     other, which has the last digits;
///   more than kFew rows that fall into parts: each part by itself, a single contact in closed
///   form.
///
/// Of few rows of more than kMany coordinates only those that the rows have count. No matrix of
/// coordinates x rows has more than kDense of both, unless M is dense itself. What is carried from
/// step to step is in the WarmStart; storage grows to the largest problem and is kept.
class StepSolver {
 public:
  StepSolver();
  ~StepSolver();
  StepSolver(const StepSolver&) = delete;
  StepSolver& operator=(const StepSolver&) = delete;

  /// After this, small problems without friction allocate nothing.
  void reserve(int dofs, int contacts);

  problem::Report solve(const problem::StepProblem& problem, problem::WarmStart& warm);

  /// Impulses with W R + b = 0 in all rows; in the sense of least squares, and those of the
  /// shortest `motion`, where W is singular.
  void balance(const problem::StepProblem& problem);

  double impulse(int row) const { return whole_.impulses[row]; }
  problem::Grip grip(int contact) const { return whole_.grips[static_cast<std::size_t>(contact)]; }
  const Eigen::VectorXd& motion() const { return motion_; }  // M^-1 G^T R, after `balance`

  static constexpr int kShort = 8;  // rows
  static constexpr int kFew = 36;
  static constexpr int kDense = 64;
  static constexpr int kMany = 1024;  // coordinates

 private:
  using Problem = problem::StepProblem;
  struct Found {
    Eigen::VectorXd impulses;  // by row
    std::vector<problem::Grip> grips;

    void fit(int rows) {
      if (impulses.size() < rows) impulses.resize(rows);
    }
    template <class Solver>
    void take(const Problem& problem, const Solver& solver);
    void read_grips(const Problem& problem);
  };

  problem::Report solve_together(const Problem& problem, problem::WarmStart& warm, Found& found);
  problem::Report solve_banded(const Problem& problem, Found& found);
  problem::Report solve_frictional(const Problem& problem, problem::WarmStart& warm, Found& found);
  problem::Report reconsider(const Problem& problem, const problem::Report& report,
                             problem::WarmStart& warm, Found& found);
  problem::Report solve_generally(const Problem& problem, problem::WarmStart& warm, Found& found);
  problem::Report solve_parts(const Problem& problem, problem::WarmStart& warm);
  problem::Report solve_part(const Problem& problem, int part, problem::WarmStart& warm);
  bool solve_single(const Problem& problem, int contact);
  void balance_densely(const Problem& problem);
  void balance_by_gradients(const Problem& problem);
  void take_dense(const Problem& problem);

  Found whole_;
  Found part_;
  Islands islands_;
  problem::WarmStart part_warm_;
  problem::WarmStart next_warm_;
  DenseRows dense_;
  UnilateralSolver unilateral_;
  BandedSolver banded_;
  LeastNorm least_norm_;
  std::unique_ptr<FrictionSolver> direct_;  // behind pointers: few files need to know them
  std::unique_ptr<StepContacts> general_;
  Eigen::VectorXd scratch_;
  Eigen::VectorXd motion_;
  Eigen::VectorXd residual_;   // of conjugate gradients, by row
  Eigen::VectorXd direction_;  // of their impulses
  Eigen::VectorXd gradient_;   // by coordinate
  Eigen::VectorXd moved_;
};

}  // namespace ricochet::solve
