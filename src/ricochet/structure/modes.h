#pragma once

#include <vector>

#include "ricochet/structure/linear_structure.h"

namespace ricochet::structure {

/// The first modes of one plane, lowest first, rigid ones (omega = 0) among them, by subspace
/// iteration with a band factor; Rayleigh quotients are formed from strains, which keeps their
/// digits. Fewer than asked for where the structure has fewer coordinates; none where they could
/// not be found to eight digits.
std::vector<Mode> find_modes(const LinearStructure& structure, int count);

/// The largest omega, to a part in a thousand or so, from below.
double highest_frequency(const LinearStructure& structure);

/// C of the first modes: ratio zeta_k of mode k.
void set_modal_damping(LinearStructure& structure, const std::vector<Mode>& modes,
                       const std::vector<double>& ratios);

}  // namespace ricochet::structure
