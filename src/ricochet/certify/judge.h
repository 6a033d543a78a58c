#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/certify/claim.h"
#include "ricochet/convex/cone.h"
#include "ricochet/model/model.h"
#include "ricochet/problem/residual.h"

namespace ricochet::certify {

/// Recomputes what a scheme claims, step by step, from the model and the definitions alone, and
/// keeps the books. It never sees the scheme, the solver, or any of their scratch.
template <model::Model M>
class Judge {
 public:
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = Vector<N>;
  using State = model::State<N>;

  Judge(const M& model, const Limits& limits, const State& start)
      : model_(model),
        limits_(limits),
        place_(model.make_place()),
        end_place_(model.make_place()),
        scratch_{start.q, start.q, start.q, start.q, start.q, start.q},
        deepest_(start.q),
        last_push_(static_cast<std::size_t>(model.contacts()), -kLongAgo) {
    certificate_.shock_counts.assign(static_cast<std::size_t>(model.contacts()), 0);
    certificate_.shocks.reserve(Certificate::kMostShocks);
    open(start);
  }

  /// Checks one step and enters it in the books. False at the first failure.
  bool check(const State& before, const State& after, double h, const Claim<N, K>& claim) {
    ++certificate_.steps;
    if (!std::isfinite(after.q.sum() + after.u.sum())) {
      fail(Failure::NotFinite, after.t);
      return false;
    }
    Step step(before, after, h, claim, scratch_);
    const double end_potential = model_.gaps_and_potential(after.t, after.q, end_place_);
    model_.gaps(claim.t_mid, *claim.test_point, place_);
    recompute_free_motion(step);        // Q, M^-1 Q, u'
    check_active_set(step);             // a active <=> g_a(test_point) <= 0
    check_contacts(step);               // J, W, U: residual, work, shocks
    check_balance(step);                // M (u+ - u) = h Q + J^T p
    check_positions(step);              // q+ = q + h/2 (u + u+) + shift
    enter_energy(step, end_potential);  // Delta T = forces + contacts + defect
    enter_violation(step);              // max(0, -g) at the end of the step
    return certificate_.ok();
  }

  /// A failure the judge did not find itself, such as a solver that gave up.
  void fail(Failure failure, double t, int contact = -1, double value = 0.0) {
    Certificate& c = certificate_;
    if (!c.ok()) return;  // the first one counts
    c.failure = failure;
    c.failure_time = t;
    c.failure_contact = contact;
    c.failure_value = value;
  }

  /// The certificate so far; shocks that turned out to be slow for this run are dropped.
  const Certificate& finish() {
    Certificate& c = certificate_;
    c.shock_threshold = shock_threshold();
    if (c.violation_contact >= 0) c.violation_depth = measure_depth();
    const auto slow = [&](const Shock& shock) { return !is_fast(shock.approach, shock.speed); };
    for (const Shock& shock : c.shocks) {
      if (!slow(shock)) continue;
      --c.shock_counts[static_cast<std::size_t>(shock.contact)];
      c.ledger.shocks.add(-shock.work);
    }
    c.shocks.erase(std::remove_if(c.shocks.begin(), c.shocks.end(), slow), c.shocks.end());
    return c;
  }

  const Certificate& certificate() const { return certificate_; }
  const Vector<K>& gaps() const { return end_place_.gap; }  // at the end of the last step
  double kinetic() const { return kinetic_; }
  double potential() const { return potential_; }

 private:
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  static constexpr long long kLongAgo = 1'000'000'000;
  static constexpr long long kQuietSteps = 3;  // without impulse, before a push can be a shock

  struct Scratch {
    Vec force;
    Vec free;
    Vec momentum;
    Vec start_momentum;
    Vec end_momentum;
    Vec work;
  };

  /// One step under judgement. Its vectors are locals where the compiler knows their size, so that
  /// they stay in registers, and the judge's own storage where it does not.
  struct Step {
    using Local = std::conditional_t<N == kDynamic, Vec&, Vec>;
    const State& before;
    const State& after;
    double h;
    const Claim<N, K>& claim;
    Local force;                 // Q
    Local free;                  // u' = u + h M^-1 Q
    Local momentum;              // h Q + J^T p
    Local start_momentum;        // M u
    Local end_momentum;          // M u+
    Local work;                  // scratch
    double largest_speeds{0.0};  // of u and of u+, added
    double contact_work{0.0};
    double gain{0.0};          // energy that the contacts together create
    double gain_allowed{0.0};  // by splitting force and contact: half a step of the force's own

