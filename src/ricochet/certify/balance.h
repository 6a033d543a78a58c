#pragma once

#include "ricochet/certify/trial.h"
#include "ricochet/problem/residual.h"

/// Whether forces and impulses make up the change of momentum.
namespace ricochet::certify {

/// An error relative to what was added up; the larger of balance and positions is reported.
template <model::Model M>
void take_error(Context<M>& c, Trial<M>& s, double relative, Failure kind, double limit) {
  if (!(relative <= limit)) c.fail(kind, s.before.t, -1, relative);
  s.balance = std::max(s.balance, relative);
}

/// Q at the middle, M^-1 Q and u'. Where the mass varies u' follows with the contacts.
template <model::Model M>
[[gnu::always_inline]] inline void recompute_free_motion(Context<M>& c, Trial<M>& s) {
  c.model.force(s.t_contact, *s.force_point, s.before.u, c.place, s.force);
  for (Eigen::Index i = 0; i < s.force.size(); ++i) {
    s.momentum[i] = s.h * s.force[i];  // completed contact by contact
  }
  if (!c.has_constant_mass()) {
    if (!c.model.load_mass(s.q_mid, c.place)) c.fail(Failure::SingularMass, s.t_contact);
    return;
  }
  c.model.mass(c.place).solve(s.force, s.free);
  convex::add_scaled<M::kDofs>(s.before.u, s.h, s.free, s.free);
}

/// dT/du +- h/2 dT/dq at the ends of a step, and T; those of its end are known in the next one.
template <model::Model M>
void recompute_varying_momenta(Context<M>& c, Trial<M>& s) {
  auto& known = c.known;
  if (!known.is_set || known.q != s.before.q || known.u != s.before.u) {
    known = {s.before.q, s.before.u, s.start_momentum, s.slope, true};
    c.model.momentum(s.before.q, s.before.u, c.place, known.momentum, known.slope);
  }
  const double half = 0.5 * s.h;
  const Eigen::Index dofs = s.after.u.size();
  for (Eigen::Index i = 0; i < dofs; ++i) {
    s.start_momentum[i] = known.momentum[i] + half * known.slope[i];
  }
  c.model.momentum(s.after.q, s.after.u, c.place, known.momentum, known.slope);
  s.kinetic = 0.5 * convex::dot_of(s.after.u, known.momentum);
  known.q = s.after.q;
  for (Eigen::Index i = 0; i < dofs; ++i) {
    known.u[i] = s.after.u[i];
    s.slope[i] = known.slope[i];
    s.end_momentum[i] = known.momentum[i] - half * known.slope[i];
  }
}

/// The same, which for a constant mass is M u.
template <model::Model M>
[[gnu::always_inline]] inline void recompute_momenta(Context<M>& c, Trial<M>& s) {
  if (c.has_constant_mass()) {
    c.model.mass(c.place).apply(s.before.u, s.start_momentum);
    c.model.mass(c.place).apply(s.after.u, s.end_momentum);
    s.kinetic = 0.5 * s.after.u.dot(s.end_momentum);
    return;
  }
  if constexpr (!M::kPlain) recompute_varying_momenta(c, s);
}

/// M (u+ - u) = h Q + J^T p; for a mass that varies the equations of the discrete Lagrangian.
template <model::Model M>
[[gnu::always_inline]] inline void check_balance(Context<M>& c, Trial<M>& s) {
  recompute_momenta(c, s);
  const double error = convex::sum_of_sizes(s.end_momentum - s.start_momentum - s.momentum);
  const double rounding =
      8.0 * kEpsilon * convex::sum_of_sizes(s.start_momentum) + problem::Residual::kSmallest;
  if (error <= rounding) return;
  const double scale = (s.end_momentum - s.start_momentum).cwiseAbs().sum() +
                       s.h * s.force.cwiseAbs().sum() + s.momentum.cwiseAbs().sum();
  take_error(c, s, (error - rounding) / scale, Failure::Balance, c.limits.balance);
}

}  // namespace ricochet::certify
