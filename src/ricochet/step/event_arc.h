#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "ricochet/base/dormand_prince.h"
#include "ricochet/certify/flight_rule.h"
#include "ricochet/model/flight.h"
#include "ricochet/step/arc_base.h"

namespace ricochet::step {

/// The motion between two impacts: free, or with contacts that last. One step of the method of
/// Dormand and Prince of order 5(4), with dense output between its ends.     [Dormand 1980]
/// Free motions under tame forces (`model::Flight`) are Taylor series instead, and far longer.
///
///   du/dt = M^-1 (Q - c + J^T r),   0 <= r  perpendicular to  d2g/dt2 >= 0   for held contacts,
///   and d2g/dt2 = 0 for joints:
///
/// Gauss' principle at every evaluation, so that a contact lets go by itself.
/// [Moreau 1986, par. 3-4]
template <model::Model M>
class EventArc : public ArcBase<M> {
  using Base = ArcBase<M>;
  using Base::bend_, Base::bends_, Base::end_, Base::held_, Base::model_, Base::path_, Base::sizes_,
      Base::time_, Base::trial_sizes_, Base::w_;

 public:
  using Base::add_joints, Base::gap, Base::is_joint;
  static constexpr int N = M::kDofs;
  static constexpr bool kAdapts = true;  // its length, to hold its accuracy
  static constexpr int K = M::kContacts;
  using Vec = model::Vector<N>;
  using Place = model::Vector<M::kPlaces>;
  using State = model::StateOf<M>;

  EventArc(const M& model, const State& start, double accuracy, Workspace<M>& w)
      : Base(model, start, w),
        accuracy_(accuracy),
        stage_q_(start.q),
        stage_u_(start.u),
        off_(start.u),
        off_u_(start.u),
        rounding_(start.u),
        push_(start.u),
        target_(bend_),
        last_push_(model::Vector<K>::Zero(model.contacts())),
        push_start_(last_push_),
        push_end_(last_push_),
        inside_(start) {
    for (auto& slope : velocity_) slope = start.u;
    for (auto& slope : acceleration_) slope = start.u;
    if constexpr (model::HasFormulas<M>) {
      flight_.emplace_back(model.formulas());
      if (!flight_[0].exists()) flight_.clear();
      flight_states_.resize(2 * static_cast<std::size_t>(start.u.size()) *
                            (certify::FlightRule::kNodes - 2));
    }
  }

  /// What pieces claim of contacts that last, and of flights.
  void claim(bool lasts) const {
    if (lasts) w_.claim.reactions = &w_.reactions;
    if (is_long_) w_.claim.flight = flight_states_.data();
  }

  /// How long the arc from where `open` was may be that is a series; 0: it is none.
  double reach() const { return reach_; }

  /// Acceleration and reactions at `s`: where every arc from there begins. Held contacts that do
  /// not push and open are let go. `time` is one in which little changes.
  problem::Report open(const State& s, double time) {
    time_ = time;
    problem::Report report = accelerate(s.t, s.q, s.u, acceleration_[0]);
    if (report.status != problem::Status::Solved) return report;
    velocity_[0] = s.u;
    push_start_ = last_push_;
    start_push_ = push_;
    w_.claim.active.clear();
    for (const int a : held_) w_.claim.active.push(a);
    held_.clear();
    for (const int a : w_.claim.active) {
      const double opening = w_.place.normals.dot(a, acceleration_[0]) + bend_[a];
      const double size = w_.place.normals.abs_dot(a, acceleration_[0]) + std::abs(bend_[a]);
      if (push_start_[a] > 0.0 || opening <= kNothing * size) held_.push(a);
      const double nearer = kEpsilon * model::gap_size(w_.place.normals, a, sizes_);
      target_[a] =
          gap(a) - (std::abs(gap(a)) > 64.0 * nearer ? std::copysign(nearer, gap(a)) : 0.0);
    }
    is_long_ = false;
    const bool flies = held_.empty() && !flight_.empty();
    reach_ = flies ? flight_[0].open(s.t, s.q.data(), s.u.data(), kSeries * accuracy_) : 0.0;
    return report;
  }

  /// One step of length h from `s`, where `open` was; the error over what is allowed.
  problem::Report advance_by(const State& s, double h, double& error) {
    time_ = h;
    if (reach_ > 0.0) return fly(s, h, error);
    for (std::size_t i = 1; i < 7; ++i) {
      stage_q_ = s.q;
      stage_u_ = s.u;
      off_.setZero();
      for (std::size_t j = 0; j < i; ++j) {
        off_ += h * base::kDormandPrince.stages[i - 1][j] * velocity_[j];
        stage_u_ += h * base::kDormandPrince.stages[i - 1][j] * acceleration_[j];
      }
      model_.advance(s.q, off_, 1.0, stage_q_);
      velocity_[i] = stage_u_;
      const double t = s.t + base::kDormandPrince.times[i - 1] * h;
      const problem::Report report = accelerate(t, stage_q_, stage_u_, acceleration_[i]);
      if (report.status != problem::Status::Solved) return report;
    }
    end_.t = s.t + h;  // the last stage is the solution of order 5
    end_.q = stage_q_;
    end_.u = stage_u_;
    push_end_ = last_push_;
    error = measure(s, h);
    put_right();
    return {};
  }

