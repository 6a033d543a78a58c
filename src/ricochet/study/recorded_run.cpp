#include "ricochet/study/recorded_run.h"

#include <fmt/format.h>

#include <cmath>

#include "ricochet/base/error.h"
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
  if (steps * scene.model->dofs() > kMostValues) {
    throw base::InputError(
        option,
        fmt::format("{:.3g} steps of {:g} with {} coordinates are more than can be kept", steps, h,
                    scene.model->dofs()),
        "write larger steps, or an earlier end with --until");
  }
}

RecordedRun record_run(const scene::Scene& scene, step::Monitor* monitor) {
  RecordedRun run;
  run.step = scene.run.step;
  run.coordinates = static_cast<std::size_t>(scene.model->dofs());
  const auto rows = static_cast<std::size_t>(scene.run.steps + 1);
  run.t.reserve(rows);
  run.q.reserve(rows * run.coordinates);
  run.u.reserve(rows * run.coordinates);
  const auto keep = [&](const step::Sample& sample) {
    run.t.push_back(sample.t);
    run.q.insert(run.q.end(), sample.q.begin(), sample.q.end());
    run.u.insert(run.u.end(), sample.u.begin(), sample.u.end());
  };
  run.outcome = run_scene(scene, false, keep, monitor).outcome;
  return run;
}

}  // namespace ricochet::study
