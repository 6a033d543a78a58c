#pragma once

#include <string>
#include <vector>

#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// The schemes that run structures.
enum class StructureScheme {
  Newmark,  // [Paoli 2001 (3.9)-(3.15)]
  Moreau,   // [Moreau 1986, par. 12], stiffness at the mean so that no step is too large
  Mabrouk,  // [Mabrouk 1998 (6)-(9)], explicit in the stiffness
  Penalty,  // guides are springs with dashpots
};

inline constexpr SchemeInfo kNewmark{
    .name = "newmark",
    .meaning = "Newmark's method, positions projected between the clearances",
    .use = "structures",
    .has_friction = true,
    .runs_structures = true};

struct StructureSettings {
  StructureScheme scheme{StructureScheme::Newmark};
  double stiffness{0.0};  // of penalty's springs; 0: such that a contact lasts kContactSteps steps
  static constexpr double kContactSteps = 20.0;
};

std::vector<std::string> structure_scheme_names();
/// A scheme as it runs structures: steps of one length, and none of its settings but a stiffness.
/// Throws base::InputError for a name that is no scheme, or one that structures do not have.
Scheme make_structure_scheme(const std::string& name);
/// What the steps of a structure take from it.
StructureSettings structure_settings(const Scheme& scheme);

}  // namespace ricochet::step
