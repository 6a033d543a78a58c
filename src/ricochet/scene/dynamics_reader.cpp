#include "ricochet/scene/dynamics_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ricochet/base/random.h"
#include "ricochet/base/text.h"

namespace ricochet::scene {
namespace {

constexpr const char* kWays =
    "write one of every = \"2*pi/w\", when = \"x'\" or at = \"impact of NAME\"";

class SectionReader {
 public:
  SectionReader(const Document& document, FormulaReader& formulas,
                const std::vector<CoordinateGroup>& groups,
                const std::vector<std::string>& contacts)
      : document_(document), formulas_(formulas), contacts_(contacts) {
    for (const CoordinateGroup& group : groups) {
      for (int k = 0; k < group.count; ++k) coordinates_.push_back(group.full_name(k));
    }
  }

  void read(const Value* table, double period, SectionPlan& plan) {
    if (table != nullptr) {
      TableReader section(document_, *table, "section");
      read_way(section, plan);
      read_keep(section.find("keep"), section, plan);
      section.finish();
    } else {
      read_keep(nullptr, std::nullopt, plan);
    }
    if (plan.kind == SectionPlan::Kind::None && period > 0.0) {
      plan.kind = SectionPlan::Kind::Every;
      plan.every = period;
    }
  }

 private:
  void read_way(TableReader& section, SectionPlan& plan) {
    const Value* every = section.find("every");
    const Value* when = section.find("when");
    const Value* at = section.find("at");
    const Value* direction = section.find("direction");
    const int ways = (every != nullptr) + (when != nullptr) + (at != nullptr);
    if (ways > 1) section.fail(section.value(), "every", "more than one way is given", kWays);
    if (direction != nullptr && when == nullptr) {
      section.fail(*direction, "direction", "is that of a formula that vanishes", kWays);
    }
    if (every != nullptr) {
      plan.kind = SectionPlan::Kind::Every;
      plan.every = formulas_.number(*every, "section.every");
      if (!(plan.every > 0.0)) section.fail(*every, "every", "must be positive", kWays);
    }
    if (when != nullptr) {
      plan.kind = SectionPlan::Kind::When;
      plan.when = formulas_.formula(*when, "section.when", Speaks::Velocity);
      if (direction != nullptr) {
        const std::array<std::string, 3> words = {"down", "both", "up"};
        const auto found = std::find(words.begin(), words.end(), section.text("direction").value());
        if (found == words.end()) {
          section.fail(*direction, "direction", "is not known",
                       "write \"up\", \"down\" or \"both\"");
        }
        plan.direction = static_cast<int>(found - words.begin()) - 1;
      }
    }
    if (at != nullptr) read_impact(section, *at, plan);
  }

  /// "impact of wall", "after impact of wall".
  void read_impact(TableReader& section, const Value& at, SectionPlan& plan) {
    std::string words = section.text("at").value();
    plan.kind = SectionPlan::Kind::Impact;
    const auto strip = [&](const std::string& head) {
      if (!words.starts_with(head)) return false;
      words = base::trimmed(words.substr(head.size()));
      return true;
    };
    plan.is_after = strip("after ");
    const bool is_impact = strip("impact of ");
    const auto found = std::find(contacts_.begin(), contacts_.end(), words);
    if (is_impact && found != contacts_.end()) {
      plan.contact = static_cast<int>(found - contacts_.begin());
      return;
    }
    section.fail(at, "at",
                 is_impact ? fmt::format("the scene has no contact '{}'", words)
                           : fmt::format("'{}' is not known", section.text("at").value()),
                 fmt::format("write \"impact of NAME\" or \"after impact of NAME\"; contacts: {}",
                             base::list_names(contacts_)));
  }

  /// Formulas of t, coordinates, velocities, `phase` and, of an impact, NAME.approach.
  void read_keep(const Value* value, std::optional<TableReader> section, SectionPlan& plan) {
    std::vector<std::string> columns = {"phase"};
    columns.push_back(plan.contact >= 0
                          ? contacts_[static_cast<std::size_t>(plan.contact)] + ".approach"
                          : "approach of no contact");
    if (value == nullptr) {  // coordinates and velocities: formulas that need no other
      const int count = static_cast<int>(coordinates_.size());
      for (int i = 0; i < 2 * count; ++i) {
        const std::string& name = coordinates_[static_cast<std::size_t>(i % count)];
        plan.names.push_back(i < count ? name : "d_" + name);
        plan.keep.push_back(plan.graph.input(1 + i));
      }
      return;
    }
    plan.graph = formulas_.graph();
    const bool is_list = value->kind == Value::Kind::Array && !value->items.empty();
    if (!is_list) {
      section->fail(*value, "keep", "must be a list of formulas", "write keep = [\"x\", \"x'\"]");
    }
    for (const Value& item : value->items) {
      plan.keep.push_back(formulas_.row_formula(item, "section.keep", columns, plan.graph));
      std::string name = item.text;
      if (name.size() > 1 && name.ends_with('\'')) name = "d_" + name.substr(0, name.size() - 1);
      plan.names.push_back(name);
    }
  }

