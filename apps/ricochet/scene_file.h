#pragma once

#include <vector>

#include "commands.h"
#include "ricochet/scene/scene.h"

namespace ricochet::app {

/// Reads the scene the arguments name, with what they change. Throws base::InputError.
scene::Scene read_scene_file(const SceneArguments& arguments);

/// What the arguments change in the scene, in the order in which it is done.
std::vector<scene::Override> changes_of(const SceneArguments& arguments);

/// Whether the arguments change anything in the scene.
bool changes_scene(const SceneArguments& arguments);

}  // namespace ricochet::app
