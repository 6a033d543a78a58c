// The studies of attractors: lyapunov, section, bifurcate, basin; and sweeps.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <tuple>

#include "commands.h"
#include "number_option.h"
#include "progress.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/dynamics/invariants.h"
#include "ricochet/dynamics/picture.h"
#include "ricochet/host/line_file.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/ranks.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/host/threads.h"
#include "ricochet/scene/document.h"
#include "ricochet/study/sweep.h"
#include "scene_file.h"

namespace ricochet::app {
namespace {

/// A=0.3..1.2:900 as the value of a key of [sweep.over].
scene::Override over_setting(const std::string& text) {
  const std::size_t equals = text.find('='), dots = text.find(".."), colon = text.rfind(':');
  if (equals == std::string::npos || dots == std::string::npos || colon == std::string::npos ||
      !(equals < dots && dots < colon)) {
    throw base::InputError("--over", fmt::format("'{}' is not of the form A=0.3..1.2:900", text),
                           "write a name, from .. to, and how many values");
  }
  return {"sweep.over." + text.substr(0, equals),
          fmt::format("{{ from = {}, to = {}, count = {} }}",
                      text.substr(equals + 1, dots - equals - 1),
                      text.substr(dots + 2, colon - dots - 2), text.substr(colon + 1)),
          "--over " + text};
}

/// What varies varies once, and nothing else sets it.
void check_over(const DynamicsArguments& arguments, const scene::Family& varied) {
  const auto name_of = [](const std::string& over) { return over.substr(0, over.find('=')); };
  for (std::size_t k = 0; k < arguments.over.size(); ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      if (!scene::is_same_key(name_of(arguments.over[l]), name_of(arguments.over[k]))) continue;
      throw base::InputError("--over " + arguments.over[k],
                             fmt::format("'{}' varies already, by --over {}",
                                         name_of(arguments.over[k]), arguments.over[l]),
                             "keep one of the two");
    }
  }
  for (const scene::Override& change : changes_of(arguments.scene)) {
    for (const scene::FamilyKey& key : varied.keys) {
      if (!scene::is_same_key(change.key, key.name)) continue;
      const bool is_option = change.argument.starts_with("--");
      throw base::InputError((is_option ? "" : "--set ") + change.argument,
                             fmt::format("sets '{}', which varies: see sweep.over", key.name),
                             "drop this, or let it not vary");
    }
  }
}

/// All that the options say.
std::vector<scene::Override> changes_with_over(const DynamicsArguments& arguments) {
  std::vector<scene::Override> changes = changes_of(arguments.scene);
  for (const std::string& over : arguments.over) changes.push_back(over_setting(over));
  return changes;
}

/// A scene for its exact motion, and what changed it.
struct Exact {
  std::vector<scene::Override> changes;
  scene::Scene scene;

  explicit Exact(const SceneArguments& arguments) : Exact(arguments, changes_of(arguments)) {}
  Exact(const SceneArguments& arguments, const std::vector<scene::Override>& all)
      : changes(dynamics::exact_changes(arguments.file, arguments.text, all)),
        scene(scene::read_scene(arguments.file, arguments.text, changes)) {}
};

/// With what the options say, as settings of the scene.
Exact with_sweep(const DynamicsArguments& arguments) {
  std::vector<scene::Override> changes = changes_with_over(arguments);
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty())
      changes.push_back({"sweep." + key, value, fmt::format("--{} {}", key, value)});
  };
  add("follow", arguments.follow);
  add("settle", arguments.settle);
  add("show", arguments.show);
  add("seeds", arguments.seeds);
  Exact exact(arguments.scene, changes);
  check_over(arguments, exact.scene.dynamics.sweep.over);
  return exact;
}

/// Files, and the words about them.
class Results {
 public:
  Results(const DynamicsArguments& arguments, const scene::Scene& scene)
      : folder_(arguments.out.empty() ? std::filesystem::path("out") / scene.name
                                      : std::filesystem::path(arguments.out)) {}

  void add(const std::string& name, const std::string& content) {
    if (content.empty()) return;
    host::write_file(folder_ / name, content);
    names_ += (names_.empty() ? "" : ", ") + name;
  }
  std::string written() const { return entry("written", folder_.string() + ": " + names_); }

 private:
  std::filesystem::path folder_;
  std::string names_;
};

int say_interrupted() {
  std::fflush(stdout);
  if (const std::string lost = host::lost_ranks(); !lost.empty()) {
    fmt::print(stderr, "error: {}; what was done before is written\n", lost);
    return kFailed;
  }
  fmt::print(stderr, "interrupted: what was done before is written\n");
  return kInterrupted;
}

}  // namespace

