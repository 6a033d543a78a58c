#include "ricochet/scene/formula_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "ricochet/base/text.h"
#include "ricochet/model/formula_model.h"

namespace ricochet::scene {
namespace {

/// Names without their primes, and whether one has a prime, so that it is a velocity.
bool collect_names(const formula::Syntax& syntax, std::set<std::string>& names) {
  const bool is_name = syntax.kind == formula::Syntax::Kind::Name;
  if (is_name) names.insert(syntax.text);
  bool has_velocity = is_name && syntax.primes > 0;
  for (const formula::Syntax& child : syntax.children) {
    has_velocity |= collect_names(child, names);
  }
  return has_velocity;
}

/// A formula that has been read before, or a number.
formula::Syntax syntax_of(const Value& value) {
  if (value.kind == Value::Kind::Text) return formula::parse(value.text);
  formula::Syntax number;
  number.value = value.number;
  return number;
}

/// "d" and its indices of "d[i][j]" or "d[i, j]".
std::pair<std::string, std::vector<std::string>> split_indices(const std::string& name) {
  const std::size_t open = name.find('[');
  if (open == std::string::npos || name.back() != ']') return {name, {}};
  std::string inside = name.substr(open + 1, name.size() - open - 2);
  for (std::size_t at = inside.find("]["); at != std::string::npos; at = inside.find("][")) {
    inside.replace(at, 2, ",");
  }
  std::vector<std::string> indices;
  for (std::size_t begin = 0; begin <= inside.size();) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    indices.push_back(base::trimmed(inside.substr(begin, end - begin)));
    begin = end + 1;
  }
  return {base::trimmed(name.substr(0, open)), indices};
}

/// A named formula of a table, and those of the same table that it is made of.
struct Named {
  std::string name;
  std::vector<std::string> indices;
  const Value* value{nullptr};
  std::vector<std::size_t> uses;
  bool has_velocity{false};  // maybe
};

/// Puts named formulas into an order in which each comes after those it is made of.
class DependencyOrder {
 public:
  explicit DependencyOrder(const std::vector<Named>& all) : all_(all), state_(all.size()) {}

  /// Empty when formula `root` is fine; else the circle it is caught in, as "a -> b -> a".
  std::string visit(std::size_t root) {
    if (state_[root] == kNew) open(root);
    while (!path_.empty()) {
      auto& [at, next] = path_.back();
      if (next == all_[at].uses.size()) {
        state_[at] = kDone;
        order_.push_back(at);
        path_.pop_back();
        continue;
      }
      const std::size_t used = all_[at].uses[next++];
      if (state_[used] == kOpen) return circle_at(used);
      if (state_[used] == kNew) open(used);
    }
    return "";
  }

  const std::vector<std::size_t>& order() const { return order_; }

 private:
  static constexpr char kNew = 0, kOpen = 1, kDone = 2;

  void open(std::size_t at) {
    state_[at] = kOpen;
    path_.emplace_back(at, 0);
  }

  std::string circle_at(std::size_t first) const {
    std::string circle;
    for (const auto& [at, next] : path_) {
      if (at == first || !circle.empty()) circle += all_[at].name + " -> ";
    }
    return circle + all_[first].name;
  }

  const std::vector<Named>& all_;
  std::vector<char> state_;
  std::vector<std::pair<std::size_t, std::size_t>> path_;  // a formula, and its next use
  std::vector<std::size_t> order_;
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
    fail(fmt::format("'{}' is not a name", name),
         "names are Latin and Greek letters, digits and _, such as x1");
  }
  if (formula::is_reserved(name)) {
    fail(fmt::format("'{}' is a word of the language", name), "choose another name");
  }
  if (velocity_scope_.has(name)) {
    fail(fmt::format("the name '{}' is used twice", name), "choose another name for one of them");
  }
}

