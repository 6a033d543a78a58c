#include "run_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "old_files.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/host/table_hdf5.h"
#include "ricochet/record/rows.h"

namespace ricochet::app {
namespace {

std::vector<std::string> names_of(const scene::Scene& scene) {
  const std::vector<std::string> all = step::names_of(scene.columns);
  std::vector<std::string> names;
  for (const std::size_t column : scene.record.columns) names.push_back(all[column]);
  return names;
}

void check_size(const scene::Scene& scene) {
  const double width = static_cast<double>(scene.record.columns.size());
  const double numbers = record::expected_rows(scene.run) * width;
  if (!scene.record.needs_table() || numbers <= record::ValueTable::kMost) return;
  throw base::InputError(
      "record.formats",
      fmt::format("{:.2g} numbers are more than .npz, .h5 and .vtp are made of here ({:.0e})",
                  numbers, record::ValueTable::kMost),
      "keep fewer columns with record.columns, or fewer rows with run.record");
}

}  // namespace

RunFiles::RunFiles(const std::filesystem::path& folder, const std::string& trajectory,
                   const scene::Scene& scene, bool with_events)
    : scene_(scene), stem_(std::filesystem::path(trajectory).stem().string()) {
  check_size(scene);
  const scene::RecordPlan& plan = scene.record;
  const std::vector<std::string> names = names_of(scene);
  if (plan.csv) csv_.emplace(folder / trajectory, fmt::format("{}", fmt::join(names, ",")));
  if (with_events && !scene.columns.contacts.empty()) {
    events_.emplace(folder / kEvents, record::kEventHeader);
  }
  if (plan.needs_table()) table_ = record::ValueTable(names);
  if (!plan.vtp) return;
  std::vector<formula::NodeId> roots;
  for (const auto& point : plan.points) roots.insert(roots.end(), point.begin(), point.end());
  const std::size_t inputs = step::names_of(scene.columns).size();
  points_ = formula::Tape(plan.graph, static_cast<int>(inputs), {roots});
  registers_ = points_.registers();
  places_ = record::ValueTable(std::vector<std::string>(roots.size()));
}

void RunFiles::add(const std::vector<double>& row) {
  ++rows_;
  const std::vector<std::size_t>& columns = scene_.record.columns;
  chosen_.resize(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) chosen_[k] = row[columns[k]];
  if (csv_) {
    record::append_numbers(chosen_, csv_->text());
    csv_->end_line();
  }
  if (scene_.record.needs_table()) keep(row);
}

void RunFiles::keep(const std::vector<double>& row) {
  table_.add(chosen_);
  if (!scene_.record.vtp) return;
  std::copy(row.begin(), row.end(), registers_.begin());
  points_.run(0, registers_.data());
  std::vector<double> places;
  for (const std::size_t at : points_.outputs(0)) places.push_back(registers_[at]);
  places_.add(places);
}

void RunFiles::add(const certify::Event& event) {
  if (!events_) return;
  certify::Event told = event;
  if (scene_.run.backward) told.at.t = -told.at.t;
  record::append_event(scene_.columns, told, events_->text());
  events_->end_line();
}

void RunFiles::finish() {
  if (csv_) csv_->finish();
  if (csv_) rows_ = csv_->rows();
  if (events_) events_->finish();
}

void RunFiles::write_tables(
    const std::function<void(const std::string&, const std::string&)>& write) const {
  const scene::RecordPlan& plan = scene_.record;
  if (plan.npz) write(stem_ + ".npz", record::npz_of(table_));
  if (plan.hdf5) write(stem_ + ".h5", host::hdf5_of(table_));
  if (plan.vtp) write(stem_ + ".vtp", record::vtp_of(table_, places_));
}

std::string RunFiles::describe() const {
  std::string words = csv_ ? fmt::format("{} ({})", kTrajectory, base::counted(rows_, "row")) : "";
  if (!events_) return words;
  return words + fmt::format("{}{} ({})", csv_ ? ", " : "", kEvents, events_->rows());
}

const std::string& RunFiles::error() const {
  static const std::string none;
  if (csv_ && !csv_->error().empty()) return csv_->error();
  return events_ ? events_->error() : none;
}

}  // namespace ricochet::app
