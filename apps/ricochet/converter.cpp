#include "converter.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>
#include <vector>

#include "ricochet/base/error.h"

extern char** environ;

namespace ricochet::app {
namespace {

constexpr int kNotFound = 127;

/// Runs a program without a shell; its exit code, 127 when there is no such program.
int run(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    return kNotFound;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

void convert_to_png(const std::filesystem::path& svg, const std::filesystem::path& png) {
  const std::vector<std::vector<std::string>> ways = {
      {"rsvg-convert", "--zoom=2", "-o", png.string(), svg.string()},
      {"inkscape", svg.string(), "--export-dpi=192", "--export-filename=" + png.string()}};
  for (const std::vector<std::string>& way : ways) {
    const int code = run(way);
    if (code == 0) return;
    if (code == kNotFound) continue;
    throw base::InputError("--png", fmt::format("{} could not convert {}", way[0], svg.string()),
                           "see its message above");
  }
  throw base::InputError("--png", "there is no program here that makes a PNG of an SVG",
                         "install rsvg-convert (on Debian: librsvg2-bin); the SVG is written");
}

}  // namespace ricochet::app
