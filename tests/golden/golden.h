#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

// Golden runs: trajectories whose bits are kept. Each run has a line in a file of this folder, one
// file for each architecture and C library (whose sin and exp decide the last bit).

namespace ricochet::golden {

/// A scene of the program, run with some settings.
struct Run {
  std::string scene;
  std::vector<std::string> settings{};  // as of --set
  std::size_t member{0};                // of the scene's family, counted from 1; 0: no family
  bool backward{false};

  std::string name() const;  // "essai-01 run.scheme=inel"
};

/// All golden runs.
std::vector<Run> golden_runs();

/// One recorded instant: what is hashed of it.
struct Row {
  double t{0.0};
  std::span<const double> q;
  std::span<const double> u;
  std::span<const double> gaps;
  std::span<const double> impulses;
  std::span<const double> tangential;
};

/// How a run ended.
struct Ending {
  std::string scheme;
  std::string status;  // "ok", or the name of the failure
};

/// Makes a run. This is all that these tests ask of the engine.
Ending make_run(const Run& run, const std::function<void(const Row&)>& observe);

/// FNV-1a, 64 bits, of numbers by their bits, the lowest byte first. All NaN are one.
class Hash {
 public:
  void add(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }
  void add(double number);
  void add(std::span<const double> numbers);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_{0xcbf29ce484222325ULL};
};

/// A line of a golden file.
struct Line {
  std::string name;  // of the run
  std::string scheme;
  std::string status;
  long long rows{0};
  std::uint64_t hash{0};
  std::vector<double> last;  // t, q and u of the last row
};

/// A run that was made: its line, and its largest |q| or |u|.
struct Measured {
  Line line;
  double size{0.0};
};

Measured measure(const Run& run);

/// How alike a run and its line must be.
enum class Likeness {
  Bits,    // the same trajectory to the last bit: on the machine the file is of
  Digits,  // the same end to kDigits of t and of the run's largest |q| or |u|: elsewhere
};
inline constexpr double kDigits = 1e-9;

/// Empty where the run is as its line says; else what differs, in words.
std::string compare(const Measured& now, const Line& kept, Likeness likeness);

/// Names that are among the runs or the lines only, or twice; in words.
std::vector<std::string> unmatched(const std::vector<Run>& runs, const std::vector<Line>& lines);

/// "aarch64-glibc": the file's name without ending.
std::string platform();

std::string to_text(const std::vector<Line>& lines);
/// Throws std::runtime_error, with the number of the line, for a text that is none of ours.
std::vector<Line> read_lines(const std::string& text);

}  // namespace ricochet::golden
