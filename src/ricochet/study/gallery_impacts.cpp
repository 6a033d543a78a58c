#include "ricochet/study/gallery_impacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/two_motions.h"

namespace ricochet::study {
namespace {

/// Runs a scene of the program; its stated facts that do not hold are among the facts.
Motion show_one(const Runner& runner, Exhibit& exhibit, const std::string& name,
                const std::string& label, const std::vector<std::string>& settings = {}) {
  Motion motion = run_builtin(runner, name, label, settings);
  add_run_facts(motion, exhibit.facts);
  for (const Fact& fact : check_expectations(motion)) {
    if (!fact.holds) exhibit.facts.push_back(fact);
  }
  return motion;
}

/// A figure that must be within `tolerance` of what a closed form says.
Fact near(const std::string& statement, double measured, double exact, double tolerance) {
  return {fmt::format("{}: {:.6g}", statement, exact), fmt::format("{:.6g}", measured),
          std::abs(measured - exact) <= tolerance};
}

/// The scheme of positions: the first p with 2 q^p - (1-e) q^(p-1) < 0.   [Paoli 2001, par. 3a]
Fact reversal_fact(const Motion& motion, double e, double h) {
  std::size_t p = 1;
  const std::vector<Row>& rows = motion.rows;
  if (rows.size() < 2) return {"paoli-schatzman: turns", "it does not", false};
  while (p + 1 < rows.size() && 2.0 * rows[p].q[0] - (1.0 - e) * rows[p - 1].q[0] >= 0.0) ++p;
  const double low = 1.0 - (1.0 - e) / (1.0 + e) * h;
  const double high = 1.0 + 2.0 * e / (1.0 + e) * h;
  return {fmt::format("paoli-schatzman: turns at t_p in ]{:.4f}, {:.4f}]", low, high),
          fmt::format("t_p = {:.4f}", rows[p].t), low < rows[p].t && rows[p].t <= high + 1e-12};
}

long long rows_outside(const Motion& motion) {
  return std::count_if(motion.rows.begin(), motion.rows.end(),
                       [](const Row& row) { return row.gaps[0] < 0.0; });
}

/// The scheme of velocities: reversed at once, at the first node at or after the impact.
Fact return_fact(const Motion& motion, double e, double h) {
  const auto first = std::find_if(motion.rows.begin(), motion.rows.end(),
                                  [](const Row& row) { return row.u[0] > 0.0; });
  if (first == motion.rows.end()) return {"mabrouk: turns", "it does not", false};
  return {
      fmt::format("mabrouk: at once, u = {} at t_(p+1) in [1, {:.2f}]", e, 1.0 + h),
      fmt::format("u = {} at {:.2f}", first->u[0], first->t),
      first->t >= 1.0 - 1e-12 && first->t <= 1.0 + h + 1e-12 && std::abs(first->u[0] - e) < 1e-14};
}

/// Infinitely many bounces end at sqrt(2H/g)(1+e)/(1-e).
void add_zeno_facts(const Runner& runner, Exhibit& exhibit) {
  for (const double e : {0.5, 0.8, 0.9}) {
    const double exact = std::sqrt(2.0 / 9.81) * (1.0 + e) / (1.0 - e);
    const std::string setting = fmt::format("e={}", e);
    const Motion events = show_one(
        runner, exhibit, "zeno", fmt::format("events{}", e),
        {setting, "run.scheme=event-driven", "run.zeno=contact", "run.step=0.05", "run.until=9"});
    exhibit.facts.push_back(near(fmt::format("zeno, e = {}: impacts accumulate at", e),
                                 events.outcome.certificate.zeno_time, exact, 1e-7));
    const Motion moreau =
        show_one(runner, exhibit, "zeno", fmt::format("moreau{}", e), {setting, "run.until=9"});
    double last = 0.0;
    for (const Row& row : moreau.rows) {
      if (std::abs(row.u[0]) > 0.1) last = row.t;
    }
    // An impact is off by up to h, and bounces multiply that by 1/(1-e)^2.
    exhibit.facts.push_back(near(fmt::format("zeno, e = {}: moreau passes, at rest from", e), last,
                                 exact, 0.06 + 0.004 / ((1.0 - e) * (1.0 - e))));
  }
}

void add_cradle_fact(const Runner& runner, Exhibit& exhibit) {
  const Motion cradle = show_one(runner, exhibit, "cradle", "run");
  const Eigen::VectorXd& u = cradle.final_state.u;
  const double off = (u - Eigen::Vector3d(-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0)).norm();
  exhibit.facts.push_back({"cradle: three balls part with (-1/3, 2/3, 2/3)",
                           fmt::format("off by {:.1e}", off), off < 1e-14});
}

/// One impact a period, of relative speed g T/(1+e), where the table rises at (gT/2)(1-e)/(1+e).
void add_table_fact(const Runner& runner, Exhibit& exhibit) {
  const Motion table = show_one(runner, exhibit, "vibrating-table", "run");
  const std::vector<certify::Shock>& shocks = table.outcome.certificate.shocks;
  if (shocks.size() < 2) {
    exhibit.facts.push_back({"table: the ball bounces", "it does not", false});
    return;
  }
  const double period = shocks.back().t - shocks[shocks.size() - 2].t;
  exhibit.facts.push_back(near("table: one impact a period, every", period, 0.1, 1e-4));
  exhibit.facts.push_back(
      near("table: arrives at g T/(1 + e)", shocks.back().approach, 0.981 / 1.5, 2e-3));
  const double phase = std::fmod(shocks.back().t, 0.1) * 20.0 * std::numbers::pi;
  exhibit.facts.push_back(
      near("table: at the phase acos(pi/3.6)", phase, std::acos(std::numbers::pi / 3.6), 0.02));
}

/// The symmetric orbit of the scene's data, by Newton's method on the closed form of the flight
/// between the stops: it arrives at 0.9628097.
void add_joint_fact(const Runner& runner, Exhibit& exhibit) {
  const Motion joint = show_one(runner, exhibit, "tight-joint", "run");
  const std::vector<certify::Shock>& shocks = joint.outcome.certificate.shocks;
  if (shocks.size() < 2) {
    exhibit.facts.push_back({"joint: strikes its stops", "it does not", false});
    return;
  }
  const certify::Shock& last = shocks.back();
  const certify::Shock& before = shocks[shocks.size() - 2];
  exhibit.facts.push_back(near("joint: settles to impacts at", last.approach, 0.9628097, 5e-3));
  exhibit.facts.push_back(
      {fmt::format("joint: on either stop in turn, every {:.4f}", std::numbers::pi / 1.5),
       fmt::format("{:.4f} apart", last.t - before.t),
       last.contact != before.contact &&
           std::abs(last.t - before.t - std::numbers::pi / 1.5) < 5e-3});
}

void add_string_fact(const Runner& runner, Exhibit& exhibit) {
  const Motion string = show_one(runner, exhibit, "particle-string", "run");
  const double w = 2.0 * 41.0 * std::sin(std::numbers::pi / 82.0);
  double off = 0.0;
  for (int i = 0; i < 40; ++i) {
    const double exact =
        std::sin(std::numbers::pi * (i + 1) / 41.0) * std::abs(std::cos(w * string.final_state.t));
    off = std::max(off, std::abs(string.final_state.q[i] - exact));
  }
  const certify::Ledger& ledger = string.outcome.certificate.ledger;
  exhibit.facts.push_back({"string: 40 particles thrown back into their mode",
                           fmt::format("off by {:.1e} at t = 2", off), off < 0.02});
  exhibit.facts.push_back({"string: its reflections leave the energy to 1e-4 of it",
                           fmt::format("{:.1e} of {:.3g}", ledger.contacts.value(), ledger.highest),
                           std::abs(ledger.contacts.value()) < 1e-4 * ledger.highest});
}

void add_corner_facts(const Runner& runner, Exhibit& exhibit) {
  const double leaves[] = {std::numbers::pi - 1.2, 1.2, 1.2 + std::numbers::pi - 4.0};
  const char* names[] = {"1e-9 to one side", "into the corner", "1e-9 to the other side"};
  for (std::size_t k = 0; k < 3; ++k) {
    const Motion motion = run_member(runner, "corner-sensitive", fmt::format("start{}", k), {}, k);
    add_run_facts(motion, exhibit.facts);
    const Eigen::VectorXd& u = motion.final_state.u;
    exhibit.facts.push_back(near(fmt::format("corner: {}, leaves at", names[k]),
                                 std::atan2(u[1], u[0]), leaves[k], 1e-9));
  }
}

/// Impacts inside the step: four steps through three bounces, and an energy that only impacts take.
void add_located_facts(const Runner& runner, Exhibit& exhibit) {
  const double e = 0.7, t1 = std::sqrt(2.0 / 9.81), v = 9.81 * t1;
  const double left = 1.6 - t1 * (1.0 + 2.0 * e + 2.0 * e * e);  // since the third impact
  const Motion ball =
      show_one(runner, exhibit, "dropped-ball", "affine", {"run.scheme=affine", "run.step=0.4"});
  exhibit.facts.push_back(near("affine: four steps through three bounces, x at the end",
                               ball.final_state.q[0], left * (e * e * e * v - 0.5 * 9.81 * left),
                               1e-12));
  show_one(runner, exhibit, "anharmonic-ball", "run");
  show_one(runner, exhibit, "pendulum-wall", "run");
}

}  // namespace

Exhibit show_ball(const Runner& runner) {
  constexpr double e = 0.3;
  constexpr double h = 0.07;
  Exhibit exhibit;
  const Motion exact =
      show_one(runner, exhibit, "ball-on-a-line", "exact", {"run.scheme=event-driven"});
  const Motion positions = show_one(runner, exhibit, "ball-on-a-line", "paoli-schatzman");
  const Motion velocities =
      show_one(runner, exhibit, "ball-on-a-line", "mabrouk", {"run.scheme=mabrouk"});
  exhibit.facts.push_back(near("exact: by event location, x at the end", exact.rows.back().q[0],
                               e * (exact.rows.back().t - 1.0), 1e-12));
  exhibit.facts.push_back(reversal_fact(positions, e, h));
  exhibit.facts.push_back({"paoli-schatzman: at most two positions outside",
                           fmt::format("{}", rows_outside(positions)),
                           rows_outside(positions) <= 2});
  exhibit.facts.push_back(return_fact(velocities, e, h));
  exhibit.facts.push_back({"mabrouk: stays outside for longer, more so the smaller e is",
                           fmt::format("{} positions outside", rows_outside(velocities)),
                           rows_outside(velocities) > rows_outside(positions)});
  exhibit.plates.push_back(
      {.name = "figure-06",
       .title = "Figure 6: a ball on a line, exact and by two schemes",
       .caption =
           "No force, from x = 1 at speed -1 to the wall x = 0, e = 0.3, h = 0.07. The scheme "
           "of positions, paoli-schatzman, turns within two steps of the impact; that of "
           "velocities, mabrouk, turns at once where it stands and comes out at speed e.",
       .runs = {{"ball-on-a-line/", "", true}}});
  return exhibit;
}

Exhibit show_impacts(const Runner& runner) {
  Exhibit exhibit;
  add_zeno_facts(runner, exhibit);
  add_cradle_fact(runner, exhibit);
  add_table_fact(runner, exhibit);
  add_joint_fact(runner, exhibit);
  add_corner_facts(runner, exhibit);
  add_string_fact(runner, exhibit);
  add_located_facts(runner, exhibit);
  const Motion ellipse = show_one(runner, exhibit, "elliptical-billiard", "run");
  const Eigen::VectorXd& q = ellipse.final_state.q;
  const Eigen::VectorXd& u = ellipse.final_state.u;
  const double c = std::sqrt(3.0);
  const double product = ((q[0] - c) * u[1] - q[1] * u[0]) * ((q[0] + c) * u[1] - q[1] * u[0]);
  exhibit.facts.push_back(
      near("ellipse: product of angular momenta about the foci", product, -2.75 * 0.64, 1e-9));
  show_one(runner, exhibit, "disc", "run");
  show_one(runner, exhibit, "slender-bar", "run");
  show_one(runner, exhibit, "deformable-bar", "run");
  return exhibit;
}

/// Put on the smooth response F ((1 - w^2) cos wt + c w sin wt) / |1 - w^2 + i c w|^2, whose
/// amplitude is 1, the place of the wall, at F = |1 - w^2 + i c w|: below that it never gets there.
void show_grazing(const Runner& runner, Exhibit& exhibit) {
  constexpr double w = 0.8;
  constexpr double c = 0.1;
  const double grazing = std::hypot(1.0 - w * w, c * w);
  for (const double factor : {0.999, 1.001}) {
    const double share = factor / grazing;
    const Motion motion =
        show_one(runner, exhibit, "impact-oscillator", fmt::format("factor{}", factor),
                 {fmt::format("factor={}", factor),
                  fmt::format("start.position.x={:.17g}", share * (1.0 - w * w)),
                  fmt::format("start.velocity.x={:.17g}", share * c * w * w),
                  "run.scheme=event-driven", "run.step=0.1", "run.record=1", "run.until=80"});
    const std::size_t impacts = motion.outcome.certificate.shocks.size();
    exhibit.facts.push_back({fmt::format("F = {} of |1 - w^2 + i c w| = {:.9f}: {}", factor,
                                         grazing, factor < 1.0 ? "no impact" : "impacts"),
                             fmt::format("{} impacts in ten periods", impacts),
                             (impacts == 0) == (factor < 1.0) && !motion.rows.empty()});
  }
}

Exhibit show_oscillator(const Runner& runner) {
  struct Orbit {
    double factor;
    int periods;
    double approach;
  };
  Exhibit exhibit;
  show_grazing(runner, exhibit);
  for (const Orbit& orbit : {Orbit{1.05, 2, 0.56235}, Orbit{1.2, 2, 1.19172},
                             Orbit{1.5, 1, 0.56176}, Orbit{2.0, 1, 1.09607}}) {
    const Motion motion =
        show_one(runner, exhibit, "impact-oscillator", fmt::format("factor{}", orbit.factor),
                 {fmt::format("factor={}", orbit.factor), "run.scheme=event-driven", "run.step=0.1",
                  "run.record=1", "run.until=1500"});
    const std::vector<certify::Shock>& shocks = motion.outcome.certificate.shocks;
    if (shocks.size() < 2) {
      exhibit.facts.push_back({fmt::format("F = {}: impacts", orbit.factor), "none", false});
      continue;
    }
    const double period = shocks.back().t - shocks[shocks.size() - 2].t;
    exhibit.facts.push_back(near(fmt::format("F = {} of it: impacts at speed", orbit.factor),
                                 shocks.back().approach, orbit.approach, 1e-5));
    exhibit.facts.push_back(
        near(fmt::format("F = {} of it: one in {} of force, every", orbit.factor,
                         orbit.periods == 1 ? "a period" : "two periods"),
             period, orbit.periods * 2.0 * std::numbers::pi / 0.8, 1e-5));
  }
  return exhibit;
}

Exhibit show_two_motions(const Runner& runner) {
  Exhibit exhibit;
  const Motion rest = show_one(runner, exhibit, "bressan-schatzman", "rests");
  const Motion bounces = show_one(runner, exhibit, "bressan-schatzman-bounces", "bounces");
  exhibit.facts.push_back({"from rest a run stays at rest",
                           fmt::format("x(1) = {}", rest.final_state.q[0]),
                           rest.final_state.q[0] == 0.0});
  const std::vector<certify::Shock>& shocks = bounces.outcome.certificate.shocks;
  const bool three = shocks.size() == 3;
  exhibit.facts.push_back(
      {"put on the other motion it bounces, at 1/4, 1/3, 1/2",
       three ? fmt::format("{:.4f}, {:.4f}, {:.4f}", shocks[0].t, shocks[1].t, shocks[2].t)
             : fmt::format("{} impacts", shocks.size()),
       three && std::abs(shocks[0].t - 0.25) < 1e-3 && std::abs(shocks[1].t - 1.0 / 3.0) < 1e-3 &&
           std::abs(shocks[2].t - 0.5) < 1e-3});
  const scene::Scene scene =
      scene::read_scene("bressan-schatzman.toml", builtin_scene("bressan-schatzman"),
                        {scene::parse_override("N=12")});
  const AnyView view(*scene.system().model);
  const TwoMotions motions(12);
  const certify::Limits limits{.balance = 1e-9};  // the times of short bumps are rounded
  for (const bool resting : {true, false}) {
    const certify::Certificate certificate =
        certify::certify_motion(view, resting ? motions.rest() : motions.bounces(), limits);
    exhibit.facts.push_back(
        {fmt::format("certify: {} satisfies problem P1",
                     resting ? "rest" : "the motion with its last 12 impacts"),
         certificate.ok()
             ? fmt::format("balanced to {:.1e}", certificate.balance_max)
             : fmt::format("{} at t = {:.4f}", certify::describe(certificate.failure).name,
                           certificate.failure_time),
         certificate.ok()});
  }
  constexpr int kFirst = 80;
  const TwoMotions::Tail tail = TwoMotions::tail(kFirst, 3);
  exhibit.facts.push_back(
      {fmt::format("certify: all bumps from n = {} on balance, f is smooth at 0", kFirst),
       fmt::format("derivatives up to 3 below {:.0e}, x below {:.0e}", tail.force[3], tail.place),
       tail.holds() && tail.force[3] < 1e-30});
  return exhibit;
}

}  // namespace ricochet::study
