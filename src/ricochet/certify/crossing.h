#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "ricochet/certify/trial.h"
#include "ricochet/model/gap_watch.h"

/// Whether a wall is stepped over between the ends of a step.
namespace ricochet::certify {

/// What a judge needs for it; nothing where gaps are not formulas.
template <model::Model M>
class CrossingWatch {
 public:
  CrossingWatch(const M&, const Method&) {}
  bool exists() const { return false; }
  bool is_far(const auto&, const auto&, double, const auto&) const { return false; }
  void forget_gaps() {}
  double potential(const auto&) { return 0.0; }
  void catch_up(Context<M>&, const auto&) {}
};

template <model::Model M>
requires requires(const M& m) { m.formulas(); }
class CrossingWatch<M> {
 public:
  using TheClaim = Claim<M::kDofs, M::kContacts, M::kSlips>;

  CrossingWatch(const M& model, const Method& method)
      : corrects_(method.corrects),
        is_rough_(method.integrator == Integrator::End || method.theta > 0.5 ||
                  method.average != Average::Central),
        watch_(model.formulas()),
        gaps_(model.contacts()),
        seen_(static_cast<std::size_t>(model.contacts()), 1) {
    rates_.assign(seen_.size(), kInfinity);
    find_twins(model.formulas().system());
    suspects_.reserve(watch_.rows().size());
    entering_.reserve(seen_.size());
    if constexpr (M::kDofs != kDynamic && M::kContacts != kDynamic) {
      if (!exists() || !model.has_potential()) return;
      const model::FormulaSystem& system = model.formulas().system();
      potential_ = formula::Tape(system.graph, system.inputs(), {{system.potential}});
      registers_ = potential_.registers();
    }
  }

  bool exists() const { return !watch_.rows().empty(); }

  /// Gaps at the end of the last step.
  void open(const Vector<M::kContacts>& gaps) { gaps_ = gaps; }

  /// Whether a step without active contacts, looked for at `point`, stays where all gaps are proved
  /// positive: then they need not be computed.
  [[gnu::always_inline]] bool is_far(const model::StateOf<M>& before,
                                     const model::StateOf<M>& after, double h,
                                     const Vector<M::kPlaces>& point) const {
    return watch_.is_far(point) &&
           watch_.is_quiet(before.t + h, h, before.q, after.q, before.u, after.u);
  }
  void forget_gaps() { are_old_ = true; }
  /// V at such a place, without gaps.
  double potential(const model::StateOf<M>& s) {
    if (registers_.empty()) return 0.0;
    registers_[0] = s.t;
    for (int i = 0; i < M::kPlaces; ++i) registers_[1 + static_cast<std::size_t>(i)] = s.q[i];
    potential_.run(0, registers_.data());
    return registers_[potential_.outputs(0)[0]];
  }
  /// Gaps of the last step that holds, where they were not computed.
  [[gnu::always_inline]] void catch_up(Context<M>& c, const model::StateOf<M>& now) {
    if (are_old_) [[unlikely]]
      take_gaps(c, now);
  }
  /// The step that ended with these gaps holds: contacts that push, or approached and were kept
  /// from it by others, have seen their wall until they are out of it.
  template <class Approaches>
  void enter(const TheClaim& claim, const Vector<M::kContacts>& gaps, Approaches&& approaches) {
    gaps_ = gaps;
    for (const std::span<const int> rows : {watch_.loud(), watch_.absent()}) {
      for (const int a : rows) {
        if (gaps[a] > 0.0) seen_[static_cast<std::size_t>(a)] = 0;
      }
    }
    for (int k = 0; k < claim.active.size(); ++k) {
      if (claim.impulses[k] == 0.0 && !approaches(k)) continue;
      seen_[static_cast<std::size_t>(claim.active[k])] = 1;
      is_rough_ = true;
      if (!has_twins_) continue;
      for (std::size_t b = 0; b < seen_.size(); ++b) {
        if (twins_[b] == twin_of(claim.active[k])) seen_[b] = 1;
      }
    }
  }
  /// Rate of gap a at the place before, velocities being those of now: of a gap that was open there
  /// or since it was negative, else it would not be closed. Nothing is known of the start.
  double rate_before(int a) const {
    return gaps_[a] > 0.0 ? -kInfinity : rates_[static_cast<std::size_t>(a)];
  }
  void clear_rates() {
    rates_.assign(seen_.size(), -kInfinity);
    entering_.clear();
  }
  void set_rate(int a, double rate, bool enters) {
    rates_[static_cast<std::size_t>(a)] = rate;
    if (enters) entering_.push_back(a);
  }
  /// A contact that went on to enter its wall after the last push, and is open at these gaps; -1:
  /// none.
  int came_out(const Vector<M::kContacts>& gaps) const {
    for (const int a : entering_) {
      if (gaps[a] > 0.0) return a;
    }
    return -1;
  }
  const Vector<M::kContacts>& last_gaps() const { return gaps_; }

