#include "ricochet/record/rows.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cassert>
#include <iterator>
#include <numeric>

namespace ricochet::record {
namespace {

void append_number(double value, std::string& text) {
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), value);
}

}  // namespace

void append_header(const Columns& columns, std::string& text) {
  text += fmt::format("{}\n", fmt::join(step::names_of(columns), ","));
}

void append_numbers(std::span<const double> row, std::string& text) {
  const std::size_t begin = text.size();
  for (const double value : row) {
    if (text.size() > begin) text += ',';
    append_number(value, text);
  }
}

void append_row(const Columns& columns, const step::Sample& sample, std::string& text) {
  std::vector<double> row;
  fill_row(columns, sample, row);
  append_numbers(row, text);
  text += '\n';
}

double expected_rows(const step::RunSettings& run) {
  if (run.steps == 0) return 1.0;
  if (run.record_every == 0) return 2.0;
  const long long rest = run.steps % run.record_every;
  return static_cast<double>(run.steps / run.record_every) + (rest > 0 ? 2.0 : 1.0);
}

void append_event(const Columns& columns, const certify::Event& event, std::string& text) {
  const certify::Shock& at = event.at;
  const auto contact = static_cast<std::size_t>(at.contact);
  const int slips = columns.slips_of(contact);
  append_number(at.t, text);
  text += fmt::format(",{},{}", columns.contacts[contact], certify::name_of(event.kind));
  const bool is_shock =
      event.kind == certify::EventKind::Shock || event.kind == certify::EventKind::TangentialShock;
  const auto append = [&](double value, bool exists) {
    text += ',';
    if (exists) append_number(value, text);
  };
  for (const double value : {at.approach, at.impulse, at.work}) append(value, is_shock);
  for (const auto& slip : {at.slip_before, at.slip_after}) {
    append(slip[0], is_shock && slips > 0);
    append(slip[1], is_shock && slips > 1);
  }
}

void fill_row(const Columns& columns, const step::Sample& sample, std::vector<double>& row) {
  assert(sample.q.size() == columns.coordinates.size());
  assert(sample.gaps.size() == columns.contacts.size());
  assert(sample.impulses.size() == columns.contacts.size());
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
  row.insert(row.end(), sample.watches.begin(), sample.watches.end());
}

double estimate_bytes(const Columns& columns, double rows) {
  const double numbers = 2.0 + static_cast<double>(columns.has_potential) +
                         static_cast<double>(columns.watches.size()) +
                         2.0 * static_cast<double>(columns.coordinates.size()) +
                         2.0 * static_cast<double>(columns.contacts.size()) +
                         2.0 * std::accumulate(columns.slips.begin(), columns.slips.end(), 0.0);
  constexpr double kUsual = 18.5;  // bytes of a number with its comma
  return rows * numbers * kUsual;
}

}  // namespace ricochet::record
