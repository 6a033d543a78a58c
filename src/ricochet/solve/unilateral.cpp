#include "ricochet/solve/unilateral.h"

#include <algorithm>

namespace ricochet::solve {
namespace {

/// sin^2 of the angle of two gradients, below which two contacts go to the active-set method.
constexpr double kNearlyParallel = 1e-6;

/// Part of its length below which a gradient counts as a combination of others.
constexpr double kDependent = 1e-12;

}  // namespace

bool solve_two(double w11, double w12, double w22, double b1, double b2, double& p1, double& p2) {
  const double determinant = w11 * w22 - w12 * w12;
  if (!(determinant > kNearlyParallel * w11 * w22)) return false;
  p1 = p2 = 0.0;
  if (b1 >= 0.0 && b2 >= 0.0) return true;       // u' in V
  if (b1 < 0.0 && b2 - w12 * b1 / w11 >= 0.0) {  // nearest to the face of contact 1
    p1 = -b1 / w11;
    return true;
  }
  if (b2 < 0.0 && b1 - w12 * b2 / w22 >= 0.0) {  // nearest to the face of contact 2
    p2 = -b2 / w22;
    return true;
  }
  p1 = std::max(0.0, (w12 * b2 - w22 * b1) / determinant);  // nearest to the edge
  p2 = std::max(0.0, (w12 * b1 - w11 * b2) / determinant);
  return true;
}

void UnilateralSolver::reserve(Eigen::Index dofs, Eigen::Index contacts) {
  if (impulses_.size() < contacts) impulses_.resize(contacts);
  projector_.reserve(dofs, contacts);
  const Eigen::Index rank = std::min(dofs, contacts);
  if (basis_.rows() != dofs || basis_.cols() < rank) basis_.resize(dofs, rank);
  if (rest_.size() != dofs) rest_.resize(dofs);
}

problem::Report UnilateralSolver::solve(const problem::Unilateral& problem) {
  reserve(problem.dofs, problem.count);
  const auto& A = problem.factor;
  const auto& b = problem.free;
  if (problem.count == 0) return {};
  if (problem.count == 1) {
    const double w = A.col(0).squaredNorm();
    impulses_[0] = b[0] < 0.0 ? -b[0] / w : 0.0;
    return {};
  }
  if (problem.count == 2) {
    const double w11 = A.col(0).squaredNorm();
    const double w12 = A.col(0).dot(A.col(1));
    const double w22 = A.col(1).squaredNorm();
    if (solve_two(w11, w12, w22, b[0], b[1], impulses_[0], impulses_[1])) {
      return {};
    }
  }
  return solve_many(problem);
}

problem::Report UnilateralSolver::solve_many(const problem::Unilateral& problem) {
  using convex::ProjectionStatus;
  const Eigen::Index m = problem.count;
  const ProjectionStatus status =
      projector_.solve(problem.factor.leftCols(m), problem.free.head(m), problem.noise.head(m));
  impulses_.head(m) = projector_.multipliers();
  problem::Report report{.iterations = projector_.iterations(),
                         .unique = columns_independent(problem)};
  if (status == ProjectionStatus::Infeasible) report.status = problem::Status::Infeasible;
  if (status == ProjectionStatus::IterationLimit) report.status = problem::Status::IterationLimit;
  return report;
}

bool UnilateralSolver::columns_independent(const problem::Unilateral& problem) {
  if (problem.count > problem.dofs) return false;
  for (Eigen::Index j = 0; j < problem.count; ++j) {
    rest_ = problem.factor.col(j);
    const double length = rest_.norm();
    for (int pass = 0; pass < 2; ++pass) {
      for (Eigen::Index k = 0; k < j; ++k) rest_ -= basis_.col(k).dot(rest_) * basis_.col(k);
    }
    const double left = rest_.norm();
    if (!(left > kDependent * length)) return false;
    basis_.col(j) = rest_ / left;
  }
  return true;
}

}  // namespace ricochet::solve
