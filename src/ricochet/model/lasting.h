#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <variant>

#include "ricochet/model/memory.h"
#include "ricochet/model/model.h"

namespace ricochet::model {

/// Contacts that last. A contact that was active in the last step, or touched at the start, is
/// still one where its gap is open by no more than forces and curved or moving walls do within a
/// step:
///
///     0 < g <= h^2 (|J| |a| + |gamma|) + rounding,   a = M^-1 (Q - c),
///
/// gamma being d2g/dt2 at zero acceleration: twice what a step opens, so that a bounce which does
/// not last for two steps is none. It then obeys 0 <= p, U+ + g/h >= 0, p (U+ + g/h) = 0:
/// the gap is closed by the end of the step, whatever e is, since no approach is left that a step
/// could see. Without this, rounding or a curved wall opens contacts at rest for a step or more.
/// Of linear structures, whose accelerations are those of waves, only what rounding opens lasts.
///
/// Contacts with e = 0 may be looked at *ahead* instead: all that touch or that the velocities may
/// close within the step obey 0 <= p, v >= 0, p v = 0 with
///
///     v = [g(t + h, q + h u+) - min(0, g)] / h,
///
/// q + h u+ being the next middle: the gap is closed there exactly, neither entered nor left by
/// more than it was. Written as U+ plus a speed, which depends on u+ where walls are curved.
template <Model M>
class Lasting {
 public:
  static constexpr int K = M::kContacts;
  using Vec = Vector<M::kDofs>;

  Lasting(const M& model, const Vector<M::kPlaces>& q)
      : open_(model.contacts()),
        candidates_(model.contacts()),
        ahead_(model.contacts()),
        speed_(Vector<K>::Constant(model.contacts(), kNone)),
        curve_(speed_),
        next_(speed_),
        moved_(q),
        force_(Vec::Zero(model.dofs())),
        acceleration_(force_),
        momentum_(force_),
        slope_(force_) {}

  /// The contacts of `touched` that last with an open gap, and those that are looked at ahead;
  /// gaps of `place` are taken at (t, q).
  bool find(const M& model, double t, const Vector<M::kPlaces>& q, const Vec& u, double h,
            std::span<const Key> touched, typename M::Place& place, typename M::Place& scratch,
            bool ahead = false) {
    clear();
    const int contacts = model.contacts() - model.joints();
    for (int a = 0; ahead && a < contacts; ++a) {
      if (model.exists(a, place) && is_inelastic(model, a) && !is_loaded(model, a)) open_.push(a);
    }
    for (const Key key : touched) {
      const int a = static_cast<int>(key);
      if (a >= contacts || model.touches(a, place) || !model.exists(a, place)) continue;
      if (is_impact_law(model, a) || (ahead && is_inelastic(model, a))) continue;
      open_.push(a);
    }
    if (!open_.empty()) measure(model, t, q, u, h, place, scratch, ahead);
    return !open_.empty();
  }
  void clear() {
    for (const int a : open_) speed_[a] = kNone;
    open_.clear();
    ahead_.clear();
  }

  /// The speeds of contacts that are looked at ahead, for u+ = v; gradients of `place` are taken.
  void aim(const M& model, double t, const Vector<M::kPlaces>& q, const Vec& v, double h,
           const typename M::Place& place, typename M::Place& scratch) {
    model.advance(q, v, h, moved_);
    model.gaps(t + h, moved_, scratch);
    difference_size(model, q, slope_);
    for (const int a : ahead_) {
      const double rounding = kRounding * place.normals.abs_dot(a, slope_);
      double gap = scratch.gap[a] - std::min(0.0, place.gap[a]);
      if (std::abs(gap) <= rounding || !model.exists(a, scratch)) gap = 0.0;
      speed_[a] = gap / h - (place.normals.dot(a, v) + place.rate[a]);
    }
  }

  bool empty() const { return open_.empty(); }
  bool holds(int a) const { return speed_[a] > kNone; }
  double speed(int a) const { return speed_[a]; }  // what is added to U+; of open gaps g/h
  bool has_ahead() const { return !ahead_.empty(); }
  bool is_ahead(int a) const { return std::find(ahead_.begin(), ahead_.end(), a) != ahead_.end(); }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  static constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();

  /// Whether e is the number 0.
  static bool is_inelastic(const M& model, int a) {
    if constexpr (ImpactModel<M>) {
      if (model.has_laws() && (is_impact_law(model, a) || model.restitution_varies(a))) {
        return false;
      }
    }
    return model.restitution(a) == 0.0;
  }

  /// Laws of several contacts at once, or of the user's own, say themselves what comes to rest.
  static bool is_impact_law(const M& model, int a) {
    if constexpr (ImpactModel<M>) {
      return model.has_laws() && model.impact_kind(a) != ImpactKind::Newton;
    } else {
      return false;
    }
  }

