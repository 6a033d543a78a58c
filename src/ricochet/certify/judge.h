#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>

#include "ricochet/certify/arc.h"
#include "ricochet/certify/brief.h"
#include "ricochet/certify/contact_ledger.h"
#include "ricochet/certify/crossing.h"
#include "ricochet/certify/derivatives.h"
#include "ricochet/certify/implicit.h"
#include "ricochet/certify/lane_judge.h"
#include "ricochet/certify/middle.h"
#include "ricochet/certify/nodes.h"
#include "ricochet/certify/rounding.h"
#include "ricochet/certify/split.h"

namespace ricochet::certify {

/// Recomputes what a scheme claims, step by step, from the model and the definitions alone: it
/// takes from the scheme states, active contacts and impulses, and the name of an integrator. It
/// never sees the scheme, the solver, or any of their scratch.
template <model::Model M>
class Judge {
 public:
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = Vector<N>;
  using State = model::StateOf<M>;
  using TheClaim = Claim<N, K, M::kSlips>;

  Judge(const M& model, const Method& method, const Limits& limits, const State& start)
      : c_(model, method, limits, start),
        shocks_(limits, model.contacts()),
        crossings_(model, method),
        rounding_(start.u),
        derivatives_(c_),
        deepest_(start.q) {
    c_.certificate.shock_counts.assign(static_cast<std::size_t>(c_.contacts()), 0);
    c_.certificate.shocks.reserve(Certificate::kMostShocks);
    c_.may_gain = law_may_gain(c_);
    bounces_ = law_bounces(c_);
    open_energy(c_, start, energy_);
    may_be_brief_ = !method.corrects && !method.looks_ahead && !energy_.is_driven &&
                    !model.force_uses_velocity();
    if (takes_means(method.integrator)) {
      energy_.created.assign(static_cast<std::size_t>(c_.contacts()), {});
      energy_.works.assign(static_cast<std::size_t>(c_.model.contacts()), 0.0);
    }
    keep_gaps();
    if (start.memory.steps == 0) hold_start(c_, start, shocks_);
    recall(start.memory.judge, start.memory.steps > 0);
    if (c_.method.contacts_last && start.memory.steps == 0) c_.touch_start(start);
    for (const int a : c_.joints) {
      const double error = std::abs(c_.end_place.gap[a]);
      c_.certificate.joint_max = std::max(c_.certificate.joint_max, error);
    }
    if constexpr (kLocates<M>) arcs_ = open_arcs(c_, start);
  }

  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// Checks one step of the integrator and enters it in the certificate, if it holds. False at the
  /// first failure, which leaves no other trace.
  template <Integrator I>
  bool check(const State& before, const State& after, double h, const TheClaim& claim);

  template <Integrator I>
  [[gnu::always_inline]] inline bool check_step(const State& before, const State& after, double h,
                                                const TheClaim& claim) {
    if (!c_.certificate.ok()) return false;
    if constexpr (kIsSmall<M> && is_middle(I)) {
      const long long step = c_.certificate.steps;
      if (step < brief_until_ && step >= brief_from_) [[likely]] {
        if (check_briefly<I>(before, after, h, claim)) return true;
        if (step > brief_from_) refused_ = 0;           // it passed in between
        brief_from_ = step + (++refused_ > 8 ? 8 : 1);  // what rests never passes
      }
    }
    return check_fully<I>(before, after, h, claim);
  }

  /// The same in full.
  template <Integrator I>
  bool check_fully(const State& before, const State& after, double h, const TheClaim& claim) {
    crossings_.catch_up(c_, before);
    if (c_.certificate.steps >= next_look_) [[unlikely]]
      if (!look(before, h)) return false;
    if (!is_finite(after)) {
      c_.fail(Failure::NotFinite, after.t);
      return forget(before);
    }
    Trial<M> s(before, after, h, claim, c_.scratch, c_.method.restitution);
    s.potential = c_.model.gaps_and_potential(after.t, after.q, c_.end_place);
    if constexpr (model::ImplicitModel<M>) {
      check_implicit<I>(c_, s, energy_);
    } else if constexpr (is_middle(I)) {
      check_middle<I>(c_, s, energy_);
    } else if constexpr (is_located(I)) {
      check_located<I>(s);
    } else {
      check_nodes<I>(c_, s, energy_);
    }
    check_violation(c_, s);  // max(0, -g) at the end of the step
    if constexpr (!is_located(I)) {
      if (crossings_.exists()) check_crossing<I>(c_, s, crossings_);  // g > 0 on the way
    }
    if (!c_.certificate.ok()) return forget(before);
    if constexpr (takes_means(I)) enter_creation(c_, s, energy_);
    if (crossings_.exists()) keep_gaps(&s);
    enter(s);
    if constexpr (is_located(I)) enter_arc(c_, s, *arcs_);
    if (may_be_brief_) brief_until_ = std::min(next_look_, rounding_.due());
    return true;
  }

