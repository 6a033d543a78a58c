#pragma once

#include <Eigen/Core>

#include "ricochet/solve/contact_task.h"

namespace ricochet::solve {

/// Newton's method on the natural map of [Saxce 1998] for a few contacts,
///
///     F(r) = r - P_K(r - rho_i û),   û = u + mu |u_T| n,   u = W r + q,
///
/// whose derivative is that of projection and û together. Steps are the shortest that solve the
/// linearised equations, so that dependent contacts do no harm, and are halved until |F| falls.
/// Where that ends beside a solution it begins elsewhere, at places that are always the same.
template <int D>
class NaturalNewton {
 public:
  static constexpr int kMost = 32;  // contacts; the matrices are full

  explicit NaturalNewton(ContactTask& task);

  /// Whether the task is done.
  bool run();

 private:
  using Vector = Eigen::Matrix<double, D, 1>;
  using Block = Eigen::Matrix<double, D, D>;
  void set_start(int which);
  bool descend();
  double map(const Eigen::VectorXd& r, bool has_slopes);  // |F|
  Vector project(double mu, const Vector& z, Block* slope) const;
  double random();  // in [0, 1)

  ContactTask& task_;
  int contacts_{0};
  Eigen::MatrixXd W_;
  Eigen::VectorXd r_;
  Eigen::VectorXd trial_;
  Eigen::VectorXd value_;   // F
  Eigen::MatrixXd slopes_;  // dF/dr
  unsigned state_{12345};
};

extern template class NaturalNewton<2>;
extern template class NaturalNewton<3>;

}  // namespace ricochet::solve
