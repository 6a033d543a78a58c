#pragma once

#include <array>

#include "ricochet/model/state.h"

namespace ricochet::certify {

using model::Vector;

/// The rule of a `Claim` as it stands: Moreau's staggered middles.
struct Staggered {};

/// What ties the impulses of a step made up of nodes.
enum class NodeLaw : char {
  Velocity,      // as in a Claim: active where g(t_mid, test_point) <= 0, (p, U+ + e U) by branch
  MeanPosition,  // p >= 0, g(q_bar) >= 0, p g = 0 at q_bar = (q+ + e q-) / (1 + e) = cone_point,
                 // with q- = q - h u
  Given,         // p >= 0 where cone_point touches: nothing else is claimed
};

/// One place where forces and velocities are taken.
template <int N, int K>
struct Node {
  double t{0.0};
  const Vector<N>* q{nullptr};
  const Vector<N>* u{nullptr};
  double force{0.0};               // w
  double drift{0.0};               // b
  const Vector<K>* push{nullptr};  // r, by contact: reactions of contacts that last; null: none
};

/// How a step that is not staggered is made up, as plain data beside its Claim:
///
///     M(mass_point) (u+ - u) = h sum_j w_j (Q - c + J^T r)(node j) + sum_a J_a^T p_a,
///     q+ = q + h sum_j b_j u_j,   and the impulses obey `law`.
/// J of p is taken at cone_point, that of r at the node; r >= 0, and only where the node touches.
///
/// Of the Claim, `force_point` and `shift` are not read; its other points have their meaning.
template <int N, int K>
struct NodeRule {
  int count{0};
  std::array<Node<N, K>, 3> nodes{};
  NodeLaw law{NodeLaw::Velocity};
  double restitution{0.0};  // e of MeanPosition
  double touching{0.0};     // g <= touching is contact too; with 0 it is the model's word alone
  bool ends_accumulation{false};  // of impacts: contacts come to rest, whatever their e
  double tolerance{1e-10};        // of balance and positions, relative
  double position_noise{0.0};     // what integration may be off by: of q, and of u
  double velocity_noise{0.0};
};

}  // namespace ricochet::certify
