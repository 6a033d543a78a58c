#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "ricochet/scene/scene.h"

namespace ricochet::app {

/// Reads the file that the arguments name into their text; - is the standard input. Throws
/// base::InputError.
void read_text(SceneArguments& arguments);

/// The scene of the text, with what the arguments change. Throws base::InputError.
scene::Scene read_scene(const SceneArguments& arguments);

/// The same arguments with a step, where neither they nor the scene state one.
SceneArguments with_step(SceneArguments arguments, const std::string& step);

/// What the arguments change in the scene, in the order in which it is done.
std::vector<scene::Override> changes_of(const SceneArguments& arguments);

/// The options that change the scene, for a sentence: "--step, --set"; empty when none does.
std::string changing_options(const SceneArguments& arguments);

}  // namespace ricochet::app
