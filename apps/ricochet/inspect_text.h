#pragma once

#include <string>

#include "ricochet/scene/scene.h"
#include "ricochet/study/inspect.h"

namespace ricochet::app {

/// An inspection in words, at most 80 columns.
std::string describe_inspection(const study::Inspection& found, const scene::Scene& scene);

}  // namespace ricochet::app
