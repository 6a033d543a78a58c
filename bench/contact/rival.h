#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace ricochet::bench {

struct Timed {
  bool ended{false};    // false: stopped at the limit, or it crashed
  double seconds{0.0};  // the least of a few repeats when it is short
  int iterations{0};    // of the outermost loop
  Eigen::VectorXd impulses;
};

/// The solvers of another library, each run in a process of its own.
std::vector<std::string> rival_names(int dim);

/// What it is, and how it was built.
std::string rival_description();

/// Solves the problem stored as Siconos text in `file`, asking for the tolerance `asked` of its own
/// measure; `sweeps` > 0: exactly that many iterations instead.
Timed run_rival(const std::string& name, const std::string& file, int dim, Eigen::Index rows,
                double asked, double limit, int sweeps = 0);

}  // namespace ricochet::bench
