#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "ricochet/step/node_stages.h"

namespace ricochet::step {

/// The motion between two impacts: free, or with contacts that last. One step of the method of
/// Dormand and Prince of order 5(4), with dense output between its ends.     [Dormand 1980]
///
///   du/dt = M^-1 (Q - c + J^T r),   0 <= r  perpendicular to  d2g/dt2 >= 0   for held contacts:
///
/// Gauss' principle at every evaluation, so that a contact lets go by itself.
/// [Moreau 1986, par. 3-4]
template <model::Model M>
class EventArc {
 public:
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = model::Vector<N>;
  using Place = model::Vector<M::kPlaces>;
  using State = model::StateOf<M>;

  EventArc(const M& model, const State& start, double accuracy, Workspace<M>& w)
      : model_(model),
        w_(w),
        accuracy_(accuracy),
        stage_q_(start.q),
        stage_u_(start.u),
        off_(start.u),
        ahead_(start.q),
        rate_(model::Vector<K>::Zero(model.contacts())),
        held_(model.contacts()),
        one_(model.contacts()),
        last_push_(model::Vector<K>::Zero(model.contacts())),
        push_start_(last_push_),
        push_end_(last_push_),
        inside_(start),
        end_(start) {
    for (auto& slope : velocity_) slope = start.u;
    for (auto& slope : acceleration_) slope = start.u;
    const model::EventMemory& memory = start.memory.events;
    for (const model::Key a : memory.held) {
      if (static_cast<int>(a) < model.contacts()) held_.push(static_cast<int>(a));
    }
    q_size_ = memory.q_size;
    u_size_ = memory.u_size;
  }

  void remember(model::EventMemory& memory) const {
    memory.held.clear();
    for (const int a : held_) memory.held.push_back(static_cast<model::Key>(a));
    memory.q_size = q_size_;
    memory.u_size = u_size_;
  }

  model::IndexList<K>& held() { return held_; }
  const State& end() const { return end_; }
  const model::Vector<K>& push_end() const { return push_end_; }

  /// Acceleration and reactions at `s`: where every arc from there begins.
  problem::Report open(const State& s) {
    const problem::Report report = accelerate(s.t, s.q, s.u, acceleration_[0]);
    velocity_[0] = s.u;
    push_start_ = last_push_;
    return report;
  }

  /// One step of length h from `s`, where `open` was; the error over what is allowed.
  problem::Report advance_by(const State& s, double h, double& error) {
    for (std::size_t i = 1; i < 7; ++i) {
      stage_q_ = s.q;
      stage_u_ = s.u;
      for (std::size_t j = 0; j < i; ++j) {
        model_.advance(stage_q_, velocity_[j], h * kStages[i - 1][j], stage_q_);
        stage_u_ += h * kStages[i - 1][j] * acceleration_[j];
      }
      velocity_[i] = stage_u_;
      const double t = s.t + kTimes[i - 1] * h;
      const problem::Report report = accelerate(t, stage_q_, stage_u_, acceleration_[i]);
      if (report.status != problem::Status::Solved) return report;
    }
    end_.t = s.t + h;  // the last stage is the solution of order 5
    end_.q = stage_q_;
    end_.u = stage_u_;
    push_end_ = last_push_;
    error = measure(s, h);
    return {};
  }

  /// Position and velocity at a part of the last step, by the polynomial of degree 5 that has the
  /// positions, velocities and accelerations of both ends.
  void look(const State& s, double h, double part, Place& q, Vec& u) {
    const double x = part, y = 1.0 - part;
    const auto value = [](double z) { return z * z * z * (10.0 + z * (-15.0 + 6.0 * z)); };
    const auto slope = [](double z) { return z * z * z * (-4.0 + z * (7.0 - 3.0 * z)); };
    const auto bend = [](double z) { return 0.5 * z * z * z * (1.0 + z * (-2.0 + z)); };
    const auto d_value = [](double z) { return z * z * (30.0 + z * (-60.0 + 30.0 * z)); };
    const auto d_slope = [](double z) { return z * z * (-12.0 + z * (28.0 - 15.0 * z)); };
    const auto d_bend = [](double z) { return 0.5 * z * z * (3.0 + z * (-8.0 + 5.0 * z)); };
    model_.difference(end_.q, s.q, off_);
    u = d_value(x) / h * off_ + d_slope(x) * end_.u + d_slope(y) * s.u +
        h * (d_bend(x) * acceleration_[6] - d_bend(y) * acceleration_[0]);
    off_ = value(x) * off_ + h * (slope(x) * end_.u - slope(y) * s.u) +
           h * h * (bend(x) * acceleration_[6] + bend(y) * acceleration_[0]);
    model_.advance(s.q, off_, 1.0, q);
  }

  /// Reactions along the last step, where a judge looks.
  problem::Report take_reactions(const State& s, double h, certify::ArcReactions<K>& reactions) {
    reactions.front() = push_start_;
    reactions.back() = push_end_;
    problem::Report report;
    for (std::size_t i = 1; i + 1 < certify::kArcNodes; ++i) {
      const double part = certify::kArcPoints[i];
      look(s, h, part, inside_.q, inside_.u);
      report = accelerate(s.t + part * h, inside_.q, inside_.u, stage_u_);
      if (report.status != problem::Status::Solved) return report;
      reactions[i] = last_push_;
    }
    return report;
  }

