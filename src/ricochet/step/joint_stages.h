#pragma once

#include <cmath>

#include "ricochet/step/workspace.h"

/// Joints: equations g(t, q) = 0, or of velocities, that are held in every step.
namespace ricochet::step {

/// U_a = J_a v + dg_a/dt.
template <model::Model M>
[[gnu::always_inline]] inline double contact_velocity(const Workspace<M>& w, int a,
                                                      const model::Vector<M::kDofs>& v) {
  return w.place.normals.dot(a, v) + w.place.rate[a];
}

/// Gradients of the joints, which are taken at q_M whatever the contacts do.
template <model::Model M>
void take_joint_gradients(const M& model, Workspace<M>& w) {
  if constexpr (!M::kPlain) {
    if (model.joints() == 0) return;
    w.joints.clear();
    for (int a = model.contacts() - model.joints(); a < model.contacts(); ++a) w.joints.push(a);
    model.gaps(w.t_mid, w.q_mid, w.joint_place);
    model.gradients(w.joints, w.joint_place);
    for (const int a : w.joints) {
      w.place.normals.take(a, w.joint_place.normals);
      w.place.rate[a] = w.joint_place.rate[a];
    }
  }
}

/// What joints need beyond J u+ + dg/dt = 0 so that g vanishes at the next middle, q_M + h u+.
/// Moreau's middles are the nodes of the leapfrog method, and this is how SHAKE keeps constraints
/// on it [Ryckaert 1977]: no drift, and no work in the mean.
/// Velocities that are kept at 0 have no such middle: what they need so that they vanish at the end
/// of the step, at q_M + h/2 u+. With q_M halfway between two such ends the step is its own
/// inverse.
template <model::Model M>
void aim_joints(const M& model, double h, const model::Vector<M::kDofs>& v, Workspace<M>& w) {
  const int first_roll = model.contacts() - model::rolls(model);
  const int first = model.contacts() - model.joints();
  if (first < first_roll) {
    model.advance(w.q_mid, v, h, w.q_end);
    model.gaps(w.t_mid + h, w.q_end, w.joint_place);
  }
  for (int a = first; a < first_roll; ++a) {
    w.bias[a] = w.joint_place.gap[a] / h - contact_velocity(w, a, v);
  }
  if (first_roll == model.contacts()) return;
  model.advance(w.q_mid, v, 0.5 * h, w.q_end);
  model.gaps(w.t_mid + 0.5 * h, w.q_end, w.joint_place);
  model.gradients(w.joints, w.joint_place);
  for (int a = first_roll; a < model.contacts(); ++a) {
    const double end = w.joint_place.normals.dot(a, v) + w.joint_place.rate[a];
    w.bias[a] = end - contact_velocity(w, a, v);
  }
}

/// Row r of a step with joints and one contact at the most: the joints, then the contact.
template <model::Model M>
int joint_row(const M& model, const Workspace<M>& w, int r) {
  return r < model.joints() ? w.claim.active.size() - model.joints() + r : 0;
}

/// L with L L^T = W = J M^-1 J^T of all active rows, and M^-1 J^T. False where W is nearly
/// singular, as for joints that say the same.
template <model::Model M>
bool factor_joints(const M& model, Workspace<M>& w) {
  constexpr double kSmallest = 1e-8;  // what must be left of a row beside those before it
  Eigen::MatrixXd& L = w.joint_factor;
  const auto& active = w.claim.active;
  for (int r = 0; r < active.size(); ++r) {
    w.place.normals.copy_to(active[joint_row(model, w, r)], w.gathered);
    model.mass(w.place).solve(w.gathered, w.response);
    for (int i = 0; i < model.dofs(); ++i) w.joint_responses(i, r) = w.response[i];
    for (int l = 0; l <= r; ++l) {
      double entry = w.place.normals.dot(active[joint_row(model, w, l)], w.response);
      const double own = entry;
      for (int m = 0; m < l; ++m) entry -= L(r, m) * L(l, m);
      if (l == r && !(entry > kSmallest * own && std::isfinite(entry))) return false;
      L(r, l) = l == r ? std::sqrt(entry) : entry / L(l, l);
    }
  }
  return true;
}

/// A few joints, with one contact at the most: v = W p + b by elimination, where v = 0 at joints
/// and 0 <= p, v of the contact, which comes last; u+ = u' + M^-1 J^T p. False where others have to
/// solve it. b is said by free(k).
template <model::Model M, class Free>
bool push_joints(const M& model, model::Vector<M::kDofs>& u_next, Workspace<M>& w, Free&& free) {
  const int rows = w.claim.active.size();
  if (rows > model.joints() + 1 || rows > w.joint_factor.rows()) return false;
  if (!w.are_joints_factored && !factor_joints(model, w)) return false;
  w.are_joints_factored = w.unique = true;  // for the rounds of this step
  const Eigen::MatrixXd& L = w.joint_factor;
  Eigen::VectorXd& p = w.joint_impulses;
  int count = rows;
  for (int r = 0; r < rows; ++r) {
    p[r] = -free(joint_row(model, w, r));
    for (int m = 0; m < r; ++m) p[r] -= L(r, m) * p[m];
    p[r] /= L(r, r);
    if (r < model.joints() || p[r] > 0.0) continue;
    p[r] = 0.0;  // it opens: the joints alone
    w.claim.impulses[0] = 0.0;
    count = model.joints();
  }
  u_next = w.free;
  for (int r = count - 1; r >= 0; --r) {
    for (int m = r + 1; m < count; ++m) p[r] -= L(m, r) * p[m];
    p[r] /= L(r, r);
    for (int i = 0; i < model.dofs(); ++i) u_next[i] += p[r] * w.joint_responses(i, r);
    w.claim.impulses[joint_row(model, w, r)] = p[r];
  }
  return true;
}

}  // namespace ricochet::step
