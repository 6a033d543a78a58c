#include "ricochet/step/run_nodes.h"

#include "ricochet/model/formula_view.h"
#include "ricochet/step/event_pace.h"
#include "ricochet/step/mabrouk.h"
#include "ricochet/step/moreau_jean.h"
#include "ricochet/step/paoli_schatzman.h"
#include "ricochet/step/penalty.h"
#include "ricochet/step/simulate.h"

namespace ricochet::step {

Outcome run_nodes(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                  model::State<model::kDynamic>& state, const Observer& observe, Monitor* monitor) {
  const model::FormulaView<model::kDynamic, model::kDynamic> view(model);
  return std::visit(
      [&](const auto& chosen) {
        using S = std::decay_t<decltype(chosen)>;
        if constexpr (S::kStaggered) {
          return Outcome{};  // these go to run_sized
        } else {
          return simulate(view, chosen, run, state, observe, monitor);
        }
      },
      scheme);
}

}  // namespace ricochet::step
