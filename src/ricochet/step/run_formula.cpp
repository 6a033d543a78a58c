#include "ricochet/step/run_formula.h"

#include "ricochet/step/run_nodes.h"
#include "ricochet/step/run_sized.h"
#include "ricochet/step/run_special.h"

namespace ricochet::step {

Outcome run_formula(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                    model::State<model::kDynamic>& state, const Observer& observe,
                    Monitor* monitor) {
  constexpr int kAny = model::kDynamic;
  const int n = model.dofs();
  const int m = model.contacts();
  const auto with = [&](auto run_it) {
    return run_it(model, scheme, run, state, observe, monitor);
  };
  if (!is_staggered(scheme)) return with(run_nodes);
  if (run.backward || run.control.is_on()) return with(run_special);
  if (model::FormulaView<3, 1, 1>::suits(model) && m == 1) {
    if (n == 2) return with(run_slipping<2, 1, 1>);
    if (n == 3) return with(run_slipping<3, 1, 1>);
  }
  if (model::FormulaView<3, 1, 2>::suits(model) && n == 3 && m == 1) {
    return with(run_slipping<3, 1, 2>);
  }
  if (!model::FormulaView<1, 1>::suits(model)) return with(run_sized<kAny, kAny>);
  if (n == 1 && m == 1) return with(run_sized<1, 1>);
  if (n == 2 && m == 1) return with(run_sized<2, 1>);
  if (n == 3 && m == 1) return with(run_sized<3, 1>);
  if (n == 3 && m == 2) return with(run_sized<3, 2>);
  if (n == 2) return with(run_sized<2, kAny>);
  if (n == 3) return with(run_sized<3, kAny>);
  return with(run_sized<kAny, kAny>);
}

}  // namespace ricochet::step
