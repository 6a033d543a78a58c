#pragma once

#include <string>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/dynamics/section.h"

namespace ricochet::dynamics {

/// What a motion settled on at one value of the parameter.
struct Branch {
  std::size_t value{0};  // number of the parameter's value
  int seed{0};           // 0: the scene's own start, or followed
  int attractor{-1};     // label; -1: the motion ended
  int period{0};         // in sections; 0: it does not repeat
  bool settled{false};   // it repeats, or both halves of what is shown have the same statistics
  double exponent{0.0};  // the first one, where asked for
  std::string ended{};
  std::vector<std::vector<double>> rows{};    // of what is kept
  std::vector<double> low{}, high{}, mean{};  // of coordinates and velocities

  template <class Archive>
  void visit(Archive& archive) {
    archive(value, seed, period, settled, exponent, ended, rows, low, high, mean);
  }
};

/// Values of the parameter between which the attractor that is followed changes at once.
struct Jump {
  bool forward{true};
  double from{0.0};
  double to{0.0};
};

struct Diagram {
  std::string parameter;
  std::vector<double> values;
  std::vector<std::string> names;  // of what is kept
  std::vector<Branch> forward, backward, fresh;
  std::vector<Jump> jumps;
  std::vector<std::pair<double, double>> hysteresis;  // values where both directions differ
  int attractors{0};
  bool has_exponents{false};
  bool interrupted{false};
};

/// Throws base::InputError for a scene without [sweep] over one parameter. `overrides` are those
/// that the scene was read with.
Diagram bifurcate(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
                  bool with_exponents, const base::Executor& executor,
                  step::Monitor* monitor = nullptr, const base::Ranks& ranks = {});

std::string diagram_csv(const Diagram& found);
std::string to_json(const Diagram& found, const scene::Scene& scene);
std::string describe(const Diagram& found, const scene::Scene& scene);

}  // namespace ricochet::dynamics
