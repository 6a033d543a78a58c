#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "ricochet/problem/spring.h"
#include "ricochet/step/guide_stages.h"
#include "ricochet/step/node_stages.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// A comparator: walls are springs with dashpots.
struct Penalty {
  static constexpr std::array kSettings = {
      Setting{.name = "stiffness",
              .meaning = "force over gap; else such that a contact lasts 20 steps",
              .is_automatic = true,
              .is_positive = true,
              .of_structures = true}};
  static constexpr SchemeInfo kInfo{
      .name = "penalty",
      .meaning = "a spring and a dashpot at each contact",
      .use = "comparison; warns where the step is too long for its stiffness",
      .integrator = certify::Integrator::Spring,
      .laws = Laws::Constants,
      .balances_energy = false,
      .runs_structures = true,
      .settings = kSettings};
  double stiffness{0.0};  // force over gap; 0: such that a contact lasts 20 steps
  static Penalty from(const Scheme& scheme) { return {.stiffness = scheme.value("stiffness")}; }
  certify::Method method() const {
    certify::Method method = method_of(kInfo);
    method.stiffness = stiffness;
    return method;
  }
};

/// One step with walls of springs and dashpots: r = max(0, -k g - c (U + U+)/2) where g <= 0, with
/// U+ of this contact alone, on Moreau's middles. A contact of the mass m = 1/W lasts pi sqrt(m/k),
/// of which the step must be a small part; c = 2 zeta sqrt(k m). A comparator: see `moreau` for
/// walls that are walls.
template <model::Model M>
problem::Report advance(const Penalty& scheme, const M& model, const model::StateOf<M>& s, double h,
                        model::StateOf<M>& next, Workspace<M>& w) {
  open_nodes(s.t + 0.5 * h, w);
  add_node(s.t + 0.5 * h, w.q_mid, s.u, 1.0, w);
  model.advance(s.q, s.u, 0.5 * h, w.q_mid);
  if (!model.load_mass(w.q_mid, w.place)) return {.status = problem::Status::SingularMass};
  free_velocity_at_nodes(model, s, h, w);
  find_touching(model, w.q_mid, w);
  if (!w.claim.active.empty()) model.gradients(w.claim.active, w.place);
  next.u = w.free;
  for (int k = 0; k < w.claim.active.size(); ++k) {
    const int a = w.claim.active[k];
    w.place.normals.copy_to(a, w.gathered);
    model.mass(w.place).solve(w.gathered, w.response);
    const double m = 1.0 / w.gathered.dot(w.response);
    if (!(m < std::numeric_limits<double>::infinity())) {
      return {.status = problem::Status::Degenerate};
    }
    const double stiffness = problem::spring_stiffness(scheme.stiffness, m, h);
    const double wanted = std::numbers::pi * std::sqrt(m / stiffness) / kFewestContactSteps;
    if (w.wanted_step == 0.0 || wanted < w.wanted_step) w.wanted_step = wanted;
    const double mean = 0.5 * (contact_velocity(w, a, s.u) + contact_velocity(w, a, next.u));
    w.claim.impulses[k] =
        h * problem::spring_force(stiffness, m, model.restitution(a), w.place.gap[a], mean, h);
    next.u += w.claim.impulses[k] * w.response;
  }
  model.advance(w.q_mid, next.u, 0.5 * h, next.q);
  return {};
}

/// The same at the guides of a structure, felt at the means of the step, all together, so that no
/// step is too large for them: p = h (k d + c d') as long as it pushes, d the mean depth. With
/// u+ = free + W p and a = h k/4 + c/2, the share of u+:
///     p >= 0,  (W + 1/(h a)) p + free >= -k g/a - u,  one of them an equality.
template <model::ImplicitModel M>
problem::Report advance(const Penalty& scheme, const M& model, const model::StateOf<M>& s, double h,
                        model::StateOf<M>& next, Workspace<M>& w) {
  half_step(model, s, h, w);
  (void)free_velocity(model, s, h, w.q_mid, w);
  find_touching(model, w.q_mid, w);
  open_guides(model, s, w);
  auto& g = w.guides;
  auto& springs = w.place.springs;
  const auto share = [&](int k) {
    const auto& spring = springs[static_cast<std::size_t>(k)];
    return 0.25 * h * spring.stiffness + 0.5 * spring.dashpot;
  };
  if (springs.empty()) {
    springs = model.springs(scheme.stiffness);
    g.spring_W = model.weights();
    for (int k = 0; k < model.guides(); ++k) g.spring_W(k, k) += 1.0 / (h * share(k));
  }
  for (const int a : w.claim.active) {
    const int k = model.guide_at(a);
    const bool is_upper = model.side(a).is_upper;
    const double pull = springs[static_cast<std::size_t>(k)].stiffness / share(k);
    const double start = w.place.gap[a] - 0.5 * h * (is_upper ? -g.before[k] : g.before[k]);
    (is_upper ? g.high : g.low)[k] = (is_upper ? pull : -pull) * start - g.before[k];
  }
  const problem::Report report = solve_guides(model, g.spring_W, w);
  take_reactions(model, next.u, w);
  finish_step(model, h, w, next);
  return report;
}

}  // namespace ricochet::step
