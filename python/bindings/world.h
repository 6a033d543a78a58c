#pragma once

#include <string>
#include <vector>

#include "bindings.h"
#include "ricochet/study/motion.h"

namespace ricochet::python {

/// Of every body of a scene a dictionary: name, kind, in_rows, mass, and the place at the start. Of
/// other scenes nothing.
py::list bodies_of(const scene::Scene& scene);

/// Of every joint a dictionary: name, kind, between, on (a point of each of the two bodies, from
/// its mass centre) and watch, the name of what watches it; empty: nothing does.
py::list joints_of(const scene::Scene& scene);

/// Writes the series that [write] asks for. Gives the names of the files.
std::vector<std::string> write_series_into(const std::string& folder, const study::Motion& motion);

}  // namespace ricochet::python
