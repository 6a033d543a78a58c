#include "ricochet/scene/scene_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ricochet/base/error.h"

namespace ricochet::scene {

std::string read_scene_text(const std::string& file) {
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

}  // namespace ricochet::scene
