#pragma once

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// Systems with changing masses, joints, moving walls and many contacts, against closed forms and
/// independent computations, and the [expect] tables of their scenes.
Exhibit show_mechanisms(const Runner& runner);

}  // namespace ricochet::study
