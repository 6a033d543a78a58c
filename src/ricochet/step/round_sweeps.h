#pragma once

#include <Eigen/Core>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/body/rows.h"

namespace ricochet::step {

/// Velocity of what is at n from the centre of a body that turns.
[[gnu::always_inline]] inline body::Vec<2> turned(double spin, const body::Vec<2>& n) {
  return spin * body::Vec<2>(-n[1], n[0]);
}
[[gnu::always_inline]] inline body::Vec<3> turned(const body::Vec<3>& spin, const body::Vec<3>& n) {
  return spin.cross(n);
}

/// Block Gauss-Seidel for discs and spheres, by bodies: a row reads and changes what impulses do to
/// the velocities of its two bodies, and W is never formed.
///
/// Where both arms lie along n and all moments of inertia are equal, W_ii is w_N along n and w_T
/// across it, so that a row alone has a closed form: with z = r - u / w, r_N = max(0, z_N), and
/// r_T = z_T, shortened to mu r_N where it is longer. Vectors are those of space, without tangents.
///
/// Rows that stick may go far beyond their own solution: sticking rows alone are a symmetric
/// problem, for which that converges fast. Coulomb's law is not associated, and rows that slip so
/// far would lead others astray for ever: they stay near their own solution.
///
/// Errors die out locally first: a sweep over all rows notes those that it changed by more than
/// asked, and the sweeps that follow go over these alone.
///
/// Where sweeps go round in circles, a few rows do: Newton's method then solves those around one of
/// them, the others held (round_part.cpp).
///
/// Many rows are swept in groups: space is cut into slabs across one axis, each row is within a
/// slab or between two neighbours. Groups of one phase share no free body: first all
/// slabs, then every other border, then those between, then rows that reach farther. So groups of a
/// phase may be swept at once, on any number of threads, and give the same digits: how many there
/// are depends on the number of rows alone.
///
/// Sweeps of many rows wait for memory rather than for arithmetic: what a sweep changes is stored
/// apart from what it only reads, bodies are numbered slab by slab, and rows are asked for ahead.
template <int D>
class RoundSweeps {
 public:
  RoundSweeps();
  ~RoundSweeps();

  /// What is posed: rows, and by row D numbers (n, t) of free velocity and impulse.
  struct Problem {
    const body::World<D>& world;
    std::span<const body::Row<D>> rows;
    std::span<const int> members;  // those that belong together
    const Eigen::VectorXd& free;
    const std::vector<double>& friction;
    const std::vector<double>& noise;                     // what rounding makes of velocities
    const std::vector<body::Motion<D>>* places{nullptr};  // by body; none: one group
    const base::Executor* executor{nullptr};              // threads; none: one
    const body::Vec<D>* load{nullptr};                    // along which all are pulled, if known
  };

  /// Takes impulses as a start; false where a row is not one of discs or spheres, and fixed ground.
  bool take(const Problem& problem, const Eigen::VectorXd& impulses);
  /// How far rows go, above 1 beyond their own solution: those that stick, and those that slip.
  struct Pace {
    double stick{1.0};
    double slip{1.0};
    bool is_lifted{
        false};  // of the associated law with the lifts that there are, as far as `stick`
  };
  /// One sweep over all rows. Notes those that change their velocity by more than `quiet` [m/s].
  void sweep(const Pace& pace, double quiet);
  /// One sweep over the rows that were noted.
  void sweep_noted(const Pace& pace);
  /// Takes lifts mu |u_T| from the velocities that there are: with lifts held, the law is that of a
  /// convex problem, which any sweep of a pace below 2 brings nearer to its end.
  void lift();
  /// Lifts go a part of their way to mu |u_T|.
  void lift_on(double part);
  /// Newton's method on the rows nearest to one contact, from one body to the next, `most` of them
  /// or a few more, the impulses of the others held. Whether they obey the law then; where they do
  /// not, what was found comes nearer to it as a rule, and is kept.
  bool solve_around(std::size_t contact, std::size_t most);
  /// The contacts that were solved last in this way, ascending.
  std::span<const int> solved() const;
  /// Measures all rows: the largest creep speed, and what else decides.
  struct Size {
    double creep{0.0};     // delta, less rounding [m/s]
    double distance{0.0};  // max |r - P_K(r - rho û)|, less rounding [N s]
    double squares{0.0};   // sum of delta^2
    double free{0.0};      // sum of |û|^2 without impulses
    double impulse{0.0};   // max |r|, or rho |û| without impulses
  };
  Size measure();
  /// One contact: its row, creep speed less rounding, and normal velocity.
  struct Seen {
    int row{0};
    double creep{0.0};
    double normal{0.0};
  };
  std::size_t count() const { return row_.size(); }
  int row(std::size_t contact) const { return row_[contact]; }
  Seen seen(std::size_t contact) const;
  /// The impulses, by row as they were taken.
  void give(const Problem& problem, Eigen::VectorXd& impulses) const;
  /// Groups that rows were taken in.
  int groups() const { return static_cast<int>(groups_.size()); }

