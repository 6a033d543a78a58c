#include "ricochet/host/line_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace ricochet::host {

LineFile::LineFile(const std::filesystem::path& path, const std::string& header) {
  file_.emplace(path);
  buffer_.reserve(2 * kPiece);
  buffer_ = header + "\n";
}

void LineFile::flush() {
  try {
    if (file_) file_->write(buffer_);
  } catch (const OutputError& error) {
    give_up(error);
  }
  buffer_.clear();
}

void LineFile::finish() {
  flush();
  if (!file_) return;
  try {
    file_->commit();
  } catch (const OutputError& error) {
    give_up(error);
  }
}

void LineFile::give_up(const OutputError& error) {
  error_ = error.what();
  const long long lines = file_->commit_lines(kPiece);
  file_.reset();
  rows_ = std::max(0LL, lines - 1);  // without the header
  if (rows_ > 0) error_ += fmt::format("\nkept: the first {} rows", rows_);
}

}  // namespace ricochet::host
