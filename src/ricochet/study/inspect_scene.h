#pragma once

#include <optional>

#include "ricochet/scene/scene.h"
#include "ricochet/study/inspect.h"
#include "ricochet/study/motion.h"

namespace ricochet::study {

/// A scene at an instant. There is no inspection where the run to it failed or was interrupted.
struct SceneInspection {
  step::Outcome reached;  // of the run to the instant; without steps: the start
  std::optional<Inspection> found;
};

/// The run of a scene shortened to an instant; without one: no steps. `option` is what the user
/// wrote, for messages. Throws base::InputError for an instant that no run reaches.
step::RunSettings run_to(std::optional<double> at, step::RunSettings run,
                         const std::string& option);

/// Runs a scene, whose settings are those of `run_to`, to its end and inspects it there. Throws
/// base::InputError where the mass is singular, or the second derivatives outgrow their graph.
SceneInspection inspect_end(const scene::Scene& scene, step::Monitor* monitor);

}  // namespace ricochet::study
