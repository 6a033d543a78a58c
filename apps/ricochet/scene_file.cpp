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

SceneArguments exact_arguments(SceneArguments arguments) {
  const scene::Document document(arguments.file, arguments.text);
  const scene::Value* run = document.root().find("run");
  const auto lacks = [&](const char* key) { return run == nullptr || run->find(key) == nullptr; };
  const scene::Value* stated = run == nullptr ? nullptr : run->find("step");
  const bool has_step = stated != nullptr && stated->kind != scene::Value::Kind::Table;
  if (!has_step && arguments.step.empty()) arguments.step = "1e-3";  // step control is of others
  if (lacks("until") && lacks("steps")) arguments.steps = "1";
  if (arguments.scheme.empty()) {
    for (const step::SchemeInfo* info : step::all_schemes()) {
      if (info->integrator == certify::Integrator::Arcs) arguments.scheme = info->name;
    }
  }
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
