#include "ricochet/host/scene_file.h"

#include "ricochet/host/input_file.h"

namespace ricochet::host {

std::string read_scene_text(const std::string& file) {
  constexpr std::size_t kLargest = 64U << 20U;
  return read_input(
      file,
      {"name a scene, a .toml file", "check the name, or make a scene with: ricochet new my.toml"},
      kLargest);
}

}  // namespace ricochet::host
