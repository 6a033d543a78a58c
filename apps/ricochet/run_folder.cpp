#include "run_folder.h"

#include <fmt/format.h>

#include <cmath>

#include "progress.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/output_file.h"
#include "ricochet/record/rows.h"
#include "ricochet/record/summary.h"
#include "ricochet/step/run_formula.h"

namespace ricochet::app {
namespace {

record::Columns columns_of(const model::FormulaModel& model) {
  return {model.coordinates(), model.contact_names(), model.has_potential()};
}

/// Rows go to the file in large pieces.
class TrajectoryFile {
 public:
  TrajectoryFile(const std::filesystem::path& path, record::Columns columns)
      : file_(path), columns_(std::move(columns)) {
    buffer_.reserve(2 * kPiece);
    record::append_header(columns_, buffer_);
  }
  void add(const step::Sample& sample) {
    record::append_row(columns_, sample, buffer_);
    ++rows_;
    if (buffer_.size() >= kPiece) flush();
  }
  void finish() {
    flush();
    file_.commit();
  }
  long long rows() const { return rows_; }

 private:
  static constexpr std::size_t kPiece = 1U << 18U;
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }
  record::OutputFile file_;
  record::Columns columns_;
  std::string buffer_;
  long long rows_{0};
};

/// A wall crossed by more than a hundredth of the size of the motion deserves a word.
void warn_of_depth(const study::Motion& motion, const plot::Path& path,
                   std::vector<std::string>& warnings) {
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.violation_contact < 0) return;
  double size = 0.0;
  for (int i = 0; i < motion.scene.model->dofs(); ++i) {
    double low = path.position(0, i);
    double high = low;
    for (std::size_t k = 0; k < path.size(); ++k) {
      low = std::min(low, path.position(k, i));
      high = std::max(high, path.position(k, i));
    }
    size = std::max(size, high - low);
  }
  if (!(c.violation_depth > 0.01 * size)) return;
  const auto contact = static_cast<std::size_t>(c.violation_contact);
  warnings.push_back(fmt::format(
      "'{}' is crossed by {:.2g}, {:.1f} % of the extent of the motion: the step is large; try a "
      "smaller one or correction = \"project\"",
      motion.scene.model->contact_names()[contact], c.violation_depth,
      100.0 * c.violation_depth / size));
}

void warn_of_adhesion(const study::Motion& motion, std::vector<std::string>& warnings) {
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.adhesive_count == 0) return;
  warnings.push_back(
      fmt::format("{} steps have a contact that pulls (impulse down to -{:.2g}): elast balances "
                  "the energy even "
                  "where the contact should have opened",
                  c.adhesive_count, c.adhesive_max));
}

void warn_of_size(const scene::Scene& scene, const record::Columns& columns) {
  const double every = static_cast<double>(scene.run.record_every);
  const double rows = every > 0.0 ? static_cast<double>(scene.run.steps) / every + 2.0 : 2.0;
  const double bytes = record::estimate_bytes(columns, rows);
  if (bytes < 1e9) return;
  fmt::print(stderr,
             "note: this run will write about {:.1f} GB to trajectory.csv; run.record = N keeps "
             "every N-th row only\n",
             bytes / 1e9);
}

}  // namespace

FolderRun run_into(const std::filesystem::path& folder, const scene::Scene& scene,
                   const FolderOptions& options) {
  const record::Columns columns = columns_of(*scene.model);
  warn_of_size(scene, columns);
  TrajectoryFile trajectory(folder / "trajectory.csv", columns);
  plot::Path path;
  FolderRun result;
  result.warnings = scene.warnings;
  {
    RunWatch watch(scene.run.steps, options.show_progress);
    const auto observe = [&](const step::Sample& sample) {
      trajectory.add(sample);
      path.add(sample);
    };
    result.motion = study::run_scene(scene, options.keep_rows, observe, &watch.monitor());
  }
  trajectory.finish();
  result.rows = trajectory.rows();
  const step::Outcome& outcome = result.motion.outcome;
  if (options.check_facts && outcome.certificate.ok() && !outcome.interrupted) {
    result.facts = study::check_expectations(result.motion);
  }
  warn_of_depth(result.motion, path, result.warnings);
  warn_of_adhesion(result.motion, result.warnings);

  const record::Summary summary{scene.title,
                                scene.source,
                                scene.file,
                                columns,
                                scene.scheme,
                                scene.run,
                                result.motion.final_state,
                                outcome,
                                result.warnings,
                                result.facts};
  record::write_file(folder / "summary.json", record::to_json(summary));
  const std::string subtitle =
      fmt::format("{}{}{}, step {:g}, t = {:g} to {:g}", scene.source,
                  scene.source.empty() ? "" : "; ", step::name_of(scene.scheme), scene.run.step,
                  scene.run.start_time, result.motion.final_state.t);
  record::write_file(folder / "plot.svg", plot::draw_run(path, *scene.model, outcome.certificate,
                                                         scene.title, subtitle));
  return result;
}

}  // namespace ricochet::app
