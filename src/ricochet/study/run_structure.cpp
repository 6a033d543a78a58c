#include "ricochet/study/run_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/step/simulate_structure.h"
#include "ricochet/structure/reduction.h"

namespace ricochet::study {
namespace {

using Model = structure::LinearStructure;
using Rows = std::vector<std::vector<double>>;
using Expand = std::function<Eigen::VectorXd(const Eigen::VectorXd&)>;

/// How far two runs are apart at their common rows, point by point.
std::vector<record::ReducedPoint> measure_difference(const Rows& reduced, const Rows& whole,
                                                     const std::vector<std::string>& names) {
  std::vector<record::ReducedPoint> points;
  const std::size_t rows = std::min(reduced.size(), whole.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    record::ReducedPoint& point = points.emplace_back();
    point.name = names[k];
    for (std::size_t r = 0; r < rows; ++r) {
      const double difference = std::abs(reduced[r][k] - whole[r][k]);
      point.rms += difference * difference;
      point.whole += whole[r][k] * whole[r][k];
      point.largest = std::max(point.largest, difference);
    }
    if (rows == 0) continue;
    point.rms = std::sqrt(point.rms / static_cast<double>(rows));
    point.whole = std::sqrt(point.whole / static_cast<double>(rows));
  }
  return points;
}

record::Shape shape_of(const scene::StructurePart& part, double t, const Eigen::VectorXd& q) {
  record::Shape shape{t, {}};
  for (int p = 0; p < part.model->planes; ++p) {
    for (const structure::Row& row : part.shape_rows) {
      shape.values.push_back(part.model->value_at(row, p, q.data()));
    }
  }
  return shape;
}

/// Runs `model` from its state in motion.whole; `expand` makes coordinates of the scene's model of
/// those of this one.
void simulate(Motion& motion, const step::Observer& observe, step::Monitor* monitor,
              const Expand& expand) {
  const scene::StructurePart& part = *motion.scene.structure();
  record::LineRecord& record = *motion.structure;
  WholeState& whole = *motion.whole;
  step::StructureOutcome found = step::simulate_structure(
      *whole.model, part.settings, motion.scene.run, whole.state, observe, monitor,
      std::max(0, part.shapes - 1) * part.shape_stride + std::min(part.shapes, 1),
      [&](const structure::Motion& now) {
        record.shapes.push_back(shape_of(part, now.t, expand(now.q)));
      });
  motion.outcome = std::move(found.run);
  motion.final_state.t = whole.state.t;
  motion.final_state.q = whole.model->at_points(whole.state.q);
  motion.final_state.u = whole.model->at_points(whole.state.u);
  record.coordinates = whole.model->size();
  record.books = found.books;
  record.solves = found.solves;
  record.contact_stiffness = found.contact_stiffness;
  record.points = found.statistics.points();
  record.guides = found.statistics.guides();
  record.spectra = found.statistics.spectra();
}

/// The first modes with their static corrections, then the whole model beside them.
void simulate_reduced(Motion& motion, const step::Observer& observe, step::Monitor* monitor) {
  const scene::StructurePart& part = *motion.scene.structure();
  const auto reduction = std::make_shared<const structure::Reduction>(
      structure::reduce(*part.model, part.reduced_modes));
  if (reduction->modes == 0) {
    throw base::InputError("structure.reduction", "the modes could not be found",
                           "take fewer nodes, or leave reduction out");
  }
  motion.whole = {std::shared_ptr<const Model>(reduction, &reduction->structure),
                  {part.start.t, structure::project(*reduction, *part.model, part.start.q),
                   structure::project(*reduction, *part.model, part.start.u)}};
  const auto keep = [](Rows& into, const step::Sample& sample) {
    into.emplace_back(sample.q.begin(), sample.q.end());
  };
  Rows rows;
  const auto watch = [&](const step::Sample& sample) {
    if (part.compare_full) keep(rows, sample);
    observe(sample);
  };
  simulate(motion, watch, monitor,
           [&](const Eigen::VectorXd& y) { return structure::expand(*reduction, y); });
  record::Reduced& error = motion.structure->reduction.emplace();
  error.modes = reduction->modes;
  error.corrections = reduction->corrections;
  if (!part.compare_full || motion.outcome.interrupted) return;
  Rows whole;
  structure::Motion state = part.start;
  const step::Outcome outcome =
      step::simulate_structure(
          *part.model, part.settings, motion.scene.run, state,
          [&](const step::Sample& sample) { keep(whole, sample); }, monitor)
          .run;
  error.failure = outcome.certificate.failure;
  motion.outcome.interrupted = outcome.interrupted;
  error.points = measure_difference(rows, whole, motion.scene.columns.coordinates);
}

/// A step that is stable may still be too long to see the structure move.
void warn_of_step(const scene::Scene& scene, std::vector<std::string>& warnings) {
  constexpr double kFewest = 20.0;  // steps of a period
  const std::vector<double>& all = scene.structure()->frequencies;
  // Not those of motions as a whole, which are rounding.
  const auto first =
      std::find_if(all.begin(), all.end(), [&](double f) { return f > 1e-4 * all.back(); });
  if (first == all.end() || !(kFewest * scene.run.step * *first > 1.0)) return;
  warnings.push_back(fmt::format(
      "the first mode, of {:.3g} Hz, has only {:.2g} steps in a period: take a step below {:.2g}",
      *first, 1.0 / (scene.run.step * *first), 1.0 / (kFewest * *first)));
}

}  // namespace

void run_structure(Motion& motion, const step::Observer& observe, step::Monitor* monitor) {
  const scene::StructurePart& part = *motion.scene.structure();
  record::LineRecord& record = motion.structure.emplace();
  record.line = part.line;
  record.frequencies = part.frequencies;
  record.quiet_time = part.model->quiet_time;
  record.abscissae = part.abscissae;
  record.shape_stride = static_cast<std::size_t>(part.shape_stride);
  if (part.reduced_modes > 0) return simulate_reduced(motion, observe, monitor);
  motion.whole = {part.model, part.start};
  simulate(motion, observe, monitor, [](const Eigen::VectorXd& q) { return q; });
}

void warn_of_structure(const Motion& motion, std::vector<std::string>& warnings) {
  for (const structure::GuideStatistics& guide : motion.structure->guides) {
    if (guide.impacts == 0 || !(guide.rate.error > 0.25 * guide.rate.value)) continue;
    warnings.push_back(
        fmt::format("the impact rate of '{}' is known to {:.0f} % only: run longer for statistics",
                    guide.name, 100.0 * guide.rate.error / guide.rate.value));
  }
  warn_of_step(motion.scene, warnings);
  if (!motion.scene.columns.coordinates.empty()) return;
  warnings.emplace_back(
      "no point is named, so the trajectory tells guides and energies only: "
      "write [structure.point.tip] with at = ...");
}

}  // namespace ricochet::study
