#pragma once

#include <array>
#include <vector>

#include "ricochet/convex/section.h"
#include "ricochet/formula/graph.h"

namespace ricochet::model {

/// What decides the section of a friction cone. The coefficients are taken at the start of a step,
/// where they may depend on the slip; the step stays implicit in the velocity at its end.
enum class FrictionKind : char {
  None,
  Isotropic,      // mu
  StaticDynamic,  // mu static, mu dynamic: static after a step that stuck   [Moreau 1986, par. 12]
  TwoWay,         // mu for slip forward, mu for slip backward: in the plane
  Elliptic,       // mu along each of two directions
  Polygonal,      // corners of the section
};

/// A law of friction in formulas.
struct FrictionLaw {
  FrictionKind kind{FrictionKind::None};
  std::array<formula::NodeId, 2> coefficients{-1, -1};
  std::vector<convex::Tangent> corners;  // counterclockwise
};

/// The tangential side of a contact: what its scene says of slip and friction. Velocities are
/// formulas affine in u. Friction without a contact has no gap but a load: a force that is stated,
/// or the reaction of joints.
struct Slip {
  std::vector<formula::NodeId> velocities;  // none, one (plane) or two (space)
  formula::NodeId normal{-1};               // normal velocity; -1: the gap is a length
  formula::NodeId load{-1};                 // [N] what presses, where there is no contact
  std::vector<int> holds;                   // rows of the joints whose reactions press
  double restitution{0.0};                  // e of U_T, where a contact begins
  FrictionLaw friction;

  bool is_loaded() const { return load >= 0 || !holds.empty(); }
};

/// The section for coefficients at hand, in the plane (one slip) or in space (two).
inline convex::Section section_of(const FrictionLaw& law, int slips, double first, double second,
                                  bool sticks) {
  switch (law.kind) {
    case FrictionKind::TwoWay: return convex::Segment{-first, second};
    case FrictionKind::Elliptic: return convex::Ellipse{first, second};
    case FrictionKind::Polygonal: return convex::Polygon{law.corners};
    case FrictionKind::StaticDynamic:
    case FrictionKind::Isotropic:
    case FrictionKind::None: break;
  }
  const bool dynamic = law.kind == FrictionKind::StaticDynamic && !sticks;
  const double mu = dynamic ? second : first;
  if (slips == 1) return convex::Segment{-mu, mu};
  return convex::Disc{mu};
}

}  // namespace ricochet::model
