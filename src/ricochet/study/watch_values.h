#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ricochet/base/index.h"
#include "ricochet/body/figures.h"
#include "ricochet/body/joints.h"
#include "ricochet/body/rows.h"
#include "ricochet/scene/part.h"
#include "ricochet/step/run_bodies.h"

namespace ricochet::study {

/// Evaluates formulas of t and figures.
class ProbeReader {
 public:
  explicit ProbeReader(const scene::Probe& probe)
      : probe_(probe), registers_(probe.tape.registers()) {}

  template <int D>
  double operator()(const body::WorldState<D>& state, const std::vector<double>& watches) {
    return at(state.t, watches, [&](int i) { return state.bodies[base::index(i)]; });
  }
  /// With the motions of bodies that `motion_of(body)` gives.
  template <class MotionOf>
  double at(double t, const std::vector<double>& watches, const MotionOf& motion_of) {
    registers_[0] = t;
    for (std::size_t k = 0; k < probe_.inputs.size(); ++k) {
      const scene::Figure& in = probe_.inputs[k];
      registers_[k + 1] = in.body < 0 ? watches[base::index(in.what)]
                                      : body::figures_of(motion_of(in.body))[base::index(in.what)];
    }
    return run();
  }
  const std::vector<scene::Figure>& inputs() const { return probe_.inputs; }

  /// Figures of bodies that are not yet there, and watches that are hidden because of such, are no
  /// numbers; whether there are any.
  template <int D>
  bool hide_unborn(const body::World<D>& world, double t, const std::vector<char>& hidden) {
    bool any = false;
    for (std::size_t k = 0; k < probe_.inputs.size(); ++k) {
      const scene::Figure& in = probe_.inputs[k];
      const bool is_hidden =
          in.body < 0 ? hidden[base::index(in.what)] != 0 : world.body(in.body).born > t;
      if (!is_hidden) continue;
      registers_[k + 1] = std::numeric_limits<double>::quiet_NaN();
      any = true;
    }
    return any;
  }
  double run() {
    probe_.tape.run(0, registers_.data());
    return registers_[probe_.tape.outputs(0)[0]];
  }

 private:
  const scene::Probe& probe_;
  std::vector<double> registers_;
};

/// The numbers of watches at an instant of a run of bodies, and whether run.stop holds. Forces are
/// means since `begin_window` was called.
template <int D>
class WatchValues {
 public:
  using Sample = step::BodySample<D>;
  using Vec = body::Vec<D>;
  WatchValues(const scene::WorldPart& part, const body::World<D>& world)
      : part_(part), world_(world), stop_(part_.stop) {
    for (const scene::Watch& watch : part_.watches) {
      formulas_.emplace_back(watch.formula);
      in_.emplace_back(world_.bodies.size(), 0);
      for (const int i : watch.bodies) in_.back()[base::index(i)] = 1;
      for (const int i : watch.others) {
        char& side = in_.back()[base::index(i)];
        side = static_cast<char>(side | 2);
      }
      values_.resize(values_.size() + base::index(watch.numbers), 0.0);
      given_.resize(values_.size(), 0.0);
    }
    hidden_.resize(values_.size(), 0);
    for (const scene::Figure& in : part_.stop.inputs) {
      if (in.body < 0) continue;
      const bool is_known = std::any_of(before_.begin(), before_.end(),
                                        [&](const auto& one) { return one.body == in.body; });
      if (!is_known) before_.push_back({in.body, {}, 0.0, 0.0});
    }
  }

  const std::vector<double>& values() const { return values_; }
  /// Of the watches that are forces, impulses since the window began.
  std::vector<double>& given() { return given_; }

  void begin_window(double t) {
    std::fill(given_.begin(), given_.end(), 0.0);
    last_ = t;
  }

  enum class Stop { GoesOn, Holds, HeldBetween, NoNumber };
  /// With the values of this state, the end of a step, or between it and the one before.
  Stop has_to_stop(const body::WorldState<D>& state) {
    Stop found = holds_at(state);
    if (found == Stop::GoesOn && held_since(state)) found = Stop::HeldBetween;
    for (Before& one : before_) {
      const body::Motion<D>& m = state.bodies[base::index(one.body)];
      const double gained = has_seen_ ? change_of(one, m) : 0.0;
      const bool goes_on = is_smooth(one, m, state.t);
      one.gained = goes_on ? gained : 0.0;
      one.odd = goes_on ? 0.0 : gained;
      one.motion = m;
    }
    last_seen_ = state.t;
    has_seen_ = true;
    return found;
  }

