#include "run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "old_files.h"
#include "progress.h"
#include "report_text.h"
#include "ricochet/plot/report.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/output_file.h"
#include "ricochet/record/rows.h"
#include "ricochet/step/run_formula.h"
#include "trajectory_file.h"

namespace ricochet::app {
namespace {

constexpr double kDeep = 0.01;       // a wall crossed by this part of the extent deserves a word
constexpr double kRounding = 1e-12;  // of the largest coordinate: no depth at all
constexpr double kFed = 1e-3;        // so does this part of the largest kinetic energy

/// "3.2 % of WHOLE", or that it is more than all of it.
std::string part_of(double value, double whole, const std::string& name) {
  if (!(value < whole)) return fmt::format("more than {}", name);
  return fmt::format("{:.1f} % of {}", 100.0 * value / whole, name);
}

/// Where each coordinate has been.
class Extent {
 public:
  void add(std::span<const double> q) {
    if (low_.empty()) {
      low_.assign(q.begin(), q.end());
      high_ = low_;
    }
    for (std::size_t i = 0; i < q.size(); ++i) {
      low_[i] = std::min(low_[i], q[i]);
      high_[i] = std::max(high_[i], q[i]);
    }
  }
  double size() const {
    double size = 0.0;
    for (std::size_t i = 0; i < low_.size(); ++i) size = std::max(size, high_[i] - low_[i]);
    return size;
  }
  double largest() const {
    double largest = 0.0;
    for (std::size_t i = 0; i < low_.size(); ++i) {
      largest = std::max({largest, std::abs(high_[i]), std::abs(low_[i])});
    }
    return largest;
  }

 private:
  std::vector<double> low_;
  std::vector<double> high_;
};

void warn_of_depth(const study::Motion& motion, const Extent& extent,
                   std::vector<std::string>& warnings) {
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.violation_contact < 0) return;
  const double size = extent.size();
  const double largest = extent.largest();
  if (!(c.violation_depth > std::max(kDeep * size, kRounding * largest))) return;
  const auto contact = static_cast<std::size_t>(c.violation_contact);
  warnings.push_back(
      fmt::format("'{}' is crossed by {:.2g}, {}: the step is large; try a smaller one",
                  motion.scene.model->contact_names()[contact], c.violation_depth,
                  part_of(c.violation_depth, size, "the extent of the motion")));
}

void warn_of_adhesion(const study::Motion& motion, std::vector<std::string>& warnings) {
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.adhesive_count == 0) return;
  warnings.push_back(
      fmt::format("{} with a contact that pulls (impulse down to -{:.2g}): elast balances the "
                  "energy even where the contact should have opened",
                  counted(c.adhesive_count, "step"), c.adhesive_max));
}

void warn_of_explicit_forces(const study::Motion& motion, std::vector<std::string>& warnings) {
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  const double gain = ledger.explicit_gain.value();
  if (!(gain > kFed * ledger.kinetic_max)) return;
  warnings.push_back(fmt::format(
      "forces of the velocities fed the motion {:.2g}, {}, in steps whose start they opposed: they "
      "are taken at the start of a step; try a smaller one",
      gain, part_of(gain, ledger.kinetic_max, "the largest kinetic energy")));
}

void note_size(const scene::Scene& scene, const record::Columns& columns) {
  const double bytes = record::estimate_bytes(columns, record::expected_rows(scene.run));
  if (bytes < 1e9) return;
  fmt::print(stderr, "{}",
             wrapped(fmt::format("note: this run will write about {:.1f} GB to trajectory.csv; "
                                 "run.record = N keeps every N-th row only\n",
                                 bytes / 1e9)));
}

record::Summary summary_of(const FolderRun& run, const std::string& output_error) {
  const study::Motion& motion = run.motion;
  const scene::Scene& scene = motion.scene;
  return {.title = scene.title,
          .source = scene.source,
          .file = scene.file,
          .columns = record::columns_of(*scene.model),
          .scheme = scene.scheme,
          .run = scene.run,
          .parameters = scene.parameters,
          .overrides = run.overrides,
          .start = scene.start,
          .final_state = motion.final_state,
          .outcome = motion.outcome,
          .warnings = run.warnings,
          .facts = run.facts,
          .facts_not_checked = run.facts_not_checked,
          .output_error = output_error};
}

std::string picture_of(const study::Motion& motion, const plot::Collector& data) {
  const scene::Scene& scene = motion.scene;
  const std::string subtitle =
      fmt::format("{}{}{}, {}, t = {:g} to {:g}", scene.source, scene.source.empty() ? "" : "; ",
                  step::name_of(scene.scheme), describe_step(scene.run), scene.run.start_time,
                  motion.final_state.t);
  return plot::draw_run(scene, data, motion.outcome.certificate, subtitle).svg;
}

/// The picture, then the summary: where it is, the other files are, or it says why they are not.
void write_results(const std::filesystem::path& folder, const FolderRun& run, bool report,
                   std::string error) {
  if (error.empty()) error = record::try_to_write(folder / kPlot, picture_of(run.motion, run.data));
  if (error.empty() && report) {
    error = record::try_to_write(
        folder / kReport,
        plot::make_report(run.motion.scene, summary_of(run, ""), run.data, run.report));
  }
  const std::string last =
      record::try_to_write(folder / kSummary, record::to_json(summary_of(run, error)));
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
  Extent extent;
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
    run.motion = study::run_scene(scene, options.keep_rows, observe, &monitor);
  }
  trajectory.finish();
  run.data.close();
  run.report.close();
  run.rows = trajectory.rows();
  const step::Outcome& outcome = run.motion.outcome;
  const bool finished = outcome.certificate.ok() && !outcome.interrupted;
  if (options.check_facts && finished) {
    run.facts = study::check_expectations(run.motion);
  } else if (!scene.expectations.empty()) {
    run.facts_not_checked = finished ? options.no_facts : "the run did not reach its end";
  }
  run.overrides = options.overrides;
  run.warnings = run.motion.scene.warnings;  // of the scene, and what the run adds
  warn_of_depth(run.motion, extent, run.warnings);
  warn_of_adhesion(run.motion, run.warnings);
  warn_of_explicit_forces(run.motion, run.warnings);
  if (!is_member) {
    write_results(folder, run, options.report, trajectory.error());
  } else {
    run.summary = summary_of(run, trajectory.error());
  }
  return run;
}

}  // namespace ricochet::app