const formula::Scope& FormulaReader::scope_for(Speaks speaks) const {
  switch (speaks) {
    case Speaks::Parameters: return parameter_scope_;
    case Speaks::Position: return position_scope_;
    case Speaks::Velocity: break;
  }
  return velocity_scope_;
}

void FormulaReader::add_parameters(const Value& table, const std::string& path) {
  parameter_scope_.forbid("t", "a parameter is a number; it cannot depend on time");
  read_in_order(table, path, true);
}

void FormulaReader::add_definitions(const Value& table, const std::string& path) {
  read_in_order(table, path, false);
}

void FormulaReader::read_in_order(const Value& table, const std::string& path, bool parameters) {
  std::map<std::string, std::size_t> place;
  std::vector<Named> all(table.entries.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto& [name, value] = table.entries[k];
    if (parameters) {
      all[k].name = name;
    } else {
      std::tie(all[k].name, all[k].indices) = split_indices(name);
    }
    all[k].value = &value;
    check_new_name(all[k].name, path + "." + name, value);
    if (place.emplace(all[k].name, k).second) continue;
    throw base::InputError(path + "." + name, fmt::format("the name '{}' is used twice", name),
                           "choose another name for one of them", document_.spot_of_key(value));
  }
  for (Named& one : all) {
    if (one.value->kind == Value::Kind::Number) continue;
    const std::string key = path + "." + one.name;
    const std::string& text = text_of(*one.value, key);
    if (parameters && formula::split_quantity(text)) continue;
    std::set<std::string> names;
    guarded(*one.value, key,
            [&] { one.has_velocity = collect_names(formula::parse(text), names); });
    for (const std::string& used : names) {
      if (const auto at = place.find(used); at != place.end()) one.uses.push_back(at->second);
    }
  }
  DependencyOrder order(all);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::string circle = order.visit(k);
    if (circle.empty()) continue;
    throw base::InputError(path + "." + all[k].name, fmt::format("depends on itself: {}", circle),
                           "break the circle", document_.spot_of_key(*all[k].value));
  }
  for (const std::size_t at : order.order()) {
    Named& one = all[at];
    const std::string key = path + "." + one.name;
    if (!one.indices.empty()) {
      define_indexed(one.name, key, *one.value, std::move(one.indices));
      continue;
    }
    for (const std::size_t used : one.uses) one.has_velocity |= all[used].has_velocity;
    one.has_velocity = define_one(one.name, key, *one.value, parameters, one.has_velocity);
  }
}

formula::NodeId FormulaReader::parameter_node(const std::string& name, const std::string& key,
                                              const Value& value) {
  formula::NodeId node = -1;
  const double found = number(value, key, {}, &node);
  const auto slot = std::find(slots_.begin(), slots_.end(), name);
  if (slot != slots_.end() && value.kind == Value::Kind::Number) {
    ++found_slots_;
    return graph_.slot(static_cast<int>(slot - slots_.begin()), found);
  }
  return node >= 0 ? node : graph_.constant(found);
}

/// Returns whether the formula is made of velocities, where it may be.
bool FormulaReader::define_one(const std::string& name, const std::string& key, const Value& value,
                               bool parameter, bool may_have_velocity) {
  const formula::NodeId node =
      parameter ? parameter_node(name, key, value) : formula(value, key, Speaks::Velocity);
  if (has_units_) {
    if (parameter) {
      formula::Dimension& found = dimensions_.names[name] = dimension_of(value, key);
      found.is_any = value.kind == Value::Kind::Number && value.number == 0.0;
    } else {
      dimensions_.definitions[name] = {{}, syntax_of(value)};
    }
  }
  if (parameter) {
    parameter_scope_.define(name, node);
    parameters_.emplace_back(name, graph_[node].value);
  } else {
    definitions_.emplace_back(name, formula::Definition{{}, syntax_of(value)});
  }
  const int first = 1 + coordinates_;
  const bool has_velocity =
      may_have_velocity && graph_.depends_on(node, first, first + coordinates_);
  if (has_velocity) {
    position_scope_.forbid(name, fmt::format("'{}' is made of velocities", name));
  } else {
    position_scope_.define(name, node);
  }
  velocity_scope_.define(name, node);
  return has_velocity;
}

