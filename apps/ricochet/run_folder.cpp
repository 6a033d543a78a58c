#include "run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "old_files.h"
#include "progress.h"
#include "report_text.h"
#include "ricochet/dynamics/defect.h"
#include "ricochet/dynamics/lock_watch.h"
#include "ricochet/host/folder_lock.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/series_files.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/host/threads.h"
#include "ricochet/plot/report.h"
#include "ricochet/plot/world_plot.h"
#include "ricochet/record/rows.h"
#include "ricochet/study/story.h"
#include "run_files.h"

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
  if (motion.world && !motion.scene.plot.is_written) {
    return plot::draw_world(motion.scene, *motion.world, study::describe_settings(motion)).svg;
  }
  return plot::draw_run(motion.scene, run.picture, motion.outcome.certificate, motion.structure,
                        study::describe_settings(motion), &run.error_bar)
      .svg;
}

/// A structure keeps enough shapes for its report to play them.
scene::Scene with_frames(scene::Scene scene) {
  constexpr long long kFrames = 900;
  auto* part = std::get_if<scene::StructurePart>(&scene.part);
  if (part != nullptr && part->shapes > 1) {
    const long long frames = std::min(kFrames, scene.run.steps);
    part->shape_stride = std::max(1, static_cast<int>(frames / (part->shapes - 1)));
  }
  return scene;
}

/// The picture, then the summary: where it is, the other files are, or it says why they are not.
void write_results(const std::filesystem::path& folder, const RunFiles& files, FolderRun& run,
                   bool report) {
  std::string error = files.error();
  const auto write = [&](const std::string& name, const std::string& text) {
    if (error.empty()) error = host::try_to_write(folder / name, text);
    run.files += (run.files.empty() ? "" : ", ") + name;
  };
  files.write_tables(write);
  std::vector<std::filesystem::path> instants;
  const std::string series =
      host::write_series(run.motion, [&](const std::string& name, const std::string& bytes) {
        if (error.empty()) error = host::try_to_write(folder / name, bytes);
        if (error.empty()) instants.push_back(folder / name);
      });
  if (!series.empty()) run.files += (run.files.empty() ? "" : ", ") + series;
  write(kPlot, picture_of(run));
  if (const auto& line = run.motion.structure) {
    if (!line->spectra.empty()) write(kSpectra, record::spectra_csv(line->spectra));
    if (!line->shapes.empty()) write(kShapes, record::shapes_csv(*line));
  }
  if (report) {
    write(kReport,
          plot::make_report(run.motion.scene, study::summary_of(run, ""), run.picture, run.report));
  }
  const std::string summary = record::to_json(study::summary_of(run, error));
  std::string last = host::try_to_write(folder / kSummary, summary);
  for (; !last.empty() && !instants.empty(); instants.pop_back()) {  // it needs their room
    std::error_code ignored;
    std::filesystem::remove(instants.back(), ignored);
    last = host::try_to_write(folder / kSummary, summary);
  }
  if (error.empty()) error = last;
  if (!error.empty()) throw host::OutputError(error);
}

/// The tables of a member; its summary is written with those of the others.
void write_member(const std::filesystem::path& folder, const RunFiles& files, FolderRun& run) {
  std::string error = files.error();
  files.write_tables([&](const std::string& name, const std::string& bytes) {
    if (error.empty()) error = host::try_to_write(folder / name, bytes);
  });
  run.summary = study::summary_of(run, error);
}

}  // namespace

FolderRun run_into(const std::filesystem::path& folder, const scene::Scene& asked,
                   const FolderOptions& options, step::Monitor& monitor) {
  std::optional<scene::Scene> framed;
  const scene::Scene& scene = options.report ? framed.emplace(with_frames(asked)) : asked;
  const record::Columns& columns = scene.columns;
  if (options.show_progress) note_size(scene, columns);
  host::check_series(scene);
  const bool is_member = !options.member.empty();
  std::optional<host::FolderLock> lock;
  if (!is_member) lock.emplace(folder);
  RunFiles files(folder, is_member ? options.member : kTrajectory, scene, !is_member);
  if (!is_member) remove_old_files(folder);
  FolderRun run;
  run.picture = plot::RunPicture(scene, options.runs_in_picture);
  if (options.report) run.report = plot::ReportData(scene);
  study::Extent extent;
  study::Companions companions(scene, is_member ? study::BarChoice::None : options.error_bar);
  dynamics::LockWatch locks(scene);
  dynamics::DefectBar defect(scene, options.error_bar == study::BarChoice::Defect && !is_member);
  std::vector<double> row;
  const auto observe = [&](const step::Sample& sample) {
    locks.add(sample);
    defect.add(sample);
    record::fill_row(columns, sample, row);
    files.add(row);
    run.picture.add(row, sample.pushed);
    if (options.report) run.report.add(row);
    extent.add(sample.q);
    if (!files.error().empty()) monitor.stop.store(true);
  };
  study::Story story(columns.contacts.size() - static_cast<std::size_t>(columns.joints));
  monitor.on_event = [&](const certify::Event& event) {
    files.add(event);
    story.add(event);
  };
  std::optional<ProgressBar> bar;
  if (options.show_progress) bar.emplace(monitor, scene.run.steps);
  host::ThreadPool pool(options.threads > 0 && !is_member ? options.threads : 1);
  monitor.executor = pool.executor();
  run.motion = companions.run(options.keep_rows, observe, &monitor);
  monitor.on_event = nullptr;
  monitor.executor = nullptr;
  bar.reset();
  const auto executor = host::make_executor(options.threads, monitor.stop);
  run.error_bar = defect.is_wanted() ? defect.take(run.motion.outcome)
                                     : companions.compare(run.motion, executor, &monitor);
  if (monitor.stop.load()) run.motion.outcome.interrupted = true;
  files.finish();
  run.picture.close();
  run.report.close();
  run.rows = files.rows();
  run.lines = files.describe();
  run.story = study::tell(story, run.motion);
  locks.warn(run.motion.scene);
  run.overrides = options.overrides;
  study::conclude(run, extent, options.check_facts, options.no_facts);
  is_member ? write_member(folder, files, run) : write_results(folder, files, run, options.report);
  return run;
}

}  // namespace ricochet::app
