#pragma once

#include <algorithm>
#include <optional>

#include "ricochet/certify/trial.h"
#include "ricochet/model/gap_watch.h"

/// Whether a wall is stepped over between the ends of a step.
namespace ricochet::certify {

/// What a judge needs for it; nothing where gaps are not formulas.
template <model::Model M>
class CrossingWatch {
 public:
  CrossingWatch(const M&, bool) {}
  bool exists() const { return false; }
};

template <model::Model M>
requires requires(const M& m) { m.formulas(); }
class CrossingWatch<M> {
 public:
  /// `corrects`: violations are put right, so that none stays unseen.
  CrossingWatch(const M& model, bool corrects)
      : corrects_(corrects),
        watch_(model.formulas()),
        gaps_(model.contacts()),
        seen_(static_cast<std::size_t>(model.contacts()), 1) {}

  bool exists() const { return !watch_.rows().empty(); }

  /// Gaps at the end of the last step.
  void open(const Vector<M::kContacts>& gaps) { gaps_ = gaps; }
  /// The step that ended with these gaps holds: contacts that push have seen their wall, until they
  /// are out of it.
  template <class TheClaim>
  void enter(const TheClaim& claim, const Vector<M::kContacts>& gaps) {
    gaps_ = gaps;
    for (const int a : watch_.rows()) {
      if (gaps[a] > 0.0) seen_[static_cast<std::size_t>(a)] = 0;
    }
    for (int k = 0; k < claim.active.size(); ++k) {
      if (claim.impulses[k] != 0.0) seen_[static_cast<std::size_t>(claim.active[k])] = 1;
    }
  }
  const Vector<M::kContacts>& last_gaps() const { return gaps_; }

  using Finding = model::GapWatch::Finding;

  /// A contact that does not push must stay above its wall on the way, and must not come out of a
  /// wall that it entered unseen.
  [[gnu::always_inline]] inline Finding look(const model::StateOf<M>& before,
                                             const model::StateOf<M>& after, double h, bool bends,
                                             const Claim<M::kDofs, M::kContacts, M::kSlips>& claim,
                                             const Vector<M::kContacts>& gaps) {
    const auto& active = claim.active;
    suspects_.clear();
    int next = 0;
    for (const int a : watch_.rows()) {
      while (next < active.size() && active[next] < a) ++next;
      if (next < active.size() && active[next] == a && claim.impulses[next] != 0.0) continue;
      if (watch_.is_clear(a, gaps_[a], gaps[a], before.t, h, after.q.data(), before.u.data(),
                          after.u.data())) {
        continue;
      }
      suspects_.push_back(a);
    }
    if (suspects_.empty()) return {};
    return look_closely(before, after, h, bends, gaps);
  }

 private:
  [[gnu::cold, gnu::noinline]] Finding look_closely(const model::StateOf<M>& before,
                                                    const model::StateOf<M>& after, double h,
                                                    bool bends, const Vector<M::kContacts>& gaps) {
    const auto view = [](const auto& v) {
      return std::span<const double>(v.data(), static_cast<std::size_t>(v.size()));
    };
    const model::StepPath path{before.t,      h,    view(before.q), view(before.u), view(after.q),
                               view(after.u), bends};
    for (const int a : suspects_) {
      const bool unseen =
          !corrects_ && gaps_[a] < 0.0 && gaps[a] > 0.0 && seen_[static_cast<std::size_t>(a)] == 0;
      if (unseen && gaps_[a] < -watch_.tolerance(path, a) && watch_.exists_at_start(path, a)) {
        return {model::GapWatch::Verdict::Crossed, a, gaps_[a]};
      }
    }
    // Below 0 at the end: the scheme sees it in the next step.
    std::erase_if(suspects_, [&](int a) { return gaps_[a] <= 0.0 || gaps[a] <= 0.0; });
    if (suspects_.empty()) return {};
    return watch_.look(path, suspects_);
  }

  bool corrects_;
  model::GapWatch watch_;
  Vector<M::kContacts> gaps_;
  std::vector<int> suspects_;
  std::vector<char> seen_;  // by contact: it pushed since it entered its wall
};

/// Integrators whose steps go by q + h/2 u.
constexpr bool bends(Integrator integrator) {
  return integrator == Integrator::Middle || integrator == Integrator::MiddleAhead ||
         integrator == Integrator::Spring;
}

/// A wall that was stepped over is a failure; where that cannot be excluded, it is counted.
template <Integrator I, model::Model M>
[[gnu::always_inline]] inline void check_crossing(Context<M>& c, const Trial<M>& s,
                                                  CrossingWatch<M>& watch) {
  if constexpr (requires { watch.last_gaps(); }) {
    using Verdict = model::GapWatch::Verdict;
    const auto found = watch.look(s.before, s.after, s.h, bends(I), s.claim, c.end_place.gap);
    if (found.verdict == Verdict::Clear) [[likely]]
      return;
    if (found.verdict == Verdict::Crossed) {
      return c.fail(Failure::SteppedOver, s.before.t, found.contact, found.gap);
    }
    if (c.certificate.undecided_crossings++ == 0) c.certificate.undecided_time = s.before.t;
  }
}

}  // namespace ricochet::certify