  const Document& document_;
  FormulaReader& formulas_;
  const std::vector<std::string>& contacts_;
  std::vector<std::string> coordinates_;
};

void read_sweep_table(const Document& document, FormulaReader& formulas, const Value& table,
                      SweepPlan& plan) {
  TableReader sweep(document, table, "sweep");
  const Value& over =
      sweep.require("over", "write over = { A = { from = 0.3, to = 1.2, count = 900 } }");
  (void)sweep.table("over");
  plan.over = read_sweep(document, over);
  if (const Value* follow = sweep.find("follow")) {
    const std::array<std::string, 4> words = {"forward", "backward", "both", "fresh"};
    const auto found = std::find(words.begin(), words.end(), sweep.text("follow").value());
    if (found == words.end()) {
      sweep.fail(*follow, "follow", "is not known",
                 "write \"forward\", \"backward\", \"both\" or \"fresh\"");
    }
    plan.follow = static_cast<SweepPlan::Follow>(found - words.begin());
  }
  const auto whole = [&](const char* key, int least, int& to) {
    const Value* value = sweep.find(key);
    if (value == nullptr) return;
    const double number = formulas.number(*value, sweep.full(key));
    if (!(number >= least) || number != std::floor(number) || number > 1e8) {
      sweep.fail(*value, key, fmt::format("must be a whole number >= {}, not {}", least, number),
                 "write how many");
    }
    to = static_cast<int>(number);
  };
  whole("settle", 0, plan.settle);
  whole("show", 1, plan.show);
  whole("seeds", 0, plan.seeds);
  sweep.finish();
}

}  // namespace

void read_dynamics(const Document& document, FormulaReader& formulas,
                   const std::vector<CoordinateGroup>& groups,
                   const std::vector<std::string>& contacts, const Value* section,
                   const Value* sweep, DynamicsPlan& plan) {
  SectionReader(document, formulas, groups, contacts).read(section, plan.period, plan.section);
  if (sweep != nullptr) read_sweep_table(document, formulas, *sweep, plan.sweep);
}

void check_period(const Document& document, const model::FormulaSystem& system, double period) {
  const Value& value = *document.root().find("system")->find("period");
  const auto fail = [&](const std::string& what, const std::string& remedy) {
    throw base::InputError("system.period", what, remedy, document.spot_of(value));
  };
  if (!(period > 0.0)) fail("must be positive", "write the period of the forces and walls");
  std::vector<std::pair<std::string, formula::NodeId>> parts;
  const auto add = [&](const std::string& name, formula::NodeId node) {
    if (node >= 0 && system.graph.depends_on(node, 0, 1)) parts.emplace_back(name, node);
  };
  for (std::size_t i = 0; i < system.forces.size(); ++i) {
    add("the force on " + system.coordinates[i], system.forces[i]);
  }
  add("the potential", system.potential);
  add("the damping", system.damping);
  for (std::size_t a = 0; a < system.gaps.size(); ++a) {
    add("the gap of " + system.contacts[a], system.gaps[a]);
  }
  for (const formula::NodeId roll : system.rolls) add("a velocity kept at 0", roll);
  base::Random random(1);
  std::vector<double> inputs(static_cast<std::size_t>(system.inputs()) + 1);
  for (int trial = 0; trial < 8; ++trial) {
    for (double& input : inputs) input = random.uniform(-2.0, 2.0);
    std::vector<double> later = inputs;
    later[0] += period;
    for (const auto& [name, node] : parts) {
      const double now = system.graph.evaluate(node, inputs);
      const double then = system.graph.evaluate(node, later);
      if (!(std::abs(then - now) > 1e-9 * (1.0 + std::abs(now)))) continue;
      fail(fmt::format("{} does not repeat after {:g}", name, period),
           "write the period after which forces and walls repeat");
    }
  }
}

}  // namespace ricochet::scene
