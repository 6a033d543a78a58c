#include "ricochet/host/trajectory_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ricochet::host {

TrajectoryFile::TrajectoryFile(const std::filesystem::path& path, record::Columns columns)
    : columns_(std::move(columns)) {
  file_.emplace(path);
  buffer_.reserve(2 * kPiece);
  record::append_header(columns_, buffer_);
}

void TrajectoryFile::add(const step::Sample& sample) {
  if (!file_) return;
  record::append_row(columns_, sample, buffer_);
  ++rows_;
  if (buffer_.size() >= kPiece) flush();
}

void TrajectoryFile::flush() {
  if (!file_) return;
  try {
    file_->write(buffer_);
  } catch (const OutputError& error) {
    give_up(error);
  }
  buffer_.clear();
}

void TrajectoryFile::finish() {
  flush();
  if (!file_) return;
  try {
    file_->commit();
  } catch (const OutputError& error) {
    give_up(error);
  }
}

void TrajectoryFile::give_up(const OutputError& error) {
  error_ = error.what();
  const long long lines = file_->commit_lines(kPiece);
  file_.reset();
  rows_ = std::max(0LL, lines - 1);  // without the header
  if (rows_ > 0) error_ += fmt::format("\nkept: the first {} rows", rows_);
}

}  // namespace ricochet::host
