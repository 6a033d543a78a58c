#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ricochet/certify/trial.h"

/// What contacts did, once a step holds: shocks, stick and slip. Decides nothing.
namespace ricochet::certify {

/// What is a shock, and what is remembered to tell.
class ShockWatch {
 public:
  static constexpr long long kQuietSteps = 3;  // without impulse, before a push can be a shock

  ShockWatch(const Limits& limits, int rows)
      : speed_(limits.shock_speed),
        fraction_(limits.shock_fraction),
        last_push_(static_cast<std::size_t>(rows), -kLongAgo) {}

  long long& last_push(int a) { return last_push_[static_cast<std::size_t>(a)]; }
  long long last_push(int a) const { return last_push_[static_cast<std::size_t>(a)]; }
  double hardest() const { return hardest_; }
  /// What runs before this one did.
  void recall(double kinetic_max, double hardest) {
    kinetic_before_ = kinetic_max;
    hardest_ = hardest;
  }
  bool is_quiet(int a, long long step) const {
    return step - last_push_[static_cast<std::size_t>(a)] > kQuietSteps;
  }
  /// The speed that an impulse gives, squared: p^2 W.
  void note_push(double squared) { hardest_ = std::max(hardest_, squared); }

  bool is_set() const { return speed_ >= 0.0; }
  double threshold(double kinetic_max) const {
    if (is_set()) return speed_;
    const double largest = std::max(kinetic_before_, kinetic_max);
    return std::max(fraction_ * std::sqrt(2.0 * largest), kRest * std::sqrt(hardest_));
  }
  bool is_fast(double approach, double speed, double kinetic_max) const {
    if (approach <= 0.0) return false;
    return (is_set() ? approach : speed) >= threshold(kinetic_max);
  }