 private:
  using Vec = body::Vec<D>;
  using Spin = body::Spin<D>;
  using Block = Eigen::Matrix<double, D, D>;
  struct Part;  // rows around one, and their problem with the others held
  static constexpr std::size_t kBins = 1024;
  struct alignas(32) Contact {  // what sweeps do not change
    Vec n;
    Vec free;
    double arm_a;
    double arm_b;  // along n
    double inverse_n;
    double inverse_t;
    double mu;
    int a;  // in speeds_
    int b;
  };
  struct alignas(D == 3 ? 32 : 16) Impulse {  // on a
    Vec tangential;                           // across n
    double normal;                            // and along it
  };
  struct Ends {  // of a row: numbers of free bodies in bodies_, kNone of others
    int a;
    int b;
  };
  struct alignas(64) Speed {  // what impulses do to a body: as long as a line of a cache
    Vec v = Vec::Zero();
    Spin spin = body::Motion<D>{}.spin;
    double per_mass{0.0};
    double per_inertia{0.0};
  };
  struct Group {
    std::size_t begin{0};  // contacts
    std::size_t end{0};
    std::size_t noted{0};  // how many of them
    bool is_round{true};
    Size size{};
  };
  struct Phase {
    std::size_t first{0};  // group
    std::size_t count{0};
  };
  [[gnu::always_inline]] static Vec velocity(const Contact& one, const Speed& a, const Speed& b);
  [[gnu::always_inline]] static void give_both(const Contact& one, double normal,
                                               const Vec& tangential, Speed& a, Speed& b);
  [[gnu::always_inline]] static double put(const Contact& one, double normal, const Vec& tangential,
                                           Impulse& r, Speed& a, Speed& b);
  [[gnu::always_inline]] double relax(std::size_t contact, const Pace& pace);
  double relax_lifted(std::size_t contact, double pace);
  double lift_of(std::size_t contact) const;
  [[gnu::always_inline]] void ask_for(std::size_t contact) const;
  [[gnu::always_inline]] void ask_for_bodies(std::size_t contact) const;
  Vec impulse_of(std::size_t k) const {
    return impulses_[k].normal * contacts_[k].n + impulses_[k].tangential;
  }
  template <class Work>
  void in_phases(std::size_t rows, const Work& work) const;
  bool list_bodies(const Problem& problem);
  int number_of(const Problem& problem, int body);
  void split(const Problem& problem);
  bool cut(std::size_t slabs);
  void find_bins(const Problem& problem);
  static std::size_t group_of(int low, int high, std::size_t slabs);
  void order_by_slab(std::size_t slabs);
  void prepare(const Problem& problem);
  bool add(const Problem& problem, std::size_t place, int row, const Vec& impulse);
  void take_group(std::size_t group, const Problem& problem, const Eigen::VectorXd& impulses);
  void act(std::size_t group);
  void sweep_group(std::size_t group, const Pace& pace, double quiet);
  void sweep_noted(std::size_t group, const Pace& pace);
  void measure_group(std::size_t group, Size& size) const;
  void forget_beside();
  void list_beside();
  void choose_around(std::size_t contact, std::size_t most);
  void pose_part();
  void pose_row(std::size_t local);
  Block block(std::size_t one, std::size_t other) const;
  void take_part();

  std::vector<Contact> contacts_;  // and some more, for what is asked for ahead
  std::vector<Impulse> impulses_;  // by contact, as many
  std::vector<int> row_;           // by contact
  std::vector<double> noise_;
  std::vector<double> lift_;   // mu |u_T| as it was, where sweeps hold it
  std::vector<Speed> speeds_;  // by slab and body, then one a group for bodies that are not free
  std::vector<int> noted_;     // contacts, those of a group from its begin on
  std::vector<Group> groups_;
  std::vector<Phase> phases_;
  std::vector<int> number_;          // by body of the world: in bodies_, kNone, kUnknown
  std::vector<int> bodies_;          // free bodies of the rows taken, as rows name them
  std::vector<int> fixed_;           // the others
  std::vector<Ends> ends_;           // by row as taken
  std::vector<int> bins_;            // by free body: where it is along the axis that is cut
  std::vector<int> slab_;            // and in which slab
  std::vector<int> place_;           // and in speeds_
  std::array<int, kBins> in_bin_{};  // ends of rows, by bin
  std::vector<int> group_;           // by row as taken
  std::vector<int> members_;         // rows as taken, by group
  std::unique_ptr<Part> part_;       // made where it is needed
  const base::Executor* executor_{nullptr};
};

/// u = q + what impulses make of it.
template <int D>
[[gnu::always_inline]] inline body::Vec<D> RoundSweeps<D>::velocity(const Contact& one,
                                                                    const Speed& a,
                                                                    const Speed& b) {
  const Spin turning = one.arm_a * a.spin - one.arm_b * b.spin;
  return one.free + (a.v - b.v) + turned(turning, one.n);
}

/// v += r/m, spin += arm n x r / I, and the opposite of b.
template <int D>
[[gnu::always_inline]] inline void RoundSweeps<D>::give_both(const Contact& one, double normal,
                                                             const Vec& tangential, Speed& a,
                                                             Speed& b) {
  const Vec r = normal * one.n + tangential;
  const Spin turning = body::moment(one.n, tangential);
  a.v += a.per_mass * r;
  b.v -= b.per_mass * r;
  a.spin += (one.arm_a * a.per_inertia) * turning;
  b.spin -= (one.arm_b * b.per_inertia) * turning;
}

extern template class RoundSweeps<2>;
extern template class RoundSweeps<3>;

}  // namespace ricochet::step
