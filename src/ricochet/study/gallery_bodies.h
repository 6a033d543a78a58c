#pragma once

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// Rigid bodies against closed forms and limit analysis: what rolls, stands, falls and bounces.
Exhibit show_bodies(const Runner& runner);

}  // namespace ricochet::study
