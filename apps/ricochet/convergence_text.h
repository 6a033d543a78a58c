#pragma once

#include <string>

#include "ricochet/study/compare.h"
#include "ricochet/study/converge.h"

namespace ricochet::app {

/// Tables of at most 80 columns, with what must be known to read them.
std::string describe_convergence(const study::Convergence& found, const scene::Scene& scene);
std::string describe_comparison(const study::Comparison& found);

/// Their pictures; empty when there is nothing to show.
std::string draw_convergence(const study::Convergence& found, const scene::Scene& scene);
std::string draw_comparison(const study::Comparison& found);

}  // namespace ricochet::app
