#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/model/model.h"

namespace ricochet::model {

/// A piece of motion from (t, q) along a mean velocity v for a time h, and mean slopes along it:
/// those at its middle, changed along the way in the kinetic metric such that their product with
/// the way is the difference of a function between the ends, exactly.         [Gonzalez 1996]
///
///   J = J(q_m) + [g+ - g - J(q_m) dq - h r] (D dq)^T / (dq . D dq),   D the diagonal of M,
///   r = [g(t + h, q_m) - g(t, q_m)] / h,
///   F = Q + dT/dq + [rest] M dq / (dq . M dq),   rest = work that T + V would miss else.
///
/// The change is left out where it is rounding, or where the way is so short that the change would
/// be made of rounding: there what it changes is of third order in a small way.
template <Model M>
class Chord {
 public:
  static constexpr int K = M::kContacts;
  using Vec = Vector<M::kDofs>;
  using Spot = Vector<M::kPlaces>;

  Chord(const M& model, const Spot& q, const Vec& u)
      : model_(model),
        start_(q),
        middle_(q),
        end_(q),
        aside_(q),
        way_(u),
        slope_(u),
        other_(u),
        response_(u),
        change_(Vector<K>::Zero(model.contacts())),
        moved_(change_),
        noise_of_(change_),
        side_(model.make_place()) {}

  void set(double t, double h, const Spot& q, const Vec& v) {
    t_ = t;
    h_ = h;
    start_ = q;
    way_ = h * v;
    model_.advance(q, v, 0.5 * h, middle_);
    model_.advance(q, v, h, end_);
  }
  const Spot& middle() const { return middle_; }
  const Spot& end() const { return end_; }
  const Vec& way() const { return way_; }
  double time() const { return t_ + 0.5 * h_; }  // of the middle

  /// Mean gradients and rates of `rows`, in `place`, whose mass is loaded.
  void take_rows(const IndexList<K>& rows, typename M::Place& place) {
    model_.gaps(time(), middle_, place);
    model_.gradients(rows, place);
    take_changes(rows, place);
    difference_size(model_, start_, other_);
    for (const int a : rows) {
      const double noise = 8.0 * kEpsilon *
                           (place.normals.abs_dot(a, other_) + place.normals.abs_dot(a, way_) +
                            std::abs(place.gap[a]) + std::abs(t_ * place.rate[a]));
      const bool is_fine = noise <= kFine * (reach(a, place) + h_ * std::abs(place.rate[a]));
      const bool moves = place.rate[a] != 0.0 &&
                         (is_fine || std::abs(moved_[a] - h_ * place.rate[a]) > 16.0 * noise);
      if (moves) place.rate[a] = moved_[a] / h_;
      const double rest = change_[a] - place.normals.dot(a, way_) - h_ * place.rate[a];
      const bool bends = is_fine && std::abs(rest) > noise;
      if (bends) bend(a, rest, place);
      noise_of_[a] = moves || bends ? noise / h_ : 0.0;
    }
  }
  /// What rounding of gaps makes of the mean velocity of row a, as it was taken.
  double row_noise(int a) const { return noise_of_[a]; }

  /// dT/dq at the middle, the mean of those by the momenta of both ends, in a place whose mass is
  /// loaded there: of third order in the way is what v . (change of momentum) - dT/dq . way is off
  /// the change of T by, where v is the mean of M(q)^-1 and M(q+)^-1 times that of the momenta.
  void take_slope(const Vec& start, const Vec& end, typename M::Place& place, Vec& slope) {
    model_.mass(place).solve(start, response_);
    model_.momentum(middle_, response_, place, other_, slope);
    model_.mass(place).solve(end, response_);
    model_.momentum(middle_, response_, place, other_, slope_);
    slope = 0.5 * (slope + slope_);
  }

