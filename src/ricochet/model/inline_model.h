#pragma once

#include <utility>

#include "ricochet/model/model.h"

namespace ricochet::model {

/// A model written in C++ by its user, and inlined into the step. It needs
///
///   static constexpr int kDofs, kContacts;
///   double gap(int contact, double t, const Vector<kDofs>& q) const;
///   Vector<kDofs> gap_gradient(int contact, double t, const Vector<kDofs>& q) const;
///   Vector<kDofs> force(double t, const Vector<kDofs>& q, const Vector<kDofs>& u) const;
///
/// and may have
///
///   double gap_rate(int contact, double t, const Vector<kDofs>& q) const;   // dg/dt, else 0
///   double potential(double t, const Vector<kDofs>& q) const;               // for the energy
///   const Mass& mass() const;                                               // else the identity
template <class S>
concept UserSystem = requires(const S& s, const Vector<S::kDofs>& q, double t) {
  { s.gap(0, t, q) } -> std::convertible_to<double>;
  { s.gap_gradient(0, t, q) } -> std::convertible_to<Vector<S::kDofs>>;
  { s.force(t, q, q) } -> std::convertible_to<Vector<S::kDofs>>;
};

template <UserSystem S>
class InlineModel {
 public:
  static constexpr int kDofs = S::kDofs;
  static constexpr int kContacts = S::kContacts;
  using Vec = Vector<kDofs>;

  struct Place : ContactPlace<kDofs, kContacts> {
    using ContactPlace<kDofs, kContacts>::ContactPlace;
    double t{0.0};
    Vec q;
  };

  explicit InlineModel(S system) : system_(std::move(system)) {}

  static constexpr int dofs() { return kDofs; }
  static constexpr int contacts() { return kContacts; }
  static Place make_place() { return Place(kDofs, kContacts); }

  void gaps(double t, const Vec& q, Place& place) const {
    place.t = t;
    place.q = q;
    for (int a = 0; a < kContacts; ++a) place.gap[a] = system_.gap(a, t, q);
  }
  void gradients(const IndexList<kContacts>& active, Place& place) const {
    for (const int a : active) {
      place.normals.col(a) = system_.gap_gradient(a, place.t, place.q);
      if constexpr (requires { system_.gap_rate(a, place.t, place.q); }) {
        place.rate[a] = system_.gap_rate(a, place.t, place.q);
      }
    }
  }
  void force(double t, const Vec& q, const Vec& u, Place&, Vec& out) const {
    out = system_.force(t, q, u);
  }
  decltype(auto) mass() const {
    if constexpr (requires { system_.mass(); }) {
      return (system_.mass());
    } else {
      return convex::UnitMetric<kDofs>{};
    }
  }
  static void advance(const Vec& q, const Vec& u, double h, Vec& out) { out = q + h * u; }

  static constexpr bool has_potential() {
    return requires(const S& s, const Vec& q) { s.potential(0.0, q); };
  }
  double potential(double t, const Vec& q, Place&) const {
    if constexpr (has_potential()) {
      return system_.potential(t, q);
    } else {
      return 0.0;
    }
  }
  static constexpr bool is_autonomous() { return false; }  // a C++ force may hide anything

 private:
  S system_;
};

}  // namespace ricochet::model
