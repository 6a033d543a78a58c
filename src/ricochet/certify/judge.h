#pragma once

#include <cmath>
#include <span>
#include <type_traits>

#include "ricochet/certify/balance.h"
#include "ricochet/certify/contact_ledger.h"
#include "ricochet/certify/energy.h"
#include "ricochet/certify/kinematics.h"
#include "ricochet/certify/law.h"
#include "ricochet/certify/node_law.h"

namespace ricochet::certify {

/// Recomputes what a scheme claims, step by step, from the model and the definitions alone. It
/// never sees the scheme, the solver, or any of their scratch.
template <model::Model M>
class Judge {
 public:
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = Vector<N>;
  using State = model::State<N>;
  using TheClaim = Claim<N, K, M::kSlips>;

  Judge(const M& model, const Limits& limits, const State& start)
      : c_(model, limits, start.q), shocks_(limits, model.contacts()), deepest_(start.q) {
    c_.certificate.shock_counts.assign(static_cast<std::size_t>(c_.contacts()), 0);
    c_.certificate.shocks.reserve(Certificate::kMostShocks);
    c_.may_gain = law_may_gain();
    bounces_ = law_bounces();
    open_energy(c_, start, energy_);
    for (const int a : c_.joints) {
      const double error = std::abs(c_.end_place.gap[a]);
      c_.certificate.joint_max = std::max(c_.certificate.joint_max, error);
    }
  }

  /// Checks one step and enters it in the certificate, if it holds. False at the first failure,
  /// which leaves no other trace. The rule tells how the step is made up: Staggered, or a NodeRule.
  template <class Rule = Staggered>
  bool check(const State& before, const State& after, double h, const TheClaim& claim,
             const Rule& rule = {}) {
    if (!std::isfinite(after.q.sum() + after.u.sum())) {
      c_.fail(Failure::NotFinite, after.t);
      return forget(before);
    }
    Trial<M> s(before, after, h, claim, c_.scratch);
    s.potential = c_.model.gaps_and_potential(after.t, after.q, c_.end_place);
    if constexpr (std::is_same_v<Rule, Staggered>) {
      if (claim.shift != nullptr) check_shift(c_, s);  // J shift + g = 0 at the unshifted q_M
      c_.model.gaps(s.t_mid, *s.test_point, c_.place);
      recompute_free_motion(c_, s);        // Q, M^-1 Q, u'
      check_active_set(c_, s);             // a active <=> g_a(test_point) <= 0
      check_contacts(c_, s);               // J, W, U: residual, work, gain of energy
      check_balance(c_, s);                // M (u+ - u) = h Q + J^T p
      check_positions(c_, s);              // q+ = q + h/2 (u + u+) + shift
      check_energy<true>(c_, s, energy_);  // T + V does not grow by itself
    } else {
      check_nodes(s, rule);
    }
    check_violation(c_, s);  // max(0, -g) at the end of the step
    if (!c_.certificate.ok()) return forget(before);
    enter(s);
    return true;
  }

  /// The same for something that takes no step of its own: a start value, an impact.
  template <class Rule>
  bool check_start(const State& before, const State& after, double h, const TheClaim& claim,
                   const Rule& rule) {
    c_.is_impact = true;
    const bool holds = check(before, after, h, claim, rule);
    c_.is_impact = false;
    return holds;
  }

  /// Impacts accumulate at t.
  void note_accumulation(double t) {
    c_.certificate.zeno_time = t;
    ++c_.certificate.zeno_count;
  }

  /// A failure the judge did not find itself, such as a solver that gave up.
  void fail(Failure failure, double t, int contact = -1, double value = 0.0) {
    c_.fail(failure, t, contact, value);
  }

  /// The certificate so far; shocks that turned out to be slow for this run are dropped.
  const Certificate& finish() {
    Certificate& c = c_.certificate;
    c.shock_threshold = shocks_.threshold(c.ledger.kinetic_max);
    if (c.violation_contact >= 0) c.violation_depth = measure_depth();
    if (!shocks_.is_set()) c.drop_slow_shocks(c.shock_threshold);
    return c;
  }

