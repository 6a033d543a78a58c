#pragma once

#include <span>
#include <string>
#include <vector>

#include "ricochet/step/columns.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/settings.h"

namespace ricochet::record {

using step::Columns;

/// The header of trajectory.csv, see step::names_of.
void append_header(const Columns& columns, std::string& text);

/// Numbers with commas between them, of as few digits as read back as the same ones, 17 at most.
void append_numbers(std::span<const double> row, std::string& text);

/// The columns of events.csv, and a line of it. Numbers that an event does not have are left out.
inline constexpr const char* kEventHeader =
    "t,contact,event,approach,impulse,work,slip1_before,slip2_before,slip1_after,slip2_after";
void append_event(const Columns& columns, const certify::Event& event, std::string& text);

/// One row with its end.
void append_row(const Columns& columns, const step::Sample& sample, std::string& text);

/// Rows of the trajectory of a run that reaches its end: the start, every so many steps, the end.
/// Under step control as if all steps were of the largest length: at least about so many.
double expected_rows(const step::RunSettings& run);

/// The same as numbers, in the order of the header.
void fill_row(const Columns& columns, const step::Sample& sample, std::vector<double>& row);

/// Bytes a trajectory of that many rows will take, from the length of typical numbers.
double estimate_bytes(const Columns& columns, double rows);

}  // namespace ricochet::record
