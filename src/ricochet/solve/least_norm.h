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

  /// The shortest p with A p = y, for the A of the last `solve` and a y in its range.
  void coefficients(const Eigen::Ref<const Eigen::VectorXd>& y, Eigen::Ref<Eigen::VectorXd> p);

  /// The part of v orthogonal to the columns of the A of the last `solve`.
  Eigen::Ref<const Eigen::VectorXd> orthogonal_part(const Eigen::Ref<const Eigen::VectorXd>& v);

  bool is_full_rank() const { return rank_ == columns_; }

 private:
  void orthogonalise(const Eigen::Ref<const Eigen::MatrixXd>& A);
  template <class Count>
  void add_column(const double* column, Eigen::Index j, Count n);
  template <class Count>
  void transpose(Count m);

  Eigen::Index rank_{0};
  Eigen::Index columns_{0};
  Eigen::MatrixXd basis_;        // Q: orthonormal, spans the columns of A
  Eigen::MatrixXd coordinates_;  // A = Q R, R rank x columns
  Eigen::MatrixXd transposed_;   // R^T = P S, P orthonormal
  Eigen::MatrixXd triangle_;     // S, rank x rank
  Eigen::VectorXd right_;
  Eigen::VectorXd y_;
};

}  // namespace ricochet::solve
