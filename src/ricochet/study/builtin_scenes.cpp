#include "ricochet/study/builtin_scenes.h"

#include <fmt/format.h>

#include <optional>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::study {

const std::string& builtin_scene(const std::string& name) {
  std::vector<std::string> known;
  for (const BuiltinScene& scene : builtin_scenes()) {
    if (scene.name == name) return scene.text;
    known.push_back(scene.name);
  }
  const std::optional<std::string> near = base::nearest_name(name, known);
  throw base::InputError(
      "", fmt::format("there is no built-in scene '{}'", name),
      fmt::format("{}known: {}", near ? fmt::format("did you mean '{}'? ", *near) : "",
                  base::list_names(known, 40)));
}

}  // namespace ricochet::study