  /// d2g/dt2 of contact a at the start of the arc.
  double closing(const State& s, int a) {
    one_.clear();
    one_.push(a);
    return bend_of(s.t, s.q, s.u, one_, a) + normal_part(s, one_, a);
  }

  /// Puts held contacts back on their walls at the end of the arc, to first order, and takes off
  /// what is left of their velocity: what integration lost, no more.
  void put_right() {
    if (held_.empty() || !model_.load_mass(end_.q, w_.place)) return;
    for (int round = 0; round < 2; ++round) {
      model_.gaps(end_.t, end_.q, w_.place);
      model_.gradients(held_, w_.place);
      for (const int a : held_) {
        w_.place.normals.copy_to(a, w_.gathered);
        model_.mass(w_.place).solve(w_.gathered, w_.response);
        const double W = w_.gathered.dot(w_.response);
        if (!(W > 0.0)) continue;
        const double U = contact_velocity(w_, a, end_.u);
        model_.advance(end_.q, w_.response, -(w_.place.gap[a] / W), end_.q);
        if (push_end_[a] > 0.0) end_.u -= U / W * w_.response;
      }
    }
  }

 private:
  static constexpr std::array<double, 6> kTimes = {0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};
  static constexpr std::array<std::array<double, 6>, 6> kStages = {{
      {0.2},
      {3.0 / 40.0, 9.0 / 40.0},
      {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
      {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
      {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
      {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
  }};
  static constexpr std::array<double, 7> kError = {
      71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
      -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};

  double measure(const State& s, double h) {
    off_.setZero();
    stage_u_.setZero();
    for (std::size_t i = 0; i < 7; ++i) {
      off_ += h * kError[i] * velocity_[i];
      stage_u_ += h * kError[i] * acceleration_[i];
    }
    q_size_ = std::max({q_size_, s.q.norm(), end_.q.norm(), h * s.u.norm()});
    u_size_ = std::max({u_size_, s.u.norm(), end_.u.norm(), h * acceleration_[0].norm()});
    const double worst =
        std::max(off_.norm() / (q_size_ + tiny()), stage_u_.norm() / (u_size_ + tiny()));
    return std::isfinite(worst) ? worst / accuracy_ : std::numeric_limits<double>::infinity();
  }
  static double tiny() { return std::numeric_limits<double>::min(); }

  /// Change of U along the motion without acceleration: what the curve of a wall adds.
  double bend_of(double t, const Place& q, const Vec& u, const model::IndexList<K>& rows, int a) {
    const double speed = u.norm();
    const double length = std::max(1.0, q.norm());
    const double step = speed > 0.0 ? 1e-5 * length / std::max(speed, 1e-3 * length) : 1e-5;
    double bend = 0.0;
    for (const double sign : {1.0, -1.0}) {
      model_.advance(q, u, sign * step, ahead_);
      model_.gaps(t + sign * step, ahead_, w_.place);
      model_.gradients(rows, w_.place);
      bend += sign * contact_velocity(w_, a, u);
    }
    return bend / (2.0 * step);
  }

  double normal_part(const State& s, const model::IndexList<K>& rows, int a) {
    model_.gaps(s.t, s.q, w_.place);
    model_.gradients(rows, w_.place);
    return w_.place.normals.dot(a, acceleration_[0]);
  }

  /// a = M^-1 (Q - c + J^T r); r in last_push_.
  problem::Report accelerate(double t, const Place& q, const Vec& u, Vec& a) {
    last_push_.setZero();
    if (!model_.load_mass(q, w_.place)) return {.status = problem::Status::SingularMass};
    model::applied_force(model_, t, q, u, w_.place, w_.force);
    model_.mass(w_.place).solve(w_.force, a);
    if (held_.empty()) return {};
    for (const int c : held_) rate_[c] = bend_of(t, q, u, held_, c);
    model_.gaps(t, q, w_.place);
    model_.gradients(held_, w_.place);
    w_.claim.active.clear();
    for (const int c : held_) w_.claim.active.push(c);
    assemble(model_, w_, [&](int k, double& noise) {
      const double free = w_.place.normals.dot(held_[k], a) + rate_[held_[k]];
      noise = 1e-9 * std::abs(free);
      return free;
    });
    const problem::Report report = w_.solver.solve(w_.problem, *w_.warm);
    w_.gathered.setZero();
    for (int k = 0; k < held_.size(); ++k) {
      last_push_[held_[k]] = w_.solver.impulse(k);
      w_.place.normals.add_to(held_[k], w_.solver.impulse(k), w_.gathered);
    }
    model_.mass(w_.place).solve(w_.gathered, w_.response);
    a += w_.response;
    return report;
  }

  const M& model_;
  Workspace<M>& w_;
  double accuracy_;
  std::array<Vec, 7> velocity_;
  std::array<Vec, 7> acceleration_;
  Place stage_q_;
  Vec stage_u_;
  Vec off_;  // between two places
  Place ahead_;
  model::Vector<K> rate_;
  model::IndexList<K> held_;  // contacts that last
  model::IndexList<K> one_;
  model::Vector<K> last_push_;
  model::Vector<K> push_start_;
  model::Vector<K> push_end_;
  State inside_;
  State end_;
  double q_size_{0.0};
  double u_size_{0.0};
};

}  // namespace ricochet::step
