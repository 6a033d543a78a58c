#include "ricochet/scene/formula_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ricochet/base/text.h"
#include "ricochet/model/formula_model.h"

namespace ricochet::scene {
namespace {

void collect_names(const formula::Syntax& syntax, std::set<std::string>& names) {
  if (syntax.kind == formula::Syntax::Kind::Name) names.insert(syntax.text);
  for (const formula::Syntax& child : syntax.children) collect_names(child, names);
}

/// A formula that has been read before, or a number.
formula::Syntax syntax_of(const Value& value) {
  if (value.kind == Value::Kind::Text) return formula::parse(value.text);
  formula::Syntax number;
  number.value = value.number;
  return number;
}

/// Puts named formulas into an order in which each comes after those it is made of.
class DependencyOrder {
 public:
  DependencyOrder(const std::map<std::string, std::set<std::string>>& uses) : uses_(uses) {}

  /// Empty when `name` is fine; else the circle it is caught in, as "a -> b -> a".
  std::string visit(const std::string& name) {
    if (done_.contains(name)) return "";
    const auto open = std::find(path_.begin(), path_.end(), name);
    if (open != path_.end()) {
      std::string circle;
      for (auto at = open; at != path_.end(); ++at) circle += *at + " -> ";
      return circle + name;
    }
    path_.push_back(name);
    for (const std::string& used : uses_.at(name)) {
      if (!uses_.contains(used)) continue;
      if (std::string circle = visit(used); !circle.empty()) return circle;
    }
    path_.pop_back();
    done_.insert(name);
    order_.push_back(name);
    return "";
  }

  const std::vector<std::string>& order() const { return order_; }

