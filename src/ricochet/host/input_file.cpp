#include "ricochet/host/input_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "ricochet/base/error.h"

namespace ricochet::host {
namespace {

/// Opening /dev/stdin by its name would fail where it is a socket.
std::FILE* open_stream(const std::string& file) {
  if (file != "/dev/stdin") return std::fopen(file.c_str(), "rbe");
  const int input = ::dup(STDIN_FILENO);
  return input < 0 ? nullptr : ::fdopen(input, "rb");
}

}  // namespace

InputFile::InputFile(std::string file, InputAdvice advice)
    : file_(std::move(file)), advice_(std::move(advice)), stream_(nullptr, &std::fclose) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file_, ignored)) {
    throw base::InputError("", fmt::format("{} is a folder", file_), advice_.wanted);
  }
  stream_.reset(open_stream(file_));
  if (stream_ == nullptr) refuse(errno);
  text_.resize(kPiece);
}

void InputFile::refuse(int error) const {
  throw base::InputError("", fmt::format("cannot read {}: {}", file_, std::strerror(error)),
                         advice_.absent);
}

std::string_view InputFile::more() {
  if (filled_ == text_.size()) text_.resize(2 * text_.size());  // a line longer than a piece
  filled_ += std::fread(text_.data() + filled_, 1, text_.size() - filled_, stream_.get());
  if (std::ferror(stream_.get()) != 0) refuse(errno);
  return {text_.data(), filled_};
}

void InputFile::use(std::size_t bytes) {
  std::memmove(text_.data(), text_.data() + bytes, filled_ - bytes);
  filled_ -= bytes;
}

std::string read_input(const std::string& file, const InputAdvice& advice, std::size_t most) {
  InputFile input(file, advice);
  std::string all;
  do {
    const std::string_view piece = input.more();
    if (piece.size() > most - all.size()) {
      throw base::InputError("", fmt::format("{} is larger than {} MB", file, most >> 20U),
                             advice.wanted);
    }
    all += piece;
    input.use(piece.size());
  } while (!input.is_last());
  return all;
}

}  // namespace ricochet::host