int command_lyapunov(const DynamicsArguments& arguments) {
  dynamics::LyapunovSettings settings;
  settings.until = positive_option("--for", arguments.time);
  if (!arguments.settle.empty()) settings.settle = positive_option("--settle", arguments.settle);
  const scene::Scene scene = Exact(arguments.scene).scene;
  host::StopSignals signals;
  const dynamics::Lyapunov found = dynamics::lyapunov(scene, settings, &signals.monitor());
  const std::string json = dynamics::to_json(found, scene);
  Results results(arguments, scene);
  results.add("lyapunov.json", json);
  results.add("lyapunov.svg", dynamics::draw(found, scene));
  fmt::print("{}", arguments.json ? json : dynamics::describe(found, scene) + results.written());
  if (found.interrupted) return say_interrupted();
  if (!found.exponents.empty() || found.lost > 0) return kFine;
  std::fflush(stdout);
  fmt::print(stderr, "error: {}\n",
             found.broken.empty() ? found.failure : "no derivative, " + found.broken);
  return kFailed;
}

int command_section(const DynamicsArguments& arguments) {
  const scene::Scene scene = Exact(arguments.scene).scene;
  dynamics::SectionSettings settings{.settle = scene.dynamics.sweep.settle};
  if (!arguments.settle.empty()) settings.settle = whole_option("--settle", arguments.settle);
  if (!arguments.show.empty()) settings.show = whole_option("--show", arguments.show);
  host::StopSignals signals;
  dynamics::SectionResult found;
  {
    const ProgressBar bar(signals.monitor(), settings.settle + settings.show);
    found = dynamics::take_section(scene, settings, &signals.monitor());
  }
  Results results(arguments, scene);
  results.add("section.csv", dynamics::section_csv(found));
  results.add("section.svg", dynamics::draw(found, scene));
  fmt::print("{}", dynamics::describe(found, scene) + results.written());
  return found.interrupted ? say_interrupted() : kFine;
}

int command_bifurcate(const DynamicsArguments& arguments) {
  const auto [changes, scene] = with_sweep(arguments);
  host::StopSignals signals;
  const scene::SweepPlan& plan = scene.dynamics.sweep;
  const base::Ranks& ranks = host::ranks();
  dynamics::Diagram found;
  {
    std::optional<ProgressBar> bar;
    if (ranks.rank == 0) {
      bar.emplace(signals.monitor(),
                  static_cast<long long>(plan.over.size()) * plan.settle / ranks.count);
    }
    found = dynamics::bifurcate(scene, changes, arguments.lyapunov,
                                host::make_executor(arguments.threads, signals.monitor().stop),
                                &signals.monitor(), ranks);
  }
  if (ranks.rank > 0) return kFine;
  Results results(arguments, scene);
  results.add("diagram.csv", dynamics::diagram_csv(found));
  results.add("bifurcate.json", dynamics::to_json(found, scene));
  results.add("diagram.svg", dynamics::draw(found, scene));
  fmt::print("{}", dynamics::describe(found, scene) + results.written());
  return found.interrupted ? say_interrupted() : kFine;
}

int command_basin(const DynamicsArguments& arguments) {
  const auto [changes, scene] = with_sweep(arguments);
  host::StopSignals signals;
  const base::Ranks& ranks = host::ranks();
  dynamics::Basin found;
  {
    std::optional<ProgressBar> bar;
    if (ranks.rank == 0) {
      bar.emplace(signals.monitor(),
                  static_cast<long long>(scene.dynamics.sweep.over.size()) / ranks.count);
    }
    found = dynamics::find_basin(scene, changes,
                                 host::make_executor(arguments.threads, signals.monitor().stop),
                                 &signals.monitor(), ranks);
  }
  if (ranks.rank > 0) return kFine;
  Results results(arguments, scene);
  results.add("basin.json", dynamics::to_json(found, scene));
  results.add("basin.npz", dynamics::basin_npz(found));
  results.add("basin.svg", dynamics::draw(found, scene));
  fmt::print("{}", dynamics::describe(found, scene) + results.written());
  return found.interrupted ? say_interrupted() : kFine;
}

