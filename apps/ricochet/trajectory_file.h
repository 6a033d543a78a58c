#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "ricochet/record/output_file.h"
#include "ricochet/record/rows.h"

namespace ricochet::app {

/// Rows go to the file in large pieces. When one cannot be written, the rows before are kept, less
/// what the disk needs for the summary; `error` then says why.
class TrajectoryFile {
 public:
  TrajectoryFile(const std::filesystem::path& path, record::Columns columns)
      : columns_(std::move(columns)) {
    file_.emplace(path);
    buffer_.reserve(2 * kPiece);
    record::append_header(columns_, buffer_);
  }
  void add(const step::Sample& sample) {
    if (!file_) return;
    record::append_row(columns_, sample, buffer_);
    ++rows_;
    if (buffer_.size() >= kPiece) flush();
  }
  void finish() {
    flush();
    attempt([this] { file_->commit(); });
  }
  long long rows() const { return rows_; }
  const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kPiece = 1U << 18U;
  void flush() {
    attempt([this] { file_->write(buffer_); });
    buffer_.clear();
  }
  template <class Work>
  void attempt(Work&& work) {
    if (!file_) return;
    try {
      work();
    } catch (const record::OutputError& error) {
      error_ = error.what();
      const long long lines = file_->commit_lines(kPiece);
      file_.reset();
      rows_ = std::max(0LL, lines - 1);  // without the header
      if (rows_ > 0) error_ += fmt::format("\nkept: the first {} rows", rows_);
    }
  }
  std::optional<record::OutputFile> file_;
  record::Columns columns_;
  std::string buffer_;
  std::string error_;
  long long rows_{0};
};

}  // namespace ricochet::app
