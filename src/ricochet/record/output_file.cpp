#include "ricochet/record/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace ricochet::record {

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), error);
  temporary_ = path_;
  temporary_ += fmt::format(".{}.tmp", ::getpid());
  if (!error) file_ = std::fopen(temporary_.c_str(), "wb");
  if (file_ == nullptr) {
    throw OutputError(fmt::format("cannot write {}: {}\nremedy: choose another place with --out",
                                  path_.string(), error ? error.message() : std::strerror(errno)));
  }
}

OutputFile::~OutputFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void OutputFile::fail(const char* doing) const {
  throw OutputError(
      fmt::format("cannot {} {}: {}\nremedy: free some space, record fewer rows (run.record), or "
                  "choose another "
                  "place with --out",
                  doing, path_.string(), std::strerror(errno)));
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("write");
}

void OutputFile::commit() {
  const bool flushed = std::fflush(file_) == 0;
  if (!flushed) fail("finish");
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  std::error_code error;
  if (closed) std::filesystem::rename(temporary_, path_, error);
  if (!closed || error) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
    fail("finish");
  }
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace ricochet::record
