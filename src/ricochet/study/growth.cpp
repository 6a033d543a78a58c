#include "ricochet/study/growth.h"

#include "ricochet/formula/derivative.h"
#include "ricochet/formula/growth.h"

namespace ricochet::study {

Growth growth_of(const model::FormulaModel& model) {
  if (!model.has_constant_mass()) return Growth::NotReadOff;  // distances are those of the metric
  model::FormulaSystem system = model.system();
  std::vector<formula::NodeId> parts = system.forces;
  const auto add_slopes = [&](formula::NodeId function, const std::vector<int>& slots) {
    if (function < 0) return;
    const std::vector<formula::NodeId> slopes = formula::gradient(system.graph, function, slots);
    parts.insert(parts.end(), slopes.begin(), slopes.end());
  };
  add_slopes(system.potential, system.position_slots());
  add_slopes(system.damping, system.velocity_slots());
  for (const formula::NodeId part : parts) {
    const double degree =
        formula::growth_degree(system.graph, part, system.position_slot(0), system.inputs());
    if (degree > 1.0) return Growth::NotReadOff;
  }
  return Growth::AtMostLinear;
}

}  // namespace ricochet::study
