// Writes the golden file of this machine: ricochet-golden FOLDER, or to the screen.

#include <fmt/format.h>

#include <exception>
#include <fstream>

#include "golden.h"
#include "ricochet/base/clock.h"

namespace {

int write_lines(const std::string& folder) {
  using namespace ricochet;
  std::vector<golden::Line> lines;
  int refused = 0;
  const base::Stopwatch whole;
  for (const golden::Run& run : golden::golden_runs()) {
    const base::Stopwatch clock;
    try {
      lines.push_back(golden::measure(run).line);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", run.name(), error.what());
      ++refused;
    }
    constexpr double kLong = 0.2;  // [s]
    if (clock.seconds() > kLong) fmt::print(stderr, "{:6.2f} s  {}\n", clock.seconds(), run.name());
  }
  if (refused > 0) return 1;
  const std::string text = golden::to_text(lines);
  fmt::print(stderr, "{} runs in {:.1f} s\n", lines.size(), whole.seconds());
  if (folder.empty()) {
    fmt::print("{}", text);
    return 0;
  }
  const std::string path = folder + "/" + golden::platform() + ".txt";
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) {
    fmt::print(stderr, "{}: could not be written\n", path);
    return 1;
  }
  fmt::print(stderr, "written: {}\n", path);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    fmt::print(stderr, "usage: ricochet-golden [FOLDER]\n");
    return 2;
  }
  return write_lines(argc == 2 ? argv[1] : "");
}
