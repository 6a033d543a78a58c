#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/convex/section.h"

namespace ricochet::solve {

/// A shock of one contact in the plane followed through its own duration, the configuration at
/// rest, with the normal impulse for time: dU = W (1, rho) dR_N, rho by Coulomb's law of the slip
/// at that moment, through compression (U_N < 0) and, with restitution, expansion.
///                                  [Darboux 1880; Peres 1953; discussed in Moreau 1986, par. 11]
///
/// A comparator for the law in one step, which takes Coulomb's law of the slip at the end. The two
/// agree while the slip keeps its sense; they differ when it stops or turns during the shock.
struct ImpulseTime {
  enum class Phase { Forward, Stick, Backward };

  Eigen::Vector2d velocity{Eigen::Vector2d::Zero()};  // U after, (N, T)
  Eigen::Vector2d impulse{Eigen::Vector2d::Zero()};   // R, (N, T)
  std::vector<Phase> phases;
  double compression{0.0};  // work of the normal impulse while U_N < 0
  double expansion{0.0};    // and after
  bool ended{true};         // false: W does not let the shock end, as for W singular
};

/// What e compares at the ends of the two parts of a shock. They agree where the slip keeps its
/// sense.
enum class Restitution {
  Newton,   // U_N = -e U_N(before): may create energy with friction           [Kane 1985]
  Poisson,  // the normal impulse of the expansion is e times that of the compression
  Stronge,  // its work is -e^2 times that of the compression: never gains     [Stronge 1990]
};

/// W symmetric positive definite, U before the shock with U_N < 0, D = [low, high], e in [0, 1].
ImpulseTime follow_shock(const Eigen::Matrix2d& W, const Eigen::Vector2d& before,
                         const convex::Segment& section, double e = 0.0,
                         Restitution kind = Restitution::Newton);

}  // namespace ricochet::solve
