#pragma once

#include <nlohmann/json.hpp>

#include "ricochet/record/summary.h"

namespace ricochet::record {

/// The summary of a run as JSON, from which that of a family takes its parts.
nlohmann::ordered_json json_of(const Summary& summary);

}  // namespace ricochet::record
