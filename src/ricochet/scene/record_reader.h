#pragma once

#include <string>
#include <vector>

#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/record_plan.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/step/columns.h"

namespace ricochet::scene {

/// Reads [record], which columns of a trajectory are kept, and in which files. Without a table:
/// all of them, in trajectory.csv.
RecordPlan read_record(const Document& document, const Value* table, FormulaReader& formulas,
                       const step::Columns& columns);

}  // namespace ricochet::scene
