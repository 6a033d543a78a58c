#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
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
        force_(start.q),
        acceleration_(start.q),
        free_(start.q),
        sum_(start.q),
        momentum_(start.q),
        point_(start.q),
        response_(start.q),
        deepest_(start.q),
        last_push_(static_cast<std::size_t>(model.contacts()), -kLongAgo) {
    certificate_.shock_counts.assign(static_cast<std::size_t>(model.contacts()), 0);
    certificate_.shocks.reserve(Certificate::kMostShocks);
    open(start);
  }

  /// Checks one step and enters it in the books. False at the first failure.
  bool check(const State& before, const State& after, double h, const Claim<N, K>& claim) {
    Certificate& c = certificate_;
    ++c.steps;
    if (!is_finite(after)) {
      fail(Failure::NotFinite, after.t);
      return false;
    }
    model_.gaps(claim.t_mid, *claim.test_point, place_);
    model_.gaps(after.t, after.q, end_place_);
    recompute_free_motion(before, h, claim);   // Q, M^-1 Q, u'
    check_active_set(claim);                   // a active <=> g_a(test_point) <= 0
    recompute_contacts(before, after, claim);  // J, W, U: residual, work, shocks
    check_balance(before, after, h);           // M (u+ - u) = h Q + J^T p
    check_positions(before, after, h, claim);  // q+ = q + h/2 (u + u+) + shift
    enter_energy(before, after, h, claim);     // Delta T = forces + contacts + defect
    enter_violation(after);                    // max(0, -g) at the end of the step
    return c.ok();
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

  void open(const State& start) {
    Ledger& ledger = certificate_.ledger;
    model_.gaps(start.t, start.q, end_place_);
    kinetic_ = model_.mass().half_square(start.u);
    potential_ = model_.potential(start.t, start.q, end_place_);
    ledger.kinetic_start = ledger.kinetic_end = ledger.kinetic_max = kinetic_;
    ledger.potential_start = ledger.potential_end = potential_;
    ledger.lowest = ledger.highest = kinetic_ + potential_;
    is_watched_ = limits_.energy_is_watched && model_.has_potential() && model_.is_autonomous();
  }

  void recompute_free_motion(const State& before, double h, const Claim<N, K>& claim) {
    model_.force(claim.t_mid, *claim.force_point, before.u, place_, force_);
    model_.mass().solve(force_, acceleration_);
    free_ = before.u + h * acceleration_;
    momentum_ = h * force_;  // h Q + J^T p, completed contact by contact
  }

  void check_active_set(const Claim<N, K>& claim) {
    int next = 0;
    for (int a = 0; a < model_.contacts(); ++a) {
      const bool listed = next < claim.active.size() && claim.active[next] == a;
      if (listed) ++next;
      if (std::isnan(place_.gap[a])) return fail(Failure::NotFinite, claim.t_mid, a);
      if (listed != (place_.gap[a] <= 0.0)) fail(Failure::ActiveSet, claim.t_mid, a, place_.gap[a]);
    }
    if (next != claim.active.size()) fail(Failure::ActiveSet, claim.t_mid);
  }

  void recompute_contacts(const State& before, const State& after, const Claim<N, K>& claim) {
    contact_work_ = 0.0;
    if (claim.active.empty()) return;
    if (claim.cone_point != claim.test_point) {
      model_.gaps(claim.t_mid, *claim.cone_point, place_);
    }
    model_.gradients(claim.active, place_);
    certificate_.impulses_unique = certificate_.impulses_unique && claim.unique;
    problem::Residual residual;
    for (int k = 0; k < claim.active.size(); ++k) {
      judge_contact(before, after, claim, k, residual);
    }
    const double value = residual.value();
    certificate_.residual_sum += value;
    if (value > certificate_.residual_max) {
      certificate_.residual_max = value;
      certificate_.residual_time = claim.t_mid;
    }
    if (!(value <= limits_.residual)) fail(Failure::Residual, claim.t_mid, -1, value);
  }

  void judge_contact(const State& before, const State& after, const Claim<N, K>& claim, int k,
                     problem::Residual& residual) {
    const int a = claim.active[k];
    const auto J = place_.normals.col(a);
    const double p = claim.impulses[k];
    point_ = J;
    model_.mass().solve(point_, response_);
    const double W = J.dot(response_);
    const double rate = place_.rate[a];
    const double start = J.dot(before.u) + rate;  // U before
    const double free = J.dot(free_) + rate;      // U without contacts
    const double end = J.dot(after.u) + rate;     // U after
    if (!(W > 0.0)) return judge_flat_contact(claim.t_mid, a, p, end);
    const double rho = 1.0 / W;
    const double extra = claim.restitution * (claim.reference == Reference::Start ? start : free);
    // What the evaluation of J u loses, 32 eps |J| (|u| + |u+|): the norms only where it matters.
    const double lost = 32.0 * kEpsilon * largest(J) * (largest(before.u) + largest(after.u));
    const auto lost_exactly = [&] {
      return 32.0 * kEpsilon * J.norm() * (before.u.norm() + after.u.norm());
    };
    if (claim.branch(k) == Branch::Fixed) {
      residual.add(convex::Line{}, p, rho, end + extra, free + extra, lost, lost_exactly);
    } else {
      residual.add(convex::HalfLine{}, p, rho, end + extra, free + extra, lost, lost_exactly);
    }
    momentum_ += p * J;
    const double work = 0.5 * p * (start + end - 2.0 * rate);  // (u + u+)/2 . J^T p
    contact_work_ += work;
    // A step splits force and contact, so a contact may take back half a step of the force's own.
    const double gain = 0.5 * p * (start + end);
    const double allowed = 0.5 * std::abs(p * (free - start)) * (1.0 + 1e-12);
    if (gain > allowed + std::abs(p) * lost && gain > allowed + std::abs(p) * lost_exactly()) {
      fail(Failure::EnergyGain, claim.t_mid, a, gain);
    }
    if (p != 0.0) enter_push(claim.t_mid, a, p, -start, W, work);
  }

  /// Infinities and NaN anywhere in the state end up in this sum.
  static bool is_finite(const State& state) { return std::isfinite(state.q.sum() + state.u.sum()); }

  template <class Expression>
  static double largest(const Expression& v) {
    return v.cwiseAbs().maxCoeff();
  }

  /// A gap whose gradient vanishes cannot push; that is no harm while it need not.
  void judge_flat_contact(double t, int a, double p, double velocity) {
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

  void check_balance(const State& before, const State& after, double h) {
    sum_ = after.u - before.u;
    model_.mass().apply(sum_, response_);  // M (u+ - u)
    const double error = (response_ - momentum_).cwiseAbs().sum();
    model_.mass().apply(before.u, point_);
    const double rounding = 8.0 * kEpsilon * point_.cwiseAbs().sum();
    if (error <= rounding) return;
    const double scale =
        response_.cwiseAbs().sum() + h * force_.cwiseAbs().sum() + momentum_.cwiseAbs().sum();
    enter_error((error - rounding) / scale, Failure::Balance, before.t);
  }

  void check_positions(const State& before, const State& after, double h,
                       const Claim<N, K>& claim) {
    model_.advance(before.q, before.u, 0.5 * h, point_);
    if (claim.shift != nullptr) point_ += *claim.shift;
    model_.advance(point_, after.u, 0.5 * h, response_);
    const double error = (response_ - after.q).cwiseAbs().sum();
    if (error <= 0.0) return;
    const double scale = before.q.cwiseAbs().sum() + after.q.cwiseAbs().sum();
    enter_error(error / scale, Failure::Kinematics, before.t);
  }

  void enter_error(double relative, Failure kind, double t) {
    if (!(relative <= limits_.balance)) fail(kind, t, -1, relative);
    certificate_.balance_max = std::max(certificate_.balance_max, relative);
  }

  void enter_energy(const State& before, const State& after, double h, const Claim<N, K>& claim) {
    Ledger& ledger = certificate_.ledger;
    const double kinetic = model_.mass().half_square(after.u);
    sum_ = before.u + after.u;
    const double force_work = 0.5 * h * sum_.dot(force_);
    const double defect = (kinetic - kinetic_) - force_work - contact_work_;
    if (claim.shift != nullptr) enter_correction(before, h, claim);
    ledger.forces.add(force_work);
    ledger.contacts.add(contact_work_);
    ledger.defect.add(defect);
    ledger.defect_max = std::max(ledger.defect_max, std::abs(defect));
    ledger.kinetic_max = std::max(ledger.kinetic_max, kinetic);
    ledger.kinetic_end = kinetic_ = kinetic;
    potential_ = model_.potential(after.t, after.q, end_place_);
    ledger.potential_end = potential_;
    const double total = kinetic + potential_;
    ledger.lowest = std::min(ledger.lowest, total);
    ledger.highest = std::max(ledger.highest, total);
    if (!std::isfinite(total)) return fail(Failure::NotFinite, after.t);
    if (is_watched_) watch_growth(after.t, h);
  }

  /// V changes when a violated position is put back on its wall; that is not the motion's doing.
  void enter_correction(const State& before, double h, const Claim<N, K>& claim) {
    model_.advance(before.q, before.u, 0.5 * h, point_);
    const double unmoved = model_.potential(claim.t_mid, point_, place_);
    point_ += *claim.shift;
    certificate_.ledger.correction.add(model_.potential(claim.t_mid, point_, place_) - unmoved);
  }

  /// Nothing drives the motion, yet T + V is above `growth` times its start. The start is measured
  /// by its largest part, and by the energy one step of force gives, since V has an arbitrary zero;
  /// and the gain must be most of what moved, since V may have been zero at the start by chance.
  void watch_growth(double t, double h) {
    const Ledger& ledger = certificate_.ledger;
    if (certificate_.steps == 1) {
      energy_scale_ = std::max({ledger.kinetic_start, std::abs(ledger.potential_start),
                                std::abs(ledger.kinetic_start + ledger.potential_start),
                                0.5 * h * h * force_.dot(acceleration_)});
    }
    const double change = potential_ - ledger.potential_start;
    const double gain = kinetic_ - ledger.kinetic_start + change - ledger.correction.value();
    if (gain > (limits_.growth - 1.0) * energy_scale_ &&
        gain >= 0.5 * (kinetic_ + std::abs(change))) {
      fail(Failure::Diverged, t, -1, gain);
    }
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

  void enter_violation(const State& after) {
    Certificate& c = certificate_;
    double deepest = 0.0;
    for (int a = 0; a < model_.contacts(); ++a) {
      const double depth = -end_place_.gap[a];
      if (depth > deepest) deepest = depth;
      if (depth > c.violation_max) {
        c.violation_max = depth;
        c.violation_contact = a;
        c.violation_time = after.t;
        deepest_ = after.q;
      }
      if (std::isnan(depth)) return fail(Failure::NotFinite, after.t, a);
      if (depth > limits_.violation) fail(Failure::Violation, after.t, a, depth);
    }
    c.violation_sum += deepest;
    c.violation_squares += deepest * deepest;
  }

  const M& model_;
  Limits limits_;
  Certificate certificate_;
  typename M::Place place_;
  typename M::Place end_place_;
  Vec force_;
  Vec acceleration_;
  Vec free_;
  Vec sum_;
  Vec momentum_;  // h Q + J^T p
  Vec point_;
  Vec response_;
  Vec deepest_;                       // configuration of the largest violation
  std::vector<long long> last_push_;  // step of the last impulse, by contact
  double kinetic_{0.0};
  double potential_{0.0};
  double contact_work_{0.0};
  double energy_scale_{0.0};
  bool is_watched_{false};
};

}  // namespace ricochet::certify
