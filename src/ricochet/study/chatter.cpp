#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ricochet/study/gallery_friction.h"

namespace ricochet::study {
namespace {

/// A shock and what follows it: for how many steps the wall goes on pushing.
struct Blow {
  certify::Shock shock;
  int pushes{0};
};

std::vector<Blow> blows_after(const Motion& motion, double transient) {
  std::vector<Blow> blows;
  const double h = motion.scene.run.step;
  for (const certify::Shock& shock : motion.outcome.certificate.shocks) {
    if (shock.t < transient) continue;
    Blow blow{shock};
    for (auto i = static_cast<std::size_t>((shock.t - motion.scene.run.start_time) / h + 1.0);
         i < motion.rows.size() && motion.rows[i].impulses[0] > 0.0; ++i) {
      ++blow.pushes;
    }
    blows.push_back(blow);
  }
  return blows;
}

/// Mean and spread of the numbers.
struct Spread {
  double mean{0.0};
  double deviation{0.0};
};

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto count = static_cast<double>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  for (const double value : values) {
    spread.deviation += (value - spread.mean) * (value - spread.mean) / count;
  }
  spread.deviation = std::sqrt(spread.deviation);
  return spread;
}

/// Times between every `stride`-th of the blows.
std::vector<double> intervals(const std::vector<Blow>& blows, std::size_t stride = 1) {
  std::vector<double> times;
  for (std::size_t i = stride; i < blows.size(); ++i) {
    times.push_back(blows[i].shock.t - blows[i - stride].shock.t);
  }
  return times;
}

/// Mean time between upward crossings of the mean, after the transient.
template <class Of>
Spread period_of(const Motion& motion, double transient, Of&& of) {
  std::vector<double> values;
  std::vector<double> times;
  for (const Row& row : motion.rows) {
    if (row.t < transient) continue;
    values.push_back(of(row));
    times.push_back(row.t);
  }
  const double mean = spread_of(values).mean;
  std::vector<double> crossings;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i - 1] < mean && values[i] >= mean) crossings.push_back(times[i]);
  }
  std::vector<double> periods;
  for (std::size_t i = 1; i < crossings.size(); ++i) {
    periods.push_back(crossings[i] - crossings[i - 1]);
  }
  return spread_of(periods);
}

double offset_of(const Row& row) { return row.q[0] - 30.0 * row.t; }

void show_permanent(const Runner& runner, Exhibit& exhibit) {
  const Motion motion = run_builtin(runner, "essai-10", "CR-700", {"run.until=8"});
  add_run_facts(motion, exhibit.facts);
  double lost = 0.0;
  double lowest = motion.rows[0].q[2];
  for (const Row& row : motion.rows) {
    lost = std::max(lost, row.gaps[0]);
    lowest = std::min(lowest, row.q[2]);
  }
  exhibit.facts.push_back({"plate 14, CR = -700: permanent contact",
                           fmt::format("gap {:.1e} at most, no shock", lost),
                           lost < 1e-3 && motion.outcome.certificate.shock_counts[0] == 0});
  const Spread turn = period_of(motion, 2.0, [](const Row& row) { return row.q[2]; });
  const Spread shift = period_of(motion, 2.0, offset_of);
  exhibit.facts.push_back({"two periods: one of the angle, a longer one of the offset",
                           fmt::format("{:.4f} s and {:.4f} s", turn.mean, shift.mean),
                           shift.mean > 2.0 * turn.mean && turn.mean > 0.0 && lowest > 0.0});
}

void show_one_shock(const Runner& runner, Exhibit& exhibit) {
  add_run_facts(run_builtin(runner, "essai-10-200", "plate"), exhibit.facts);
  const Motion motion = run_builtin(runner, "essai-10-200", "CR-200", {"run.step=0.0005"});
  add_run_facts(motion, exhibit.facts);
  const std::vector<Blow> blows = blows_after(motion, 1.0);
  std::vector<double> slips;
  double after = 0.0;
  int longest = 0;
  for (const Blow& blow : blows) {
    slips.push_back(blow.shock.slip_before[0]);
    after = std::max(after, std::abs(blow.shock.slip_after[0]));
    longest = std::max(longest, blow.pushes);
  }
  const Spread period = spread_of(intervals(blows));
  exhibit.facts.push_back({"plate 15, CR = -200: periodic, one shock per period",
                           fmt::format("{} shocks, period {:.5f} s +- {:.5f}", blows.size(),
                                       period.mean, period.deviation),
                           blows.size() > 30 && period.deviation < 0.02 * period.mean});
  const Spread slip = spread_of(slips);
  exhibit.facts.push_back(
      {"the slip goes from about -14 to 0",
       fmt::format("{:.2f} +- {:.2f} to {:.1e}", slip.mean, slip.deviation, after),
       std::abs(slip.mean + 14.0) < 0.5 && after < 1e-9});
  exhibit.facts.push_back({"and the body takes off at once",
                           fmt::format("the wall pushes for {} more steps at most", longest - 1),
                           longest <= 2});
}

