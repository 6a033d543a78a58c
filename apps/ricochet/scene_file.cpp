#include "scene_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ricochet/base/error.h"

namespace ricochet::app {
namespace {

std::string read_text(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw base::InputError("", fmt::format("{} is a folder", file), "name a scene, a .toml file");
  }
  constexpr std::uintmax_t kLargest = 64U << 20U;
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  if (!ignored && size > kLargest) {
    throw base::InputError("", fmt::format("{} is larger than 64 MB", file),
                           "name a scene, a .toml file");
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream) text << stream.rdbuf();
  if (!stream) {
    throw base::InputError("", fmt::format("cannot read {}: {}", file, std::strerror(errno)),
                           "check the name, or make a scene with: ricochet new my.toml");
  }
  return text.str();
}

}  // namespace

bool changes_scene(const SceneArguments& arguments) {
  return !arguments.scheme.empty() || !arguments.step.empty() || !arguments.until.empty() ||
         !arguments.set.empty();
}

std::vector<scene::Override> changes_of(const SceneArguments& arguments) {
  std::vector<scene::Override> overrides;
  for (const std::string& argument : arguments.set) {
    overrides.push_back(scene::parse_override(argument));
  }
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) overrides.push_back({key, value, fmt::format("{}={}", key, value)});
  };
  add("run.scheme", arguments.scheme);
  add("run.step", arguments.step);
  add("run.until", arguments.until);
  return overrides;
}

scene::Scene read_scene_file(const SceneArguments& arguments) {
  return scene::read_scene(arguments.file, read_text(arguments.file), changes_of(arguments));
}

}  // namespace ricochet::app