  /// Completes the last step: positions between its ends, and the reactions there and at the ends,
  /// where a judge looks. `error` is what forces and reactions leave unexplained, over what is
  /// allowed: large where they are not smooth. `stray` is a contact that pushes where it is not.
  problem::Report complete(const State& s, double h, certify::ArcReactions<K>& reactions,
                           double& error, int& stray) {
    problem::Report report = accelerate(end_.t, end_.q, end_.u, acceleration_[6]);
    if (report.status != problem::Status::Solved) return report;
    push_end_ = last_push_;
    if (reach_ > 0.0) return complete_flight(s, h, error);
    path_.set(s.t, h, s.q, s.u, acceleration_[0], end_.q, end_.u, acceleration_[6]);
    reactions.front() = push_start_;
    reactions.back() = push_end_;
    off_u_ = end_.u - s.u - h * certify::kArcWeights[0] * (acceleration_[0] + acceleration_[6]);
    model_.difference(end_.q, s.q, off_);
    off_ -= h * s.u + h * h * certify::kArcWeights[0] * acceleration_[0];
    stray = stray_at(end_.t, end_.q);
    for (std::size_t i = 1; i + 1 < certify::kArcNodes; ++i) {
      const double part = certify::kArcPoints[i], weight = h * certify::kArcWeights[i];
      path_.at(part, inside_.q, inside_.u);
      report = accelerate(s.t + part * h, inside_.q, inside_.u, stage_u_);
      if (report.status != problem::Status::Solved) return report;
      reactions[i] = last_push_;
      off_u_ -= weight * stage_u_;
      off_ -= weight * h * (1.0 - part) * stage_u_;
      if (stray < 0) stray = stray_at(s.t + part * h, inside_.q);
    }
    error = relative_error(s.q) / accuracy_;
    return report;
  }

  /// d2g/dt2 of contact a at the start of the arc.
  double closing(const State& s, int a) { return this->closing_by(s, a, acceleration_[0]); }

 private:
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  static constexpr double kNothing = 1e-10;     // of an acceleration: rounding
  static constexpr double kSeries = 1e-3;       // of the accuracy: last terms of a series
  static constexpr double kShort = 1.0 / 64.0;  // of the reach: two ends tell all of an arc

  /// The end of a flight.
  problem::Report fly(const State& s, double h, double& error) {
    const model::Flight& flight = flight_[0];
    end_.t = s.t + h;
    for (int i = 0; i < static_cast<int>(end_.u.size()); ++i) {
      end_.q[i] = flight.position(i, h);
      end_.u[i] = flight.velocity(i, h);
    }
    error = 0.0;
    return {};
  }

  /// What a judge sees of a flight; where forces at its end are those of the series.
  problem::Report complete_flight(const State& s, double h, double& error) {
    const model::Flight& flight = flight_[0];
    const auto n = static_cast<int>(end_.u.size());
    for (int i = 0; i < n; ++i) {
      off_u_[i] = h * (acceleration_[6][i] - flight.acceleration(i, h));
    }
    off_.setZero();
    trial_sizes_ = sizes_;
    model::grow(trial_sizes_, model_, w_.place, h, end_.q, s.u, end_.u, start_push_, w_.gathered,
                w_.response);
    error = relative_error(s.q) / accuracy_;
    is_long_ = !(h <= kShort * reach_ && (std::isfinite(reach_) || flight.is_short()));
    if (!is_long_) {
      path_.set(s.t, h, s.q, s.u, acceleration_[0], end_.q, end_.u, acceleration_[6]);
      return {};
    }
    path_.open(s.t, h, s.q, formula::Jet::kOrder);
    for (int i = 0; i < n; ++i) {
      double power = 1.0;
      for (int k = 1; k <= formula::Jet::kOrder; ++k) {
        path_.powers(i)[k] = flight.positions(i)[k] * (power *= h);
      }
    }
    double* next = flight_states_.data();
    for (std::size_t node = 1; node + 1 < certify::FlightRule::kNodes; ++node) {
      const double time = h * certify::flight_rule().points[node];
      for (int i = 0; i < n; ++i) *next++ = flight.position(i, time);
      for (int i = 0; i < n; ++i) *next++ = flight.velocity(i, time);
    }
    return {};
  }

  double measure(const State& s, double h) {
    off_.setZero();
    off_u_.setZero();
    for (std::size_t i = 0; i < 7; ++i) {
      off_ += h * base::kDormandPrince.error[i] * velocity_[i];
      off_u_ += h * base::kDormandPrince.error[i] * acceleration_[i];
    }
    trial_sizes_ = sizes_;
    model::grow(trial_sizes_, model_, w_.place, h, end_.q, s.u, end_.u, start_push_, w_.gathered,
                w_.response);
    return relative_error(s.q) / accuracy_;
  }