  /// Whether a wall may be stepped over between two states with the gaps given, and those of where
  /// contacts were looked for.
  bool steps_over(const State& before, const State& after, double h, const TheClaim& claim,
                  const Vector<K>& gaps_before, const Vector<K>& ahead,
                  const Vector<K>& gaps_after) {
    if constexpr (requires { crossings_.last_gaps(); }) {
      if (!crossings_.exists()) return false;
      const Vector<K> last = crossings_.last_gaps();
      crossings_.open(gaps_before);
      const auto found = crossings_.look(before, after, h, bends(c_.method.integrator), claim,
                                         ahead, gaps_after, [](int) { return false; });
      crossings_.open(last);
      return found.verdict != model::GapWatch::Verdict::Clear;
    }
    return false;
  }

  /// Other impulses would have given the same motion.
  void note_ambiguity() { c_.certificate.impulses_unique = false; }

  /// Impacts accumulate at t, and the run ends there.
  void note_accumulation(double t) {
    c_.certificate.zeno_time = t;
    ++c_.certificate.zeno_count;
  }

  /// A failure the judge did not find itself, such as a solver that gave up.
  void fail(Failure failure, double t, int contact = -1, double value = 0.0) {
    c_.fail(failure, t, contact, value);
  }

  /// The certificate so far.
  const Certificate& finish() {
    Certificate& c = c_.certificate;
    close_energy(c.ledger, energy_);
    c.shock_threshold = shocks_.threshold(c.ledger.kinetic_max);
    judge_growth();
    if (c.violation_contact >= 0) c.violation_depth = measure_depth();
    c.lost_displacement = rounding_.lost_part();
    return c;
  }

  const Certificate& certificate() const { return c_.certificate; }

  /// Tells what contacts begin to do, from now until `close_events`.
  void open_events(const EventObserver& observe) {
    const bool located = is_located(c_.method.integrator);
    c_.events.open(&observe, c_.contacts(), located ? 0 : ShockWatch::kQuietSteps);
  }
  void close_events() {
    if (c_.events.is_on()) c_.events.close();
  }

  /// What the judge of a run that goes on from here has to know of the steps before.
  void remember(model::Memory& memory) const {
    model::JudgeMemory& known = memory.judge;
    known.contacts.clear();
    known.kinetic_max = std::max(known.kinetic_max, c_.certificate.ledger.kinetic_max);
    known.hardest_push = shocks_.hardest();
    if constexpr (kLocates<M>) {
      if (arcs_ != nullptr) known.arcs = *arcs_;
    }
    known.growth = energy_.growth;
    known.growth.since -= c_.certificate.steps;
    for (int a = 0; a < c_.contacts(); ++a) {
      model::JudgeMemory::Contact one{.key = static_cast<model::Key>(a)};
      one.quiet = c_.certificate.steps - shocks_.last_push(a);
      if (!energy_.created.empty()) one.created = energy_.created[static_cast<std::size_t>(a)];
      if constexpr (M::kSlips > 0) {
        if (c_.friction.exists()) {
          one.stuck = c_.friction.is_stuck(a);
          one.lapsed = c_.friction.is_lapsed(a);
          one.slip_jump = c_.friction.last_jump(a);
        }
      }
      one.touched = std::binary_search(c_.touched.begin(), c_.touched.end(), one.key);
      if (one.quiet <= ShockWatch::kQuietSteps || one.stuck || one.lapsed || one.touched ||
          one.slip_jump > 0.0 || one.created.sum() != 0.0) {
        known.contacts.push_back(one);
      }
    }
  }
  /// Whether free steps from here on may be checked in lanes; then `account` has what they need.
  bool lend(Account& account) const {
    const Certificate& c = c_.certificate;
    const bool touches = !c_.touched.empty() || c_.violated > 0 || crossings_.exists();
    if (!may_be_brief_ || touches || c_.events.is_on()) return false;
    if (c.steps >= brief_until_ || !c.ok()) return false;
    const Ledger& l = c.ledger;
    const double most = energy_.is_watched ? (c_.limits.growth - 1.0) * energy_.scale : kNoLimit;
    account = {energy_.kinetic, energy_.potential, l.forces,     l.contacts, l.defect,
               l.defect_max,    l.kinetic_max,     l.lowest,     l.highest,  c.steps,
               l.kinetic_start, l.potential_start, energy_.look, most,       c_.time_size,
               brief_until_};
    return true;
  }
  /// What was checked there since.
  void take_back(const Account& account) {
    Ledger& l = c_.certificate.ledger;
    c_.certificate.steps = account.steps;
    std::tie(energy_.kinetic, energy_.potential) = std::tie(account.kinetic, account.potential);
    l.forces = account.forces;
    l.contacts = account.contacts;
    std::tie(l.defect, l.defect_max) = std::tie(account.defect, account.defect_max);
    std::tie(l.kinetic_max, l.lowest, l.highest) =
        std::tie(account.kinetic_max, account.lowest, account.highest);
    crossings_.forget_gaps();
  }
  const Vector<K>& gaps(const State& now) {  // at the end of the last step, which is now
    crossings_.catch_up(c_, now);
    return c_.end_place.gap;
  }
  double kinetic() const { return energy_.kinetic; }
  double potential() const { return energy_.potential; }
  /// U_T by contact and direction at the end of the last step, and what each contact did since this
  /// was last asked; with friction.
  void tell_friction(const State& now, std::span<double> slips, std::span<double> states) {
    if constexpr (M::kSlips > 0) c_.friction.tell(c_.model, now, c_.end_place, slips, states);
  }

