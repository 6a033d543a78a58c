#pragma once

#include <limits>
#include <utility>

#include "ricochet/model/model.h"

namespace ricochet::model {

/// A model seen backwards: its time is s = -t and its velocity w = -u. Forces keep their sign,
/// since they are even in time; walls move the other way; impacts give back what they took. A
/// forward step of `inel` on it is the inference backwards in time u_(i-1) = prox(-V, u_i - h a).
/// [Moreau 1986 (4.13)]
template <Model M>
class TimeReversed {
 public:
  static constexpr int kPlaces = M::kPlaces;
  static constexpr int kDofs = M::kDofs;
  static constexpr int kContacts = M::kContacts;
  static constexpr bool kPlain = M::kPlain;
  static constexpr int kSlips = M::kSlips;
  using Vec = Vector<kDofs>;

  struct Place : M::Place {
    explicit Place(typename M::Place&& place, int dofs)
        : M::Place(std::move(place)), reversed(Vec::Zero(dofs)) {}
    Vec reversed;  // u = -w
  };

  /// e may be above 1 here.
  static constexpr double kMostRestitution = std::numeric_limits<double>::infinity();

  /// The model must outlive this. Approaches slower than `rest` times |J| are none: a contact that
  /// lasts is not struck.
  explicit TimeReversed(const M& model, double rest = 0.0) : model_(model), rest_(rest) {}

  int dofs() const { return model_.dofs(); }
  int contacts() const { return model_.contacts(); }
  int joints() const { return model_.joints(); }
  int rolls() const { return model::rolls(model_); }
  bool has_constant_mass() const { return model_.has_constant_mass(); }
  double restitution(int a) const { return model_.restitution(a); }

  /// An impact with 0 < e < 1 that ends at U+ > 0 began at -U+/e: seen backwards, its restitution
  /// is 1/e. What e = 0 took cannot be told.
  bool has_laws() const {
    for (int a = 0; a < contacts() - joints(); ++a) {
      if (restitution_varies(a)) return true;
    }
    return false;
  }
  static ImpactKind impact_kind(int) { return ImpactKind::Newton; }
  bool restitution_varies(int a) const { return restitution(a) > 0.0 && restitution(a) < 1.0; }
  double restitution_at(int a, double, const Vec&, const Vec&, double approach,
                        const Place& place) const {
    if (!restitution_varies(a)) return restitution(a);
    return approach > rest_ * place.normals.norm(a) ? 1.0 / restitution(a) : 0.0;
  }
  static void impact(int, double, const Vec&, const Vec&, double, const Place&, Vec&) {}
  int slips(int a) const { return model_.slips(a); }
  Place make_place() const { return Place(model_.make_place(), model_.dofs()); }

  void gaps(double s, const Vec& q, Place& place) const { model_.gaps(-s, q, place); }
  bool touches(int a, Place& place) const { return model_.touches(a, place); }
  bool exists(int a, const Place& place) const { return model_.exists(a, place); }
  void gradients(const IndexList<kContacts>& active, Place& place) const {
    model_.gradients(active, place);
    for (const int a : active) place.rate[a] = -place.rate[a];
  }
  double gaps_and_potential(double s, const Vec& q, Place& place) const {
    return model_.gaps_and_potential(-s, q, place);
  }
  void force(double s, const Vec& q, const Vec& w, Place& place, Vec& out) const {
    place.reversed = -w;
    model_.force(-s, q, place.reversed, place, out);
  }
  void friction(double s, const Vec& q, const Vec& w, const IndexList<kContacts>& active,
                Place& place) const {
    place.reversed = -w;
    model_.friction(-s, q, place.reversed, active, place);
    place.slip_rate = -place.slip_rate;
  }
  bool is_lawful(int a, const Place& place) const { return model_.is_lawful(a, place); }
  convex::Section section(int a, bool sticks, const Place& place) const {
    return model_.section(a, sticks, place);
  }
  decltype(auto) mass(const Place& place) const { return model_.mass(place); }
  bool load_mass(const Vec& q, Place& place) const { return model_.load_mass(q, place); }
  void momentum(const Vec& q, const Vec& w, Place& place, Vec& momentum, Vec& slope) const {
    model_.momentum(q, w, place, momentum, slope);
  }
  void advance(const Vec& q, const Vec& w, double h, Vec& out) const {
    model_.advance(q, w, h, out);
  }
  void difference(const Vec& q1, const Vec& q0, Vec& out) const { model_.difference(q1, q0, out); }
  bool has_potential() const { return model_.has_potential(); }
  /// Damping gives back what it took, so that the energy may grow without limit.
  bool is_autonomous() const { return model_.is_autonomous() && !model_.force_uses_velocity(); }
  bool force_uses_velocity() const { return model_.force_uses_velocity(); }

 private:
  const M& model_;
  double rest_;
};

}  // namespace ricochet::model
