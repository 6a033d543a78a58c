#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ricochet/certify/trial.h"

/// Whether gradients, rates, forces of potentials, momenta and inertia terms are the derivatives of
/// gaps, potential and kinetic energy. Judge and scheme take them from the same model, so that they
/// are held against differences once in a while.
namespace ricochet::certify {

/// Compares a slope along a way with differences over shorter and shorter parts of it.
class SlopeCheck {
 public:
  static constexpr std::array kParts = {1e-4, 1e-6, 1e-8, 1e-10};

  /// Values at -part, 0 and part of the way; `size` is what they are computed from.
  void look(double slope, double part, double before, double here, double after, double size) {
    const double ahead = (after - here) / part, behind = (here - before) / part;
    if (!std::isfinite(ahead) || !std::isfinite(behind)) return;
    const double most = std::max({std::abs(slope), std::abs(ahead), std::abs(behind)});
    const double values = std::abs(before) + std::abs(here) + std::abs(after);
    const double rounding = 16.0 * kEpsilon * (values + size) / part;
    if (!(rounding <= 0.1 * most)) return;  // nothing can be told
    const double allowed = kClose * most + rounding;
    const auto [low, high] = std::minmax(ahead, behind);  // at a kink anything between
    told_ = true;
    agrees_ = agrees_ || (slope >= low - allowed && slope <= high + allowed);
    off_ = std::abs(slope - 0.5 * (ahead + behind)) / most;
  }
  bool is_wrong() const { return told_ && !agrees_; }
  bool is_done() const { return agrees_; }
  double off() const { return off_; }

 private:
  static constexpr double kClose = 1e-3;
  bool told_{false};
  bool agrees_{false};
  double off_{0.0};
};

/// Ways through a state: time alone, the velocity, and two more, each as long as the coordinates.
template <model::Model M>
class DerivativeCheck {
 public:
  using State = model::StateOf<M>;
  using Vec = Vector<M::kDofs>;

  explicit DerivativeCheck(Context<M>& c)
      : c_(c),
        place_(c.joint_place),
        way_(c.scratch.work),
        size_(c.scratch.slope),
        rows_(static_cast<std::size_t>(c.model.contacts())) {}

  [[gnu::cold, gnu::noinline]] void run(const State& s, double h) {
    model::difference_size(c_.model, s.q, size_);
    reach_ = std::max(largest(size_), h * largest(s.u));
    constexpr double kSmallest = 1e-290;  // differences of less have no digits
    if (!(reach_ > kSmallest)) reach_ = 1.0;
    time_ = std::max(std::abs(s.t), 1000.0 * h);
    for (int k = 0; k < 4 && c_.certificate.ok(); ++k) {
      choose(s, k);
      if (!rows_.empty()) check_gaps(s);
      if (k > 0) check_energies(s);
    }
  }

 private:
  struct Row {
    SlopeCheck check;
    double slope{0.0};
    double size{0.0};
    double here{0.0};
    double before{0.0};
  };

  void check_energies(const State& s) {
    if constexpr (requires { c_.model.is_conservative(); }) {
      if (c_.model.is_conservative() && c_.model.has_potential() &&
          !c_.model.force_uses_velocity()) {
        check_potential(s);
      }
    }
    if constexpr (!M::kPlain) check_varying_mass(s);
  }

  void check_varying_mass(const State& s) {
    if (c_.has_constant_mass()) return;
    check_kinetic(s);
    const Integrator made = c_.method.integrator;
    if (made == Integrator::Middle || made == Integrator::MiddleAhead) return;
    if constexpr (requires { c_.model.applied(s.t, s.q, s.u, place_, way_); }) check_inertia(s);
  }

  /// Fixed signs that no scene has by chance.
  void choose(const State& s, int k) {
    tau_ = k == 0 ? time_ : 0.0;
    const double speed = k == 1 ? largest(s.u) : 0.0;
    for (int i = 0; i < c_.model.dofs(); ++i) {
      const double turns = 0.7548776662466927 * (i + 1) * k + 0.1;
      const double sign = turns - std::floor(turns) < 0.5 ? -1.0 : 1.0;
      const double length = std::max(size_[i], 1e-3 * reach_) * (0.5 + turns - std::floor(turns));
      way_[i] = k == 0 ? 0.0 : (speed > 0.0 ? s.u[i] / speed * reach_ : sign * length);
    }
  }

