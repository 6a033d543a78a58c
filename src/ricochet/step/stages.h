#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/certify/claim.h"
#include "ricochet/model/model.h"
#include "ricochet/problem/report.h"
#include "ricochet/problem/unilateral.h"
#include "ricochet/solve/least_norm.h"
#include "ricochet/solve/unilateral.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// Everything a step writes besides the next state. Made once per run; nothing in a step allocates.
template <model::Model M>
struct Workspace {
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = model::Vector<N>;

  Vec q_mid;     // q_M
  Vec q_cone;    // q' = q_M + A_V h u
  Vec shift;     // what the correction added to q_M
  Vec force;     // Q
  Vec free;      // u' = u + h M^-1 Q
  Vec gathered;  // J^T p
  Vec response;  // M^-1 J^T p
  typename M::Place place;
  certify::Claim<N, K> claim;
  problem::Unilateral problem;
  solve::UnilateralSolver solver;
  solve::LeastNorm least_norm;

  Workspace(const M& model, const Vec& q)
      : q_mid(q),
        q_cone(q),
        shift(q),
        force(q),
        free(q),
        gathered(q),
        response(q),
        place(model.make_place()),
        claim(model.contacts()) {
    constexpr int kUsual = 64;  // contacts at once; more grow the storage when they come
    const int contacts = std::min(model.contacts(), kUsual);
    problem.resize(model.dofs(), contacts);
    solver.reserve(model.dofs(), contacts);
    least_norm.reserve(model.dofs(), contacts);
  }
};

/// q_M = q + h/2 u, at t_M = t + h/2.                       [Moreau 1986 (6.13)-(6.14)]
template <model::Model M>
[[gnu::always_inline]] inline void half_step(const M& model, const model::State<M::kDofs>& s,
                                             double h, Workspace<M>& w) {
  model.advance(s.q, s.u, 0.5 * h, w.q_mid);
  w.claim.t_mid = s.t + 0.5 * h;
  w.claim.active.clear();
  w.claim.shift = nullptr;
  w.claim.unique = true;
}

/// u' = u + h M^-1 Q(t_M, point, u).                        [Moreau 1986 (10.4), par. 12]
template <model::Model M>
[[gnu::always_inline]] inline void free_velocity(const M& model, const model::State<M::kDofs>& s,
                                                 double h, const model::Vector<M::kDofs>& point,
                                                 Workspace<M>& w) {
  model.force(w.claim.t_mid, point, s.u, w.place, w.force);
  model.mass().solve(w.force, w.free);
  w.free = s.u + h * w.free;
  w.claim.force_point = &point;
}

/// A = { a : g_a(t_M, point) <= 0 }.                        [Moreau 1986 (2.2)]
template <model::Model M>
[[gnu::always_inline]] inline void find_touching(const M& model,
                                                 const model::Vector<M::kDofs>& point,
                                                 Workspace<M>& w) {
  w.claim.active.clear();
  w.claim.test_point = &point;
  w.claim.cone_point = &point;
  model.gaps(w.claim.t_mid, point, w.place);
  for (int a = 0; a < model.contacts(); ++a) {
    if (w.place.gap[a] <= 0.0) w.claim.active.push(a);
  }
}

