#include "ricochet/study/structure_run.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ricochet/study/builtin_scenes.h"

namespace ricochet::study {
namespace {

using Values = std::map<std::string, double>;
using Rows = std::vector<std::vector<double>>;

/// How far two runs are apart at their common rows, point by point.
void measure_difference(const Rows& reduced, const Rows& whole, ReductionError& error) {
  const std::size_t count = error.points.size();
  error.rms.assign(count, 0.0);
  error.largest.assign(count, 0.0);
  error.whole.assign(count, 0.0);
  const std::size_t rows = std::min(reduced.size(), whole.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < count; ++k) {
      const double difference = std::abs(reduced[r][k] - whole[r][k]);
      error.rms[k] += difference * difference;
      error.whole[k] += whole[r][k] * whole[r][k];
      error.largest[k] = std::max(error.largest[k], difference);
    }
  }
  for (std::size_t k = 0; k < count && rows > 0; ++k) {
    error.rms[k] = std::sqrt(error.rms[k] / static_cast<double>(rows));
    error.whole[k] = std::sqrt(error.whole[k] / static_cast<double>(rows));
  }
}

Shape shape_of(const scene::StructureScene& scene, double t, const Eigen::VectorXd& q) {
  Shape shape{t, {}};
  for (int p = 0; p < scene.model->planes; ++p) {
    for (const structure::Row& row : scene.shape_rows) {
      shape.values.push_back(scene.model->value_at(row, p, q.data()));
    }
  }
  return shape;
}

/// Runs the first modes with their static corrections, then the whole model beside it.
StructureRun run_reduced(const scene::StructureScene& scene, const step::Observer& observe,
                         step::Monitor* monitor) {
  const auto reduction = std::make_shared<const structure::Reduction>(
      structure::reduce(*scene.model, scene.reduced_modes));
  if (reduction->modes == 0) {
    throw base::InputError("structure.reduction", "the modes could not be found",
                           "take fewer nodes, or leave reduction out");
  }
  StructureRun run;
  run.scene = scene;
  run.model = std::shared_ptr<const structure::LinearStructure>(reduction, &reduction->structure);
  run.final_state = {scene.start.t, structure::project(*reduction, *scene.model, scene.start.q),
                     structure::project(*reduction, *scene.model, scene.start.u)};
  Rows rows;
  const auto keep = [](Rows& into, const step::Sample& sample) {
    into.emplace_back(sample.q.begin(), sample.q.end());
  };
  run.outcome = step::simulate_structure(
      *run.model, scene.settings, scene.run, run.final_state,
      [&](const step::Sample& sample) {
        keep(rows, sample);
        if (observe) observe(sample);
      },
      monitor, scene.shapes,
      [&](const structure::Motion& now) {
        run.shapes.push_back(shape_of(scene, now.t, structure::expand(*reduction, now.q)));
      });
  ReductionError error;
  error.modes = reduction->modes;
  error.corrections = reduction->corrections;
  if (scene.compare_full && !run.outcome.run.interrupted) {
    for (const structure::Point& point : scene.model->points) error.points.push_back(point.name);
    Rows whole;
    structure::Motion state = scene.start;
    const step::StructureOutcome outcome = step::simulate_structure(
        *scene.model, scene.settings, scene.run, state,
        [&](const step::Sample& sample) { keep(whole, sample); }, monitor);
    error.failure = outcome.run.certificate.failure;
    run.outcome.run.interrupted = outcome.run.interrupted;
    measure_difference(rows, whole, error);
  }
  run.reduction = error;
  return run;
}

void add_certificate(const StructureRun& run, Values& values) {
  const certify::Certificate& c = run.outcome.run.certificate;
  const certify::Ledger& ledger = c.ledger;
  const certify::StructureBooks& books = run.outcome.books;
  values.insert({{"energy.start", ledger.kinetic_start + ledger.potential_start},
                 {"energy.end", ledger.kinetic_end + ledger.potential_end},
                 {"energy.lowest", ledger.lowest},
                 {"energy.highest", ledger.highest},
                 {"energy.forces", ledger.forces.value()},
                 {"energy.loads", books.loads.value()},
                 {"energy.damping", books.damping.value()},
                 {"energy.contacts", ledger.contacts.value()},
                 {"energy.shocks", ledger.shocks.value()},
                 {"energy.friction", ledger.friction.value()},
                 {"energy.closure", books.closure.value()},
                 {"violation.max", c.violation_max},
                 {"residual.max", c.residual_max},
                 {"average.gap", books.average_gap},
                 {"steps", static_cast<double>(run.outcome.run.steps)}});
  const std::vector<structure::ContactSide> sides = structure::sides_of(*run.model);
  for (std::size_t a = 0; a < sides.size(); ++a) {
    const std::string name = structure::name_of(sides[a], *run.model);
    values[name + ".gap"] = run.outcome.run.gaps[a];
    values[name + ".shocks"] = static_cast<double>(c.shock_counts[a]);
  }
}

void add_statistics(const StructureRun& run, Values& values) {
  const std::vector<structure::PointStatistics> points = run.outcome.statistics.points();
  for (std::size_t k = 0; k < points.size(); ++k) {
    const structure::PointStatistics& point = points[k];
    values[point.name] = run.point(k);
    values[point.name + "'"] = run.point_velocity(k);
    values[point.name + ".rms"] = point.rms.value;
    values[point.name + ".lowest"] = point.lowest;
    values[point.name + ".highest"] = point.highest;
    values[point.name + ".frequency"] = point.main_frequency;
  }
  for (const structure::GuideStatistics& guide : run.outcome.statistics.guides()) {
    values[guide.name + ".impacts"] = static_cast<double>(guide.impacts);
    values[guide.name + ".rate"] = guide.rate.value;
    values[guide.name + ".contact_ratio"] = guide.contact_ratio.value;
    values[guide.name + ".impulse"] = guide.impulse;
    values[guide.name + ".impulse_max"] = guide.impulse_max;
    values[guide.name + ".force_max"] = guide.force_max;
    values[guide.name + ".work_normal"] = guide.work_normal.value;
    values[guide.name + ".work_sliding"] = guide.work_sliding.value;
    values[guide.name + ".first"] = guide.first_push;
    values[guide.name + ".last"] = guide.last_push;
  }
}

}  // namespace

