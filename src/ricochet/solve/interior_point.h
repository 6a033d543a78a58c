#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/contact.h"
#include "ricochet/solve/block_lu.h"

namespace ricochet::solve {

/// An interior-point method on Coulomb's law itself. With a = mu r_N, b = r_T / a and the slack
/// xi = a (1 - |b|^2) of the cone, the problem is the limit m -> 0 of
///
///     u_N - y = 0,          y r_N     = m,      y, r_N > 0,
///     u_T + lambda b = 0,   lambda xi = m,      lambda, xi > 0,         u = W r + q,
///
/// where y becomes the speed of separation and lambda the speed of slip. For m > 0 the equations
/// are smooth, also where a contact begins to slip or has no impulse, which |u_T| in the cone
/// problem of [Saxce 1998] is not. Steps are of the predictor-corrector kind [Mehrotra 1992],
/// with lengths of their own for impulses and for (y, lambda); y and lambda are taken out of the
/// linear system, so that it is W with another diagonal block, not symmetric where contacts slip.
///
/// Contacts without friction keep their normal part only. The iterates approach the middle of the
/// set of solutions where there are many, so that the modes of the contacts show clearly.
template <int D>
class InteriorPoint {
 public:
  /// The problem must outlive this.
  explicit InteriorPoint(const problem::LocalProblem& problem);

  /// Takes the problem anew, whose numbers and size may have changed since; q may be longer than
  /// the contacts need. Room for the factors is kept.
  void refresh();

  /// All contacts pushing, none slipping, with products of about level^2 times the largest
  /// rho_i |q_i|^2.
  void start(double level);

  /// The same near given impulses, of which only the part inside the cones counts.
  void start_near(const Eigen::VectorXd& r, double level);

  /// From here on u is W r + q + (alpha / rho) (r - centre): the proximal problem.
  void set_proximal(double alpha, const Eigen::VectorXd& centre);

  /// One predictor-corrector step; false when it could not be made.
  bool step();

  /// Steps until no contact creeps faster than `speed`, |r - P_K(r - rho û)| / rho, so that sweeps
  /// or Newton's method can go on; false where `most` steps do not lead there.
  bool finish(double speed, int most);

  double complementarity() const { return gap_; }  // mean of y r_N and lambda xi
  double defect() const { return defect_; }        // of the equations, in the scale of q
  double length() const { return length_; }        // of the last step of the impulses
  const Eigen::VectorXd& impulses() const { return r_; }

  /// Block products of one factorisation; infinite when the problem is too large for any.
  double work() const { return work_; }

 private:
  using Vector = Eigen::Matrix<double, D, 1>;
  using Block = Eigen::Matrix<double, D, D>;
  using Tangent = Eigen::Matrix<double, D - 1, 1>;
  struct Contact {
    double mu{0.0};
    Vector r, dr, u;
    double y{0.0}, dy{0.0};
    double lambda{0.0}, dlambda{0.0};
    double a{0.0}, xi{0.0}, dxi{0.0};
    Tangent b;
    double target_n{0.0}, target_t{0.0};  // what the two products are to become
    bool slides() const { return mu > 0.0; }
  };
  double energy();
  double creep() const;
  void measure();
  Block diagonal_part(const Contact& contact) const;
  Vector right_side(const Contact& contact) const;
  bool factor_and_solve();
  void solve_again();
  void recover();
  double predicted_gap() const;
  double impulse_reach() const;
  double speed_reach() const;
  void keep_products_near();

  problem::LocalProblem problem_;
  std::vector<double> rho_;
  std::vector<Contact> contacts_;
  std::vector<int> all_;  // 0, 1, ...
  BlockLu<D> lu_;
  Eigen::VectorXd r_, u_;
  double alpha_{0.0};  // of the proximal term
  Eigen::VectorXd centre_;
  double gap_{0.0};
  double defect_{0.0};
  double scale_{1.0};
  double length_{1.0};
  double work_{0.0};
};

extern template class InteriorPoint<2>;
extern template class InteriorPoint<3>;

}  // namespace ricochet::solve
