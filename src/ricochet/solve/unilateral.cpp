#include "ricochet/solve/unilateral.h"

#include <algorithm>
#include <cmath>

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

problem::Report UnilateralSolver::solve(const DenseRows& problem) {
  reserve(problem.dofs, problem.count);
  const auto& A = problem.factor;
  const auto& b = problem.free;
  if (problem.count == 0) return {};
  if (problem.held > 0) return solve_held(problem);
  if (problem.count == 1) return solve_one(problem);
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

problem::Report UnilateralSolver::solve_one(const DenseRows& problem) {
  const double w = problem.factor.col(0).squaredNorm();
  const double b = problem.free[0];
  impulses_[0] = b < 0.0 ? -b / w : 0.0;
  if (std::isfinite(impulses_[0])) return {};
  if (b >= -problem.noise[0]) {  // no push was needed, but for rounding
    impulses_[0] = 0.0;
    return {.unique = false};
  }
  return {.status = problem::Status::Degenerate};
}

/// Joints are eliminated: with x = A p the change of velocity in the unit metric, they fix its part
/// in the span of their columns, x_J; contacts then see only what is orthogonal to that span,
///     A_C' = (1 - Q Q^T) A_C,   b_C' = b_C + A_C^T x_J,
/// and the joints' impulses follow from A_J p_J = x_J - Q Q^T A_C p_C.
problem::Report UnilateralSolver::solve_held(const DenseRows& problem) {
  const Eigen::Index contacts = problem.count - problem.held;
  const auto A = problem.factor.leftCols(problem.count);
  const auto joints = A.rightCols(problem.held);
  if (joint_impulses_.size() != problem.held) joint_impulses_.resize(problem.held);
  joint_impulses_ = -problem.free.segment(contacts, problem.held);
  joint_motion_ = joints_.solve(joints, joint_impulses_);
  for (Eigen::Index j = 0; j < problem.held; ++j) {
    const double wanted = -problem.free[contacts + j];
    const double size = joints.col(j).norm() * joint_motion_.norm() + std::abs(wanted);
    if (std::abs(joints.col(j).dot(joint_motion_) - wanted) >
        1e-9 * size + problem.noise[contacts + j]) {
      return {.status = problem::Status::Infeasible};
    }
  }
  inner_.resize(problem.dofs, contacts);
  inner_.held = 0;
  for (Eigen::Index k = 0; k < contacts; ++k) {
    inner_.free[k] = problem.free[k] + A.col(k).dot(joint_motion_);
    inner_.noise[k] = problem.noise[k] + 1e-15 * A.col(k).norm() * joint_motion_.norm();
    inner_.factor.col(k) = joints_.orthogonal_part(A.col(k));
    // A contact that no motion of the joints can open or close: its column is rounding only.
    if (inner_.factor.col(k).norm() < 1e-12 * A.col(k).norm()) inner_.factor.col(k).setZero();
  }
  problem::Report report = solve(inner_);
  rest_ = joint_motion_;
  for (Eigen::Index k = 0; k < contacts; ++k) {
    rest_ -= impulses_[k] * (A.col(k) - inner_.factor.col(k));
  }
  joints_.coefficients(rest_, joint_impulses_);
  impulses_.segment(contacts, problem.held) = joint_impulses_;
  report.unique = report.unique && joints_.is_full_rank();
  return report;
}

problem::Report UnilateralSolver::solve_many(const DenseRows& problem) {
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

bool UnilateralSolver::columns_independent(const DenseRows& problem) {
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
