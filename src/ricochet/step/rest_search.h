#pragma once

#include <Eigen/Core>
#include <atomic>
#include <span>
#include <vector>

#include "ricochet/body/rows.h"
#include "ricochet/solve/block_lu.h"

namespace ricochet::step {

/// Impulses that hold bodies at rest, or the proof that there are none. Rest is possible where some
/// r in the friction cones has M u' + G^T r = 0, u' the velocities without impulses. That is a
/// convex question, whatever Coulomb's law:
///
///     min 1/2 |u' + M^-1 G^T r|_M^2   over r in K ,
///
/// with rest where the minimum is 0. By proximal points [Rockafellar 1976]: with sigma = rho / eps
/// each round minimises the function
///
///     phi(v) = 1/2 |v - u'|_M^2 + sum |P_K(r - sigma G v)|^2 / (2 sigma) ,
///
/// of body velocities, which is convex and once differentiable, by a semismooth Newton method, and
/// goes on from r := P_K(r - sigma G v). In the plane cones have flat sides and rounds are few.
/// Newton's matrix M + G^T sigma P_K' G has a block for each pair of bodies that touch: it is
/// factored where that is cheap, else conjugate gradients use it without forming it.
///
/// A velocity v with G v in K* and M u' . v > 0 proves that there is no rest.
///
/// Bodies that move whatever the others do, as spheres that roll, may be left out: others are then
/// held beside the impulses that those give them.
template <int D>
class RestSearch {
 public:
  static constexpr int N = D + body::kSpins<D>;
  using Arm = Eigen::Matrix<double, D, N>;
  /// What is posed. Rows and bodies are those of the world; bodies that are not free do not move.
  struct Problem {
    const body::World<D>& world;
    std::span<const body::Row<D>> rows;
    std::span<const int> members;              // rows that belong together
    const std::vector<Arm>& arms;              // G of a and b, two a row; 0 of bodies not free
    const std::vector<body::Ease<D>>& ease;    // by body
    const std::vector<body::Motion<D>>& free;  // by body: u'
    const Eigen::VectorXd& q;                  // D a row: G u', and what its gap leaves open
    const std::vector<double>& friction;
    const std::vector<double>& noise;         // what rounding makes of velocities
    double h{0.0};                            // length of the step
    const std::vector<char>* moves{nullptr};  // by body: it is left out; none: nobody is
    bool is_left_out(int row) const {
      return moves != nullptr && ((*moves)[static_cast<std::size_t>(rows_body(row, true))] != 0 ||
                                  (*moves)[static_cast<std::size_t>(rows_body(row, false))] != 0);
    }
    int rows_body(int row, bool of_a) const {
      const body::Row<D>& its = rows[static_cast<std::size_t>(row)];
      return of_a ? its.body_a : its.body_b;
    }
  };
  enum class Answer : char {
    Found,       // impulses are those of rest
    Impossible,  // proved, to the digits that velocities have
    Open,        // not asked, or not found in time
  };

  /// Begins with the impulses given, D a row, and leaves them where rest is not found. Those of
  /// rows of bodies that are left out are given.
  Answer look(const Problem& problem, Eigen::VectorXd& impulses, const std::atomic<bool>* stop);

  /// Whether the impulses given are those of rest.
  bool holds(const Problem& problem, const Eigen::VectorXd& impulses);

  /// Where rest is impossible: who moves in the proof, at more than a part of its largest speed.
  void list_moving(double part, std::vector<int>& bodies) const;

  long long newton_steps() const { return newton_steps_; }  // of the last search
  long long products() const { return products_; }          // with Newton's matrix

 private:
  using Vector = Eigen::Matrix<double, D, 1>;
  using Block = Eigen::Matrix<double, D, D>;
  using Speed = Eigen::Matrix<double, N, 1>;
  using Mass = Eigen::Matrix<double, N, N>;
  struct Contact {
    Arm a, b;
    Block slope;      // sigma P_K'
    Vector start, r;  // impulse of the round before; of v
    double mu{0.0};
    double rho{0.0};  // impulse per velocity of the row alone
    double sigma{0.0};
    int body_a{-1};  // in bodies_; -1: not free
    int body_b{-1};
    int row{0};
  };
  struct Held {  // a free body
    Mass mass = Mass::Zero();
    Mass inverse = Mass::Zero();
    Mass near = Mass::Zero();  // of Newton's matrix: its own block, inverted
    Speed free = Speed::Zero();
    int body{0};
  };
  bool take(const Problem& problem, const Eigen::VectorXd& impulses);
  int number_of(const Problem& problem, int body);
  bool add(const Problem& problem, int row, const Eigen::VectorXd& impulses);
  void add_load(const Problem& problem, int row, const Eigen::VectorXd& impulses);
  void set_steps(double eps);
  double evaluate(const std::vector<Speed>& v);
  double size_of(const std::vector<Speed>& f) const;
  double remains() const;
  bool all_rest() const;
  bool is_in_time() const;
  bool minimise(double enough, const std::atomic<bool>* stop);
  bool search_line();
  void find_slopes();
  void list_neighbours();
  bool solve_by_factors();
  void solve_by_gradients();
  void precondition(const std::vector<Speed>& f, std::vector<Speed>& out) const;
  void multiply(const std::vector<Speed>& x, std::vector<Speed>& out) const;
  bool is_impossible() const;

  std::vector<Contact> contacts_;
  std::vector<Held> bodies_;
  std::vector<int> number_;  // by body of the world: in bodies_, -1
  std::vector<Speed> v_, trial_, gradient_, way_, rest_, step_, conjugate_, image_, left_;
  std::vector<int> beside_start_;  // by body: its contacts in beside_
  std::vector<int> beside_;
  std::vector<int> start_, column_;  // the pattern of Newton's matrix
  std::vector<int> all_;             // 0, 1, ...
  solve::BlockLu<N> lu_;
  bool is_factored_{false};  // not by conjugate gradients
  bool is_off_{false};       // an impulse that was taken lies outside its cone, or its row is open
  double free_size_{0.0};    // |u'|_M
  long long newton_steps_{0};
  long long products_{0};
};

extern template class RestSearch<2>;
extern template class RestSearch<3>;

}  // namespace ricochet::step
