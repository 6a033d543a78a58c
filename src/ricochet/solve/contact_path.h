#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/convex/pivoted.h"
#include "ricochet/problem/contact.h"
#include "ricochet/solve/block_lu.h"

namespace ricochet::solve {

/// Contacts in the plane, exactly, from impulses that are nearly right or not.
///
/// With z = r - rho u the law is r = P(z), P_N = max(0, z_N), P_T = z_T cut to [-mu P_N, mu P_N],
/// and what is asked is
///
///     F(z) = W P(z) + q - (P(z) - z) / rho = 0,
///
/// linear in each of the four pieces of every contact (open, stick, slip to either side). The path
/// F(z) = tau F(z_0), tau from 1 to 0, is followed from piece to piece, each entered through the
/// contact that ends the one before; where it turns, tau grows for a while [Katzenelson 1965]. So
/// impulses of rows that depend on each other are led to where one of them opens or slips, which
/// Newton's method finds by chance only. W + alpha / rho stands for W, with its centre at the start
/// of each path, as in ContactNewton.
///
/// A piece differs from the one that was factored by a few contacts: their columns are kept and a
/// small system does the rest, until there are many.
///
/// Paths of Coulomb's law may wind. Those of the associated law, with s = mu |u_T| held in u_N + s
/// and P the nearest point of the cone, never turn, W being symmetric and not negative; `approach`
/// solves for s by such rounds [Haslinger 1983], which end near a solution.
class ContactPath {
 public:
  /// The problem must outlive this; its numbers and size may change. W is symmetric.
  explicit ContactPath(const problem::LocalProblem& problem) : problem_(problem) {}

  /// r becomes the end of the path. False when it has none within so many pieces, or W cannot be
  /// factored; r is then as it was.
  bool follow(Eigen::VectorXd& r, int most_pieces);
  /// One round of the associated law, s taken from r. False as above.
  bool approach(Eigen::VectorXd& r, int most_pieces);
  int pieces() const { return pieces_; }  // of all paths so far

 private:
  using Vector = Eigen::Vector2d;
  using Block = Eigen::Matrix2d;
  enum Mode : char { Open, Stick, SlipUp, SlipDown };
  // Zeros of z_T - mu z_N and -z_T - mu z_N, where stick ends, and of z_N + c z_T and z_N - c z_T,
  // where slip does; c = 0 of Coulomb's law, mu of the associated one.
  enum Edge { Up, Down, ShutUp, ShutDown };
  struct Crossing {
    int contact{-1};
    Edge edge{Up};
    double side{0.0};  // the sign of its function beyond
    double way{0.0};
  };
  Mode mode_of(int i) const;
  Vector impulse_of(int i) const;
  Block slope(int i, Mode mode) const;
  double edge_value(int i, Edge edge, const Eigen::VectorXd& at) const;
  double side_inside(int i, Edge edge) const;
  Mode beyond(int i, Edge edge) const;
  double tilt(int i) const {
    return is_associated_ ? problem_.mu[static_cast<std::size_t>(i)] : 0.0;
  }
  void begin(const Eigen::VectorXd& r, bool is_associated);
  double prepare();
  void measure();
  bool trace(int most_pieces);
  bool factor();
  bool add_column(int i);
  void add_inverse();
  bool find_direction();
  Crossing next_crossing(double sign, const Crossing& last) const;

  problem::LocalProblem problem_;
  BlockLu<2> lu_;
  std::vector<int> all_;
  std::vector<double> rho_;
  std::vector<Mode> modes_;
  std::vector<Mode> factored_;  // modes of the factor
  std::vector<int> slot_;       // by contact: its columns, -1 none
  std::vector<int> changed_;    // contacts with columns
  Eigen::VectorXd z_;
  Eigen::VectorXd r_;
  Eigen::VectorXd centre_;
  Eigen::VectorXd free_;     // q, and s along the normal
  Eigen::VectorXd f_;        // F at z
  Eigen::VectorXd start_;    // F(z_0)
  Eigen::VectorXd base_;     // of the factored piece alone
  Eigen::VectorXd way_;      // the direction
  Eigen::MatrixXd columns_;  // of the inverse of the factor, two a slot
  Eigen::MatrixXd small_;
  convex::PivotedQr small_factor_;
  Eigen::VectorXd share_;
  std::vector<Block> column_;  // one of W - 1/rho, by row
  double scale_{0.0};
  bool is_associated_{false};
  int pieces_{0};
};

}  // namespace ricochet::solve
