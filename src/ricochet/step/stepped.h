#pragma once

#include <limits>
#include <type_traits>
#include <utility>

#include "ricochet/step/lanes.h"
#include "ricochet/step/simulate.h"

namespace ricochet::step {

/// A run that is made a few steps at a time, by whoever steers it. Steps are of one length, are
/// judged as those of `simulate`, and have the same bits.
///
/// The model must outlive it. `observe(sample)` is called for the start and after every `advance`,
/// with the impulses of that call.
template <model::Model M, class S>
class Stepped {
 public:
  using State = model::StateOf<M>;
  using Pace = typename detail::PaceOf<M, S>::Type;
  static constexpr bool kIsPossible = std::is_same_v<Pace, FixedPace<M, S>>;

  Stepped(const M& model, const S& scheme, const RunSettings& run, State start, Observer observe)
      : scheme_(scheme),
        run_(run),
        state_(std::move(start)),
        observe_(std::move(observe)),
        recorder_(model, scheme_.method(), endless(), state_, detail::ObserverRef(observe_)),
        pace_(model, scheme_, run_, state_, recorder_),
        ok_(pace_.open()) {}
  Stepped(const Stepped&) = delete;
  Stepped& operator=(const Stepped&) = delete;

  /// Makes so many steps. False when one does not hold what it claims: the run is over, and stands
  /// where the last step ended that does.
  bool advance(long long steps = 1) {
    for (long long k = 0; ok_ && k < steps; ++k) ok_ = pace_.advance();
    recorder_.add_row(pace_.now());
    return ok_;
  }

  /// One step, of which no row is shown.
  bool step() { return ok_ = ok_ && pace_.advance(); }

  /// Whether free steps from here on may be made in lanes: see `LaneRun`.
  bool lend(LaneLoan& loan) {
    if (!ok_ || !pace_.is_free() || !recorder_.judge().lend(loan.account)) return false;
    loan.t = now().t;
    loan.start = pace_.start();
    loan.made = pace_.made();
    for (Eigen::Index i = 0; i < now().q.size(); ++i) {
      loan.q[static_cast<std::size_t>(i)] = now().q[i];
      loan.u[static_cast<std::size_t>(i)] = now().u[i];
    }
    return true;
  }
  /// What was made there since.
  void take_back(const LaneLoan& loan) {
    pace_.skip_to(loan.q, loan.u, loan.account.steps);
    recorder_.judge().take_back(loan.account);
  }

  const State& now() const { return pace_.now(); }
  const certify::Certificate& certificate() { return recorder_.judge().certificate(); }

  /// Ends the run; `now` must not be asked any more. `end` is left ready to go on from.
  Outcome finish(State& end) {
    pace_.finish(recorder_.outcome());
    Outcome outcome = recorder_.finish(state_);
    end = std::move(state_);
    return outcome;
  }

 private:
  const RunSettings& endless() {
    run_.steps = std::numeric_limits<long long>::max() / 2;
    run_.record_every = 0;
    state_.memory.open(
        state_.t,
        {.scheme = S::kInfo.name, .step = run_.step, .evenly = true, .backward = run_.backward});
    return run_;
  }

  S scheme_;
  RunSettings run_;
  State state_;
  Observer observe_;
  Recorder<M> recorder_;
  Pace pace_;
  bool ok_;
};

}  // namespace ricochet::step
