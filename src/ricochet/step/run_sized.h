#pragma once

#include "ricochet/model/formula_view.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/step/simulate.h"

namespace ricochet::step {

/// `run_formula` for N coordinates and K contacts. Each pair is compiled in a source of its own,
/// listed in run_formula.cpp.
template <int N, int K>
Outcome run_sized(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                  model::State<model::kDynamic>& state, const Observer& observe, Monitor* monitor) {
  const model::FormulaView<N, K> view(model);
  model::State<N> sized{state.t, state.q, state.u, state.stuck};
  Outcome outcome = std::visit(
      [&](const auto& chosen) {
        if constexpr (chosen.kStaggered) {
          return simulate(view, chosen, run, sized, observe, monitor);
        } else {
          return Outcome{};  // these go to run_nodes
        }
      },
      scheme);
  state = {sized.t, sized.q, sized.u, sized.stuck};
  return outcome;
}

/// The same where every contact has T tangential directions, for the scheme that knows friction.
template <int N, int K, int T>
Outcome run_slipping(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                     model::State<model::kDynamic>& state, const Observer& observe,
                     Monitor* monitor) {
  const model::FormulaView<N, K, T> view(model);
  model::State<N> sized{state.t, state.q, state.u, state.stuck};
  Outcome outcome = simulate(view, std::get<Moreau>(scheme), run, sized, observe, monitor);
  state = {sized.t, sized.q, sized.u, sized.stuck};
  return outcome;
}

#define RICOCHET_RUN_SLIPPING(N, K, T)                                                         \
  Outcome run_slipping<N, K, T>(const model::FormulaModel&, const Scheme&, const RunSettings&, \
                                model::State<model::kDynamic>&, const Observer&, Monitor*)

extern template RICOCHET_RUN_SLIPPING(2, 1, 1);
extern template RICOCHET_RUN_SLIPPING(3, 1, 1);
extern template RICOCHET_RUN_SLIPPING(3, 1, 2);

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