/// d[i] = ...: every name in it is known, an index, or that of a sum in it.
void FormulaReader::define_indexed(const std::string& name, const std::string& key,
                                   const Value& value, std::vector<std::string> indices) {
  std::set<std::string> seen;
  for (const std::string& index : indices) {
    check_new_name(index, key, value);
    if (seen.insert(index).second && index != name) continue;
    throw base::InputError(key, fmt::format("the name '{}' is used twice", index),
                           "choose another name for one of them", document_.spot_of_key(value));
  }
  formula::Definition definition{std::move(indices), syntax_of(value)};
  guarded(value, key,
          [&] { formula::check_names(definition.body, velocity_scope_, definition.indices); });
  if (has_units_) dimensions_.definitions[name] = definition;
  position_scope_.define_indexed(name, definition);
  velocity_scope_.define_indexed(name, definition);
  definitions_.emplace_back(name, std::move(definition));
}

void FormulaReader::add_coordinates(const std::vector<CoordinateGroup>& groups) {
  constexpr const char* kNoCoordinate = "a number is needed here; it cannot depend on coordinates";
  constexpr const char* kNoVelocity = "only t and positions can be used here, not velocities";
  coordinates_ = groups.empty() ? 0 : groups.back().begin + groups.back().count;
  coordinate_dimensions_.resize(static_cast<std::size_t>(coordinates_));
  const formula::NodeId time = graph_.input(model::FormulaSystem::kTimeSlot);
  position_scope_.define("t", time);
  velocity_scope_.define("t", time);
  for (const CoordinateGroup& group : groups) {
    parameter_scope_.forbid(group.name, kNoCoordinate);
    position_scope_.forbid(group.name + "'", kNoVelocity);
    formula::Scope::Family positions{group.first, {}};
    formula::Scope::Family velocities{group.first, {}};
    for (int k = 0; k < group.count; ++k) {
      positions.nodes.push_back(graph_.input(1 + group.begin + k));
      velocities.nodes.push_back(graph_.input(1 + coordinates_ + group.begin + k));
    }
    if (group.indexed) {
      position_scope_.define_family(group.name, positions);
      velocity_scope_.define_family(group.name, positions);
      velocity_scope_.define_family(group.name + "'", velocities);
    } else {
      position_scope_.define_member(group.name, positions.nodes[0]);
      velocity_scope_.define_member(group.name, positions.nodes[0]);
      velocity_scope_.define_member(group.name + "'", velocities.nodes[0]);
    }
  }
}

double FormulaReader::number(const Value& value, const std::string& key,
                             const formula::Locals& locals, formula::NodeId* node) {
  if (value.kind == Value::Kind::Number) {
    if (std::isfinite(value.number)) return value.number;
    throw base::InputError(key, fmt::format("must be a finite number, not {}", value.number),
                           "write a number", document_.spot_of(value));
  }
  const std::string& text = text_of(value, key);
  if (const auto quantity = formula::split_quantity(text)) {
    return quantity->first * unit(quantity->second, value, key).size;
  }
  return guarded(value, key, [&] {
    const formula::NodeId found =
        formula::lower_constant(parsed(text), parameter_scope_, graph_, locals);
    if (node == nullptr) graph_.pin(found);
    if (node != nullptr) *node = found;
    return graph_[found].value;
  });
}

/// The formula, what is added or compared in it being of one dimension where scenes state units.
formula::Syntax FormulaReader::parsed(const std::string& text) const {
  formula::Syntax syntax = formula::parse(text);
  check_units(syntax);
  return syntax;
}

void FormulaReader::check_units(const formula::Syntax& syntax) const {
  if (has_units_) (void)formula::dimension_of(syntax, dimensions_);
}