    Step(const State& from, const State& to, double length, const Claim<N, K>& said, Scratch& s)
        : before(from),
          after(to),
          h(length),
          claim(said),
          force(s.force),
          free(s.free),
          momentum(s.momentum),
          start_momentum(s.start_momentum),
          end_momentum(s.end_momentum),
          work(s.work) {}
  };

  void open(const State& start) {
    Ledger& ledger = certificate_.ledger;
    kinetic_ = model_.mass().half_square(start.u);
    potential_ = model_.gaps_and_potential(start.t, start.q, end_place_);
    ledger.kinetic_start = ledger.kinetic_end = ledger.kinetic_max = kinetic_;
    ledger.potential_start = ledger.potential_end = potential_;
    ledger.lowest = ledger.highest = kinetic_ + potential_;
    is_watched_ = limits_.energy_is_watched && model_.has_potential() && model_.is_autonomous();
  }

  [[gnu::always_inline]] inline void recompute_free_motion(Step& s) {
    model_.force(s.claim.t_mid, *s.claim.force_point, s.before.u, place_, s.force);
    model_.mass().solve(s.force, s.free);
    s.free = s.before.u + s.h * s.free;
    s.momentum = s.h * s.force;  // completed contact by contact
  }

  [[gnu::always_inline]] inline void check_active_set(const Step& s) {
    const Claim<N, K>& claim = s.claim;
    int next = 0;
    for (int a = 0; a < model_.contacts(); ++a) {
      const double gap = place_.gap[a];
      const bool listed = next < claim.active.size() && claim.active[next] == a;
      if (listed) ++next;
      if (std::isnan(gap)) return fail(Failure::NotFinite, claim.t_mid, a);
      if (listed != (gap <= 0.0)) fail(Failure::ActiveSet, claim.t_mid, a, gap);
    }
    if (next != claim.active.size()) fail(Failure::ActiveSet, claim.t_mid);
  }

  [[gnu::always_inline]] inline void check_contacts(Step& s) {
    const Claim<N, K>& claim = s.claim;
    if (claim.active.empty()) return;
    Certificate& c = certificate_;
    c.impulses_unique = c.impulses_unique && claim.unique;
    s.largest_speeds = largest(s.before.u) + largest(s.after.u);
    problem::Residual residual;
    if (claim.cone_point != claim.test_point) {
      model_.gaps(claim.t_mid, *claim.cone_point, place_);
    }
    model_.gradients(claim.active, place_);
    for (int k = 0; k < claim.active.size(); ++k) check_contact(s, k, residual);
    const double value = residual.value();
    c.residual_sum += value;
    if (value > c.residual_max) {
      c.residual_max = value;
      c.residual_time = claim.t_mid;
    }
    if (!(value <= limits_.residual)) fail(Failure::Residual, claim.t_mid, -1, value);
    if (s.gain > s.gain_allowed) check_gain(s);
  }

  [[gnu::always_inline]] inline void check_contact(Step& s, int k, problem::Residual& residual) {
    const Claim<N, K>& claim = s.claim;
    const int a = claim.active[k];
    const auto J = place_.normals.col(a);
    const double p = claim.impulses[k];
    s.start_momentum = J;
    model_.mass().solve(s.start_momentum, s.work);
    const double W = J.dot(s.work);
    const double rate = place_.rate[a];
    const double start = J.dot(s.before.u) + rate;  // U before
    const double free = J.dot(s.free) + rate;       // U without contacts
    const double end = J.dot(s.after.u) + rate;     // U after
    if (!(W > 0.0)) return check_flat_contact(claim.t_mid, a, p, end);
    const double rho = 1.0 / W;
    const double extra = claim.restitution * (claim.reference == Reference::Start ? start : free);
    // What the evaluation of J u loses, 32 eps |J| (|u| + |u+|): the norms only where it matters.
    const double lost = 32.0 * kEpsilon * largest(J) * s.largest_speeds;
    const auto lost_exactly = [&] {
      return 32.0 * kEpsilon * J.norm() * (s.before.u.norm() + s.after.u.norm());
    };
    if (claim.branch(k) == Branch::Fixed) {
      residual.add(convex::Line{}, p, rho, end + extra, free + extra, lost, lost_exactly);
    } else {
      residual.add(convex::HalfLine{}, p, rho, end + extra, free + extra, lost, lost_exactly);
    }
    s.momentum += p * J;
    const double work = 0.5 * p * (start + end - 2.0 * rate);  // (u + u+)/2 . J^T p
    s.contact_work += work;
    s.gain += 0.5 * p * (start + end);
    s.gain_allowed += 0.5 * std::abs(p * (free - start)) * (1.0 + 1e-12);
    if (p != 0.0) enter_push(claim.t_mid, a, p, -start, W, work);
  }

