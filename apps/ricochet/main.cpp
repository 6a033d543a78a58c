#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "commands.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/base/version.h"
#include "ricochet/record/output_file.h"
#include "ricochet/step/settings.h"

namespace ricochet::app {
namespace {

void add_scene_options(CLI::App& command, SceneArguments& scene) {
  command.add_option("scene", scene.file, "the scene, a TOML file")->required();
  command.add_option("--scheme", scene.scheme,
                     fmt::format("one of {}", base::list_names(step::scheme_names())));
  command.add_option("--step", scene.step, "length of a step");
  command.add_option("--set", scene.set, "name=value; a parameter, or a key as run.step")
      ->allow_extra_args(false);
}

void add_until(CLI::App& command, SceneArguments& scene) {
  command.add_option("--until", scene.until, "end of the run");
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{
      "Ricochet: nonsmooth mechanics.\n"
      "Write the energies and the inequalities; get the motion, with the proof."};
  app.set_version_flag("--version", fmt::format("ricochet {}", base::kVersion));
  app.require_subcommand(1);
  app.get_formatter()->column_width(22);
  app.footer(
      "Start with:  ricochet new my.toml && ricochet run my.toml\n"
      "Exit codes:  0 fine, 1 a certificate or a stated fact failed, 2 bad input,\n"
      "             3 internal, 130 stopped");

  std::string new_file;
  CLI::App* make = app.add_subcommand("new", "write a commented scene to start from");
  make->add_option("file", new_file, "where to write it")->required();

  RunArguments run;
  CLI::App* run_command = app.add_subcommand("run", "run a scene and certify every step");
  add_scene_options(*run_command, run.scene);
  add_until(*run_command, run.scene);
  run_command->add_option("--out", run.out, "folder for the results (out/<scene>)");
  run_command->add_flag("--quiet", run.quiet, "print problems only");

  SceneArguments check;
  CLI::App* check_command =
      app.add_subcommand("check", "read a scene, derive its formulas; run nothing");
  add_scene_options(*check_command, check);
  add_until(*check_command, check);

  InspectArguments inspect;
  CLI::App* inspect_command =
      app.add_subcommand("inspect", "cones, accelerations and reactions at an instant");
  add_scene_options(*inspect_command, inspect.scene);
  inspect_command->add_option("--at", inspect.at, "run until this time first (the start)");
  inspect_command->add_flag("--json", inspect.json, "print JSON");

  GalleryArguments gallery;
  CLI::App* gallery_command =
      app.add_subcommand("gallery", "recompute published experiments; no name: list");
  gallery_command->add_option("name", gallery.name, "one experiment");
  gallery_command->add_flag("--all", gallery.all, "all of them");
  gallery_command->add_option("--out", gallery.out, "folder for the runs (none are kept without)");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kBadInput;
  }
  if (make->parsed()) return command_new(new_file);
  if (run_command->parsed()) return command_run(run);
  if (check_command->parsed()) return command_check(check);
  if (inspect_command->parsed()) return command_inspect(inspect);
  return command_gallery(gallery);
}

}  // namespace
}  // namespace ricochet::app

int main(int argc, char** argv) {
  using namespace ricochet;
  try {
    return app::parse_and_run(argc, argv);
  } catch (const base::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return app::kBadInput;
  } catch (const record::OutputError& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return app::kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}\nremedy: please report it with the scene\n",
               error.what());
    return app::kInternal;
  }
}
