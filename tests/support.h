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

/// A scene from text, and its run with every row kept.
inline study::Motion run_text(const std::string& text,
                              const std::vector<std::string>& settings = {}) {
  std::vector<scene::Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(scene::parse_override(setting));
  return study::run_scene(scene::read_scene("test.toml", text, overrides), true);
}

}  // namespace ricochet::testing
