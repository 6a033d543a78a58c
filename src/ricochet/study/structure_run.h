#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/scene/structure_scene.h"
#include "ricochet/step/simulate_structure.h"
#include "ricochet/study/facts.h"

namespace ricochet::study {

/// A deflected shape of a run.
struct Shape {
  double t{0.0};
  std::vector<double> values;  // at the scene's abscissae, plane after plane
};

/// A reduced run held against the whole, at the rows of the points.
struct ReductionError {
  int modes{0};
  int corrections{0};
  std::vector<std::string> points;
  std::vector<double> rms;                           // of the difference
  std::vector<double> largest;                       // difference
  std::vector<double> whole;                         // rms of the whole model's own motion
  certify::Failure failure{certify::Failure::None};  // of the whole run
};

/// A scene of a structure that has been run.
struct StructureRun {
  scene::StructureScene scene;
  std::shared_ptr<const structure::LinearStructure> model;  // the one that was run
  step::StructureOutcome outcome;
  structure::Motion final_state;  // in the coordinates of that model
  std::vector<Shape> shapes;
  std::optional<ReductionError> reduction;

  double point(std::size_t k) const;
  double point_velocity(std::size_t k) const;
};

/// Runs a scene; `observe` sees every recorded instant.
StructureRun run_structure(const scene::StructureScene& scene, const step::Observer& observe = {},
                           step::Monitor* monitor = nullptr);

/// Its [expect], evaluated.
std::vector<Fact> check_expectations(const StructureRun& run);

/// A scene of the program by its name, with settings as of `--set`, run in memory.
StructureRun run_builtin_structure(const std::string& name,
                                   const std::vector<std::string>& settings = {},
                                   const step::Observer& observe = {});

}  // namespace ricochet::study