  /// M^-1 (Q - c), c by differences along u.
  void accelerate(const M& model, double t, const Vector<M::kPlaces>& q, const Vec& u, double h,
                  typename M::Place& place, typename M::Place& scratch) {
    model.force(t, q, u, place, force_);
    if (M::kPlain || model.has_constant_mass()) {
      return model.mass(place).solve(force_, acceleration_);
    }
    for (const double way : {0.5, -0.5}) {
      model.advance(q, u, way * h, moved_);
      model.momentum(moved_, u, scratch, momentum_, slope_);
      force_ -= 2.0 * way / h * momentum_ - 0.5 * slope_;
    }
    if (model.load_mass(q, scratch)) model.mass(scratch).solve(force_, acceleration_);
  }

  /// What curved and moving walls do, h^2 gamma, and the gaps at the next middle.
  [[gnu::noinline]] void take_curves(const M& model, double t, const Vector<M::kPlaces>& q,
                                     const Vec& u, double h, const typename M::Place& place,
                                     typename M::Place& scratch) {
    for (const int a : candidates_) curve_[a] = -2.0 * place.gap[a];
    for (const double way : {h, -h}) {
      model.advance(q, u, way, moved_);
      model.gaps(t + way, moved_, scratch);
      for (const int a : candidates_) {
        curve_[a] += scratch.gap[a];
        if (way > 0.0) next_[a] = scratch.gap[a];
      }
    }
  }

  [[gnu::noinline]] void measure(const M& model, double t, const Vector<M::kPlaces>& q,
                                 const Vec& u, double h, typename M::Place& place,
                                 typename M::Place& scratch, bool ahead) {
    constexpr double kFall = ImplicitModel<M> ? 16.0 * kRounding : 1.0;
    accelerate(model, t, q, u, h, place, scratch);
    model.gradients(open_, place);
    difference_size(model, q, slope_);
    candidates_ = open_;
    open_.clear();
    bool has_curves = false;  // most last without
    for (const int a : candidates_) {
      const double fall = kFall * h * h * place.normals.abs_dot(a, acceleration_);
      const double rounding = kRounding * place.normals.abs_dot(a, slope_);
      const bool is_ahead = ahead && is_inelastic(model, a);
      if (is_ahead || !(place.gap[a] <= fall + rounding)) {
        if (!has_curves) take_curves(model, t, q, u, h, place, scratch);
        has_curves = true;
        const double bend = std::isfinite(curve_[a]) ? std::abs(curve_[a]) : 0.0;
        const double way = is_ahead ? 2.0 * std::max(0.0, place.gap[a] - next_[a]) : 0.0;
        const double reach = fall + bend + rounding + way;
        if (!(place.gap[a] <= reach || (is_ahead && model.touches(a, place)))) continue;
      }
      open_.push(a);
      speed_[a] = std::max(0.0, place.gap[a] - rounding) / h;
      if (is_ahead) ahead_.push(a);
    }
  }

  IndexList<K> open_;
  IndexList<K> candidates_;
  IndexList<K> ahead_;  // of `open_`, those that are looked at ahead
  Vector<K> speed_;
  Vector<K> curve_;  // h^2 gamma
  Vector<K> next_;   // gaps at the next middle, for u+ = u
  Vector<M::kPlaces> moved_;
  Vec force_;
  Vec acceleration_;
  Vec momentum_;
  Vec slope_;
};

/// Whether a contact in space has another coefficient at rest than in slip.
template <class M>
bool has_rest_friction(const M& model, int a, const typename M::Place& place) {
  const convex::Section moving = model.section(a, false, place);
  const convex::Section still = model.section(a, true, place);
  const auto* one = std::get_if<convex::Disc>(&moving);
  const auto* other = std::get_if<convex::Disc>(&still);
  return one != nullptr && other != nullptr && one->radius != other->radius;
}

/// The section of contact a for the slip at the start of a step. Where the slip of a step turns
/// round it passes through rest, and the coefficient of rest holds from there: an impulse along the
/// slip, not against it, has that bound. In the plane this is one segment for both.
template <class M>
convex::Section section_at(const M& model, int a, bool sticks, double slip,
                           const typename M::Place& place) {
  const convex::Section moving = model.section(a, sticks, place);
  const auto* one = std::get_if<convex::Segment>(&moving);
  if (sticks || one == nullptr || slip == 0.0) return moving;
  const convex::Section still = model.section(a, true, place);
  const auto* other = std::get_if<convex::Segment>(&still);
  if (other == nullptr) return moving;
  return slip > 0.0 ? convex::Segment{one->low, other->high}
                    : convex::Segment{other->low, one->high};
}

}  // namespace ricochet::model
