#include "ricochet/record/rows.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cassert>
#include <iterator>
#include <numeric>

namespace ricochet::record {
namespace {

void append_number(double value, std::string& text) {
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:.17g}"), value);
}

}  // namespace

void append_header(const Columns& columns, std::string& text) {
  const std::size_t begin = text.size();
  for (const std::string& name : step::names_of(columns)) {
    text += (text.size() == begin ? "" : ",") + name;
  }
  text += "\n";
}

void append_row(const Columns& columns, const step::Sample& sample, std::string& text) {
  assert(sample.q.size() == columns.coordinates.size());
  assert(sample.gaps.size() == columns.contacts.size());
  assert(sample.impulses.size() == columns.contacts.size());
  append_number(sample.t, text);
  const auto append = [&](double value) {
    text += ',';
    append_number(value, text);
  };
  for (const double value : sample.q) append(value);
  for (const double value : sample.u) append(value);
  for (std::size_t a = 0; a < columns.contacts.size(); ++a) {
    append(sample.gaps[a]);
    append(sample.impulses[a]);
    const auto slips = static_cast<std::size_t>(columns.slips_of(a));
    for (std::size_t j = 0; j < slips; ++j) append(sample.tangential[2 * a + j]);
    for (std::size_t j = 0; j < slips; ++j) append(sample.slips[2 * a + j]);
    if (slips > 0) append(sample.states[a]);
  }
  append(sample.kinetic);
  if (columns.has_potential) append(sample.potential);
  text += '\n';
}

double expected_rows(const step::RunSettings& run) {
  if (run.steps == 0) return 1.0;
  if (run.record_every == 0) return 2.0;
  const long long rest = run.steps % run.record_every;
  return static_cast<double>(run.steps / run.record_every) + (rest > 0 ? 2.0 : 1.0);
}

void fill_row(const Columns& columns, const step::Sample& sample, std::vector<double>& row) {
  row.clear();
  row.push_back(sample.t);
  row.insert(row.end(), sample.q.begin(), sample.q.end());
  row.insert(row.end(), sample.u.begin(), sample.u.end());
  for (std::size_t a = 0; a < columns.contacts.size(); ++a) {
    row.push_back(sample.gaps[a]);
    row.push_back(sample.impulses[a]);
    const auto slips = static_cast<std::size_t>(columns.slips_of(a));
    for (std::size_t j = 0; j < slips; ++j) row.push_back(sample.tangential[2 * a + j]);
    for (std::size_t j = 0; j < slips; ++j) row.push_back(sample.slips[2 * a + j]);
    if (slips > 0) row.push_back(sample.states[a]);
  }
  row.push_back(sample.kinetic);
  if (columns.has_potential) row.push_back(sample.potential);
}

double estimate_bytes(const Columns& columns, double rows) {
  const double numbers = 2.0 + static_cast<double>(columns.has_potential) +
                         2.0 * static_cast<double>(columns.coordinates.size()) +
                         2.0 * static_cast<double>(columns.contacts.size()) +
                         2.0 * std::accumulate(columns.slips.begin(), columns.slips.end(), 0.0);
  constexpr double kUsual = 18.5;  // bytes of a number with its comma
  return rows * numbers * kUsual;
}

}  // namespace ricochet::record
