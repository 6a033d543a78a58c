#pragma once

#include <string>

namespace ricochet::host {

/// The text of a scene's file, which may be a pipe: it is read once. Throws base::InputError where
/// it cannot be read.
std::string read_scene_text(const std::string& file);

}  // namespace ricochet::host