  /// More than splitting explains: a failure, unless it is rounding.
  void check_gain(const Step& s) {
    double lost = problem::Residual::kSmallest;
    const double speeds = s.before.u.norm() + s.after.u.norm();
    for (int k = 0; k < s.claim.active.size(); ++k) {
      const double length = place_.normals.col(s.claim.active[k]).norm();
      lost += 32.0 * kEpsilon * std::abs(s.claim.impulses[k]) * length * speeds;
    }
    if (s.gain > s.gain_allowed + lost) fail(Failure::EnergyGain, s.claim.t_mid, -1, s.gain);
  }

  template <class Expression>
  static double largest(const Expression& v) {
    return v.cwiseAbs().maxCoeff();
  }

  /// A gap whose gradient vanishes cannot push; that is no harm while it need not.
  void check_flat_contact(double t, int a, double p, double velocity) {
    if (p != 0.0 || !(velocity >= 0.0)) fail(Failure::Degenerate, t, a);
  }

  void enter_push(double t, int a, double p, double approach, double W, double work) {
    Certificate& c = certificate_;
    if (p < 0.0) {
      ++c.adhesive_count;
      c.adhesive_max = std::max(c.adhesive_max, -p);
      return;
    }
    long long& last = last_push_[static_cast<std::size_t>(a)];
    const bool after_quiet = c.steps - last > kQuietSteps;
    last = c.steps;
    if (!after_quiet) return;
    const double speed = approach / std::sqrt(W);  // in the kinetic norm
    if (!is_fast(approach, speed)) return;
    ++c.shock_counts[static_cast<std::size_t>(a)];
    c.ledger.shocks.add(work);
    if (c.shocks.size() < Certificate::kMostShocks) {
      c.shocks.push_back({t, a, approach, speed, p, work});
    } else {
      c.shocks_cut = true;
    }
  }

  double shock_threshold() const {
    if (limits_.shock_speed >= 0.0) return limits_.shock_speed;
    return limits_.shock_fraction * std::sqrt(2.0 * certificate_.ledger.kinetic_max);
  }
  bool is_fast(double approach, double speed) const {
    if (approach <= 0.0) return false;
    return (limits_.shock_speed >= 0.0 ? approach : speed) >= shock_threshold();
  }

  [[gnu::always_inline]] inline void check_balance(Step& s) {
    model_.mass().apply(s.before.u, s.start_momentum);
    model_.mass().apply(s.after.u, s.end_momentum);
    const double error = (s.end_momentum - s.start_momentum - s.momentum).cwiseAbs().sum();
    const double rounding =
        8.0 * kEpsilon * s.start_momentum.cwiseAbs().sum() + problem::Residual::kSmallest;
    if (error <= rounding) return;
    const double scale = (s.end_momentum - s.start_momentum).cwiseAbs().sum() +
                         s.h * s.force.cwiseAbs().sum() + s.momentum.cwiseAbs().sum();
    enter_error((error - rounding) / scale, Failure::Balance, s.before.t);
  }

  [[gnu::always_inline]] inline void check_positions(Step& s) {
    model_.advance(s.before.q, s.before.u, 0.5 * s.h, s.work);
    if (s.claim.shift != nullptr) s.work += *s.claim.shift;
    model_.advance(s.work, s.after.u, 0.5 * s.h, s.work);
    const double error = (s.work - s.after.q).cwiseAbs().sum();
    if (error <= 0.0) return;
    const double scale = s.before.q.cwiseAbs().sum() + s.after.q.cwiseAbs().sum();
    enter_error(error / scale, Failure::Kinematics, s.before.t);
  }

  void enter_error(double relative, Failure kind, double t) {
    if (!(relative <= limits_.balance)) fail(kind, t, -1, relative);
    certificate_.balance_max = std::max(certificate_.balance_max, relative);
  }

