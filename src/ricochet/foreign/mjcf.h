#pragma once

#include <functional>
#include <string>

#include "ricochet/foreign/mechanism.h"
#include "ricochet/foreign/source.h"

namespace ricochet::foreign {

/// A model in MJCF. `read_file` gives the texts of files that it includes.
Mechanism read_mjcf(Source& source, const Element& root,
                    const std::function<std::string(const std::string&)>& read_file);

}  // namespace ricochet::foreign
