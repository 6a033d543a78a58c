#pragma once

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// Objects on vibrating tables, plates 11 to 13.                 [Moreau 1986, essai 9]
Exhibit show_essai9(const Runner& runner);

/// A body drawn along a wall, plates 14 to 16 and the two couples told of in the text.
///                                                               [Moreau 1986, essai 10]
Exhibit show_essai10(const Runner& runner);

/// Incline, belt, disc, brick, SDND100 and Painleve's rod, against closed forms.
Exhibit show_friction(const Runner& runner);

/// Shocks with friction in one step and followed in impulse time: where the two differ.
Exhibit show_shock_laws(const Runner& runner);

}  // namespace ricochet::study
