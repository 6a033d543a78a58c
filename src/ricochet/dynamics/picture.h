#pragma once

#include <string>

#include "ricochet/dynamics/basin.h"
#include "ricochet/dynamics/bifurcate.h"
#include "ricochet/dynamics/invariants.h"
#include "ricochet/dynamics/lyapunov.h"

namespace ricochet::dynamics {

/// Pictures as SVG; empty where there is nothing to show.
std::string draw(const SectionResult& found, const scene::Scene& scene);
std::string draw(const Diagram& found, const scene::Scene& scene);
std::string draw(const Basin& found, const scene::Scene& scene);
std::string draw(const Lyapunov& found, const scene::Scene& scene);
std::string draw(const InvariantTable& found, const scene::Scene& scene);

}  // namespace ricochet::dynamics
