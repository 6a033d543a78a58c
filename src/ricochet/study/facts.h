#pragma once

#include <map>
#include <string>
#include <vector>

#include "ricochet/record/summary.h"
#include "ricochet/study/motion.h"

namespace ricochet::study {

using Fact = record::StatedFact;

/// The [expect] table of a scene, evaluated on its run.
std::vector<Fact> check_expectations(const Motion& motion);

/// Expectations of names with these values; `names` in the order in which families count.
std::vector<Fact> judge_expectations(const std::vector<scene::Expectation>& expectations,
                                     const std::map<std::string, double>& values,
                                     const std::vector<std::string>& names);

}  // namespace ricochet::study