  using Finding = model::GapWatch::Finding;

  /// `gaps` are those at the end, `ahead` those where contacts were looked for.
  /// A contact that does not push must stay above its wall on the way, and must not come out of a
  /// wall that it entered unseen.
  template <class Approaches>
  [[gnu::always_inline]] inline Finding look(const model::StateOf<M>& before,
                                             const model::StateOf<M>& after, double h, bool bends,
                                             const TheClaim& claim,
                                             const Vector<M::kContacts>& ahead,
                                             const Vector<M::kContacts>& gaps,
                                             const Approaches& approaches) {
    const bool quiet = watch_.is_quiet(before.t + h, h, before.q, after.q, before.u, after.u);
    bool clear = quiet;
    int next = 0;
    for (const int a : watch_.loud()) {
      clear = clear && (pushes(claim, a, next, approaches) || twin_pushes(claim, a));
    }
    if (clear) [[likely]]
      return {};
    const model::StepPath path{before.t,        h,
                               before.q.data(), before.u.data(),
                               after.q.data(),  after.u.data(),
                               gaps_.data(),    bends ? ahead.data() : gaps.data(),
                               gaps.data(),     bends,
                               is_rough_};
    return look_at(path, quiet, claim, approaches);
  }

 private:
  /// Contacts with one and the same gap, of which one pushes for all.
  void find_twins(const model::FormulaSystem& system) {
    std::unordered_map<formula::NodeId, int> first;
    for (int a = 0; a < static_cast<int>(seen_.size()); ++a) {
      const std::size_t at = static_cast<std::size_t>(a);
      const bool is_formula = at < system.gaps.size() && system.gaps[at] >= 0;
      twins_.push_back(is_formula ? first.emplace(system.gaps[at], a).first->second : a);
      has_twins_ = has_twins_ || twins_.back() != a;
    }
  }
  int twin_of(int a) const { return twins_[static_cast<std::size_t>(a)]; }
  bool twin_pushes(const TheClaim& claim, int a) const {
    for (int k = 0; has_twins_ && k < claim.active.size(); ++k) {
      if (claim.impulses[k] != 0.0 && twin_of(claim.active[k]) == twin_of(a)) return true;
    }
    return false;
  }

  [[gnu::noinline]] void take_gaps(Context<M>& c, const model::StateOf<M>& now) {
    (void)c.model.gaps_and_potential(now.t, now.q, c.end_place);
    gaps_ = c.end_place.gap;
    are_old_ = false;
  }

  /// Whether contact a pushes, or approaches and is kept from it by others; `next` is its place
  /// among the active ones, or one before it.
  template <class Approaches>
  [[gnu::always_inline]] static bool pushes(const TheClaim& claim, int a, int& next,
                                            const Approaches& approaches) {
    const auto& active = claim.active;
    while (next < active.size() && active[next] < a) ++next;
    if (next == active.size() || active[next] != a) return false;
    return claim.impulses[next] != 0.0 || approaches(next);
  }

  template <class Approaches>
  [[gnu::noinline]] Finding look_at(const model::StepPath& path, bool quiet, const TheClaim& claim,
                                    const Approaches& approaches) {
    suspects_.clear();
    int next = 0;
    for (const int a : quiet ? watch_.loud() : watch_.rows()) {
      if (pushes(claim, a, next, approaches) || twin_pushes(claim, a)) {
        if (!quiet) watch_.make_loud(a);
      } else if (!watch_.is_clear(path, a)) {
        suspects_.push_back(a);
      }
    }
    if (quiet && suspects_.empty()) return {};
    return look_closely(path);
  }

  /// Whether a contact that was entered in the last step, and has not pushed, ends to exist in this
  /// one before it is looked for.
  bool vanishes(const model::StepPath& path, int a) {
    return path.g0[a] <= 0.0 && path.g1[a] < path.g0[a] &&
           seen_[static_cast<std::size_t>(a)] == 0 && watch_.exists_at(path.t, path.q0, a) &&
           !watch_.exists_at(path.t + path.h, path.q1, a);
  }

