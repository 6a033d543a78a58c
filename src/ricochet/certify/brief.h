#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/contact_ledger.h"
#include "ricochet/certify/crossing.h"
#include "ricochet/certify/energy.h"
#include "ricochet/certify/kinematics.h"

/// The check of `check_middle` for the steps that most motions mostly make, in one piece: few
/// coordinates, nothing new at the contacts, everything right to rounding. It refuses nothing: a
/// step that does not pass is checked in full.
namespace ricochet::certify {

/// Whether steps of the model can be checked briefly: sizes are known, the mass is constant, and
/// nothing slips.
template <model::Model M>
inline constexpr bool kIsSmall = M::kPlain&& M::kDofs != kDynamic&& M::kContacts !=
                                     kDynamic&& M::kPlaces == M::kDofs&& M::kSlips == 0 &&
                                 !model::ImplicitModel<M>;

/// What a step that passes leaves for the ledger.
struct BriefStep {
  double hardest{0.0};  // p^2 W
  double contact_work{0.0};
  double force_work{0.0};
  double kinetic{0.0};
  double potential{0.0};
  double depth{0.0};  // the largest violation at the end, and whose it is
  int deepest{-1};
  int violated{0};
  bool is_far{false};  // from all walls, so that gaps were not computed
};

template <model::Model M>
class Brief {
 public:
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = Vector<N>;
  using State = model::StateOf<M>;
  using TheClaim = Claim<N, K, M::kSlips>;

  Brief(Context<M>& c, const State& before, const State& after, double h, const TheClaim& claim)
      : c_(c), before_(before), after_(after), h_(h), claim_(claim) {}

  /// Whether the step is plainly right. Writes to the places of the context alone.
  template <Integrator I>
  [[gnu::always_inline]] inline bool passes(const EnergyWatch& watch, const ShockWatch& shocks,
                                            CrossingWatch<M>& crossings, BriefStep& s) {
    if (claim_.piece != Piece::Step || claim_.shift_weights != nullptr) return false;
    if (!is_timely(c_, before_.t, after_.t, h_)) return false;
    Vec q_mid, q_end, force;
    const double t = before_.t + 0.5 * h_;
    c_.model.advance(before_.q, before_.u, 0.5 * h_, q_mid);
    c_.model.advance(q_mid, after_.u, 0.5 * h_, q_end);
    for (int i = 0; i < N; ++i) {
      if (after_.q[i] != q_end[i]) return false;
    }
    s.is_far = claim_.active.empty() && is_far<I>(q_mid, crossings);
    if (s.is_far) {
      c_.model.force(t, q_mid, before_.u, c_.place, force);
      s.potential = crossings.potential(after_);
    } else {
      crossings.catch_up(c_, before_);
      if (!take_contacts<I>(t, q_mid, force)) return false;
    }
    Vec momentum;
    for (int i = 0; i < N; ++i) momentum[i] = h_ * force[i];
    if (!claim_.active.empty() && !obey(force, shocks, momentum, s)) return false;
    return is_balanced(momentum, s) && (s.is_far || is_inside(s)) && is_tame(force, watch, s);
  }

  /// Whether the contact at place k approaches its wall where it was looked for.
  bool approaches(int k) const {
    const int a = claim_.active[k];
    return c_.place.normals.dot(a, before_.u) + c_.place.rate[a] < 0.0;
  }

 private:
  /// Whether no contact can be active, or was where contacts last.
  template <Integrator I>
  [[gnu::always_inline]] inline bool is_far(const Vec& q_mid,
                                            const CrossingWatch<M>& crossings) const {
    if (c_.method.contacts_last && !c_.touched.empty()) return false;
    if constexpr (I == Integrator::Middle) return crossings.is_far(before_, after_, h_, q_mid);
    Vec q_cone;
    c_.model.advance(q_mid, before_.u, c_.method.anticipation * h_, q_cone);
    return crossings.is_far(before_, after_, h_, q_cone);
  }

  /// Gaps where contacts are looked for, Q, and whether exactly those that touch are active, as in
  /// the step before where contacts last.
  template <Integrator I>
  [[gnu::always_inline]] inline bool take_contacts(double t, const Vec& q_mid, Vec& force) {
    const auto& active = claim_.active;
    const Vec* point = &q_mid;
    Vec q_cone;
    const double ahead = c_.method.anticipation * h_;
    if constexpr (I == Integrator::MiddleAhead) {
      c_.model.advance(q_mid, before_.u, ahead, q_cone);
      point = &q_cone;
    }
    c_.model.gaps(t, *point, c_.place);
    int next = 0;
    for (int a = 0; a < K; ++a) {
      const bool listed = next < active.size() && active[next] == a;
      if (listed) ++next;
      if (listed != c_.model.touches(a, c_.place) || !(c_.place.gap[a] == c_.place.gap[a])) {
        return false;
      }
    }
    if (next != active.size() || (c_.method.contacts_last && !are_same())) return false;
    const bool is_ahead = I == Integrator::MiddleAhead && next > 0;
    c_.model.force(t, is_ahead ? q_cone : q_mid, before_.u, c_.place, force);
    if (next == 0) return true;
    if (I == Integrator::Middle && c_.method.anticipation != 0.0) {
      c_.model.advance(q_mid, before_.u, ahead, q_cone);
      c_.model.gaps(t, q_cone, c_.place);
    }
    c_.model.gradients(active, c_.place);
    return true;
  }

  bool are_same() const {
    const auto& active = claim_.active;
    if (c_.touched.size() != static_cast<std::size_t>(active.size())) return false;
    for (int k = 0; k < active.size(); ++k) {
      if (c_.touched[static_cast<std::size_t>(k)] != static_cast<model::Key>(active[k]))
        return false;
    }
    return true;
  }

