#pragma once

#include <Eigen/Core>
#include <cmath>
#include <unsupported/Eigen/AutoDiff>
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
///   template <class S> S kinetic(const Eigen::Matrix<S, kDofs, 1>& q,
///                                const Eigen::Matrix<S, kDofs, 1>& u) const;
///       // when the mass is not constant: T(q, u); M(q) and the inertia terms are derived from it
///
///   static constexpr int kSlips;      // 1 or 2: each contact has friction; then also
///   Vector<kDofs> slip_gradient(int contact, int direction, double t, const Vector<kDofs>& q)
///   const; double slip_rate(int contact, int direction, double t, const Vector<kDofs>& q) const;
///   // else 0 convex::Section friction(int contact, double t, const Vector<kDofs>& q, double
///   speed,
///                            bool sticks) const;  // D, by the slip at the start of the step
///   double restitution(int contact) const;                                  // for `moreau`, else
///   0
///
/// With friction the gap must be a length.
/// When several contacts share work (the sine and cosine of an angle, the ends of a rod), it may
/// have `Geometry at(double t, const Vector<kDofs>& q) const`, computed once for each point, and
/// take `(int contact, const Geometry&)` in gap, gap_gradient and gap_rate instead.
template <class S>
concept HasGeometry = requires(const S& s, const Vector<S::kDofs>& q, double t) {
  s.at(t, q);
  { s.gap(0, s.at(t, q)) } -> std::convertible_to<double>;
  { s.gap_gradient(0, s.at(t, q)) } -> std::convertible_to<Vector<S::kDofs>>;
};

template <class S>
concept UserSystem = requires(const S& s, const Vector<S::kDofs>& q, double t) {
  { s.force(t, q, q) } -> std::convertible_to<Vector<S::kDofs>>;
}
&&(HasGeometry<S> || requires(const S& s, const Vector<S::kDofs>& q, double t) {
  { s.gap(0, t, q) } -> std::convertible_to<double>;
  { s.gap_gradient(0, t, q) } -> std::convertible_to<Vector<S::kDofs>>;
});

template <class S>
concept HasKinetic = requires(const S& s, const Vector<S::kDofs>& q) {
  { s.kinetic(q, q) } -> std::convertible_to<double>;
};

template <class S>
constexpr int slips_of() {
  if constexpr (requires { S::kSlips; }) {
    return S::kSlips;
  } else {
    return 0;
  }
}

template <UserSystem S>
class InlineModel {
 public:
  static constexpr int kSlips = slips_of<S>();
  static constexpr int kPlaces = S::kDofs;
  static constexpr int kDofs = S::kDofs;
  static constexpr bool kPlain = !HasKinetic<S>;
  static constexpr int kContacts = S::kContacts;
  using Vec = Vector<kDofs>;

  struct Nothing {};
  static auto geometry_of(const S& system, double t, const Vec& q) {
    if constexpr (HasGeometry<S>) {
      return system.at(t, q);
    } else {
      return Nothing{};
    }
  }

  struct Place : ContactPlace<kDofs, kContacts, kSlips> {
    using ContactPlace<kDofs, kContacts, kSlips>::ContactPlace;
    double t{0.0};
    Vec q;
    decltype(geometry_of(std::declval<const S&>(), 0.0, std::declval<const Vec&>())) geometry{};
    convex::FullMetric<kPlain ? 1 : kDofs> varying_mass{Matrix < kPlain ? 1 : kDofs,
                                                        kPlain ? 1 : kDofs > ::Identity()};
  };

  explicit InlineModel(S system) : system_(std::move(system)) {}

  static constexpr int dofs() { return kDofs; }
  static constexpr int contacts() { return kContacts; }
  static constexpr int joints() { return 0; }
  static constexpr bool has_constant_mass() { return kPlain; }
  static Place make_place() { return Place(kDofs, kContacts); }

