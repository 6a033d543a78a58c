#include "ricochet/host/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "ricochet/host/output_file.h"

namespace ricochet::host {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw OutputError(fmt::format("cannot write to {}: {}\nremedy: choose another place",
                                  folder.string(), error.message()));
  }
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    return;
  }
  ::close(descriptor_);
  throw OutputError(fmt::format(
      "another run is writing to {}\nremedy: wait for its end, or choose another folder with --out",
      folder.string()));
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace ricochet::host
