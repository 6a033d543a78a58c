#include "ricochet/study/gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/study/gallery_bodies.h"
#include "ricochet/study/gallery_frames.h"
#include "ricochet/study/gallery_friction.h"
#include "ricochet/study/gallery_impacts.h"
#include "ricochet/study/gallery_inelastic.h"
#include "ricochet/study/gallery_mechanisms.h"
#include "ricochet/study/plate5.h"

namespace ricochet::study {
namespace {

/// Largest change of T + V over the run, in parts of the largest kinetic energy.
double energy_spread(const Motion& motion) {
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  return (ledger.highest - ledger.lowest) / ledger.kinetic_max;
}

/// Rows whose step had a shock: an impulse after a row without.
std::vector<std::size_t> bounces(const Motion& motion) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 2; i < motion.rows.size(); ++i) {
    if (motion.rows[i].impulses[0] > 0.0 && motion.rows[i - 1].impulses[0] == 0.0)
      rows.push_back(i);
  }
  return rows;
}

Exhibit show_essai1(const Runner& runner) {
  Exhibit exhibit;
  const Motion billiard = run_builtin(runner, "essai-01", "billiard", {"run.scheme=billiard"});
  const Motion elast = run_builtin(runner, "essai-01", "elast");
  const Motion inel = run_builtin(runner, "essai-01", "inel", {"run.scheme=inel"});
  for (const Motion* motion : {&billiard, &elast, &inel}) add_run_facts(*motion, exhibit.facts);

  const std::vector<std::size_t> hits = bounces(billiard);
  const bool every = std::all_of(hits.begin(), hits.end(), [&](std::size_t i) {
    return billiard.rows[i].energy() > billiard.rows[i - 1].energy();
  });
  const certify::Ledger& ledger = billiard.outcome.certificate.ledger;
  exhibit.facts.push_back({"billiard: the energy increases slightly at each bounce",
                           fmt::format("{} bounces, {}; gain {:.2g} of the largest T", hits.size(),
                                       every ? "an increase at each" : "not at each",
                                       (ledger.highest - ledger.lowest) / ledger.kinetic_max),
                           every && hits.size() > 3});
  exhibit.facts.push_back({"elast: the energy is conserved to rounding",
                           fmt::format("{:.1e} of the largest T", energy_spread(elast)),
                           energy_spread(elast) < 1e-13});
  const std::vector<std::size_t> landings = bounces(inel);
  const std::size_t landing = landings.empty() ? 0 : landings[0];
  double away = 0.0;
  for (std::size_t i = landing; i < inel.rows.size(); ++i) {
    away = std::max(away, std::abs(inel.rows[i].gaps[0]));
  }
  exhibit.facts.push_back(
      {"inel: after the shock the particle follows the wall",
       fmt::format("at most {:.2f} away from it after t = {:.3f}", away, inel.rows[landing].t),
       !landings.empty() && away < 0.3});
  const std::string data =
      "The report does not print the data; ours: gravity 981, wall y = 3 sin(2 pi x/40), from (0, "
      "30) with velocity (60, 0), h = 0.001, up to t = 2.";
  exhibit.plates.push_back(
      {.name = "plate-01",
       .title = "Plate 1: elastic bounces, by the law of billiards",
       .caption = data + " Above the law of reflection without balance of energy, "
                         "as on the plate: bounces gain a little each. Below ELAST, "
                         "whose energy is conserved.",
       .runs = {{"essai-01/billiard", "billiard"}, {"essai-01/elast", "elast"}},
       .about = {"billiard", "elast"}});
  exhibit.plates.push_back(
      {.name = "plate-02",
       .title = "Plate 2: inelastic, by INEL",
       .caption = data + " After the first shock the particle stays on the wall.",
       .runs = {{"essai-01/inel", ""}},
       .about = {"inel"}});
  return exhibit;
}

/// Distance from the circle of centre (0, -60) and radius 60; positive outside.
double outside_circle(const Row& row) { return std::hypot(row.q[0], row.q[1] + 60.0) - 60.0; }

/// Time between two passages of x = 0 in the same sense.
double period_of(const Motion& motion) {
  std::vector<double> crossings;
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {
    const Row& a = motion.rows[i - 1];
    const Row& b = motion.rows[i];
    if (a.q[0] * b.q[0] < 0.0) crossings.push_back(a.t + (b.t - a.t) * a.q[0] / (a.q[0] - b.q[0]));
  }
  return crossings.size() < 2 ? 0.0 : crossings[1];  // it starts at x = 0
}

/// Period of a pendulum of that length that passes its lowest point at that speed: 2 pi sqrt(l/g)
/// over the arithmetic-geometric mean of 1 and the cosine of half the amplitude.
double exact_period(double length, double gravity, double speed) {
  double a = 1.0;
  double b = std::sqrt(1.0 - speed * speed / (4.0 * gravity * length));
  while (std::abs(a - b) > 1e-15) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return 2.0 * std::numbers::pi * std::sqrt(length / gravity) / a;
}

