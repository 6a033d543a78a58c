#pragma once

#include <string>

namespace ricochet::scene {

/// The text of a scene's file. Throws base::InputError where it cannot be read. Not in a web build.
std::string read_scene_text(const std::string& file);

}  // namespace ricochet::scene
