#pragma once

#include <array>
#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/shape_gaps.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/scene/world_reader.h"

namespace ricochet::scene {

/// A row between two shapes, and the law of their pair.
struct ShapeRow {
  std::string name;
  formula::NodeId gap{-1};
  formula::NodeId where{-1};
  std::vector<formula::NodeId> slips;  // none: the pair has no friction
  const Value* law{nullptr};           // the table of [pair]
  std::string key;                     // and its name
};

/// A body of the plane that is free to move: three coordinates, those of its mass centre and its
/// angle.
struct FreeBody {
  std::string name;
  int begin{0};  // number of its first coordinate
  double mass{0.0};
  double inertia{0.0};
  std::array<double, 3> place{};
  std::array<double, 3> velocity{};
};

/// Reads [world], [frame], [body], [material] and [pair] of a scene that has [system]: shapes on
/// formulas. Every pair of shapes that may touch becomes contacts of the formula system.
class FrameReader {
 public:
  FrameReader(const Document& document, FormulaReader& formulas, model::FormulaSystem& system)
      : document_(document), formulas_(formulas), system_(system) {}

  /// The tables, where there are some. To be called first.
  void open(TableReader& root);
  void open_units();
  void read_parameters();
  void read_definitions();
  /// Appends the coordinates of free bodies, `NAME.x`, `NAME.y`, `NAME.angle`.
  void add_coordinates(std::vector<CoordinateGroup>& groups);
  /// Bodies and frames. Names must be known.
  void read();
  /// The kinetic energy of free bodies, and what gravity does to them.
  formula::NodeId kinetic(formula::NodeId others);
  void add_gravity();
  /// Contacts between shapes.
  std::vector<ShapeRow> rows();

  const std::vector<FreeBody>& free_bodies() const { return free_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  using NodeId = formula::NodeId;
  using Locals = formula::Locals;

  struct Law {
    const Value* value{nullptr};  // null: not stated
    std::string key;
    bool is_named{false};  // both materials are, it is not the default
  };

  void refuse_other_tables(TableReader& root);
  void check_name(const std::string& kind, const std::string& name, const Value& value);
  std::vector<Locals> indices_of(const Value& table, const std::string& path);
  template <int D>
  void read_shapes();
  void read_pairs(const std::vector<std::string>& materials);
  void check_law(const Value& value, const std::string& key);
  template <int D>
  void read_frame(const std::string& name, const Value& value, WorldReader<D>& reader,
                  const body::World<D>& world);
  template <int D>
  void take_body(const body::World<D>& world, int i, const NodeVector& drive);
  void place_free(const body::Body<2>& body, Carrier& carrier);
  void read_attitude(TableReader& table, const Locals& locals, Carrier& frame);
  void set_angle(NodeId angle, Carrier& carrier);
  void set_quaternion(const NodeVector& q, Carrier& carrier);
  void set_axis_angle(const NodeVector& axis, NodeId angle, Carrier& carrier);
  NodeVector read_list(TableReader& table, const Value& value, const std::string& key,
                       std::size_t count, const std::string& remedy, const Locals& locals);
  template <int D>
  void add_pieces(const std::vector<shape::Shape<D>>& shapes, const Value& value, Carrier& carrier);
  bool depends(NodeId node) const;
  void read_gravity(TableReader& world);
  const Law* law_of(const Carrier& a, const Carrier& b) const;
  const Value& value_of(const Carrier& carrier) const;
  void add_rows(const Carrier& a, const Carrier& b, const Law& law, std::vector<ShapeRow>& rows);
  std::vector<NodeId> slips_of(const Carrier& a, const Carrier& b, const Touch& touch);

  const Document& document_;
  FormulaReader& formulas_;
  model::FormulaSystem& system_;
  int dimension_{0};  // 0: there is no [world]
  const Value* world_{nullptr};
  const Value* frames_{nullptr};
  const Value* bodies_{nullptr};
  const Value* materials_{nullptr};
  const Value* pairs_{nullptr};
  NodeVector gravity_;
  std::vector<FreeBody> free_;
  std::vector<Carrier> carriers_;     // frames, then bodies
  std::vector<const Value*> tables_;  // of the carriers
  std::vector<std::string> material_names_;
  std::vector<Law> laws_;
  std::vector<std::string> warnings_;
};

}  // namespace ricochet::scene
