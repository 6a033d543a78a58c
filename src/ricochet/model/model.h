#pragma once

#include <cmath>
#include <concepts>

#include "ricochet/convex/metric.h"
#include "ricochet/convex/section.h"
#include "ricochet/model/impact.h"
#include "ricochet/model/index_list.h"
#include "ricochet/model/normals.h"
#include "ricochet/model/state.h"

namespace ricochet::model {

/// The tangential side of contacts at one (t, q, u), filled by `friction`. Row T a + j is the j-th
/// tangential direction of contact a; at most T of them, T = 0 without friction.
template <int N, int K, int T>
struct SlipPlace {
  static constexpr int kRows = K == kDynamic ? kDynamic : K * T;
  Normals<N, kRows> tangents;  // row by row: dU_T/du
  Vector<kRows> slip_rate;     // U_T at u = 0: a wall that moves along itself
  Vector<K> stretch;           // normal velocity over rate of the gap; 1 where the gap is a length;
                               // of friction without a contact its load [N]
  Vector<K == kDynamic ? kDynamic : 2 * K> coefficients;  // of the law of friction, two a contact

  SlipPlace() = default;
  SlipPlace(int dofs, int contacts, const Pattern* pattern)
      : tangents(dofs, T * contacts, pattern),
        slip_rate(T * contacts),
        stretch(contacts),
        coefficients(2 * contacts) {
    slip_rate.setZero();
    coefficients.setZero();
    stretch.setOnes();
  }
};

template <int N, int K>
struct SlipPlace<N, K, 0> {
  SlipPlace() = default;
  SlipPlace(int, int, const Pattern*) {}
};

/// Where the constraints of a model are looked at: filled by `gaps` and then `gradients` at one
/// (t, q). A model adds its own scratch to it.
template <int N, int K, int T = 0>
struct ContactPlace : SlipPlace<N, K, T> {
  Vector<K> gap;          // g_a(t, q), as written in the scene
  Normals<N, K> normals;  // column a: J_a^T = (dg_a/dq)^T
  Vector<K> rate;         // dg_a/dt