 private:
  /// A step that is plainly right, as most are.
  template <Integrator I>
  [[gnu::always_inline]] inline bool check_briefly(const State& before, const State& after,
                                                   double h, const TheClaim& claim) {
    if (K > 1 && bounces_ && claim.active.size() > 1) return false;
    BriefStep s;
    Brief<M> brief(c_, before, after, h, claim);
    if (!brief.template passes<I>(energy_, shocks_, crossings_, s)) return false;
    if (s.is_far) crossings_.forget_gaps();
    if constexpr (requires { crossings_.last_gaps(); }) {
      if (crossings_.exists() && !s.is_far) {
        const auto approaches = [&](int k) { return brief.approaches(k); };
        const auto found = crossings_.look(before, after, h, true, claim, c_.place.gap,
                                           c_.end_place.gap, approaches);
        if (found.verdict != model::GapWatch::Verdict::Clear) return false;
        crossings_.enter(claim, c_.end_place.gap, approaches);
      }
    }
    enter_briefly(c_, claim, s, energy_, shocks_);
    if (c_.events.is_on()) [[unlikely]]
      follow_events(c_, claim, before.t, after.t, c_.certificate.steps, true);
    if (s.deepest >= 0) enter_violation(after, s.depth, s.deepest);
    return true;
  }

  void recall(const model::JudgeMemory& known, bool goes_on) {
    shocks_.recall(known.kinetic_max, known.hardest_push);
    if (goes_on && std::isfinite(energy_.growth.bar) && std::isfinite(known.growth.bar)) {
      energy_.growth = known.growth;
      set_look(c_, energy_);
    }
    for (const model::JudgeMemory::Contact& one : known.contacts) {
      const int a = static_cast<int>(one.key);
      if (a >= c_.contacts()) continue;  // of another model
      shocks_.last_push(a) = -one.quiet;
      if (!energy_.created.empty()) energy_.created[static_cast<std::size_t>(a)] = one.created;
      if (one.touched && goes_on) c_.touched.push_back(one.key);
      if constexpr (M::kSlips > 0) c_.friction.recall(a, one.stuck, one.lapsed, one.slip_jump);
    }
  }

  template <Integrator I>
  [[gnu::noinline]] void check_located(Trial<M>& s) {
    if (s.claim.shift_weights != nullptr) return c_.fail(Failure::Correction, s.before.t);
    switch (s.claim.piece) {
      case Piece::Arc:
        if constexpr (is_split(I)) return check_split_arc<I>(c_, s, *arcs_, energy_);
        return check_arc(c_, s, *arcs_, energy_);
      case Piece::Impact:
      case Piece::Rest: return check_impact(c_, s, *arcs_, energy_);
      case Piece::Step:
      case Piece::Start: return c_.fail(Failure::Law, s.before.t);
    }
  }