  /// Of `off_` and `off_u_`, in the sizes of the motion.
  double relative_error(const Place& q) {
    model::difference_size(model_, q, rounding_);
    rounding_ *= 8.0 * kEpsilon;
    const double ways = model::relative(off_, trial_sizes_.q, rounding_);
    rounding_.setZero();
    return std::max(ways, model::relative(off_u_, trial_sizes_.u, rounding_));
  }

  /// A contact that pushed in the last evaluation, at (t, q), and does not touch there.
  int stray_at(double t, const Place& q) {
    if (held_.empty()) return -1;
    model_.gaps(t, q, w_.place);
    model_.gradients(held_, w_.place);
    for (const int a : held_) {
      if (last_push_[a] == 0.0) continue;
      const double ways = model::reach(w_.place.normals, a, trial_sizes_.q);
      const double off =
          std::abs(gap(a)) - 1e-12 * model::gap_size(w_.place.normals, a, trial_sizes_);
      if (off > 10.0 * accuracy_ * ways || !model_.exists(a, w_.place)) return a;
    }
    return -1;
  }

  /// Puts contacts that push at the end of the arc back where they touched at its start, nearer to
  /// the wall by rounding at most, and takes off what is left of their velocity: what integration
  /// lost, no more.
  void put_right() {
    w_.claim.active.clear();
    for (const int a : held_) {
      if (push_end_[a] > 0.0) w_.claim.active.push(a);
    }
    add_joints();
    if (w_.claim.active.empty() || !model_.load_mass(end_.q, w_.place)) return;
    for (int round = 0; round < 2; ++round) {
      model_.gaps(end_.t, end_.q, w_.place);
      model_.gradients(w_.claim.active, w_.place);
      assemble(model_, w_, [&](int k, double&) {
        const int a = w_.claim.active[k];
        return is_joint(a) ? gap(a) : gap(a) - target_[a];
      });
      w_.solver.balance(w_.problem);
      model_.advance(end_.q, w_.solver.motion(), 1.0, end_.q);
    }
    model_.gaps(end_.t, end_.q, w_.place);
    model_.gradients(w_.claim.active, w_.place);
    assemble(model_, w_,
             [&](int k, double&) { return contact_velocity(w_, w_.claim.active[k], end_.u); });
    w_.solver.balance(w_.problem);
    end_.u += w_.solver.motion();
  }

  /// a = M^-1 (Q - c + J^T r); r in last_push_, Q - c in push_.
  problem::Report accelerate(double t, const Place& q, const Vec& u, Vec& a) {
    last_push_.setZero();
    if (!model_.load_mass(q, w_.place)) return {.status = problem::Status::SingularMass};
    model::applied_force(model_, t, q, u, w_.place, push_);
    model_.mass(w_.place).solve(push_, a);
    const auto& active = w_.claim.active;
    w_.claim.active.clear();
    for (const int c : held_) w_.claim.active.push(c);
    add_joints();
    if (active.empty()) return {};
    bends_.take(t, q, u, active, time_, bend_);
    model_.gaps(t, q, w_.place);
    model_.gradients(active, w_.place);
    assemble(model_, w_, [&](int k, double& noise) {
      const double bend = bend_[active[k]];
      noise = 32.0 * kEpsilon * (w_.place.normals.abs_dot(active[k], a) + std::abs(bend));
      return w_.place.normals.dot(active[k], a) + bend;
    });
    const problem::Report report = w_.solver.solve(w_.problem, *w_.warm);
    w_.gathered.setZero();
    for (int k = 0; k < active.size(); ++k) {
      last_push_[active[k]] = w_.solver.impulse(k);
      w_.place.normals.add_to(active[k], w_.solver.impulse(k), w_.gathered);
    }
    model_.mass(w_.place).solve(w_.gathered, w_.response);
    a += w_.response;
    return report;
  }

  double accuracy_;
  std::array<Vec, 7> velocity_;
  std::array<Vec, 7> acceleration_;
  Place stage_q_;
  Vec stage_u_;
  Vec off_;    // errors of positions
  Vec off_u_;  // of velocities
  Vec rounding_;
  Vec push_;                 // Q - c
  Vec start_push_;           // the same where the arc begins
  model::Vector<K> target_;  // gaps of held contacts at the end
  model::Vector<K> last_push_;
  model::Vector<K> push_start_;
  model::Vector<K> push_end_;
  State inside_;
  std::vector<model::Flight> flight_;  // one, or none
  std::vector<double> flight_states_;
  double reach_{0.0};    // [s], of the series from here; 0: there is none
  bool is_long_{false};  // the last arc
};

}  // namespace ricochet::step
