#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ricochet/base/random.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/part.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/step/columns.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"

namespace ricochet::scene {

/// Reads [world], [material], [pair], [body] and [watch] into a world of the plane.
class WorldReader {
 public:
  WorldReader(const Document& document, FormulaReader& formulas)
      : document_(document), formulas_(formulas) {}

  /// Parameters and definitions of [world]: the other tables speak of them too.
  void read_names(TableReader& root);
  /// What the scheme and [run] may say of bodies.
  void check_run(const Value* table, const step::Scheme& scheme) const;
  /// All bodies with their laws.
  void read(TableReader& root, WorldPart& part);
  /// Overlaps, pairs without a law, shapes that cannot meet.
  void check_start(const Value* start, double t, const WorldPart& part);
  /// [watch], then run.stop, which may use watches.
  void read_watches(const Value* table, WorldPart& part);
  void read_stop(const Value* run, WorldPart& part);

 private:
  using World = body::World<2>;
  using Body = body::Body<2>;
  using Vec = body::Vec<2>;
  using Locals = formula::Locals;

  double number(TableReader& table, const Value& value, const std::string& key,
                const Locals& locals = {});
  double at_least(TableReader& table, const Value& value, const std::string& key, double least,
                  const Locals& locals = {});
  Vec vector(const Value& value, const std::string& key, const Locals& locals);
  bool boolean(TableReader& table, const std::string& key);
  void read_gravity(TableReader& world, World& made);
  void read_materials(const Value* table, World& world);
  void read_pairs(const Value* table, World& world);
  body::PairLaw read_law(const Value& value, const std::string& key);
  int material_of(TableReader& table, const World& world);
  void read_family(const std::string& name, const Value& value, World& world, WorldPart& part);
  void read_body(TableReader& table, const std::string& name, Locals locals, World& world);
  Locals with_definitions(TableReader& table, Locals locals);
  std::vector<shape::Shape<2>> read_shapes(TableReader& table, const Locals& locals);
  std::optional<shape::Shape<2>> read_shape(TableReader& table, const Locals& locals);
  shape::Shape<2> read_line_shape(TableReader& table, const Value& value, const std::string& key,
                                  double round, const Locals& locals);
  shape::Shape<2> read_polygon(const Value& value, const std::string& key, double round,
                               const Locals& locals);
  void read_kind(TableReader& table, const Locals& locals, Body& body);
  void read_mass(TableReader& table, const std::vector<shape::Shape<2>>& shapes,
                 const Locals& locals, Body& body);
  void read_place(TableReader& table, const Locals& locals, bool in_place, Body& body);
  void read_fill(const std::string& name, const Value& value, World& world, WorldPart& part);
  std::vector<double> fill_radii(TableReader& table, base::Random& random);
  std::vector<Vec> fill_places(TableReader& table, const std::vector<double>& radii,
                               base::Random& random);
  double read_radius(TableReader& table, const Value& value, base::Random& random,
                     std::size_t number);
  void read_remove(const Value* table, World& world);
  std::vector<int> bodies_of(const Value& value, const std::string& key, const WorldPart& part);
  void read_watch(const std::string& name, const Value& value, WorldPart& part);
  Probe read_probe(const Value& value, const std::string& key, const WorldPart& part);
  void check_laws(const World& world) const;

  const Document& document_;
  FormulaReader& formulas_;
  std::vector<double> densities_;  // by material; 0: none
  const Value* pairs_{nullptr};
  const Value* bodies_{nullptr};
};

/// A driven body's place: x, y and angle as nodes of t.
std::function<void(double, body::Motion<2>&)> drive_of(const formula::Graph& graph,
                                                       const std::vector<formula::NodeId>& nodes);

/// What rows of a run of bodies tell.
step::Columns columns_of(const WorldPart& part);
/// Every figure of every body by its name, members of a family in order.
struct FigureName {
  std::string name;
  int body{0};
  int what{0};
};
std::vector<FigureName> figure_names(const WorldPart& part);

/// The names of a watch's numbers.
std::vector<std::string> names_of(const Watch& watch);

}  // namespace ricochet::scene
