#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/part.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"

namespace ricochet::scene {

/// Why steps of length h are none that a scheme explicit in the stiffness, or in its springs, can
/// take; nothing: they are.
std::optional<base::InputError> fault_of_step(const StructurePart& part, const step::Scheme& scheme,
                                              double h);

/// Reads [structure] into a linear structure with its loads, guides and points.
class StructureReader {
 public:
  StructureReader(const Document& document, FormulaReader& formulas)
      : document_(document), formulas_(formulas) {}

  /// To be called first: the other tables speak of them too.
  void read_parameters(const Value& table);

  /// All of it but the start; the part's settings of the scheme are there.
  void read(const Value& table, const step::Scheme& scheme, const step::RunSettings& run,
            StructurePart& part);

  /// [start]: shapes as formulas of x; none: at rest, straight.
  void read_start(const Value* table, const step::RunSettings& run, StructurePart& part);

 private:
  using Model = structure::LinearStructure;
  void read_line(TableReader& table, structure::Line& line);
  void read_section(TableReader& table, structure::Line& line);
  std::optional<structure::Section> section_of(const Value& value);
  structure::End end_of(TableReader& table, const Value& value, const Value& item,
                        structure::Kind kind);
  void read_form(TableReader& table, structure::Line& line);
  void read_masses(const Value* table, Model& model);
  void read_forces(const Value* table, Model& model);
  void read_points(const Value* table, Model& model);
  void read_guides(const Value* table, Model& model);
  void read_guide(const std::string& name, const Value& value, Model& model);
  void add_guide(TableReader& table, structure::Guide guide, double x, Model& model);
  double clearance(TableReader& table, const char* key, double x);
  void read_damping(TableReader& table, Model& model);
  void read_reduction(TableReader& table, StructurePart& part);
  void check_mode_nodes(const Value& value, const std::string& key) const;
  std::vector<double> frequencies_of(const Model& model) const;
  void set_quiet_time(TableReader& table, Model& model, const std::vector<double>& frequencies);
  void set_shape(const Value& value, const std::string& key, int plane, Eigen::VectorXd& vector);
  void check_start(const Value& table, const StructurePart& part);

  double positive(TableReader& table, const std::string& key, const std::string& remedy);
  double positive_value(TableReader& table, const Value& value, const std::string& key);
  double place(TableReader& table, const Value& value, const std::string& key);
  structure::Row row_at(TableReader& table, const Value& value, const std::string& key, double x);
  int plane_of(TableReader& table);
  int whole(TableReader& table, const Value& value, const std::string& key, int least, int most);

  const Document& document_;
  FormulaReader& formulas_;
  std::unique_ptr<structure::Mesh> mesh_;
  std::vector<formula::NodeId> load_nodes_;
  std::vector<std::pair<double, double>> masses_;  // where, and how much
};

}  // namespace ricochet::scene
