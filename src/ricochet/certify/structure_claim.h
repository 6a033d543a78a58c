#pragma once

#include <Eigen/Core>

namespace ricochet::certify {

/// What a scheme says of the guides of a structure in one step.
enum class GuideLaw {
  Average,   // (U+ + e U-)/(1 + e) lies between the clearances       [Paoli 2001 (3.12)]
  Midpoint,  // where q + h u/2 touches: 0 <= p, U+ + e U- >= 0        [Moreau 1986, par. 12]
  EndPoint,  // the same where q+ touches                             [Mabrouk 1998 (6)-(9)]
  Spring,    // penalty: pushes inwards where q + h u/2 is beyond, and gives little energy
};

/// Where the forces of a step are taken.
enum class ForceRule {
  Smoothed,  // loads (f- + 2 f + f+)/4 around the middle, K and C at the means
  Middle,    // loads at the middle, K and C at the means
  End,       // loads and K q at the end, C u+; q+ = q + h u
};

/// The claim of one step of a structure: impulses of its guides.
struct StructureClaim {
  GuideLaw law{GuideLaw::Average};
  ForceRule rule{ForceRule::Smoothed};
  double h{0.0};
  double t_mid{0.0};           // the middle of the step
  Eigen::VectorXd normal;      // by guide, positive upwards
  Eigen::VectorXd tangential;  // by guide, along the other plane
};

}  // namespace ricochet::certify
