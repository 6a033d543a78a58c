#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "ricochet/certify/friction_law.h"
#include "ricochet/certify/shock_path.h"

/// Shocks in impulse time: what their law says of the impulses.
namespace ricochet::certify {

/// Whether the law of shocks that are followed can create energy: Stronge's never does. None where
/// none are.
template <model::Model M>
std::optional<bool> gain_of_followed(const Context<M>& c) {
  if constexpr (requires { c.model.impact_ending(0); }) {
    if (c.contacts() == 0 || c.model.impact_kind(0) != model::ImpactKind::ImpulseTime) return {};
    for (int a = 0; a < c.contacts(); ++a) {
      if (c.model.impact_ending(a) != problem::Restitution::Stronge) return true;
    }
    return false;
  }
  return {};
}

/// G M^-1 G^T of contact a.
template <model::Model M>
Eigen::Matrix3d weight_block(const Context<M>& c, Trial<M>& s, int a) {
  const double stretch = c.place.stretch[a];
  const int slips = c.model.slips(a);
  Eigen::Matrix3d W = Eigen::Matrix3d::Zero();
  for (int i = 0; i <= slips; ++i) {
    s.start_momentum.setZero();
    if (i == 0) c.place.normals.add_to(a, stretch, s.start_momentum);
    if (i > 0) c.place.tangents.add_to(M::kSlips * a + i - 1, 1.0, s.start_momentum);
    c.model.mass(c.place).solve(s.start_momentum, s.work);
    W(0, i) = stretch * c.place.normals.dot(a, s.work);
    for (int j = 1; j <= slips; ++j) {
      W(j, i) = c.place.tangents.dot(M::kSlips * a + j - 1, s.work);
    }
  }
  return W;
}

/// The shock of contact a from the velocity v, which becomes that after it. False where the law
/// gives none.
template <model::ImpactModel M>
bool follow_one(Context<M>& c, Trial<M>& s, int a, const convex::ContactVector& U,
                Vector<M::kDofs>& v, convex::ContactVector& impulse) {
  const double stretch = c.place.stretch[a];
  const double e =
      c.model.restitution_at(a, s.t_contact, *s.cone_point, v, -U[0] / stretch, c.place);
  if (!(e >= 0.0 && e <= most_restitution(c.model))) {
    c.fail(Failure::BadRestitution, s.t_contact, a, e);
    return false;
  }
  const Eigen::Matrix3d W = weight_block(c, s, a);
  const convex::Section section = model::section_at(c.model, a, true, U[1], c.place);
  const ShockPath path = follow(W, U, section, e, c.model.impact_ending(a));
  if (!path.ended) {
    c.fail(Failure::Degenerate, s.t_contact, a);
    return false;
  }
  s.start_momentum.setZero();
  c.place.normals.add_to(a, stretch * path.impulse[0], s.start_momentum);
  for (int j = 0; j < c.model.slips(a); ++j) {
    c.place.tangents.add_to(M::kSlips * a + j, path.impulse[1 + j], s.start_momentum);
  }
  c.model.mass(c.place).solve(s.start_momentum, s.work);
  v += s.work;
  impulse += path.impulse;
  return true;
}

/// Each contact that approaches as if it were alone, in the order of the scene, until none does:
/// the impulses in c.shocks. What forces add is held to the law of friction with e = 0.
template <model::ImpactModel M>
[[gnu::cold, gnu::noinline]] void follow_shocks(Context<M>& c, Trial<M>& s) {
  constexpr double kStill = 1e-13;  // of the fastest approach: none
  const auto& active = s.claim.active;
  Vector<M::kDofs>& v = s.end_momentum;
  v = s.before.u;
  int left = 1000;
  double fastest = 0.0;
  c.shocks.assign(static_cast<std::size_t>(active.size()), convex::ContactVector::Zero());
  for (const int a : active) {
    c.laws[a] = 0.0;
    if (c.model.slips(a) == 0 || !c.model.is_lawful(a, c.place)) {
      return c.fail(Failure::BadFriction, s.t_contact, a);
    }
    fastest = std::max(fastest, -velocity_at(c, a, v)[0]);
  }
  for (bool approaches = fastest > 0.0; approaches && left > 0;) {
    approaches = false;
    for (int k = 0; k < active.size(); ++k) {
      const convex::ContactVector U = velocity_at(c, active[k], v);
      if (!(U[0] < -kStill * fastest)) continue;
      if (!follow_one(c, s, active[k], U, v, c.shocks[static_cast<std::size_t>(k)])) return;
      approaches = true;
      --left;
    }
  }
}

/// Newton's law contact by contact can create energy: see `check_gain`. Then it is entered in the
/// ledger; else it is a failure.
template <model::Model M>
bool law_may_gain(const Context<M>& c) {
  if (const auto known = gain_of_followed(c)) return *known;
  for (int a = 0; a < c.contacts(); ++a) {
    if constexpr (model::ImpactModel<M>) {
      if ((c.contacts() > 1 || is_backward(c.model)) && c.model.has_laws()) return true;
    }
    const double e = c.model.restitution(a);
    if (e != c.model.restitution(0)) return true;
    if constexpr (M::kSlips > 0) {
      if (e > 0.0 && c.model.slips(a) > 0) return true;
      if (model::slip_restitution(c.model, a) > 0.0) return true;
    }
  }
  return false;
}

/// Whether some law has e > 0.
template <model::Model M>
bool law_bounces(const Context<M>& c) {
  if (c.method.restitution) return *c.method.restitution > 0.0;
  if constexpr (model::ImpactModel<M>) {
    if (c.model.has_laws()) return true;
  }
  for (int a = 0; a < c.contacts(); ++a) {
    if (c.model.restitution(a) > 0.0) return true;
  }
  return false;
}

}  // namespace ricochet::certify
