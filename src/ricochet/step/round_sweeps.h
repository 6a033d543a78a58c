#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "ricochet/body/rows.h"

namespace ricochet::step {

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
template <int D>
class RoundSweeps {
 public:
  /// What is posed: rows, and by row D numbers (n, t) of free velocity and impulse.
  struct Problem {
    const body::World<D>& world;
    std::span<const body::Row<D>> rows;
    std::span<const int> members;  // those that belong together
    const Eigen::VectorXd& free;
    const std::vector<double>& friction;
    const std::vector<double>& noise;  // what rounding makes of velocities
  };

  /// Takes impulses as a start; false where a row is not one of discs or spheres, and fixed ground.
  bool take(const Problem& problem, const Eigen::VectorXd& impulses);
  /// How far rows go, above 1 beyond their own solution: those that stick, and those that slip.
  struct Pace {
    double stick{1.0};
    double slip{1.0};
  };
  /// One sweep over all rows. Notes those that change their velocity by more than `quiet` [m/s].
  void sweep(const Pace& pace, double quiet);
  /// One sweep over the rows that were noted.
  void sweep_noted(const Pace& pace);
  /// Measures all rows: the largest creep speed, and what else decides.
  struct Size {
    double creep{0.0};     // delta, less rounding [m/s]
    double distance{0.0};  // max |r - P_K(r - rho û)|, less rounding [N s]
    double squares{0.0};   // sum of delta^2
    double free{0.0};      // sum of |û|^2 without impulses
    double impulse{0.0};   // max |r|, or rho |û| without impulses
  };
  Size measure() const;
  /// One contact: its row, creep speed less rounding, and normal velocity.
  struct Seen {
    int row{0};
    double creep{0.0};
    double normal{0.0};
  };
  std::size_t count() const { return contacts_.size(); }
  Seen seen(std::size_t contact) const;
  /// The impulses, by row as they were taken.
  void give(const Problem& problem, Eigen::VectorXd& impulses) const;

 private:
  using Vec = body::Vec<D>;
  using Spin = body::Spin<D>;
  struct Contact {
    Vec n;
    Vec free;
    Vec tangential;  // impulse on a, across n
    double normal;   // and along it
    double arm_a;
    double arm_b;  // along n
    double inverse_n;
    double inverse_t;
    double mu;
    int a;
    int b;
    int row;
    Vec impulse() const { return normal * n + tangential; }
  };
  struct Speed {  // what impulses do to a body
    Vec v = Vec::Zero();
    Spin spin = body::Motion<D>{}.spin;
    double per_mass{0.0};
    double per_inertia{0.0};
  };
  static Vec velocity(const Contact& one, const Speed& a, const Speed& b);
  static void give_both(const Contact& one, double normal, const Vec& tangential, Speed& a,
                        Speed& b);
  double relax(Contact& one, const Pace& pace);
  void add(const Problem& problem, int row, const Vec& impulse);
  void act();  // speeds of all impulses

  std::vector<Contact> contacts_;
  std::vector<double> noise_;
  std::vector<Speed> speeds_;  // by body
  std::vector<int> noted_;     // contacts
};

extern template class RoundSweeps<2>;
extern template class RoundSweeps<3>;

}  // namespace ricochet::step
