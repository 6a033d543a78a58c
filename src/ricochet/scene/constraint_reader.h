#pragma once

#include <set>
#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/frame_reader.h"
#include "ricochet/scene/friction_reader.h"
#include "ricochet/scene/impact_reader.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/step/scheme.h"

namespace ricochet::scene {

/// Reads [contact.*], [friction.*], [hold.*] and [roll.*] into the rows of a formula system:
/// inequalities, friction without a contact, then equations, of velocities last.
class ConstraintReader {
 public:
  ConstraintReader(const Document& document, FormulaReader& formulas, model::FormulaSystem& system,
                   const std::vector<CoordinateGroup>& groups)
      : document_(document),
        formulas_(formulas),
        system_(system),
        friction_(document, formulas, system),
        impacts_(document, formulas, system, groups) {}

  /// `shapes` are contacts too, after those that are written.
  void read(TableReader& root, const std::vector<ShapeRow>& shapes);

  /// The laws that contacts state must be what the scheme does.
  void check_laws(const step::Scheme& scheme) const;

 private:
  /// One gap of a contact: a two-sided one has two.
  struct Side {
    std::string suffix;
    formula::NodeId gap{-1};
  };

  /// Friction on joints, whose rows are read later.
  struct OnHolds {
    std::size_t row{0};
    formula::Locals locals;
    std::string key;
    const Value* value{nullptr};
  };

  void check_name(const std::string& kind, const std::string& name, const Value& table);
  [[noreturn]] void refuse_new(const std::string& name, const Value& table) const;
  void read_contact(const std::string& name, const Value& table);
  void add_shapes(const ShapeRow& row);
  void add_contact(TableReader& contact, std::string name, formula::NodeId gap,
                   formula::NodeId where, model::Slip slip, const ImpactReader::Law& law);
  void take_slip_restitution(TableReader& contact, const ImpactReader::Law& law);
  void check_joints(const step::Scheme& scheme) const;
  bool take_outside(const std::string& name, TableReader& contact, const Value& keep);
  void read_hold(const std::string& name, const Value& table);
  void read_roll(const std::string& name, const Value& table);
  void add_joint(const std::string& name, formula::NodeId gap);
  void read_friction(const std::string& name, const Value& table);
  void find_holds();
  std::vector<formula::Locals> read_indices(TableReader& table);
  std::vector<Side> sides_of(TableReader& contact, const Value& keep,
                             const formula::Locals& locals);
  formula::NodeId read_where(TableReader& contact, const formula::Locals& locals);
  void check_moves(TableReader& table, const Value& value, const std::string& key,
                   formula::NodeId gap) const;

  const Document& document_;
  FormulaReader& formulas_;
  model::FormulaSystem& system_;
  FrictionReader friction_;
  ImpactReader impacts_;
  std::vector<std::pair<std::string, const Value*>> frictions_;  // keys and values
  std::vector<OnHolds> on_holds_;
  std::set<std::string> names_;  // of contacts and joints
};

}  // namespace ricochet::scene
