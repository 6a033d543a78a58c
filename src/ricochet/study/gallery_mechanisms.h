#pragma once

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// Systems with changing masses, joints, moving walls and many contacts, against closed forms and
/// independent computations, and the [expect] tables of their scenes.
Exhibit show_mechanisms(const Runner& runner);

/// Tubes with loose supports [Paoli 2001, par. 3c], a string over an obstacle and a bar that
/// strikes a wall, against closed forms; the strong case by its statistics at two steps.
Exhibit show_structures(const Runner& runner);

}  // namespace ricochet::study