void FormulaReader::add_gap(const std::string& contact, const Value& keep) {
  if (!has_units_) return;
  const formula::Syntax relation = formula::parse(keep.text);
  const formula::Dimension left = formula::dimension_of(relation.children[0], dimensions_);
  dimensions_.gaps[contact] =
      left.is_any ? formula::dimension_of(relation.children[1], dimensions_) : left;
}

formula::Unit FormulaReader::unit(const std::string& text, const Value& value,
                                  const std::string& key) const {
  if (const auto found = formula::parse_unit(text)) return *found;
  throw base::InputError(
      key, fmt::format("'{}' is no unit that is known", text),
      "m, g, s, N, J, W, Pa, Hz, rad with n u m c d k M G before them; deg, rpm, "
      "min, h; products and powers as kg m^2/s^2",
      document_.spot_of(value));
}

void FormulaReader::open_units(const Value* parameters, const Value* units) {
  has_units_ = has_units_ || units != nullptr;
  dimensions_.names["t"] = formula::Dimension{{0, 0, 1}};
  if (parameters == nullptr) return;
  for (const auto& [name, value] : parameters->entries) {
    has_units_ = has_units_ || (value.kind == Value::Kind::Text &&
                                formula::split_quantity(value.text).has_value());
  }
}

void FormulaReader::add_units(const Value& units, const std::vector<CoordinateGroup>& groups) {
  for (const auto& [name, value] : units.entries) {
    const std::string key = "system.units." + name;
    const auto named = [&name = name](const CoordinateGroup& group) { return group.name == name; };
    const auto group = std::find_if(groups.begin(), groups.end(), named);
    if (group == groups.end()) {
      throw base::InputError(key, "is no coordinate", "name a coordinate, or a family of them",
                             document_.spot_of_key(value));
    }
    const formula::Unit found = unit(text_of(value, key), value, key);
    if (found.size != 1.0) {
      throw base::InputError(
          key, fmt::format("'{}' is not the unit that the program counts in", value.text),
          fmt::format("write \"{}\"; parameters may have any unit",
                      found.dimension.is_number() ? "rad" : found.dimension.text()),
          document_.spot_of(value));
    }
    dimensions_.names[name] = found.dimension;
    for (int k = 0; k < group->count; ++k) {
      units_.emplace_back(group->full_name(k), value.text);
      coordinate_dimensions_[static_cast<std::size_t>(group->begin + k)] = found.dimension;
    }
  }
}

void FormulaReader::add_unit(const CoordinateGroup& group, const std::string& unit) {
  if (!has_units_) return;
  const formula::Dimension found = formula::parse_unit(unit)->dimension;
  dimensions_.names[group.name] = found;
  units_.emplace_back(group.name, unit);
  coordinate_dimensions_[static_cast<std::size_t>(group.begin)] = found;
}

std::string FormulaReader::unit_of(const std::string& name) const {
  if (has_units_ && name == "t") return "s";
  for (const auto& [coordinate, unit] : units_) {
    if (coordinate == name) return unit;
  }
  return "";
}

formula::Dimension FormulaReader::dimension_of(int coordinate) const {
  return coordinate_dimensions_[static_cast<std::size_t>(coordinate)];
}

formula::Dimension FormulaReader::dimension_of(const Value& value, const std::string& key) const {
  if (value.kind != Value::Kind::Text) return {{}, true};
  if (const auto quantity = formula::split_quantity(value.text)) {
    return unit(quantity->second, value, key).dimension;
  }
  return guarded(value, key, [&] {
    const formula::Syntax syntax = formula::parse(value.text);
    formula::Dimension found = formula::dimension_of(syntax, dimensions_);
    std::set<std::string> names;
    (void)collect_names(syntax, names);
    found.is_any = found.is_any || names.empty();
    return found;
  });
}

