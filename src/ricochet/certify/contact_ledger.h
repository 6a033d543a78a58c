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

inline void enter_shock(Certificate& c, const Shock& shock) {
  ++c.shock_counts[static_cast<std::size_t>(shock.contact)];
  c.ledger.shocks.add(shock.work);
  if (c.shocks.size() < Certificate::kMostShocks) {
    c.shocks.push_back(shock);
  } else {
    c.shocks_cut = true;
  }
}

/// Start values and impacts are no steps.
template <model::Model M>
bool takes_no_time(const Context<M>& c, const Trial<M>& s) {
  if (s.claim.piece == Piece::Start) return c.method.integrator == Integrator::End;
  return s.claim.piece == Piece::Impact || s.claim.piece == Piece::Rest;
}

/// The impulse of a contact without friction.
template <model::Model M>
[[gnu::always_inline]] inline void enter_push(Context<M>& c, const Trial<M>& s, int k,
                                              long long step, ShockWatch& watch) {
  Certificate& certificate = c.certificate;
  const double p = s.claim.impulses[k];
  if (p == 0.0) return;
  if (p < 0.0) {
    ++certificate.adhesive_count;
    certificate.adhesive_max = std::max(certificate.adhesive_max, -p);
    return;
  }
  const Push& push = c.pushes[static_cast<std::size_t>(k)];
  const int a = s.claim.active[k];
  watch.note_push(p * p * push.W);
  const bool is_new = takes_no_time(c, s) || watch.is_quiet(a, step);
  watch.last_push(a) = step;
  if (!is_new) return;
  const double speed = push.approach / std::sqrt(push.W);  // in the kinetic norm
  if (watch.is_fast(push.approach, speed, certificate.ledger.kinetic_max)) {
    enter_shock(certificate, {s.t_contact, a, push.approach, speed, p, push.work});
  }
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
  const double kinetic_max = c.certificate.ledger.kinetic_max;
  const bool arrives = !held && watch.is_fast(shock.approach, shock.speed, kinetic_max);
  constexpr double kMuch = 4.0;  // times what forces do in a step, or did in those before
  constexpr double kRounding = 1e-9;
  // What balances forces and approach: a shock takes much more.
  const double usual =
      (std::abs(push.free[0] - start[0]) + std::max(0.0, -start[0])) / push.W_normal;
  if (!arrives && R[0] > kMuch * usual && jump > kRounding * push.free.norm() &&
      jump > kMuch * (push.free - start).tail<2>().norm() &&
      jump > kMuch * c.friction.last_jump(a) && push.W_tangential > 0.0) {
    shock.tangential = true;
    shock.approach = jump;
    shock.speed = jump / std::sqrt(push.W_tangential);
  }
  c.friction.set_step(k, shock, jump, R[0] > 0.0 && (shock.tangential || !held));
}

/// Times in each state, losses, shocks of contacts with friction.
template <model::Model M>
void enter_friction(Context<M>& c, const Trial<M>& s, long long step, ShockWatch& watch) {
  if (!c.friction.exists()) return;
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
    if (is_shock) {
      enter_shock(c.certificate, shock);
      if (shock.tangential) ++record.tangential_shocks;
    } else {
      record.dissipated.add(shock.dissipated);
      c.certificate.ledger.friction.add(shock.friction);
    }
    watch.last_push(a) = step;
    c.friction.hold(a, k, sticks, is_shock);
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

/// What the contacts of a step that holds did.
template <model::Model M>
[[gnu::always_inline]] inline void enter_contacts(Context<M>& c, const Trial<M>& s, bool bounces,
                                                  long long step, ShockWatch& watch) {
  for (int k = 0; k < s.claim.active.size(); ++k) {
    if constexpr (!M::kPlain) {
      if (s.claim.active[k] >= c.contacts()) continue;
    }
    if constexpr (M::kSlips > 0) {
      if (c.model.slips(s.claim.active[k]) > 0) continue;
    }
    enter_push(c, s, k, step, watch);
  }
  if constexpr (M::kSlips > 0) enter_friction(c, s, step, watch);
  if (s.claim.active.empty()) return;
  c.certificate.residual_sum += s.residual;
  if (bounces && s.claim.active.size() > 1) count_coupling(c, s, watch);
  if (s.gained != 0.0) c.certificate.ledger.gain.add(s.gained);
}

}  // namespace ricochet::certify
