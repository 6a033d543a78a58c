#pragma once

#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/settings.h"

namespace ricochet::record {

/// What the columns of a trajectory are called.
struct Columns {
  std::vector<std::string> coordinates;
  std::vector<std::string> contacts;
  bool has_potential{false};
  std::vector<int> slips{};  // tangential directions by contact, 0 to 2; empty: no friction at all

  int slips_of(std::size_t contact) const { return contact < slips.size() ? slips[contact] : 0; }
};

/// The columns of a model's trajectories.
Columns columns_of(const model::FormulaModel& model);

/// Header of trajectory.csv: t, coordinates, d_<coordinate>, <contact>.gap, <contact>.impulse_n,
/// energy.kinetic, and energy.potential if there is one. A contact with friction adds impulse_t,
/// slip (with 1 and 2 in space) and state: 0 free, 1 stick, 2 slip, 3 shock.
void append_header(const Columns& columns, std::string& text);

/// One row, 17 significant digits: enough to read the same numbers back.
void append_row(const Columns& columns, const step::Sample& sample, std::string& text);

/// Rows of the trajectory of a run that reaches its end: the start, every so many steps, the end.
/// Under step control as if all steps were of the largest length: at least about so many.
double expected_rows(const step::RunSettings& run);

/// The same as numbers, in the order of the header.
void fill_row(const Columns& columns, const step::Sample& sample, std::vector<double>& row);

/// Bytes a trajectory of that many rows will take, from the length of typical numbers.
double estimate_bytes(const Columns& columns, double rows);

}  // namespace ricochet::record
