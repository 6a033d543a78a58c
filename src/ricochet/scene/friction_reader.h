#pragma once

#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/table_reader.h"

namespace ricochet::scene {

/// Reads the tangential side of a contact: `slip` and `normal`, or `body` from which they follow,
/// and `friction`.
class FrictionReader {
 public:
  FrictionReader(const Document& document, FormulaReader& formulas,
                 const model::FormulaSystem& system)
      : document_(document), formulas_(formulas), system_(system) {}

  /// For one gap of the contact, or for a gap that is a function of a program, of which nothing can
  /// be checked here; none of the keys may be there.
  model::Slip read(TableReader& contact, formula::NodeId gap, const formula::Locals& locals,
                   bool is_function = false);
  /// Friction without a contact: `slip`, what presses, and the coefficient, 1 unless it is stated.
  model::Slip read_alone(TableReader& friction, const formula::Locals& locals);
  /// The `friction` of a law, for a contact whose slip velocities are known.
  model::Slip read_on(TableReader& law, std::vector<formula::NodeId> velocities);
  /// A velocity, affine in those of the coordinates.
  formula::NodeId read_velocity(TableReader& table, const Value& value, const std::string& key,
                                const formula::Locals& locals);
  /// Reactions of joints press as forces do where their gaps are lengths: of a particle this can be
  /// told.
  void check_reactions(const std::vector<formula::NodeId>& gaps, const std::string& key,
                       const Value& value) const;

 private:
  using NodeId = formula::NodeId;

  /// A body as a scene names it: its velocity field, and which coordinates move it.
  struct Body {
    std::vector<NodeId> position;  // coordinates of a point of it, two or three
    std::vector<NodeId> velocity;  // of that point
    std::vector<NodeId> spin;      // none (particle), one (plane) or three (space)
    std::vector<int> slots;        // of the position
  };

  void read_slip(TableReader& contact, NodeId gap, const formula::Locals& locals, model::Slip& slip,
                 bool is_function);
  void read_velocities(TableReader& table, const formula::Locals& locals, model::Slip& slip);
  NodeId speed_of(const model::Slip& slip);
  void check_linear(TableReader& contact, const Value& value, const std::string& key,
                    NodeId velocity) const;
  void check_normal(TableReader& contact, NodeId gap, const model::Slip& slip, const Value& value,
                    const std::string& key) const;
  bool is_of_particle(NodeId gap, const model::Slip& slip) const;
  std::vector<int> coordinates_of(NodeId gap, const std::vector<NodeId>& velocities) const;
  void check_slip(TableReader& contact, NodeId gap, const model::Slip& slip,
                  const Value& value) const;
  void check_is_length(TableReader& contact, NodeId gap, const model::Slip& slip) const;

  void read_body(TableReader& contact, const Value& value, NodeId gap,
                 const formula::Locals& locals, model::Slip& slip);
  Body read_one_body(TableReader& table, const formula::Locals& locals);
  std::vector<NodeId> read_list(TableReader& table, const std::string& key, Speaks speaks,
                                const formula::Locals& locals);
  void subtract_other(TableReader& body, const Value& other, const std::vector<NodeId>& point,
                      const formula::Locals& locals, std::vector<NodeId>& velocity);
  std::vector<NodeId> velocity_at(const Body& body, const std::vector<NodeId>& point);

  model::FrictionLaw read_law(TableReader& contact, const Value& value, const model::Slip& slip,
                              const formula::Locals& locals);
  model::FrictionLaw read_law_table(TableReader& contact, const Value& value,
                                    const model::Slip& slip, const formula::Locals& locals);
  void read_ellipse(TableReader& law_table, const Value& value, const model::Slip& slip,
                    const formula::Locals& locals, model::FrictionLaw& law);
  std::vector<convex::Tangent> read_polygon(TableReader& law, const Value& value,
                                            const formula::Locals& locals);
  NodeId coefficient(const Value& value, const std::string& key, const model::Slip& slip,
                     const formula::Locals& locals);

  /// Values of t and q near which a gap vanishes, for checks that no simplification shows; at
  /// random in what the gap and the others are made of.
  std::vector<std::vector<double>> touching_places(NodeId gap,
                                                   const std::vector<NodeId>& others) const;

  const Document& document_;
  FormulaReader& formulas_;
  const model::FormulaSystem& system_;
  int slips_read_{0};
};

}  // namespace ricochet::scene
