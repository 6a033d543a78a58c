#pragma once

#include <algorithm>

#include "ricochet/step/impact_stages.h"

namespace ricochet::step {

/// The length of the step, by which forces are impulses.
template <model::Model M>
[[gnu::always_inline]] inline void open_friction(double h, Workspace<M>& w) {
  if constexpr (M::kSlips > 0) {
    w.h = h;
    w.pressed.clear();
  }
}

/// The normal impulse of friction without a contact; of joints that which is tried.
template <model::Model M>
double load_impulse(const M& model, int a, const Workspace<M>& w) {
  const auto pressed = std::find(w.pressed.begin(), w.pressed.end(), a);
  if (pressed != w.pressed.end()) return w.loads[pressed - w.pressed.begin()];
  return model::load_of(model, a, w.h, w.claim, w.place);
}

/// Lists the active rows that joints press, once in a step: no load is known at first.
template <model::FrictionModel M>
void find_pressed(const M& model, Workspace<M>& w) {
  if constexpr (requires { model.holds(0); }) {
    if (!w.pressed.empty()) return;  // a later round
    for (const int a : w.claim.active) {
      if (model::is_loaded(model, a) && !model.holds(a).empty()) w.pressed.push_back(a);
    }
    w.loads.setZero(static_cast<Eigen::Index>(w.pressed.size()));
  }
}

/// How hard the joints of row a press, in the last solution.
template <model::FrictionModel M>
double reaction_on(const M& model, int a, const Workspace<M>& w) {
  double square = 0.0;
  if constexpr (requires { model.holds(a); }) {
    for (const int row : model.holds(a)) {
      const double p = w.solver.impulse(w.problem.rows() - (model.contacts() - row));
      square += p * p;
    }
  }
  return std::sqrt(square);
}

/// e of U_T, where contact a begins in this step.
template <model::Model M>
double slip_restitution_of(const M& model, int a, const model::StateOf<M>& s,
                           const Workspace<M>& w) {
  const double e = model::slip_restitution(model, a);
  if (e == 0.0) return 0.0;
  const auto& touched = s.memory.steps == 0 ? w.touched : s.memory.scheme.touched;
  return std::binary_search(touched.begin(), touched.end(), static_cast<model::Key>(a)) ? 0.0 : e;
}

/// U_T of contact a, direction j.
template <model::Model M>
double slip_velocity(const Workspace<M>& w, int a, int j, const model::Vector<M::kDofs>& v) {
  const int row = M::kSlips * a + j;
  return w.place.tangents.dot(row, v) + w.place.slip_rate[row];
}

/// What slips back after an impact does not stick, though its impulse is inside its cone.
template <model::FrictionModel M>
void take_rebound(const M& model, int k, const model::StateOf<M>& s,
                  const model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  const int a = w.claim.active[k];
  if (w.claim.grip(k) != problem::Grip::Stick || slip_restitution_of(model, a, s, w) == 0.0) return;
  for (int j = 0; j < model.slips(a); ++j) {
    if (slip_velocity(w, a, j, u_next) != 0.0) w.claim.grip(k) = problem::Grip::Slip;
  }
}

/// The normal row of friction without a contact: a coordinate of its own, as easily moved as the
/// slip, that its load pushes.
template <model::FrictionModel M>
void add_load(const M& model, int a, int coordinate, Workspace<M>& w) {
  const double slip =
      model::delassus(w.place.tangents, M::kSlips * a, model.mass(w.place), w.gathered, w.response);
  const double W = slip > 0.0 ? slip : 1.0;
  w.problem.add(coordinate, std::sqrt(W));
  w.problem.end_row(-load_impulse(model, a, w) * W);
}

/// How many of the active rows are friction without a contact.
template <model::FrictionModel M>
int count_loads(const M& model, const Workspace<M>& w) {
  if constexpr (M::kPlain) return 0;
  return static_cast<int>(std::count_if(w.claim.active.begin(), w.claim.active.end(),
                                        [&](int a) { return model::is_loaded(model, a); }));
}

/// A contact whose slip is exactly zero sticks, however small its impulse.
template <model::FrictionModel M>
void take_rest(const M& model, int k, const model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  if (w.claim.grip(k) != problem::Grip::Slip) return;
  const int a = w.claim.active[k];
  for (int j = 0; j < model.slips(a); ++j) {
    if (slip_velocity(w, a, j, u_next) != 0.0) return;
  }
  if (model.slips(a) > 0) w.claim.grip(k) = problem::Grip::Stick;
}

/// A contact that is said to stick, with an impulse on the surface of its cone, and moves slips:
/// solvers know the slips of all contacts to a part of the fastest one.
template <model::FrictionModel M>
void take_motion(const M& model, int k, const model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  if (w.claim.grip(k) != problem::Grip::Stick) return;
  const int a = w.claim.active[k];
  const double stretch = model::is_loaded(model, a) ? 1.0 : w.place.stretch[a];
  convex::Tangent along = convex::Tangent::Zero();
  bool moves = false;
  for (int j = 0; j < model.slips(a); ++j) {
    const int row = M::kSlips * a + j;
    const double size = w.place.tangents.abs_dot(row, u_next) +
                        w.place.tangents.abs_dot(row, w.free) + std::abs(w.place.slip_rate[row]);
    const double still = 1e-12 * std::abs(slip_velocity(w, a, j, w.free)) + 1e-14 * size;
    along[j] = w.claim.tangential[M::kSlips * k + j];
    moves = moves || std::abs(slip_velocity(w, a, j, u_next)) > still;
  }
  const double normal = (1.0 - 1e-6) * w.claim.impulses[k] / stretch;
  const convex::Section& section = w.problem.contacts[static_cast<std::size_t>(k)].section;
  if (moves && !convex::contains(section, along, normal)) w.claim.grip(k) = problem::Grip::Slip;
}

}  // namespace ricochet::step
