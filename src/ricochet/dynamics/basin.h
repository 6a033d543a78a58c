#pragma once

#include <string>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/dynamics/section.h"

namespace ricochet::dynamics {

/// What motions settle on: its points on the section.
struct Attractor {
  int period{0};  // in sections; 0: it does not repeat
  std::vector<Eigen::VectorXd> states;
  std::vector<std::vector<double>> rows;  // of what is kept
};

/// Which attractor each start, or each value of a parameter, leads to.
struct Basin {
  static constexpr int kUndecided = -1;
  static constexpr int kEscapes = -2;  // the motion grows beyond all bounds
  static constexpr int kOutside = -3;  // the start lies beyond a wall
  std::vector<std::string> keys;       // two
  std::vector<std::vector<double>> values;
  std::vector<int> labels;  // by cell, the second key varying fastest
  std::vector<Attractor> attractors;
  std::vector<std::string> names;  // of what is kept
  bool interrupted{false};

  double fraction(int label) const;  // of the cells that are not outside
  /// Mean over boxes of 5 x 5 cells of the entropy of their labels [Daza 2016].
  double entropy() const;
};

/// Throws base::InputError for a scene without [sweep] over two numbers. The result does not depend
/// on the executor's threads.
Basin find_basin(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
                 const base::Executor& executor, step::Monitor* monitor = nullptr,
                 const base::Ranks& ranks = {});

std::string basin_npz(const Basin& found);
std::string to_json(const Basin& found, const scene::Scene& scene);
std::string describe(const Basin& found, const scene::Scene& scene);

}  // namespace ricochet::dynamics