  ContactPlace() = default;
  ContactPlace(int dofs, int contacts, const Pattern* pattern = nullptr,
               const Pattern* slip_pattern = nullptr)
      : SlipPlace<N, K, T>(dofs, contacts, slip_pattern),
        gap(contacts),
        normals(dofs, contacts, pattern),
        rate(contacts) {
    gap.setZero();
    rate.setZero();
  }
};

/// What schemes and judges ask of a mechanical system: contacts, forces, kinetic metric. The model
/// is const; scratch lives in a `Place` that the caller owns, one for each independent use.
///
///   d/dt (dT/du) - dT/dq = Q(t,q,u) + J^T r,   g_a(t,q) >= 0,   U_a = J_a u + dg_a/dt.
///
/// Rows are the contacts and, after them, the joints: equations g = 0 that always hold. The last of
/// these may be no positions but velocities: U_a = J_a u + rate_a = 0, with no gap to be the
/// derivative of; see `rolls`.
/// Places q and velocities u need not be of one kind: only the model moves the one along the other
/// (`advance`) and tells what lies between two places (`difference`).
/// Contacts with friction have tangential velocities too, U_T = S u + rate, and a section of their
/// friction cone; see FrictionModel.
template <class M>
concept Model = requires(const M& m, typename M::Place& place, const Vector<M::kPlaces>& q,
                         Vector<M::kPlaces>& moved, const Vector<M::kDofs>& u,
                         Vector<M::kDofs>& out, const IndexList<M::kContacts>& active, double t) {
  { m.dofs() } -> std::convertible_to<int>;
  { m.contacts() } -> std::convertible_to<int>;  // rows: contacts, then joints
  { m.joints() } -> std::convertible_to<int>;    // the last so many rows
  { m.make_place() } -> std::same_as<typename M::Place>;
  m.gaps(t, q, place);                            // place.gap, all rows
  { m.touches(0, place) } -> std::same_as<bool>;  // g_a <= 0 to rounding, and a exists here
  { m.exists(0, place) } -> std::same_as<bool>;   // its `where` holds
  m.gradients(active, place);  // place.normals and rate of `active`, where gaps was just called
  { m.gaps_and_potential(t, q, place) } -> std::same_as<double>;  // gaps, and V; 0 without one
  m.force(t, q, u, place, out);                                   // out = Q
  m.mass(place);              // M(q) of the last `load_mass`, a MetricLike
  m.advance(q, u, t, moved);  // q moved along u for a time t; `moved` may be q itself
  m.difference(q, q, out);    // of q1 from q0: the u with advance(q0, u, 1) = q1
  { m.has_potential() } -> std::same_as<bool>;
  // Nothing feeds the motion: all forces from a potential without t or from damping, walls fixed.
  { m.is_autonomous() } -> std::same_as<bool>;
  { m.force_uses_velocity() } -> std::same_as<bool>;
  { m.has_constant_mass() } -> std::same_as<bool>;      // then mass() needs no load_mass
  { m.load_mass(q, place) } -> std::same_as<bool>;      // false: M(q) not positive definite
  m.momentum(q, u, place, out, out);                    // dT/du = M(q) u, and dT/dq
  { m.restitution(0) } -> std::convertible_to<double>;  // e of a contact; 0 where none is stated
}
&&requires {
  { M::kPlaces } -> std::convertible_to<int>;  // numbers that make up a place
  { M::kDofs } -> std::convertible_to<int>;    // velocities
  { M::kContacts } -> std::convertible_to<int>;
  // The mass is constant and there are no joints: known to the compiler.
  { M::kPlain } -> std::convertible_to<bool>;
  { M::kSlips } -> std::convertible_to<int>;  // tangential directions of a contact, at most
};

/// A model of steps of one length whose `mass` is the matrix A of such a step, stiffness and
/// damping in it, and not that of T; `momentum` gives M u. Contacts are linear and known by their
/// responses.
template <class M>
concept ImplicitModel = Model<M> && requires {
  requires M::kImplicit;
};

template <Model M>
using StateOf = State<M::kPlaces, M::kDofs>;

/// The size of what differences of places near q are computed from, for their rounding: |q_i|,
/// unless the model knows better.
template <Model M>
void difference_size(const M& model, const Vector<M::kPlaces>& q, Vector<M::kDofs>& out) {
  if constexpr (requires { model.difference_size(q, out); }) {
    model.difference_size(q, out);
  } else {
    static_assert(M::kPlaces == M::kDofs, "places of another kind need `difference_size`");
    out = q.cwiseAbs();
  }
}

/// What a model with impact laws beyond a constant e adds. The velocity u is that before the
/// impact, the approach -U.
template <class M>
concept ImpactModel = Model<M> &&
    requires(const M& m, typename M::Place& place, const Vector<M::kPlaces>& q,
             const Vector<M::kDofs>& u, Vector<M::kDofs>& out, double t) {
  { m.has_laws() } -> std::same_as<bool>;
  { m.impact_kind(0) } -> std::same_as<ImpactKind>;
  { m.restitution_varies(0) } -> std::same_as<bool>;
  { m.restitution_at(0, t, q, u, t, place) } -> std::convertible_to<double>;  // e
  m.impact(0, t, q, u, t, place, out);                                        // F of `Own`
};

/// Q - c(q,u): all that accelerates a free system, M du/dt = Q - c. Only models whose mass varies
/// need a function for it.
template <Model M>
void applied_force(const M& model, double t, const Vector<M::kPlaces>& q, const Vector<M::kDofs>& u,
                   typename M::Place& place, Vector<M::kDofs>& out) {
  if constexpr (requires { model.applied(t, q, u, place, out); }) {
    model.applied(t, q, u, place, out);
  } else {
    static_assert(M::kPlain, "a mass that varies needs `applied` for this scheme");
    model.force(t, q, u, place, out);
  }
}

/// Whether row a is no contact but friction alone, which has a load; see `Slip`.
template <class M>
bool is_loaded(const M& model, int a) {
  if constexpr (requires { model.is_loaded(a); }) return model.is_loaded(a);
  return false;
}

/// How many of the joints, the last ones, keep a velocity at 0 and no position: nonholonomic
/// constraints.                                             [Moreau 1986, par. 11, appendix]
template <class M>
int rolls(const M& model) {
  if constexpr (requires { model.rolls(); }) return model.rolls();
  return 0;
}

/// The load of row a in a step of length h, as an impulse: of the force that is stated, or of the
/// joints, the last ones of the claim, whose reactions press.
template <class M, class Claim>
double load_of(const M& model, int a, double h, const Claim& claim,
               const typename M::Place& place) {
  double square = 0.0;
  if constexpr (requires { model.holds(a); }) {
    if (model.holds(a).empty()) return h * place.stretch[a];
    for (const int row : model.holds(a)) {
      const double p = claim.impulses[claim.active.size() - (model.contacts() - row)];
      square += p * p;
    }
  }
  return std::sqrt(square);
}

/// e of the tangential velocity of a contact that begins.
template <class M>
double slip_restitution(const M& model, int a) {
  if constexpr (requires { model.slip_restitution(a); }) return model.slip_restitution(a);
  return 0.0;
}

/// What a model with friction adds.
template <class M>
concept FrictionModel = Model<M> &&(M::kSlips > 0) &&
                        requires(const M& m, typename M::Place& place, const Vector<M::kPlaces>& q,
                                 const Vector<M::kDofs>& u, const IndexList<M::kContacts>& active,
                                 double t) {
  { m.slips(0) } -> std::convertible_to<int>;  // of one contact: 0 (no friction), 1 or 2
  m.friction(t, q, u, active, place);  // the SlipPlace of `active` at (t, q, u), gaps being there
  { m.is_lawful(0, place) } -> std::same_as<bool>;                 // coefficients >= 0 and finite
  { m.section(0, true, place) } -> std::same_as<convex::Section>;  // D, after stick or not
};

}  // namespace ricochet::model
