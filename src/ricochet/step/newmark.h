#pragma once

#include "ricochet/step/structure_step.h"

namespace ricochet::step {

/// Newmark's scheme with the guides of Paoli and Schatzman.           [Paoli 2001 (3.9)-(3.15)]
///
/// The paper's positions U are taken at the middles of our steps, so that what a row tells, q and
/// u, are the mean of two of them and their difference: U+ = q+ + h u+/2, U- = q - h u/2 and
/// U = q + h u/2 = q+ - h u+/2. With F = (G- + 2 G + G+)/4 - K (U+ + 2 U + U-)/4 - C (U+ - U-)/2h
/// the scheme (3.2) is
///
///     A (u+ - u) = h (F' - C u - K U) + G^T p,     A = M + h C/2 + h^2 K/4,
///
/// F' the loads: (3.12) less what both sides share, which keeps digits that a difference of
/// positions would lose. Its energy, at q and u, is balanced exactly.
///
/// Deviations: M need not be the identity and there may be damping; the reaction in (3.12) is
/// p/h, recovered from the balance with the factor 1/4 on the whole sum (misprinted there).
struct NewmarkStages {
  static problem::Report advance(StructureStep& step, const structure::Motion& now, double t_mid,
                                 structure::Motion& next);
};

/// The other schemes on the same structure.
struct StructureStages {
  /// Moreau's step: contacts where the middle touches, u+ + e u complementary to p. Deviation: K
  /// and C act on the means of the step, not at its middle, so that every step is stable.
  ///                                                          [Moreau 1986, par. 12; Jean 1999]
  static problem::Report advance_moreau(StructureStep& step, const structure::Motion& now,
                                        double t_mid, structure::Motion& next);

  /// q+ = q + h u, then the velocity with forces there. Deviation: the run starts with the velocity
  /// given, without the update (7) at the start.                     [Mabrouk 1998 (6)-(9)]
  static problem::Report advance_mabrouk(StructureStep& step, const structure::Motion& now,
                                         double t_mid, structure::Motion& next);

  /// Springs at the guides that the middle of the step has passed, felt at the mean of the step.
  static problem::Report advance_penalty(StructureStep& step, const structure::Motion& now,
                                         double t_mid, structure::Motion& next);

 private:
  static void bound_touching(StructureStep& step);
};

}  // namespace ricochet::step
