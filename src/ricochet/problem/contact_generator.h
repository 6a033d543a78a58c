#pragma once

#include <cstdint>

#include "ricochet/problem/contact.h"

namespace ricochet::problem {

enum class SampleKind {
  Packing,   // balls (discs) on a shaken lattice in a box, falling; those that overlap touch
  Crowded,   // the same with nearly all neighbours touching: columns about to buckle, hard
  Tower,     // boxes on top of each other, a contact at each corner: W of low rank
  Repeated,  // a packing in which every contact is there twice
  Wedge,     // balls, each falling between two walls that are nearly parallel: huge impulses
  Jammed,    // the same with walls that close in: with enough friction there is no solution
};

/// What problem to make. The same numbers make the same problem on every machine.
struct ContactSample {
  SampleKind kind{SampleKind::Packing};
  int dim{3};
  int bodies{20};
  double mu_low{0.5};  // coefficients of friction are uniform between these
  double mu_high{0.5};
  double mass_ratio{1.0};  // masses are spread evenly over the powers of ten from 1 to this
  double agitation{1.0};   // random velocities, against 1 for what gravity gives in the step
  std::uint64_t seed{1};
};

/// One step of rigid bodies as a contact problem in the global form.
ContactProblem generate_contacts(const ContactSample& sample);

/// The same problem with W by its blocks.
ContactProblem in_blocks(const ContactProblem& problem);

}  // namespace ricochet::problem
