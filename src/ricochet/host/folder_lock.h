#pragma once

#include <filesystem>

namespace ricochet::host {

/// A folder that one run has for itself, so that files of two never mix. It is made where there is
/// none; on file systems without locks nothing is locked.
class FolderLock {
 public:
  /// Throws OutputError where another run has the folder, or it cannot be made.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_{-1};
};

}  // namespace ricochet::host
