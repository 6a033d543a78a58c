#include "ricochet/host/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <system_error>

namespace ricochet::host {

/// A member of a list that only grows, so that a signal handler may read it at any time. Members
/// are used again: there are as many as there were temporary files at the same time.
struct TemporaryEntry {
  std::atomic<bool> taken{false};
  std::atomic<pid_t> owner{0};    // the process that has the file; 0: there is none
  std::array<char, 4096> path{};  // absolute, with a '\0' behind
  TemporaryEntry* next{nullptr};
};

namespace {

std::atomic<TemporaryEntry*> first_entry{nullptr};
std::atomic<bool> is_ending{false};

TemporaryEntry* take_entry() {
  for (TemporaryEntry* entry = first_entry; entry != nullptr; entry = entry->next) {
    if (!entry->taken.exchange(true)) return entry;
  }
  auto* entry = new TemporaryEntry;  // stays in the list
  entry->taken = true;
  entry->next = first_entry;
  while (!first_entry.compare_exchange_weak(entry->next, entry)) {
  }
  return entry;
}

void publish(TemporaryEntry& entry, const std::filesystem::path& path) {
  const std::string text = std::filesystem::absolute(path).string();
  if (text.size() >= entry.path.size()) return;  // longer than the system takes
  std::memcpy(entry.path.data(), text.c_str(), text.size() + 1);
  entry.owner = ::getpid();
}

void give_back(TemporaryEntry& entry) {
  entry.owner = 0;
  entry.taken = false;
}

/// place.RANDOM.tmp, with 65 random bits; the name of the place is cut where the whole would be
/// longer than file systems take.
std::filesystem::path name_beside(const std::filesystem::path& place) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr int kLength = 13;
  constexpr std::size_t kLongest = 255;
  std::random_device random;
  std::string ending = ".";
  for (int k = 0; k < kLength; ++k) ending += kLetters[random() % 32U];
  ending += ".tmp";
  std::string name = place.filename().string();
  if (name.size() + ending.size() > kLongest) name.resize(kLongest - ending.size());
  return place.parent_path() / (name + ending);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& place) : entry_(take_entry()) {
  constexpr mode_t kForAll = 0666;  // less what the user's mask takes away
  constexpr int kMostTrials = 100;  // a name that exists already is as good as impossible
  int error = EEXIST;
  for (int trial = 0; trial < kMostTrials && error == EEXIST; ++trial) {
    path_ = name_beside(place);
    publish(*entry_, path_);  // before the file exists, so that no signal comes in between
    descriptor_ = ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kForAll);
    error = descriptor_ >= 0 ? 0 : errno;
    if (error != 0) entry_->owner = 0;
  }
  if (error == 0 && is_ending) {
    ::close(descriptor_);
    ::unlink(path_.c_str());
    error = EINTR;
  }
  if (error == 0) return;
  give_back(*entry_);
  throw std::system_error(error, std::generic_category());
}

TemporaryFile::~TemporaryFile() {
  if (entry_ == nullptr) return;
  ::unlink(path_.c_str());
  release();
}

void TemporaryFile::release() {
  if (entry_ != nullptr) give_back(*entry_);
  entry_ = nullptr;
}

void remove_temporary_files() noexcept {
  is_ending = true;
  const pid_t here = ::getpid();  // a child that was just forked has the list of its parent
  for (TemporaryEntry* entry = first_entry; entry != nullptr; entry = entry->next) {
    if (entry->owner == here) ::unlink(entry->path.data());
  }
}

}  // namespace ricochet::host
