#pragma once

#include <filesystem>

namespace ricochet::host {

struct TemporaryEntry;

/// A new file beside its later place, under a name that cannot be guessed and that no other file
/// has. It is removed with this object, unless it was released, and by a signal that ends the
/// program (`end_cleanly_on_signals`).
class TemporaryFile {
 public:
  /// Throws std::system_error where the file cannot be made.
  explicit TemporaryFile(const std::filesystem::path& place);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Open for writing. The caller closes it.
  int descriptor() const { return descriptor_; }

  /// The file was renamed, or is to be kept: it is not removed any more.
  void release();

 private:
  std::filesystem::path path_;
  TemporaryEntry* entry_{nullptr};  // in the list that signal handlers read; null: released
  int descriptor_{-1};
};

/// Removes the temporary files of this process, which is about to end: none can be made after.
/// Calls only functions that a signal handler may call.
void remove_temporary_files() noexcept;

}  // namespace ricochet::host
