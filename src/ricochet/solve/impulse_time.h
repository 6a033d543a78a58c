#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/convex/section.h"
#include "ricochet/problem/restitution.h"

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

using problem::Restitution;

/// W symmetric positive definite, U before the shock with U_N < 0, D = [low, high], e in [0, 1].
ImpulseTime follow_shock(const Eigen::Matrix2d& W, const Eigen::Vector2d& before,
                         const convex::Segment& section, double e = 0.0,
                         Restitution kind = Restitution::Newton);

/// The same of a contact in the plane (the second slip is 0) or in space, (N, T, T). In space the
/// slip turns on its way: with its direction theta and its size s, and dR_N = s dtau for time,
///
///   dtheta/dtau = f(theta),   ds/dtau = s g(theta),   dU_N/dtau = s V_N(theta),
///
/// integrated by the method of Dormand and Prince to 1e-13; where it stops it sticks, if the cone
/// allows, or leaves along the one direction that it then keeps.          [Batlle 1996]
struct FollowedShock {
  Eigen::Vector3d impulse{Eigen::Vector3d::Zero()};
  double compression{0.0};  // work of the normal impulse while U_N < 0
  double expansion{0.0};    // and after
  bool sticks{false};       // at its end
  bool ended{true};
};

/// The section is a segment, a disc or an ellipse.
FollowedShock follow_in_space(const Eigen::Matrix3d& W, const Eigen::Vector3d& before,
                              const convex::Section& section, double e, Restitution kind);

}  // namespace ricochet::solve