void show_two_shocks(const Runner& runner, Exhibit& exhibit) {
  const Motion motion = run_builtin(runner, "essai-10-100", "CR-100");
  add_run_facts(motion, exhibit.facts);
  const std::vector<Blow> blows = blows_after(motion, 1.0);
  int slides = 0;
  int flights = 0;
  bool alternate = true;
  for (std::size_t i = 0; i < blows.size(); ++i) {
    const bool slid = blows[i].pushes > 10;
    (slid ? slides : flights) += 1;
    if (i > 0) alternate = alternate && slid != (blows[i - 1].pushes > 10);
  }
  exhibit.facts.push_back({"plate 16, CR = -100: two kinds of shock, by turns",
                           fmt::format("{} followed by a slide, {} by take-off", slides, flights),
                           alternate && slides > 10 && flights > 10});
  const Spread period = spread_of(intervals(blows, 2));
  exhibit.facts.push_back({"periodic, or nearly so",
                           fmt::format("period {:.5f} s +- {:.5f}", period.mean, period.deviation),
                           period.deviation < 0.05 * period.mean});
  double least = 1e300;
  for (const Row& row : motion.rows) {
    if (row.impulses[0] > 0.0) least = std::min(least, std::abs(row.slips[0]));
  }
  exhibit.facts.push_back({"the slip never vanishes while the wall pushes",
                           fmt::format("{:.2f} at least", least), least > 0.1});
}

void show_told(const Runner& runner, Exhibit& exhibit) {
  const Motion jam = run_builtin(runner, "essai-10", "CR-800", {"CR=-800", "run.until=1"});
  add_run_facts(jam, exhibit.facts);
  double stuck_at = -1.0;
  double tips_at = -1.0;
  for (const Row& row : jam.rows) {
    if (stuck_at < 0.0 && row.states[0] == static_cast<double>(certify::ContactState::Stick)) {
      stuck_at = row.t;
    }
    if (tips_at < 0.0 && row.q[2] < 0.0) tips_at = row.t;
  }
  exhibit.facts.push_back(
      {"CR = -800: the body jams and tips over",
       fmt::format("sticks at {:.3f} s, theta < 0 at {:.3f} s", stuck_at, tips_at),
       stuck_at > 0.0 && tips_at > stuck_at});
  const Motion wild = run_builtin(runner, "essai-10-100", "CR-50", {"CR=-50"});
  add_run_facts(wild, exhibit.facts);
  const Spread gaps = spread_of(intervals(blows_after(wild, 0.5)));
  exhibit.facts.push_back({"CR = -50: erratic shocks",
                           fmt::format("intervals {:.3f} s +- {:.3f}", gaps.mean, gaps.deviation),
                           gaps.deviation > 0.2 * gaps.mean});
}

}  // namespace

Exhibit show_essai10(const Runner& runner) {
  Exhibit exhibit;
  show_permanent(runner, exhibit);
  show_one_shock(runner, exhibit);
  show_two_shocks(runner, exhibit);
  show_told(runner, exhibit);
  const std::string body =
      "Mass and gyration radius 1, friction 0.5; D of the body is drawn by springs 200 and 2000 to "
      "(30 t, 2.7). Drawn is a segment from the centre of the round profile. ";
  exhibit.plates.push_back({.name = "plate-14",
                            .title = "Plate 14: CR = -700, permanent contact",
                            .caption = body + "h = 0.002, every 4 steps. Below, G relative to the "
                                              "spring: two periods.",
                            .runs = {{"essai-10/CR-700", ""}},
                            .about = {"plate 14", "two periods"}});
  exhibit.plates.push_back({.name = "plate-15",
                            .title = "Plate 15: CR = -200, one shock a period",
                            .caption = body +
                                       "h = 0.001, every 8 steps. Each shock takes the slip "
                                       "from about -14 to 0, and the body takes off at once.",
                            .runs = {{"essai-10-200/plate", ""}},
                            .about = {"plate 15", "the slip goes", "and the body"}});
  exhibit.plates.push_back({.name = "plate-16",
                            .title = "Plate 16: CR = -100, two kinds of shock",
                            .caption = body +
                                       "h = 0.0005, every 15 steps. Two straight segments of "
                                       "the velocity are shocks; one is followed by a slide.",
                            .runs = {{"essai-10-100/CR-100", ""}},
                            .about = {"plate 16", "periodic, or", "the slip never"}});
  return exhibit;
}

}  // namespace ricochet::study