  /// F for momenta that change by `change` and a kinetic energy that grows by `growth`, in a place
  /// whose mass is loaded at the middle; v is the mean velocity, `slope` the mean dT/dq. For a
  /// constant mass only v matters.
  void take_force(const Vec& v, const Vec& slope, const Vec& change, double growth,
                  typename M::Place& place, Vec& force) {
    model_.force(time(), middle_, v, place, force);
    double rest = 0.0;
    size_ = 0.0;
    other_work_ = force.dot(way_);
    const bool varies = !(M::kPlain || model_.has_constant_mass());
    if (varies) {
      rest = v.dot(change) - slope.dot(way_) - growth;
      size_ = std::abs(v.dot(change)) + std::abs(slope.dot(way_)) + std::abs(growth);
    }
    if (model_.has_potential()) {
      const double before = potential_at(start_), after = potential_at(end_);
      const double fall = fall_of_potential(before, after, force, place);
      other_work_ -= fall;
      rest += before - after - fall;
      size_ += std::abs(before) + std::abs(after);
    }
    if (varies) force += slope;
    model_.mass(place).apply(way_, other_);
    const double square = way_.dot(other_), noise = 8.0 * kEpsilon * size_;
    noise_ = 0.0;
    if (!(std::abs(rest) > noise && noise * h_ * h_ <= kSlow * square)) return;
    force += rest / square * other_;
    noise_ = noise * h_ / square * other_.cwiseAbs().sum();
  }
  /// What rounding of energies makes of the momentum, by the last force.
  double noise() const { return noise_; }
  /// The work of forces that come from no potential, after `take_force`.
  double other_work() const { return other_work_; }

 private:
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  static constexpr double kFine = 1e-11;  // of a gradient: what rounding may make of it
  static constexpr double kSlow = 1e-9;   // of twice the kinetic energy: the same

  /// Of the gaps between the ends, and of those at the middle by the motion of the walls alone.
  void take_changes(const IndexList<K>& rows, const typename M::Place& place) {
    model_.gaps(t_, start_, side_);
    change_ = side_.gap;
    model_.gaps(t_ + h_, end_, side_);
    change_ = side_.gap - change_;
    const bool moves =
        std::any_of(rows.begin(), rows.end(), [&](int a) { return place.rate[a] != 0.0; });
    if (!moves) return;
    model_.gaps(t_, middle_, side_);
    moved_ = side_.gap;
    model_.gaps(t_ + h_, middle_, side_);
    moved_ = side_.gap - moved_;
  }

  double potential_at(const Spot& q) { return model_.gaps_and_potential(time(), q, side_); }

  /// -dV/dq . way at the middle: what is left of the force at rest where V and damping are all
  /// forces; else differences of fourth order.
  double fall_of_potential(double before, double after, const Vec& force,
                           typename M::Place& place) {
    if constexpr (requires { model_.is_conservative(); }) {
      if (model_.is_conservative()) {
        if (!model_.force_uses_velocity()) return force.dot(way_);
        other_.setZero();
        model_.force(time(), middle_, other_, place, response_);
        return response_.dot(way_);
      }
    }
    model_.advance(start_, way_, 0.25, aside_);
    const double quarter = potential_at(aside_);
    model_.advance(start_, way_, 0.75, aside_);
    return (8.0 * (quarter - potential_at(aside_)) - (before - after)) / 3.0;
  }

  /// |J| |way| in the kinetic metric.
  double reach(int a, const typename M::Place& place) {
    const double W = delassus(place.normals, a, model_.mass(place), slope_, response_);
    return std::sqrt(W * 2.0 * model_.mass(place).half_square(way_));
  }

  double weight(int i, const typename M::Place& place) {
    slope_.setZero();
    slope_[i] = 1.0;
    return 2.0 * model_.mass(place).half_square(slope_);
  }

  void bend(int a, double rest, typename M::Place& place) {
    double sum = 0.0;
    place.normals.each(a, [&](int i, double) { sum += weight(i, place) * way_[i] * way_[i]; });
    if (!(sum > 0.0)) return;
    const auto more = [&](int i) { return rest / sum * weight(i, place) * way_[i]; };
    auto& normals = place.normals;
    if constexpr (requires { normals.pattern(); }) {
      const Pattern& pattern = normals.pattern();
      for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
        const int i = pattern.coordinates[e];
        normals.set(a, e, i, normals.value(e) + more(i));
      }
    } else {
      for (int i = 0; i < model_.dofs(); ++i) normals.col(a)[i] += more(i);
    }
  }

  const M& model_;
  double t_{0.0};
  double h_{0.0};
  Spot start_;
  Spot middle_;
  Spot end_;
  Spot aside_;
  Vec way_;
  Vec slope_;
  Vec other_;
  Vec response_;
  Vector<K> change_;
  Vector<K> moved_;
  Vector<K> noise_of_;
  typename M::Place side_;
  double other_work_{0.0};
  double size_{0.0};
  double noise_{0.0};
};

}  // namespace ricochet::model
