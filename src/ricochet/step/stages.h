#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "ricochet/solve/unilateral.h"
#include "ricochet/step/joint_stages.h"
#include "ricochet/step/mass_stages.h"

namespace ricochet::step {

/// q_M = q + h/2 u, at t_M = t + h/2.                       [Moreau 1986 (6.13)-(6.14)]
template <model::Model M>
[[gnu::always_inline]] inline void half_step(const M& model, const model::StateOf<M>& s, double h,
                                             Workspace<M>& w) {
  model.advance(s.q, s.u, 0.5 * h, w.q_mid);
  w.t_mid = s.t + 0.5 * h;
  w.claim.active.clear();
  w.claim.shift_weights = nullptr;
  w.unique = true;
}

/// u' = u + h M^-1 Q(t_M, point, u).                        [Moreau 1986 (10.4), par. 12]
/// For a mass that varies, the u' with F(u') = 0: see `relax`.
template <model::Model M>
[[gnu::always_inline]] inline problem::Report free_velocity(const M& model,
                                                            const model::StateOf<M>& s, double h,
                                                            const model::Vector<M::kPlaces>& point,
                                                            Workspace<M>& w) {
  model.force(w.t_mid, point, s.u, w.place, w.force);
  if constexpr (!M::kPlain) {
    if (!model.has_constant_mass()) return varying_free_velocity(model, s, h, w);
  }
  model.mass(w.place).solve(w.force, w.free);
  convex::add_scaled(s.u, h, w.free, w.free);
  return {};
}

/// Whether a correction put contact a on its wall in this step: then it is active.
template <model::Model M>
[[gnu::always_inline]] inline bool is_put(int a, const Workspace<M>& w) {
  if (w.claim.shift_weights == nullptr) return false;
  return std::find(w.put.begin(), w.put.end(), a) != w.put.end();
}

/// A = { a : g_a(t_M, point) <= 0 }, and all joints.        [Moreau 1986 (2.2)]
template <model::Model M>
[[gnu::always_inline]] inline void find_touching(const M& model,
                                                 const model::Vector<M::kPlaces>& point,
                                                 Workspace<M>& w) {
  w.claim.active.clear();
  w.test_point = &point;
  w.cone_point = &point;
  model.gaps(w.t_mid, point, w.place);
  const int contacts = model.contacts() - model.joints();
  for (int a = 0; a < contacts; ++a) {
    if (model.touches(a, w.place) || is_put(a, w)) w.claim.active.push(a);
  }
  for (int a = contacts; a < model.contacts(); ++a) w.claim.active.push(a);
}

/// Adds the contacts that last though their gap is open: see `model::Lasting`.
template <model::Model M>
[[gnu::noinline]] void add_lasting(const M& model, const model::StateOf<M>& s, double h,
                                   Workspace<M>& w, bool ahead) {
  w.touched = s.memory.scheme.touched;
  if (s.memory.steps == 0) {  // what touches at the start
    model.gaps(s.t, s.q, w.joint_place);
    w.touched.clear();
    for (int a = 0; a < model.contacts() - model.joints(); ++a) {
      if (model.touches(a, w.joint_place)) w.touched.push_back(static_cast<model::Key>(a));
    }
  }
  if (!w.lasting.find(model, w.t_mid, *w.test_point, s.u, h, w.touched, w.place, w.joint_place,
                      ahead)) {
    return;
  }
  w.claim.active.clear();
  for (int a = 0; a < model.contacts(); ++a) {
    const bool is_joint = a >= model.contacts() - model.joints();
    if (is_joint || w.lasting.holds(a) || model.touches(a, w.place) || is_put(a, w)) {
      w.claim.active.push(a);
    }
  }
}

/// A, and the contacts of the last step that last, or those that are looked at ahead.
template <model::Model M>
[[gnu::always_inline]] inline void find_contacts(const M& model, const model::StateOf<M>& s,
                                                 double h, const model::Vector<M::kPlaces>& point,
                                                 Workspace<M>& w, bool ahead = false) {
  find_touching(model, point, w);
  if (!w.lasting.empty()) w.lasting.clear();
  if (ahead || !s.memory.scheme.touched.empty() || s.memory.steps == 0) {
    add_lasting(model, s, h, w, ahead);
  }
}

/// Gradients of the active gaps at `point`, which may differ from where they were tested.
template <model::Model M>
[[gnu::always_inline]] inline void take_gradients(const M& model,
                                                  const model::Vector<M::kPlaces>& point,
                                                  Workspace<M>& w) {
  if (&point != w.test_point) model.gaps(w.t_mid, point, w.place);
  w.cone_point = &point;
  model.gradients(w.claim.active, w.place);
}

/// Gradients of the active gaps at q' = q_M + A_V h u.      [Moreau 1986, par. 7 Rem.]
template <model::Model M>
[[gnu::always_inline]] inline void anticipate(const M& model, double anticipation,
                                              const model::Vector<M::kDofs>& u, double h,
                                              Workspace<M>& w) {
  if (w.claim.active.empty()) return;
  if (anticipation == 0.0) return take_gradients(model, w.q_mid, w);
  model.advance(w.q_mid, u, anticipation * h, w.q_cone);
  take_gradients(model, w.q_cone, w);
}

/// A row of w.problem: row `row` of the gradients or of the slips, times `scale`.
template <class Rows, class W>
void add_row(const Rows& rows, int row, double scale, double free, double noise, W& w) {
  rows.each(row, [&](int i, double entry) { w.problem.add(i, scale * entry); });
  w.problem.end_row(free, noise);
}

/// The active contacts and joints as w.problem, without friction; b is said by free(k, noise).
template <model::Model M, class Free>
void assemble(const M& model, Workspace<M>& w, Free&& free) {
  const auto& active = w.claim.active;
  w.problem.begin(model.dofs(), problem::StepMetric::of(model.mass(w.place)));
  for (int k = 0; k < active.size(); ++k) {
    if (k < active.size() - model.joints()) {
      w.problem.add_contact(0, static_cast<problem::Key>(active[k]));
    }
    double noise = 0.0;
    const double b = free(k, noise);
    add_row(w.place.normals, active[k], 1.0, b, noise, w);
  }
  w.problem.held = model.joints();
}

/// e of contact a in this step.
template <model::Model M>
[[gnu::always_inline]] inline double restitution_of(const M& model, int a, const Workspace<M>& w) {
  if constexpr (model::ImpactModel<M>) {
    if (model.has_laws()) return w.laws[a];
  }
  return model.restitution(a);
}

/// g/h of a contact that lasts with an open gap, else 0.
template <model::Model M>
[[gnu::always_inline]] inline double lasting_speed(int a, const Workspace<M>& w) {
  return w.lasting.empty() ? 0.0 : std::max(0.0, w.lasting.speed(a));
}

/// e U(u_ref) of contact a, or g/h of one that lasts: what its law adds to U+.
template <model::Model M>
[[gnu::always_inline]] inline double returned_velocity(const M& model, int a,
                                                       const model::Vector<M::kDofs>& u_ref,
                                                       const Workspace<M>& w) {
  if (!w.lasting.empty() && w.lasting.holds(a)) return w.lasting.speed(a);
  const double e = restitution_of(model, a, w);
  return e == 0.0 ? 0.0 : e * contact_velocity(w, a, u_ref);
}

/// One active contact: p = max(0, -b / W), u+ = u' + M^-1 J^T p, with b the velocity v = U + e
/// U_ref without impulse. Where v is fixed at 0, p takes either sign.
template <model::Model M>
[[gnu::always_inline]] inline problem::Report push_one(const M& model, double extra, bool is_fixed,
                                                       model::Vector<M::kDofs>& u_next,
                                                       Workspace<M>& w) {
  const int a = w.claim.active[0];
  w.place.normals.copy_to(a, w.gathered);
  model.mass(w.place).solve(w.gathered, w.response);  // M^-1 J^T
  const double W = w.gathered.dot(w.response);
  const double b = contact_velocity(w, a, w.free) + extra;
  const bool pushes = b < 0.0 || is_fixed;
  const double p = pushes ? -b / W : 0.0;
  w.claim.impulses[0] = p;
  if (pushes && !(std::abs(p) < std::numeric_limits<double>::infinity())) {
    return {.status = problem::Status::Degenerate};
  }
  convex::add_scaled(w.free, p, w.response, u_next);
  return {};
}

/// b = U(u') + e U(u_ref) of row k, and a bound for its rounding; joints have their bias instead.
/// The law is e, or none: what each contact states.
template <model::Model M>
double free_row(const M& model, int k, std::optional<double> law,
                const model::Vector<M::kDofs>& u_ref, Workspace<M>& w, double& noise) {
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  const int a = w.claim.active[k];
  const bool is_joint = a >= model.contacts() - model.joints();
  const double e = law ? *law : restitution_of(model, a, w);
  const auto& normals = w.place.normals;
  double free = contact_velocity(w, a, w.free);
  noise = kRounding * normals.abs_dot(a, w.free);
  if (is_joint) {
    free += w.bias[a];
  } else if (!w.lasting.empty() && w.lasting.holds(a)) {
    free += w.lasting.speed(a);
  } else if (e > 0.0) {
    free += e * contact_velocity(w, a, u_ref);
    noise += kRounding * e * normals.abs_dot(a, u_ref);
  }
  return free;
}

/// u+ = u' + M^-1 J^T p.
template <model::Model M>
void apply_impulses(const M& model, model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  const auto& active = w.claim.active;
  w.gathered.setZero();
  for (int k = 0; k < active.size(); ++k) {
    w.place.normals.add_to(active[k], w.claim.impulses[k], w.gathered);
  }
  model.mass(w.place).solve(w.gathered, w.response);
  convex::add_scaled(w.free, 1.0, w.response, u_next);
}

/// Two active contacts in closed form; false where their gradients are nearly parallel.
template <model::Model M>
bool find_two(const M& model, std::optional<double> law, const model::Vector<M::kDofs>& u_ref,
              Workspace<M>& w) {
  std::array<model::Vector<M::kDofs>, 2> half;  // L^-1 J^T
  std::array<double, 2> b{};
  for (const int k : {0, 1}) {
    double noise = 0.0;
    b[static_cast<std::size_t>(k)] = free_row(model, k, law, u_ref, w, noise);
    w.place.normals.copy_to(w.claim.active[k], w.gathered);
    model.mass(w.place).half_solve(w.gathered, half[static_cast<std::size_t>(k)]);
  }
  return solve::solve_two(half[0].squaredNorm(), half[0].dot(half[1]), half[1].squaredNorm(), b[0],
                          b[1], w.claim.impulses[0], w.claim.impulses[1]);
}

/// The same for a mass that varies and at most three coordinates, with the digits of the general
/// solver; b is said by free(k).
template <model::Model M, class Free>
bool find_varying_two(const M& model, Workspace<M>& w, Free&& free) {
  const int dofs = model.dofs();
  if (model.has_constant_mass() || dofs > 3 || w.claim.active.size() != 2) return false;
  std::array<double, 3> half{};  // L^-1 J^T of the first
  std::array<double, 3> W{};     // W11, W12, W22
  for (const int k : {0, 1}) {
    w.place.normals.copy_to(w.claim.active[k], w.gathered);
    model.mass(w.place).half_solve(w.gathered, w.response);
    for (int i = 0; i < dofs; ++i) {
      const double entry = w.response[i];
      double& first = half[static_cast<std::size_t>(i)];
      if (k == 0) first = entry;
      if (k == 1) W[1] += first * entry;
      W[k == 0 ? 0 : 2] += entry * entry;
    }
  }
  return solve::solve_two(W[0], W[1], W[2], free(0), free(1), w.claim.impulses[0],
                          w.claim.impulses[1]);
}

/// Several active rows: p >= 0, v = W p + b >= 0, p . v = 0, b = U(u') + e U(u_ref); joints v = 0.
template <model::Model M>
problem::Report push_many(const M& model, std::optional<double> law,
                          const model::Vector<M::kDofs>& u_ref, model::Vector<M::kDofs>& u_next,
                          Workspace<M>& w) {
  if constexpr (M::kPlain && M::kDofs != model::kDynamic && M::kContacts != model::kDynamic) {
    if (w.claim.active.size() == 2 && find_two(model, law, u_ref, w)) {
      w.unique = true;
      apply_impulses(model, u_next, w);
      return {};
    }
  }
  const auto free = [&](int k, double& noise) { return free_row(model, k, law, u_ref, w, noise); };
  if constexpr (!M::kPlain) {
    const auto b = [&](int k) {
      double noise = 0.0;
      return free(k, noise);
    };
    if (model.joints() > 0 && push_joints(model, u_next, w, b)) return {};
    if (model.joints() == 0 && find_varying_two(model, w, b)) {
      w.unique = true;
      apply_impulses(model, u_next, w);
      return {};
    }
  }
  assemble(model, w, free);
  const problem::Report report = w.solver.solve(w.problem, *w.warm);
  w.unique = report.unique;
  for (int k = 0; k < w.claim.active.size(); ++k) w.claim.impulses[k] = w.solver.impulse(k);
  apply_impulses(model, u_next, w);
  return report;
}

template <model::Model M, class Push>
[[gnu::noinline]] problem::Report settle_rounds(const M& model, double h,
                                                model::Vector<M::kDofs>& u_next, Workspace<M>& w,
                                                Push& push) {
  u_next = w.free;
  w.are_joints_factored = false;
  const bool ahead = w.lasting.has_ahead();
  double size = w.free.cwiseAbs().sum();
  const bool has_gaps = model.joints() > model::rolls(model) || ahead;
  if (has_gaps) size += w.q_mid.cwiseAbs().sum() / h;  // g / h is a velocity
  const bool varies = !M::kPlain && !model.has_constant_mass();
  for (int round = 0; round < kMostRounds; ++round) {
    w.last = u_next;
    if (model.joints() > 0) aim_joints(model, h, w.last, w);
    if (ahead) w.lasting.aim(model, w.t_mid, w.q_mid, w.last, h, w.place, w.joint_place);
    if (varies && round > 0) relax(model, h, w.last, w);
    const problem::Report report = push();
    if (report.status != problem::Status::Solved || !u_next.allFinite()) return report;
    if (round > 0 && is_settled(u_next, w.last, size)) return report;
  }
  return is_close(u_next, w.last, size);
}

/// Repeats `push`, which finds u+ from u' and what joints and contacts that are looked at ahead
/// need, until both belong to the u+ found. For a constant mass without these once is enough; no
/// scheme that does not say `kAhead` has the latter.
template <bool kAhead = false, model::Model M, class Push>
[[gnu::always_inline]] inline problem::Report settle(const M& model, double h,
                                                     model::Vector<M::kDofs>& u_next,
                                                     Workspace<M>& w, Push&& push) {
  if constexpr (M::kPlain && !kAhead) {
    return push();
  } else {
    const bool varies = !M::kPlain && !model.has_constant_mass();
    const bool aims = model.joints() > 0 || w.lasting.has_ahead();
    if (!varies && !aims) return push();
    return settle_rounds(model, h, u_next, w, push);
  }
}

/// q+ = q_M + h/2 u+, read at t + h.                        [Moreau 1986 (6.16)-(6.17)]
template <model::Model M>
[[gnu::always_inline]] inline void finish_step(const M& model, double h, const Workspace<M>& w,
                                               model::StateOf<M>& next) {
  model.advance(w.q_mid, next.u, 0.5 * h, next.q);
}

}  // namespace ricochet::step
