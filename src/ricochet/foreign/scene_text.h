#pragma once

#include <string>

#include "ricochet/foreign/import.h"
#include "ricochet/foreign/mechanism.h"
#include "ricochet/foreign/source.h"

namespace ricochet::foreign {

/// The scene of a mechanism, with notes of what it has no words for. `file`: where it is from.
Imported scene_text(Source& source, const Mechanism& mechanism, const std::string& file,
                    double until);

}  // namespace ricochet::foreign
