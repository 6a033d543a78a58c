#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/contact.h"
#include "ricochet/problem/grip.h"

namespace ricochet::solve {

/// Impulses that solve a contact problem, and what each contact does.
struct ContactSolution {
  Eigen::VectorXd impulses;
  Eigen::VectorXd velocities;
  std::vector<problem::Grip> grips;
  int free{0};  // dimensions of the continuum of impulses it belongs to; 0: it is alone
};

inline constexpr int kMostListed = 4;  // contacts in the plane; in space two

bool may_be_listed(const problem::ContactProblem& problem);

/// All isolated solutions of a problem that may be listed, and of each continuum its shortest
/// impulses, where these obey the law. Modes are gone through one by one: in the plane this is
/// complete, in space as far as slip is found from 24 directions.
std::vector<ContactSolution> all_solutions(const problem::ContactProblem& problem);

}  // namespace ricochet::solve
