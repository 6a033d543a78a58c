#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "ricochet/model/formula_view.h"
#include "ricochet/model/time_reversed.h"
#include "ricochet/step/run_formula.h"

namespace ricochet::step {

/// A run of the model seen backwards, told in forward time again: t falls from row to row. The
/// certificate is that of the reversed motion.
template <class View>
Outcome run_backward(const View& view, const Scheme& scheme, const RunSettings& run,
                     model::State<model::kDynamic>& state, const Observer& observe,
                     Monitor* monitor) {
  const model::TimeReversed<View> reversed(view);
  model::State<model::kDynamic> mirrored{-state.t, state.q, -state.u};
  std::vector<double> velocity(static_cast<std::size_t>(view.dofs()));
  const auto tell = [&](const Sample& sample) {
    Sample forward = sample;
    std::transform(sample.u.begin(), sample.u.end(), velocity.begin(), std::negate<>());
    forward.t = -sample.t;
    forward.u = velocity;
    observe(forward);
  };
  Outcome outcome = std::visit(
      [&](const auto& chosen) { return simulate(reversed, chosen, run, mirrored, tell, monitor); },
      scheme);
  certify::Certificate& c = outcome.certificate;
  for (double* time : {&c.failure_time, &c.residual_time, &c.violation_time}) *time = -*time;
  for (certify::Shock& shock : c.shocks) shock.t = -shock.t;
  state = {-mirrored.t, mirrored.q, -mirrored.u};
  return outcome;
}

/// `run_formula` for N coordinates and K contacts. Each pair is compiled in a source of its own,
/// listed in run_formula.cpp.
template <int N, int K>
Outcome run_sized(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                  model::State<model::kDynamic>& state, const Observer& observe, Monitor* monitor) {
  const model::FormulaView<N, K> view(model);
  if constexpr (N == model::kDynamic && K == model::kDynamic) {
    if (run.backward) return run_backward(view, scheme, run, state, observe, monitor);
  }
  model::State<N> sized{state.t, state.q, state.u};
  Outcome outcome = std::visit(
      [&](const auto& chosen) { return simulate(view, chosen, run, sized, observe, monitor); },
      scheme);
  state = {sized.t, sized.q, sized.u};
  return outcome;
}

#define RICOCHET_RUN_SIZED(N, K)                                                         \
  Outcome run_sized<N, K>(const model::FormulaModel&, const Scheme&, const RunSettings&, \
                          model::State<model::kDynamic>&, const Observer&, Monitor*)

extern template RICOCHET_RUN_SIZED(1, 1);
extern template RICOCHET_RUN_SIZED(2, 1);
extern template RICOCHET_RUN_SIZED(3, 1);
extern template RICOCHET_RUN_SIZED(3, 2);
extern template RICOCHET_RUN_SIZED(2, model::kDynamic);
extern template RICOCHET_RUN_SIZED(3, model::kDynamic);
extern template RICOCHET_RUN_SIZED(model::kDynamic, model::kDynamic);

}  // namespace ricochet::step
