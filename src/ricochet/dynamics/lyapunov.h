#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ricochet/scene/scene.h"
#include "ricochet/step/outcome.h"

namespace ricochet::dynamics {

struct LyapunovSettings {
  double until{0.0};                 // time over which exponents are taken; 0: until they are known
  double settle{-1.0};               // time before that; < 0: 200 periods, or as many impacts
  double tolerance{7e-4};            // of the largest exponent: error bar of the first
  long long most_events{3'000'000};  // unless a time is given
};

/// Exponents of the exact motion from event to event, per unit of time, with the saltation of every
/// event. Errors are those of the mean over blocks of time.
struct Lyapunov {
  std::vector<double> exponents;  // descending; those of -infinity are not among them
  std::vector<double> errors;
  int lost{0};  // exponents of -infinity: lasting contacts forget as much
  /// Sum of the exponents by the identity  <tr f_y> + sum of ln |det S| / t,  and how far the
  /// exponents are from it; not with lost ones.
  bool has_sum{false};
  double trace{0.0};
  double of_impacts{0.0};
  double sum_residual{0.0};
  double rate{0.0};            // impacts per time
  double rate_error{0.0};      // of its mean over the same blocks
  double dimension{0.0};       // Kaplan and Yorke's
  double largest_factor{0.0};  // 1/|U| of an impact
  double settled{0.0};         // [s] before
  double time{0.0};            // [s] over which
  long long impacts{0};
  std::string broken;   // why there is no derivative; empty: there is one
  std::string failure;  // why the motion ended; empty: it did not
  bool interrupted{false};
  std::vector<std::pair<double, double>> history;  // time, first exponent so far

  double sum() const;
};

/// Throws base::InputError for a scene that has no such motion.
Lyapunov lyapunov(const scene::Scene& scene, const LyapunovSettings& settings,
                  step::Monitor* monitor = nullptr);

std::string to_json(const Lyapunov& found, const scene::Scene& scene);
std::string describe(const Lyapunov& found, const scene::Scene& scene);

/// lambda_1 ... lambda_k of which the sum is not negative, and the part of the next that makes it
/// 0.
double kaplan_yorke(const std::vector<double>& exponents);

}  // namespace ricochet::dynamics
