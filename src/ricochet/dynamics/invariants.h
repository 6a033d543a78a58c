#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ricochet/dynamics/section.h"

namespace ricochet::dynamics {

struct InvariantSettings {
  std::vector<std::string> schemes;
  std::vector<double> steps;  // [s]
  double periods{5000.0};     // of which each run is made, after a tenth of them
};

/// What a run says of the attractor.
struct Invariants {
  std::string scheme;  // empty: the exact motion
  double step{0.0};    // [s]; 0: the exact motion
  double rate{0.0};    // impacts a period
  double rate_error{0.0};
  double speed{0.0};        // mean approach
  double square{0.0};       // mean of its square
  double exponent{0.0};     // by the saltation of every impact of the run
  double distance{0.0};     // mean difference of sorted approach speeds from the exact motion's
  long long recurrence{0};  // periods after which the run repeats to the last digit; 0: not
  bool is_locked{false};    // and the motion does not
  std::string failure;
};

struct InvariantTable {
  Invariants exact;
  std::vector<Invariants> rows;
  bool interrupted{false};
};

/// The same attractor by the exact motion and by schemes [Paoli 2001, par. 6]. `read` gives the
/// scene with a scheme and a step. Throws base::InputError for a scene without period.
InvariantTable compare_invariants(
    const scene::Scene& scene, const std::function<scene::Scene(const std::string&, double)>& read,
    const InvariantSettings& settings, step::Monitor* monitor = nullptr);

std::string to_json(const InvariantTable& found, const scene::Scene& scene);
std::string describe(const InvariantTable& found, const scene::Scene& scene);

}  // namespace ricochet::dynamics
