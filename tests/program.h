#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "places.h"

namespace ricochet::testing {

/// What running the program left behind.
struct Finished {
  int code{-1};     // exit code; 128 + signal when it was killed
  std::string out;  // standard output
  std::string err;  // standard error
  double seconds{0.0};
  double cpu_seconds{0.0};  // of it and what it started
  double megabytes{0.0};    // of memory in use at a time, the most seen (looked at every 2 ms)
};

/// Runs build/bin/ricochet with these arguments, in `folder`. `interrupt_after` > 0 sends SIGINT
/// (or `signal`) after that many seconds; nothing runs longer than a minute.
Finished run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                     double interrupt_after = 0.0, int signal = 2);

/// The same for any program on the PATH: its name, then its arguments.
Finished run_command(const std::vector<std::string>& words, const std::filesystem::path& folder,
                     double interrupt_after = 0.0, int signal = 2);

/// The gallery with all pages (where sanitizers watch, one experiment of it), made once for all
/// tests of a build, whichever process asks first. What is there may be read, and not changed.
struct Gallery {
  Finished made;  // its code, streams and seconds
  std::filesystem::path folder;
};
const Gallery& shared_gallery();

/// A fresh folder that is removed with this object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, const std::string& text);

}  // namespace ricochet::testing
