#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/scene/scene.h"
#include "ricochet/study/motion_errors.h"

namespace ricochet::study {

/// What `compare` is asked for.
struct CompareSettings {
  std::vector<std::string> schemes;
  double reference_step{0.0};      // [s]; 0: the stated motion, or a sixteenth of the step
  std::string reference_scheme{};  // of a computed reference; empty: the first that can run
  double window{0.0};              // [s] around jumps; 0: kWindowSteps steps
  static constexpr double kFinest = 16.0;
  static constexpr double kWindowSteps = 10.0;
};

/// One scheme on the scene.
struct SchemeRow {
  std::string scheme;
  std::string refusal;                 // why the scene cannot be given to it; empty: it was run
  std::optional<MotionErrors> errors;  // of a run that is whole
  certify::Certificate certificate;
  long long steps{0};
  long long shocks{0};
  double seconds{0.0};  // the least of some repeats, certificates included, nothing recorded
  std::vector<structure::PointStatistics> points{};  // of a structure
  std::vector<structure::GuideStatistics> guides{};
  double energy_change() const;
  double seconds_per_step() const;
  bool was_run() const { return refusal.empty(); }
};

struct Comparison {
  std::string title;
  std::string source;
  double step{0.0};
  double from{0.0};
  double to{0.0};
  bool reference_is_stated{false};
  std::string reference_scheme;  // of a computed one
  double reference_step{0.0};
  std::optional<certify::Certificate> reference_failure;  // then there are no errors
  std::vector<double> jumps;
  double window{0.0};
  std::vector<SchemeRow> rows;  // in the order asked for
  std::vector<std::string> remarks;
  bool interrupted{false};

  bool ok() const;  // every run that was made has a good certificate
};

/// Reads the scene for one scheme; throws base::InputError where that cannot be.
using SceneReader = std::function<scene::Scene(const std::string& scheme)>;

/// Runs a scene with each scheme, one after the other. A scheme that cannot honour the laws of the
/// scene is listed with the reason; where none can, the first reason is thrown.
Comparison compare(const SceneReader& read, const CompareSettings& settings,
                   step::Monitor* monitor = nullptr);

}  // namespace ricochet::study
