#pragma once

#include <cmath>
#include <limits>

#include "ricochet/step/stages.h"

/// Contacts of a linear structure, which knows their responses: both sides of a guide are one row
/// of a problem between bounds.
namespace ricochet::step {

/// Velocities of the guides before, and with w.free; no bounds yet.
template <model::ImplicitModel M>
void open_guides(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto& g = w.guides;
  for (int k = 0; k < model.guides(); ++k) {
    g.before[k] = model.across(k, s.u);
    g.free[k] = model.across(k, w.free);
    if (model.guide(k).friction > 0.0) g.free_along[k] = model.along(k, w.free);
  }
  g.low.setConstant(-kInfinity);
  g.high.setConstant(kInfinity);
}

/// Normals such that velocities end between their bounds, then frictions within theirs; again where
/// they share a plane.
template <model::ImplicitModel M>
problem::Report solve_guides(const M& model, const Eigen::MatrixXd& W, Workspace<M>& w) {
  auto& g = w.guides;
  g.box.forget();  // what is not in the state must not matter
  g.along.setZero();
  if (model.guides() == 0) return {};
  bool rubs = false;
  for (int k = 0; k < model.guides(); ++k) rubs = rubs || model.guide(k).friction > 0.0;
  if (!rubs) return g.box.solve_velocities(W, g.free, g.low, g.high, g.normal);
  constexpr int kMostSweeps = 500;
  constexpr double kSettled = 1e-14;
  for (int round = 0; round < kMostSweeps; ++round) {
    g.last = g.normal;
    g.right = g.free;
    if (model.planes_meet()) g.right.noalias() += model.cross_weights() * g.along;
    const problem::Report one = g.box.solve_velocities(W, g.right, g.low, g.high, g.normal);
    if (one.status != problem::Status::Solved) return one;
    for (int k = 0; k < model.guides(); ++k) {
      g.bound[k] = model.guide(k).friction * std::abs(g.normal[k]);
    }
    g.right = g.free_along;
    if (model.planes_meet()) g.right.noalias() += model.cross_weights() * g.normal;
    const problem::Report two = g.box.solve_impulses(W, g.right, g.bound, g.along);
    if (two.status != problem::Status::Solved || !model.planes_meet()) return two;
    const double size = g.normal.cwiseAbs().maxCoeff();
    if (round > 0 && (g.normal - g.last).cwiseAbs().maxCoeff() <= kSettled * size) return two;
  }
  return {problem::Status::NoConvergence, kMostSweeps};
}

/// The reactions as impulses of the active sides, and u+ = u' + A^-1 G^T p.
template <model::ImplicitModel M>
void take_reactions(const M& model, model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  auto& claim = w.claim;
  u_next = w.free;
  for (int j = 0; j < claim.active.size(); ++j) {
    const int a = claim.active[j];
    const int k = model.guide_at(a);
    const double p = model.side(a).push(w.guides.normal[k]);
    const double along = p > 0.0 ? w.guides.along[k] : 0.0;
    const double most = model.guide(k).friction * p;
    const bool sticks = std::abs(along) < most * (1.0 - 1e-12);
    claim.impulses[j] = p;
    claim.tangential[j] = along;
    claim.grip(j) = p == 0.0 ? problem::Grip::Free
                    : sticks ? problem::Grip::Stick
                             : problem::Grip::Slip;
    model.add_response(a, p, along, u_next);
  }
}

/// Structures are not offered a correction.
template <model::ImplicitModel M>
problem::Report correct_violation(const M&, Workspace<M>&, bool) {
  return {};
}

/// 0 <= p, U+ + e U >= 0, one of them 0, for the sides that are active; g/h in place of e U for
/// those that last.
template <model::ImplicitModel M>
problem::Report push(const M& model, const model::StateOf<M>& s, model::Vector<M::kDofs>& u_next,
                     Workspace<M>& w) {
  open_guides(model, s, w);
  auto& g = w.guides;
  for (const int a : w.claim.active) {
    const int k = model.guide_at(a);
    const bool is_upper = model.side(a).is_upper;
    double& bound = (is_upper ? g.high : g.low)[k];
    bound = -model.restitution(a) * g.before[k];
    if (!w.lasting.empty() && w.lasting.holds(a)) {
      bound = is_upper ? w.lasting.speed(a) : -w.lasting.speed(a);
    }
  }
  const problem::Report report = solve_guides(model, model.weights(), w);
  take_reactions(model, u_next, w);
  return report;
}

}  // namespace ricochet::step
