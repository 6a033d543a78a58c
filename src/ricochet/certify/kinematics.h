#pragma once

#include <cmath>

#include "ricochet/certify/balance.h"

/// Whether positions follow the velocities, and what violations are left.
namespace ricochet::certify {

/// The shift is M^-1 J^T weights, J at the unshifted q_M for the surfaces touched there and the
/// joints, and puts them right in the sense of least squares: J^T (J shift + g) = 0.
template <model::Model M>
[[gnu::noinline]] void check_shift(Context<M>& c, Trial<M>& s) {
  const double limit = c.limits.correction;
  const auto& shift = *s.claim.shift;
  c.model.advance(s.before.q, s.before.u, 0.5 * s.h, s.work);
  if (!c.model.load_mass(s.work, c.place)) return c.fail(Failure::SingularMass, s.t_mid);
  c.model.gaps(s.t_mid, s.work, c.place);
  model::IndexList<M::kContacts>& touched = c.listed;
  touched.clear();
  for (int a = 0; a < c.model.contacts(); ++a) {
    if (a >= c.contacts() || c.model.touches(a, c.place)) touched.push(a);
  }
  c.model.gradients(touched, c.place);
  s.momentum.setZero();
  s.free.setZero();
  double allowed = problem::Residual::kSmallest;
  for (int k = 0; k < touched.size(); ++k) {
    const int a = touched[k];
    const auto& normals = c.place.normals;
    const double gap = c.place.gap[a];
    normals.add_to(a, normals.dot(a, shift) + gap, s.free);
    normals.add_to(a, (*s.claim.shift_weights)[k], s.momentum);
    const double size = normals.abs_dot(a, shift) + std::abs(gap);
    const double rounding = 32.0 * kEpsilon * normals.abs_dot(a, s.work);
    allowed += normals.norm(a) * (limit * size + rounding);
  }
  if (!(s.free.norm() <= allowed)) c.fail(Failure::Correction, s.t_mid, -1, s.free.norm());
  c.model.mass(c.place).apply(shift, s.work);
  const double off = (s.work - s.momentum).norm();
  if (!(off <= limit * (s.work.norm() + s.momentum.norm()) + problem::Residual::kSmallest)) {
    c.fail(Failure::Correction, s.t_mid, -1, off);
  }
}

/// q+ = q + h/2 (u + u+) + shift.
template <model::Model M>
[[gnu::always_inline]] inline void check_positions(Context<M>& c, Trial<M>& s) {
  c.model.advance(s.before.q, s.before.u, 0.5 * s.h, s.work);
  if (s.claim.shift != nullptr) s.work += *s.claim.shift;
  c.model.advance(s.work, s.after.u, 0.5 * s.h, s.work);
  const double error = (s.work - s.after.q).cwiseAbs().sum();
  if (error <= 0.0) return;
  const double rounding =
      8.0 * kEpsilon * (s.before.q.cwiseAbs().sum() + s.after.q.cwiseAbs().sum());
  if (error <= rounding) return;
  double scale = s.h * (s.before.u.cwiseAbs().sum() + s.after.u.cwiseAbs().sum());
  if (s.claim.shift != nullptr) scale += s.claim.shift->cwiseAbs().sum();
  take_error(c, s, (error - rounding) / scale, Failure::Kinematics, c.limits.balance);
}

/// q+ = q + h sum_j b_j u_j.
template <model::Model M>
void check_node_positions(Context<M>& c, Trial<M>& s,
                          const NodeRule<M::kDofs, M::kContacts>& rule) {
  s.work = s.before.q;
  double speeds = 0.0;
  for (int j = 0; j < rule.count; ++j) {
    const auto& node = rule.nodes[static_cast<std::size_t>(j)];
    if (node.drift == 0.0) continue;
    c.model.advance(s.work, *node.u, node.drift * s.h, s.work);
    speeds += node.drift * node.u->cwiseAbs().sum();
  }
  const double error = (s.work - s.after.q).cwiseAbs().sum();
  const double size = s.before.q.cwiseAbs().sum() + s.after.q.cwiseAbs().sum();
  const double rounding = 8.0 * kEpsilon * size + problem::Residual::kSmallest;
  if (error <= rounding + rule.position_noise) return;
  take_error(c, s, (error - rounding) / (s.h * speeds), Failure::Kinematics, rule.tolerance);
}

/// max(0, -g) of contacts and |g| of joints at the end of the step.
template <model::Model M>
[[gnu::always_inline]] inline void check_violation(Context<M>& c, Trial<M>& s) {
  const int contacts = c.contacts();
  for (int a = 0; a < contacts; ++a) {
    const double depth = c.model.exists(a, c.end_place) ? -c.end_place.gap[a] : 0.0;
    if (std::isnan(depth)) return c.fail(Failure::NotFinite, s.after.t, a);
    if (depth <= s.depth) continue;
    s.depth = depth;
    s.deepest = a;
  }
  if (s.depth > c.limits.violation) c.fail(Failure::Violation, s.after.t, s.deepest, s.depth);
  if constexpr (!M::kPlain) {
    for (const int a : c.joints) {
      s.joint_error = std::max(s.joint_error, std::abs(c.end_place.gap[a]));
    }
  }
}

}  // namespace ricochet::certify
