#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/contact.h"
#include "ricochet/solve/block_lu.h"

namespace ricochet::solve {

/// An interior-point method on the cone problem. With x = (mu r_N, r_T) and y = (û_N / mu, u_T),
/// û = u + mu |u_T| n, both in the Lorentz cone L = { |x_T| <= x_N }:
///
///     y - |y_T| n - P^-1 W P^-1 x - P^-1 q = 0,   x o y = m e,   m -> 0,    P = diag(mu, 1, 1),
///
/// by predictor-corrector steps in the scaling of Nesterov and Todd [Nesterov 1997]. |y_T| is what
/// makes the problem unsymmetric and not convex. `coupled`: it is linearised with the rest, so that
/// one run ends at the solution. Otherwise it is a constant s of a convex problem, and who calls
/// starts again with the new s until it settles (the fixed point of [DeSaxce 1998], [Acary 2011]).
///
/// Contacts without friction keep their normal part only. The iterates approach the middle of the
/// set of solutions where there are many, so that the modes of the contacts show clearly.
template <int D>
class InteriorPoint {
 public:
  explicit InteriorPoint(const problem::LocalProblem& problem);

  /// Starts near r, with every contact inside both cones by about `level` times the scale of the
  /// problem (1 from nothing, less near a solution). Constant slip speeds are those of r.
  void start(const Eigen::VectorXd& r, double level, bool coupled);

  /// One predictor-corrector step; false when it could not be made.
  bool step();

  double complementarity() const { return gap_; }  // mean x . y
  double defect() const { return defect_; }        // of the equation, in the scale of the start
  double length() const { return length_; }        // of the last step
  Eigen::VectorXd impulses() const;

 private:
  using Vector = Eigen::Matrix<double, D, 1>;
  using Block = Eigen::Matrix<double, D, D>;
  struct Cone {
    Vector x, y;       // the iterate
    Vector dx, dy;     // the step
    Vector defect;     // of the equation
    Vector centring;   // what complementarity asks of dy + H dx
    Block H;           // W^2 of the scaling
    Block root;        // W
    Block inverse_root;
    Vector lambda;
    Block C;           // derivative of y - |y_T| n
    double slip{0.0};  // s, when constant
  };
  void set_impulses(const Eigen::VectorXd& r);
  void measure();
  void scale(Cone& cone) const;
  bool solve_first();
  void solve_second();
  void take_apart();
  double longest_step() const;
  void set_centring(double target, bool corrected);

  problem::LocalProblem problem_;
  problem::BlockRows W_;  // P^-1 W P^-1
  Eigen::VectorXd q_;     // P^-1 q
  std::vector<double> rho_;
  std::vector<Cone> cones_;
  BlockLu<D> lu_;
  std::vector<int> all_;
  Eigen::VectorXd x_, Wx_;
  bool coupled_{true};
  double gap_{0.0};
  double defect_{0.0};
  double scale_{1.0};
  double length_{0.0};
};

extern template class InteriorPoint<2>;
extern template class InteriorPoint<3>;

}  // namespace ricochet::solve
