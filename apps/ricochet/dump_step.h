#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ricochet/scene/scene.h"

namespace ricochet::app {

/// A step whose contacts go to a file.
struct StepDump {
  long long step{0};  // 1: the first
  std::string file;
};

/// What --dump-step asks for; throws base::InputError where the run cannot have such a step.
std::vector<StepDump> read_dumps(const std::vector<std::pair<std::string, std::string>>& given,
                                 const scene::Scene& scene);

/// Runs the scene up to the step, writes what the step poses to its solver, and says so in a line.
/// The step itself may fail: that is when one wants to look at it.
std::string dump_step(const StepDump& dump, const scene::Scene& scene);

}  // namespace ricochet::app
