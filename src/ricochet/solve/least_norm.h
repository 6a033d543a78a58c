#pragma once

#include <Eigen/Core>

namespace ricochet::solve {

/// The shortest y with A^T y = c: y = A (A^T A)^+ c. When columns of A depend on each other and c
/// contradicts them, the shortest y of least squared error. Does not allocate after `reserve`.
class LeastNorm {
 public:
  void reserve(Eigen::Index rows, Eigen::Index columns);

  /// The result lives in this object until the next call.
  Eigen::Ref<const Eigen::VectorXd> solve(const Eigen::Ref<const Eigen::MatrixXd>& A,
                                          const Eigen::Ref<const Eigen::VectorXd>& c);

 private:
  Eigen::MatrixXd basis_;        // Q: orthonormal, spans the columns of A
  Eigen::MatrixXd coordinates_;  // A = Q R, R rank x columns
  Eigen::MatrixXd normal_;       // R R^T
  Eigen::VectorXd right_;        // R c
  Eigen::VectorXd y_;
};

}  // namespace ricochet::solve
