#pragma once

#include "ricochet/certify/motion.h"
#include "ricochet/step/shared.h"

namespace ricochet::study {

/// A motion of any size, and a model to hold it against.
using FreeMotion = certify::GivenMotion<model::kDynamic, model::kDynamic>;
using step::AnyView;

/// The two motions of a particle at a wall under one smooth force, which no calculation can choose
/// between.                                   [Ballard 2013, par. 2], after Bressan and Schatzman
///
/// The wall is x = 0, and x = -q. At t_n = 1/(n+1) the particle arrives at speed v_n = 1/n!; from
/// t_(n+1) it flies at speed v_(n+1) until a bump of the force, of length d_n and ending at t_n,
/// turns it back. That it arrives asks for d_n = 2 (t_n - t_(n+1)) v_(n+1) / (v_n + v_(n+1)).
/// Deviation: bumps are scaled by their momentum v_n + v_(n+1), since f_n itself overflows at n
/// = 2.
class TwoMotions {
 public:
  /// The bumps n = 0 .. count - 1; before t_count there is nothing.
  explicit TwoMotions(int count);

  FreeMotion rest() const;     // from t_count to 1, x = 0
  FreeMotion bounces() const;  // the same time, leaving at t_count, with count impacts

  static double time(int n) { return 1.0 / (n + 1); }  // t_n
  static double speed(int n);                          // v_n
  double force(double t) const;                        // f >= 0, towards the wall

  /// All bumps n >= first at once, those of which no run could hold: what they add to the motion
  /// before t_first. With first = count both motions, from rest at t = 0, are certified up to these
  /// bounds.
  struct Tail {
    bool balances{false};       // every bump takes the particle from one impact to the next
    bool decreases{false};      // every bound below falls from n to n + 1, whatever n >= first
    double speed{0.0};          // |u| before t_first
    double place{0.0};          // |x|
    std::vector<double> force;  // |d^k f/dt^k| by k: all vanish at t = 0 where bounds decrease
    bool holds() const { return balances && decreases; }
  };
  static Tail tail(int first, int derivatives);

 private:
  struct Bump {
    double begin{0.0};      // t_n - d_n
    double end{0.0};        // t_n
    double before{0.0};     // v_(n+1)
    double after{0.0};      // v_n
    double sharpness{0.0};  // (2/d_n)^2
    double integral{0.0};   // of exp(-sharpness s^2/(1 - s^2)) over (-1, 1)
    double shape(double s) const;
    double reach() const;  // beyond it the shape is nothing
    double place(double t) const { return (2.0 * t - begin - end) / (end - begin); }  // s
  };
  /// Integrals of the shape from -1 to s, once and twice, in parts of the whole.
  struct Share {
    double once{0.0};
    double twice{0.0};
  };
  static Share share(const Bump& bump, double s);
  const Bump& bump_at(double t) const;
  void place(double t, double& x, double& u) const;
  std::vector<double> instants() const;

  std::vector<Bump> bumps_;
};

}  // namespace ricochet::study