double StructureRun::point(std::size_t k) const {
  const structure::Point& at = model->points[k];
  return model->value_at(at.row, at.plane, final_state.q.data());
}

double StructureRun::point_velocity(std::size_t k) const {
  const structure::Point& at = model->points[k];
  return model->value_at(at.row, at.plane, final_state.u.data());
}

StructureRun run_structure(const scene::StructureScene& scene, const step::Observer& observe,
                           step::Monitor* monitor) {
  if (scene.reduced_modes > 0) return run_reduced(scene, observe, monitor);
  StructureRun run;
  run.scene = scene;
  run.model = scene.model;
  run.final_state = scene.start;
  run.outcome = step::simulate_structure(
      *scene.model, scene.settings, scene.run, run.final_state, observe, monitor, scene.shapes,
      [&](const structure::Motion& now) { run.shapes.push_back(shape_of(scene, now.t, now.q)); });
  return run;
}

std::vector<Fact> check_expectations(const StructureRun& run) {
  Values values = {{"t", run.final_state.t}};
  for (const auto& [name, value] : run.scene.parameters) values[name] = value;
  add_certificate(run, values);
  add_statistics(run, values);
  return judge_expectations(run.scene.expectations, values, scene::fact_names(*run.model));
}

StructureRun run_builtin_structure(const std::string& name,
                                   const std::vector<std::string>& settings,
                                   const step::Observer& observe) {
  std::vector<scene::Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(scene::parse_override(setting));
  return run_structure(scene::read_structure_scene(name + ".toml", builtin_scene(name), overrides),
                       observe);
}

}  // namespace ricochet::study
