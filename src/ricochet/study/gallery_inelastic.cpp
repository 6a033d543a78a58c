#include "ricochet/study/gallery_inelastic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::study {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The one shock of a contact; NaN when there is none or there are several.
double only_shock(const Motion& motion, int contact) {
  const std::vector<double> times = shock_times(motion, contact);
  return times.size() == 1 ? times[0] : kNone;
}

/// Whether two instants differ by at most so many steps. False for NaN.
bool is_near(double a, double b, const Motion& motion, double steps = 1.0) {
  constexpr double kRounding = 1e-6;
  return std::abs(a - b) <= (steps + kRounding) * motion.scene.run.step;
}

/// Change of the horizontal velocity in the step with that middle; NaN when there is no such step.
double horizontal_jump(const Motion& motion, double middle) {
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {
    const Row& a = motion.rows[i - 1];
    const Row& b = motion.rows[i];
    if (a.t < middle && middle < b.t) return std::hypot(b.u[0] - a.u[0], b.u[1] - a.u[1]);
  }
  return kNone;
}

}  // namespace

std::vector<double> shock_times(const Motion& motion, int contact) {
  std::vector<double> times;
  for (const certify::Shock& shock : motion.outcome.certificate.shocks) {
    if (shock.contact == contact) times.push_back(shock.t);
  }
  return times;
}

double last_push(const Motion& motion, int contact, double until) {
  double last = kNone;
  for (const Row& row : motion.rows) {
    const double middle = row.t - 0.5 * motion.scene.run.step;
    if (middle > until - 0.25 * motion.scene.run.step) break;
    if (row.impulses[static_cast<std::size_t>(contact)] > 0.0) last = middle;
  }
  return last;
}

double rises_to(const Motion& motion, int coordinate, double height, double after) {
  const auto at = static_cast<std::size_t>(coordinate);
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {
    const Row& row = motion.rows[i];
    if (row.t > after && row.q[at] >= height && motion.rows[i - 1].q[at] < height) return row.t;
  }
  return kNone;
}

std::vector<double> tops(const Motion& motion, int coordinate, double after) {
  const auto at = static_cast<std::size_t>(coordinate);
  std::vector<double> heights;
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {
    const Row& a = motion.rows[i - 1];
    const Row& b = motion.rows[i];
    if (b.t > after && a.u[at] > 0.0 && b.u[at] <= 0.0) {
      heights.push_back(std::max(a.q[at], b.q[at]));
    }
  }
  return heights;
}

Exhibit show_essai6(const Runner& runner) {
  Exhibit exhibit;
  const Motion motion = run_builtin(runner, "essai-06", "inel");
  add_run_facts(motion, exhibit.facts);
  const double cone = only_shock(motion, 0);
  const double rim = rises_to(motion, 2, 45.0, cone);
  const double floor = only_shock(motion, 1);
  exhibit.facts.push_back({"a shock on the cone at 0.351 (exact 0.3504)",
                           fmt::format("{:.3f}", cone), is_near(cone, 0.351, motion)});
  double away = 0.0;  // |sqrt(x^2 + y^2) - 2 z/3|, along the normal
  for (const Row& row : motion.rows) {
    if (!(row.t > cone && row.t < rim)) continue;
    const double outside = std::hypot(row.q[0], row.q[1]) - 2.0 / 3.0 * row.q[2];
    away = std::max(away, std::abs(outside) * 3.0 / std::sqrt(13.0));
  }
  exhibit.facts.push_back({"then a slide in contact, on the plate neither violated nor lost",
                           fmt::format("at most {:.2f} of 45 away from the cone", away),
                           rim > cone && away < 0.5});
  exhibit.facts.push_back({"over the rim at 0.768 for this step (exact 0.727)",
                           fmt::format("{:.3f}", rim), is_near(rim, 0.768, motion)});
  exhibit.facts.push_back({"a shock on the floor at 1.153 for this step (exact 1.1535)",
                           fmt::format("{:.3f}", floor), is_near(floor, 1.153, motion)});
  const double jump = horizontal_jump(motion, floor);
  exhibit.facts.push_back({"the shock on the floor keeps the horizontal velocity",
                           fmt::format("a change of {}", jump), jump == 0.0});
  exhibit.plates.push_back(
      {.name = "plate-07",
       .title = "Plate 7: a particle in a conical vase, by INEL",
       .caption =
           "9x^2 + 9y^2 <= 4z^2 with the rim at z = 45, floor z >= 0, gravity 981, from (45, "
           "25, 70) with velocity (-170, -30, 60); h = 0.002, 650 steps, a mark every 50. "
           "Parabola, shock on the cone, slide in contact (tangent to the outline of the "
           "cone above), over the rim, parabola, shock on the floor, which the lower "
           "projection does not show.",
       .runs = {{"essai-06/inel", ""}}});
  return exhibit;
}