/// Gradients of the active gaps at `point`, which may differ from where they were tested.
template <model::Model M>
[[gnu::always_inline]] inline void take_gradients(const M& model,
                                                  const model::Vector<M::kDofs>& point,
                                                  Workspace<M>& w) {
  if (&point != w.claim.test_point) model.gaps(w.claim.t_mid, point, w.place);
  w.claim.cone_point = &point;
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

/// A = L^-1 J^T for the active contacts: W = A^T A.
template <model::Model M>
void assemble_factor(const M& model, Workspace<M>& w) {
  const auto& active = w.claim.active;
  w.problem.resize(model.dofs(), active.size());
  for (int k = 0; k < active.size(); ++k) {
    w.gathered = w.place.normals.col(active[k]);
    model.mass().half_solve(w.gathered, w.response);
    w.problem.factor.col(k) = w.response;
  }
}

/// Replaces a violated q_M by q_M - M^-1 J^T W^-1 g, the intersection of the active surfaces to
/// first order; least-norm when W is singular.                    [Moreau 1986 (10.8)-(10.9)]
template <model::Model M>
void correct_violation(const M& model, Workspace<M>& w) {
  find_touching(model, w.q_mid, w);
  bool violated = false;
  for (const int a : w.claim.active) violated = violated || w.place.gap[a] < 0.0;
  if (!violated) return;
  take_gradients(model, w.q_mid, w);
  assemble_factor(model, w);
  for (int k = 0; k < w.claim.active.size(); ++k) {
    w.problem.free[k] = -w.place.gap[w.claim.active[k]];
  }
  w.gathered = w.least_norm.solve(w.problem.factor.leftCols(w.problem.count),  // A^T y = -g
                                  w.problem.free.head(w.problem.count));
  model.mass().half_solve_transposed(w.gathered, w.shift);  // L^-T y
  w.q_mid += w.shift;
  w.claim.shift = &w.shift;
}

/// U_a = J_a v + dg_a/dt.
template <model::Model M>
[[gnu::always_inline]] inline double contact_velocity(const Workspace<M>& w, int a,
                                                      const model::Vector<M::kDofs>& v) {
  return w.place.normals.col(a).dot(v) + w.place.rate[a];
}

/// One active contact: p = max(0, -b / W), u+ = u' + M^-1 J^T p, with b the velocity v = U + e
/// U_ref without impulse. On a Fixed branch p takes either sign.
template <model::Model M>
[[gnu::always_inline]] inline problem::Report push_one(const M& model, double extra,
                                                       certify::Branch branch,
                                                       model::Vector<M::kDofs>& u_next,
                                                       Workspace<M>& w) {
  const int a = w.claim.active[0];
  w.gathered = w.place.normals.col(a);
  model.mass().solve(w.gathered, w.response);  // M^-1 J^T
  const double W = w.gathered.dot(w.response);
  const double b = contact_velocity(w, a, w.free) + extra;
  w.claim.branch(0) = branch;
  const bool pushes = b < 0.0 || branch == certify::Branch::Fixed;
  const double p = pushes ? -b / W : 0.0;
  w.claim.impulses[0] = p;
  if (pushes && !(std::abs(p) < std::numeric_limits<double>::infinity())) {
    return {.status = problem::Status::Degenerate};
  }
  u_next = w.free + p * w.response;
  return {};
}

/// Several active contacts: p >= 0, v = W p + b >= 0, p . v = 0, b = U(u') + e U(u_ref).
template <model::Model M>
problem::Report push_many(const M& model, double e, const model::Vector<M::kDofs>& u_ref,
                          model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  const auto& active = w.claim.active;
  assemble_factor(model, w);
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  for (int k = 0; k < active.size(); ++k) {
    const auto J = w.place.normals.col(active[k]);
    w.problem.free[k] = contact_velocity(w, active[k], w.free) +
                        (e > 0.0 ? e * contact_velocity(w, active[k], u_ref) : 0.0);
    w.problem.noise[k] = kRounding * J.cwiseAbs().dot(w.free.cwiseAbs() + e * u_ref.cwiseAbs());
    w.claim.branch(k) = certify::Branch::Unilateral;
  }
  const problem::Report report = w.solver.solve(w.problem);
  w.claim.unique = report.unique;
  w.gathered.setZero();
  for (int k = 0; k < active.size(); ++k) {
    w.claim.impulses[k] = w.solver.impulse(k);
    w.gathered += w.solver.impulse(k) * w.place.normals.col(active[k]);
  }
  model.mass().solve(w.gathered, w.response);
  u_next = w.free + w.response;
  return report;
}

/// q+ = q_M + h/2 u+, read at t + h.                        [Moreau 1986 (6.16)-(6.17)]
template <model::Model M>
[[gnu::always_inline]] inline void finish_step(const M& model, double h, const Workspace<M>& w,
                                               model::State<M::kDofs>& next) {
  model.advance(w.q_mid, next.u, 0.5 * h, next.q);
}

}  // namespace ricochet::step
