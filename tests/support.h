#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "ricochet/base/random.h"
#include "ricochet/convex/metric.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/motion.h"

namespace ricochet::testing {

inline Eigen::VectorXd random_vector(base::Random& random, Eigen::Index n) {
  Eigen::VectorXd v(n);
  for (double& x : v) x = random.normal();
  return v;
}

inline Eigen::MatrixXd random_matrix(base::Random& random, Eigen::Index rows,
                                     Eigen::Index columns) {
  Eigen::MatrixXd m(rows, columns);
  for (double& x : m.reshaped()) x = random.normal();
  return m;
}

/// A symmetric positive definite matrix of condition up to about 10^(2 decades).
inline Eigen::MatrixXd random_metric(base::Random& random, Eigen::Index n, double decades = 1.0) {
  const Eigen::MatrixXd a = random_matrix(random, n, n);
  Eigen::MatrixXd scale = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    scale(i, i) = std::pow(10.0, random.uniform(-decades, decades));
  return scale * (a * a.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n)) * scale;
}

/// A scene from text, with settings as of `--set`.
inline scene::Scene read_text(const std::string& text,
                              const std::vector<std::string>& settings = {}) {
  std::vector<scene::Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(scene::parse_override(setting));
  return scene::read_scene("test.toml", text, overrides);
}

/// Its run with every row kept.
inline study::Motion run_text(const std::string& text,
                              const std::vector<std::string>& settings = {}) {
  return study::run_scene(read_text(text, settings), true);
}

/// A particle (x, y) of mass 1 under gravity 10 over the floor y >= 0, at rest on it, inelastic.
inline const std::string kFloor = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "10*y"
[contact.floor]
keep = "y >= 0"
[start]
position = { x = 0, y = 0 }
velocity = { x = 0, y = 0 }
[run]
scheme = "inel"
step   = 0.01
until  = 1
)toml";

}  // namespace ricochet::testing
