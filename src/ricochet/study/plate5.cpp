#include "ricochet/study/plate5.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "ricochet/study/builtin_scenes.h"

namespace ricochet::study {
namespace {

constexpr std::size_t kRowsBetween = 20;  // steps of .005 between the printed times
constexpr double kAngleUnit = 1e-5;
constexpr double kRadius = 40.0;

/// Angle from the lowest point, counted on over whole turns.
std::vector<double> unwrapped_angles(const Motion& motion) {
  std::vector<double> angles;
  double turned = 0.0;
  for (const Row& row : motion.rows) {
    const double angle = std::atan2(row.q[0], -row.q[1]);
    const double change = angle - turned;
    turned += change - 2.0 * std::numbers::pi * std::round(change / (2.0 * std::numbers::pi));
    angles.push_back(turned);
  }
  return angles;
}

/// He dropped the digits after the last one printed. A billionth of a unit keeps 1.5 from
/// becoming 1.49999.
Digit floored(double printed, double exact, double unit) {
  return {printed, std::floor(exact / unit + 1e-9) * unit, unit};
}

Plate5Line circle_line(const Runner& runner, std::size_t k) {
  const double anticipation = Plate5::kAnticipation[k];
  const std::string label = fmt::format("A_V = {:g}", anticipation);
  const scene::Scene scene = scene::read_scene(
      "essai-04.toml", builtin_scene("essai-04"),
      {scene::parse_override(fmt::format("run.anticipation={:.2f}", anticipation))});
  const Motion motion = runner(fmt::format("essai-04/anticipation{:+.2f}", anticipation), scene);
  const std::vector<double> angles = unwrapped_angles(motion);
  Plate5Line line{label, {}, {}, {}};
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {
    const Row& row = motion.rows[i];
    const double violation = 1e6 * (std::hypot(row.q[0], row.q[1]) - kRadius) / kRadius;
    mean += std::abs(violation);
    square += violation * violation;
    if (i % kRowsBetween != 0) continue;
    const std::size_t j = i / kRowsBetween - 1;
    line.angles.push_back(floored(Plate5::kAngle[k][j], angles[i], kAngleUnit));
    line.violations.push_back(floored(Plate5::kViolation[k][j], violation, 1.0));
  }
  const auto steps = static_cast<double>(motion.rows.size() - 1);
  line.means = {floored(Plate5::kMean[k], mean / steps, 1.0),
                floored(Plate5::kRootMeanSquare[k], std::sqrt(square / steps), 1.0)};
  return line;
}

Plate5Line one_dimensional_line(const Runner& runner) {
  const scene::Scene scene =
      scene::read_scene("essai-04-angle.toml", builtin_scene("essai-04-angle"));
  const Motion motion = runner("essai-04/one-dimensional", scene);
  Plate5Line line{"one-dimensional", {}, {}, {}};
  for (std::size_t i = kRowsBetween; i < motion.rows.size(); i += kRowsBetween) {
    const double printed = Plate5::kOneDimensional[i / kRowsBetween - 1];
    line.angles.push_back(floored(printed, motion.rows[i].q[0], kAngleUnit));
  }
  return line;
}

std::string mark(const Digit& digit) {
  if (digit.off() == 0) return "=";
  return digit.off() > 9 ? "!" : fmt::format("{}", digit.off());
}

void count(const std::vector<Digit>& digits, int& same, int& near, int& all) {
  for (const Digit& digit : digits) {
    same += digit.off() == 0 ? 1 : 0;
    near += digit.off() <= 1 ? 1 : 0;
    ++all;
  }
}

}  // namespace

int Digit::off() const { return static_cast<int>(std::lround(std::abs(ours - printed) / unit)); }

std::vector<Plate5Line> recompute_plate5(const Runner& runner) {
  std::vector<Plate5Line> lines = {one_dimensional_line(runner)};
  for (std::size_t k = 0; k < Plate5::kAnticipation.size(); ++k) {
    lines.push_back(circle_line(runner, k));
  }
  return lines;
}

Exhibit show_plate5(const Runner& runner) {
  const std::vector<Plate5Line> lines = recompute_plate5(runner);
  Exhibit exhibit;
  int same = 0;
  int near = 0;
  int all = 0;
  int mean_near = 0;
  int mean_all = 0;
  int ignored = 0;
  for (const Plate5Line& line : lines) {
    exhibit.table.push_back("");
    exhibit.table.push_back(line.violations.empty()
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
      exhibit.table.push_back(text);
    }
    if (!line.means.empty()) {
      exhibit.table.push_back(
          fmt::format("  mean |violation| {:.0f} / {:.0f} {}   root mean square {:.0f} / {:.0f} {}",
                      line.means[0].printed, line.means[0].ours, mark(line.means[0]),
                      line.means[1].printed, line.means[1].ours, mark(line.means[1])));
    }
    count(line.angles, same, near, all);
    count(line.violations, same, near, all);
    count(line.means, ignored, mean_near, mean_all);
  }
  exhibit.facts.push_back(
      {fmt::format("the {} printed angles and violations of plate 5", all),
       fmt::format("{} the same to the last digit, {} within one unit of it", same, near),
       near == all});
  exhibit.facts.push_back({"the ten printed means of the violation",
                           fmt::format("{} within one unit of the last digit", mean_near),
                           mean_near == mean_all});
  return exhibit;
}

}  // namespace ricochet::study
