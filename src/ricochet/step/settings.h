#pragma once

#include "ricochet/certify/certificate.h"

namespace ricochet::step {

/// Steps chosen as the motion goes: two half steps and a whole one may differ by `tolerance` in any
/// coordinate, and a contact may be crossed by no more before it acts.
struct StepControl {
  double smallest{0.0};   // h [s]; taken whatever the error
  double tolerance{0.0};  // in units of the coordinates; 0: no control
  bool is_on() const { return tolerance > 0.0; }
};

/// How long to run, and what to keep.
struct RunSettings {
  double step{0.0};      // h [s], > 0; the largest one under step control
  long long steps{0};    // number of steps; under step control of the largest ones
  double end_time{0.0};  // [s], under step control
  StepControl control{};
  bool backward{false};       // into the past; see model::reversed
  double start_time{0.0};     // [s]
  long long record_every{1};  // a row every N steps; 0: first and last only
  bool certify{true};         // off only to measure what certificates cost
  certify::Limits limits{};
};

/// A contact of springs that is resolved has at least so many steps.
inline constexpr double kFewestContactSteps = 10.0;

/// Number of steps to the first step time >= until - 1e-6 step.
long long steps_until(double start_time, double until, double step);

}  // namespace ricochet::step