  void check_gaps(const State& s) {
    c_.listed.clear();
    for (int a = 0; a < c_.first_roll(); ++a) c_.listed.push(a);
    c_.model.gaps(s.t, s.q, place_);
    c_.model.gradients(c_.listed, place_);
    for (const int a : c_.listed) {
      Row& one = row(a);
      one.check = {};
      one.slope = place_.normals.dot(a, way_) + tau_ * place_.rate[a];
      one.size = place_.normals.abs_dot(a, size_) + std::abs(place_.rate[a] * s.t);
      one.here = place_.gap[a];
    }
    for (const double part : SlopeCheck::kParts) {
      gaps_at(s, -part);
      for (const int a : c_.listed) row(a).before = place_.gap[a];
      gaps_at(s, part);
      bool done = true;
      for (const int a : c_.listed) {
        Row& one = row(a);
        one.check.look(one.slope, part, one.before, one.here, place_.gap[a], one.size);
        done = done && one.check.is_done();
      }
      if (done) return;
    }
    for (const int a : c_.listed) {
      if (!row(a).check.is_wrong() || is_rounding(s, a)) continue;
      c_.fail(Failure::Derivative, s.t, a, row(a).check.off());
    }
  }
  /// Whether the rounding of all that a gap's formula is made of explains its differences: in
  /// (y + 1) - 1 that is far larger than the gap.
  bool is_rounding(const State& s, int a) {
    if constexpr (requires { c_.model.formulas().gap_rounding(a, s.t, s.q.data()); }) {
      const Row& one = row(a);
      const double size = one.size + c_.model.formulas().gap_rounding(a, s.t, s.q.data());
      SlopeCheck check;
      for (const double part : SlopeCheck::kParts) {
        gaps_at(s, -part);
        const double before = place_.gap[a];
        gaps_at(s, part);
        check.look(one.slope, part, before, one.here, place_.gap[a], size);
      }
      return !check.is_wrong();
    }
    return false;
  }
  void gaps_at(const State& s, double part) {
    c_.model.advance(s.q, way_, part, c_.scratch.q_work);
    c_.model.gaps(s.t + part * tau_, c_.scratch.q_work, place_);
  }
  Row& row(int a) { return rows_[static_cast<std::size_t>(a)]; }

  /// One function of the way, and its slope here.
  template <class Function>
  void check(double t, double slope, double size, Function&& value) {
    SlopeCheck one;
    const double here = value(0.0);
    for (const double part : SlopeCheck::kParts) {
      const double before = value(-part);
      one.look(slope, part, before, here, value(part), size);
      if (one.is_done()) return;
    }
    if (one.is_wrong()) c_.fail(Failure::Derivative, t, -1, one.off());
  }

  void check_potential(const State& s) {
    auto& force = c_.scratch.force;
    c_.model.force(s.t, s.q, s.u, place_, force);
    check(s.t, -force.dot(way_), force.cwiseAbs().dot(size_), [&](double part) {
      c_.model.advance(s.q, way_, part, c_.scratch.q_work);
      return c_.model.gaps_and_potential(s.t, c_.scratch.q_work, place_);
    });
  }

  /// T = u . M(q) u / 2: M u = dT/du, and dT/dq.
  void check_kinetic(const State& s) {
    auto& u = c_.scratch.free;
    auto& momentum = c_.scratch.start_momentum;
    auto& slope = c_.scratch.momentum;
    u = s.u + 1e-3 * (largest(s.u) > 0.0 ? largest(s.u) : 1.0) / reach_ * way_;
    c_.model.momentum(s.q, u, place_, momentum, slope);
    if (c_.model.load_mass(s.q, place_)) {
      auto& product = c_.scratch.end_momentum;
      c_.model.mass(place_).apply(u, product);
      const double off = (product - momentum).cwiseAbs().sum();
      const double size = product.cwiseAbs().sum() + momentum.cwiseAbs().sum();
      if (!(off <= 1e-9 * size)) return c_.fail(Failure::Derivative, s.t, -1, off / size);
    }
    const double along = slope.dot(way_);
    const double size = slope.cwiseAbs().dot(size_);
    check(s.t, along, size, [&](double part) {
      c_.model.advance(s.q, way_, part, c_.scratch.q_work);
      c_.model.momentum(c_.scratch.q_work, u, place_, momentum, slope);
      return 0.5 * u.dot(momentum);
    });
  }

  /// c = (dM/dt) u - dT/dq.
  void check_inertia(const State& s) {
    auto& u = c_.scratch.free;  // as check_kinetic left it
    auto& momentum = c_.scratch.start_momentum;
    auto& slope = c_.scratch.momentum;
    auto& terms = c_.scratch.force;
    const double scale = reach_ / largest(u);
    c_.model.force(s.t, s.q, u, place_, terms);
    c_.model.applied(s.t, s.q, u, place_, momentum);
    const double forces = scale * (terms.cwiseAbs() + momentum.cwiseAbs()).dot(way_.cwiseAbs());
    terms -= momentum;
    c_.model.momentum(s.q, u, place_, momentum, slope);
    terms += slope;
    const double along = scale * terms.dot(way_);
    check(s.t, along, momentum.cwiseAbs().dot(way_.cwiseAbs()) + forces, [&](double part) {
      c_.model.advance(s.q, u, part * scale, c_.scratch.q_work);
      c_.model.momentum(c_.scratch.q_work, u, place_, momentum, slope);
      return momentum.dot(way_);
    });
  }

  Context<M>& c_;
  typename M::Place& place_;
  Vec& way_;
  Vec& size_;
  double reach_{1.0};
  double time_{1.0};
  double tau_{0.0};
  std::vector<Row> rows_;
};

}  // namespace ricochet::certify
