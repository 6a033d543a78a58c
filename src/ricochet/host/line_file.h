#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ricochet/host/output_file.h"

namespace ricochet::host {

/// A table in lines, which go to the file in large pieces. When one cannot be written, the lines
/// before are kept, less what the disk needs for the summary; `error` then says why.
class LineFile {
 public:
  LineFile(const std::filesystem::path& path, const std::string& header);

  /// What is appended to `text()` is a line once it ends.
  std::string& text() { return buffer_; }
  void end_line() {
    buffer_ += '\n';
    ++rows_;
    if (buffer_.size() >= kPiece) flush();
  }
  void finish();
  long long rows() const { return rows_; }  // without the header
  const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kPiece = 1U << 18U;
  void flush();
  /// Ends the file with the lines that are written, and says so in `error_`.
  void give_up(const OutputError& error);

  std::optional<OutputFile> file_;
  std::string buffer_;
  std::string error_;
  long long rows_{0};
};

}  // namespace ricochet::host
