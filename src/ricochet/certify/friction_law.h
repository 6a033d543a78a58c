#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/islands.h"
#include "ricochet/certify/trial.h"
#include "ricochet/problem/residual.h"

/// The law of contacts with friction.
namespace ricochet::certify {

/// Adds S^T R of place k.
template <model::Model M>
void add_friction(const Context<M>& c, const Trial<M>& s, int k, Vector<M::kDofs>& momentum) {
  if constexpr (M::kSlips > 0) {
    const int a = s.claim.active[k];
    if (a >= c.contacts()) return;
    for (int j = 0; j < c.model.slips(a); ++j) {
      const double impulse = s.claim.tangential[M::kSlips * k + j];
      c.place.tangents.add_to(M::kSlips * a + j, impulse, momentum);
    }
  }
}

/// What the work of the tangential impulses at place k loses by rounding.
template <model::Model M>
double friction_rounding(const Context<M>& c, const Trial<M>& s, int k, double speeds) {
  double lost = 0.0;
  const int a = s.claim.active[k];
  if (a >= c.contacts()) return lost;
  for (int j = 0; j < c.model.slips(a); ++j) {
    const double length = c.place.tangents.norm(M::kSlips * a + j);
    lost += 32.0 * kEpsilon * std::abs(s.claim.tangential[M::kSlips * k + j]) * length * speeds;
  }
  return lost;
}

/// U = G v + rate of a contact, its normal part in units of the normal velocity.
template <model::Model M>
convex::ContactVector velocity_at(const Context<M>& c, int a, const Vector<M::kDofs>& v) {
  convex::ContactVector U = convex::ContactVector::Zero();
  U[0] = c.place.stretch[a] * (c.place.normals.dot(a, v) + c.place.rate[a]);
  for (int j = 0; j < c.model.slips(a); ++j) {
    const int row = M::kSlips * a + j;
    U[1 + j] = c.place.tangents.dot(row, v) + c.place.slip_rate[row];
  }
  return U;
}

/// Keeps what the ledger needs, and adds up the work: that of the impulses on the wall's own
/// velocity is not the system's.
template <model::Model M>
void add_friction_work(const Context<M>& c, Trial<M>& s, int a, FrictionPush& push) {
  push.normal_rate = c.place.stretch[a] * c.place.rate[a];
  const convex::ContactVector mean = 0.5 * (push.start + push.end);
  double friction = 0.0;
  for (int j = 0; j < c.model.slips(a); ++j) {
    const auto at = static_cast<std::size_t>(j);
    push.slip_rate[at] = c.place.slip_rate[M::kSlips * a + j];
    friction += push.impulse[1 + j] * (mean[1 + j] - push.slip_rate[at]);
  }
  s.friction_work += friction;
  s.contact_work += friction + push.impulse[0] * (mean[0] - push.normal_rate);
  s.gain += 0.5 * push.impulse.dot(push.start + push.end);
  s.gain_allowed += 0.5 * std::abs(push.impulse.dot(push.free - push.start)) * (1.0 + 1e-12);
}

/// Whether R is not on the surface of its cone: with a little less normal impulse, and `off` more
/// tangential impulse, it is still in it.
inline bool is_inside(const convex::FrictionCone& cone, const convex::ContactVector& R,
                      double off) {
  convex::ContactVector less = R;
  less[0] *= 1.0 - 1e-6;
  const double size = R.tail<2>().norm();
  if (size > 0.0) {
    less.tail<2>() *= 1.0 + off / size;
  } else {
    less[1] = off;
  }
  return (less - cone.project(less)).norm() == 0.0 && cone.lift(R.tail<2>()) > 0.0;
}

/// Above a coefficient of a million the lifted velocity has no digits left of U_N.
inline bool is_moderate(const convex::FrictionCone& cone, int slips) {
  constexpr double kMost = 1.001e6;  // polygons are a little wider in their corners
  const double along = std::max(cone.lift({1.0, 0.0}), cone.lift({-1.0, 0.0}));
  return along <= kMost && (slips < 2 || cone.lift({0.0, 1.0}) <= kMost);
}

/// Whether a contact does something else than it is said to: free where R = 0, stick where U_T = 0,
/// slip where it slips or R is on the surface of its cone; velocities to `allowed`.
inline bool is_misnamed(problem::Grip grip, const FrictionPush& push,
                        const convex::FrictionCone& cone, double allowed, double rho) {
  const bool slips = push.end.tail<2>().norm() > allowed;
  const bool pushes = push.impulse.norm() > rho * allowed;
  switch (grip) {
    case problem::Grip::Free: return pushes;
    case problem::Grip::Stick: return slips;
    case problem::Grip::Slip:
      return pushes && !slips && is_inside(cone, push.impulse, rho * allowed);
  }
  return true;
}

/// Whether contact a was not active in the step before.
template <model::Model M>
bool begins(const Context<M>& c, int a) {
  return !std::binary_search(c.touched.begin(), c.touched.end(), static_cast<model::Key>(a));
}

/// What a contact is said to do decides its next cone. It is held to its own size, and where that
/// is too narrow to the residual of its island, once that is known.
template <model::Model M>
void check_grip(Context<M>& c, Trial<M>& s, int k, const FrictionPush& push,
                const convex::FrictionCone& cone, double lost, double rho) {
  const problem::Grip grip = s.claim.grip(k);
  const double allowed = lost + c.limits.residual * (push.impulse.norm() / rho + push.free.norm());
  if (!is_misnamed(grip, push, cone, allowed, rho)) return;
  if (model::ImplicitModel<M> || part_of(c, s, k) == nullptr) {
    const double of_island = c.limits.residual * largest_impulse(c, s, k) / rho;
    if (!is_misnamed(grip, push, cone, allowed + of_island, rho)) return;
    return c.fail(Failure::Law, s.t_contact, s.claim.active[k]);
  }
  c.doubted.push_back({k, allowed, rho, cone});
}

/// An island holds its law to the limit of its residual, |r - P(r - rho v)|, and so does what its
/// contacts are said to do: one that sticks may slip by as much over rho, one that is free may push
/// by as much, and one that slips may be as far from the surface of its cone.
template <model::Model M>
[[gnu::cold, gnu::noinline]] void settle_doubts(Context<M>& c, Trial<M>& s) {
  take_scales(c, s);
  for (const auto& [k, allowed, rho, cone] : c.doubted) {
    const auto at = static_cast<std::size_t>(k);
    const double most = allowed + c.limits.residual * c.islands.scale_of(at) / rho;
    if (is_misnamed(s.claim.grip(k), c.friction_pushes[at], cone, most, rho)) {
      c.fail(Failure::Law, s.t_contact, s.claim.active[k]);
    }
  }
}

/// W of the tangential rows; returns |G| of the whole contact.
template <model::Model M>
double weigh_tangents(const Context<M>& c, Trial<M>& s, int a, FrictionPush& push) {
  const auto& mass = c.model.mass(c.place);
  double length = c.place.stretch[a] * c.place.normals.norm(a);
  push.W_tangential = 0.0;
  for (int j = 0; j < c.model.slips(a); ++j) {
    const int row = M::kSlips * a + j;
    push.W_tangential += model::delassus(c.place.tangents, row, mass, s.start_momentum, s.work);
    length = std::hypot(length, c.place.tangents.norm(row));
  }
  return length;
}

/// What the reactions of joints lose by the rounding of their gaps, as an impulse.
template <model::Model M>
double lost_reaction(const Context<M>& c, Trial<M>& s, int a) {
  double lost = 0.0;
  if constexpr (requires { c.model.holds(a); }) {
    for (const int row : c.model.holds(a)) {
      const auto& normals = c.place.normals;
      const double W =
          model::delassus(normals, row, c.model.mass(c.place), s.start_momentum, s.work);
      const double size = normals.abs_dot(row, s.q_mid) / s.h + normals.abs_dot(row, s.before.u) +
                          normals.abs_dot(row, s.after.u);
      if (W > 0.0) lost += 32.0 * kEpsilon * size / W;
    }
  }
  return lost;
}

/// Friction without a contact has the normal impulse of its load. It has no weight of its own:
/// that of the slip does.
template <model::Model M>
bool bears_load(Context<M>& c, Trial<M>& s, int k, FrictionPush& push) {
  const int a = s.claim.active[k];
  const double load = model::load_of(c.model, a, s.h, s.claim, c.place);
  const double slips = c.model.slips(a);
  push.W_normal = push.W_tangential > 0.0 ? push.W_tangential / slips : 1.0;
  const double off = std::abs(s.claim.impulses[k] - load) - lost_reaction(c, s, a);
  return off <= c.limits.residual * load ||
         off <= c.limits.residual * (load + largest_impulse(c, s, k));
}

/// R without the impulse of a shock that was followed, and what that loses by rounding.
template <model::Model M>
convex::ContactVector besides_shock(const Context<M>& c, int k, const convex::ContactVector& R,
                                    double rho, double& lost) {
  if (c.shocks.empty()) return R;
  lost += 32.0 * kEpsilon * R.norm() / rho;
  return R - c.shocks[static_cast<std::size_t>(k)];
}

/// C* ∋ V ⟂ R ∈ C with V = U+ + e U_N n + lift n: the law of friction in one line. [Saxce 1998]
template <model::Model M>
void check_frictional_contact(Context<M>& c, Trial<M>& s, int k, problem::Residual& residual) {
  const int a = s.claim.active[k];
  const int slips = c.model.slips(a);
  const bool is_loaded = model::is_loaded(c.model, a);
  const double stretch = is_loaded ? 1.0 : c.place.stretch[a];
  if (!c.model.is_lawful(a, c.place) || !(stretch > 0.0)) {
    return c.fail(Failure::BadFriction, s.t_contact, a, c.place.coefficients[2 * a]);
  }
  FrictionPush& push = c.friction_pushes[static_cast<std::size_t>(k)];
  push.impulse = {s.claim.impulses[k] / stretch, 0.0, 0.0};
  for (int j = 0; j < slips; ++j) push.impulse[1 + j] = s.claim.tangential[M::kSlips * k + j];
  push.start = velocity_at(c, a, s.before.u);
  push.free = velocity_at(c, a, s.free);
  push.end = velocity_at(c, a, s.after.u);
  const double length = weigh_tangents(c, s, a, push);
  if (is_loaded) {
    if (!bears_load(c, s, k, push)) return c.fail(Failure::Law, s.t_contact, a);
  } else {
    const auto& mass = c.model.mass(c.place);
    const double W = model::delassus(c.place.normals, a, mass, s.start_momentum, s.work);
    push.W_normal = stretch * stretch * W;
  }
  if (!is_weight(push.W_normal)) {
    return check_flat_contact(c, s.t_contact, a, push.W_normal, push.impulse.norm(), push.end[0]);
  }
  if (!(push.W_tangential < std::numeric_limits<double>::infinity())) {
    return c.fail(Failure::NotFinite, s.t_contact, a, push.W_tangential);
  }
  const bool rests = push.start[1] == 0.0 && push.start[2] == 0.0;
  const bool stuck = rests || c.friction.was_stuck(a);
  const bool turns = slips == 2 && push.impulse.tail<2>().dot(push.start.tail<2>()) > 0.0;
  const convex::FrictionCone cone{
      model::section_at(c.model, a, stuck || turns, push.start[1], c.place)};
  if (!is_moderate(cone, slips)) return c.fail(Failure::BadFriction, s.t_contact, a);
  const bool lasts = !c.lasting.empty() && c.lasting.holds(a);
  const double extra =
      lasts ? stretch * c.lasting.speed(a) : restitution_of(c, s, a) * push.start[0];
  const convex::ContactVector normal = convex::ContactVector::UnitX();
  const double back = begins(c, a) ? model::slip_restitution(c.model, a) : 0.0;
  const auto lifted = [&](convex::ContactVector U) -> convex::ContactVector {
    if (back > 0.0) U.tail<2>() += back * push.start.tail<2>();
    return U + (extra + cone.lift(U.tail<2>())) * normal;
  };
  const double rho = (1 + slips) / (push.W_normal + push.W_tangential);
  double lost = 32.0 * kEpsilon * length * s.speeds + stretch * lost_ahead(c, s, a);
  const convex::ContactVector pushed = besides_shock(c, k, push.impulse, rho, lost);
  residual.add(cone, pushed, rho, lifted(push.end), lifted(push.free), lost);
  if (back == 0.0 || s.claim.grip(k) == problem::Grip::Free) {  // what slips back may do either
    check_grip(c, s, k, push, cone, lost, rho);
  }
  c.place.normals.add_to(a, s.claim.impulses[k], s.momentum);
  add_friction(c, s, k, s.momentum);
  add_friction_work(c, s, a, push);
  if (c.lasting.has_ahead()) {
    s.gain_allowed += 0.5 * std::abs(s.claim.impulses[k] * curve_ahead(c, s, a));
  }
}

}  // namespace ricochet::certify