  void keep_gaps(const Trial<M>* s = nullptr) {
    if constexpr (requires { crossings_.last_gaps(); }) {
      crossings_.open(c_.end_place.gap);
      if (s == nullptr) return;
      crossings_.enter(s->claim, c_.end_place.gap, [&](int k) { return approaches(c_, *s, k); });
    }
  }

  /// The last tenfold growth of T was given by nobody: that is why it is as it is, or no number.
  void judge_growth() {
    Certificate& c = c_.certificate;
    const model::GrowthWatch& growth = energy_.growth;
    const bool last = c_.limits.growth * growth.made_up_level >= c.ledger.kinetic_max;
    if (!(growth.made_up_level > 0.0 && last)) return;
    if (c.failure == Failure::NotFinite && c.failure_contact < 0) c.failure = Failure::None;
    c_.fail(Failure::Diverged, growth.made_up_time, -1, growth.made_up);
  }

  /// Derivatives, at the start and then ever more seldom.
  [[gnu::cold, gnu::noinline]] bool look(const State& before, double h) {
    next_look_ = 8 * (next_look_ + 1);
    derivatives_.run(before, h);
    return c_.certificate.ok();
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
    if (c_.events.is_on()) [[unlikely]]
      follow_events(c_, s.claim, s.before.t, s.after.t, step, !takes_no_time(c_, s));
    for (const int a : c_.held) shocks_.last_push(a) = step;  // along an arc
    if (c_.method.contacts_last) enter_touches(c_, s);
    enter_energy(c_, s, energy_);
    if constexpr (model::ImplicitModel<M>) enter_works(c, s);
    c.balance_max = std::max(c.balance_max, s.balance);
    c.creep_max = std::max(c.creep_max, s.creep);
    if (s.residual > c.residual_max) {
      c.residual_max = s.residual;
      c.residual_time = s.t_contact;
    }
    if constexpr (!M::kPlain) enter_joints(s, c);
    if (s.deepest >= 0) enter_violation(s.after, s.depth, s.deepest);
    c_.violated = s.violated;
    if (rounding_.is_due(c.steps)) [[unlikely]]
      rounding_.look(c_, s, c.steps);
    if (!takes_no_time(c_, s)) c.steps = step;
  }

  void enter_violation(const State& end, double depth, int contact) {
    Certificate& c = c_.certificate;
    c.violation_sum += depth;
    c.violation_squares += depth * depth;
    if (depth <= c.violation_max) return;
    c.violation_max = depth;
    c_.known_depth = std::min(c_.limits.violation, 2.0 * depth);
    c.violation_contact = contact;
    c.violation_time = end.t;
    deepest_ = end.q;
  }

  /// The largest violation over the length of the gap's gradient there.
  double measure_depth() {
    const Certificate& c = c_.certificate;
    if constexpr (model::ImplicitModel<M>) return c.violation_max;  // gaps are lengths
    model::IndexList<K> one(c_.model.contacts());
    one.push(c.violation_contact);
    c_.model.gaps(c.violation_time, deepest_, c_.place);
    c_.model.gradients(one, c_.place);
    const double slope = c_.place.normals.norm(c.violation_contact);
    return slope > 0.0 ? c.violation_max / slope : 0.0;
  }

  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  Context<M> c_;
  ShockWatch shocks_;
  EnergyWatch energy_;
  ArcsOf<M> arcs_;  // where motions go from impact to impact
  CrossingWatch<M> crossings_;
  RoundingWatch<M> rounding_;
  DerivativeCheck<M> derivatives_;
  long long next_look_{0};                // the step before which derivatives are looked at again
  Vector<M::kPlaces> deepest_;            // configuration of the largest violation
  bool bounces_{false};                   // some law has e > 0
  bool may_be_brief_{false};              // steps may pass a brief check
  long long brief_until_{0};              // the step before which they may
  long long brief_from_{0}, refused_{0};  // from which on; how many in a row did not pass
};

/// Defined here, so that it is compiled once for a model and not for each scheme.
template <model::Model M>
template <Integrator I>
bool Judge<M>::check(const State& before, const State& after, double h, const TheClaim& claim) {
  return check_step<I>(before, after, h, claim);
}

}  // namespace ricochet::certify
