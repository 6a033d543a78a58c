#pragma once

#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/frame_reader.h"
#include "ricochet/scene/slots.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"

namespace ricochet::scene {

/// Reads [run] and [start].
class RunReader {
 public:
  RunReader(const Document& document, FormulaReader& formulas)
      : document_(document), formulas_(formulas) {}

  step::Scheme read_scheme(const Value* table, bool of_structure = false, bool has_friction = true);
  step::RunSettings read_run(const Value* table, step::Scheme& scheme,
                             std::vector<std::string>& warnings, bool of_structure = false);
  /// The start: of the groups by [start], of free bodies as they say themselves; the model takes
  /// its scale from it.
  model::State<model::kDynamic> read_start(const Value* table,
                                           const std::vector<CoordinateGroup>& groups,
                                           const std::vector<FreeBody>& bodies,
                                           model::FormulaModel& model, const step::RunSettings& run,
                                           std::vector<std::string>& warnings);
  /// What slots set in the start.
  const StartSlots& start_slots() const { return slots_; }

 private:
  using State = model::State<model::kDynamic>;

  void read_scheme_settings(TableReader& run, step::Scheme& scheme,
                            std::vector<std::string>& warnings, bool of_structure);
  double read_setting(TableReader& run, const Value& value, const step::Setting& setting);
  void refuse_key(TableReader& run, const Value& value, const std::string& key,
                  const std::string& scheme, std::vector<std::string>& warnings);
  double positive(TableReader& table, const Value& value, const std::string& key);
  double whole(TableReader& table, const Value& value, const std::string& key);
  void read_vector(TableReader& start, const std::string& key,
                   const std::vector<CoordinateGroup>& groups, const model::FormulaModel& model,
                   int dofs, bool required, model::Vector<model::kDynamic>& vector,
                   std::vector<formula::NodeId>& nodes);
  void read_duration(TableReader& run, step::RunSettings& settings);
  void read_step_control(const Value& table, step::RunSettings& settings);
  void read_limits(TableReader& run, step::RunSettings& settings);
  void read_level(TableReader& run, step::RunSettings& settings);
  double read_tolerance(TableReader& start);

  const Document& document_;
  FormulaReader& formulas_;
  StartSlots slots_;
};

}  // namespace ricochet::scene
