#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/formula/tape.h"
#include "ricochet/host/line_file.h"
#include "ricochet/record/value_table.h"
#include "ricochet/scene/scene.h"

namespace ricochet::app {

/// The files of a run that grow with it, as its [record] says: the trajectory, and of a run that is
/// no member of a family its events.
class RunFiles {
 public:
  /// `trajectory`: the name of the CSV, whose stem the other forms share.
  RunFiles(const std::filesystem::path& folder, const std::string& trajectory,
           const scene::Scene& scene, bool with_events);

  /// All columns of a row.
  void add(const std::vector<double>& row);
  void add(const certify::Event& event);

  /// Ends the files in lines.
  void finish();
  /// Those that are written as a whole, by name and bytes.
  void write_tables(const std::function<void(const std::string&, const std::string&)>& write) const;

  long long rows() const { return rows_; }
  /// "trajectory.csv (301 rows), events.csv (12)".
  std::string describe() const;
  /// Why one could not be written; empty when all were.
  const std::string& error() const;

 private:
  void keep(const std::vector<double>& row);

  const scene::Scene& scene_;
  std::string stem_;
  std::optional<host::LineFile> csv_;
  std::optional<host::LineFile> events_;
  std::vector<double> chosen_;
  record::ValueTable table_;
  record::ValueTable places_;  // of points, three columns each
  formula::Tape points_;
  std::vector<double> registers_;
  long long rows_{0};
};

}  // namespace ricochet::app
