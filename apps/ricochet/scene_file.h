#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "ricochet/scene/scene.h"

namespace ricochet::app {

/// Reads the scene the arguments name, with what they change. Throws base::InputError.
scene::Scene read_scene_file(const SceneArguments& arguments);

/// What the arguments change in the scene, in the order in which it is done.
std::vector<scene::Override> changes_of(const SceneArguments& arguments);

/// The options that change the scene, for a sentence: "--step, --set"; empty when none does.
std::string changing_options(const SceneArguments& arguments);

}  // namespace ricochet::app
