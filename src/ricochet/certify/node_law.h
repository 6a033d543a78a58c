#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/law.h"
#include "ricochet/certify/node_rule.h"

/// The laws of steps that are made up of nodes.
namespace ricochet::certify {

/// The active set of an impact whose time was found: g is 0 to `touching` only.
template <model::Model M>
void check_near(Context<M>& c, const Trial<M>& s, double touching) {
  const auto& active = s.claim.active;
  int next = 0;
  for (int a = 0; a < c.model.contacts(); ++a) {
    const bool listed = next < active.size() && active[next] == a;
    if (listed) ++next;
    const double gap = c.place.gap[a];
    if (std::isnan(gap)) return c.fail(Failure::NotFinite, s.t_mid, a);
    if (!c.model.exists(a, c.place) ? listed : (listed ? gap > touching : gap < -touching)) {
      c.fail(Failure::ActiveSet, s.t_mid, a, gap);
    }
  }
  if (next != active.size()) c.fail(Failure::ActiveSet, s.t_mid);
}

/// Momentum and work of contact k, whose W is known.
template <model::Model M>
void add_push(Context<M>& c, Trial<M>& s, int k, double W) {
  const int a = s.claim.active[k];
  const double p = s.claim.impulses[k];
  const double rate = c.place.rate[a];
  const double start = c.place.normals.dot(a, s.before.u) + rate;
  const double end = c.place.normals.dot(a, s.after.u) + rate;
  c.place.normals.add_to(a, p, s.momentum);
  const double work = 0.5 * p * (start + end - 2.0 * rate);
  s.contact_work += work;
  c.pushes[static_cast<std::size_t>(k)] = {-start, W, work};
}

/// W_aa, its row in s.start_momentum.
template <model::Model M>
double weight_of(Context<M>& c, Trial<M>& s, int a) {
  s.start_momentum.setZero();
  c.place.normals.add_to(a, 1.0, s.start_momentum);
  c.model.mass(c.place).solve(s.start_momentum, s.work);
  return s.start_momentum.dot(s.work);
}

template <model::Model M>
void check_mean_contact(Context<M>& c, Trial<M>& s, int k, double e, problem::Residual& residual) {
  const auto& normals = c.place.normals;
  const int a = s.claim.active[k];
  const double p = s.claim.impulses[k];
  const double W = weight_of(c, s, a);
  const double v = (1.0 + e) * c.place.gap[a] / s.h;
  if (!(W > 0.0)) return check_flat_contact(c, s.t_mid, a, p, v);
  const double free = v - normals.dot(a, s.end_momentum);
  const double lost = 64.0 * kEpsilon *
                      (normals.abs_dot(a, *s.cone_point) / s.h + normals.abs_dot(a, s.before.u) +
                       normals.abs_dot(a, s.after.u));
  residual.add(convex::HalfLine{}, p, 1.0 / W, v, free, lost, [&] { return lost; });
  add_push(c, s, k, W);
}

/// q_bar = (q+ + e q-) / (1 + e) is where the claim says; its size is returned.
template <model::Model M>
double check_mean_point(Context<M>& c, Trial<M>& s, double e) {
  c.model.advance(s.before.q, s.before.u, -s.h, s.work);  // q-
  s.work = (s.after.q + e * s.work) / (1.0 + e);
  const double off = (s.work - *s.cone_point).cwiseAbs().sum();
  const double size = s.work.cwiseAbs().sum() + s.after.q.cwiseAbs().sum();
  const double moved = s.h * (s.free.cwiseAbs().sum() + s.after.u.cwiseAbs().sum());
  if (!(off <= 16.0 * kEpsilon * (size + moved) + c.limits.balance * s.h * largest(s.after.u))) {
    c.fail(Failure::Kinematics, s.t_mid, -1, off);
  }
  return size;
}

/// p >= 0, g(q_bar) >= 0, p g(q_bar) = 0 for all contacts at the mean position
/// q_bar = (q+ + e q-) / (1 + e), J and W there; e is one, which every contact that pushes states.
///                                                                   [Paoli 2001 (3.2)]
template <model::Model M>
void check_mean_position(Context<M>& c, Trial<M>& s, double e) {
  const auto& active = s.claim.active;
  const double size = check_mean_point(c, s, e);
  c.model.gaps(s.t_mid, *s.cone_point, c.place);
  c.model.gradients(active, c.place);
  s.start_momentum.setZero();
  for (int k = 0; k < active.size(); ++k) {
    if (s.claim.impulses[k] != 0.0 && c.model.restitution(active[k]) != e) {
      c.fail(Failure::Law, s.t_mid, active[k]);
    }
    c.place.normals.add_to(active[k], s.claim.impulses[k], s.start_momentum);
  }
  c.model.mass(c.place).solve(s.start_momentum, s.end_momentum);  // M^-1 J^T p
  problem::Residual residual;
  int next = 0;
  for (int a = 0; a < c.model.contacts(); ++a) {
    const bool listed = next < active.size() && active[next] == a;
    const double gap = c.place.gap[a];
    if (std::isnan(gap)) return c.fail(Failure::NotFinite, s.t_mid, a);
    if (listed) {
      check_mean_contact(c, s, next++, e, residual);
    } else if (c.model.exists(a, c.place) && gap < 0.0 && !(-gap <= 64.0 * kEpsilon * size)) {
      c.fail(Failure::ActiveSet, s.t_mid, a, gap);
    }
  }
  s.residual = residual.value();
  if (!(s.residual <= c.limits.residual)) c.fail(Failure::Residual, s.t_mid, -1, s.residual);
}

/// Impulses that no law at the step ties down: they push, where they touch.
template <model::Model M>
void check_given(Context<M>& c, Trial<M>& s, double touching) {
  const auto& active = s.claim.active;
  if (active.empty()) return;
  c.model.gaps(s.t_mid, *s.cone_point, c.place);
  c.model.gradients(active, c.place);
  for (int k = 0; k < active.size(); ++k) {
    const int a = active[k];
    const double p = s.claim.impulses[k];
    if (!(p >= 0.0)) c.fail(Failure::Law, s.t_mid, a, p);
    if (!c.model.touches(a, c.place) && !(c.place.gap[a] <= touching)) {
      c.fail(Failure::ActiveSet, s.t_mid, a, c.place.gap[a]);
    }
    add_push(c, s, k, weight_of(c, s, a));
  }
}

/// h w J^T r of contacts that last; their work goes to the contacts'.
template <model::Model M>
void add_reactions(Context<M>& c, Trial<M>& s, double touching,
                   const Node<M::kDofs, M::kContacts>& node) {
  c.listed.clear();
  for (int a = 0; a < c.model.contacts(); ++a) {
    if ((*node.push)[a] != 0.0) c.listed.push(a);
  }
  if (c.listed.empty()) return;
  c.model.gaps(node.t, *node.q, c.place);
  c.model.gradients(c.listed, c.place);
  for (const int a : c.listed) {
    const double p = s.h * node.force * (*node.push)[a];
    if (!(p >= 0.0)) c.fail(Failure::Law, node.t, a, p);
    if (!(std::abs(c.place.gap[a]) <= touching)) {
      c.fail(Failure::ActiveSet, node.t, a, c.place.gap[a]);
    }
    c.place.normals.add_to(a, p, s.momentum);
    const double start = c.place.normals.dot(a, s.before.u);
    const double end = c.place.normals.dot(a, s.after.u);
    s.contact_work += 0.5 * p * (start + end);
    if (std::find(c.held.begin(), c.held.end(), a) == c.held.end()) c.held.push(a);
  }
}

/// h sum_j w_j (Q - c)(node j), with what held contacts push there, and u' without impulses.
template <model::Model M>
bool gather_forces(Context<M>& c, Trial<M>& s, const NodeRule<M::kDofs, M::kContacts>& rule) {
  if (!c.model.load_mass(*s.mass_point, c.place)) {
    c.fail(Failure::SingularMass, s.t_mid);
    return false;
  }
  c.held.clear();
  s.force.setZero();
  for (int j = 0; j < rule.count; ++j) {
    const auto& node = rule.nodes[static_cast<std::size_t>(j)];
    if (node.force == 0.0) continue;
    model::applied_force(c.model, node.t, *node.q, *node.u, c.place, s.work);
    s.force += node.force * s.work;
    if (!c.has_constant_mass()) c.model.force(node.t, *node.q, *node.u, c.place, s.work);
    s.force_work += 0.5 * s.h * node.force * (s.before.u.dot(s.work) + s.after.u.dot(s.work));
  }
  s.momentum = s.h * s.force;
  c.model.mass(c.place).solve(s.force, s.free);
  s.free = s.before.u + s.h * s.free;
  for (int j = 0; j < rule.count; ++j) {
    const auto& node = rule.nodes[static_cast<std::size_t>(j)];
    if (node.push != nullptr && node.force != 0.0) add_reactions(c, s, rule.touching, node);
  }
  return c.certificate.ok();
}

/// The law of a step that is made up of nodes.
template <model::Model M>
void check_node_law(Context<M>& c, Trial<M>& s, const NodeRule<M::kDofs, M::kContacts>& rule) {
  switch (rule.law) {
    case NodeLaw::Velocity:
      c.model.gaps(s.t_mid, *s.test_point, c.place);
      rule.touching > 0.0 ? check_near(c, s, rule.touching) : check_active_set(c, s);
      // At the end of an accumulation, and only after it was noted, contacts come to rest.
      c.ends_accumulation = rule.ends_accumulation && s.claim.restitution == 0.0 &&
                            c.certificate.zeno_time >= s.t_mid;
      check_contacts(c, s);
      c.ends_accumulation = false;
      break;
    case NodeLaw::MeanPosition: check_mean_position(c, s, rule.restitution); break;
    case NodeLaw::Given: check_given(c, s, rule.touching); break;
  }
}

}  // namespace ricochet::certify
