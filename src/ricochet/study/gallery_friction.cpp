#include "ricochet/study/gallery_friction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ricochet/solve/impulse_time.h"

namespace ricochet::study {
namespace {

constexpr double kGravity = 9.81;

void show_incline(const Runner& runner, Exhibit& exhibit) {
  const Motion rests =
      run_builtin(runner, "incline", "rests", {"slope=0.45", "run.steps=1000000", "run.record=0"});
  add_run_facts(rests, exhibit.facts);
  const double moved = rests.final_state.q.cwiseAbs().maxCoeff();
  exhibit.facts.push_back({"incline: tan(slope) < mu, a million steps: it does not creep",
                           fmt::format("moved by {}", moved), moved == 0.0});
  const Motion slides = run_builtin(runner, "incline", "slides", {"slope=0.6"});
  add_run_facts(slides, exhibit.facts);
  const double speed = kGravity * (std::sin(0.6) - 0.5 * std::cos(0.6));  // after 1 s
  const Eigen::VectorXd& u = slides.final_state.u;
  const double found = u[0] * std::cos(0.6) - u[1] * std::sin(0.6);
  exhibit.facts.push_back({fmt::format("above, it slides at g (sin - mu cos) = {:.9f}", speed),
                           fmt::format("off by {:.1e}", std::abs(found - speed)),
                           std::abs(found - speed) < 1e-12});
}

/// From stick to slip: the period of the belt is known in closed form.
void show_belt(const Runner& runner, Exhibit& exhibit) {
  const Motion motion = run_builtin(runner, "belt", "run");
  add_run_facts(motion, exhibit.facts);
  std::vector<double> starts;
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {
    const auto stick = static_cast<double>(certify::ContactState::Stick);
    if (motion.rows[i - 1].states[0] == stick && motion.rows[i].states[0] != stick) {
      starts.push_back(motion.rows[i].t);
    }
  }
  const double d = (0.4 - 0.25) * 10.0 / 100.0;
  const double exact =
      2.0 * d / 0.1 + (2.0 * std::numbers::pi - 2.0 * std::atan(d * 10.0 / 0.1)) / 10.0;
  const auto periods = static_cast<double>(starts.size()) - 1.0;
  const double found = periods < 1.0 ? 0.0 : (starts.back() - starts.front()) / periods;
  exhibit.facts.push_back({fmt::format("belt: sticks and slips with a period of {:.5f} s", exact),
                           fmt::format("{:.5f} s over {:.0f} periods", found, periods),
                           std::abs(found - exact) < 2.0 * motion.scene.run.step});
}

/// Scenes whose own [expect] says what must hold.
void show_expected(const Runner& runner, const std::string& name, Exhibit& exhibit) {
  const Motion motion = run_builtin(runner, name, "run");
  add_run_facts(motion, exhibit.facts);
  for (Fact& fact : check_expectations(motion)) {
    fact.statement = name + ", " + fact.statement;
    if (fact.statement.size() > 69) fact.statement = fact.statement.substr(0, 66) + "...";
    exhibit.facts.push_back(fact);
  }
}

/// How much of the slip the first step takes from Painleve's rod at tan(phi) = 2.
double first_loss(const Runner& runner, const std::string& mu, const std::string& step,
                  Exhibit& exhibit) {
  const Motion motion = run_builtin(runner, "painleve", fmt::format("mu{}-step{}", mu, step),
                                    {"mu=" + mu, "run.step=" + step, "run.until=0.01"});
  add_run_facts(motion, exhibit.facts);
  if (motion.rows.size() < 2) return 0.0;
  return std::abs(motion.rows[1].slips[0] - motion.rows[0].slips[0]);
}

void show_painleve(const Runner& runner, Exhibit& exhibit) {
  const double below = first_loss(runner, "1.30", "1e-4", exhibit);
  const double below_fine = first_loss(runner, "1.30", "1e-5", exhibit);
  const double above = first_loss(runner, "1.37", "1e-4", exhibit);
  const double above_fine = first_loss(runner, "1.37", "1e-5", exhibit);
  exhibit.facts.push_back({"Painleve's rod, mu = 1.30 < 4/3: a step takes slip in proportion to h",
                           fmt::format("{:.4f} at h = 1e-4, {:.5f} at h = 1e-5", below, below_fine),
                           std::abs(below / below_fine - 10.0) < 0.5});
  exhibit.facts.push_back({"mu = 1.37 > 4/3: it jams, all the slip goes at once at any step",
                           fmt::format("{:.4f} and {:.4f} of 3", above, above_fine),
                           std::abs(above - 3.0) < 1e-3 && std::abs(above_fine - 3.0) < 1e-4});
  const Motion jam = run_builtin(runner, "painleve", "run");
  add_run_facts(jam, exhibit.facts);
  const certify::Certificate& c = jam.outcome.certificate;
  exhibit.facts.push_back({"told as a tangential shock, the contact being there already",
                           fmt::format("{} tangential of {} shocks",
                                       c.friction[0].tangential_shocks, c.shock_counts[0]),
                           c.friction[0].tangential_shocks == 1 && c.shock_counts[0] == 1});
}

/// G M^-1 G^T of a uniform rod of mass 1 and length 2 on its end, at an angle with the floor.
Eigen::Matrix2d rod_response(double angle) {
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  Eigen::Matrix2d W;
  W << 1.0 + 3.0 * c * c, -3.0 * s * c, -3.0 * s * c, 1.0 + 3.0 * s * s;
  return W;
}

}  // namespace

Exhibit show_friction(const Runner& runner) {
  Exhibit exhibit;
  show_incline(runner, exhibit);
  show_belt(runner, exhibit);
  for (const char* name : {"rolling-disc", "brick", "sdnd100", "knife-edge", "rolling-penny",
                           "skate", "disc-on-slope", "sleigh"}) {
    show_expected(runner, name, exhibit);
  }
  show_painleve(runner, exhibit);
  return exhibit;
}

namespace {

std::string names_of(const std::vector<solve::ImpulseTime::Phase>& phases) {
  std::string names;
  for (const solve::ImpulseTime::Phase phase : phases) {
    const bool stick = phase == solve::ImpulseTime::Phase::Stick;
    const bool forward = phase == solve::ImpulseTime::Phase::Forward;
    names += stick ? " stick" : forward ? " forward" : " backward";
  }
  return names;
}

/// A rod without weight on its end, falling at speed 1: its slip after the shock, by the scheme.
double slip_in_one_step(const Runner& runner, double angle, double slip, Exhibit& exhibit) {
  const Motion motion =
      run_builtin(runner, "painleve", fmt::format("angle{:.1f}-slip{:+.1f}", angle, slip),
                  {fmt::format("phi0={}", angle), "mu=0.3", "g=0", fmt::format("v={}", slip),
                   "start.velocity.y=-1", "run.steps=100", "run.step=1e-12"});
  add_run_facts(motion, exhibit.facts);
  return motion.rows.back().slips[0];
}

}  // namespace

Exhibit show_shock_laws(const Runner& runner) {
  constexpr double mu = 0.3;
  Exhibit exhibit;
  exhibit.table = {"A rod falls on its end at speed 1 with slip s, mu = 0.3: slip after the shock",
                   "  angle     s    one step   impulse time   phases"};
  double off = 0.0;
  int differing = 0;
  for (const double angle : {0.6, 1.0, 1.4}) {
    for (const double slip : {-1.5, -0.2, 0.2, 1.5}) {
      const double after = slip_in_one_step(runner, angle, slip, exhibit);
      const solve::ImpulseTime timed =
          solve::follow_shock(rod_response(angle), {-1.0, slip}, {-mu, mu});
      const double difference = std::abs(after - timed.velocity.y());
      const bool differs = difference > 1e-6;
      if (timed.phases.size() == 1) off = std::max(off, difference);
      if (differs) ++differing;
      exhibit.table.push_back(fmt::format("  {:>5.1f} {:>5.1f} {:>11.5f} {:>14.5f}  {}{}", angle,
                                          slip, after, timed.velocity.y(), names_of(timed.phases),
                                          differs ? "   differ" : ""));
    }
  }
  exhibit.facts.push_back({"the two laws agree where the slip keeps its sense",
                           fmt::format("to {:.0e}", off), off < 1e-9});
  exhibit.facts.push_back({"and differ in cases where it stops or turns during the shock",
                           fmt::format("{} of 12", differing), differing > 0});
  return exhibit;
}

}  // namespace ricochet::study
