#include "ricochet/step/run_special.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "ricochet/model/formula_view.h"
#include "ricochet/model/time_reversed.h"
#include "ricochet/step/controlled_pace.h"
#include "ricochet/step/simulate.h"

namespace ricochet::step {
namespace {

using View = model::FormulaView<model::kDynamic, model::kDynamic>;

template <model::Model M, class S, class Told>
Outcome simulate_either(const M& model, const S& scheme, const RunSettings& run,
                        model::StateOf<M>& state, const Told& observe, Monitor* monitor) {
  if constexpr (S::kStaggered) {
    if (run.control.is_on()) {
      return simulate(model, Controlled<S>{scheme}, run, state, observe, monitor);
    }
    return simulate(model, scheme, run, state, observe, monitor);
  } else {
    return Outcome{};  // these go to run_nodes
  }
}

/// A run of the model seen backwards, told in forward time again: t falls from row to row. The
/// certificate is that of the reversed motion.
Outcome run_backward(const View& view, const Scheme& scheme, const RunSettings& run,
                     model::State<model::kDynamic>& state, const Observer& observe,
                     Monitor* monitor) {
  const model::TimeReversed<View> reversed(view);
  model::State<model::kDynamic> mirrored{-state.t, state.q, -state.u, state.memory};
  mirrored.memory.at = -mirrored.memory.at;
  std::vector<double> velocity(static_cast<std::size_t>(view.dofs()));
  const auto tell = [&](const Sample& sample) {
    Sample forward = sample;
    std::transform(sample.u.begin(), sample.u.end(), velocity.begin(), std::negate<>());
    forward.t = -sample.t;
    forward.u = velocity;
    observe(forward);
  };
  Outcome outcome = std::visit(
      [&](const auto& chosen) {
        return simulate_either(reversed, chosen, run, mirrored, tell, monitor);
      },
      scheme);
  certify::Certificate& c = outcome.certificate;
  for (double* time : {&c.failure_time, &c.residual_time, &c.violation_time}) *time = -*time;
  for (certify::Shock& shock : c.shocks) shock.t = -shock.t;
  state = {-mirrored.t, mirrored.q, -mirrored.u, std::move(mirrored.memory)};
  state.memory.at = -state.memory.at;
  return outcome;
}

}  // namespace

Outcome run_special(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                    model::State<model::kDynamic>& state, const Observer& observe,
                    Monitor* monitor) {
  const View view(model);
  if (run.backward) return run_backward(view, scheme, run, state, observe, monitor);
  return std::visit(
      [&](const auto& chosen) {
        return simulate_either(view, chosen, run, state, observe, monitor);
      },
      scheme);
}

}  // namespace ricochet::step
