#include "ricochet/study/facts.h"

#include <fmt/format.h>

#include <map>

#include "ricochet/formula/lower.h"

namespace ricochet::study {
namespace {

std::map<std::string, double> fact_values(const Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  const certify::Ledger& ledger = c.ledger;
  std::map<std::string, double> values = {
      {"energy.start", ledger.kinetic_start + ledger.potential_start},
      {"energy.end", ledger.kinetic_end + ledger.potential_end},
      {"energy.lowest", ledger.lowest},
      {"energy.highest", ledger.highest},
      {"energy.kinetic_max", ledger.kinetic_max},
      {"energy.forces", ledger.forces.value()},
      {"energy.contacts", ledger.contacts.value()},
      {"energy.shocks", ledger.shocks.value()},
      {"violation.max", c.violation_max},
      {"violation.mean", c.violation_mean()},
      {"violation.rms", c.violation_rms()},
      {"residual.max", c.residual_max},
      {"steps", static_cast<double>(motion.outcome.steps)},
      {"t", motion.final_state.t},
  };
  for (const auto& [name, value] : motion.scene.parameters) values[name] = value;
  const model::FormulaModel& model = *motion.scene.model;
  for (std::size_t i = 0; i < model.coordinates().size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    values[model.coordinates()[i]] = motion.final_state.q[at];
    values[model.coordinates()[i] + "'"] = motion.final_state.u[at];
  }
  for (std::size_t a = 0; a < model.contact_names().size(); ++a) {
    values[model.contact_names()[a] + ".gap"] = motion.outcome.gaps[a];
    values[model.contact_names()[a] + ".shocks"] = static_cast<double>(c.shock_counts[a]);
  }
  return values;
}

/// The values of the names a formula uses, "x = 1.2, wall.shocks = 3".
void list_values(const formula::Syntax& syntax, const std::map<std::string, double>& values,
                 std::map<std::string, double>& used) {
  if (syntax.kind == formula::Syntax::Kind::Name) {
    const std::string name = syntax.text + (syntax.primes > 0 ? "'" : "");
    if (const auto found = values.find(name); found != values.end()) used.insert(*found);
  }
  for (const formula::Syntax& child : syntax.children) list_values(child, values, used);
}

}  // namespace

std::vector<Fact> check_expectations(const Motion& motion) {
  const std::map<std::string, double> values = fact_values(motion);
  formula::Graph graph;
  formula::Scope scope;
  for (const auto& [name, value] : values) scope.define(name, graph.constant(value));
  std::vector<Fact> facts;
  for (const scene::Expectation& expectation : motion.scene.expectations) {
    Fact fact;
    fact.statement = fmt::format("{}: {}", expectation.name, expectation.text);
    if (!expectation.source.empty()) fact.statement += fmt::format("  [{}]", expectation.source);
    try {
      fact.holds = formula::lower_number(expectation.syntax, scope, graph) != 0.0;
      std::map<std::string, double> used;
      list_values(expectation.syntax, values, used);
      for (const auto& [name, value] : used) {
        fact.found += fmt::format("{}{} = {:.9g}", fact.found.empty() ? "" : ", ", name, value);
      }
    } catch (const formula::FormulaError& error) {
      fact.found = error.what();
    }
    facts.push_back(fact);
  }
  return facts;
}

}  // namespace ricochet::study
