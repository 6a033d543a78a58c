#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/contact.h"
#include "ricochet/solve/block_lu.h"

namespace ricochet::solve {

/// Steps of the semismooth Newton method on the equations of [Alart 1991], each contact in the mode
/// that z = r - rho u shows, with rho_i = d / tr W_ii:
///
///     open   z_N <= 0            r = 0
///     stick  |z_T| <= mu z_N     u = 0
///     slip   else                u_N = 0,  d.r_T = mu r_N,  (1 - beta) e.r_T + beta rho e.u_T = 0
///
/// where d = z_T / |z_T|, e is normal to it and beta = mu z_N / |z_T|: the derivative of the
/// projection on the disk of radius mu z_N. Open contacts are not in the system. W + alpha / rho
/// stands for W, the proximal term whose centre is the present r, so that dependent contacts (a W
/// of low rank) can be solved for: it vanishes with the step.
template <int D>
class ContactNewton {
 public:
  /// The problem must outlive this.
  explicit ContactNewton(const problem::LocalProblem& problem);

  /// Takes the problem anew, whose numbers and size may have changed since. Allocates only where
  /// contacts of a large problem have come or gone: the order of elimination is then made anew.
  void refresh();

  /// r, with velocities u = W r + q, becomes the solution of the linearised problem. False when the
  /// system is singular or too large; r is then as it was.
  bool step(double alpha, Eigen::VectorXd& r, const Eigen::VectorXd& u);

  int active() const { return static_cast<int>(active_.size()); }
  std::size_t fill() const { return lu_.fill(); }

 private:
  using Vector = Eigen::Matrix<double, D, 1>;
  using Block = Eigen::Matrix<double, D, D>;
  struct Row {  // velocity part D (W dr) + impulse part E dr = right side
    Block D_;
    Block E_;
    bool sticks{true};
  };
  void choose_mode(int i, const Eigen::VectorXd& r, const Eigen::VectorXd& u);
  Vector right_side(int i, const Eigen::VectorXd& r, const Eigen::VectorXd& u) const;

  problem::LocalProblem problem_;
  std::vector<double> rho_;
  BlockLu<D> lu_;
  std::vector<int> active_;
  std::vector<Row> rows_;
  Eigen::VectorXd without_open_;
  Eigen::VectorXd velocity_;
};

extern template class ContactNewton<2>;
extern template class ContactNewton<3>;

}  // namespace ricochet::solve
