#pragma once

#include <array>
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

/// 2 or 3, as [world] says.
int dimension_of(const Document& document, TableReader& root);

/// The numbers of the two materials that a key of [pair] names.
std::array<std::size_t, 2> pair_of(const Document& document, const std::string& key,
                                   const Value& value, const std::vector<std::string>& materials);

/// Reads [world], [material], [pair], [body] and [watch] into a world of the plane or of space.
template <int D>
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
  /// [write], of a run with steps of this length that is no member of a family.
  void read_write(TableReader& root, double step, WorldPart& part);

  /// The scene has [system]: shapes become formulas, and may be hollow. See FrameReader.
  void stand_beside_system() { beside_system_ = true; }
  void read_materials(const Value* table, body::World<D>& world);
  int material_of(TableReader& table, const body::World<D>& world);
  void read_family(const std::string& name, const Value& value, body::World<D>& world,
                   WorldPart& part);
  formula::Locals with_definitions(TableReader& table, formula::Locals locals);
  std::vector<shape::Shape<D>> read_shapes(TableReader& table, const formula::Locals& locals);
  /// By body: the nodes of `drive_of`; empty where it is not driven.
  const std::vector<std::vector<formula::NodeId>>& drives() const { return drives_; }

 private:
  using World = body::World<D>;
  using Body = body::Body<D>;
  using Motion = body::Motion<D>;
  using Joint = body::Joint<D>;
  using Shape = shape::Shape<D>;
  using Vec = body::Vec<D>;
  using Locals = formula::Locals;

  double number(TableReader& table, const Value& value, const std::string& key,
                const Locals& locals = {});
  double at_least(TableReader& table, const Value& value, const std::string& key, double least,
                  const Locals& locals = {});
  Vec vector(const Value& value, const std::string& key, const Locals& locals);
  void expect_unit(const Value& value, const std::string& key, const Locals& locals) const;
  bool boolean(TableReader& table, const std::string& key);
  void read_gravity(TableReader& world, World& made);
  void read_pairs(const Value* table, World& world);
  body::PairLaw read_law(const Value& value, const std::string& key);
  void read_rolling(TableReader& table, body::PairLaw& law);
  void read_body(TableReader& table, const std::string& name, Locals locals, World& world);
  std::optional<Shape> read_shape(TableReader& table, const Locals& locals);
  Shape make_shape(TableReader& table, const Value& value, const std::string& kind, double round,
                   const Locals& locals);
  Shape make_hollow(TableReader& table, const Value& value, const Vec& at, const Locals& locals);
  Shape read_half_space(TableReader& table, const Value& value, const std::string& key,
                        const Locals& locals);
  Shape read_capsule(TableReader& table, const Value& value, const Locals& locals);
  Shape read_mesh(TableReader& table, const Value& value, const Locals& locals);
  Shape read_heights(TableReader& table, const Value& value, const Locals& locals);
  std::vector<Vec> read_points(TableReader& table, const Value& value, const std::string& key,
                               const Locals& locals);
  bool read_turn(TableReader& table, const Locals& locals, Motion& place);
  void read_kind(TableReader& table, const Locals& locals, Body& body);
  void read_mass(TableReader& table, const std::vector<Shape>& shapes, const Locals& locals,
                 Body& body);
  body::Inertia<D> read_inertia(TableReader& table, const Value& value, const Locals& locals);
  void read_spin(TableReader& table, const Locals& locals, Motion& start);
  void read_place(TableReader& table, const Locals& locals, bool in_place, Body& body);
  void read_fill(const std::string& name, const Value& value, World& world, WorldPart& part);
  std::vector<double> fill_radii(TableReader& table, base::Random& random);
  std::vector<Vec> fill_places(TableReader& table, const std::vector<double>& radii,
                               base::Random& random);
  double read_radius(TableReader& table, const Value& value, base::Random& random,
                     std::size_t number);
  void read_remove(const Value* table, World& world);
  void read_joints(const Value* table, const Value* run, World& world, WorldPart& part);
  void read_joint(TableReader& table, const std::string& name, Locals locals, World& world);
  int body_called(const Value& value, const std::string& key, const Locals& locals, World& world);
  body::JointKind read_joint_kind(TableReader& table);
  void read_joined(TableReader& table, const Locals& locals, World& world, Joint& joint,
                   std::array<Motion, 2>& at);
  void read_seats(TableReader& table, const Locals& locals, const World& world,
                  const std::array<Motion, 2>& at, Joint& joint);
  void read_axis(TableReader& table, const Locals& locals, const std::array<Motion, 2>& at,
                 Joint& joint);
  void read_coordinate(TableReader& table, const Locals& locals, Joint& joint);
  void read_limits(TableReader& table, const Value& limits, const Locals& locals, Joint& joint);
  void read_spring(TableReader& table, const Locals& locals, double value, Joint& joint);
  void check_joint(const TableReader& table, const std::array<Motion, 2>& at, const Joint& joint,
                   const World& world) const;
  std::vector<int> bodies_of(const Value& value, const std::string& key, const WorldPart& part);
  int joint_called(const Value& value, const std::string& key, const World& world) const;
  void read_watch(const std::string& name, const Value& value, WorldPart& part);
  SeriesPlan read_series(TableReader& table, const std::string& key, double step);
  Probe read_probe(const Value& value, const std::string& key, const WorldPart& part);
  void check_laws(const World& world) const;
  void check_rolling(const World& world) const;
  void check_shapes(const World& world) const;

  static const World& world_of(const WorldPart& part) {
    if constexpr (D == 2) return *part.plane;
    if constexpr (D == 3) return *part.space;
  }

  const Document& document_;
  FormulaReader& formulas_;
  bool beside_system_{false};
  std::vector<formula::NodeId> drive_;                // of the body being read
  std::vector<std::vector<formula::NodeId>> drives_;  // of all
  std::vector<double> densities_;                     // by material; 0: none
  const Value* pairs_{nullptr};
  const Value* bodies_{nullptr};              // [body], or [fill] where there is no other
  double start_time_{0.0};                    // of the run, for joints to driven bodies
  static constexpr double kDriveStep = 1e-6;  // over which their velocity is looked at [s]
};

/// A driven body's place as nodes of t: x, y and angle; in space x, y, z, an axis and the angle
/// about it.
template <int D>
std::function<void(double, body::Motion<D>&)> drive_of(const formula::Graph& graph,
                                                       const std::vector<formula::NodeId>& nodes);

/// What rows of a run of bodies tell.
step::Columns columns_of(const WorldPart& part);
/// Every figure of every body by its name, members of a family in order.
struct FigureName {
  std::string name;
  int body{0};
  int what{0};
  bool is_place{false};  // stands in rows, where the body is told
};
std::vector<FigureName> figure_names(const WorldPart& part);

/// The names of a watch's numbers.
std::vector<std::string> names_of(const Watch& watch);

// In space these are written apart.
template <>
bool WorldReader<2>::read_turn(TableReader&, const Locals&, body::Motion<2>&);
template <>
bool WorldReader<3>::read_turn(TableReader&, const Locals&, body::Motion<3>&);

}  // namespace ricochet::scene
