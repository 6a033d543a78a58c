#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ricochet/host/output_file.h"
#include "ricochet/record/rows.h"

namespace ricochet::host {

/// Rows go to the file in large pieces. When one cannot be written, the rows before are kept, less
/// what the disk needs for the summary; `error` then says why.
class TrajectoryFile {
 public:
  TrajectoryFile(const std::filesystem::path& path, record::Columns columns);
  void add(const step::Sample& sample);
  void finish();
  long long rows() const { return rows_; }
  const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kPiece = 1U << 18U;
  void flush();
  /// Ends the file with the rows that are written, and says so in `error_`.
  void give_up(const OutputError& error);

  std::optional<OutputFile> file_;
  record::Columns columns_;
  std::string buffer_;
  std::string error_;
  long long rows_{0};
};

}  // namespace ricochet::host
