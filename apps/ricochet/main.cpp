#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>

#include "commands.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/base/version.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/ranks.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/step/scheme.h"
#include "scene_file.h"

namespace ricochet::app {
namespace {

/// An option that is given must say something.
std::string refuse_nothing(const std::string& text) {
  return text.empty() ? "needs a value, not an empty string" : "";
}

void add_set(CLI::App& command, SceneArguments& scene) {
  command.add_option("--set", scene.set, "a parameter, or a key as run.step; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void add_scene_options(CLI::App& command, SceneArguments& scene) {
  command.add_option("scene", scene.file, "the scene, a TOML file; - is standard input")
      ->required();
  const auto add = [&](const char* name, std::string& to, const char* type,
                       const std::string& words) {
    command.add_option(name, to, words)->type_name(type)->check(refuse_nothing, "");
  };
  add("--scheme", scene.scheme, "NAME", "another scheme than the scene's; a wrong name lists all");
  add("--step", scene.step, "H", "length of a step");
  add_set(command, scene);
}

/// A first word that is no command, with the command it may be meant to be.
void check_first_word(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  const std::string name = argv[1];
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::optional<std::string> near = base::nearest_name(name, known);
  throw base::InputError(
      "", fmt::format("there is no command '{}'", name),
      fmt::format("{}known: {}; ricochet --help says more",
                  near ? fmt::format("did you mean '{}'? ", *near) : "", base::list_names(known)));
}

/// An option that the command does not have, with the one it may be meant to be.
void refuse_option(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return;
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_subcommand(argv[1])->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (int k = 2; k < argc; ++k) {
    const std::string word = argv[k];
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    const std::optional<std::string> near = base::nearest_name(name, known);
    throw base::InputError(
        "", fmt::format("{} has no option {}", argv[1], name),
        fmt::format("{}known: {}", near ? fmt::format("did you mean {}? ", *near) : "",
                    base::list_names(known, 20)));
  }
}

/// What else is wrong with a command line, in the form of all messages.
[[noreturn]] void refuse_line(const CLI::ParseError& error, int argc, char** argv) {
  const std::string words = error.what();
  const std::string command = argc > 1 && argv[1][0] != '-' ? fmt::format(" {}", argv[1]) : "";
  const std::string remedy = fmt::format("ricochet{} --help says what there is", command);
  constexpr std::string_view kExtra = "The following argument was not expected: ";
  constexpr std::string_view kExtras = "The following arguments were not expected: ";
  for (const std::string_view start : {kExtra, kExtras}) {
    if (!words.starts_with(start)) continue;
    throw base::InputError("", fmt::format("'{}' is too much here", words.substr(start.size())),
                           remedy);
  }
  throw base::InputError("", words == "A subcommand is required" ? "no command is given" : words,
                         remedy);
}

void add_until(CLI::App& command, SceneArguments& scene) {
  command.add_option("--until", scene.until, "end of the run")
      ->type_name("T")
      ->check(refuse_nothing, "");
  command.add_option("--steps", scene.steps, "number of steps, instead of an end")
      ->type_name("N")
      ->check(refuse_nothing, "");
}

using AddOption = std::function<void(const char*, std::string&, const char*, const char*)>;

AddOption option_adder(CLI::App& command) {
  return [&command](const char* name, std::string& to, const char* type, const char* words) {
    command.add_option(name, to, words)->type_name(type)->check(refuse_nothing, "");
  };
}

CLI::App* add_converge(CLI::App& app, ConvergeArguments& converge) {
  CLI::App* command = app.add_subcommand("converge", "measured order, with steps of your choice");
  command->add_option("scene", converge.scene.file, "the scene, a TOML file; - is standard input")
      ->required();
  const AddOption add = option_adder(*command);
  add("--steps", converge.steps, "H1,H2,...", "lengths of steps, at least two");
  command->get_option("--steps")->required();
  add("--scheme", converge.scene.scheme, "NAME", "instead of the scene's");
  add("--until", converge.scene.until, "T", "end of the runs");
  add_set(*command, converge.scene);
  add("--reference", converge.reference, "H",
      "against a run with this step (the motion in\n"
      "[expect], or an eighth of the smallest)");
  add("--window", converge.window, "W", "what is near an impact (4 of the largest steps)");
  add("--out", converge.out, "DIR", "folder for converge.json and converge.svg");
  command->add_flag("--json", converge.json, "print JSON");
  return command;
}

/// Broken between words, for the right column of a help page.
std::string in_lines(std::string text) {
  constexpr std::size_t kWidth = 56;
  std::size_t line = 0;
  while (text.size() - line > kWidth) {
    const std::size_t space = text.rfind(' ', line + kWidth);
    if (space == std::string::npos || space <= line) break;
    text[space] = '\n';
    line = space + 1;
  }
  return text;
}

CLI::App* add_compare(CLI::App& app, CompareArguments& compare) {
  CLI::App* command = app.add_subcommand("compare", "schemes side by side on one scene");
  command->add_option("scene", compare.scene.file, "the scene, a TOML file; - is standard input")
      ->required();
  const AddOption add = option_adder(*command);
  const std::string known = in_lines("of " + base::list_names(step::scheme_names()));
  add("--schemes", compare.schemes, "A,B,...", known.c_str());
  command->get_option("--schemes")->required();
  add("--step", compare.scene.step, "H", "length of a step");
  add("--until", compare.scene.until, "T", "end of the runs");
  add_set(*command, compare.scene);
  add("--reference", compare.reference, "H",
      "against a run with this step (the motion in\n[expect], or a sixteenth)");
  add("--reference-scheme", compare.reference_scheme, "NAME", "of that run (the first that can)");
  add("--window", compare.window, "W", "what is near an impact (10 steps)");
  add("--out", compare.out, "DIR", "folder for compare.json and compare.svg");
  command->add_flag("--json", compare.json, "print JSON");
  return command;
}

/// The studies of attractors, one command each, with one set of arguments.
class DynamicsCommands {
 public:
  explicit DynamicsCommands(CLI::App& app) {
    add(app, "lyapunov", "all exponents, through every impact", command_lyapunov);
    option("--for", arguments_.time, "T", "time over which (until they are known)");
    option("--settle", arguments_.settle, "T", "time before that (200 periods or impacts)");
    last()->add_flag("--json", arguments_.json, "print JSON");
    add(app, "section", "the motion on its [section]", command_section);
    add_counts();
    add(app, "bifurcate", "attractors over a parameter, [sweep]", command_bifurcate);
    add_sweep();
    option("--follow", arguments_.follow, "HOW", "forward, backward, both or fresh (forward)");
    last()->add_flag("--lyapunov", arguments_.lyapunov, "the first exponent too");
    add(app, "invariants", "schemes against the exact attractor", command_invariants);
    option("--schemes", arguments_.schemes, "A,B,...", "which are compared");
    last()->get_option("--schemes")->required();
    option("--steps", arguments_.steps, "H1,H2,...", "lengths of steps");
    option("--per-period", arguments_.per_period, "N1,N2,...", "steps in a period, instead");
    option("--periods", arguments_.periods, "N", "of which each run is made (5000)");
    last()->add_flag("--json", arguments_.json, "print JSON");
    add(app, "basin", "which attractor each of two starts leads to", command_basin);
    add_sweep();
    add(app, "sweep", "run a scene for many values; a row each", command_sweep);
    add_over();
    last()
        ->add_option("--lanes", arguments_.lanes, "runs that go together on a thread (64)")
        ->type_name("N")
        ->check(CLI::Range(1, 64));
  }

  SceneArguments& scene() { return arguments_.scene; }
  /// The exit code of the one that was asked for; nothing when none was.
  std::optional<int> run() const {
    for (const auto& [command, work] : commands_) {
      if (command->parsed()) return work(arguments_);
    }
    return std::nullopt;
  }

 private:
  using Work = int (*)(const DynamicsArguments&);
  CLI::App* last() const { return commands_.back().first; }
  void add(CLI::App& app, const char* name, const char* words, Work work) {
    commands_.emplace_back(app.add_subcommand(name, words), work);
    last()
        ->add_option("scene", arguments_.scene.file, "the scene, a TOML file; - is standard input")
        ->required();
    add_set(*last(), arguments_.scene);
    option("--out", arguments_.out, "DIR", "folder for the results (out/<scene>)");
  }
  void option(const char* name, std::string& to, const char* type, const char* words) {
    option_adder (*last())(name, to, type, words);
  }
  void add_counts() {
    option("--settle", arguments_.settle, "N", "sections let go (300)");
    option("--show", arguments_.show, "N", "sections kept");
  }
  void add_sweep() {
    add_over();
    add_counts();
    option("--seeds", arguments_.seeds, "N", "further starts at each value (0)");
  }
  void add_over() {
    last()
        ->add_option("--over", arguments_.over, "what varies, instead of [sweep.over]")
        ->type_name("A=0.3..1.2:900");
    last()
        ->add_option("--threads", arguments_.threads, "threads (one for each core)")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));
  }

