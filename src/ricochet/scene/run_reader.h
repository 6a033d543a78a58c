#pragma once

#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/step/settings.h"

namespace ricochet::scene {

/// Reads [run] and [start].
class RunReader {
 public:
  RunReader(const Document& document, FormulaReader& formulas)
      : document_(document), formulas_(formulas) {}

  step::Scheme read_scheme(const Value* table);
  step::RunSettings read_run(const Value* table, step::Scheme& scheme);
  model::State<model::kDynamic> read_start(const Value* table, const model::FormulaModel& model,
                                           const step::RunSettings& run,
                                           std::vector<std::string>& warnings);

 private:
  using State = model::State<model::kDynamic>;

  void read_scheme_settings(TableReader& run, step::Scheme& scheme);
  double positive(TableReader& table, const Value& value, const std::string& key);
  double whole(TableReader& table, const Value& value, const std::string& key);
  void read_vector(TableReader& start, const std::string& key, const model::FormulaModel& model,
                   bool required, model::Vector<model::kDynamic>& vector);
  void check_start(TableReader& start, const State& state, const model::FormulaModel& model,
                   const step::RunSettings& run, std::vector<std::string>& warnings);

  const Document& document_;
  FormulaReader& formulas_;
};

}  // namespace ricochet::scene