Exhibit show_essai2(const Runner& runner) {
  Exhibit exhibit;
  const Motion elast = run_builtin(runner, "essai-02", "elast");
  const Motion billiard = run_builtin(runner, "essai-02", "billiard", {"run.scheme=billiard"});
  for (const Motion* motion : {&elast, &billiard}) add_run_facts(*motion, exhibit.facts);
  double off = 0.0;
  for (const Row& row : elast.rows) off = std::max(off, std::abs(outside_circle(row)));
  exhibit.facts.push_back({"elast: hardly to be told from the arc of circle",
                           fmt::format("at most {:.3f} of 60 away from it", off), off < 0.06});
  const double exact = exact_period(60.0, 8.0, 25.0);
  exhibit.facts.push_back(
      {fmt::format("the period is the pendulum's, {:.3f} (he says of the order of 19.5)", exact),
       fmt::format("{:.3f}", period_of(elast)), std::abs(period_of(elast) - exact) < 0.02});
  exhibit.facts.push_back({"elast: the energy is balanced",
                           fmt::format("{:.1e} of the largest T", energy_spread(elast)),
                           energy_spread(elast) < 1e-13});
  double first = 0.0;  // deepest excursion into the disc, in the first and in the last quarter
  double last = 0.0;
  for (const Row& row : billiard.rows) {
    if (row.t <= 5.0) first = std::max(first, -outside_circle(row));
    if (row.t >= 15.0) last = std::max(last, -outside_circle(row));
  }
  exhibit.facts.push_back(
      {"billiard: parasitic bounces that diverge",
       fmt::format("up to {:.2f} before t = 5, {:.2f} after t = 15", first, last),
       last > 1.5 * first && first > 10.0 * off});
  const double gain =
      billiard.outcome.certificate.ledger.highest - billiard.outcome.certificate.ledger.lowest;
  exhibit.facts.push_back({"billiard: the energy grows", fmt::format("by {:.1f}", gain),
                           billiard.rows.back().energy() > billiard.rows.front().energy()});
  exhibit.plates.push_back(
      {.name = "plate-03",
       .title = "Plate 3: a unilateral pendulum, by ELAST and by the law of billiards",
       .caption =
           "Force (0, 8), circle of centre (0, -60) and radius 60, from (0, 0) with velocity "
           "(25, 0), h = 0.1; marks at whole t. Above, the arc is followed; below, parasitic "
           "bounces diverge.",
       .runs = {{"essai-02/elast", "ELAST"}, {"essai-02/billiard", "billiard"}}});
  return exhibit;
}

Exhibit show_essai3(const Runner& runner) {
  Exhibit exhibit;
  const Motion minus = run_builtin(runner, "essai-03", "minus", {"run.anticipation=-0.5"});
  const Motion plus = run_builtin(runner, "essai-03", "plus", {"run.anticipation=0.5"});
  for (const Motion* motion : {&minus, &plus}) add_run_facts(*motion, exhibit.facts);
  bool steadily = true;
  double before = 0.0;
  for (std::size_t i = 10; i < minus.rows.size(); i += 10) {  // every unit of time
    const double now = outside_circle(minus.rows[i]);
    steadily = steadily && now > before;
    before = now;
  }
  exhibit.facts.push_back({"A_V = -0.5: the violation grows steadily",
                           fmt::format("{:.2f} at t = 20, larger at each whole t", before),
                           steadily && before > 0.0});
  double inside = 0.0;
  for (const Row& row : plus.rows) inside = std::max(inside, -outside_circle(row));
  exhibit.facts.push_back({"A_V = +0.5: wrong excursions into the disc",
                           fmt::format("up to {:.2f} deep", inside), inside > 0.6});
  for (const Motion* motion : {&minus, &plus}) {
    exhibit.facts.push_back(
        {fmt::format("A_V = {}0.5: the energy is balanced", motion == &minus ? "-" : "+"),
         fmt::format("{:.1e} of the largest T", energy_spread(*motion)),
         energy_spread(*motion) < 1e-12});
  }
  exhibit.plates.push_back(
      {.name = "plate-04",
       .title = "Plate 4: ELAST with the wrong anticipation",
       .caption = "As plate 3 above, with the tangent cone taken at q_M + A_V h u. A_V = -0.5: a "
                  "violation that grows steadily; A_V = +0.5: excursions that are not there.",
       .runs = {{"essai-03/minus", "A_V = -0.5"}, {"essai-03/plus", "A_V = +0.5"}}});
  return exhibit;
}

