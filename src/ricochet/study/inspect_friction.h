#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/report.h"
#include "ricochet/study/inspect.h"

namespace ricochet::study {

/// A closed row of an inspection, and what it does.
struct Rubbing {
  int row{0};
  bool is_joint{false};
  Eigen::Vector2d slip{0.0, 0.0};  // in reactions: not 0 where it slips, and opposes that
  double normal{0.0};              // of J^T
  Eigen::Vector2d tangential{0.0, 0.0};
};

/// Coulomb's law of rows on v, velocities before a shock or accelerations without reactions: what
/// does not slip as in a step, by the solver of steps; what slips has R_T at the end of its section
/// that opposes the slip, in rounds, since it is in proportion to R_N.
problem::Report solve_rubbing(const Instant& at, const Eigen::VectorXd& v, bool of_forces,
                              std::vector<Rubbing>& rows);

}  // namespace ricochet::study