  [[gnu::always_inline]] inline void enter_energy(Step& s, double end_potential) {
    Ledger& ledger = certificate_.ledger;
    const double kinetic = 0.5 * s.after.u.dot(s.end_momentum);
    const double force_work = 0.5 * s.h * (s.before.u.dot(s.force) + s.after.u.dot(s.force));
    const double defect = (kinetic - kinetic_) - force_work - s.contact_work;
    if (s.claim.shift != nullptr) enter_correction(s);
    ledger.forces.add(force_work);
    ledger.contacts.add(s.contact_work);
    ledger.defect.add(defect);
    ledger.defect_max = std::max(ledger.defect_max, std::abs(defect));
    ledger.kinetic_max = std::max(ledger.kinetic_max, kinetic);
    ledger.kinetic_end = kinetic_ = kinetic;
    potential_ = end_potential;
    ledger.potential_end = potential_;
    const double total = kinetic + potential_;
    ledger.lowest = std::min(ledger.lowest, total);
    ledger.highest = std::max(ledger.highest, total);
    if (!std::isfinite(total)) return fail(Failure::NotFinite, s.after.t);
    if (is_watched_) watch_growth(s);
  }

  /// V changes when a violated position is put back on its wall; that is not the motion's doing.
  void enter_correction(Step& s) {
    model_.advance(s.before.q, s.before.u, 0.5 * s.h, s.work);
    const double unmoved = model_.gaps_and_potential(s.claim.t_mid, s.work, place_);
    s.work += *s.claim.shift;
    const double moved = model_.gaps_and_potential(s.claim.t_mid, s.work, place_);
    certificate_.ledger.correction.add(moved - unmoved);
  }

  /// Nothing drives the motion, yet T + V is above `growth` times its start. The start is measured
  /// by its largest part, and by the energy one step of force gives, since V has an arbitrary zero;
  /// and the gain must be most of what moved, since V may have been zero at the start by chance.
  [[gnu::always_inline]] inline void watch_growth(Step& s) {
    const Ledger& ledger = certificate_.ledger;
    if (certificate_.steps == 1) {
      energy_scale_ = std::max({ledger.kinetic_start, std::abs(ledger.potential_start),
                                std::abs(ledger.kinetic_start + ledger.potential_start),
                                0.5 * s.h * s.force.dot(s.free - s.before.u)});
    }
    const double change = potential_ - ledger.potential_start;
    const double gain = kinetic_ - ledger.kinetic_start + change - ledger.correction.value();
    if (gain > (limits_.growth - 1.0) * energy_scale_ &&
        gain >= 0.5 * (kinetic_ + std::abs(change))) {
      fail(Failure::Diverged, s.after.t, -1, gain);
    }
  }

  [[gnu::always_inline]] inline void enter_violation(const Step& s) {
    Certificate& c = certificate_;
    double deepest = 0.0;
    for (int a = 0; a < model_.contacts(); ++a) {
      const double depth = -end_place_.gap[a];
      if (std::isnan(depth)) return fail(Failure::NotFinite, s.after.t, a);
      if (depth > deepest) deepest = depth;
      if (depth > c.violation_max) {
        c.violation_max = depth;
        c.violation_contact = a;
        c.violation_time = s.after.t;
        deepest_ = s.after.q;
      }
      if (depth > limits_.violation) fail(Failure::Violation, s.after.t, a, depth);
    }
    c.violation_sum += deepest;
    c.violation_squares += deepest * deepest;
  }

  /// The largest violation over the length of the gap's gradient there.
  double measure_depth() {
    const int a = certificate_.violation_contact;
    model::IndexList<K> one(model_.contacts());
    one.push(a);
    model_.gaps(certificate_.violation_time, deepest_, place_);
    model_.gradients(one, place_);
    return certificate_.violation_max / place_.normals.col(a).norm();
  }

  const M& model_;
  Limits limits_;
  Certificate certificate_;
  typename M::Place place_;      // at the point of the test, then of the cone
  typename M::Place end_place_;  // at the end of the step
  Scratch scratch_;
  Vec deepest_;                       // configuration of the largest violation
  std::vector<long long> last_push_;  // step of the last impulse, by contact
  double kinetic_{0.0};
  double potential_{0.0};
  double energy_scale_{0.0};
  bool is_watched_{false};
};

}  // namespace ricochet::certify