  DynamicsArguments arguments_;
  std::vector<std::pair<CLI::App*, Work>> commands_;
};

CLI::App* add_solve(CLI::App& app, SolveArguments& solve) {
  CLI::App* command = app.add_subcommand("solve", "solve contact problems stored in files");
  command->add_option("problem", solve.files, "FCLIB HDF5, Siconos text or npz")->required();
  const auto add = [&](const char* name, std::string& to, const char* type, const char* words) {
    command->add_option(name, to, words)->type_name(type)->check(refuse_nothing, "");
  };
  add("--solver", solve.solver, "NAME", "the method (auto)");
  add("--tol", solve.tolerance, "E", "largest err_q of a solution (1e-8)");
  add("--time-limit", solve.time_limit, "S", "seconds for each problem (30)");
  add("--out", solve.out, "R", "file for the impulses; a folder for several problems");
  command->add_flag("--json", solve.json, "print JSON");
  command->add_flag("--rank", solve.rank, "also the rank of W");
  command->add_option("--threads", solve.threads, "threads for large problems (one for each core)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  return command;
}

CLI::App* add_plot(CLI::App& app, PlotArguments& plot) {
  CLI::App* command = app.add_subcommand("plot", "draw trajectories again, without running");
  command
      ->add_option("trajectory", plot.files,
                   "trajectory.csv, several in one picture, or the folder of a family")
      ->required();
  const auto add = [&](const char* name, std::string& to, const char* type, const char* words) {
    command->add_option(name, to, words)->type_name(type)->check(refuse_nothing, "");
  };
  add("--scene", plot.scene.file, "SCENE", "its [plot], title and walls (else what suits)");
  command->add_option("--set", plot.scene.set, "what the run set in the scene; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  add("--x", plot.x, "FORMULA", "of columns, x' for d_x (t)");
  command->add_option("--y", plot.y, "what to draw against it; may be repeated")
      ->type_name("FORMULA")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--log", plot.log, "logarithmic scales, with the slope of the fit for xy")
      ->check(CLI::IsMember({"x", "y", "xy"}));
  command->add_option("--after", plot.after, "rows from this time on (all; of a family the last)")
      ->type_name("T");
  command->add_flag("--equal", plot.equal, "a unit as long in both directions");
  add("--out", plot.out, "FILE",
      "the picture: .svg, .png, .pdf, or a film: .gif, .webm, .mp4 (plot.svg beside the "
      "trajectory)");
  command->add_flag("--png", plot.png, "a PNG too, with rsvg-convert or Inkscape");
  command->add_flag("--quiet", plot.quiet, "print problems only");
  return command;
}

CLI::App* add_run(CLI::App& app, RunArguments& run) {
  CLI::App* run_command = app.add_subcommand("run", "run a scene and certify every step");
  add_scene_options(*run_command, run.scene);
  add_until(*run_command, run.scene);
  run_command->add_option("--out", run.out, "folder for the results (out/<scene>)")
      ->type_name("DIR")
      ->check(refuse_nothing, "");
  run_command->add_flag("--backward", run.backward, "infer the past, from the start backwards");
  run_command
      ->add_option("--error-bar", run.error_bar, "the error by two coarser runs, or by its defect")
      ->type_name("none|pair|defect");
  run_command->add_flag("--report", run.report, "also report.html, a page with everything");
  run_command->add_flag("--quiet", run.quiet, "print problems only");
  run_command->add_option("--dump-step", run.dumps, "the contacts of step K too, for solve")
      ->type_name("K FILE");
  run_command->add_option("--threads", run.threads, "threads (a family: all cores, a world: 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  return run_command;
}

CLI::App* add_check(CLI::App& app, SceneArguments& check, std::string& picture) {
  CLI::App* command = app.add_subcommand("check", "read a scene, derive its formulas; run nothing");
  add_scene_options(*command, check);
  add_until(*command, check);
  command->add_option("--plot", picture, "draw it as it starts, into this file: .svg, .png, .pdf")
      ->type_name("FILE")
      ->check(refuse_nothing, "");
  return command;
}

CLI::App* add_inspect(CLI::App& app, InspectArguments& inspect) {
  CLI::App* command =
      app.add_subcommand("inspect", "cones, accelerations and reactions at an instant");
  add_scene_options(*command, inspect.scene);
  command->add_option("--at", inspect.at, "run until this time first (the start)");
  command->add_flag("--json", inspect.json, "print JSON");
  return command;
}

void add_gallery(CLI::App& app, GalleryArguments& gallery) {
  CLI::App* command =
      app.add_subcommand("gallery", "recompute published experiments; no name: list");
  command->add_option("name", gallery.name, "one experiment");
  command->add_flag("--all", gallery.all, "all of them");
  command->add_flag("--report", gallery.report,
                    "pages with the plates and every run\n"
                    "(out/gallery without --out)");
  command->add_option("--out", gallery.out, "folder for the runs (none are kept without)")
      ->type_name("DIR")
      ->check(refuse_nothing, "");
}

CLI::App* add_new(CLI::App& app, std::string& file) {
  CLI::App* command = app.add_subcommand("new", "write a commented scene to start from");
  command->add_option("file", file, "where to write it")->required();
  return command;
}

CLI::App* add_import(CLI::App& app, ImportArguments& model) {
  CLI::App* command = app.add_subcommand("import", "a scene of bodies from URDF or MJCF");
  command->add_option("file", model.file, "the model, an XML file; - is standard input")
      ->required();
  const AddOption add = option_adder(*command);
  add("--out", model.out, "SCENE", "file for the scene (standard output)");
  add("--until", model.until, "T", "end of its run, which no model has (1)");
  command->add_flag("--fixed-base", model.fixed_base, "the root of a URDF does not move");
  return command;
}

/// Reads the command line; the exit code where that is all there is to do.
std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  std::string help = "--help";
  if (argc == 2 && std::string_view(argv[1]) == "help") words[1] = help.data();
  check_first_word(app, argc, words.data());
  try {
    app.parse(argc, words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? kFine : kBadInput;
    refuse_option(app, error, argc, words.data());
    refuse_line(error, argc, words.data());
  }
  return std::nullopt;
}

/// Under mpirun: which commands have work for several processes, and where they find it.
void check_ranks(const CLI::App& app, const std::string& file) {
  if (host::ranks().count == 1) return;
  const std::string name = app.get_subcommands().front()->get_name();
  if (name != "run" && name != "bifurcate" && name != "basin") {
    throw base::InputError("mpirun", fmt::format("{} is work of one process", name),
                           "run it without mpirun, which shares run of a family, bifurcate, basin");
  }
  if (file != "-") return;
  throw base::InputError("mpirun", "standard input comes to the first process alone",
                         "write the scene to a file");
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
  const CLI::App* make = add_new(app, new_file);
  ImportArguments model;
  const CLI::App* import_command = add_import(app, model);
  RunArguments run;
  const CLI::App* run_command = add_run(app, run);
  SceneArguments check;
  std::string picture_of_start;
  const CLI::App* check_command = add_check(app, check, picture_of_start);
  InspectArguments inspect;
  const CLI::App* inspect_command = add_inspect(app, inspect);
  GalleryArguments gallery;
  add_gallery(app, gallery);
  const CLI::App* schemes_command =
      app.add_subcommand("schemes", "the schemes and their settings, as a table");

  ConvergeArguments converge;
  const CLI::App* converge_command = add_converge(app, converge);
  CompareArguments compare;
  const CLI::App* compare_command = add_compare(app, compare);
  DynamicsCommands attractors(app);
  SolveArguments solve;
  const CLI::App* solve_command = add_solve(app, solve);
  PlotArguments plot;
  CLI::App* plot_command = add_plot(app, plot);

  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  if (make->parsed()) return command_new(new_file);
  if (import_command->parsed()) return command_import(model);
  for (SceneArguments* scene :
       {&run.scene, &check, &inspect.scene, &converge.scene, &compare.scene, &plot.scene,
        &attractors.scene()}) {  // one of them at most is given
    if (scene->file.empty()) continue;
    check_ranks(app, scene->file);
    read_text(*scene);
  }
  if (run_command->parsed()) return command_run(run);
  if (check_command->parsed()) return command_check(check, picture_of_start);
  if (inspect_command->parsed()) return command_inspect(inspect);
  if (converge_command->parsed()) return command_converge(converge);
  if (compare_command->parsed()) return command_compare(compare);
  if (const std::optional<int> code = attractors.run()) return *code;
  if (solve_command->parsed()) return command_solve(solve);
  if (plot_command->parsed()) return command_plot(plot);
  if (schemes_command->parsed()) return command_schemes();
  return command_gallery(gallery);
}

/// To standard error, where it is open. What a terminal would obey is left out.
int complain(std::string text, int exit_code) {
  host::let_first_speak();
  for (char& letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if ((code < 0x20 && letter != '\n') || code == 0x7f) letter = '?';
  }
  std::fputs(text.c_str(), stderr);
  std::fputc('\n', stderr);
  host::break_off(exit_code);
  return exit_code;
}

/// The exit code of the command, or that of bad input after a message.
int run_guarded(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const base::InputError& error) {
    return complain(wrapped(error.what()), kBadInput);
  } catch (const host::OutputError& error) {
    return complain(wrapped(fmt::format("error: {}", error.what())), kBadInput);
  } catch (const std::exception& error) {
    // fmt::print throws too
    if (std::ferror(stdout) != 0 || std::ferror(stderr) != 0) return kBadInput;
    return complain(
        fmt::format("internal error: {}\nremedy: please report it with the scene", error.what()),
        kInternal);
  }
}

}  // namespace
}  // namespace ricochet::app

int main(int argc, char** argv) {
  ricochet::host::end_cleanly_on_signals();
  const int code = ricochet::app::run_guarded(argc, argv);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return ricochet::app::complain("error: cannot write to standard output",
                                 ricochet::app::kBadInput);
}