namespace {

/// One run of essai 7: its instants, and the heights of its lobes.
struct Lobes {
  double first_shock{kNone};
  double loss{kNone};
  double second_shock{kNone};
  double first_top{kNone};
  double second_top{kNone};
  bool in_order(const Motion& motion) const {
    return is_near(first_shock, 0.09375, motion) && is_near(loss, 0.22502, motion, 2.0) &&
           is_near(second_shock, 0.65053, motion, 2.0);
  }
};

Lobes measure_lobes(const Motion& motion) {
  Lobes lobes;
  const std::vector<double> shocks = shock_times(motion, 0);
  if (shocks.size() != 2) return lobes;
  lobes.first_shock = shocks[0];
  lobes.second_shock = shocks[1];
  lobes.loss = last_push(motion, 0, lobes.second_shock);
  const std::vector<double> heights = tops(motion, 2, lobes.second_shock);
  if (heights.size() != 2) return lobes;
  lobes.first_top = heights[0];
  lobes.second_top = heights[1];
  return lobes;
}

/// How far from the sphere the particle is after the second shock, at most.
double away_from_sphere(const Motion& motion, double after) {
  double away = 0.0;
  for (const Row& row : motion.rows) {
    if (!(row.t > after)) continue;
    away = std::max(away, std::abs(std::hypot(row.q[0], row.q[1], row.q[2]) - 45.0));
  }
  return away;
}

}  // namespace

Exhibit show_essai7(const Runner& runner) {
  Exhibit exhibit;
  exhibit.table = {"", "h        shock    loss     shock    first lobe   second lobe",
                   "exact    0.0937   0.2250   0.6505        1.468         1.468"};
  std::vector<Lobes> plates;
  for (const char* step : {"0.005", "0.002"}) {
    const Motion motion = run_builtin(
        runner, "essai-07", fmt::format("step{}", step),
        {fmt::format("run.step={}", step), step[4] == '5' ? "run.steps=500" : "run.steps=1250",
         step[4] == '5' ? "mark=20" : "mark=50"});
    add_run_facts(motion, exhibit.facts);
    const Lobes lobes = measure_lobes(motion);
    exhibit.table.push_back(fmt::format("{:<9}{:.4f}{:>9.4f}{:>9.4f}{:>13.3f}{:>14.3f}", step,
                                        lobes.first_shock, lobes.loss, lobes.second_shock,
                                        lobes.first_top, lobes.second_top));
    exhibit.facts.push_back(
        {fmt::format("h = {}: shock before 0.1, loss after 0.2, shock after 0.6", step),
         fmt::format("{:.4f}, {:.4f}, {:.4f}", lobes.first_shock, lobes.loss, lobes.second_shock),
         lobes.in_order(motion)});
    const double away = away_from_sphere(motion, lobes.second_shock);
    exhibit.facts.push_back({fmt::format("h = {}: then permanent contact", step),
                             fmt::format("at most {:.3f} of 45 away from the sphere", away),
                             away < 0.2 && lobes.second_shock > 0.0});
    plates.push_back(lobes);
  }
  const double coarse = plates[0].first_top - plates[0].second_top;
  const double fine = plates[1].first_top - plates[1].second_top;
  exhibit.facts.push_back({"the second lobe is lower than the first, less so at the smaller step",
                           fmt::format("by {:.2f} and {:.2f}", coarse, fine),
                           fine > 0.0 && coarse > fine});
  const std::string data =
      "x^2 + y^2 + z^2 <= 45^2, gravity 981, from (-20, 10, -30) with velocity (-250, 0, 300), a "
      "mark every 0.1: ";
  const std::string see =
      ". Parabola, shock a little before mark 1, slide, loss of contact a little after 2, shock a "
      "little after 6, then a spherical pendulum whose second lobe is lower than the first";
  exhibit.plates.push_back({.name = "plate-08",
                            .title = "Plate 8: a particle in a sphere, by INEL, h = 0.005",
                            .caption = data + "h = 0.005, 500 steps" + see + ".",
                            .runs = {{"essai-07/step0.005", ""}},
                            .about = {"h = 0.005", "the second lobe"}});
  exhibit.plates.push_back({.name = "plate-09",
                            .title = "Plate 9: the same with h = 0.002",
                            .caption = data + "h = 0.002, 1250 steps" + see + ", less so here.",
                            .runs = {{"essai-07/step0.002", ""}},
                            .about = {"h = 0.002", "the second lobe"}});
  return exhibit;
}

