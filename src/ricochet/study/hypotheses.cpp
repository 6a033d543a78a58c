#include "ricochet/study/hypotheses.h"

#include "ricochet/formula/analytic.h"
#include "ricochet/formula/derivative.h"
#include "ricochet/formula/growth.h"

namespace ricochet::study {
namespace {

using formula::NodeId;

/// Formulas of which all must be analytic; the first that is not tells why.
class Formulas {
 public:
  explicit Formulas(const formula::Graph& graph) : graph_(graph) {}
  void add(NodeId node, const std::string& of) {
    if (node < 0 || (found_.holds && !*found_.holds)) return;
    const formula::Analyticity next = formula::analyticity_of(graph_, node);
    if (next.holds.value_or(false) || (!next.holds && !found_.holds)) return;
    found_ = {found_.what, next.holds, next.why + " in " + of};
  }
  Hypothesis told(const std::string& what, bool is_outside) {
    found_.what = what;
    if (is_outside && found_.holds) found_ = {what, std::nullopt, "a function of a program"};
    return found_;
  }

 private:
  const formula::Graph& graph_;
  Hypothesis found_{{}, true, {}};
};

Hypothesis analytic_forces(const model::FormulaSystem& system) {
  Formulas formulas(system.graph);
  for (std::size_t i = 0; i < system.forces.size(); ++i) {
    formulas.add(system.forces[i], "the force on '" + system.coordinates[i] + "'");
  }
  formulas.add(system.potential, "the potential");
  formulas.add(system.damping, "the damping");
  return formulas.told("forces are analytic", system.outside_force);
}

Hypothesis analytic_gaps(const model::FormulaModel& model) {
  const model::FormulaSystem& system = model.system();
  Formulas formulas(system.graph);
  for (std::size_t a = 0; a < system.gaps.size(); ++a) {
    formulas.add(system.gaps[a], "keep of '" + system.contacts[a] + "'");
  }
  Hypothesis told = formulas.told("gaps are analytic", model.has_outside_gaps());
  if (model.has_where()) told = {told.what, false, "a wall that is not everywhere: 'where'"};
  return told;
}

Hypothesis analytic_mass(const model::FormulaSystem& system) {
  Formulas formulas(system.graph);
  formulas.add(system.kinetic, "the kinetic energy");
  return formulas.told("the mass is analytic", system.outside_mass);
}

Hypothesis resting_walls(const model::FormulaSystem& system) {
  for (std::size_t a = 0; a < system.gaps.size(); ++a) {
    if (!system.graph.depends_on(system.gaps[a], 0, 1)) continue;
    return {"walls stand still", false, "'" + system.contacts[a] + "' depends on t"};
  }
  return {"walls stand still", true, {}};
}

/// Where two walls never meet, or all but one are missing, there is nothing to be dependent.
Hypothesis independent_walls(const model::FormulaModel& model) {
  const char* what = "gradients are independent where walls meet";
  if (model.contacts() - model.joints() <= 1) return {what, true, {}};
  return {what, std::nullopt, "inspect tells it of an instant"};
}

/// Newton's law with e in [0, 1] for all, Poisson's and reflections in turn are functions of the
/// state; those of a user are held against the conditions at each impact.
Hypothesis passive_law(const model::FormulaModel& model) {
  const char* what = "the impact law is a function of the state that creates no energy";
  for (int a = 0; a < model.contacts() - model.joints(); ++a) {
    if (model.has_laws() && !model.law(a).is_plain()) {
      return {what, std::nullopt, "a law of its own: checked at each impact of a run"};
    }
    if (model.restitution(a) != model.restitution(0)) {
      return {what, std::nullopt, "contacts differ in e"};
    }
  }
  return {what, true, {}};
}

/// |Q| <= l(t) (1 + |q| + |u|), with distances those of a constant metric.
Hypothesis linear_forces(const model::FormulaModel& model) {
  const char* what = "forces grow at most linearly with q and q'";
  if (!model.has_constant_mass()) return {what, std::nullopt, "distances are those of M(q)"};
  model::FormulaSystem system = model.system();
  if (system.outside_force) return {what, std::nullopt, "a function of a program"};
  std::vector<NodeId> parts = system.forces;
  const auto add_slopes = [&](NodeId function, const std::vector<int>& slots) {
    if (function < 0) return;
    const std::vector<NodeId> slopes = formula::gradient(system.graph, function, slots);
    parts.insert(parts.end(), slopes.begin(), slopes.end());
  };
  add_slopes(system.potential, system.position_slots());
  add_slopes(system.damping, system.velocity_slots());
  for (const NodeId part : parts) {
    const double degree =
        formula::growth_degree(system.graph, part, system.position_slot(0), system.inputs());
    if (degree > 1.0) return {what, std::nullopt, "the formulas do not show it"};
  }
  return {what, true, {}};
}

}  // namespace

Hypotheses hypotheses_of(const model::FormulaModel& model) {
  const model::FormulaSystem& system = model.system();
  Hypotheses all;
  all.one_motion = {analytic_forces(system), analytic_gaps(model), analytic_mass(system)};
  all.one_motion.push_back(resting_walls(system));
  all.one_motion.push_back({"contacts are without friction", !model.has_friction(), {}});
  all.one_motion.push_back({"there are no joints", model.joints() == 0, {}});
  all.one_motion.push_back(independent_walls(model));
  all.one_motion.push_back(passive_law(model));
  Hypothesis complete{"the metric is complete", true, {}};
  if (!model.has_constant_mass()) complete = {complete.what, std::nullopt, "the mass varies"};
  all.for_ever = {complete, linear_forces(model)};
  return all;
}

std::optional<bool> all_hold(const std::vector<Hypothesis>& list) {
  std::optional<bool> all = true;
  for (const Hypothesis& one : list) {
    if (one.holds && !*one.holds) return false;
    if (!one.holds) all.reset();
  }
  return all;
}

}  // namespace ricochet::study
