#include "ricochet/study/recorded_run.h"

#include <fmt/format.h>

#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/scene/structure_reader.h"
#include "ricochet/study/motion.h"

namespace ricochet::study {
namespace {

constexpr double kMostValues = 2e7;  // positions of one run that are kept, 320 MB with velocities

}  // namespace

Curve RecordedRun::velocity_curve(std::size_t i) const {
  Curve curve;
  for (std::size_t row = 0; row < rows(); ++row) curve.add(t[row], velocity(row, i));
  return curve;
}

long long RecordedRun::shocks() const {
  long long count = 0;
  for (const long long of_contact : outcome.certificate.shock_counts) count += of_contact;
  return count;
}

double end_of(const scene::Scene& scene) {
  const step::RunSettings& run = scene.run;
  if (run.control.is_on() || run.end_time > run.start_time) return run.end_time;
  return run.start_time + static_cast<double>(run.steps) * run.step;
}

scene::Scene with_step(const scene::Scene& scene, double h, double end) {
  scene::Scene changed = scene;
  changed.run.step = h;
  changed.run.steps = step::steps_until(scene.run.start_time, end, h);
  changed.run.end_time = end;
  changed.run.control = {};
  changed.run.record_every = 1;
  if (auto* structure = std::get_if<scene::StructurePart>(&changed.part)) {
    structure->shapes = 0;
    structure->compare_full = false;
  }
  return changed;
}

void check_step(const scene::Scene& scene, double h, double end, const std::string& option) {
  if (!(h > 0.0) || !std::isfinite(h)) {
    throw base::InputError(option, fmt::format("a step must be positive, not {:g}", h),
                           "write lengths of steps, as 0.01");
  }
  const double steps = (end - scene.run.start_time) / h;
  if (steps < 2.0 - 1e-6) {
    throw base::InputError(option,
                           fmt::format("the run from t = {:g} to {:g} has no two steps of {:g}",
                                       scene.run.start_time, end, h),
                           "write smaller steps, or a later end with --until");
  }
  const std::size_t coordinates = scene.columns.coordinates.size();
  if (coordinates == 0) {
    throw base::InputError("structure.point", "no point is named, so nothing can be compared",
                           "write [structure.point.tip] with at = ...");
  }
  if (steps * static_cast<double>(coordinates) > kMostValues) {
    throw base::InputError(
        option,
        fmt::format("{:.3g} steps of {:g} with {} coordinates are more than can be kept", steps, h,
                    coordinates),
        "write larger steps, or an earlier end with --until");
  }
  if (scene.structure() == nullptr) return;
  if (const auto fault = scene::fault_of_step(*scene.structure(), scene.scheme, h)) {
    throw base::InputError(option, fault->message(), fault->remedy());
  }
}

RecordedRun record_run(const scene::Scene& scene, step::Monitor* monitor) {
  RecordedRun run;
  run.step = scene.run.step;
  run.coordinates = scene.columns.coordinates.size();
  const auto rows = static_cast<std::size_t>(scene.run.steps + 1);
  run.t.reserve(rows);
  run.q.reserve(rows * run.coordinates);
  run.u.reserve(rows * run.coordinates);
  const auto keep = [&](const step::Sample& sample) {
    run.t.push_back(sample.t);
    run.q.insert(run.q.end(), sample.q.begin(), sample.q.end());
    run.u.insert(run.u.end(), sample.u.begin(), sample.u.end());
  };
  Motion motion = run_scene(scene, false, keep, monitor);
  run.outcome = std::move(motion.outcome);
  if (motion.structure) {
    run.points = std::move(motion.structure->points);
    run.guides = std::move(motion.structure->guides);
  }
  return run;
}

}  // namespace ricochet::study
