#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "ricochet/study/recorded_run.h"
#include "ricochet/study/reference.h"

namespace ricochet::study {

/// Distances between a run and its reference, from the start to a common end. A jump that comes a
/// little late is no small error in the maximum norm of velocities, so that across impacts they are
/// measured as functions of bounded variation.
enum class Measure : std::size_t {
  PositionAcross,  // max |q - q_ref| at all output times
  PositionAway,    // the same, away from the jumps of the reference
  VelocityL1,      // integral of |u - u_ref|
  VelocityGraph,   // Hausdorff distance of the completed graphs
  VelocityAway,    // max |u - u_ref| at output times away from the jumps
};
inline constexpr std::size_t kMeasures = 5;

/// Key in files, "position_across", and the heading of a column, "q across".
std::string key_of(Measure measure);
std::string heading_of(Measure measure);

/// What lies within `width` of a jump of the reference is not away from it.
struct Windows {
  std::vector<double> jumps;  // in order
  double width{0.0};
  bool holds(double t) const;
};

/// One number for each measure. The maximum is over coordinates too, and so is the graph; the
/// integral is the sum over coordinates.
struct MotionErrors {
  std::array<double, kMeasures> value{};     // NaN: no output time is away
  std::array<double, kMeasures> rounding{};  // what rounding may have made of it
  double operator[](Measure m) const { return value[static_cast<std::size_t>(m)]; }
  bool is_rounding(std::size_t m) const { return value[m] <= rounding[m]; }
};

MotionErrors measure_errors(const RecordedRun& run, const Reference& reference, double end,
                            const Windows& windows);

/// Shocks of a run before `end` that no window holds, in words; empty without any. They spoil what
/// is called away.
std::string remark_on_windows(const RecordedRun& run, const Windows& windows, double end,
                              const std::string& name);

}  // namespace ricochet::study
