#pragma once

#include <cmath>
#include <utility>

#include "ricochet/certify/balance.h"

/// Whether positions and times follow the velocities and steps, and what violations are left.
namespace ricochet::certify {

template <class State>
[[gnu::always_inline]] inline bool is_finite(const State& state) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < state.q.size(); ++i) sum += state.q[i];
  for (Eigen::Index i = 0; i < state.u.size(); ++i) sum += state.u[i];
  return std::isfinite(sum);
}

/// t+ = t + h to rounding.
template <model::Model M>
[[gnu::always_inline]] inline bool is_timely(const Context<M>& c, double t, double t_end,
                                             double h) {
  const double size = c.time_size + std::abs(t) + std::abs(t_end);
  return std::abs(t_end - (t + h)) <= 4.0 * kEpsilon * size;
}

template <model::Model M>
[[gnu::always_inline]] inline void check_time(Context<M>& c, const Trial<M>& s, double h) {
  const auto [from, to] = std::pair(s.before.t, s.after.t);
  if (!is_timely(c, from, to, h)) c.fail(Failure::Kinematics, from, -1, std::abs(to - (from + h)));
}

/// The contacts that touch at q_M and the joints, in c.listed, their gaps and gradients taken
/// there. True when one of the contacts is violated, so that q_M has to be put right.
template <model::Model M>
bool find_violated(Context<M>& c, const Trial<M>& s) {
  c.model.gaps(s.t_contact, s.q_mid, c.place);
  c.listed.clear();
  bool violated = false;
  for (int a = 0; a < c.model.contacts(); ++a) {
    const bool is_joint = a >= c.contacts();
    if (!is_joint && (!c.model.touches(a, c.place) || model::is_loaded(c.model, a))) continue;
    c.listed.push(a);
    violated = violated || (!is_joint && c.place.gap[a] < 0.0);
  }
  if (violated) c.model.gradients(c.listed, c.place);
  return violated;
}

/// How far a correction by pushes is off its law, 0 <= weight, g + J shift >= 0 and one of them 0,
/// over what is allowed. Contacts that were not pushed are not on their walls, and leave the list.
template <model::Model M>
double worst_push(Context<M>& c, const Trial<M>& s) {
  const Eigen::VectorXd& weights = *s.claim.shift_weights;
  const model::IndexList<M::kContacts> all = c.listed;
  c.listed.clear();
  double worst = 0.0;
  for (int k = 0; k < all.size(); ++k) {
    const int a = all[k];
    const bool is_joint = a >= c.contacts();
    if (!is_joint && !(weights[k] >= 0.0)) return std::numeric_limits<double>::infinity();
    const double left = c.place.normals.dot(a, c.scratch.shift) + c.place.gap[a];
    const double size = c.place.normals.abs_dot(a, c.scratch.shift) + std::abs(c.place.gap[a]);
    const double rounding = 32.0 * kEpsilon * c.place.normals.abs_dot(a, s.q_mid);
    const bool is_put = is_joint || weights[k] > 0.0;
    const double off = is_put ? std::abs(left) : std::max(0.0, -left);
    const double allowed = c.limits.correction * size + rounding + problem::Residual::kSmallest;
    worst = std::max(worst, off / allowed);
    if (weights[k] > 0.0) c.listed.push(a);
  }
  return worst;
}

/// A correction is made exactly where a contact is violated at q_M. It is M^-1 J^T weights, J at
/// the unshifted q_M, and puts what touches there right in the sense of least squares: J^T (J shift
/// + g) = 0.
template <model::Model M>
[[gnu::noinline]] void recompute_shift(Context<M>& c, Trial<M>& s) {
  const double limit = c.limits.correction;
  const Eigen::VectorXd* weights = s.claim.shift_weights;
  auto& shift = c.scratch.shift;
  if (!c.model.load_mass(s.q_mid, c.place)) return c.fail(Failure::SingularMass, s.t_contact);
  const bool violated = find_violated(c, s);
  if (violated != (weights != nullptr)) return c.fail(Failure::Correction, s.t_contact);
  if (!violated) return;
  if (weights->size() < c.listed.size()) return c.fail(Failure::Correction, s.t_contact);
  const auto& normals = c.place.normals;
  s.momentum.setZero();
  for (int k = 0; k < c.listed.size(); ++k) {
    normals.add_to(c.listed[k], (*weights)[k], s.momentum);
  }
  c.model.mass(c.place).solve(s.momentum, shift);
  s.free.setZero();
  double allowed = problem::Residual::kSmallest;
  for (const int a : c.listed) {
    const double gap = c.place.gap[a];
    normals.add_to(a, normals.dot(a, shift) + gap, s.free);
    const double size = normals.abs_dot(a, shift) + std::abs(gap);
    const double rounding = 32.0 * kEpsilon * normals.abs_dot(a, s.q_mid);
    allowed += normals.norm(a) * (limit * size + rounding);
  }
  const double off = c.method.corrects_by_pushes ? worst_push(c, s) : s.free.norm() / allowed;
  if (!(off <= 1.0)) return c.fail(Failure::Correction, s.t_contact, -1, off);
  c.model.advance(s.q_mid, shift, 1.0, s.q_mid);
  s.is_shifted = true;
}