  /// Impulses on the bodies that are watched, from those that are not.
  void add_forces(const Sample& s) {
    const bool any = std::any_of(part_.watches.begin(), part_.watches.end(), [](const auto& w) {
      return w.kind == scene::Watch::Kind::ForceOn || w.kind == scene::Watch::Kind::Joint;
    });
    if (!any) return;
    if (!s.claim.reactions.empty()) add_joint_forces(s);
    s.each_push([&](const body::Row<D>& row, const body::Push<D>& push) {
      const Vec on_a = body::in_space(row, push.impulse);
      for (std::size_t w = 0; w < part_.watches.size(); ++w) {
        const scene::Watch& watch = part_.watches[w];
        if (watch.kind != scene::Watch::Kind::ForceOn) continue;
        const int a = in_[w][base::index(row.body_a)];
        const int b = in_[w][base::index(row.body_b)];
        for (int k = 0; k < D; ++k) given_[base::index(watch.column + k)] += (a - b) * on_a[k];
      }
    });
  }

  void set(const Sample& s) {
    for (std::size_t w = 0; w < part_.watches.size(); ++w) {
      set_value(s, w, values_.data() + part_.watches[w].column);
    }
  }

 private:
  struct Before {  // a body of the condition, at the step before
    int body;
    body::Motion<D> motion;
    double gained;  // by velocity and spin times reach, in that step; 0 after a shock
    double odd;     // where it differs from the step before, by so much; else 0
  };

  double change_of(const Before& one, const body::Motion<D>& now) const {
    const double turn = body::size_of(body::Spin<D>(now.spin - one.motion.spin));
    return (now.v - one.motion.v).norm() + world_.body(one.body).reach * turn;
  }
  /// By what gravity gives, or what the step before gave: two alike are of a force, no shocks.
  bool is_smooth(const Before& one, const body::Motion<D>& now, double t) const {
    constexpr double kShock = 4.0;  // times what is smooth
    constexpr double kSpeedOff = 1e-9;
    const double gained = change_of(one, now);
    const double given = (t - last_seen_) * world_.gravity(t).norm();
    const bool as_before = one.odd <= kShock * gained && gained <= kShock * one.odd;
    const double tiny = kSpeedOff * body::speed_bound(world_.body(one.body), now);
    return as_before || gained <= kShock * std::max(given, one.gained) + tiny;
  }

  /// Whether the condition held between two steps, with its watches as they are now. Motions that
  /// are smooth are followed; of a shock only the middle is looked at, as it is put back.
  bool held_since(const body::WorldState<D>& state) {
    constexpr int kParts = 64;
    const double h = state.t - last_seen_;
    if (!has_seen_ || !(h > 0.0) || before_.empty()) return false;
    bool all_smooth = true;
    for (const Before& one : before_) {
      const body::Motion<D>& m = state.bodies[base::index(one.body)];
      if (world_.body(one.body).born > last_seen_) return false;
      all_smooth = all_smooth && is_smooth(one, m, state.t);
    }
    for (int k = 1; k < kParts; ++k) {
      const double part = static_cast<double>(k) / kParts;
      if (!all_smooth && 2 * k != kParts) continue;
      const double found = stop_.at(last_seen_ + part * h, values_, [&](int i) {
        return within(i, state.bodies[base::index(i)], part, h, all_smooth);
      });
      if (!std::isnan(found) && found != 0.0) return true;
    }
    return false;
  }

  /// Velocities linear between two steps and places their integral, or at the middle of a shock.
  body::Motion<D> within(int i, const body::Motion<D>& now, double part, double h,
                         bool is_smooth_step) const {
    body::Motion<D> m = now;
    m.advance(-(1.0 - part) * h);
    if (!is_smooth_step) return m;
    const auto one = std::find_if(before_.begin(), before_.end(),
                                  [&](const Before& each) { return each.body == i; });
    const body::Motion<D>& from = one->motion;
    const double way = part * h;
    m.v = from.v + part * (now.v - from.v);
    m.spin = from.spin + part * (now.spin - from.spin);
    m.x = from.x + way * from.v + 0.5 * way * part * (now.v - from.v);
    if constexpr (D == 2) {
      m.angle = from.angle + way * from.spin + 0.5 * way * part * (now.spin - from.spin);
    }
    return m;
  }

  /// Whether the condition holds at the end of a step.
  Stop holds_at(const body::WorldState<D>& state) {
    double found = stop_(state, values_);
    for (std::size_t w = 0; w < part_.watches.size(); ++w) {
      const scene::Watch& watch = part_.watches[w];
      if (watch.kind != scene::Watch::Kind::Formula) continue;
      hidden_[base::index(watch.column)] = formulas_[w].hide_unborn(world_, state.t, hidden_);
    }
    const bool waits = stop_.hide_unborn(world_, state.t, hidden_);
    if (waits) found = stop_.run();
    if (!std::isnan(found)) return found != 0.0 ? Stop::Holds : Stop::GoesOn;
    return waits ? Stop::GoesOn : Stop::NoNumber;
  }

