#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ricochet/host/temporary_file.h"

namespace ricochet::host {

/// A file could not be made or written.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that appears whole or not at all: written under a temporary name beside its place, and
/// renamed by `commit`. Without commit it leaves no trace; where only the renaming fails, the whole
/// file stays under its temporary name, which the error tells.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void commit();

  /// After a failed write: puts in place the lines that are whole, but for the last `room` bytes,
  /// which the disk has back. Returns their number; without any, or after commit, there is no file.
  long long commit_lines(std::uintmax_t room);

 private:
  [[noreturn]] void fail(const char* doing, int error) const;

  std::filesystem::path path_;
  std::optional<TemporaryFile> temporary_;
  std::FILE* file_{nullptr};
};

/// Writes a whole text.
void write_file(const std::filesystem::path& path, std::string_view text);

/// The same; returns what went wrong, or nothing when the file is written.
std::string try_to_write(const std::filesystem::path& path, std::string_view text);

}  // namespace ricochet::host
