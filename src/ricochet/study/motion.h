#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/record/line_record.h"
#include "ricochet/record/world_record.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/study/world_trace.h"

namespace ricochet::study {

/// One recorded instant, kept.
struct Row {
  double t{0.0};
  std::vector<double> q;
  std::vector<double> u;
  std::vector<double> gaps;
  std::vector<double> impulses;  // since the row before
  double kinetic{0.0};
  double potential{0.0};
  std::vector<double> tangential;  // with friction, as in step::Sample
  std::vector<double> slips;
  std::vector<double> states;
  double energy() const { return kinetic + potential; }
};

/// A copy of a sample.
Row row_of(const step::Sample& sample);

/// All coordinates of a structure at the end of a run, and the model that was run: the scene's, or
/// the reduced one.
struct WholeState {
  std::shared_ptr<const structure::LinearStructure> model;
  structure::Motion state;
};

/// A scene that has been run.
struct Motion {
  Motion();
  Motion(const Motion& other);
  Motion(Motion&& other) noexcept;
  Motion& operator=(const Motion& other);
  Motion& operator=(Motion&& other) noexcept;
  ~Motion();

  scene::Scene scene;
  step::Outcome outcome;
  model::State<model::kDynamic> final_state;  // as rows tell it: of a structure, its points
  std::vector<Row> rows;
  std::optional<record::LineRecord> structure;  // of a structure: what else it tells
  std::optional<WholeState> whole;              // of a structure
  std::optional<record::WorldRecord> world;     // of bodies
};

/// Throws base::InputError where a run backwards in time is asked for that has no answer.
void check_direction(const scene::Scene& scene);

/// Runs a scene. `observe` sees every recorded instant; rows are kept only when asked for, so that
/// long runs do not grow. `look` sees every step of bodies.
Motion run_scene(scene::Scene scene, bool keep_rows, const step::Observer& observe = {},
                 step::Monitor* monitor = nullptr, const WorldLook& look = {});

/// What runs a scene under a label: in memory, or into files. The settings, as of `--set`, are
/// those the scene was read with.
using Runner = std::function<Motion(const std::string& label, const scene::Scene& scene,
                                    const std::vector<std::string>& settings)>;

Motion run_in_memory(const std::string& label, const scene::Scene& scene,
                     const std::vector<std::string>& settings);

}  // namespace ricochet::study
