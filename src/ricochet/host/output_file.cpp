#include "ricochet/host/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

namespace ricochet::host {

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  try {
    if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path());
    temporary_.emplace(path_);
  } catch (const std::system_error& error) {  // std::filesystem's too
    throw OutputError(fmt::format("cannot write {}: {}\nremedy: choose another place",
                                  path_.string(), error.code().message()));
  }
  file_ = ::fdopen(temporary_->descriptor(), "wb");
  if (file_ != nullptr) return;
  const int why = errno;
  ::close(temporary_->descriptor());
  fail("write", why);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void OutputFile::fail(const char* doing, int error) const {
  throw OutputError(
      fmt::format("cannot {} {}: {}\nremedy: free some space, record fewer rows (run.record), or "
                  "choose another place",
                  doing, path_.string(), std::strerror(error)));
}

void OutputFile::write(std::string_view text) {
  assert(file_ != nullptr && "written after commit");
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail("write", errno);
}

void OutputFile::commit() {
  assert(file_ != nullptr && "committed twice");
  if (std::fflush(file_) != 0) fail("finish", errno);
  const int closed = std::fclose(file_);
  const int why = errno;
  file_ = nullptr;
  if (closed != 0) {
    temporary_.reset();
    fail("finish", why);
  }
  std::error_code error;
  std::filesystem::rename(temporary_->path(), path_, error);
  temporary_->release();
  if (!error) return;
  throw OutputError(
      fmt::format("cannot put {} in its place: {}\nremedy: nothing is lost, the whole file is {}; "
                  "rename it, or make room for the name and run again",
                  path_.string(), error.message(), temporary_->path().string()));
}

long long OutputFile::commit_lines(std::uintmax_t room) {
  if (file_ == nullptr) return 0;
  std::fclose(file_);  // what it could not write is not there, and is not counted
  file_ = nullptr;
  const std::filesystem::path& written = temporary_->path();
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(written, error);
  const std::uintmax_t most = error || size < room ? 0 : size - room;
  std::ifstream text(written, std::ios::binary);
  std::uintmax_t end = 0;
  long long lines = 0;
  for (std::string line; std::getline(text, line) && end + line.size() < most;) {
    end += line.size() + 1;
    ++lines;
  }
  if (lines > 0) std::filesystem::resize_file(written, end, error);
  if (lines > 0 && !error) std::filesystem::rename(written, path_, error);
  const bool is_in_place = lines > 0 && !error;
  if (is_in_place) temporary_->release();
  temporary_.reset();
  return is_in_place ? lines : 0;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

std::string try_to_write(const std::filesystem::path& path, std::string_view text) {
  try {
    write_file(path, text);
  } catch (const OutputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace ricochet::host
