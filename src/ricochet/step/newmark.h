#pragma once

#include "ricochet/step/guide_stages.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// Newmark's method with the guides of Paoli and Schatzman.           [Paoli 2001 (3.9)-(3.15)]
struct Newmark {
  static constexpr SchemeInfo kInfo{
      .name = "newmark",
      .meaning = "Newmark's method, positions projected between the clearances",
      .use = "structures",
      .integrator = certify::Integrator::AveragePosition,
      .laws = Laws::Constants,
      .has_friction = true,
      .is_default = true,
      .runs_systems = false,
      .runs_structures = true};
  static Newmark from(const Scheme&) { return {}; }
  static certify::Method method() { return method_of(kInfo); }
};

/// F' = (G- + 2 G + G+)/4, G the loads at the middles of three steps, in w.place.loads: two of them
/// were those of the step before.                                                       (3.13)
template <model::ImplicitModel M>
void smooth_loads(const M& model, double h, std::vector<double>& kept, Workspace<M>& w) {
  auto& loads = w.place.loads;
  const Eigen::Index count = loads.size();
  if (count == 0) return;
  if (kept.empty()) {
    kept.resize(static_cast<std::size_t>(2 * count));
    for (Eigen::Index half = 0; half < 2; ++half) {
      model.take_loads(half == 0 ? w.t_mid - h : w.t_mid, w.place);
      std::copy_n(loads.data(), count, kept.data() + half * count);
    }
  }
  model.take_loads(w.t_mid + h, w.place);
  for (Eigen::Index i = 0; i < count; ++i) {
    double& before = kept[static_cast<std::size_t>(i)];
    double& now = kept[static_cast<std::size_t>(count + i)];
    const double after = loads[i];
    loads[i] = 0.25 * (before + 2.0 * now + after);
    before = now;
    now = after;
  }
}

/// The paper's positions U are taken at the middles of our steps, so that what a row tells, q and
/// u, are the mean of two of them and their difference: U+ = q+ + h u+/2, U- = q - h u/2 and
/// U = q + h u/2 = q+ - h u+/2. With F = (G- + 2 G + G+)/4 - K (U+ + 2 U + U-)/4 - C (U+ - U-)/2h
/// the scheme (3.2) is
///
///     A (u+ - u) = h (F' - C u - K U) + G^T p,     A = M + h C/2 + h^2 K/4,
///
/// F' the loads: (3.12) less what both sides share, which keeps digits that a difference of
/// positions would lose. Its energy, at q and u, is balanced exactly.
///
/// Deviations: M need not be the identity and there may be damping; the reaction in (3.12) is
/// p/h, recovered from the balance with the factor 1/4 on the whole sum (misprinted there).
template <model::ImplicitModel M>
problem::Report advance(const Newmark&, const M& model, const model::StateOf<M>& s, double h,
                        model::StateOf<M>& next, Workspace<M>& w) {
  half_step(model, s, h, w);  // U
  smooth_loads(model, h, next.memory.scheme.past, w);
  w.force.setZero();
  model.add_loads(1.0, w.place.loads, w.force);
  model.add_damping(-1.0, s.u, w.place, w.force);
  model.add_stiffness(-1.0, w.q_mid, w.place, w.force);
  model.mass(w.place).solve(w.force, w.free);  // A^-1 (F' - C u - K U)
  w.free = s.u + h * w.free;
  model.gaps(w.t_mid, w.q_mid, w.place);
  open_guides(model, s, w);
  auto& g = w.guides;
  for (int a = 0; a < model.contacts(); ++a) {
    // U+ + e U- = (1 + e) U + h (u+ - e u) between (1 + e) times the clearances  (3.10)-(3.12)
    const int k = model.guide_at(a);
    const bool is_upper = model.side(a).is_upper;
    const double e = model.restitution(a);
    const double room = (1.0 + e) * w.place.gap[a] / h;
    (is_upper ? g.high : g.low)[k] = e * g.before[k] + (is_upper ? room : -room);
  }
  const problem::Report report = solve_guides(model, model.weights(), w);  // Lemma 3.2  (3.15)
  for (int a = 0; a < model.contacts(); ++a) {
    if (model.side(a).push(g.normal[model.guide_at(a)]) > 0.0) w.claim.active.push(a);
  }
  take_reactions(model, next.u, w);
  finish_step(model, h, w, next);  // q+ = U + h u+/2
  return report;
}

}  // namespace ricochet::step
