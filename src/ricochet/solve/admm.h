#pragma once

#include <Eigen/Core>
#include <memory>

#include "ricochet/problem/contact.h"
#include "ricochet/problem/sparse_lu.h"

namespace ricochet::solve {

/// (W + R) x = b with W by its blocks, R a diagonal.
class LocalShiftedSystem {
 public:
  explicit LocalShiftedSystem(const problem::LocalProblem& problem)
      : W_(problem::scalars_of(problem.W)) {}
  LocalShiftedSystem(LocalShiftedSystem&& other) noexcept : W_(std::move(other.W_)) {}

  void factor(const Eigen::VectorXd& penalty);
  Eigen::VectorXd solve(const Eigen::VectorXd& right) const { return lu_.solve(right); }

 private:
  problem::SparseMatrix W_;
  problem::SparseLu lu_;
};

/// The same with W = H^T M^-1 H, which is not formed: what is factored is M + H R^-1 H^T.
class GlobalShiftedSystem {
 public:
  /// The form must outlive this.
  explicit GlobalShiftedSystem(const problem::GlobalForm& form) : form_(form) {}
  GlobalShiftedSystem(GlobalShiftedSystem&& other) noexcept : form_(other.form_) {}

  void factor(const Eigen::VectorXd& penalty);
  Eigen::VectorXd solve(const Eigen::VectorXd& right) const;

 private:
  const problem::GlobalForm& form_;
  Eigen::VectorXd inverse_penalty_;
  problem::SparseLu lu_;
};

}  // namespace ricochet::solve
