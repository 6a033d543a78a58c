#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace ricochet::host {

/// What the message about a file that cannot be read advises.
struct InputAdvice {
  std::string wanted;  // where it is a folder or too large
  std::string absent;  // where it cannot be opened or read
};

/// A file read in pieces: a file, a pipe, a terminal. /dev/stdin is the standard input of this
/// process, whatever that is. Throws base::InputError where it cannot be read.
class InputFile {
 public:
  InputFile(std::string file, InputAdvice advice);

  /// What was read and not used yet, with more behind it.
  std::string_view more();
  /// Whether the end of the file is reached.
  bool is_last() const { return std::feof(stream_.get()) != 0; }
  void use(std::size_t bytes);

 private:
  static constexpr std::size_t kPiece = 1U << 20U;
  [[noreturn]] void refuse(int error) const;

  std::string file_;
  InputAdvice advice_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_;
  std::string text_;
  std::size_t filled_{0};
};

/// All of a file, read once from its beginning to its end. Throws base::InputError where it cannot
/// be read or has more than `most` bytes.
std::string read_input(const std::string& file, const InputAdvice& advice,
                       std::size_t most = SIZE_MAX);

}  // namespace ricochet::host
