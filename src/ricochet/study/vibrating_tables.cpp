#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "ricochet/study/gallery_friction.h"

namespace ricochet::study {
namespace {

using Point = std::pair<double, double>;

/// Radius of the circle through three points.
double circumradius(const Point& a, const Point& b, const Point& c) {
  const auto distance = [](const Point& p, const Point& q) {
    return std::hypot(p.first - q.first, p.second - q.second);
  };
  const double area = 0.5 * std::abs((b.first - a.first) * (c.second - a.second) -
                                     (c.first - a.first) * (b.second - a.second));
  return distance(a, b) * distance(b, c) * distance(c, a) / (4.0 * area);
}

/// Of the last turn of a run on the table of plate 11.
double limit_radius(const Motion& motion) {
  const double period = 2.0 * std::numbers::pi / 20.0;
  const auto third = static_cast<std::size_t>(period / 3.0 / motion.scene.run.step);
  if (motion.rows.size() <= 2 * third) return std::numeric_limits<double>::quiet_NaN();
  const std::size_t last = motion.rows.size() - 1;
  const auto at = [&](std::size_t i) { return Point{motion.rows[i].q[0], motion.rows[i].q[1]}; };
  return circumradius(at(last), at(last - third), at(last - 2 * third));
}

/// The scheme's own limit: r = (h v/2) cot(w h/2), where v solves
/// (v + mu g h)^2 + v^2 - 2 v (v + mu g h) cos(w h) = (5 h w^2)^2, by bisection.
double scheme_radius(double h) {
  constexpr double w = 20.0;
  constexpr double loss = 0.4 * 981.0;
  const auto excess = [&](double v) {
    const double other = v + loss * h;
    return other * other + v * v - 2.0 * v * other * std::cos(w * h) - 25.0 * h * h * w * w * w * w;
  };
  double low = 0.0;
  double high = 1000.0;
  for (int round = 0; round < 200; ++round) {
    const double middle = 0.5 * (low + high);
    (excess(middle) < 0.0 ? low : high) = middle;
  }
  return 0.5 * h * low / std::tan(0.5 * w * h);
}

void show_plate11(const Runner& runner, Exhibit& exhibit) {
  add_run_facts(run_builtin(runner, "essai-09", "plate11-short"), exhibit.facts);
  const double exact = std::sqrt(25.0 - std::pow(0.4 * 981.0 / 400.0, 2));
  exhibit.table.emplace_back(
      "  step      radius of the limit circle   scheme, closed form   error");
  std::vector<double> errors;
  double worst = 0.0;
  for (const char* step : {"0.002", "0.001", "0.0005"}) {
    const Motion motion = run_builtin(runner, "essai-09", fmt::format("plate11-step{}", step),
                                      {fmt::format("run.step={}", step), "run.until=20"});
    add_run_facts(motion, exhibit.facts);
    const double found = limit_radius(motion);
    const double closed = scheme_radius(motion.scene.run.step);
    errors.push_back(exact - found);
    worst = std::abs(found - closed) <= worst ? worst : std::abs(found - closed);  // NaN counts
    exhibit.table.push_back(
        fmt::format("  {:<9} {:<28.10f} {:<21.10f} {:.2e}", step, found, closed, exact - found));
  }
  exhibit.facts.push_back({"plate 11: the limit circle is the scheme's closed form to 1e-8",
                           fmt::format("off by {:.1e}", worst), worst < 1e-8});
  const double first = errors[0] / errors[1];
  const double second = errors[1] / errors[2];
  exhibit.facts.push_back(
      {fmt::format("and tends to sqrt(25 - (mu g/w^2)^2) = {:.6f} at first order", exact),
       fmt::format("errors fall by {:.3f}, {:.3f} when h is halved", first, second),
       std::abs(first - 2.0) < 0.1 && std::abs(second - 2.0) < 0.05});
}

/// The members of a family of a scene of the program.
std::vector<Motion> run_members(const Runner& runner, const std::string& name,
                                const std::string& label, const std::vector<std::string>& settings,
                                Exhibit& exhibit) {
  std::vector<Motion> motions;
  const std::size_t count = family_of(name, settings);
  for (std::size_t m = 0; m < count; ++m) {
    motions.push_back(run_member(runner, name, fmt::format("{}-{:02}", label, m + 1), settings, m));
    add_run_facts(motions.back(), exhibit.facts);
  }
  return motions;
}

double radius_of(const Row& row) { return std::hypot(row.q[0], row.q[1]); }

double highest(const Motion& motion) {
  double most = 0.0;
  for (const Row& row : motion.rows) most = std::max(most, row.gaps[0]);
  return most;
}

void add_plate12_facts(const std::vector<Motion>& motions, Exhibit& exhibit) {
  const Motion& nearest = motions.back();
  const double moved = std::hypot(nearest.final_state.q[0] - 1.5, nearest.final_state.q[1] + 1.0);
  exhibit.facts.push_back({"plate 12: a zone of rest round O",
                           fmt::format("from (1.5, -1) it moves by {}", moved), moved == 0.0});
  double off = 0.0;
  bool all_turn = true;
  for (std::size_t m = 0; m + 1 < motions.size(); ++m) {
    const Row& first = motions[m].rows.front();
    const Row& last = motions[m].rows.back();
    off = std::max(off, std::abs(radius_of(last) / radius_of(first) - 1.0));
    const double from = std::atan2(first.q[1], first.q[0]);
    all_turn = all_turn && std::atan2(last.q[1], last.q[0]) > from;
  }
  exhibit.facts.push_back({"the others turn towards x = 0, y > 0 along near-circles",
                           fmt::format("radii change by {:.0f} % at most", 100.0 * off),
                           all_turn && off < 0.2});
  exhibit.facts.push_back({"flights when far enough, none near O",
                           fmt::format("height {:.2f} from y = -12, {:.1e} from y = -3",
                                       highest(motions[0]), highest(motions[9])),
                           highest(motions[0]) > 0.1 && highest(motions[9]) < 1e-9});
}

/// Started beside the axis at (x, y), where the object is after many oscillations.
const Row& end_of(const Motion& motion) { return motion.rows.back(); }

void show_plate12(const Runner& runner, Exhibit& exhibit) {
  add_plate12_facts(run_members(runner, "essai-09-plate-12", "plate12-start", {}, exhibit),
                    exhibit);
  const auto start_at = [&](const char* label, double x, double y, int steps) {
    Motion motion =
        run_member(runner, "essai-09-plate-12", label,
                   {fmt::format("start.position.x={}", x), fmt::format("start.position.y={}", y),
                    fmt::format("run.steps={}", steps)},
                   0);
    add_run_facts(motion, exhibit.facts);
    return motion;
  };
  const Motion left = start_at("plate12-left", -0.3, -6.0, 390);
  const Motion right = start_at("plate12-right", 0.3, -6.0, 390);
  exhibit.facts.push_back({"the half-line x = 0, y < 0 repels",
                           fmt::format("from x = -0.3, 0.3 at y = -6 to {:.2f}, {:.2f}",
                                       end_of(left).q[0], end_of(right).q[0]),
                           end_of(left).q[0] < -0.6 && end_of(right).q[0] > 0.6});
  const Motion long_one = start_at("plate12-long", 1.5, -6.0, 15000);
  exhibit.facts.push_back({"the half-line x = 0, y > 0 attracts",
                           fmt::format("from (1.5, -6) to ({:.2f}, {:.2f})", end_of(long_one).q[0],
                                       end_of(long_one).q[1]),
                           std::abs(end_of(long_one).q[0]) < 0.6 && end_of(long_one).q[1] > 4.0});
}

void show_plate13(const Runner& runner, Exhibit& exhibit) {
  const std::vector<Motion> upper =
      run_members(runner, "essai-09-plate-13", "plate13-upper", {"A=-0.5"}, exhibit);
  const std::vector<Motion> lower =
      run_members(runner, "essai-09-plate-13", "plate13-lower", {"A=0.5"}, exhibit);
  const auto y = [](const Motion& motion) { return motion.final_state.q[1]; };
  std::string near_axis;
  std::string far_off;
  bool at_axis = true;
  bool at_103 = true;
  for (std::size_t m = 0; m < upper.size(); ++m) {
    const bool inner = m < 5;
    (inner ? near_axis : far_off) += fmt::format(" {:.1f}", y(upper[m]));
    if (inner) at_axis = at_axis && std::abs(y(upper[m])) < 4.0;
    if (!inner) at_103 = at_103 && std::abs(y(upper[m]) - 103.0) < 3.0;
  }
  exhibit.facts.push_back(
      {"plate 13, upper: y = 0 attracts", "from y <= 61 to" + near_axis, at_axis});
  exhibit.facts.push_back(
      {"and so does a line about y = 103", "from y >= 74 to" + far_off, at_103});
  std::string between;
  bool at_70 = true;
  for (std::size_t m = 1; m < 8; ++m) {
    between += fmt::format(" {:.1f}", y(lower[m]));
    at_70 = at_70 && std::abs(y(lower[m]) - 70.0) < 3.0;
  }
  exhibit.facts.push_back({"plate 13, lower: Ox repels",
                           fmt::format("from y = 5 to {:.1f}", y(lower[0])), y(lower[0]) > 20.0});
  exhibit.facts.push_back(
      {"and a line near y = 70 attracts", "from y = 19 to 102 to" + between, at_70});
}

void add_plates(Exhibit& exhibit) {
  exhibit.plates.push_back(
      {.name = "plate-11",
       .title = "Plate 11: an object on a table in circular translation",
       .caption = "Radius 5, w = 20, friction 0.6 static and 0.4 dynamic, from O at rest. Relative "
                  "to the table the motion tends to a circle of radius sqrt(25 - (mu g/w^2)^2).",
       .runs = {{"essai-09/plate11-short", ""}},
       .about = {"plate 11", "and tends to"}});
  exhibit.plates.push_back(
      {.name = "plate-12",
       .title = "Plate 12: objects on a table oscillating about a slanted axis",
       .caption =
           "Rotation vector (0, -0.04, 0.04) sin(2 pi 10 t), friction 0.4, twelve starts (1.5, "
           "-12 ... -1), 26 steps a period, 15 periods. Rest near O; the others turn towards "
           "x = 0, y > 0; those far off fly a little in each period (below).",
       .runs = {{"essai-09-plate-12/plate12-start", "", true}},
       .about = {"plate 12", "the others", "flights", "the half-line"}});
  exhibit.plates.push_back(
      {.name = "plate-13",
       .title = "Plate 13: a vibrating conveyor",
       .caption =
           "O vibrates along y by -+0.5 cos(2 pi 10 t), the table rocks by 0.01 sin about Ox, "
           "inclined by 13 degrees; friction 0.4, ten starts y = 5 ... 130, 50 periods. Above "
           "y = 0 and a line near 103 attract; below Ox repels and a line near 70 attracts.",
       .runs = {{"essai-09-plate-13/plate13-upper", "upper drawing: -0.5", true},
                {"essai-09-plate-13/plate13-lower", "lower drawing: +0.5", true}},
       .about = {"plate 13", "and so does", "and a line"}});
}

}  // namespace

Exhibit show_essai9(const Runner& runner) {
  Exhibit exhibit;
  show_plate11(runner, exhibit);
  show_plate12(runner, exhibit);
  show_plate13(runner, exhibit);
  add_plates(exhibit);
  return exhibit;
}

}  // namespace ricochet::study
