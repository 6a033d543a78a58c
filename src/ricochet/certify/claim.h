#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "ricochet/certify/integrator.h"
#include "ricochet/model/index_list.h"
#include "ricochet/model/state.h"
#include "ricochet/problem/grip.h"

namespace ricochet::certify {

using model::kDynamic;
using model::Vector;

/// The tangential side of a claim, in the order of `active`; nothing without friction.
template <int K, int T>
struct SlipClaim {
  static constexpr int kRows = K == kDynamic ? kDynamic : K * T;
  Vector<kRows> tangential;  // R_T: place T k + j
  std::conditional_t<K == kDynamic, std::vector<problem::Grip>,
                     std::array<problem::Grip, (K > 0 ? static_cast<std::size_t>(K) : 1)>>
      grips{};

  SlipClaim() = default;
  explicit SlipClaim(int contacts) : tangential(T * contacts) {
    tangential.setZero();
    if constexpr (K == kDynamic) grips.resize(static_cast<std::size_t>(contacts));
  }
  problem::Grip& grip(int k) { return grips[static_cast<std::size_t>(k)]; }
  problem::Grip grip(int k) const { return grips[static_cast<std::size_t>(k)]; }
};

template <int K>
struct SlipClaim<K, 0> {
  SlipClaim() = default;
  explicit SlipClaim(int) {}
};

/// The impulses l of impact laws beyond a constant e, in the order of `active`: only models of any
/// size have such laws.
template <int K>
struct LawClaim {};

template <>
struct LawClaim<kDynamic> {
  Vector<kDynamic> lawful;
};

/// Reactions r of contacts that last along an arc, by contact, at `kArcPoints`.
template <int K>
using ArcReactions = std::array<Vector<K>, kArcNodes>;

/// What a scheme says it did from one state to the next, besides these states: the active contacts
/// and their impulses. Everything else is the judge's own: see `Integrator`.
///
/// With friction S_a^T R_a is added to J_a^T p_a, and (p_a, R_a) with (v_a, S_a u+ + rate) obeys
/// the law of the section that the model gives for u and for what the step before ended in. Joints
/// come last in `active`, and always.
template <int N, int K, int T = 0>
struct Claim : SlipClaim<K, T>, LawClaim<K> {
  Piece piece{Piece::Step};
  model::IndexList<K> active;
  Vector<K> impulses;  // p, in the order of `active`
  /// A correction of violations, shift = M^-1 J^T weights with J at the unshifted q_M, for the
  /// contacts that touch there and the joints, in order; null: none.
  const Eigen::VectorXd* shift_weights{nullptr};
  const ArcReactions<K>* reactions{nullptr};  // of an arc; null: it is free
  /// States q, u of a flight inside `FlightRule`'s points, one behind the other; null: another arc.
  const double* flight{nullptr};

  Claim() = default;
  explicit Claim(int contacts) : SlipClaim<K, T>(contacts), active(contacts), impulses(contacts) {
    impulses.setZero();
    if constexpr (K == kDynamic) this->lawful.setZero(contacts);
  }
};

}  // namespace ricochet::certify
