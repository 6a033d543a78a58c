#pragma once

#include <Eigen/Core>

#include "ricochet/convex/section.h"

namespace ricochet::convex {

/// An impulse or a velocity at a contact: (normal, tangential, tangential).
using ContactVector = Eigen::Vector3d;

/// The friction cone over a section:  C = { R : R_N >= 0, R_T in R_N D }.   [Moreau 1986 (11.12)]
///
/// Its dual is C* = { V : V_N >= support of D at -V_T }.
struct FrictionCone {
  Section section{Disc{}};

  ContactVector project(const ContactVector& R) const;  // the point of C nearest to R
  bool contains(const ContactVector& R) const;

  /// What must be added to U_N so that the law of friction reads  C* ∋ V ⟂ R ∈ C,  V = U + that n:
  /// the support of D at -U_T, which is mu |U_T| for isotropic friction.      [Saxce 1998]
  double lift(const Tangent& slip) const { return support(section, -slip); }
};

}  // namespace ricochet::convex