void FormulaReader::expect(const Value& value, const std::string& key,
                           const formula::Dimension& wanted, const std::string& what) const {
  if (!has_units_) return;
  const formula::Dimension found = dimension_of(value, key);
  if (found.fits(wanted)) return;
  throw base::InputError(key, fmt::format("is {}, and {} is {}", found.text(), what, wanted.text()),
                         "check the units of its parameters; what has no unit is a number",
                         document_.spot_of(value));
}

formula::NodeId FormulaReader::formula(const Value& value, const std::string& key, Speaks speaks,
                                       const formula::Locals& locals) {
  if (value.kind == Value::Kind::Number) return graph_.constant(number(value, key));
  const std::string& text = text_of(value, key);
  return guarded(value, key,
                 [&] { return formula::lower(parsed(text), scope_for(speaks), graph_, locals); });
}

formula::NodeId FormulaReader::formula_of(const Value& value, const std::string& key,
                                          const formula::Locals& locals, const std::string& name,
                                          formula::NodeId node) {
  if (value.kind == Value::Kind::Number) return graph_.constant(number(value, key));
  const std::string& text = text_of(value, key);
  formula::Scope scope = velocity_scope_;
  scope.define(name, node);
  dimensions_.names[name].is_any = true;
  return guarded(value, key, [&] { return formula::lower(parsed(text), scope, graph_, locals); });
}

std::vector<formula::Comparison> FormulaReader::relation(const Value& value, const std::string& key,
                                                         Speaks speaks,
                                                         const formula::Locals& locals) {
  if (value.kind != Value::Kind::Text) {
    throw base::InputError(
        key, fmt::format("must be an inequality in quotes, not {}", value.kind_name()),
        "write for example \"x >= 0\"", document_.spot_of(value));
  }
  return guarded(value, key, [&] {
    const formula::Syntax syntax = parsed(value.text);
    if (syntax.kind != formula::Syntax::Kind::Relation) {
      throw formula::FormulaError("must be an inequality", syntax.extent,
                                  "write left <= right or left >= right");
    }
    return formula::lower_relation(syntax, scope_for(speaks), graph_, locals);
  });
}

/// The whole number that `text`, found at byte `at` of the value's own text, stands for.
int FormulaReader::whole_number(const std::string& text, std::size_t at, const Value& value,
                                const std::string& key, const formula::Locals& locals) {
  double number = 0.0;
  try {
    number = formula::lower_number(formula::parse(text), parameter_scope_, graph_, locals);
  } catch (const formula::FormulaError& error) {
    const formula::Extent moved{error.extent().begin + static_cast<int>(at), error.extent().length};
    rethrow(formula::FormulaError(error.what(), moved, error.remedy()), value, key);
  }
  constexpr double kMost = 1e6;
  if (number == std::floor(number) && std::abs(number) <= kMost) return static_cast<int>(number);
  throw base::InputError(key, fmt::format("an index must be a whole number, not {}", number),
                         "use whole numbers up to a million, or parameters that are",
                         document_.spot_of(value));
}

/// "first..last" in text[begin, end).
std::pair<int, int> FormulaReader::range_in(const std::string& text, std::size_t begin,
                                            std::size_t end, const Value& value,
                                            const std::string& key, const formula::Locals& locals) {
  const std::size_t dots = text.find("..", begin);
  if (dots == std::string::npos || dots >= end) {
    throw base::InputError(key, "needs a range of indices", "write for example 1..N",
                           document_.spot_of(value));
  }
  return {whole_number(text.substr(begin, dots - begin), begin, value, key, locals),
          whole_number(text.substr(dots + 2, end - dots - 2), dots + 2, value, key, locals)};
}

