#pragma once

#include "ricochet/model/formula_model.h"

namespace ricochet::study {

/// Whether every motion is known to exist for all time.               [Ballard 2013, Theorem 2]
enum class Growth {
  AtMostLinear,  // |Q| <= l(t) (1 + |q| + |u|), mass constant: motions do not escape
  NotReadOff,    // the formulas do not show it
};

/// Reads the growth condition off the forces of a model.
Growth growth_of(const model::FormulaModel& model);

}  // namespace ricochet::study
