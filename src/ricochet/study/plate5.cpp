#include "ricochet/study/plate5.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/study/builtin_scenes.h"

namespace ricochet::study {
namespace {

constexpr std::size_t kRowsBetween = 20;  // steps of .005 between the printed times
constexpr std::size_t kRows = 201;        // of a whole run, the start included
constexpr double kSteps = kRows - 1;
constexpr int kPrinted = 110;  // angles and violations
constexpr int kPrintedMeans = 10;
constexpr double kAngleUnit = 1e-5;
constexpr double kRadius = 40.0;

/// He dropped the digits after the last one printed. A billionth of a unit keeps 1.5 from
/// becoming 1.49999.
Digit floored(double printed, double exact, double unit) {
  return {printed, std::floor(exact / unit + 1e-9) * unit, unit};
}

Plate5Line circle_line(const Runner& runner, std::size_t k) {
  const double anticipation = Plate5::kAnticipation[k];
  const Motion motion =
      run_builtin(runner, "essai-04", fmt::format("anticipation{:+.2f}", anticipation),
                  {fmt::format("run.anticipation={:.2f}", anticipation)});
  Plate5Line line{fmt::format("A_V = {:g}", anticipation), {}, {}, {}, {}};
  add_run_facts(motion, line.facts);
  const std::vector<double> angles = unwrapped_angles(motion);
  double mean = 0.0;
  double square = 0.0;
  const std::size_t rows = std::min(motion.rows.size(), kRows);
  for (std::size_t i = 1; i < rows; ++i) {
    const Row& row = motion.rows[i];
    const double violation = 1e6 * (std::hypot(row.q[0], row.q[1]) - kRadius) / kRadius;
    mean += std::abs(violation);
    square += violation * violation;
    if (i % kRowsBetween != 0) continue;
    const std::size_t j = i / kRowsBetween - 1;
    line.angles.push_back(floored(Plate5::kAngle[k][j], angles[i], kAngleUnit));
    line.violations.push_back(floored(Plate5::kViolation[k][j], violation, 1.0));
  }
  if (rows < kRows) return line;  // no means of a part of the run
  line.means = {floored(Plate5::kMean[k], mean / kSteps, 1.0),
                floored(Plate5::kRootMeanSquare[k], std::sqrt(square / kSteps), 1.0)};
  return line;
}

Plate5Line one_dimensional_line(const Runner& runner) {
  const scene::Scene scene =
      scene::read_scene("essai-04-angle.toml", builtin_scene("essai-04-angle"));
  const Motion motion = runner("essai-04/one-dimensional", scene, {});
  Plate5Line line{"one-dimensional", {}, {}, {}, {}};
  add_run_facts(motion, line.facts);
  const std::size_t rows = std::min(motion.rows.size(), kRows);
  for (std::size_t i = kRowsBetween; i < rows; i += kRowsBetween) {
    const double printed = Plate5::kOneDimensional[i / kRowsBetween - 1];
    line.angles.push_back(floored(printed, motion.rows[i].q[0], kAngleUnit));
  }
  return line;
}

std::string mark(const Digit& digit) {
  if (digit.off() == 0) return "=";
  return digit.off() > 9 ? "!" : fmt::format("{}", digit.off());
}

/// The lines of the table for one of its columns in the original.
void add_to_table(const Plate5Line& line, std::vector<std::string>& table) {
  table.emplace_back("");
  table.push_back(line.violations.empty()
                      ? fmt::format("{:<17} angle: 1986     now", line.label)
                      : fmt::format("{:<17} angle: 1986     now       violation, "
                                    "millionths: 1986     now",
                                    line.label));
  for (std::size_t j = 0; j < line.angles.size(); ++j) {
    const Digit& angle = line.angles[j];
    std::string text =
        fmt::format("  t = {:<9.1f} {:>12.5f}{:>10.5f} {}", 0.1 * static_cast<double>(j + 1),
                    angle.printed, angle.ours, mark(angle));
    if (!line.violations.empty()) {
      const Digit& violation = line.violations[j];
      text +=
          fmt::format("{:>30.0f}{:>8.0f} {}", violation.printed, violation.ours, mark(violation));
    }
    table.push_back(text);
  }
  if (line.means.empty()) return;
  table.push_back(
      fmt::format("  mean |violation| {:.0f} / {:.0f} {}   root mean square {:.0f} / {:.0f} {}",
                  line.means[0].printed, line.means[0].ours, mark(line.means[0]),
                  line.means[1].printed, line.means[1].ours, mark(line.means[1])));
}

/// How many digits were compared, and how they came out.
struct Tally {
  int all{0};
  int same{0};
  int near{0};  // within one unit
  void add(const std::vector<Digit>& digits) {
    for (const Digit& digit : digits) {
      ++all;
      same += digit.off() == 0 ? 1 : 0;
      near += digit.off() <= 1 ? 1 : 0;
    }
  }
  bool agrees(int expected) const { return all == expected && near == expected; }
};

}  // namespace

int Digit::off() const { return static_cast<int>(std::lround(std::abs(ours - printed) / unit)); }

std::vector<Plate5Line> recompute_plate5(const Runner& runner) {
  std::vector<Plate5Line> lines = {one_dimensional_line(runner)};
  for (std::size_t k = 0; k < Plate5::kAnticipation.size(); ++k) {
    lines.push_back(circle_line(runner, k));
  }
  return lines;
}

namespace {

std::string beside(const Digit& digit, int decimals) {
  return fmt::format("{:.{}f} {}", digit.ours, decimals, mark(digit));
}

/// The table in the layout of the plate: in each row the lines of the five coefficients.
Plate make_plate(const std::vector<Plate5Line>& lines) {
  Plate plate{.name = "plate-05",
              .title = "Plate 5: a revolving unilateral pendulum by ELAST",
              .caption =
                  "Circle of radius 40, force (0, -1000), angular velocity sqrt(200) at the "
                  "lowest point, h = 0.005. In each row: the scheme on the angle alone, then "
                  "ELAST with A_V = -.02, -.01, 0, .01, .02. Behind each of our figures: = "
                  "where it is the printed one to the last digit, else by how many units of "
                  "it they differ.",
              .header = {"t, exact angle", "scheme", "angle", "violation, millionths"}};
  for (std::size_t j = 0; j < Plate5::kReference.size(); ++j) {
    std::vector<std::vector<std::string>> cells(4);
    cells[0] = {fmt::format("{:.1f}", 0.1 * static_cast<double>(j + 1)),
                fmt::format("{:.5f}", Plate5::kReference[j])};
    for (const Plate5Line& line : lines) {
      if (j >= line.angles.size()) continue;
      cells[1].push_back(line.label);
      cells[2].push_back(beside(line.angles[j], 5));
      cells[3].push_back(line.violations.empty() ? "" : beside(line.violations[j], 0));
    }
    plate.rows.push_back(cells);
  }
  std::vector<std::vector<std::string>> means = {
      {"mean |violation|,", "root mean square"}, {}, {}, {}};
  for (const Plate5Line& line : lines) {
    if (line.means.empty()) continue;
    means[1].push_back(line.label);
    means[2].emplace_back("");
    means[3].push_back(fmt::format("{}, {}", beside(line.means[0], 0), beside(line.means[1], 0)));
  }
  plate.rows.push_back(means);
  return plate;
}

}  // namespace

Exhibit show_plate5(const Runner& runner) {
  Exhibit exhibit;
  Tally digits;
  Tally means;
  const std::vector<Plate5Line> lines = recompute_plate5(runner);
  exhibit.plates.push_back(make_plate(lines));
  for (const Plate5Line& line : lines) {
    add_to_table(line, exhibit.table);
    exhibit.facts.insert(exhibit.facts.end(), line.facts.begin(), line.facts.end());
    digits.add(line.angles);
    digits.add(line.violations);
    means.add(line.means);
  }
  exhibit.facts.push_back({fmt::format("the {} printed angles and violations of plate 5", kPrinted),
                           fmt::format("{} the same to the last digit, {} within one unit of it",
                                       digits.same, digits.near),
                           digits.agrees(kPrinted)});
  exhibit.facts.push_back({"the ten printed means of the violation",
                           fmt::format("{} within one unit of the last digit", means.near),
                           means.agrees(kPrintedMeans)});
  return exhibit;
}

}  // namespace ricochet::study