  [[gnu::cold, gnu::noinline]] Finding look_closely(const model::StepPath& path) {
    for (const int a : suspects_) {
      if (vanishes(path, a)) return {model::GapWatch::Verdict::Undecided, a, path.g0[a]};
      const bool unseen = !corrects_ && path.g0[a] < 0.0 && path.g1[a] > 0.0 &&
                          seen_[static_cast<std::size_t>(a)] == 0;
      if (!unseen || !watch_.exists_at(path.t, path.q0, a)) continue;
      if (path.g0[a] < -watch_.tolerance(path, a)) {
        return {model::GapWatch::Verdict::Crossed, a, path.g0[a]};
      }
      if (watch_.turns(path, a, 1.0)) return {model::GapWatch::Verdict::Undecided, a, path.g0[a]};
    }
    // Below 0 at the end: the scheme sees it in the next step.
    std::erase_if(suspects_, [&](int a) {
      const bool closed = (path.g0[a] <= 0.0 && watch_.exists_at(path.t, path.q0, a)) ||
                          (path.g1[a] <= 0.0 && watch_.exists_at(path.t + path.h, path.q1, a));
      if (closed) watch_.make_loud(a);
      return closed;
    });
    const Finding found = watch_.look(path, suspects_);
    watch_.gather();
    for (const int a : watch_.rows()) {  // what is open in all of its box
      if (watch_.is_open(a)) seen_[static_cast<std::size_t>(a)] = 0;
    }
    return found;
  }

  bool corrects_;        // violations are put right, so that none stays unseen
  bool are_old_{false};  // gaps, since steps stay far from all walls
  bool is_rough_;        // places are off to first order in h
  model::GapWatch watch_;
  Vector<M::kContacts> gaps_;
  std::vector<int> suspects_;
  formula::Tape potential_;  // V alone, where sizes are known
  std::vector<double> registers_;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> rates_;  // of gaps at the last place, with springs
  std::vector<int> entering_;  // contacts that still approach after their last push, with springs
  std::vector<char> seen_;     // by contact: it pushed since it entered its wall
  std::vector<int> twins_;     // by contact: the first with the same gap
  bool has_twins_{false};
};

/// A spring pushes back on the side from where its wall was entered: where a contact departs that
/// approached with the same velocity at the place before, the place is beyond its wall. So it is
/// where a contact is open at the end of a step, or at the next middle, that goes on to enter.
template <model::Model M>
void check_sides(Context<M>& c, const Trial<M>& s, CrossingWatch<M>& watch) {
  constexpr double kMuch = 0.2;  // of |J| |u|
  for (const int a : s.claim.active) {
    const double size = kMuch * c.place.normals.abs_dot(a, s.before.u);
    const double start = c.place.normals.dot(a, s.before.u) + c.place.rate[a];
    if (start > size && watch.rate_before(a) < -size) {
      return c.fail(Failure::SteppedOver, s.before.t, a, c.place.gap[a]);
    }
  }
  if (const int a = watch.came_out(c.place.gap); a >= 0) {
    return c.fail(Failure::SteppedOver, s.before.t, a, c.place.gap[a]);
  }
  watch.clear_rates();
  for (const int a : s.claim.active) {
    const double rate = c.place.normals.dot(a, s.after.u) + c.place.rate[a];
    const bool enters = rate < -kMuch * c.place.normals.abs_dot(a, s.after.u);
    watch.set_rate(a, rate, enters);
    if (enters && c.end_place.gap[a] > 0.0) {
      return c.fail(Failure::SteppedOver, s.before.t, a, c.place.gap[a]);
    }
  }
}

/// Integrators whose steps go by q + h/2 u.
constexpr bool bends(Integrator integrator) {
  return integrator == Integrator::Middle || integrator == Integrator::MiddleAhead ||
         integrator == Integrator::Spring;
}

/// Whether the contact at place k approaches its wall where it was looked for.
template <model::Model M>
bool approaches(const Context<M>& c, const Trial<M>& s, int k) {
  const int a = s.claim.active[k];
  return c.place.normals.dot(a, s.before.u) + c.place.rate[a] < 0.0;
}

/// A wall that was stepped over is a failure; where that cannot be excluded, it is counted.
template <Integrator I, model::Model M>
[[gnu::always_inline]] inline void check_crossing(Context<M>& c, const Trial<M>& s,
                                                  CrossingWatch<M>& watch) {
  if constexpr (requires { watch.last_gaps(); }) {
    using Verdict = model::GapWatch::Verdict;
    if constexpr (I == Integrator::Spring) check_sides(c, s, watch);
    const auto found = watch.look(s.before, s.after, s.h, bends(I), s.claim, c.place.gap,
                                  c.end_place.gap, [&](int k) { return approaches(c, s, k); });
    if (found.verdict == Verdict::Clear) [[likely]]
      return;
    if (found.verdict == Verdict::Crossed) {
      return c.fail(Failure::SteppedOver, s.before.t, found.contact, found.gap);
    }
    if (c.certificate.undecided_crossings++ == 0) c.certificate.undecided_time = s.before.t;
  }
}

}  // namespace ricochet::certify