int command_invariants(const DynamicsArguments& arguments) {
  const auto [changes, scene] = Exact(arguments.scene);
  dynamics::InvariantSettings settings;
  settings.schemes = words_of(arguments.schemes);
  for (const std::string& word : words_of(arguments.steps)) {
    settings.steps.push_back(positive_option("--steps", word));
  }
  for (const std::string& word : words_of(arguments.per_period)) {
    settings.steps.push_back(scene.dynamics.period / positive_option("--per-period", word));
  }
  if (settings.steps.empty()) {
    throw base::InputError("--steps", "no step is given", "write --per-period 100,400.618");
  }
  if (!arguments.periods.empty()) {
    settings.periods = positive_option("--periods", arguments.periods);
  }
  const auto read = [&, &changes = changes](const std::string& scheme, double step) {
    std::vector<scene::Override> all = changes;
    all.push_back({"run.scheme", scheme, "--scheme " + scheme});
    all.push_back({"run.step", fmt::format("{:.17g}", step), "--step"});
    return scene::read_scene(arguments.scene.file, arguments.scene.text, all);
  };
  host::StopSignals signals;
  const dynamics::InvariantTable found =
      dynamics::compare_invariants(scene, read, settings, &signals.monitor());
  const std::string json = dynamics::to_json(found, scene);
  Results results(arguments, scene);
  results.add("invariants.json", json);
  results.add("invariants.svg", dynamics::draw(found, scene));
  fmt::print("{}", arguments.json ? json : dynamics::describe(found, scene) + results.written());
  return found.interrupted ? say_interrupted() : kFine;
}

namespace {

/// Runs a sweep into its file; `path` is where that will be, once it is known.
int run_sweep(const DynamicsArguments& arguments, std::filesystem::path& path) {
  const auto& [file_name, text] = std::tie(arguments.scene.file, arguments.scene.text);
  const scene::Document document(file_name, text);
  for (const char* kind : {"world", "structure"}) {
    if (document.root().find(kind) == nullptr || document.root().find("system")) continue;
    throw base::InputError("sweep", fmt::format("is of a [system], not of a [{}]", kind),
                           "write [family], which `ricochet run` runs");
  }
  const std::vector<scene::Override> changes = changes_with_over(arguments);
  const scene::Scene scene = scene::read_scene(file_name, text, changes);
  if (arguments.out.empty()) path = std::filesystem::path("out") / scene.name / "sweep.csv";
  check_over(arguments, scene.dynamics.sweep.over);
  const scene::Family& over =
      scene.dynamics.sweep.over.empty() ? scene.family : scene.dynamics.sweep.over;
  if (over.empty()) {
    throw base::InputError("sweep.over", "is missing: nothing varies",
                           "write [sweep.over] with A = { from = 0.3, to = 1.2, count = 900 }, or "
                           "--over A=0.3..1.2:900");
  }
  host::StopSignals signals;
  const std::string header = study::sweep_header(scene, over);
  std::error_code ignored;  // what cannot be removed cannot be replaced either, and that is said
  std::filesystem::remove(path, ignored);
  host::LineFile file(path, header);
  const double steps = static_cast<double>(over.size()) * static_cast<double>(scene.run.steps);
  study::SweepOutcome found;
  {
    const ProgressBar bar(signals.monitor(), static_cast<long long>(std::min(steps, 9e18)));
    found = study::sweep(
        scene, changes, over, host::make_executor(arguments.threads, signals.monitor().stop),
        [&](std::size_t member, const study::MemberEnd& end) {
          file.text() += study::sweep_row(over, member, end);
          file.end_line();
          if (!file.error().empty()) signals.monitor().stop = true;
        },
        {.lanes = static_cast<std::size_t>(arguments.lanes)}, &signals.monitor());
  }
  file.finish();
  if (!file.error().empty()) throw host::OutputError(file.error());
  fmt::print("{}\n{}{}{}{}", scene.title,
             entry("members",
                   fmt::format("{} of {}, {} failed", found.members, over.size(), found.failed)),
             entry("steps", fmt::format("{}, each certified; {:.3g} ns a step", found.steps,
                                        1e9 * found.seconds /
                                            static_cast<double>(std::max(found.steps, 1LL)))),
             entry("read", fmt::format("the scene was read {}", counted(found.documents, "time"))),
             entry("written", path.string()));
  if (found.interrupted) return say_interrupted();
  return found.failed > 0 ? kFailed : kFine;
}

}  // namespace

int command_sweep(const DynamicsArguments& arguments) {
  std::filesystem::path path = arguments.out.empty()
                                   ? std::filesystem::path()
                                   : std::filesystem::path(arguments.out) / "sweep.csv";
  try {
    return run_sweep(arguments, path);
  } catch (const base::InputError&) {
    if (!path.empty() && std::filesystem::exists(path)) {
      fmt::print(stderr, "note: {} is that of an earlier sweep\n", path.string());
    }
    throw;
  }
}

}  // namespace ricochet::app
