#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ricochet/formula/dimension.h"
#include "ricochet/formula/lower.h"
#include "ricochet/scene/document.h"
#include "ricochet/scene/names.h"

namespace ricochet::scene {

/// What a formula of the scene may speak of.
enum class Speaks {
  Parameters,  // numbers and parameters only
  Position,    // also t, coordinates, and definitions made of them
  Velocity,    // also velocities
};

/// Turns the formulas of a document into nodes of one graph, and formula errors into errors of the
/// document. Names are added as the scene is read: parameters, coordinates, definitions.
class FormulaReader {
 public:
  explicit FormulaReader(const Document& document) : document_(document) {}

  /// Parameters whose values are set anew after reading: slots of the graph, by index. Only those
  /// that are given as plain numbers become some.
  void open_slots(std::vector<std::string> names) { slots_ = std::move(names); }
  int found_slots() const { return found_slots_; }

  /// A name that users may give. Throws when it is no name, reserved, or taken.
  void check_new_name(const std::string& name, const std::string& key, const Value& at) const;

  /// All parameters, which may be formulas of each other in any order.
  void add_parameters(const Value& table, const std::string& path = "system.parameters");
  void add_coordinates(const std::vector<CoordinateGroup>& groups);
  /// Named formulas, in any order, of everything.
  void add_definitions(const Value& table, const std::string& path = "system.define");

  /// Units are checked where a parameter or a coordinate has one; what has none is a number.
  void open_units(const Value* parameters, const Value* units);
  void add_units(const Value& units, const std::vector<CoordinateGroup>& groups);
  bool has_units() const { return has_units_; }
  /// The inequality of a contact, which has been read: facts and pictures may speak of its gap.
  void add_gap(const std::string& contact, const Value& keep);
  /// Contacts whose gap is a length; `name` is what their names begin with, to the first dot.
  void add_length_gap(const std::string& name) { dimensions_.gaps[name] = {{1, 0, 0}}; }
  /// The unit of one coordinate, where scenes state units.
  void add_unit(const CoordinateGroup& group, const std::string& unit);
  /// The unit of a coordinate or of t as a picture shows it, "" where scenes state none.
  std::string unit_of(const std::string& name) const;
  /// The dimension of a coordinate by its number among all.
  formula::Dimension dimension_of(int coordinate) const;
  /// Throws where a value does not have the dimension that is wanted; numbers as they are written
  /// are in the unit of it. `what` says what has that dimension.
  void expect(const Value& value, const std::string& key, const formula::Dimension& wanted,
              const std::string& what) const;
  formula::Dimension dimension_of(const Value& value, const std::string& key) const;

  /// A finite number, of parameters and the given indices. Slots may change it only where it is
  /// asked for with its node, which is -1 where it is written as a number.
  double number(const Value& value, const std::string& key, const formula::Locals& locals = {},
                formula::NodeId* node = nullptr);
  formula::NodeId formula(const Value& value, const std::string& key, Speaks speaks,
                          const formula::Locals& locals = {});
  /// The same, of everything and of one name more that stands for a node.
  formula::NodeId formula_of(const Value& value, const std::string& key,
                             const formula::Locals& locals, const std::string& name,
                             formula::NodeId node);
  std::vector<formula::Comparison> relation(const Value& value, const std::string& key,
                                            Speaks speaks, const formula::Locals& locals = {});

  /// "i in 1..N-1, j in i+1..N": the values that the indices take; their names must be new.
  std::vector<formula::Locals> index_values(const Value& value, const std::string& key);
  /// "z[1..N]", or a plain name.
  CoordinateGroup coordinate_group(const Value& value, const std::string& key);

  /// A formula to be evaluated later, checked now against the names that will be known.
  formula::Syntax check_fact(const Value& value, const std::string& key,
                             const std::vector<std::string>& fact_names) const;

  /// A formula of one row of a trajectory, put into `graph`, a copy of the scene's: everything the
  /// scene speaks of and the further `columns` of a row, whose slots follow the velocities'.
  formula::NodeId row_formula(const Value& value, const std::string& key,
                              const std::vector<std::string>& columns, formula::Graph& graph) const;

  formula::Graph& graph() { return graph_; }
  const formula::Graph& graph() const { return graph_; }
  const std::vector<std::pair<std::string, double>>& parameters() const { return parameters_; }
  /// As written, each after those it is made of.
  const std::vector<std::pair<std::string, formula::Definition>>& definitions() const {
    return definitions_;
  }

  /// Runs `work`, turning errors of the formula room into errors at `value`.
  template <class Work>
  auto guarded(const Value& value, const std::string& key, Work&& work) const {
    try {
      return work();
    } catch (const formula::FormulaError& error) {
      rethrow(error, value, key);
    } catch (const formula::GraphTooLarge& error) {
      throw base::InputError(key, error.what(), "split the system into smaller ones",
                             document_.spot_of(value));
    }
  }

 private:
  [[noreturn]] void rethrow(const formula::FormulaError& error, const Value& value,
                            const std::string& key) const;
  const std::string& text_of(const Value& value, const std::string& key) const;
  int whole_number(const std::string& text, std::size_t at, const Value& value,
                   const std::string& key, const formula::Locals& locals = {});
  std::pair<int, int> range_in(const std::string& text, std::size_t begin, std::size_t end,
                               const Value& value, const std::string& key,
                               const formula::Locals& locals = {});
  std::vector<formula::Locals> with_index(const std::vector<formula::Locals>& outer,
                                          std::size_t begin, std::size_t end, const Value& value,
                                          const std::string& key);
  void define_indexed(const std::string& name, const std::string& key, const Value& value,
                      std::vector<std::string> indices);
  const formula::Scope& scope_for(Speaks speaks) const;
  formula::Unit unit(const std::string& text, const Value& value, const std::string& key) const;
  formula::Syntax parsed(const std::string& text) const;
  void check_units(const formula::Syntax& syntax) const;
  void read_in_order(const Value& table, const std::string& path, bool parameters);
  formula::NodeId parameter_node(const std::string& name, const std::string& key,
                                 const Value& value);
  bool define_one(const std::string& name, const std::string& key, const Value& value,
                  bool parameter, bool may_have_velocity);

  const Document& document_;
  formula::Graph graph_;
  formula::Scope parameter_scope_;
  formula::Scope position_scope_;
  formula::Scope velocity_scope_;
  std::vector<std::pair<std::string, double>> parameters_;
  std::vector<std::string> slots_;  // parameters by name
  int found_slots_{0};
  std::vector<std::pair<std::string, formula::Definition>> definitions_;
  formula::Dimensions dimensions_;
  std::vector<std::pair<std::string, std::string>> units_;  // of coordinates, as they are written
  std::vector<formula::Dimension> coordinate_dimensions_;
  bool has_units_{false};
  int coordinates_{0};
};

}  // namespace ricochet::scene
