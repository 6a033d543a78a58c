#pragma once

#include <string>
#include <vector>

#include "bindings.h"
#include "callables.h"
#include "ricochet/scene/scene.h"

namespace ricochet::python {

/// A scene that was read, and what changed it.
struct ReadScene {
  scene::Scene scene;
  std::vector<scene::Override> changes;

  bool calls_python() const {
    return scene.formulas() != nullptr && scene.system().outside != nullptr;
  }
};

}  // namespace ricochet::python
