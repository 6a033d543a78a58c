#pragma once

#include "ricochet/certify/energy.h"
#include "ricochet/certify/kinematics.h"
#include "ricochet/certify/node_law.h"

/// Steps whose forces and velocities are taken at nodes:
///
///     M(mass point) (u+ - u) = h sum_j w_j (Q - c)(node j) + sum_a J_a^T p_a,
///     q+ = q + h sum_j b_j u_j.
namespace ricochet::certify {

/// One place where forces and velocities are taken.
template <int Q, int N>
struct Node {
  double t{0.0};
  const Vector<Q>* q{nullptr};
  const Vector<N>* u{nullptr};
  double force{0.0};  // w
  double drift{0.0};  // b
};

template <int Q, int N>
struct NodeTable {
  std::array<Node<Q, N>, 2> nodes{};
  const Vector<Q>* mass_point{nullptr};
};
template <model::Model M>
using NodesOf = NodeTable<M::kPlaces, M::kDofs>;

/// Times, points and weights of an integrator, and where it looks at contacts.
template <Integrator I, model::Model M>
NodesOf<M> tabulate(Context<M>& c, Trial<M>& s) {
  const double t = s.before.t;
  const double t_end = s.after.t;
  const auto& q = s.before.q;
  const auto& u = s.before.u;
  const auto& q_end = s.after.q;
  const auto& u_end = s.after.u;
  const bool starts = s.claim.piece == Piece::Start;
  if constexpr (I == Integrator::End) {
    s.t_contact = t_end;
    s.cone_point = &q_end;
    const double weight = starts ? c.method.start_weight : 1.0;
    return {{{{t, &q, &u, 0.0, starts ? 0.0 : 1.0}, {t_end, &q_end, &u_end, weight, 0.0}}}, &q_end};
  }
  if constexpr (I == Integrator::MeanPosition) {
    auto& mean = c.scratch.shift;  // no correction needs it
    mean = u;
    if (!starts && c.method.average == Average::Central) mean = 0.5 * (u + u_end);
    if (!starts && c.method.average == Average::Forward) mean = u_end;
    s.t_contact = t;
    return {{{{t, &q, &mean, starts ? 0.5 : 1.0, 0.0}, {t_end, &q_end, &u_end, 0.0, 1.0}}}, &q};
  }
  c.model.advance(q, u, 0.5 * s.h, s.q_mid);
  s.t_contact = t + 0.5 * s.h;
  s.cone_point = &s.q_mid;
  if constexpr (I == Integrator::Theta) {
    const double theta = c.method.theta;
    return {{{{t, &q, &u, 1.0 - theta, 1.0 - theta}, {t_end, &q_end, &u_end, theta, theta}}},
            &s.q_mid};
  }
  if constexpr (I == Integrator::Spring) {
    return {{{{s.t_contact, &s.q_mid, &u, 1.0, 0.5}, {t_end, &q_end, &u_end, 0.0, 0.5}}}, &s.q_mid};
  }
  return {};
}

/// h sum_j w_j (Q - c)(node j), and u' without impulses.
template <model::Model M>
bool gather_forces(Context<M>& c, Trial<M>& s, const NodesOf<M>& table) {
  if (!c.model.load_mass(*table.mass_point, c.place)) {
    c.fail(Failure::SingularMass, s.t_contact);
    return false;
  }
  s.force.setZero();
  for (const auto& node : table.nodes) {
    if (node.force == 0.0) continue;
    model::applied_force(c.model, node.t, *node.q, *node.u, c.place, s.work);
    s.force += node.force * s.work;
    if (!c.has_constant_mass()) c.model.force(node.t, *node.q, *node.u, c.place, s.work);
    s.force_work += 0.5 * s.h * node.force * (s.before.u.dot(s.work) + s.after.u.dot(s.work));
  }
  s.momentum = s.h * s.force;
  c.model.mass(c.place).solve(s.force, s.free);
  s.free = s.before.u + s.h * s.free;
  return true;
}

/// M (u+ - u) = h sum_j w_j (Q - c)_j + J^T p, M at one point.
template <model::Model M>
void check_node_balance(Context<M>& c, Trial<M>& s) {
  c.model.mass(c.place).apply(s.before.u, s.start_momentum);
  c.model.mass(c.place).apply(s.after.u, s.end_momentum);
  const double error = (s.end_momentum - s.start_momentum - s.momentum).cwiseAbs().sum();
  const double size = s.start_momentum.cwiseAbs().sum() + s.end_momentum.cwiseAbs().sum();
  const double rounding = 16.0 * kEpsilon * size + problem::Residual::kSmallest;
  const double scale = (s.end_momentum - s.start_momentum).cwiseAbs().sum() +
                       s.h * s.force.cwiseAbs().sum() + s.momentum.cwiseAbs().sum();
  c.model.momentum(s.after.q, s.after.u, c.place, s.start_momentum, s.slope);
  s.kinetic = 0.5 * s.after.u.dot(s.start_momentum);
  if (error <= rounding) return;
  take_error(c, s, (error - rounding) / scale, Failure::Balance, c.limits.balance);
}

/// q+ = q + h sum_j b_j u_j.
template <model::Model M>
void check_node_positions(Context<M>& c, Trial<M>& s, const NodesOf<M>& table) {
  s.q_work = s.before.q;
  double speeds = 0.0;
  for (const auto& node : table.nodes) {
    if (node.drift == 0.0) continue;
    c.model.advance(s.q_work, *node.u, node.drift * s.h, s.q_work);
    speeds += node.drift * node.u->cwiseAbs().sum();
  }
  c.model.difference(s.after.q, s.q_work, s.work);
  const double error = s.work.cwiseAbs().sum();
  if (error <= 0.0) return;
  take_position_error(c, s, error, s.h * speeds);
}

/// What is judged, and how long it takes: start values are made once, before all steps.
template <Integrator I, model::Model M>
bool check_piece(Context<M>& c, const Trial<M>& s) {
  const bool starts = s.claim.piece == Piece::Start;
  constexpr bool kHasStart = I == Integrator::End || I == Integrator::MeanPosition;
  const bool is_first = c.certificate.steps == 0 && s.before.memory.steps == 0;
  if (s.claim.piece != Piece::Step && !(kHasStart && starts && is_first)) {
    c.fail(Failure::Law, s.before.t);
  }
  if (s.claim.shift_weights != nullptr) c.fail(Failure::Correction, s.before.t);
  check_time(c, s, I == Integrator::End && starts ? 0.0 : s.h);
  return c.certificate.ok();
}

template <Integrator I, model::Model M>
[[gnu::noinline]] void check_nodes(Context<M>& c, Trial<M>& s, EnergyWatch& energy) {
  if (!check_piece<I>(c, s)) return;
  const NodesOf<M> table = tabulate<I>(c, s);
  if (!gather_forces(c, s, table)) return;
  if constexpr (I == Integrator::MeanPosition) {
    if (s.claim.piece == Piece::Start) {
      if (!s.claim.active.empty()) c.fail(Failure::ActiveSet, s.before.t);
    } else {
      check_mean_position(c, s, c.model.contacts() > 0 ? c.model.restitution(0) : 0.0, energy);
    }
  } else if constexpr (I == Integrator::Spring) {
    check_springs(c, s);
  } else {
    c.model.gaps(s.t_contact, *s.cone_point, c.place);
    check_active_set(c, s);
    if (c.certificate.ok()) check_contacts(c, s);
  }
  if (!c.certificate.ok()) return;
  check_node_balance(c, s);
  check_node_positions(c, s, table);
  check_energy<false>(c, s, energy);
}

}  // namespace ricochet::certify