 private:
  const std::map<std::string, std::set<std::string>>& uses_;
  std::vector<std::string> path_;
  std::set<std::string> done_;
  std::vector<std::string> order_;
};

}  // namespace

void FormulaReader::rethrow(const formula::FormulaError& error, const Value& value,
                            const std::string& key) const {
  const std::string remedy = error.remedy().empty()
                                 ? "mend the formula there; docs/guide/scenes.md has the language"
                                 : error.remedy();
  throw base::InputError(key, error.what(), remedy,
                         document_.spot_inside(value, error.extent().begin, error.extent().length));
}

const std::string& FormulaReader::text_of(const Value& value, const std::string& key) const {
  if (value.kind == Value::Kind::Text) return value.text;
  throw base::InputError(
      key, fmt::format("must be a number or a formula in quotes, not {}", value.kind_name()),
      "write for example 0.5 or \"2*R\"", document_.spot_of(value));
}

void FormulaReader::check_new_name(const std::string& name, const std::string& key,
                                   const Value& at) const {
  const auto fail = [&](const std::string& message, const std::string& remedy) {
    throw base::InputError(key, message, remedy, document_.spot_of_key(at));
  };
  if (!formula::is_plain_name(name)) {
    fail(fmt::format("'{}' is not a name", name), "names are letters, digits and _, such as x1");
  }
  if (formula::is_reserved(name)) {
    fail(fmt::format("'{}' is a word of the language", name), "choose another name");
  }
  if (velocity_scope_.find(name) || velocity_scope_.find_family(name) != nullptr) {
    fail(fmt::format("the name '{}' is used twice", name), "choose another name for one of them");
  }
}

formula::Scope FormulaReader::scope_for(Speaks speaks) const {
  switch (speaks) {
    case Speaks::Parameters: return parameter_scope_;
    case Speaks::Position: return position_scope_;
    case Speaks::Velocity: break;
  }
  return velocity_scope_;
}

void FormulaReader::add_parameters(const Value& table) {
  parameter_scope_.forbid("t", "a parameter is a number; it cannot depend on time");
  read_in_order(table, "system.parameters", true);
}

void FormulaReader::add_definitions(const Value& table) {
  read_in_order(table, "system.define", false);
}

void FormulaReader::read_in_order(const Value& table, const std::string& path, bool parameters) {
  std::map<std::string, std::set<std::string>> uses;
  for (const auto& [name, value] : table.entries) {
    const std::string key = path + "." + name;
    check_new_name(name, key, value);
    std::set<std::string>& names = uses[name];
    if (value.kind == Value::Kind::Number) continue;
    const std::string& text = text_of(value, key);
    guarded(value, key, [&] { collect_names(formula::parse(text), names); });
  }
  DependencyOrder order(uses);
  for (const auto& [name, value] : table.entries) {
    const std::string circle = order.visit(name);
    if (circle.empty()) continue;
    throw base::InputError(path + "." + name, fmt::format("depends on itself: {}", circle),
                           "break the circle", document_.spot_of_key(value));
  }
  for (const std::string& name : order.order()) {
    const std::string key = path + "." + name;
    const Value& value = *table.find(name);
    const formula::NodeId node = read_one(value, key, parameters);
    if (parameters) {
      parameter_scope_.define(name, node);
      parameters_.emplace_back(name, graph_[node].value);
    } else {
      definitions_.emplace_back(name, syntax_of(value));
    }
    const int first_velocity = 1 + coordinates_;
    if (graph_.depends_on(node, first_velocity, first_velocity + coordinates_)) {
      position_scope_.forbid(name, fmt::format("'{}' is made of velocities", name));
    } else {
      position_scope_.define(name, node);
    }
    velocity_scope_.define(name, node);
  }
}

formula::NodeId FormulaReader::read_one(const Value& value, const std::string& key,
                                        bool parameter) {
  if (parameter) return graph_.constant(number(value, key));
  return formula(value, key, Speaks::Velocity);
}

void FormulaReader::add_coordinates(const std::vector<std::string>& names) {
  coordinates_ = static_cast<int>(names.size());
  const formula::NodeId time = graph_.input(model::FormulaSystem::kTimeSlot);
  position_scope_.define("t", time);
  velocity_scope_.define("t", time);
  for (int i = 0; i < coordinates_; ++i) {
    const std::string& name = names[static_cast<std::size_t>(i)];
    const formula::NodeId position = graph_.input(1 + i);
    parameter_scope_.forbid(name, "a number is needed here; it cannot depend on coordinates");
    position_scope_.define(name, position);
    velocity_scope_.define(name, position);
    position_scope_.forbid(name + "'", "only t and positions can be used here, not velocities");
    velocity_scope_.define(name + "'", graph_.input(1 + coordinates_ + i));
  }
}

double FormulaReader::number(const Value& value, const std::string& key) {
  if (value.kind == Value::Kind::Number) {
    if (std::isfinite(value.number)) return value.number;
    throw base::InputError(key, fmt::format("must be a finite number, not {}", value.number),
                           "write a number", document_.spot_of(value));
  }
  const std::string& text = text_of(value, key);
  return guarded(value, key, [&] {
    return formula::lower_number(formula::parse(text), parameter_scope_, graph_);
  });
}

formula::NodeId FormulaReader::formula(const Value& value, const std::string& key, Speaks speaks) {
  if (value.kind == Value::Kind::Number) return graph_.constant(number(value, key));
  const std::string& text = text_of(value, key);
  return guarded(value, key,
                 [&] { return formula::lower(formula::parse(text), scope_for(speaks), graph_); });
}

std::vector<formula::Comparison> FormulaReader::relation(const Value& value, const std::string& key,
                                                         Speaks speaks) {
  const std::string& text = text_of(value, key);
  return guarded(value, key, [&] {
    const formula::Syntax syntax = formula::parse(text);
    if (syntax.kind != formula::Syntax::Kind::Relation) {
      throw formula::FormulaError("must be an inequality", syntax.extent,
                                  "write left <= right or left >= right");
    }
    return formula::lower_relation(syntax, scope_for(speaks), graph_);
  });
}

formula::Syntax FormulaReader::check_fact(const Value& value, const std::string& key,
                                          const std::vector<std::string>& fact_names) const {
  formula::Graph scratch;
  formula::Scope scope;
  int slot = 0;
  for (const std::string& name : velocity_scope_.names()) scope.define(name, scratch.input(slot++));
  for (const std::string& name : fact_names) scope.define(name, scratch.input(slot++));
  return guarded(value, key, [&] {
    formula::Syntax syntax = formula::parse(value.text);
    (void)formula::lower(syntax, scope, scratch);
    return syntax;
  });
}

}  // namespace ricochet::scene
