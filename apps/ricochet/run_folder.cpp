#include "run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "old_files.h"
#include "progress.h"
#include "report_text.h"
#include "ricochet/plot/report.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/output_file.h"
#include "ricochet/record/rows.h"
#include "ricochet/step/run_formula.h"
#include "threads.h"
#include "trajectory_file.h"

namespace ricochet::app {
namespace {

void note_size(const scene::Scene& scene, const record::Columns& columns) {
  const double bytes = record::estimate_bytes(columns, record::expected_rows(scene.run));
  if (bytes < 1e9) return;
  fmt::print(stderr, "{}",
             wrapped(fmt::format("note: this run will write about {:.1f} GB to trajectory.csv; "
                                 "run.record = N keeps every N-th row only\n",
                                 bytes / 1e9)));
}

std::string picture_of(const FolderRun& run) {
  const study::Motion& motion = run.motion;
  return plot::draw_run(motion.scene, run.data, motion.outcome.certificate,
                        study::describe_settings(motion), &run.error_bar)
      .svg;
}

/// The picture, then the summary: where it is, the other files are, or it says why they are not.
void write_results(const std::filesystem::path& folder, const FolderRun& run, bool report,
                   std::string error) {
  if (error.empty()) error = record::try_to_write(folder / kPlot, picture_of(run));
  if (error.empty() && report) {
    error = record::try_to_write(
        folder / kReport,
        plot::make_report(run.motion.scene, study::summary_of(run, ""), run.data, run.report));
  }
  const std::string last =
      record::try_to_write(folder / kSummary, record::to_json(study::summary_of(run, error)));
  if (error.empty()) error = last;
  if (!error.empty()) throw record::OutputError(error);
}

}  // namespace

FolderRun run_into(const std::filesystem::path& folder, const scene::Scene& scene,
                   const FolderOptions& options, step::Monitor& monitor) {
  const record::Columns columns = record::columns_of(*scene.model);
  if (options.show_progress) note_size(scene, columns);
  const bool is_member = !options.member.empty();
  TrajectoryFile trajectory(folder / (is_member ? options.member : kTrajectory), columns);
  if (!is_member) remove_old_files(folder);
  FolderRun run;
  run.data = plot::Collector(scene.plot, options.runs_in_picture);
  if (options.report) run.report = plot::ReportData(scene);
  study::Extent extent;
  study::Companions companions(scene, is_member ? study::BarChoice::None : options.error_bar);
  std::vector<double> row;
  const auto observe = [&](const step::Sample& sample) {
    trajectory.add(sample);
    record::fill_row(columns, sample, row);
    run.data.add(row);
    if (options.report) run.report.add(row);
    extent.add(sample.q);
    if (!trajectory.error().empty()) monitor.stop.store(true);
  };
  {
    std::optional<ProgressBar> bar;
    if (options.show_progress) bar.emplace(monitor, scene.run.steps);
    run.motion = companions.run(options.keep_rows, observe, &monitor);
  }
  run.error_bar =
      companions.compare(run.motion, make_executor(options.threads, monitor.stop), &monitor);
  if (monitor.stop.load()) run.motion.outcome.interrupted = true;
  trajectory.finish();
  run.data.close();
  run.report.close();
  run.rows = trajectory.rows();
  run.overrides = options.overrides;
  study::conclude(run, extent, options.check_facts, options.no_facts);
  if (!is_member) {
    write_results(folder, run, options.report, trajectory.error());
  } else {
    run.summary = study::summary_of(run, trajectory.error());
  }
  return run;
}

}  // namespace ricochet::app
