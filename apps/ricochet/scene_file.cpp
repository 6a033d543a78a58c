#include "scene_file.h"

#include <fmt/format.h>

#include <utility>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/host/scene_file.h"
#include "ricochet/scene/document.h"

namespace ricochet::app {
namespace {

/// The options with a key of [run] of their own.
std::vector<std::pair<std::string, std::string>> own_options(const SceneArguments& arguments) {
  return {{"scheme", arguments.scheme},
          {"step", arguments.step},
          {"until", arguments.until},
          {"steps", arguments.steps}};
}

}  // namespace

std::vector<scene::Override> changes_of(const SceneArguments& arguments) {
  if (!arguments.until.empty() && !arguments.steps.empty()) {
    throw base::InputError("--steps", "is given beside --until", "keep one of the two");
  }
  std::vector<scene::Override> changes;
  for (const std::string& argument : arguments.set) {
    changes.push_back(scene::parse_override(argument));
  }
  for (const auto& [name, value] : own_options(arguments)) {
    if (value.empty()) continue;
    changes.push_back({"run." + name, value, fmt::format("--{} {}", name, value)});
  }
  return changes;
}

std::string changing_options(const SceneArguments& arguments) {
  std::vector<std::string> options;
  for (const auto& [name, value] : own_options(arguments)) {
    if (!value.empty()) options.push_back("--" + name);
  }
  if (!arguments.set.empty()) options.push_back("--set");
  return base::list_names(options);
}

SceneArguments with_step(SceneArguments arguments, const std::string& step) {
  const scene::Document document(arguments.file, arguments.text);
  const scene::Value* run = document.root().find("run");
  const bool has_step = run != nullptr && run->find("step") != nullptr;
  if (!has_step && arguments.step.empty()) arguments.step = step;
  return arguments;
}

void read_text(SceneArguments& arguments) {
  if (arguments.file == "-") arguments.file = "/dev/stdin";
  arguments.text = host::read_scene_text(arguments.file);
}

scene::Scene read_scene(const SceneArguments& arguments) {
  return scene::read_scene(arguments.file, arguments.text, changes_of(arguments));
}

}  // namespace ricochet::app
