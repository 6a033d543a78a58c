#pragma once

#include <vector>

#include "ricochet/scene/scene.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/structure/statistics.h"
#include "ricochet/study/bv_distance.h"

namespace ricochet::study {

/// A run with positions and velocities of every step, and nothing else of its rows.
struct RecordedRun {
  double step{0.0};
  std::size_t coordinates{0};
  std::vector<double> t;
  std::vector<double> q;  // row after row
  std::vector<double> u;
  step::Outcome outcome;
  std::vector<structure::PointStatistics> points;  // of a structure
  std::vector<structure::GuideStatistics> guides;

  std::size_t rows() const { return t.size(); }
  double position(std::size_t row, std::size_t i) const { return q[row * coordinates + i]; }
  double velocity(std::size_t row, std::size_t i) const { return u[row * coordinates + i]; }
  /// One velocity, linear between output times.
  Curve velocity_curve(std::size_t i) const;
  long long shocks() const;
};

/// The end of the run that a scene describes.
double end_of(const scene::Scene& scene);

/// The scene with steps of one length h until `end`, whatever its own step and step control.
scene::Scene with_step(const scene::Scene& scene, double h, double end);

/// Throws base::InputError where steps of h until `end` are fewer than two, or more than can be
/// kept, or unstable. `option` is what the user wrote.
void check_step(const scene::Scene& scene, double h, double end, const std::string& option);

RecordedRun record_run(const scene::Scene& scene, step::Monitor* monitor);

}  // namespace ricochet::study
