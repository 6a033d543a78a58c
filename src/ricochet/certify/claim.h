#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/model/index_list.h"
#include "ricochet/model/state.h"
#include "ricochet/problem/grip.h"

namespace ricochet::certify {

using model::kDynamic;
using model::Vector;

/// What the impulse of an active contact is said to obey.
enum class Branch : char {
  Unilateral,  // p >= 0, v >= 0, p v = 0
  Fixed,       // v = 0, p of any sign: the branch of a scheme that fixes the velocity
  Joint,       // g(t_M + h, q_M + h u+) = 0, p of any sign: an equation kept at the middles
  Lawful,      // p - l >= 0, U+ >= 0, (p - l) U+ = 0, with l the impulse of the model's impact law
};

/// The velocity U_ref of v = U + e U_ref.
enum class Reference : char {
  Start,  // J u + dg/dt: before the step
  Free,   // J u' + dg/dt: at the end of the step without contacts
};

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

/// What a scheme says it did in one step of length h from (t, q, u) to (t+h, q+, u+): plain data
/// for a judge who knows the model but no scheme and no solver. With v = U + e U_ref,
///
///     q_M = q + h/2 u (+ shift),   q+ = q_M + h/2 u+,
///     (dT/du - h/2 dT/dq)(q+, u+) - (dT/du + h/2 dT/dq)(q, u)
///                            = h Q(t_M, force_point, u) + sum_a J_a^T p_a,   J at cone_point,
///     a is active  <=>  g_a(t_M, test_point) <= 0,   and each (p_a, v_a) obeys its branch;
///     shift = M^-1 J^T weights puts the surfaces active at the unshifted q_M right, to first
///     order.
///
/// With friction S_a^T R_a is added to J_a^T p_a, and (p_a, R_a) with (v_a, S_a u+ + rate) obeys
/// the law of the section that the model gives for u and for what the step before ended in. For a
/// constant mass the second line is M (u+ - u). Joints are always active, with J at q_M; W is taken
/// in the metric M(q_M). The points are the scheme's own vectors: valid until its next step.
template <int N, int K, int T = 0>
struct Claim : SlipClaim<K, T>, LawClaim<K> {
  double t_mid{0.0};  // t_M = t + h/2
  const Vector<N>* test_point{nullptr};
  const Vector<N>* cone_point{nullptr};
  const Vector<N>* force_point{nullptr};
  const Vector<N>* mass_point{nullptr};           // q_M
  const Vector<N>* shift{nullptr};                // correction added to q_M; null: none
  const Eigen::VectorXd* shift_weights{nullptr};  // of rows active at the unshifted q_M, in order
  model::IndexList<K> active;
  Vector<K> impulses;  // p, in the order of `active`
  std::conditional_t<K == kDynamic, std::vector<Branch>,
                     std::array<Branch, (K > 0 ? static_cast<std::size_t>(K) : 1)>>
      branches{};           // in the order of `active`
  double restitution{0.0};  // e, or kOwnRestitution
  Reference reference{Reference::Start};
  bool unique{true};  // false when other impulses give the same motion

  Claim() = default;
  explicit Claim(int contacts) : SlipClaim<K, T>(contacts), active(contacts), impulses(contacts) {
    impulses.setZero();
    if constexpr (K == kDynamic) {
      branches.resize(static_cast<std::size_t>(contacts));
      this->lawful.setZero(contacts);
    }
  }
  Branch& branch(int k) { return branches[static_cast<std::size_t>(k)]; }
  Branch branch(int k) const { return branches[static_cast<std::size_t>(k)]; }
};

}  // namespace ricochet::certify