Exhibit show_essai8(const Runner& runner) {
  Exhibit exhibit;
  const Motion motion = run_builtin(runner, "essai-08", "inel");
  add_run_facts(motion, exhibit.facts);
  const double back = only_shock(motion, 0);  // A
  const double hit = only_shock(motion, 1);   // B
  const double a_off = last_push(motion, 0, back);
  const double b_off = last_push(motion, 1, hit);
  exhibit.facts.push_back({"A lets go after position 2 (t = 0.1)", fmt::format("{:.3f}", a_off),
                           a_off >= 0.1 && a_off < 0.15});
  exhibit.facts.push_back({"at position 6 (t = 0.3) B is off too, the rod falls freely",
                           fmt::format("{:.3f}", b_off), b_off > a_off && b_off < 0.3});
  exhibit.facts.push_back({"at position 12 (t = 0.6) A is back: a shock at 0.575",
                           fmt::format("{:.3f}", back), is_near(back, 0.575, motion)});
  exhibit.facts.push_back({"by position 21 (t = 1.05) B has struck: a shock at 1.005",
                           fmt::format("{:.3f}", hit), is_near(hit, 1.005, motion)});
  const double violation = motion.outcome.certificate.violation_max;
  exhibit.facts.push_back(
      {"no violation is visible", fmt::format("at most {:.3f} of 45", violation), violation < 0.1});
  exhibit.plates.push_back(
      {.name = "plate-10",
       .title = "Plate 10: a rod in a circle, by INEL with correction of violations",
       .caption =
           "GA = 37.5, GB = 12.5, radius of gyration 21.65, circle of radius 45, gravity 981; "
           "h = 0.01, drawn every 5 steps, A marked +, B marked x. A lets go after position "
           "2, B before 6; A is back at 12, B has struck by 21.",
       .runs = {{"essai-08/inel", ""}}});
  return exhibit;
}

Exhibit show_corner(const Runner& runner) {
  Exhibit exhibit;
  const Motion elast = run_builtin(runner, "corner", "elast");
  const Motion inel = run_builtin(runner, "corner", "inel", {"run.scheme=inel"});
  for (const Motion* motion : {&elast, &inel}) {
    add_run_facts(*motion, exhibit.facts);
    const double back = motion == &elast ? -1.0 : 0.0;
    const Eigen::VectorXd& u = motion->final_state.u;
    exhibit.facts.push_back(
        {motion == &elast ? "e = 1: it turns back, u+ = (-1, 0)" : "e = 0: it stops, u+ = (0, 0)",
         fmt::format("u+ = ({}, {})", u[0], u[1]), u[0] == back && u[1] == 0.0});
  }
  return exhibit;
}

}  // namespace ricochet::study
