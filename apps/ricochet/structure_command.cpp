#include "structure_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "old_files.h"
#include "progress.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/host/trajectory_file.h"
#include "ricochet/plot/structure_plot.h"
#include "ricochet/record/structure_summary.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/structure_run.h"
#include "scene_file.h"
#include "structure_text.h"

namespace ricochet::app {
namespace {

/// A run and what became of its files.
struct FiledRun {
  study::StructureRun run;
  std::vector<study::Fact> facts;
  std::string facts_not_checked;
  std::vector<std::string> warnings;
  std::vector<std::string> overrides;
  long long rows{0};
  std::string files;
};

model::State<model::kDynamic> points_of(const structure::LinearStructure& model,
                                        const structure::Motion& motion) {
  model::State<model::kDynamic> state;
  const auto count = static_cast<Eigen::Index>(model.points.size());
  state.t = motion.t;
  state.q.resize(count);
  state.u.resize(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const structure::Point& point = model.points[static_cast<std::size_t>(k)];
    state.q[k] = model.value_at(point.row, point.plane, motion.q.data());
    state.u[k] = model.value_at(point.row, point.plane, motion.u.data());
  }
  return state;
}

record::StructureSummary summary_of(const FiledRun& filed, const std::string& output_error) {
  const study::StructureRun& run = filed.run;
  const scene::StructureScene& scene = run.scene;
  record::StructureSummary summary;
  summary.run.title = scene.title;
  summary.run.source = scene.source;
  summary.run.file = scene.file;
  summary.run.columns = record::columns_of(*run.model);
  summary.run.run = scene.run;
  summary.run.parameters = scene.parameters;
  summary.run.overrides = filed.overrides;
  summary.run.start = points_of(*scene.model, scene.start);
  summary.run.final_state = points_of(*run.model, run.final_state);
  summary.run.outcome = run.outcome.run;
  summary.run.warnings = filed.warnings;
  summary.run.facts = filed.facts;
  summary.run.facts_not_checked = filed.facts_not_checked;
  summary.run.output_error = output_error;
  summary.settings = scene.settings;
  summary.line = scene.line;
  summary.coordinates = run.model->size();
  summary.frequencies = scene.frequencies;
  summary.quiet_time = scene.model->quiet_time;
  summary.outcome = &run.outcome;
  if (run.reduction) {
    summary.reduced_modes = run.reduction->modes;
    summary.corrections = run.reduction->corrections;
    for (std::size_t k = 0; k < run.reduction->points.size(); ++k) {
      summary.reduced.push_back({run.reduction->points[k], run.reduction->rms[k],
                                 run.reduction->largest[k], run.reduction->whole[k]});
    }
  }
  return summary;
}

std::string shapes_csv(const study::StructureRun& run) {
  std::string text = "t";
  const int planes = run.scene.model->planes;
  for (int p = 0; p < planes; ++p) {
    for (const double x : run.scene.abscissae) {
      text += planes == 1 ? fmt::format(",x={:.9g}", x)
                          : fmt::format(",{}(x={:.9g})", p == 0 ? "y" : "z", x);
    }
  }
  text += "\n";
  for (const study::Shape& shape : run.shapes) {
    text += fmt::format("{:.9g}", shape.t);
    for (const double value : shape.values) text += fmt::format(",{:.9g}", value);
    text += "\n";
  }
  return text;
}

void write_results(const std::filesystem::path& folder, FiledRun& filed,
                   const plot::StructurePicture& picture, std::string error) {
  const study::StructureRun& run = filed.run;
  const std::vector<structure::Spectrum> spectra = run.outcome.statistics.spectra();
  filed.files = "summary.json, plot.svg";
  const auto write = [&](const std::string& name, const std::string& text) {
    if (error.empty()) error = host::try_to_write(folder / name, text);
  };
  write(kPlot, picture.draw(describe_structure_run(run.scene), spectra));
  if (!spectra.empty()) {
    write("spectra.csv", record::spectra_csv(spectra));
    filed.files += ", spectra.csv";
  }
  if (!run.shapes.empty()) {
    write("shapes.csv", shapes_csv(run));
    filed.files += ", shapes.csv";
  }
  const std::string last =
      host::try_to_write(folder / kSummary, record::to_json(summary_of(filed, error)));
  if (error.empty()) error = last;
  if (!error.empty()) throw host::OutputError(error);
}

/// A step that is stable may still be too long to see the structure move.
void warn_of_step(const scene::StructureScene& scene, std::vector<std::string>& warnings) {
  constexpr double kFewest = 20.0;  // steps of a period
  const std::vector<double>& all = scene.frequencies;
  if (all.empty()) return;
  // Not those of motions as a whole, which are rounding.
  const auto first =
      std::find_if(all.begin(), all.end(), [&](double f) { return f > 1e-4 * all.back(); });
  if (first == all.end() || !(kFewest * scene.run.step * *first > 1.0)) return;
  warnings.push_back(fmt::format(
      "the first mode, of {:.3g} Hz, has only {:.2g} steps in a period: take a step below {:.2g}",
      *first, 1.0 / (scene.run.step * *first), 1.0 / (kFewest * *first)));
}

/// What the run shows about its own question.
void add_warnings(FiledRun& filed) {
  const study::StructureRun& run = filed.run;
  for (const structure::GuideStatistics& guide : run.outcome.statistics.guides()) {
    if (guide.impacts == 0 || !(guide.rate.error > 0.25 * guide.rate.value)) continue;
    filed.warnings.push_back(
        fmt::format("the impact rate of '{}' is known to {:.0f} % only: run longer for statistics",
                    guide.name, 100.0 * guide.rate.error / guide.rate.value));
  }
  warn_of_step(run.scene, filed.warnings);
  if (run.model->points.empty()) {
    filed.warnings.push_back(
        "no point is named, so the trajectory tells guides and energies only: "
        "write [structure.point.tip] with at = ...");
  }
}

FiledRun run_into_folder(const std::filesystem::path& folder, const scene::StructureScene& scene,
                         const RunArguments& arguments, step::Monitor& monitor) {
  const record::Columns columns = record::columns_of(*scene.model);
  host::TrajectoryFile trajectory(folder / kTrajectory, columns);
  remove_old_files(folder);
  FiledRun filed;
  plot::StructurePicture picture(scene);
  const auto observe = [&](const step::Sample& sample) {
    trajectory.add(sample);
    picture.add(sample);
    if (!trajectory.error().empty()) monitor.stop.store(true);
  };
  {
    std::optional<ProgressBar> bar;
    if (!arguments.quiet) bar.emplace(monitor, scene.run.steps);
    filed.run = study::run_structure(scene, observe, &monitor);
  }
  trajectory.finish();
  for (const study::Shape& shape : filed.run.shapes) picture.add_shape(shape.values);
  filed.rows = trajectory.rows();
  const step::Outcome& outcome = filed.run.outcome.run;
  const std::string changed_by = changing_options(arguments.scene);
  if (!outcome.certificate.ok() || outcome.interrupted) {
    if (!scene.expectations.empty()) filed.facts_not_checked = "the run did not reach its end";
  } else if (!changed_by.empty()) {
    if (!scene.expectations.empty()) {
      filed.facts_not_checked = "the scene was changed by " + changed_by;
    }
  } else {
    filed.facts = study::check_expectations(filed.run);
  }
  for (const scene::Override& change : changes_of(arguments.scene)) {
    filed.overrides.push_back(fmt::format("{}={}", change.key, change.value));
  }
  filed.warnings = scene.warnings;
  add_warnings(filed);
  write_results(folder, filed, picture, trajectory.error());
  return filed;
}

void refuse_options(const RunArguments& arguments) {
  const auto refuse = [](const char* option, const char* why) {
    throw base::InputError(option, why, fmt::format("leave {} out", option));
  };
  if (arguments.backward) refuse("--backward", "a structure is run forwards only");
  if (arguments.report) refuse("--report", "a structure's run has no page; plot.svg shows it");
  if (!arguments.dumps.empty())
    refuse("--dump-step", "a structure's guides are no contact problem");
}

std::string fault_of(const FiledRun& filed) {
  const certify::Certificate& c = filed.run.outcome.run.certificate;
  if (!c.ok()) {
    const certify::FailureText failure = certify::describe(c.failure);
    return fmt::format("error: {} at t = {:.9g}: {}", failure.name, c.failure_time,
                       failure.meaning);
  }
  const auto& reduction = filed.run.reduction;
  if (reduction && reduction->failure != certify::Failure::None) {
    return fmt::format("error: the whole model, for comparison: {}",
                       certify::describe(reduction->failure).meaning);
  }
  const auto unmet = std::count_if(filed.facts.begin(), filed.facts.end(),
                                   [](const study::Fact& fact) { return !fact.holds; });
  if (unmet == 0) return "";
  return fmt::format("error: {} of {} not met", unmet,
                     counted(static_cast<long long>(filed.facts.size()), "stated fact"));
}

std::string describe(const FiledRun& filed, const std::filesystem::path& folder) {
  std::string text = describe_structure(filed.run);
  for (const std::string& warning : filed.warnings) text += entry("warning", warning);
  for (const study::Fact& fact : filed.facts) {
    text +=
        entry(fact.holds ? "fact" : "NOT MET", fmt::format("{} ({})", fact.statement, fact.found));
  }
  if (!filed.facts_not_checked.empty()) {
    text += entry("facts", "not checked: " + filed.facts_not_checked);
  }
  text += entry("written", fmt::format("{}: trajectory.csv ({}), {}", folder.string(),
                                       counted(filed.rows, "row"), filed.files));
  const step::Outcome& outcome = filed.run.outcome.run;
  const double rate =
      outcome.wall_seconds > 0.0 ? static_cast<double>(outcome.steps) / outcome.wall_seconds : 0.0;
  return text + entry("time", fmt::format("{:.3g} s, {} steps a second", outcome.wall_seconds,
                                          readable_count(rate)));
}

}  // namespace

std::string draw_builtin_structure(const std::string& name) {
  const scene::StructureScene scene =
      scene::read_structure_scene(name + ".toml", study::builtin_scene(name), {});
  plot::StructurePicture picture(scene);
  const study::StructureRun run =
      study::run_structure(scene, [&](const step::Sample& sample) { picture.add(sample); });
  for (const study::Shape& shape : run.shapes) picture.add_shape(shape.values);
  return picture.draw(describe_structure_run(scene), run.outcome.statistics.spectra());
}

int run_structure_command(const RunArguments& arguments) {
  refuse_options(arguments);
  const scene::StructureScene scene = read_structure(arguments.scene);
  const std::filesystem::path folder = arguments.out.empty()
                                           ? std::filesystem::path("out") / scene.name
                                           : std::filesystem::path(arguments.out);
  host::StopSignals signals;
  const FiledRun filed = run_into_folder(folder, scene, arguments, signals.monitor());
  const std::string fault = fault_of(filed);
  if (!arguments.quiet || !fault.empty()) fmt::print("{}", describe(filed, folder));
  if (!fault.empty()) {
    std::fflush(stdout);  // the report first
    fmt::print(stderr, "{}\n", fault);
    return kFailed;
  }
  return filed.run.outcome.run.interrupted ? kInterrupted : kFine;
}

int check_structure_command(const SceneArguments& arguments) {
  const scene::StructureScene scene = read_structure(arguments);
  const record::Columns columns = record::columns_of(*scene.model);
  const double rows = record::expected_rows(scene.run);
  fmt::print("{}", describe_structure_scene(scene));
  fmt::print("{}", entry("output", fmt::format("about {} rows, {:.3g} MB", readable_count(rows),
                                               record::estimate_bytes(columns, rows) / 1e6)));
  for (const std::string& warning : scene.warnings) fmt::print("{}", entry("warning", warning));
  fmt::print("{}", entry("status", "ok: the scene can be run"));
  return kFine;
}

}  // namespace ricochet::app