/// The values of `outer`, each with all those of one index more, "j in i+1..N" in text[begin, end).
std::vector<formula::Locals> FormulaReader::with_index(const std::vector<formula::Locals>& outer,
                                                       std::size_t begin, std::size_t end,
                                                       const Value& value, const std::string& key) {
  const std::size_t in = value.text.find(" in ", begin);
  if (in == std::string::npos || in >= end) {
    throw base::InputError(key, "must say which index takes which values",
                           "write for example for = \"i in 1..N-1\"", document_.spot_of(value));
  }
  const std::string name = base::trimmed(value.text.substr(begin, in - begin));
  check_new_name(name, key, value);
  std::vector<formula::Locals> all;
  for (const formula::Locals& locals : outer) {
    for (const auto& [other, number] : locals) {
      if (other != name) continue;
      throw base::InputError(key, fmt::format("the index '{}' is used twice", name),
                             "choose another name for one of them", document_.spot_of(value));
    }
    const auto [first, last] = range_in(value.text, in + 4, end, value, key, locals);
    if (outer.size() == 1 && last < first) {
      throw base::InputError(key, fmt::format("the range {}..{} is empty", first, last),
                             "check the parameters in it", document_.spot_of(value));
    }
    constexpr std::size_t kMost = 1'000'000;
    if (last - first > static_cast<int>(kMost) - static_cast<int>(all.size())) {
      throw base::InputError(key, fmt::format("the indices take more than {} values", kMost),
                             "shorten the ranges", document_.spot_of(value));
    }
    for (int i = first; i <= last; ++i) {
      all.push_back(locals);
      all.back().emplace_back(name, i);
    }
  }
  return all;
}

std::vector<formula::Locals> FormulaReader::index_values(const Value& value,
                                                         const std::string& key) {
  const std::string& text = text_of(value, key);
  std::vector<formula::Locals> all(1);
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] != ',') {
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      continue;
    }
    if (at < text.size() && depth > 0) continue;
    all = with_index(all, begin, at, value, key);
    begin = at + 1;
  }
  if (!all.empty()) return all;
  throw base::InputError(key, "leaves no values for the indices", "check the ranges in it",
                         document_.spot_of(value));
}

CoordinateGroup FormulaReader::coordinate_group(const Value& value, const std::string& key) {
  CoordinateGroup group;
  const std::size_t bracket = value.text.find('[');
  group.name = base::trimmed(value.text.substr(0, bracket));
  check_new_name(group.name, key, value);
  if (bracket == std::string::npos) return group;
  const std::size_t close = value.text.find_last_of(']');
  if (close == std::string::npos || close < bracket) {
    throw base::InputError(key, "has no closing ]", "write for example \"z[1..N]\"",
                           document_.spot_of(value));
  }
  group.indexed = true;
  const auto [first, last] = range_in(value.text, bracket + 1, close, value, key);
  if (last < first) {
    throw base::InputError(key, fmt::format("the range {}..{} is empty", first, last),
                           "a family needs at least one coordinate", document_.spot_of(value));
  }
  group.first = first;
  group.count = last - first + 1;
  return group;
}

formula::Syntax FormulaReader::check_fact(const Value& value, const std::string& key,
                                          const std::vector<std::string>& fact_names) const {
  formula::Graph scratch = graph_;
  formula::Scope scope = velocity_scope_;
  int slot = 1 + 2 * coordinates_;
  for (const std::string& name : fact_names) scope.define_member(name, scratch.input(slot++));
  return guarded(value, key, [&] {
    formula::Syntax syntax = formula::parse(value.text);
    (void)formula::lower(syntax, scope, scratch);
    check_units(syntax);
    return syntax;
  });
}

formula::NodeId FormulaReader::row_formula(const Value& value, const std::string& key,
                                           const std::vector<std::string>& columns,
                                           formula::Graph& graph) const {
  if (value.kind == Value::Kind::Number) return graph.constant(value.number);
  formula::Scope scope = velocity_scope_;
  int slot = 1 + 2 * coordinates_;
  for (const std::string& name : columns) scope.define_member(name, graph.input(slot++));
  const std::string& text = text_of(value, key);
  return guarded(value, key, [&] {
    const formula::Syntax syntax = formula::parse(text);
    const formula::NodeId node = formula::lower(syntax, scope, graph);
    check_units(syntax);
    return node;
  });
}

}  // namespace ricochet::scene
