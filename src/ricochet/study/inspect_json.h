#pragma once

#include <string>

#include "ricochet/step/columns.h"
#include "ricochet/study/inspect.h"

namespace ricochet::study {

/// An inspection as JSON, with everything by the names of the scene. Where there is no acceleration
/// (`status` says why) its value is null.
std::string to_json(const Inspection& found, const step::Columns& names);

/// "solved", "infeasible", "degenerate", "singular_mass", ...
std::string name_of(problem::Status status);

}  // namespace ricochet::study
