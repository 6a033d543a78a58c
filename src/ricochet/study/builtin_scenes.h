#pragma once

#include <string>
#include <vector>

namespace ricochet::study {

/// A scene of the folder scenes/, carried in the program.
struct BuiltinScene {
  std::string name;
  std::string text;
};

/// All of them, sorted by name. The definition is generated from the files when building.
const std::vector<BuiltinScene>& builtin_scenes();

/// The text of one; throws base::InputError for an unknown name.
const std::string& builtin_scene(const std::string& name);

}  // namespace ricochet::study
