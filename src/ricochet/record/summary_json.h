#pragma once

#include "ricochet/base/json.h"
#include "ricochet/record/summary.h"

namespace ricochet::record {

/// The summary of a run as JSON, from which that of a family takes its parts.
base::Json json_of(const Summary& summary);

/// Its `structure`, of a run of so many steps.
base::Json json_of(const LineRecord& line, const certify::Certificate& certificate);

}  // namespace ricochet::record
