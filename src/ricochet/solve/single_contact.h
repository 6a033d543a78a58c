#pragma once

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "ricochet/convex/friction_cone.h"
#include "ricochet/problem/grip.h"
#include "ricochet/problem/report.h"

namespace ricochet::solve {

/// Impulse of one contact, (normal, tangential, tangential).
struct SingleSolution {
  Eigen::Vector3d impulse{Eigen::Vector3d::Zero()};
  problem::Grip grip{problem::Grip::Free};
  problem::Status status{problem::Status::Solved};
};

/// One contact in the plane, U = W R + b, D = [low, high].         [Moreau 1986 (13.13)]
///
/// u+ = prox(S, 0): S is where the line U_N = 0 meets the cone, a segment, or a half-line when one
/// edge of the cone has W_NN + edge W_NT <= 0. On that line the kinetic energy changes with R_T as
/// U_T does, and U_T grows with R_T: so the nearest point to 0 is where U_T = 0, or the end of S
/// before it. The line always passes through the axis of the cone, so there is exactly one.
[[gnu::always_inline]] inline SingleSolution solve_in_plane(double w_nn, double w_nt, double w_tt,
                                                            double b_n, double b_t,
                                                            const convex::Segment& section) {
  SingleSolution solution;
  if (!(b_n < 0.0)) return solution;
  const double stiffness = w_tt - w_nt * w_nt / w_nn;  // dU_T / dR_T along the line
  const double slip = b_t - w_nt * b_n / w_nn;         // U_T where R_T = 0
  const double edge = slip > 0.0 ? section.low : section.high;
  const double opening = w_nn + edge * w_nt;
  double& normal = solution.impulse[0];
  double& tangential = solution.impulse[1];
  // R_T = -slip / stiffness sticks; the end of S is R_T = edge R_N, where R_N = -b_N / opening.
  const bool ends = opening > 0.0;
  const double end = ends ? -edge * b_n / opening : 0.0;
  const bool sticks = slip == 0.0 || !ends || std::abs(slip) <= stiffness * std::abs(end);
  if (sticks) {
    tangential = slip == 0.0 ? 0.0 : -slip / stiffness;
    normal = -(b_n + w_nt * tangential) / w_nn;
    solution.grip = problem::Grip::Stick;
    if (!(std::abs(tangential) < std::numeric_limits<double>::infinity())) {
      solution.status = problem::Status::Degenerate;
    }
  } else {
    normal = -b_n / opening;
    tangential = edge * normal;
    solution.grip = problem::Grip::Slip;
  }
  return solution;
}

/// Where an edge of the cone has W_NN + edge W_NT <= 0, a contact without approach has two
/// solutions, the free one and stick, and `solution` becomes the latter: that of a contact which
/// was pushing up to there, whose reaction grows without bound as W_NN + edge W_NT falls to 0.
/// [Genot 1999]
inline void keep_pushing(double w_nn, double w_nt, double w_tt, double b_n, double b_t,
                         const convex::Segment& section, SingleSolution& solution) {
  const double slip = b_t - w_nt * b_n / w_nn;
  const double edge = slip > 0.0 ? section.low : section.high;
  if (slip == 0.0 || w_nn + edge * w_nt > 0.0) return;
  const double tangential = -slip / (w_tt - w_nt * w_nt / w_nn);
  const double normal = -(b_n + w_nt * tangential) / w_nn;
  if (!(normal > 0.0 && section.contains({tangential, 0.0}, normal))) return;
  solution.impulse = {normal, tangential, 0.0};
  solution.grip = problem::Grip::Stick;
}

/// One contact in space with any section, exactly: by a quartic where the section is round, by
/// going through the corners and edges of a polygon. Where W couples normal and tangential
/// directions there can be several solutions: the one that leaves the least energy is taken. Of the
/// free and the pushing contact, where both are possible, the free one.
SingleSolution solve_in_space(const Eigen::Matrix3d& W, const Eigen::Vector3d& b,
                              const convex::Section& section);

}  // namespace ricochet::solve
