#pragma once

#include <nlohmann/json.hpp>

#include "ricochet/record/summary.h"

namespace ricochet::record {

/// The summary of a run as JSON, from which that of a family takes its parts.
nlohmann::ordered_json json_of(const Summary& summary);

/// Its `structure`, of a run of so many steps.
nlohmann::ordered_json json_of(const LineRecord& line, long long steps);

}  // namespace ricochet::record
