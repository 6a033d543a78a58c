#include <fmt/format.h>

#include <filesystem>

#include "commands.h"
#include "number_option.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/foreign/import.h"
#include "ricochet/host/input_file.h"
#include "ricochet/host/output_file.h"
#include "ricochet/scene/scene.h"

namespace ricochet::app {
namespace {

std::string read_model(const std::string& file) {
  constexpr std::size_t kLargest = 64U << 20U;
  return host::read_input(file, {"name a model, a .urdf or .xml file", "check the name"}, kLargest);
}

/// Before anything is done that would be lost.
void check_place(const std::string& out) {
  if (std::filesystem::exists(out)) {
    throw base::InputError("--out", fmt::format("{} exists already", out),
                           "choose another name, or remove it first");
  }
  const std::filesystem::path folder = std::filesystem::path(out).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw base::InputError("--out", fmt::format("there is no folder {}", folder.string()),
                           "make it first, or choose another place");
  }
}

void tell(const ImportArguments& arguments, const foreign::Imported& made) {
  fmt::print(stderr, "{}\n", base::wrapped(made.summary));
  if (!made.notes.empty()) fmt::print(stderr, "Not understood, left out or changed:\n");
  for (const std::string& note : made.notes) {
    fmt::print(stderr, "{}\n", base::wrapped("  " + note));
  }
  if (arguments.out.empty()) return;
  fmt::print("Wrote {0}. Run it with:  ricochet run {0}\n", arguments.out);
}

}  // namespace

/// The scene is read once more as `run` reads it: what it refuses, as bodies that overlap at the
/// start, is told at once. It is written all the same, to be changed by hand.
int command_import(const ImportArguments& arguments) {
  const std::string file = arguments.file == "-" ? "/dev/stdin" : arguments.file;
  if (!arguments.out.empty()) check_place(arguments.out);
  foreign::ImportSettings settings;
  settings.fixed_base = arguments.fixed_base;
  if (!arguments.until.empty()) settings.until = positive_option("--until", arguments.until);
  const std::filesystem::path folder =
      arguments.file == "-" ? std::filesystem::path() : std::filesystem::path(file).parent_path();
  settings.read_file = [&](const std::string& name) {
    return read_model((folder / name).string());
  };
  const foreign::Imported made = foreign::import_model(file, read_model(file), settings);
  if (arguments.out.empty()) {
    fmt::print("{}", made.scene);
  } else {
    host::write_file(arguments.out, made.scene);
  }
  tell(arguments, made);
  const std::string name = arguments.out.empty() ? "scene.toml" : arguments.out;
  try {
    (void)scene::read_scene(name, made.scene);
  } catch (const base::InputError& error) {
    fmt::print(stderr, "The scene cannot be run before it is changed:\n{}\n",
               base::wrapped(error.what()));
    return kBadInput;
  }
  return kFine;
}

}  // namespace ricochet::app