  const Certificate& certificate() const { return c_.certificate; }
  const Vector<K>& gaps() const { return c_.end_place.gap; }  // at the end of the last step
  double kinetic() const { return energy_.kinetic; }
  double potential() const { return energy_.potential; }
  /// U_T by contact and direction at the end of the last step, and what each contact did since this
  /// was last asked; with friction.
  void tell_friction(const State& now, std::span<double> slips, std::span<double> states) {
    if constexpr (M::kSlips > 0) c_.friction.tell(c_.model, now, c_.end_place, slips, states);
  }

 private:
  /// The same questions of a step that is made up of nodes.
  [[gnu::noinline]] void check_nodes(Trial<M>& s, const NodeRule<N, K>& rule) {
    if (!gather_forces(c_, s, rule)) return;
    check_node_law(c_, s, rule);
    check_node_balance(c_, s, rule.velocity_noise, rule.tolerance);
    check_node_positions(c_, s, rule);
    check_energy<false>(c_, s, energy_);
  }

  /// After a failed step the gaps are those of the last instant that holds.
  [[gnu::cold, gnu::noinline]] bool forget(const State& before) {
    (void)c_.model.gaps_and_potential(before.t, before.q, c_.end_place);
    return false;
  }

  [[gnu::always_inline]] inline void enter(const Trial<M>& s) {
    Certificate& c = c_.certificate;
    const long long step = c.steps + 1;
    enter_contacts(c_, s, bounces_, step, shocks_);
    for (const int a : c_.held) shocks_.last_push(a) = step;
    enter_energy(c_, s, energy_);
    c.balance_max = std::max(c.balance_max, s.balance);
    if (s.residual > c.residual_max) {
      c.residual_max = s.residual;
      c.residual_time = s.t_mid;
    }
    if constexpr (!M::kPlain) c.joint_max = std::max(c.joint_max, s.joint_error);
    if (s.deepest >= 0) enter_violation(s);
    if (!c_.is_impact) c.steps = step;
  }

  void enter_violation(const Trial<M>& s) {
    Certificate& c = c_.certificate;
    c.violation_sum += s.depth;
    c.violation_squares += s.depth * s.depth;
    if (s.depth <= c.violation_max) return;
    c.violation_max = s.depth;
    c.violation_contact = s.deepest;
    c.violation_time = s.after.t;
    deepest_ = s.after.q;
  }

  /// The largest violation over the length of the gap's gradient there.
  double measure_depth() {
    const Certificate& c = c_.certificate;
    model::IndexList<K> one(c_.model.contacts());
    one.push(c.violation_contact);
    c_.model.gaps(c.violation_time, deepest_, c_.place);
    c_.model.gradients(one, c_.place);
    const double slope = c_.place.normals.norm(c.violation_contact);
    return slope > 0.0 ? c.violation_max / slope : 0.0;
  }

  /// Newton's law contact by contact can create energy: with friction and e > 0 [Kane 1985], or
  /// where contacts differ in e. Then it is entered in the ledger; else it is a failure.
  bool law_may_gain() const {
    for (int a = 0; a < c_.contacts(); ++a) {
      if constexpr (model::ImpactModel<M>) {
        if (c_.contacts() > 1 && c_.model.has_laws()) return true;
      }
      const double e = c_.model.restitution(a);
      if (e != c_.model.restitution(0)) return true;
      if constexpr (M::kSlips > 0) {
        if (e > 0.0 && c_.model.slips(a) > 0) return true;
      }
    }
    return false;
  }

  bool law_bounces() const {
    if (c_.limits.restitution >= 0.0) return c_.limits.restitution > 0.0;
    if constexpr (model::ImpactModel<M>) {
      if (c_.model.has_laws()) return true;
    }
    for (int a = 0; a < c_.contacts(); ++a) {
      if (c_.model.restitution(a) > 0.0) return true;
    }
    return false;
  }

  Context<M> c_;
  ShockWatch shocks_;
  EnergyWatch energy_;
  Vec deepest_;          // configuration of the largest violation
  bool bounces_{false};  // some law has e > 0
};

}  // namespace ricochet::certify
