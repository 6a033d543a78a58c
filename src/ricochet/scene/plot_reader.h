#pragma once

#include <string>
#include <vector>

#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/plot_plan.h"
#include "ricochet/scene/table_reader.h"

namespace ricochet::scene {

/// Reads [plot]: the panels of the picture of a run.
class PlotReader {
 public:
  /// `rows` is a plan of the rows to be drawn, which gives columns, angles and joints.
  PlotReader(const Document& document, FormulaReader& formulas, const step::Columns& columns,
             const PlotPlan& rows)
      : document_(document), formulas_(formulas), names_(columns), rows_(rows) {}

  PlotPlan read(const Value& table);

 private:
  void read_panel(const Value& table, const std::string& path, bool is_root);
  void read_curves(TableReader& reader, PlotPanel& panel);
  void read_kind(TableReader& reader, PlotPanel& panel);
  void read_walls(TableReader& reader, PlotPanel& panel);
  void read_at(TableReader& reader, PlotPanel& panel);
  void read_body(TableReader& reader);
  void read_units(TableReader& reader);
  BodyPart read_part(const Value& table, const std::string& path);
  PlotFormula read_formula(const Value& value, const std::string& key);
  PlotPoint read_point(const Value& value, const std::string& key);
  Every read_every(TableReader& reader, const std::string& key);
  std::optional<std::pair<double, double>> read_range(TableReader& reader, const std::string& key);
  bool read_flag(TableReader& reader, const std::string& key, bool otherwise);
  long long read_count(const Value& value, const std::string& key);
  int contact_of(const std::string& name, const Value& at, const std::string& key) const;
  std::string unit_of(const std::string& text) const;
  void add_split(const PlotPanel& panel);
  [[noreturn]] void fail(const Value& value, const std::string& key, const std::string& message,
                         const std::string& remedy) const;

  const Document& document_;
  FormulaReader& formulas_;
  const step::Columns& names_;
  const PlotPlan& rows_;
  PlotPlan plan_;
  std::vector<std::string> extra_columns_;  // of a row, after t, positions and velocities
  std::vector<std::pair<std::string, std::string>> units_;
};

}  // namespace ricochet::scene
