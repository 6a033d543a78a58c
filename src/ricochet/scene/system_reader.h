#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/constraint_reader.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/frame_reader.h"
#include "ricochet/scene/table_reader.h"

namespace ricochet::scene {

/// Reads [system], [contact.*] and [hold.*] with a ConstraintReader, shapes with a FrameReader,
/// into a formula model.
class SystemReader {
 public:
  SystemReader(const Document& document, FormulaReader& formulas,
               std::shared_ptr<const model::Outside> outside)
      : document_(document),
        formulas_(formulas),
        frames_(document, formulas, system_),
        constraints_(document, formulas, system_, groups_) {
    system_.outside = std::move(outside);
  }

  void read(TableReader& root);

  /// The laws that contacts state must be what the scheme does.
  void check_laws(const step::Scheme& scheme) {
    constraints_.check_laws(scheme);
    system_.wants_inertia = !scheme.info().is_staggered;
  }

  /// Derives gradients, mass and forces. To be called once, last.
  std::shared_ptr<model::FormulaModel> build();

  const std::vector<CoordinateGroup>& groups() const { return groups_; }
  /// Without those of free bodies.
  const std::vector<CoordinateGroup>& own_groups() const { return own_groups_; }
  const std::vector<FreeBody>& free_bodies() const { return frames_.free_bodies(); }
  const std::vector<std::string>& warnings() const { return frames_.warnings(); }
  const std::vector<std::string>& contact_names() const { return system_.contacts; }
  bool has_period() const { return has_period_; }
  double period() const { return period_; }  // 0: none is stated
  formula::NodeId period_node() const { return period_node_; }

 private:
  int own_dofs() const {  // without those of free bodies
    return own_groups_.back().begin + own_groups_.back().count;
  }
  void read_coordinates(TableReader& system);
  void check_column_names(const Value& coordinates) const;
  void read_mass(TableReader& system);
  void read_mass_numbers(const Value& value);
  void read_mass_matrix(const Value& value);
  void read_kinetic(const Value& value);
  void take_outside_mass();
  void keep_mass_nodes(const std::vector<model::MassEntry>& entries);
  void check_quadratic(const Value& value, formula::NodeId kinetic,
                       const std::vector<model::MassEntry>& entries);
  void read_forces(TableReader& system);
  void set_mass(const Eigen::MatrixXd& mass, const std::string& key, const Value& value);
  void set_diagonal_mass(const Eigen::VectorXd& mass, const std::string& key, const Value& value);

  const Document& document_;
  FormulaReader& formulas_;
  model::FormulaSystem system_;
  bool has_period_{false};
  double period_{0.0};
  formula::NodeId period_node_{-1};
  std::vector<CoordinateGroup> groups_;
  std::vector<CoordinateGroup> own_groups_;
  FrameReader frames_;
  ConstraintReader constraints_;
};

}  // namespace ricochet::scene
