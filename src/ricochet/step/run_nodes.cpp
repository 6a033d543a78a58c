#include "ricochet/step/run_nodes.h"

#include "ricochet/model/formula_view.h"
#include "ricochet/step/simulate_events.h"
#include "ricochet/step/simulate_nodes.h"

namespace ricochet::step {

Outcome run_nodes(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                  model::State<model::kDynamic>& state, const Observer& observe, Monitor* monitor) {
  const model::FormulaView<model::kDynamic, model::kDynamic> view(model);
  return std::visit(
      [&](const auto& chosen) {
        using S = std::decay_t<decltype(chosen)>;
        if constexpr (std::is_same_v<S, EventDriven>) {
          return simulate_events(view, chosen, run, state, observe, monitor);
        } else if constexpr (S::kStaggered) {
          return Outcome{};  // these go to run_sized
        } else {
          return simulate(view, chosen, run, state, observe, monitor);
        }
      },
      scheme);
}

}  // namespace ricochet::step