/// One run of essai 5: a turn of the pendulum, as a row of its table.
struct InelasticTurn {
  double anticipation{0.0};
  double angle{0.0};      // at t = 0.5
  double behind{0.0};     // the exact angle there, less ours
  double violation{0.0};  // mean of its absolute value up to t = 1, in millionths of R
  double lost{0.0};       // energy lost at t = 0.5, in parts of the initial T

  std::string line() const {
    return fmt::format("{:<8.1f}{:<13.3f}{:<12.3f}{:<20.0f}{:.1f} %", anticipation, angle, behind,
                       violation, 100.0 * lost);
  }
};

/// All figures are NaN when the run is not whole.
InelasticTurn measure_turn(const Motion& motion, double anticipation) {
  constexpr double kExact = 5.9388;   // [Moreau 1986, plate 5]
  constexpr std::size_t kHalf = 100;  // row of t = 0.5
  constexpr std::size_t kRows = 201;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (motion.rows.size() != kRows) return {anticipation, kNone, kNone, kNone, kNone};
  double mean = 0.0;
  for (std::size_t i = 1; i < kRows; ++i) {
    const Row& row = motion.rows[i];
    mean += 1e6 * std::abs(std::hypot(row.q[0], row.q[1]) / 40.0 - 1.0) / (kRows - 1);
  }
  const double angle = unwrapped_angles(motion)[kHalf];
  const double lost =
      (motion.rows[0].energy() - motion.rows[kHalf].energy()) / motion.rows[0].kinetic;
  return {anticipation, angle, kExact - angle, mean, lost};
}

/// The table of plate 6, as that of plate 5: angle, violation and energy every 0.1.
Plate make_plate6(const std::vector<Motion>& motions) {
  constexpr std::size_t kRowsBetween = 20;
  Plate plate{.name = "plate-06",
              .title = "Plate 6: the pendulum of plate 5 by INEL",
              .caption =
                  "As plate 5 with INEL and A_V = 0.3, 0.4, 0.5, 0.6, 0.7 from top to bottom "
                  "in each row. The angle falls behind the exact one, least for 0.5; the "
                  "energy falls.",
              .header = {"t, exact angle", "A_V", "angle", "violation, millionths",
                         "energy, % of T at the start"}};
  for (std::size_t i = kRowsBetween; i <= 10 * kRowsBetween; i += kRowsBetween) {
    const double t = 0.1 * static_cast<double>(i / kRowsBetween);
    std::vector<std::vector<std::string>> cells(5);
    cells[0] = {fmt::format("{:.1f}", t),
                fmt::format("{:.5f}", Plate5::kReference[i / kRowsBetween - 1])};
    for (const Motion& motion : motions) {
      if (i >= motion.rows.size()) continue;
      const Row& row = motion.rows[i];
      const double anticipation = motion.scene.scheme.value("anticipation");
      cells[1].push_back(fmt::format("{:.1f}", anticipation));
      cells[2].push_back(fmt::format("{:.5f}", unwrapped_angles(motion)[i]));
      cells[3].push_back(
          fmt::format("{:.0f}", 1e6 * (std::hypot(row.q[0], row.q[1]) / 40.0 - 1.0)));
      cells[4].push_back(fmt::format(
          "{:.1f}", 100.0 * (row.energy() - motion.rows[0].energy()) / motion.rows[0].kinetic));
    }
    plate.rows.push_back(cells);
  }
  return plate;
}

Exhibit show_essai5(const Runner& runner) {
  Exhibit exhibit;
  exhibit.table = {"",
                   "A_V     theta(0.5)   behind      mean |violation|    energy lost at t = 0.5",
                   "                                 (millionths of R)   (of the initial T)"};
  std::vector<InelasticTurn> turns;
  std::vector<Motion> motions;
  for (const double choice : {0.3, 0.4, 0.5, 0.6, 0.7}) {
    const Motion motion =
        run_builtin(runner, "essai-05", fmt::format("anticipation{:.1f}", choice),
                    {fmt::format("run.anticipation={:.1f}", choice), "run.until=1"});
    add_run_facts(motion, exhibit.facts);
    turns.push_back(measure_turn(motion, choice));
    exhibit.table.push_back(turns.back().line());
    motions.push_back(motion);
  }
  const InelasticTurn& best = turns[2];
  exhibit.facts.push_back({"A_V = 0.5: theta = 5.275 at t = 0.5, exact 5.939",
                           fmt::format("{:.4f}", best.angle), std::abs(best.angle - 5.275) < 1e-3});
  const auto least = [&](double InelasticTurn::*figure) {
    return *std::min_element(turns.begin(), turns.end(),
                             [&](const auto& a, const auto& b) { return a.*figure < b.*figure; });
  };
  const double in_time = least(&InelasticTurn::behind).anticipation;
  const double in_place = least(&InelasticTurn::violation).anticipation;
  exhibit.facts.push_back(
      {"the best A_V is 0.5",
       fmt::format("least behind at {}, least violation at {}", in_time, in_place),
       in_time == 0.5 && in_place == 0.5});
  exhibit.facts.push_back({"the loss approaches 20 % of the initial T after about a turn",
                           fmt::format("{:.1f} % at t = 0.5, {:.3f} of a turn", 100.0 * best.lost,
                                       best.angle / (2.0 * std::numbers::pi)),
                           std::abs(best.lost - 0.2) < 0.05});
  exhibit.plates.push_back(make_plate6(motions));
  return exhibit;
}

