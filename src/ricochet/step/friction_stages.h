#pragma once

#include "ricochet/solve/single_contact.h"
#include "ricochet/step/load_stages.h"

namespace ricochet::step {

/// G and C of the active contacts at q', C by the velocity at the start of the step.
///                                                [Moreau 1986, par. 11 Rem., par. 12 Rem. 1]
template <model::Model M>
[[gnu::always_inline]] inline problem::Report take_friction(const M& model,
                                                            const model::Vector<M::kDofs>& u,
                                                            Workspace<M>& w) {
  if constexpr (M::kSlips > 0) {
    model.friction(w.t_mid, *w.cone_point, u, w.claim.active, w.place);
    for (const int a : w.claim.active) {
      if (model.slips(a) > 0 && !model.is_lawful(a, w.place)) {
        return {.status = problem::Status::BadFriction};
      }
    }
  }
  return {};
}

/// Whether contact a pushed in the last step.
template <int Q, int U>
bool pushed_before(int a, const model::State<Q, U>& s) {
  const auto& keys = s.memory.scheme.pushed;
  return std::binary_search(keys.begin(), keys.end(), static_cast<model::Key>(a));
}

/// Whether contact a counts as sticking at the start of the step.
template <model::Model M>
bool sticks_before(const M& model, int a, const model::StateOf<M>& s, const Workspace<M>& w) {
  const auto key = static_cast<model::Key>(a);
  for (const auto* keys : {&s.memory.scheme.stuck, &s.memory.scheme.lapsed}) {
    if (std::binary_search(keys->begin(), keys->end(), key)) return true;
  }
  bool rests = true;
  for (int j = 0; j < model.slips(a); ++j) rests = rests && slip_velocity(w, a, j, s.u) == 0.0;
  return rests;
}

/// The section of contact a in this step; `turns`: its slip turns round, so that the coefficient of
/// rest holds.
template <model::FrictionModel M>
convex::Section section_of(const M& model, int a, bool turns, const model::StateOf<M>& s,
                           const Workspace<M>& w) {
  const bool sticks = turns || sticks_before(model, a, s, w);
  return model::section_at(model, a, sticks, slip_velocity(w, a, 0, s.u), w.place);
}

/// Whether an impulse in space is along the slip at the start of a step, not against it.
template <model::FrictionModel M>
bool turns_slip(int a, double R1, double R2, const model::StateOf<M>& s, const Workspace<M>& w) {
  return R1 * slip_velocity(w, a, 0, s.u) + R2 * slip_velocity(w, a, 1, s.u) > 0.0;
}

/// Where the parts of a velocity cancel to rounding, the velocity is zero: rest is exact. `size` is
/// what the parts add up to without signs.
template <class V>
[[gnu::always_inline]] inline void come_to_rest(const V& size, V& u_next) {
  constexpr double kRounding = 8.0 * std::numeric_limits<double>::epsilon();
  for (Eigen::Index i = 0; i < u_next.size(); ++i) {
    if (std::abs(u_next[i]) <= kRounding * std::abs(size[i])) u_next[i] = 0.0;
  }
}

/// Rows of G, G M^-1 G^T and b = G u' (+ e U_N before) of one contact; the normal row in units of
/// the normal velocity.
template <model::FrictionModel M>
struct OneContact {
  static constexpr int kMost = 1 + M::kSlips;
  Eigen::Matrix3d W{Eigen::Matrix3d::Zero()};
  Eigen::Vector3d b{Eigen::Vector3d::Zero()};
  Eigen::Vector3d rates{Eigen::Vector3d::Zero()};  // of U, without u
  int rows{0};

