#pragma once

#include <vector>

#include "ricochet/record/summary.h"
#include "ricochet/study/motion.h"

namespace ricochet::study {

using Fact = record::StatedFact;

/// The [expect] table of a scene, evaluated on its run.
std::vector<Fact> check_expectations(const Motion& motion);

}  // namespace ricochet::study
