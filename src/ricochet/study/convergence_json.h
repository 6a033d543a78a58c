#pragma once

#include <string>

#include "ricochet/study/compare.h"
#include "ricochet/study/converge.h"

namespace ricochet::study {

/// Version of these texts; a change that breaks readers makes it one more.
inline constexpr int kConvergenceFormat = 1;

std::string to_json(const Convergence& found, const scene::Scene& scene);
std::string to_json(const Comparison& found, const std::string& scene_file);

}  // namespace ricochet::study