  [[gnu::always_inline]] inline OneContact(const M& model, int a, const model::StateOf<M>& s,
                                           Workspace<M>& w)
      : rows(1 + model.slips(a)) {
    const auto& u = s.u;
    const double stretch = w.place.stretch[a];
    w.place.normals.copy_to(a, w.rows[0]);
    if (stretch != 1.0) w.rows[0] *= stretch;
    rates[0] = stretch * w.place.rate[a];
    for (int j = 1; j < rows; ++j) {
      const int row = M::kSlips * a + j - 1;
      w.place.tangents.copy_to(row, w.rows[index(j)]);
      rates[j] = w.place.slip_rate[row];
    }
    for (int i = 0; i < rows; ++i) {
      model.mass(w.place).solve(w.rows[index(i)], w.responses[index(i)]);
      for (int j = 0; j <= i; ++j) W(i, j) = W(j, i) = w.rows[index(j)].dot(w.responses[index(i)]);
      b[i] = w.rows[index(i)].dot(w.free) + rates[i];
    }
    if (!w.lasting.empty() && w.lasting.holds(a)) {
      rates[0] += stretch * w.lasting.speed(a);
      b[0] = w.rows[0].dot(w.free) + rates[0];
    } else if (const double e = restitution_of(model, a, w); e > 0.0) {
      rates[0] += e * (w.rows[0].dot(u) + rates[0]);
      b[0] = w.rows[0].dot(w.free) + rates[0];
    }
    if constexpr (!M::kPlain) {
      if (const double e = slip_restitution_of(model, a, s, w); e > 0.0) {
        for (int j = 1; j < rows; ++j) b[j] += e * (w.rows[index(j)].dot(u) + rates[j]);
      }
      if (model::is_loaded(model, a)) {  // its normal impulse is -b / W, whatever the slip
        W(0, 0) = W(1, 1) > 0.0 ? W(1, 1) : 1.0;
        b[0] = -load_impulse(model, a, w) * W(0, 0);
      }
    }
  }

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
};

/// One active contact with friction.                  [Moreau 1986 (12.6)-(12.7), (13.13)]
template <model::FrictionModel M>
problem::Report push_one_with_friction(const M& model, const model::StateOf<M>& s,
                                       model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  const int a = w.claim.active[0];
  const OneContact<M> contact(model, a, s, w);
  if (!(contact.W(0, 0) > 0.0)) return {.status = problem::Status::Degenerate};
  const convex::Section section = section_of(model, a, false, s, w);
  solve::SingleSolution solution =
      contact.rows == 2
          ? solve::solve_in_plane(contact.W(0, 0), contact.W(0, 1), contact.W(1, 1), contact.b[0],
                                  contact.b[1], std::get<convex::Segment>(section))
          : solve::solve_in_space(contact.W, contact.b, section);
  bool several = false;
  if (contact.rows == 2 && solution.grip == problem::Grip::Free) {
    solve::SingleSolution other = solution;
    solve::keep_pushing(contact.W(0, 0), contact.W(0, 1), contact.W(1, 1), contact.b[0],
                        contact.b[1], std::get<convex::Segment>(section), other);
    several = other.grip != problem::Grip::Free;
    if (several && pushed_before(a, s)) solution = other;
  }
  if (contact.rows == 3 && turns_slip(a, solution.impulse[1], solution.impulse[2], s, w)) {
    solution = solve::solve_in_space(contact.W, contact.b, section_of(model, a, true, s, w));
  }
  if (solution.status != problem::Status::Solved) return {.status = solution.status};
  u_next = w.free;  // u+ = u' + M^-1 G^T R
  for (int i = 0; i < contact.rows; ++i) {
    u_next += solution.impulse[i] * w.responses[static_cast<std::size_t>(i)];
  }
  if (solution.grip != problem::Grip::Free) {  // U_N = 0 of a slide is as exact as stick
    w.size = w.free.cwiseAbs();
    for (int i = 0; i < contact.rows; ++i) {
      const double impulse = std::abs(solution.impulse[i]);
      w.size += impulse * w.responses[static_cast<std::size_t>(i)].cwiseAbs();
    }
    come_to_rest(w.size, u_next);
  }
  w.claim.impulses[0] = model::is_loaded(model, a) ? load_impulse(model, a, w)
                                                   : w.place.stretch[a] * solution.impulse[0];
  for (int j = 0; j < model.slips(a); ++j) w.claim.tangential[j] = solution.impulse[1 + j];
  w.claim.grip(0) = solution.grip;
  if constexpr (!M::kPlain) take_rebound(model, 0, s, u_next, w);
  return {.several = several};
}

/// row . v, the row times `scale`: over all coordinates where these are not many.
template <class Rows, class V, class W>
double row_velocity(const Rows& rows, int row, double scale, const V& v, W& w) {
  constexpr Eigen::Index kMany = 256;
  if (v.size() > kMany) return scale * rows.dot(row, v);
  rows.copy_to(row, w.gathered);
  if (scale != 1.0) w.gathered *= scale;
  return w.gathered.dot(v);
}

/// The active contacts and joints as w.problem, with friction.
template <model::FrictionModel M>
void assemble_friction(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  const auto& active = w.claim.active;
  const int contacts = active.size() - model.joints();
  const int loads = count_loads(model, w);
  int load = model.dofs();  // coordinate of the next one
  w.problem.begin(model.dofs(), problem::StepMetric::of(model.mass(w.place)), loads);
  for (int k = 0; k < active.size(); ++k) {
    const int a = active[k];
    const bool is_joint = k >= contacts;
    const double stretch = is_joint ? 1.0 : w.place.stretch[a];
    double free = row_velocity(w.place.normals, a, stretch, w.free, w) +
                  (stretch * w.place.rate[a] + (is_joint ? w.bias[a] : 0.0));
    if (!is_joint) {
      free += stretch * returned_velocity(model, a, s.u, w);
      auto& contact = w.problem.add_contact(model.slips(a), static_cast<problem::Key>(a));
      if (contact.slips > 0)
        contact.section = section_of(model, a, w.turned[static_cast<std::size_t>(k)] != 0, s, w);
    }
    if (loads > 0 && !is_joint && model::is_loaded(model, a)) {
      add_load(model, a, load++, w);
    } else {
      add_row(w.place.normals, a, stretch, free, 0.0, w);
    }
    const double back = is_joint ? 0.0 : slip_restitution_of(model, a, s, w);
    for (int j = 0; !is_joint && j < model.slips(a); ++j) {
      const int row = M::kSlips * a + j;
      double slip = row_velocity(w.place.tangents, row, 1.0, w.free, w) + w.place.slip_rate[row];
      if (back > 0.0) slip += back * slip_velocity(w, a, j, s.u);
      add_row(w.place.tangents, row, 1.0, slip, 0.0, w);
    }
  }
  w.problem.held = model.joints();
}

/// Marks the contacts in space whose slip turns round; true when there are new ones.
template <model::FrictionModel M>
bool mark_turned(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  bool is_new = false;
  int at = 0;
  for (int k = 0; k < w.claim.active.size() - model.joints(); ++k) {
    const int a = w.claim.active[k];
    char& turned = w.turned[static_cast<std::size_t>(k)];
    if (turned == 0 && model.slips(a) == 2 && model::has_rest_friction(model, a, w.place) &&
        turns_slip(a, w.solver.impulse(at + 1), w.solver.impulse(at + 2), s, w)) {
      turned = 1;
      is_new = true;
    }
    at += 1 + model.slips(a);
  }
  return is_new;
}

/// The impulses of all contacts, again where slips turn round.
template <model::FrictionModel M>
problem::Report solve_friction(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  w.turned.assign(static_cast<std::size_t>(w.claim.active.size()), 0);
  problem::Report report;
  do {
    assemble_friction(model, s, w);
    report = w.solver.solve(w.problem, *w.warm);
  } while (report.status == problem::Status::Solved && mark_turned(model, s, w));
  return report;
}

/// The same with loads that are the reactions they bring about.
template <model::FrictionModel M>
problem::Report solve_pressed(const M& model, const model::StateOf<M>& s, Workspace<M>& w) {
  struct Asked {
    const M& model;
    const model::StateOf<M>& s;
    Workspace<M>& w;
  } asked{model, s, w};
  const auto ask = [](void* about, const Eigen::VectorXd& loads, Eigen::VectorXd& answer) {
    const Asked& it = *static_cast<Asked*>(about);
    it.w.loads = loads;
    const problem::Report report = solve_friction(it.model, it.s, it.w);
    answer.resize(loads.size());
    for (Eigen::Index k = 0; k < loads.size(); ++k) {
      answer[k] = reaction_on(it.model, it.w.pressed[static_cast<std::size_t>(k)], it.w);
    }
    return report;
  };
  w.settled_loads = w.loads;
  return w.load_rounds.settle(w.settled_loads, ask, &asked);
}

/// Several active contacts with friction.             [Moreau 1986 (11.14), at each of them]
template <model::FrictionModel M>
problem::Report push_many_with_friction(const M& model, const model::StateOf<M>& s,
                                        model::Vector<M::kDofs>& u_next, Workspace<M>& w) {
  if constexpr (!M::kPlain) find_pressed(model, w);
  const problem::Report report =
      w.pressed.empty() ? solve_friction(model, s, w) : solve_pressed(model, s, w);
  w.unique = report.unique;
  const auto& active = w.claim.active;
  const int loads = count_loads(model, w);
  for (int k = 0; loads > 0 && k < active.size(); ++k) {  // before the joints have others
    const int a = active[k];
    if (model::is_loaded(model, a)) w.claim.impulses[k] = load_impulse(model, a, w);
  }
  w.gathered.setZero();
  w.pushes.setZero();
  int at = 0;
  bool pushes = false;
  for (int k = 0; k < active.size(); ++k) {
    const int a = active[k];
    const bool is_joint = k >= active.size() - model.joints();
    const double stretch = is_joint ? 1.0 : w.place.stretch[a];
    const double normal = stretch * w.solver.impulse(at++);
    if (is_joint || !model::is_loaded(model, a)) w.claim.impulses[k] = normal;
    w.place.normals.add_to(a, w.claim.impulses[k], w.gathered);
    w.place.normals.add_size_to(a, w.claim.impulses[k], w.pushes);
    if (is_joint) continue;
    w.claim.grip(k) = w.solver.grip(k);
    pushes = pushes || w.claim.grip(k) != problem::Grip::Free;
    for (int j = 0; j < model.slips(a); ++j) {
      const double impulse = w.solver.impulse(at++);
      w.claim.tangential[M::kSlips * k + j] = impulse;
      w.place.tangents.add_to(M::kSlips * a + j, impulse, w.gathered);
      w.place.tangents.add_size_to(M::kSlips * a + j, impulse, w.pushes);
    }
  }
  model.mass(w.place).solve(w.gathered, w.response);
  u_next = w.free + w.response;
  if (pushes) {
    model.mass(w.place).solve(w.pushes, w.size);
    w.size = w.size.cwiseAbs() + w.free.cwiseAbs();
    come_to_rest(w.size, u_next);
    for (int k = 0; k < active.size() - model.joints(); ++k) {
      take_rest(model, k, u_next, w);
      take_rebound(model, k, s, u_next, w);
      if (loads > 0) take_motion(model, k, u_next, w);
    }
  }
  return report;
}

/// Whether any active contact has friction.
template <model::Model M>
bool has_friction(const M& model, const Workspace<M>& w) {
  if constexpr (M::kSlips > 0) {
    for (const int a : w.claim.active) {
      if (model.slips(a) > 0) return true;
    }
  }
  return false;
}

}  // namespace ricochet::step
