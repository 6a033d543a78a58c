#pragma once

#include <cmath>
#include <type_traits>

#include "ricochet/step/control.h"
#include "ricochet/step/simulate.h"

namespace ricochet::step {
namespace detail {

/// What observers see: rows as they fall due.
template <model::Model M, class Observer>
class Rows {
 public:
  Rows(const M& model, const RunSettings& run, Observer& observe)
      : model_(model),
        slips_(model),
        observe_(observe),
        every_(run.record_every),
        until_row_(run.record_every),
        impulses_(model::Vector<M::kContacts>::Zero(model.contacts())) {}

  void show(const model::State<M::kDofs>& state, long long step, certify::Judge<M>& judge) {
    Sample sample{step,
                  state.t,
                  view(state.q),
                  view(state.u),
                  view(judge.gaps()),
                  view(impulses_),
                  judge.kinetic(),
                  judge.potential()};
    slips_.tell(judge, state, sample);
    observe_(sample);
    impulses_.setZero();
    slips_.clear();
  }

  template <class TheClaim>
  void add(const TheClaim& claim) {
    for (int k = 0; k < claim.active.size(); ++k) {
      impulses_[claim.active[k]] += claim.impulses[k];
    }
    slips_.add(model_, claim);
  }

  /// What contacts that last push over an arc.
  template <class Rule>
  void add_reactions(const Rule& rule, double h) {
    for (const auto& node : rule.nodes) {
      if (node.push != nullptr) impulses_ += h * node.force * *node.push;
    }
  }

  /// After each step; true when a row is due.
  bool is_due() {
    if (every_ <= 0 || --until_row_ > 0) return false;
    until_row_ = every_;
    return true;
  }

  /// Whether the last instant has no row yet.
  bool lacks_last() const { return every_ == 0 || until_row_ != every_; }

 private:
  const M& model_;
  SlipSamples<M> slips_;
  Observer& observe_;
  long long every_;
  long long until_row_;
  model::Vector<M::kContacts> impulses_;  // since the last row
};

/// Between two steps: tells how far the run is, and hears whether it is to stop.
inline bool is_stopped(Monitor* monitor, long long progress) {
  if (monitor == nullptr) return false;
  monitor->steps.store(progress, std::memory_order_relaxed);
  return monitor->stop.load(std::memory_order_relaxed);
}

/// Pairs of steps of a length that step control chooses.
template <model::Model M, class S, class Observer>
void controlled_steps(const M& model, const S& scheme, const RunSettings& run,
                      model::State<M::kDofs>& state, certify::Judge<M>& judge,
                      Rows<M, Observer>& rows, Monitor* monitor, Outcome& outcome) {
  ControlledPair<M, S> pair(model, scheme, run.control, run.step, state);
  const double start_time = state.memory.start;
  const bool goes_on = start_time == (run.backward ? -run.start_time : run.start_time);
  const double end_time =
      (goes_on ? start_time : state.t) + std::abs(run.end_time - run.start_time);
  while (state.t < end_time - 1e-6 * run.control.smallest) {
    const auto progress = static_cast<long long>((state.t - start_time) / run.step);
    outcome.interrupted = is_stopped(monitor, progress);
    if (outcome.interrupted) break;
    const problem::Report report = pair.advance_from(state, end_time);
    if (report.status != problem::Status::Solved) {
      judge.fail(failure_of(report.status), state.t);
      break;
    }
    for (const bool second : {false, true}) {
      const auto& after = second ? pair.end() : pair.middle();
      const auto& claim = second ? pair.second_claim() : pair.first_claim();
      if (!judge.check(state, after, pair.half_length(), claim)) break;
      rows.add(claim);
      state.t = after.t;
      state.q = after.q;
      state.u = after.u;
      state.memory.steps = after.memory.steps;
      state.memory.scheme = after.memory.scheme;
      ++outcome.steps;
      if (rows.is_due()) rows.show(state, outcome.steps, judge);
    }
    if (!judge.certificate().ok()) break;
  }
  outcome.forced = pair.forced();
  state.memory.control = pair.memory();
}

}  // namespace detail

/// `simulate` with steps that `run.control` chooses, from state.t for the time from run.start_time
/// to run.end_time; where the run goes on with one that began at run.start_time, to the end of that
/// time. Apart from `simulate`, so that its loop stays as fast as it is.
template <model::Model M, class S, class Observer>
Outcome simulate_controlled(const M& model, const S& scheme, const RunSettings& run,
                            model::State<M::kDofs>& state, Observer&& observe,
                            Monitor* monitor = nullptr) {
  const base::Stopwatch clock;
  Outcome outcome;
  state.memory.open(state.t, detail::maker_of<S>(run, false));
  certify::Judge<M> judge(model, detail::limits_for<S>(run.limits), state);
  detail::Rows<M, std::remove_reference_t<Observer>> rows(model, run, observe);
  rows.show(state, 0, judge);
  detail::controlled_steps(model, scheme, run, state, judge, rows, monitor, outcome);
  if (outcome.steps > 0 && rows.lacks_last()) rows.show(state, outcome.steps, judge);
  state.memory.at = state.t;
  judge.remember(state.memory);
  outcome.certificate = judge.finish();
  const std::span<const double> gaps = detail::view(judge.gaps());
  outcome.gaps.assign(gaps.begin(), gaps.end());
  outcome.wall_seconds = clock.seconds();
  return outcome;
}

}  // namespace ricochet::step
