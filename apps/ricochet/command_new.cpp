#include <fmt/format.h>

#include <filesystem>

#include "commands.h"
#include "ricochet/base/error.h"
#include "ricochet/host/output_file.h"
#include "ricochet/study/builtin_scenes.h"

namespace ricochet::app {
int command_new(const std::string& file) {
  if (std::filesystem::exists(file)) {
    throw base::InputError("", fmt::format("{} exists already", file),
                           "choose another name, or remove it first");
  }
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw base::InputError("", fmt::format("there is no folder {}", folder.string()),
                           "make it first, or choose another place");
  }
  host::write_file(file, study::builtin_scene("new"));
  fmt::print("Wrote {0}. Run it with:  ricochet run {0}\n", file);
  return kFine;
}

}  // namespace ricochet::app