  /// The law of each contact to rounding; none arrives, none pulls, none creates energy.
  [[gnu::always_inline]] inline bool obey(const Vec& force, const ShockWatch& shocks, Vec& momentum,
                                          BriefStep& s) const {
    const double speed = largest(after_.u);
    double gain = 0.0;
    double allowed = 0.0;
    for (int k = 0; k < claim_.active.size(); ++k) {
      if (!obeys(k, speed, force, momentum, gain, allowed, s)) return false;
      if (claim_.impulses[k] > 0.0 && shocks.is_quiet(claim_.active[k], c_.certificate.steps + 1)) {
        return false;
      }
    }
    return gain <= allowed;
  }

  [[gnu::always_inline]] inline bool obeys(int k, double speed, const Vec& force, Vec& momentum,
                                           double& gain, double& allowed, BriefStep& s) const {
    const auto& normals = c_.place.normals;
    const int a = claim_.active[k];
    const double p = claim_.impulses[k];
    const double length = normals.largest(a);
    if (!(length > 0.0 && p >= 0.0)) return false;
    const double rate = c_.place.rate[a];
    const double start = normals.dot(a, before_.u) + rate;
    const double end = normals.dot(a, after_.u) + rate;
    const double half = 0.5 * p;
    const double work = half * (start + end);
    double v = end;
    bool reflects = false;
    if (c_.method.impact == ImpactRule::Elastic && claim_.active.size() == 1) {
      const double push = pushed_by(force, a);
      reflects = start + push < 0.0;
      if (reflects) v += start;
      allowed += half * std::abs(push);
      if (is_noted()) s.hardest = p * (end - start - push);  // p^2 W, as there is no other
    } else {
      const double push =
          work > 0.0 || c_.method.impact == ImpactRule::Free ? pushed_by(force, a) : 0.0;
      const double e = c_.method.restitution ? *c_.method.restitution : c_.model.restitution(a);
      v += e * (c_.method.impact == ImpactRule::Free ? start + push : start);
      allowed += half * std::abs(push);
      if (is_noted()) {
        Vec normal, response;
        const double W = model::delassus(normals, a, c_.model.mass(c_.place), normal, response);
        s.hardest = std::max(s.hardest, p * p * W);
      }
    }
    const double off = reflects || p > 0.0 ? std::abs(v) : -v;  // v = 0, or v >= 0
    if (!(off <= 32.0 * kEpsilon * length * speed)) return false;
    normals.add_to(a, p, momentum);
    s.contact_work += half * (start + end - 2.0 * rate);
    gain += work;
    return true;
  }

  /// Whether it is noted how hard contacts push: now and then, as nothing new happens here.
  bool is_noted() const { return c_.certificate.steps % 8 == 0; }

  /// What forces do to the rate of a gap in the step.
  [[gnu::always_inline]] inline double pushed_by(const Vec& force, int a) const {
    Vec response;
    c_.model.mass(c_.place).solve(force, response);
    return h_ * c_.place.normals.dot(a, response);
  }

  /// M (u+ - u) = h Q + J^T p to rounding; T.
  [[gnu::always_inline]] inline bool is_balanced(const Vec& momentum, BriefStep& s) const {
    Vec start, end;
    c_.model.mass(c_.place).apply(before_.u, start);
    c_.model.mass(c_.place).apply(after_.u, end);
    s.kinetic = 0.5 * after_.u.dot(end);
    const double error = (end - start - momentum).cwiseAbs().sum();
    return error <= 8.0 * kEpsilon * start.cwiseAbs().sum();
  }

  /// No contact became violated, or much more than any before; V.
  [[gnu::always_inline]] inline bool is_inside(BriefStep& s) const {
    s.potential = c_.model.gaps_and_potential(after_.t, after_.q, c_.end_place);
    for (int a = 0; a < K; ++a) {
      const double depth = c_.model.exists(a, c_.end_place) ? -c_.end_place.gap[a] : 0.0;
      if (depth <= 0.0) continue;
      if (std::isnan(depth)) return false;
      ++s.violated;
      if (depth <= s.depth) continue;
      s.depth = depth;
      s.deepest = a;
    }
    return s.violated <= c_.violated && s.depth <= c_.known_depth;
  }

  /// Finite, and T + V does not grow by itself.
  [[gnu::always_inline]] inline bool is_tame(const Vec& force, const EnergyWatch& watch,
                                             BriefStep& s) const {
    s.force_work = 0.5 * h_ * (before_.u.dot(force) + after_.u.dot(force));
    const Ledger& ledger = c_.certificate.ledger;
    if (s.kinetic > watch.look || !std::isfinite(s.kinetic + s.potential)) return false;
    const double change = s.potential - ledger.potential_start;
    const double gain = s.kinetic - ledger.kinetic_start + change;
    return !watch.is_watched || gain <= (c_.limits.growth - 1.0) * watch.scale;
  }

  Context<M>& c_;
  const State& before_;
  const State& after_;
  double h_;
  const TheClaim& claim_;
};

/// A step that passed.
template <model::Model M, class TheClaim>
[[gnu::always_inline]] inline void enter_briefly(Context<M>& c, const TheClaim& claim,
                                                 const BriefStep& s, EnergyWatch& watch,
                                                 ShockWatch& shocks) {
  Certificate& certificate = c.certificate;
  const long long step = ++certificate.steps;
  for (int k = 0; k < claim.active.size(); ++k) {
    if (claim.impulses[k] > 0.0) shocks.last_push(claim.active[k]) = step;
  }
  shocks.note_push(s.hardest);
  enter_balance(certificate.ledger, watch, s.force_work, s.contact_work, 0.0, s.kinetic,
                s.potential);
  c.violated = s.violated;
}

}  // namespace ricochet::certify