  void gaps(double t, const Vec& q, Place& place) const {
    place.t = t;
    place.q = q;
    place.geometry = geometry_of(system_, t, q);
    for (int a = 0; a < kContacts; ++a) place.gap[a] = gap(a, place);
  }
  void gradients(const IndexList<kContacts>& active, Place& place) const {
    for (const int a : active) {
      if constexpr (HasGeometry<S>) {
        place.normals.col(a) = system_.gap_gradient(a, place.geometry);
      } else {
        place.normals.col(a) = system_.gap_gradient(a, place.t, place.q);
      }
      if constexpr (requires { system_.gap_rate(a, place.geometry); }) {
        place.rate[a] = system_.gap_rate(a, place.geometry);
      } else if constexpr (requires { system_.gap_rate(a, place.t, place.q); }) {
        place.rate[a] = system_.gap_rate(a, place.t, place.q);
      }
    }
  }
  void force(double t, const Vec& q, const Vec& u, Place&, Vec& out) const {
    out = system_.force(t, q, u);
  }
  double restitution(int a) const {
    if constexpr (requires { system_.restitution(a); }) {
      return system_.restitution(a);
    } else {
      return 0.0;
    }
  }
  static constexpr int slips(int) { return kSlips; }
  void friction(double t, const Vec& q, const Vec& u, const IndexList<kContacts>& active,
                Place& place) const {
    if constexpr (kSlips > 0) {
      for (const int a : active) {
        double squares = 0.0;
        for (int j = 0; j < kSlips; ++j) {
          const int row = kSlips * a + j;
          place.tangents.col(row) = system_.slip_gradient(a, j, t, q);
          if constexpr (requires { system_.slip_rate(a, j, t, q); }) {
            place.slip_rate[row] = system_.slip_rate(a, j, t, q);
          }
          const double slip = place.tangents.dot(row, u) + place.slip_rate[row];
          squares += slip * slip;
        }
        place.coefficients[2 * a] = std::sqrt(squares);
      }
    }
  }
  static constexpr bool is_lawful(int, const Place&) { return true; }
  convex::Section section(int a, bool sticks, const Place& place) const {
    if constexpr (kSlips > 0) {
      return system_.friction(a, place.t, place.q, place.coefficients[2 * a], sticks);
    } else {
      return convex::Disc{};
    }
  }
  static bool touches(int a, const Place& place) { return place.gap[a] <= 0.0; }
  static constexpr bool exists(int, const Place&) { return true; }

  decltype(auto) mass(const Place& place) const {
    if constexpr (!kPlain) {
      return (place.varying_mass);
    } else if constexpr (requires { system_.mass(); }) {
      return (system_.mass());
    } else {
      return convex::UnitMetric<kDofs>{};
    }
  }

  /// Since T is quadratic, column j of M(q) is dT/du at u = e_j.
  bool load_mass(const Vec& q, Place& place) const {
    if constexpr (kPlain) {
      return true;
    } else {
      Matrix<kDofs, kDofs> mass;
      Vec column, slope;
      for (int j = 0; j < kDofs; ++j) {
        momentum(q, Vec::Unit(j), place, column, slope);
        mass.col(j) = column;
      }
      return place.varying_mass.reset(mass);
    }
  }

  /// dT/du and dT/dq, by forward differentiation of the user's T.
  void momentum(const Vec& q, const Vec& u, Place& place, Vec& momentum, Vec& slope) const {
    if constexpr (kPlain) {
      mass(place).apply(u, momentum);
      slope.setZero();
    } else {
      using Dual = Eigen::AutoDiffScalar<Vector<2 * kDofs>>;
      Eigen::Matrix<Dual, kDofs, 1> dual_q, dual_u;
      for (int i = 0; i < kDofs; ++i) {
        dual_q[i] = Dual(q[i], 2 * kDofs, i);
        dual_u[i] = Dual(u[i], 2 * kDofs, kDofs + i);
      }
      const Dual kinetic = system_.kinetic(dual_q, dual_u);
      slope = kinetic.derivatives().template head<kDofs>();
      momentum = kinetic.derivatives().template tail<kDofs>();
    }
  }
  [[gnu::always_inline]] static void advance(const Vec& q, const Vec& u, double h, Vec& out) {
    convex::add_scaled(q, h, u, out);
  }
  static void difference(const Vec& q1, const Vec& q0, Vec& out) { out = q1 - q0; }

  static constexpr bool has_potential() {
    return requires(const S& s, const Vec& q) { s.potential(0.0, q); };
  }
  double gaps_and_potential(double t, const Vec& q, Place& place) const {
    gaps(t, q, place);
    if constexpr (has_potential()) {
      return system_.potential(t, q);
    } else {
      return 0.0;
    }
  }
  static constexpr bool is_autonomous() { return false; }        // a C++ force may hide anything
  static constexpr bool force_uses_velocity() { return false; }  // so nobody asks

 private:
  double gap(int a, const Place& place) const {
    if constexpr (HasGeometry<S>) {
      return system_.gap(a, place.geometry);
    } else {
      return system_.gap(a, place.t, place.q);
    }
  }

  S system_;
};

}  // namespace ricochet::model