Exhibit show_wedge(const Runner& runner) {
  Exhibit exhibit;
  for (const double theta : {-1.4, -0.7, -0.1, 0.0, 0.1, 0.7}) {
    const Motion motion = run_builtin(runner, "wedge", fmt::format("theta{:+.1f}", theta),
                                      {fmt::format("theta={:.1f}", theta)});
    add_run_facts(motion, exhibit.facts);
    const Eigen::VectorXd& u = motion.final_state.u;
    constexpr double w = 2.0;
    const double x = theta < 0.0 ? w * std::sin(theta) * std::sin(theta) : 0.0;
    const double y = theta < 0.0 ? -w * std::sin(theta) * std::cos(theta) : 0.0;
    exhibit.facts.push_back({fmt::format("theta = {:+.1f}: u+ = ({:.6f}, {:.6f})", theta, x, y),
                             fmt::format("off by {:.1e}", std::hypot(u[0] - x, u[1] - y)),
                             std::hypot(u[0] - x, u[1] - y) <= 1e-14 * w});
  }
  return exhibit;
}

}  // namespace

const std::vector<GalleryEntry>& gallery() {
  static const std::vector<GalleryEntry> entries = {
      {"essai-01", "Particle over a sinusoidal wall", "Moreau 1986, pl. 1-2", show_essai1},
      {"essai-02", "Unilateral pendulum, oscillating", "Moreau 1986, plate 3", show_essai2},
      {"essai-03", "Unilateral pendulum, the wrong anticipation", "Moreau 1986, plate 4",
       show_essai3},
      {"essai-04", "Unilateral pendulum, revolving", "Moreau 1986, plate 5", show_plate5},
      {"essai-05", "Unilateral pendulum, inelastic", "Moreau 1986, plate 6", show_essai5},
      {"essai-06", "Particle in a conical vase", "Moreau 1986, plate 7", show_essai6},
      {"essai-07", "Particle in a sphere", "Moreau 1986, pl. 8-9", show_essai7},
      {"essai-08", "Rod in a circle", "Moreau 1986, plate 10", show_essai8},
      {"essai-09", "Objects on vibrating tables", "Moreau 1986, pl. 11-13", show_essai9},
      {"essai-10", "A body drawn along a wall", "Moreau 1986, pl. 14-16", show_essai10},
      {"wedge", "A particle arrives in a wedge", "Moreau 1986, par. 8", show_wedge},
      {"corner", "A particle arrives in a corner", "Paoli 2001, par. 5", show_corner},
      {"ball", "A ball on a line, by two schemes", "Paoli 2001, figure 6", show_ball},
      {"impacts", "Bounces, cradle, joint, corner, string", "closed forms", show_impacts},
      {"oscillator", "Impact oscillator above grazing", "Nordmark 1991", show_oscillator},
      {"two-motions", "One smooth push, two motions", "Ballard 2013, par. 2", show_two_motions},
      {"machines", "Pendulum, arm, box, crank, block, column", "closed forms", show_mechanisms},
      {"friction", "Incline, belt, disc, brick, oscillator, rod", "closed forms", show_friction},
      {"bodies", "Rolling, standing, falling, bouncing", "closed forms", show_bodies},
      {"frames", "Formulas with shapes: rods, crank, toy", "closed forms", show_frames},
      {"structures", "Tubes in supports, string, bar", "Paoli 2001, par. 3c", show_structures},
      {"shock-laws", "Shocks with friction, two ways", "Moreau 1986, par. 11", show_shock_laws},
  };
  return entries;
}

const GalleryEntry& gallery_entry(const std::string& name) {
  std::vector<std::string> known;
  for (const GalleryEntry& entry : gallery()) {
    if (entry.name == name) return entry;
    known.push_back(entry.name);
  }
  std::string remedy = fmt::format("known: {}", base::list_names(known, 40));
  if (const auto near = base::nearest_name(name, known)) {
    remedy = fmt::format("did you mean '{}'? {}", *near, remedy);
  }
  throw base::InputError("gallery", fmt::format("there is no experiment '{}'", name), remedy);
}

}  // namespace ricochet::study
