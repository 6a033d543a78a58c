#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ricochet/step/event_arc.h"

namespace ricochet::step {

/// Finds where the arc that was just made meets a wall for the first time.
template <model::Model M, class Arc>
class EventSearch {
 public:
  using State = model::StateOf<M>;

  EventSearch(const M& model, const State& state, Arc& arc, Workspace<M>& w)
      : model_(model),
        state_(state),
        arc_(arc),
        w_(w),
        sweep_(model, state.q, state.u),
        inside_(state),
        all_(model.contacts()),
        depth_(model::Vector<M::kContacts>::Zero(model.contacts())) {
    for (int a = 0; a < model.contacts() - model.joints(); ++a) all_.push(a);
  }

  /// How far from zero gap a, whose gradient was taken, counts as touching.
  double touching(int a) const {
    const double speed = std::abs(contact_velocity(w_, a, state_.u));
    return kClose * model::gap_size(w_.place.normals, a, arc_.sizes()) +
           4.0 * std::numeric_limits<double>::epsilon() * std::abs(state_.t) * speed;
  }
  bool is_held(int a) {
    return arc_.is_joint(a) ||
           std::find(arc_.held().begin(), arc_.held().end(), a) != arc_.held().end();
  }
  /// Gaps at the state, with gradients; contacts that touch and are not held in w_.claim.active.
  void take_gaps() {
    model_.gaps(state_.t, state_.q, w_.place);
    model_.gradients(all_, w_.place);
    w_.claim.active.clear();
    for (const int a : all_) {
      const double gap = arc_.gap(a);
      depth_[a] = 2.0 * std::max(touching(a), -gap) + gap - w_.place.gap[a];
      if (!model_.exists(a, w_.place)) continue;
      if (gap <= touching(a) && !is_held(a)) w_.claim.active.push(a);
    }
  }

  /// How long the hop lasts that contacts begin here, and somewhat more.
  double next_hop() {
    double longest = std::numeric_limits<double>::infinity();
    take_gaps();
    leaving_.assign(w_.claim.active.begin(), w_.claim.active.end());
    for (const int a : leaving_) {
      const double bend = arc_.closing(state_, a);
      const double U = contact_velocity(w_, a, state_.u);
      if (U > 0.0 && bend < 0.0) longest = std::min(longest, -4.0 * U / bend);
    }
    return longest;
  }

  /// An arc of length h, ready to be looked along.
  problem::Report make(double h) { return renew(h); }

  /// Shortens the arc of length h to the first impact in it; `struck` is its contact.
  problem::Report find(double& h, int& struck) {
    const problem::Report report = find_low_hop(h, struck);
    return is_solved(report) ? find_crossing(h, struck) : report;
  }

 private:
  static constexpr double kClose = 1e-13;  // of what a gap is computed from: contact
  static constexpr double kLow = 1e4;      // contacts: a hop that is seen in its velocity only

  static bool is_solved(const problem::Report& report) {
    return report.status == problem::Status::Solved;
  }

  /// Shortens the arc to the first wall that is met in it.
  problem::Report find_crossing(double& h, int& struck) {
    for (int round = 0; round <= model_.contacts(); ++round) {
      const auto crossing = sweep_.first(
          arc_.path(), [&](int a) { return is_held(a) || a == struck ? -1.0 : depth_[a]; });
      if (crossing.contact < 0) return {};
      struck = crossing.contact;
      h = find_zero(struck, crossing.from * h, crossing.to * h);
      if (h <= 0.0) return {};
      const problem::Report report = renew(h);
      if (!is_solved(report)) return report;
    }
    return {};
  }

  double gap_at(int a, double t, const model::Vector<M::kPlaces>& q) {
    model_.gaps(t, q, w_.place);
    return model_.exists(a, w_.place) ? arc_.gap(a) : std::numeric_limits<double>::infinity();
  }

  /// The zero of f, positive at `low` and negative at `high`: regula falsi with the weights of the
  /// Illinois rule. Of the last two bounds the one before the zero.
  template <class F>
  static double zero_of(F&& f, double low, double f_low, double high, double f_high) {
    for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
      double middle = low + (high - low) * f_low / (f_low - f_high);
      if (!(middle > low && middle < high) || i % 8 == 7) middle = 0.5 * (low + high);
      const double value = f(middle);
      if (value == 0.0) return middle;
      if (value > 0.0) {
        low = middle;
        f_low = value;
        f_high *= 0.5;
      } else {
        high = middle;
        f_high = value;
        f_low *= 0.5;
      }
    }
    return low;
  }

  /// When the gap of contact a vanishes, on arcs of that length.
  double find_zero(int a, double low, double high) {
    const auto gap_after = [&](double length) {
      double error = 0.0;
      if (length <= 0.0) return gap_at(a, state_.t, state_.q);
      (void)arc_.advance_by(state_, length, error);
      return gap_at(a, arc_.end().t, arc_.end().q);
    };
    const double f_low = gap_after(low);
    const double f_high = gap_after(high);
    if (!(f_low > 0.0)) return low;
    if (!(f_high < 0.0)) return high;
    return zero_of(gap_after, low, f_low, high, f_high);
  }

  /// A hop so low that its gap is rounding ends where the integral of the contact's velocity is
  /// zero again.
  problem::Report find_low_hop(double& h, int& struck) {
    take_gaps();
    leaving_.assign(w_.claim.active.begin(), w_.claim.active.end());
    bool tried = false;
    for (const int a : leaving_) {
      const double bend = arc_.closing(state_, a);
      const double U = contact_velocity(w_, a, state_.u);
      const double length = -2.0 * U / bend;
      if (!(U > 0.0 && bend < 0.0 && 1.5 * length < h) || U * length > kLow * touching(a)) continue;
      tried = true;
      const auto way = [&](double time) { return way_of(a, U, time); };
      const double f_low = way(0.5 * length);
      const double f_high = way(1.5 * length);
      if (!(f_low > 0.0 && f_high < 0.0)) continue;
      h = zero_of(way, 0.5 * length, f_low, 1.5 * length, f_high);
      struck = a;
    }
    return tried ? renew(h) : problem::Report{};
  }
  /// What a gap has opened by after a time, by Simpson's rule.
  double way_of(int a, double U, double time) {
    if (!is_solved(renew(time))) return 0.0;
    w_.claim.active.clear();
    w_.claim.active.push(a);
    double sum = U;
    for (const double part : {0.5, 1.0}) {
      arc_.path().at(part, inside_.q, inside_.u);
      model_.gaps(state_.t + part * time, inside_.q, w_.place);
      model_.gradients(w_.claim.active, w_.place);
      sum += (part < 1.0 ? 4.0 : 1.0) * contact_velocity(w_, a, inside_.u);
    }
    return time / 6.0 * sum;
  }
  problem::Report renew(double h) {
    double error = 0.0;
    int stray = -1;
    const problem::Report report = arc_.advance_by(state_, h, error);
    if (!is_solved(report)) return report;
    return arc_.complete(state_, h, w_.reactions, error, stray);
  }

  const M& model_;
  const State& state_;
  Arc& arc_;
  Workspace<M>& w_;
  model::GapSweep<M> sweep_;
  State inside_;
  model::IndexList<M::kContacts> all_;
  model::Vector<M::kContacts> depth_;  // below zero that counts as touching, by contact
  std::vector<int> leaving_;
};

}  // namespace ricochet::step
