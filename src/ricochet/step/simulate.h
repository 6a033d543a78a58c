#pragma once

#include "ricochet/model/inline_model.h"
#include "ricochet/step/fixed_pace.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

namespace detail {

/// How the next piece of motion is made: steps of one length, unless the scheme has its own way.
template <model::Model M, class S>
struct PaceOf {
  using Type = FixedPace<M, S>;
};
template <model::Model M, class S>
requires requires { typename S::template Pace<M>; }
struct PaceOf<M, S> {
  using Type = typename S::template Pace<M>;
};

}  // namespace detail

/// Runs a scheme on a model from `state`, which is left at the last certified instant, from where
/// another run goes on with the same bits. Steps are of one length; `Controlled<S>` is the scheme S
/// with steps of chosen lengths.
///
/// `observe(sample)` is called for the start, every `record_every` steps and the end; the monitor
/// is looked at before every step, so that an interrupted run ends between steps.
template <model::Model M, class S, class Observe>
Outcome simulate(const M& model, const S& scheme, const RunSettings& run, model::StateOf<M>& state,
                 Observe&& observe, Monitor* monitor = nullptr) {
  using Pace = typename detail::PaceOf<M, S>::Type;
  state.memory.open(state.t, {.scheme = S::kInfo.name,
                              .step = run.step,
                              .evenly = Pace::kEvenly,
                              .backward = run.backward});
  Recorder<M> recorder(model, scheme.method(), run, state, detail::ObserverRef(observe), monitor);
  Pace pace(model, scheme, run, state, recorder);
  bool goes_on = pace.open();
  while (goes_on && !pace.is_over()) {
    if (recorder.is_stopped(pace.progress())) break;
    goes_on = pace.advance();
  }
  pace.finish(recorder.outcome());
  return recorder.finish(state);
}

}  // namespace ricochet::step