/// An error of positions, relative to the way that was made.
template <model::Model M>
[[gnu::noinline]] void take_position_error(Context<M>& c, Trial<M>& s, double error, double way) {
  const double size = s.before.q.cwiseAbs().sum() + s.after.q.cwiseAbs().sum();
  const double rounding = 8.0 * kEpsilon * size + problem::Residual::kSmallest;
  if (error <= rounding) return;
  take_error(c, s, (error - rounding) / way, Failure::Kinematics, c.limits.balance);
}

/// q+ = q_M + h/2 u+.
template <model::Model M>
[[gnu::always_inline]] inline void check_positions(Context<M>& c, Trial<M>& s) {
  c.model.advance(s.q_mid, s.after.u, 0.5 * s.h, s.q_work);
  c.model.difference(s.after.q, s.q_work, s.work);
  double error = convex::sum_of_sizes(s.work);
  if (error <= 0.0) return;
  double way = s.h * (s.before.u.cwiseAbs().sum() + s.after.u.cwiseAbs().sum());
  if (s.is_shifted) {
    const double shift = c.scratch.shift.cwiseAbs().sum();
    error -= c.limits.correction * shift;
    way += shift;
  }
  take_position_error(c, s, error, way);
}

/// A gap that becomes negative in a step, or twice as deep as any before, does so at its own rate:
/// one that jumps, or opens at both ends and falls between, is no wall that a step could see.
template <model::Model M>
[[gnu::cold, gnu::noinline]] void check_jumps(Context<M>& c, Trial<M>& s) {
  if (s.is_shifted || !(s.h > 0.0)) return;
  c.listed.clear();
  c.model.gaps(s.before.t, s.before.q, c.joint_place);
  for (int a = 0; a < c.contacts(); ++a) {
    const double start = c.joint_place.gap[a], end = c.end_place.gap[a];
    if (!(end < 0.0 && c.model.exists(a, c.end_place))) continue;
    if (!(start > 0.0 || (-end > c.known_depth && start > 0.5 * end))) continue;
    if (!c.model.exists(a, c.joint_place)) continue;
    c.listed.push(a);
    c.fallen[a] = start - end;  // how far it fell
  }
  if (c.listed.empty()) return;
  c.model.difference(s.after.q, s.before.q, s.work);
  for (const double part : {0.0, 0.5, 1.0}) {
    c.model.advance(s.before.q, s.work, part, s.q_work);
    c.model.gaps(s.before.t + part * s.h, s.q_work, c.joint_place);
    c.model.gradients(c.listed, c.joint_place);
    for (const int a : c.listed) {
      const auto& normals = c.joint_place.normals;
      const double rate = std::min(normals.dot(a, s.before.u), normals.dot(a, s.after.u));
      const double fall = -4.0 * s.h * std::min(0.0, rate + c.joint_place.rate[a]);
      const double rounding = 1e-10 * normals.abs_dot(a, s.q_work);
      if (c.fallen[a] <= fall + rounding) c.fallen[a] = 0.0;
    }
  }
  for (const int a : c.listed) {
    if (c.fallen[a] > 0.0) c.fail(Failure::Derivative, s.after.t, a, c.end_place.gap[a]);
  }
}

/// What velocities that are kept at 0 are at the end of the step.
template <model::Model M>
[[gnu::cold, gnu::noinline]] void check_rolls(Context<M>& c, Trial<M>& s) {
  c.model.gaps(s.after.t, s.after.q, c.ahead_place);
  c.model.gradients(c.joints, c.ahead_place);
  for (int a = c.first_roll(); a < c.model.contacts(); ++a) {
    s.roll_error = std::max(s.roll_error, std::abs(velocity_of(c.ahead_place, a, s.after.u)));
  }
}

/// What was found of joints, once the step holds.
template <model::Model M>
void enter_joints(const Trial<M>& s, Certificate& certificate) {
  certificate.joint_max = std::max(certificate.joint_max, s.joint_error);
  certificate.roll_max = std::max(certificate.roll_max, s.roll_error);
}

/// max(0, -g) of contacts and |g| of joints at the end of the step.
template <model::Model M>
[[gnu::always_inline]] inline void check_violation(Context<M>& c, Trial<M>& s) {
  const int contacts = c.contacts();
  for (int a = 0; a < contacts; ++a) {
    const double depth = c.model.exists(a, c.end_place) ? -c.end_place.gap[a] : 0.0;
    if (!(depth > 0.0)) {
      if (std::isnan(depth)) return c.fail(Failure::NotFinite, s.after.t, a);
      continue;
    }
    ++s.violated;
    if (depth <= s.depth) continue;
    s.depth = depth;
    s.deepest = a;
  }
  const bool is_new = s.violated > c.violated || s.depth > c.known_depth;
  if (is_new && !is_located(c.method.integrator)) check_jumps(c, s);
  if (s.depth > c.limits.violation) c.fail(Failure::Violation, s.after.t, s.deepest, s.depth);
  if constexpr (!M::kPlain) {
    for (const int a : c.joints) {
      s.joint_error = std::max(s.joint_error, std::abs(c.end_place.gap[a]));
    }
    if (c.first_roll() < c.model.contacts()) check_rolls(c, s);
  }
}

}  // namespace ricochet::certify