  void add_joint_forces(const Sample& s) {
    for (std::size_t j = 0; j < world_.joints.size(); ++j) {
      const Vec& on_b = s.claim.reactions[j].force;
      for (std::size_t w = 0; w < part_.watches.size(); ++w) {
        const scene::Watch& watch = part_.watches[w];
        int times = watch.joint == static_cast<int>(j) ? 1 : 0;
        if (watch.kind == scene::Watch::Kind::ForceOn) {
          times = in_[w][base::index(world_.joints[j].b)] - in_[w][base::index(world_.joints[j].a)];
        }
        for (int k = 0; k < D && times != 0; ++k) {
          given_[base::index(watch.column + k)] += times * on_b[k];
        }
      }
    }
  }

  /// The mean force on the second body since the row before, and the coordinate.
  void set_joint(const Sample& s, const scene::Watch& watch, double* out) {
    const body::Joint<D>& joint = world_.joints[base::index(watch.joint)];
    const double time = s.state.t - last_;
    for (int k = 0; k < D && time > 0.0; ++k) {
      out[k] = given_[base::index(watch.column + k)] / time;
    }
    const auto rows = body::rows_of(joint, s.state.bodies[base::index(joint.a)],
                                    s.state.bodies[base::index(joint.b)]);
    out[D] = rows.free.gap;
  }

  void set_value(const Sample& s, std::size_t w, double* out) {
    using Kind = scene::Watch::Kind;
    const scene::Watch& watch = part_.watches[w];
    std::fill(out, out + watch.numbers, 0.0);
    double mass = 0.0;
    switch (watch.kind) {
      case Kind::Formula: *out = formulas_[w](s.state, values_); return;
      case Kind::ForceOn: {
        const double time = s.state.t - last_;
        for (int k = 0; k < D && time > 0.0; ++k) {
          out[k] = given_[base::index(watch.column + k)] / time;
        }
        return;
      }
      case Kind::Joint: set_joint(s, watch, out); return;
      case Kind::Slip:
        s.each_push([&](const body::Row<D>& row, const body::Push<D>&) {
          if ((in_[w][base::index(row.body_a)] | in_[w][base::index(row.body_b)]) != 3) return;
          const Vec u = body::relative(row, s.state.bodies[base::index(row.body_a)],
                                       s.state.bodies[base::index(row.body_b)]);
          *out = std::max(*out, u.template tail<D - 1>().norm());
        });
        return;
      case Kind::Touching:
        s.each_push([&](const body::Row<D>& row, const body::Push<D>&) {
          *out +=
              (in_[w][base::index(row.body_a)] | in_[w][base::index(row.body_b)]) != 0 ? 1.0 : 0.0;
        });
        return;
      default: break;
    }
    if (watch.kind == Kind::Height) *out = -std::numeric_limits<double>::infinity();
    for (const int i : watch.bodies) {
      const body::Body<D>& body = world_.body(i);
      const body::Motion<D>& m = s.state.bodies[base::index(i)];
      if (watch.kind == Kind::Displacement) *out = std::max(*out, (m.x - body.start.x).norm());
      if (watch.kind == Kind::Height) *out = std::max(*out, m.x[D - 1]);
      if (watch.kind == Kind::Centre) {
        const double own = body.is_free() ? body.mass : 1.0;
        mass += own;
        for (int k = 0; k < D; ++k) out[k] += own * m.x[k];
      }
      if (watch.kind == Kind::Momentum) {
        for (int k = 0; k < D; ++k) out[k] += body.mass * m.v[k];
        const body::Spin<D> about = body.mass * body::moment(m.x, m.v) + body::momentum_of(body, m);
        if constexpr (D == 2) out[2] += about;
        if constexpr (D == 3) body::Vec<3>::Map(out + 3) += about;
      }
    }
    for (int k = 0; k < D && watch.kind == Kind::Centre; ++k) out[k] /= mass;
  }

  const scene::WorldPart& part_;
  const body::World<D>& world_;
  ProbeReader stop_;
  std::vector<ProbeReader> formulas_;
  std::vector<std::vector<char>> in_;  // by watch and body: 1 what it looks at, 2 the other side
  std::vector<double> values_;
  std::vector<double> given_;  // impulses since the window began
  std::vector<char> hidden_;  // by number of the watches: formulas of bodies that are not yet there
  double last_{0.0};          // when it began [s]
  std::vector<Before> before_;  // bodies of the condition
  double last_seen_{0.0};       // when the condition was asked for [s]
  bool has_seen_{false};
};

}  // namespace ricochet::study