 private:
  static constexpr long long kLongAgo = 1'000'000'000;
  /// Speeds this small beside what impulses do are rounding: what rests is not struck.
  static constexpr double kRest = 1e-9;
  double speed_;
  double fraction_;
  double hardest_{0.0};
  double kinetic_before_{0.0};        // the largest kinetic energy of the runs before
  std::vector<long long> last_push_;  // step of the last impulse, by contact
};

template <model::Model M>
void enter_shock(Context<M>& context, const Shock& shock, long long step) {
  context.certificate.enter(shock);
  if (context.events.is_on()) context.events.strike(shock, step);
}

/// Start values and impacts are no steps.
template <model::Model M>
bool takes_no_time(const Context<M>& c, const Trial<M>& s) {
  if (s.claim.piece == Piece::Start) return c.method.integrator == Integrator::End;
  return s.claim.piece == Piece::Impact || s.claim.piece == Piece::Rest;
}

/// Whether an impulse is much more than forces, and the approach, ask for: -U free and before.
inline bool is_beyond(double p, double W, double free, double start) {
  constexpr double kMuch = 4.0;
  return p * W > kMuch * (std::abs(free - start) + std::max(0.0, -start));
}

/// The impulse of a contact without friction; true: it is a shock.
template <model::Model M>
[[gnu::always_inline]] inline bool enter_push(Context<M>& c, const Trial<M>& s, int k,
                                              long long step, ShockWatch& watch) {
  Certificate& certificate = c.certificate;
  const double p = s.claim.impulses[k];
  if (p == 0.0) return false;
  if (p < 0.0) {
    ++certificate.adhesive_count;
    certificate.adhesive_max = std::max(certificate.adhesive_max, -p);
    return false;
  }
  Push& push = c.pushes[static_cast<std::size_t>(k)];
  const int a = s.claim.active[k];
  watch.note_push(p * p * push.W);
  const bool is_new = takes_no_time(c, s) || watch.is_quiet(a, step);
  watch.last_push(a) = step;
  push.is_held = !is_new;
  if (!is_new) return false;
  const double speed = push.approach / std::sqrt(push.W);  // in the kinetic norm
  if (!watch.is_fast(push.approach, speed, certificate.ledger.kinetic_max)) return false;
  enter_shock(c, {s.t_contact, a, push.approach, speed, p, push.work}, step);
  push.is_entered = true;
  return true;
}

/// Whether the impulse at place k is a shock, normal or tangential, or neither.
template <model::Model M>
void weigh_push(Context<M>& c, const Trial<M>& s, int k, long long step, ShockWatch& watch) {
  const FrictionPush& push = c.friction_pushes[static_cast<std::size_t>(k)];
  const convex::ContactVector& R = push.impulse;
  const convex::ContactVector& start = push.start;
  const int a = s.claim.active[k];
  Shock shock{s.t_contact, a, -start[0], 0.0, s.claim.impulses[k], 0.0};
  shock.slip_before = {start[1], start[2]};
  shock.slip_after = {push.end[1], push.end[2]};
  const convex::ContactVector mean = 0.5 * (start + push.end);
  for (int j = 0; j < c.model.slips(a); ++j) {
    shock.friction += R[1 + j] * (mean[1 + j] - push.slip_rate[static_cast<std::size_t>(j)]);
  }
  shock.work = shock.friction + R[0] * (mean[0] - push.normal_rate);
  shock.dissipated = -R.tail<2>().dot(mean.tail<2>());
  shock.speed = -start[0] / std::sqrt(push.W_normal);
  const double jump = (push.end - start).tail<2>().norm();
  const bool held = !watch.is_quiet(a, step);
  c.pushes[static_cast<std::size_t>(k)].is_held = held;
  const double kinetic_max = c.certificate.ledger.kinetic_max;
  const bool arrives = !held && watch.is_fast(shock.approach, shock.speed, kinetic_max);
  constexpr double kMuch = 4.0;  // times what forces do in a step, or did in those before
  constexpr double kRounding = 1e-9;
  if (!arrives && !model::is_loaded(c.model, a) &&
      is_beyond(R[0], push.W_normal, push.free[0], start[0]) &&
      jump > kRounding * push.free.norm() && jump > kMuch * (push.free - start).tail<2>().norm() &&
      jump > kMuch * c.friction.last_jump(a) && push.W_tangential > 0.0) {
    shock.tangential = true;
    shock.approach = jump;
    shock.speed = jump / std::sqrt(push.W_tangential);
  }
  c.friction.set_step(k, shock, jump, R[0] > 0.0 && (shock.tangential || !held));
}

/// Times in each state, losses, shocks of contacts with friction; true: there is a shock.
template <model::Model M>
bool enter_friction(Context<M>& c, const Trial<M>& s, long long step, ShockWatch& watch) {
  if (!c.friction.exists()) return false;
  bool struck = false;
  const int contacts = s.claim.active.size() - c.model.joints();
  for (int k = 0; k < contacts; ++k) {
    if (c.model.slips(s.claim.active[k]) == 0) continue;
    const FrictionPush& push = c.friction_pushes[static_cast<std::size_t>(k)];
    watch.note_push(push.impulse[0] * push.impulse[0] * push.W_normal);
    weigh_push(c, s, k, step, watch);
  }
  c.friction.release_all();
  for (int k = 0; k < contacts; ++k) {
    const int a = s.claim.active[k];
    if (c.model.slips(a) == 0 || s.claim.impulses[k] == 0.0) continue;
    FrictionRecord& record = c.certificate.friction[static_cast<std::size_t>(a)];
    const bool sticks = s.claim.grip(k) == problem::Grip::Stick;
    (sticks ? record.stick_time : record.slip_time) += s.h;
    const Shock& shock = c.friction.shock(k);
    const double kinetic_max = c.certificate.ledger.kinetic_max;
    const bool is_shock =
        c.friction.may_be_shock(k) && watch.is_fast(shock.approach, shock.speed, kinetic_max);
    record.dissipated.add(shock.dissipated);
    if (is_shock) {
      struck = true;
      enter_shock(c, shock, step);
      if (shock.tangential) ++record.tangential_shocks;
    } else {
      c.certificate.ledger.friction.add(shock.friction);
    }
    watch.last_push(a) = step;
    c.friction.hold(a, k, sticks);
    c.friction.mark(a, k, is_shock);
  }
  return struck;
}

/// A contact that did not approach is struck through others, as the last balls of a row: in a step
/// with a shock, an impulse that is much more than its own forces ask for. One that was pushing
/// already goes on to.
template <model::Model M>
[[gnu::cold, gnu::noinline]] void enter_transmitted(Context<M>& c, const Trial<M>& s,
                                                    long long step, const ShockWatch& watch) {
  const double kinetic_max = c.certificate.ledger.kinetic_max;
  for (int k = 0; k < s.claim.active.size() - c.model.joints(); ++k) {
    const int a = s.claim.active[k];
    const double p = s.claim.impulses[k];
    const Push& push = c.pushes[static_cast<std::size_t>(k)];
    Shock shock{s.t_contact, a, push.approach, 0.0, p, push.work};
    bool is_entered = push.is_entered;
    double W = push.W;
    double free = -push.approach;
    double start = free;
    if (!takes_no_time(c, s)) free = c.place.normals.dot(a, s.free) + c.place.rate[a];
    if constexpr (M::kSlips > 0) {
      if (c.model.slips(a) > 0) {
        const FrictionPush& rubs = c.friction_pushes[static_cast<std::size_t>(k)];
        shock = c.friction.shock(k);
        is_entered = c.friction.may_be_shock(k);
        W = rubs.W_normal;
        free = rubs.free[0];
        start = rubs.start[0];
      }
    }
    if (model::is_loaded(c.model, a)) continue;
    if (p <= 0.0 || is_entered || push.is_held || !is_beyond(p, W, free, start)) continue;
    shock.transmitted = true;
    shock.tangential = false;
    shock.speed = p * std::sqrt(W);
    if (!watch.is_fast(p * W, shock.speed, kinetic_max)) continue;
    enter_shock(c, shock, step);
    if constexpr (M::kSlips > 0) {
      if (c.model.slips(a) == 0) continue;
      c.certificate.ledger.friction.add(-shock.friction);
      c.friction.mark(a, k, true);
    }
  }
}

/// Several contacts struck at once, elastic to some degree, whose gradients are not orthogonal:
/// energy and non-penetration alone do not fix what follows.           [Paoli 2001, par. 5]
template <model::Model M>
[[gnu::noinline]] void count_coupling(Context<M>& c, const Trial<M>& s, const ShockWatch& watch) {
  constexpr int kMost = 32;  // pairs are looked at; more contacts at once are coupled anyhow
  const auto& normals = c.place.normals;
  auto& struck = c.listed;
  struck.clear();
  for (int k = 0; k < s.claim.active.size() - c.model.joints(); ++k) {
    if (s.claim.impulses[k] > 0.0 && struck.size() < kMost) struck.push(s.claim.active[k]);
  }
  bool is_fast_enough = false;  // what rests on several contacts strikes none
  bool is_coupled = false;
  const double kinetic_max = c.certificate.ledger.kinetic_max;
  for (int i = 0; i < struck.size(); ++i) {
    const int a = struck[i];
    c.scratch.start_momentum.setZero();
    normals.add_to(a, 1.0, c.scratch.start_momentum);
    c.model.mass(c.place).solve(c.scratch.start_momentum, c.scratch.work);
    const double W = normals.dot(a, c.scratch.work);
    const double approach = -(normals.dot(a, s.before.u) + c.place.rate[a]);
    const double speed = approach / std::sqrt(W);
    is_fast_enough = is_fast_enough ||
                     (restitution_of(c, s, a) > 0.0 && watch.is_fast(approach, speed, kinetic_max));
    for (int j = 0; j < i; ++j) {
      is_coupled = is_coupled || std::abs(normals.dot(struck[j], c.scratch.work)) > 1e-12 * W;
    }
  }
  if (!is_fast_enough || !is_coupled) return;
  if (c.certificate.coupled_impacts++ == 0) c.certificate.coupled_time = s.t_contact;
}

/// Several contacts with e = 0 that arrive at once, two gradients at an acute angle: the motion
/// does not depend continuously on its data there.                                       [Paoli
/// 2005]
template <model::Model M>
[[gnu::cold, gnu::noinline]] void count_acute(Context<M>& c, const Trial<M>& s,
                                              const ShockWatch& watch) {
  constexpr int kMost = 32;
  const auto& normals = c.place.normals;
  auto& struck = c.listed;
  struck.clear();
  bool is_acute = false;
  for (const int a : s.claim.active) {
    if (a >= c.contacts() || struck.size() >= kMost) break;
    const double approach = -(normals.dot(a, s.before.u) + c.place.rate[a]);
    if (approach <= 0.0 || restitution_of(c, s, a) > 0.0) continue;
    c.scratch.start_momentum.setZero();
    normals.add_to(a, 1.0, c.scratch.start_momentum);
    c.model.mass(c.place).solve(c.scratch.start_momentum, c.scratch.work);
    const double W = normals.dot(a, c.scratch.work);
    if (!watch.is_fast(approach, approach / std::sqrt(W), c.certificate.ledger.kinetic_max)) {
      continue;
    }
    for (const int b : struck) {
      is_acute = is_acute || normals.dot(b, c.scratch.work) > 1e-12 * W;
    }
    struck.push(a);
  }
  if (is_acute && c.certificate.acute_impacts++ == 0) c.certificate.acute_time = s.t_contact;
}

/// What the contacts of a step that holds did.
template <model::Model M>
[[gnu::always_inline]] inline void enter_contacts(Context<M>& c, const Trial<M>& s, bool bounces,
                                                  long long step, ShockWatch& watch) {
  [[maybe_unused]] bool struck = false;
  for (int k = 0; k < s.claim.active.size(); ++k) {
    if constexpr (!M::kPlain) {
      if (s.claim.active[k] >= c.contacts()) continue;
    }
    if constexpr (M::kSlips > 0) {
      if (c.model.slips(s.claim.active[k]) > 0) continue;
    }
    struck |= enter_push(c, s, k, step, watch);
  }
  if constexpr (M::kSlips > 0) struck |= enter_friction(c, s, step, watch);
  if (s.claim.active.empty()) return;
  if constexpr (M::kContacts != 1) {
    if (struck && s.claim.active.size() > 1) [[unlikely]] {
      enter_transmitted(c, s, step, watch);
      count_acute(c, s, watch);
    }
  }
  c.certificate.residual_sum += s.residual;
  if (bounces && s.claim.active.size() > 1) count_coupling(c, s, watch);
  if (s.gained != 0.0) c.certificate.ledger.gain.add(s.gained);
}

/// Contacts that were active in a step that holds.
template <model::Model M>
[[gnu::always_inline]] inline void enter_touches(Context<M>& c, const Trial<M>& s) {
  c.touched.clear();
  for (int k = 0; k < s.claim.active.size() - c.model.joints(); ++k) {
    c.touched.push_back(static_cast<model::Key>(s.claim.active[k]));
  }
}

/// Whoever pushes in a step that holds, for those who follow its events.
template <model::Model M, class TheClaim>
[[gnu::noinline]] void follow_events(Context<M>& c, const TheClaim& claim, double t, double end,
                                     long long step, bool takes_time) {
  for (int k = 0; k < claim.active.size() - c.model.joints(); ++k) {
    const int a = claim.active[k];
    if (claim.impulses[k] == 0.0) continue;
    EventKind how = EventKind::Contact;
    if constexpr (M::kSlips > 0) {
      const bool sticks = claim.grip(k) == problem::Grip::Stick;
      if (c.model.slips(a) > 0) how = sticks ? EventKind::Stick : EventKind::Slip;
    }
    c.events.push(a, how, t, end, step);
  }
  for (const int a : c.held) c.events.push(a, EventKind::Contact, t, end, step);
  if (takes_time) c.events.pass(step, end);
}

/// A contact that touches at the start and does not approach is no shock when it first pushes.
template <model::Model M>
void hold_start(Context<M>& c, const model::StateOf<M>& start, ShockWatch& watch) {
  constexpr double kRest = 1e-9;
  model::IndexList<M::kContacts>& touching = c.listed;
  touching.clear();
  c.model.gaps(start.t, start.q, c.place);
  for (int a = 0; a < c.contacts(); ++a) {
    if (c.model.touches(a, c.place)) touching.push(a);
  }
  if (touching.empty()) return;
  c.model.gradients(touching, c.place);
  for (const int a : touching) {
    const double U = c.place.normals.dot(a, start.u) + c.place.rate[a];
    const double size = c.place.normals.abs_dot(a, start.u) + std::abs(c.place.rate[a]);
    if (U >= -kRest * size) watch.last_push(a) = 0;
  }
}

}  // namespace ricochet::certify
