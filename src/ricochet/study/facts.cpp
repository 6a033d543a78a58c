#include "ricochet/study/facts.h"

#include <fmt/format.h>

#include <map>

#include "ricochet/formula/lower.h"
#include "ricochet/scene/world_reader.h"
#include "ricochet/study/run_world.h"

namespace ricochet::study {
namespace {

using Values = std::map<std::string, double>;

/// Families z[1..N] and their velocities, at the end of the run.
void add_families(const Motion& motion, formula::Graph& graph, formula::Scope& scope) {
  if (motion.scene.formulas() == nullptr) return;
  for (const scene::CoordinateGroup& group : motion.scene.system().groups) {
    if (!group.indexed && group.name.find('[') != std::string::npos) {  // of a body, stone[3].x
      scope.define_member(group.name, graph.constant(motion.final_state.q[group.begin]));
      scope.define_member(group.name + "'", graph.constant(motion.final_state.u[group.begin]));
    }
    if (!group.indexed) continue;
    formula::Scope::Family positions{group.first, {}};
    formula::Scope::Family velocities{group.first, {}};
    for (int k = group.begin; k < group.begin + group.count; ++k) {
      positions.nodes.push_back(graph.constant(motion.final_state.q[k]));
      velocities.nodes.push_back(graph.constant(motion.final_state.u[k]));
    }
    scope.define_family(group.name, positions);
    scope.define_family(group.name + "'", velocities);
  }
}

/// Named formulas of the scene.
const std::vector<std::pair<std::string, formula::Definition>>& definitions_of(
    const scene::Scene& scene) {
  return scene.world() != nullptr ? scene.world()->definitions : scene.system().definitions;
}

/// What formulas of the scene may speak of, at the end of the run. A definition that has no finite
/// value there is left out.
Values scene_values(const Motion& motion) {
  const std::vector<std::string>& names = motion.scene.columns.coordinates;
  Values values = {{"t", motion.final_state.t}};
  for (const auto& [name, value] : motion.scene.parameters) values[name] = value;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    values[names[i]] = motion.final_state.q[at];
    values[names[i] + "'"] = motion.final_state.u[at];
  }
  if (motion.structure) return values;
  formula::Graph graph;
  formula::Scope scope;
  for (const auto& [name, value] : values) scope.define(name, graph.constant(value));
  add_families(motion, graph, scope);
  for (const auto& [name, definition] : definitions_of(motion.scene)) {
    if (!definition.indices.empty()) {
      scope.define_indexed(name, definition);
      continue;
    }
    try {
      const double value = formula::lower_number(definition.body, scope, graph);
      values[name] = value;
      scope.define(name, graph.constant(value));
    } catch (const formula::FormulaError&) {
      scope.forbid(name, "it has no value at the end of the run");
    }
  }
  return values;
}

/// Figures of families of contacts: "stack[3].gap"; and of bodies: "stone[3].x".
void add_contact_families(const Motion& motion, const Values& values, formula::Graph& graph,
                          formula::Scope& scope) {
  if (motion.world) {
    for (const scene::FigureName& figure : scene::figure_names(*motion.scene.world())) {
      scope.define_member(figure.name, graph.constant(values.at(figure.name)));
    }
    return;
  }
  for (const std::string& name : scene::fact_names(motion.scene)) {
    if (name.find('[') == std::string::npos) continue;
    scope.define_member(name, graph.constant(values.at(name)));
  }
}

/// What the certificate adds.
void add_certificate(const Motion& motion, Values& values) {
  const certify::Certificate& c = motion.outcome.certificate;
  const certify::Ledger& ledger = c.ledger;
  values.insert({
      {"energy.start", ledger.kinetic_start + ledger.potential_start},
      {"energy.end", ledger.kinetic_end + ledger.potential_end},
      {"energy.lowest", ledger.lowest},
      {"energy.highest", ledger.highest},
      {"energy.kinetic_max", ledger.kinetic_max},
      {"energy.forces", ledger.forces.value()},
      {"energy.contacts", ledger.contacts.value()},
      {"energy.shocks", ledger.shocks.value()},
      {"energy.friction", ledger.friction.value()},
      {"violation.max", c.violation_max},
      {"violation.mean", c.violation_mean()},
      {"violation.rms", c.violation_rms()},
      {"residual.max", c.residual_max},
      {"steps", static_cast<double>(motion.outcome.steps)},
  });
  const step::Columns& columns = motion.scene.columns;
  const std::vector<std::string>& contacts = columns.contacts;
  for (std::size_t a = 0; a < contacts.size(); ++a) {
    values[contacts[a] + ".gap"] = motion.outcome.gaps[a];
    if (a >= c.shock_counts.size()) continue;  // joints have none
    values[contacts[a] + ".shocks"] = static_cast<double>(c.shock_counts[a]);
    if (columns.slips_of(a) == 0) continue;
    const certify::FrictionRecord& record = c.friction[a];
    values[contacts[a] + ".stick_time"] = record.stick_time;
    values[contacts[a] + ".slip_time"] = record.slip_time;
    values[contacts[a] + ".dissipated"] = record.dissipated.value();
    values[contacts[a] + ".tangential_shocks"] = static_cast<double>(record.tangential_shocks);
  }
}

/// What bodies and watches add.
void add_bodies(const Motion& motion, Values& values) {
  values["joint.max"] = motion.outcome.certificate.joint_max;
  for (const auto& [name, value] : motion.world->watches) values[name] = value;
  motion.scene.world()->visit([&]<int D>(const body::World<D>&) {
    for (const scene::FigureName& figure : scene::figure_names(*motion.scene.world())) {
      const auto& body = motion.world->state<D>().bodies[static_cast<std::size_t>(figure.body)];
      values[figure.name] = body::figures_of(body)[static_cast<std::size_t>(figure.what)];
    }
  });
}

/// What the statistics of a structure add.
void add_statistics(const record::LineRecord& line, const certify::Certificate& c, Values& values) {
  values.insert({{"energy.loads", c.ledger.loads.value()},
                 {"energy.damping", c.ledger.damping.value()},
                 {"energy.closure", c.ledger.closure.value()},
                 {"average.gap", c.average_gap}});
  for (const structure::PointStatistics& point : line.points) {
    values[point.name + ".rms"] = point.rms.value;
    values[point.name + ".lowest"] = point.lowest;
    values[point.name + ".highest"] = point.highest;
    values[point.name + ".frequency"] = point.main_frequency;
  }
  for (const structure::GuideStatistics& guide : line.guides) {
    values[guide.name + ".impacts"] = static_cast<double>(guide.impacts);
    values[guide.name + ".rate"] = guide.rate.value;
    values[guide.name + ".contact_ratio"] = guide.contact_ratio.value;
    values[guide.name + ".impulse"] = guide.impulse;
    values[guide.name + ".impulse_max"] = guide.impulse_max;
    values[guide.name + ".force_max"] = guide.force_max;
    values[guide.name + ".work_normal"] = guide.work_normal.value;
    values[guide.name + ".work_sliding"] = guide.work_sliding.value;
    values[guide.name + ".first"] = guide.first_push;
    values[guide.name + ".last"] = guide.last_push;
  }
}

/// The values of the names a formula uses, "x = 1.2, wall.shocks = 3".
void list_values(const formula::Syntax& syntax, const Values& values, Values& used) {
  if (syntax.kind == formula::Syntax::Kind::Name) {
    std::string name = syntax.text;
    if (!syntax.children.empty() && syntax.children[0].kind == formula::Syntax::Kind::Number) {
      name += fmt::format("[{}]", syntax.children[0].value);
    }
    if (!syntax.suffix.empty()) name += "." + syntax.suffix;
    if (syntax.primes > 0) name += "'";
    if (const auto found = values.find(name); found != values.end()) used.insert(*found);
  }
  for (const formula::Syntax& child : syntax.children) list_values(child, values, used);
}

/// Each expectation with the values of the names that it uses.
std::vector<Fact> judge(const std::vector<scene::Expectation>& expectations, const Values& values,
                        const formula::Scope& scope, formula::Graph& graph) {
  std::vector<Fact> facts;
  for (const scene::Expectation& expectation : expectations) {
    Fact fact;
    fact.statement = fmt::format("{}: {}", expectation.name, expectation.text);
    if (!expectation.source.empty()) fact.statement += fmt::format("  [{}]", expectation.source);
    try {
      fact.holds = formula::lower_number(expectation.syntax, scope, graph) != 0.0;
      Values used;
      list_values(expectation.syntax, values, used);
      for (const auto& [name, value] : used) {
        fact.found += fmt::format("{}{} = {:.9g}", fact.found.empty() ? "" : ", ", name, value);
      }
    } catch (const formula::FormulaError& error) {
      fact.found =
          fmt::format("{}{}{}", error.what(), error.remedy().empty() ? "" : ": ", error.remedy());
    }
    facts.push_back(fact);
  }
  return facts;
}

}  // namespace

std::vector<Fact> check_expectations(const Motion& motion) {
  Values values = scene_values(motion);
  add_certificate(motion, values);
  if (motion.structure) add_statistics(*motion.structure, motion.outcome.certificate, values);
  if (motion.world) add_bodies(motion, values);
  formula::Graph graph;
  formula::Scope scope;
  for (const auto& [name, value] : values) scope.define(name, graph.constant(value));
  add_families(motion, graph, scope);
  add_contact_families(motion, values, graph, scope);
  if (!motion.structure) {
    for (const auto& [name, definition] : definitions_of(motion.scene)) {
      if (!definition.indices.empty()) {
        scope.define_indexed(name, definition);
      } else if (!values.contains(name))
        scope.forbid(name, "it has no value at the end of the run");
    }
  }
  return judge(motion.scene.expectations, values, scope, graph);
}

}  // namespace ricochet::study
