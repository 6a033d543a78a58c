#pragma once

#include "ricochet/solve/impulse_time.h"
#include "ricochet/step/friction_stages.h"

namespace ricochet::step {

/// Whether shocks are followed in impulse time: then all contacts have friction.
template <model::Model M>
bool follows_shocks(const M& model, const Workspace<M>& w) {
  if constexpr (requires { model.impact_ending(0); }) {
    return model.has_laws() &&
           model.impact_kind(w.claim.active[0]) == model::ImpactKind::ImpulseTime;
  }
  return false;
}

/// U of contact a for the velocity v.
template <model::FrictionModel M>
Eigen::Vector3d full_velocity(const M& model, int a, const model::Vector<M::kDofs>& v,
                              const Workspace<M>& w) {
  Eigen::Vector3d U(w.place.stretch[a] * contact_velocity(w, a, v), 0.0, 0.0);
  for (int j = 0; j < model.slips(a); ++j) U[1 + j] = slip_velocity(w, a, j, v);
  return U;
}

/// The shocks of the contacts that approach at the start of the step, each in impulse time as if it
/// were alone, in the order of the scene until none approaches: w.shocks, and the velocity after
/// them in w.law.                                  [Darboux 1880; Keller 1986; Stronge 1990]
template <model::FrictionModel M>
problem::Report follow_shocks(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  constexpr double kStill = 1e-13;  // of the fastest approach: none
  const auto& active = w.claim.active;
  int left = 1000;
  double fastest = 0.0;
  w.law = s.u;
  w.shocks.assign(static_cast<std::size_t>(active.size()), Eigen::Vector3d::Zero());
  for (const int a : active) fastest = std::max(fastest, -full_velocity(model, a, s.u, w).x());
  for (bool approaches = fastest > 0.0; approaches;) {
    approaches = false;
    for (int k = 0; k < active.size(); ++k) {
      const int a = active[k];
      const Eigen::Vector3d U = full_velocity(model, a, w.law, w);
      if (!(U.x() < -kStill * fastest)) continue;
      if (--left < 0) return {.status = problem::Status::NoConvergence};
      const OneContact<M> contact(model, a, s, w);
      const double e = model.restitution_at(a, w.t_mid, *w.cone_point, w.law,
                                            -U.x() / w.place.stretch[a], w.place);
      const solve::FollowedShock shock = solve::follow_in_space(
          contact.W, U, section_of(model, a, false, s, w), e, model.impact_ending(a));
      if (!shock.ended) return {.status = problem::Status::Degenerate};
      for (int i = 0; i < contact.rows; ++i) {
        w.law += shock.impulse[i] * w.responses[static_cast<std::size_t>(i)];
      }
      w.shocks[static_cast<std::size_t>(k)] += shock.impulse;
      approaches = true;
    }
  }
  return {};
}

/// What a contact does at the end of its shock, where nothing more pushes.
template <model::FrictionModel M>
void name_grip(const M& model, int k, const model::StateOf<M>& s,
               const model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  constexpr double kRests = 2e-11;  // of the velocity before
  const int a = w.claim.active[k];
  if (w.claim.grip(k) != problem::Grip::Free || w.shocks[static_cast<std::size_t>(k)].x() == 0.0) {
    return;
  }
  const Eigen::Vector3d U = full_velocity(model, a, u_next, w);
  const bool rests = U.tail<2>().norm() <= kRests * full_velocity(model, a, s.u, w).norm();
  w.claim.grip(k) = rests ? problem::Grip::Stick : problem::Grip::Slip;
}

/// Shocks in impulse time, then the forces of the step with the law of friction for e = 0.
template <model::FrictionModel M>
problem::Report push_followed(const M& model, const model::StateOf<M>& s,
                              model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  problem::Report report;
  if constexpr (requires { model.impact_ending(0); }) {
    report = follow_shocks(model, s, w);
    if (report.status != problem::Status::Solved) return report;
    w.law_free = w.free;
    w.free += w.law - s.u;
    const auto& active = w.claim.active;
    report = active.size() == 1 ? push_one_with_friction(model, s, u_next, w)
                                : push_many_with_friction(model, s, u_next, w);
    w.free = w.law_free;
    for (int k = 0; k < active.size(); ++k) {
      const Eigen::Vector3d& shock = w.shocks[static_cast<std::size_t>(k)];
      w.claim.impulses[k] += w.place.stretch[active[k]] * shock.x();
      for (int j = 0; j < model.slips(active[k]); ++j) {
        w.claim.tangential[M::kSlips * k + j] += shock[1 + j];
      }
      name_grip(model, k, s, u_next, w);
    }
  }
  return report;
}

/// The end of a step: the impulses that the laws of friction and restitution give, and u+.
template <model::Model M>
[[gnu::always_inline]] inline problem::Report push(const M& model, const model::StateOf<M>& s,
                                                   model::Vector<M::kDofs>& u_next,
                                                   Workspace<M>& w) {
  const bool single = w.claim.active.size() == 1 && model.joints() == 0;
  if constexpr (M::kSlips > 0) {
    if (has_friction(model, w)) {
      if (follows_shocks(model, w)) return push_followed(model, s, u_next, w);
      return single ? push_one_with_friction(model, s, u_next, w)
                    : push_many_with_friction(model, s, u_next, w);
    }
  }
  if constexpr (model::ImpactModel<M>) {
    if (acts_by_law(model, s, w)) return push_by_law(model, s, u_next, w);
  }
  if (!single) return push_many(model, std::nullopt, s.u, u_next, w);
  const int a = w.claim.active[0];
  return push_one(model, returned_velocity(model, a, s.u, w), false, u_next, w);
}

/// What the next step needs to know: which contacts were active, which ended in stick, and which
/// did before but did not push now.
template <model::Model M>
[[gnu::always_inline]] inline void remember_contacts(const M& model, const model::StateOf<M>& s,
                                                     const Workspace<M>& w,
                                                     model::StateOf<M>& next) {
  model::SchemeMemory& memory = next.memory.scheme;
  memory.touched.clear();
  const int contacts = w.claim.active.size() - model.joints();
  for (int k = 0; k < contacts; ++k) {
    memory.touched.push_back(static_cast<model::Key>(w.claim.active[k]));
  }
  if constexpr (M::kSlips > 0) remember_sticks(model, s, w, memory);
}

template <model::Model M>
void remember_sticks(const M& model, const model::StateOf<M>& s, const Workspace<M>& w,
                     model::SchemeMemory& memory) {
  memory.reserve(static_cast<std::size_t>(model.contacts()), true);  // where the pace did not
  memory.stuck.clear();
  memory.pushed.clear();
  memory.lapsed = s.memory.scheme.stuck;
  const int contacts = w.claim.active.size() - model.joints();
  for (int k = 0; k < contacts; ++k) {
    const auto key = static_cast<model::Key>(w.claim.active[k]);
    if (model.slips(w.claim.active[k]) == 0) continue;
    if (w.claim.grip(k) == problem::Grip::Stick) memory.stuck.push_back(key);
    if (w.claim.impulses[k] == 0.0) continue;
    std::erase(memory.lapsed, key);
    memory.pushed.push_back(key);
  }
}

}  // namespace ricochet::step
