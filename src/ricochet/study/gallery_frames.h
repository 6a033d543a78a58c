#pragma once

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// Shapes on formulas: the same motions as those of scenes whose contacts are formulas.
Exhibit show_frames(const Runner& runner);

}  // namespace ricochet::study
