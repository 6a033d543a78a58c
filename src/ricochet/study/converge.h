#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/scene/scene.h"
#include "ricochet/study/motion_errors.h"

namespace ricochet::study {

/// What `converge` is asked for.
struct ConvergeSettings {
  std::vector<double> steps;   // h [s], in any order
  double reference_step{0.0};  // [s]; 0: the stated motion, or an eighth of the smallest step
  double window{0.0};          // [s] around jumps; 0: kWindowSteps of the largest steps
  static constexpr double kFinest = 8.0;
  static constexpr double kWindowSteps = 4.0;
};

/// One run and its errors.
struct ConvergeRow {
  double step{0.0};
  long long steps{0};
  long long shocks{0};
  double variation{0.0};  // Var(u), summed over coordinates: bounded as h falls [Mabrouk 1998]
  MotionErrors errors;
  std::vector<structure::PointStatistics> points{};  // of a structure
  std::vector<structure::GuideStatistics> guides{};
};

/// A run that its own certificate stopped.
struct FailedRun {
  double step{0.0};
  certify::Certificate certificate;
};

struct Convergence {
  bool reference_is_stated{false};
  double reference_step{0.0};  // 0 of a stated motion
  long long reference_shocks{0};
  std::vector<double> jumps;  // of the reference
  double window{0.0};
  double from{0.0};
  double to{0.0};
  std::vector<ConvergeRow> rows;                     // from the largest step to the smallest
  std::array<std::optional<double>, kMeasures> fit;  // exponent of h, by least squares
  std::vector<std::string> remarks;                  // what the reader must know of these numbers
  std::optional<FailedRun> failed;                   // then the rows end before it
  bool interrupted{false};

  /// From the row before to this one; nothing for the first, and where rounding is all there is.
  std::optional<double> order(std::size_t row, std::size_t measure) const;
};

/// Runs a scene with each step and measures how the errors fall. Throws base::InputError for steps
/// that make no sense.
Convergence converge(const scene::Scene& scene, const ConvergeSettings& settings,
                     step::Monitor* monitor = nullptr);

}  // namespace ricochet::study
