#pragma once

#include <array>
#include <vector>

#include "ricochet/record/error_bar.h"
#include "ricochet/study/world_trace.h"

namespace ricochet::study {

/// How far the discretisation of a run of bodies may be off, told from two companions with steps
/// longer by sqrt(2) and by 2. The rule is that of study/error_bar.h, of each number by itself,
/// with these deviations: events are those of each body, as its own acceleration tells them, and
/// are not matched; what a change of acceleration leaves to chance is h^2 A; and what never differs
/// from a companion by a thousandth of what chance might make is not left to chance, as the height
/// of what lies. Motions have the size of the body at least, in thousandths.
///
/// `closer` tells besides what shorter steps make of shocks that follow each other; `told` are the
/// bodies whose places and rates are in rows.
record::ErrorBar estimate_world_error(const WorldLayout& layout, const WorldPath& run,
                                      const std::array<WorldPath, 2>& companions,
                                      const CloserCompanion& closer, const std::vector<int>& told);

}  // namespace ricochet::study
