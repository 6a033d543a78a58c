// The error bar of a run: honest over scenes with known ends, unresolved where it cannot be given.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

#include "program.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/companions.h"
#include "ricochet/study/family.h"
#include "ricochet/study/row_thinner.h"
#include "support.h"

namespace ricochet::study::error_bar_test {
namespace {

using testing::read_text;

#if defined(RICOCHET_SANITIZED)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif

/// A ball on a floor: g = 10, from a height of 1.
std::string ball(double e, const std::string& run) {
  return R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "10*x"
[contact.floor]
keep        = "x >= 0"
restitution = )toml" +
         std::to_string(e) + R"toml(
[start]
position = { x = 1 }
[run]
)toml" + run;
}

struct Barred {
  Motion motion;
  ErrorBar bar;
};

Barred run_barred(const scene::Scene& scene, BarChoice choice = BarChoice::Auto) {
  Companions companions(scene, choice);
  Barred barred;
  barred.motion = companions.run(true, {}, nullptr);
  barred.bar = companions.compare(barred.motion, run_in_order, nullptr);
  return barred;
}

// ---- honest -------------------------------------------------------------------------------------

// closed form: t = 2 t1 (1/2 + e + ... ) and height 0 after the last bounce
TEST(ErrorBar, TakesAChatterThatEndsInRestForOneEvent) {
  const Barred found =
      run_barred(read_text(ball(0.5, "scheme = \"moreau\"\nstep = 0.0007\nuntil = 2\n")));
  EXPECT_EQ(found.bar.unresolved, "");
  EXPECT_LT(found.bar.position[0], 0.02);
  EXPECT_LE(std::abs(found.motion.final_state.q[0]), found.bar.position[0]);
}

/// A block slides up a slope, turns, and slides back: with a = g (sin + mu cos) and
/// b = g (sin - mu cos) it turns at v/a and v^2/(2 a). Which friction the step of the turn takes is
/// chance, and in some of these all three runs have the same luck.
TEST(ErrorBar, HoldsWhatASlideThatTurnsLeavesToChance) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> part(0.0, 1.0);
  for (int k = 0; k < 150; ++k) {
    const double slope = 0.2 + 0.8 * part(random);
    const double mu = (0.3 + 0.6 * part(random)) * std::tan(slope);
    const double v = 1.0 + 5.0 * part(random);
    const double a = 9.81 * (std::sin(slope) + mu * std::cos(slope));
    const double b = 9.81 * (std::sin(slope) - mu * std::cos(slope));
    const double time = v / a * (1.3 + 4.0 * part(random));
    const int steps = k % 2 == 0 ? 100 : 300;
    const std::string text = fmt::format(
        "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\nforce = [\"{:.17g}\", "
        "\"{:.17g}\"]\n[contact.floor]\nkeep = \"y >= 0\"\nslip = [\"x'\"]\nfriction = {:.17g}\n"
        "[start]\nposition = {{ x = 0, y = 0 }}\nvelocity = {{ x = {:.17g} }}\n"
        "[run]\nscheme = \"moreau\"\nstep = {:.17g}\nsteps = {}\n",
        -9.81 * std::sin(slope), -9.81 * std::cos(slope), mu, v, time / steps, steps);
    const Barred found = run_barred(read_text(text));
    ASSERT_EQ(found.bar.unresolved, "") << text;
    const double since = time - v / a;
    const double x = 0.5 * v * v / a - 0.5 * b * since * since;
    EXPECT_LE(std::abs(found.motion.final_state.q[0] - x), found.bar.position[0]) << text;
    EXPECT_LE(std::abs(found.motion.final_state.u[0] + b * since), found.bar.velocity[0]) << text;
  }
}

// ---- unresolved ---------------------------------------------------------------------------------

TEST(ErrorBar, OfAChaoticMotionHasAHorizon) {
  const std::string text = R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "0.5*x^2"
force       = ["cos(2.8*t)"]
[contact.wall]
keep        = "x <= 0"
restitution = 0.8
[start]
position = { x = -0.5 }
[run]
scheme = "moreau"
step   = 0.001
until  = 200
)toml";
  const Barred coarse = run_barred(read_text(text));
  EXPECT_NE(coarse.bar.unresolved, "");
  ASSERT_TRUE(coarse.bar.horizon.has_value());
  EXPECT_GT(*coarse.bar.horizon, 10.0);
  EXPECT_LT(*coarse.bar.horizon, 200.0);
  // Before it the digits hold.
  const Barred early = run_barred(read_text(text, {"run.until=10"}));
  EXPECT_EQ(early.bar.unresolved, "");
  EXPECT_FALSE(early.bar.horizon.has_value());
}

TEST(ErrorBar, SeesAForceThatStepsAreTooLongFor) {
  const Barred found = run_barred(read_text(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "0.5*x^2"
force       = { x = "cos(2*pi*100*t)" }
[start]
position = { x = 2 }
[run]
scheme = "moreau"
step   = 0.01
until  = 10
)toml"));
  EXPECT_TRUE(found.motion.outcome.certificate.ok());
  EXPECT_NE(found.bar.unresolved, "");
}

TEST(ErrorBar, SaysWhichContactTheRunsDoNotAgreeOn) {
  // Two runs with the same places and other shocks.
  TracedRun run;
  run.length = 10.0;
  run.step = 0.01;
  run.speed = 1.0;
  run.outcome.certificate.shocks = {{.t = 2.0, .contact = 0, .speed = 1.0},
                                    {.t = 5.0, .contact = 1, .speed = 1.0}};
  TracedRun other = run;
  other.outcome.certificate.shocks[0].t = 2.05;
  EXPECT_FALSE(match_events(run, other).difference.has_value());
  ASSERT_EQ(match_events(run, other).pairs.size(), 2U);
  EXPECT_NEAR(match_events(run, other).pairs[0].later, 0.05, 1e-12);
  other.outcome.certificate.shocks.pop_back();
  const EventMatch match = match_events(run, other);
  ASSERT_TRUE(match.difference.has_value());
  EXPECT_EQ(match.difference->contact, 1);
  EXPECT_EQ(match.difference->t, 5.0);
  EXPECT_TRUE(match_events(other, run).difference.has_value());
  // A weak one may be missing, and one in the steps after another.
  run.outcome.certificate.shocks[1].speed = 0.01;
  EXPECT_FALSE(match_events(run, other).difference.has_value());
  run.outcome.certificate.shocks[1] = {.t = 2.1, .contact = 0, .speed = 1.0};
  EXPECT_FALSE(match_events(run, other).difference.has_value());
}

step::Sample with_state(double t, std::span<const double> states) {
  step::Sample sample;
  sample.t = t;
  sample.states = states;
  return sample;
}

Phases phases_of(const std::vector<double>& states, double h) {
  Phases phases;
  for (std::size_t i = 0; i < states.size(); ++i) {
    phases.add(with_state(static_cast<double>(i) * h, {&states[i], 1}));
  }
  phases.close();
  return phases;
}

TEST(ErrorBar, ComparesWhenContactsStickAndSlide) {
  std::vector<double> sliding(1000, 2.0);
  std::vector<double> sticking = sliding;
  std::fill(sticking.begin() + 400, sticking.begin() + 700, 1.0);
  TracedRun run;
  run.length = 10.0;
  run.step = run.phase_step = 0.01;
  TracedRun other = run;
  run.phases = phases_of(sliding, 0.01);
  other.phases = phases_of(sticking, 0.01);
  ASSERT_EQ(other.phases.list().size(), 3U);
  const EventMatch match = match_events(run, other);
  ASSERT_TRUE(match.difference.has_value());
  EXPECT_EQ(match.difference->what, "sticks");
  EXPECT_NEAR(match.difference->t, 4.0, 0.02);
  // A few steps may pass unseen.
  std::fill(sticking.begin() + 405, sticking.begin() + 700, 2.0);
  other.phases = phases_of(sticking, 0.01);
  EXPECT_FALSE(match_events(run, other).difference.has_value());
}

TEST(ErrorBar, OfARunWhoseCompanionFailsIsNotResolved) {
  std::array<Companion, 2> companions;
  companions[1].run.outcome.certificate.failure = certify::Failure::Residual;
  const ErrorBar bar = estimate_error({}, companions, {});
  EXPECT_TRUE(bar.made);
  EXPECT_NE(bar.unresolved, "");
  EXPECT_FALSE(bar.is_resolved());
}

// ---- companions ---------------------------------------------------------------------------------

TEST(Companions, CoverTheSameTime) {
  for (const std::string run : {"scheme = \"moreau\"\nstep = 0.003\nuntil = 1\n",
                                "scheme = \"event-driven\"\nstep = 0.003\nsteps = 334\n"}) {
    const scene::Scene scene = read_text(ball(0.5, run));
    const double time = scene.run.step * static_cast<double>(scene.run.steps);
    for (const auto& [coarser, steps] : {std::pair{std::sqrt(2.0), 236LL}, {2.0, 167LL}}) {
      const scene::Scene companion = coarsened(scene, coarser);
      EXPECT_EQ(companion.run.steps, steps);
      EXPECT_NEAR(companion.run.step * static_cast<double>(steps), time, 1e-14);
    }
  }
}

TEST(Companions, AreNotRunWhereTheyWouldTellNothing) {
  const std::string text = ball(0.5, "scheme = \"moreau\"\nstep = 0.1\nsteps = 3\n");
  EXPECT_FALSE(run_barred(read_text(text)).bar.made);
  EXPECT_NE(run_barred(read_text(text)).bar.not_made, "");
  const scene::Scene longer = read_text(text, {"run.steps=30"});
  EXPECT_TRUE(run_barred(longer).bar.made);
  EXPECT_FALSE(run_barred(longer, BarChoice::None).bar.made);
  EXPECT_EQ(run_barred(longer).bar.steps, (std::array<long long, 2>{21, 15}));
}

TEST(Companions, AreStoppedWithTheRun) {
  const scene::Scene scene = read_text(ball(0.5, "scheme = \"moreau\"\nstep = 0.001\nuntil = 1\n"));
  Companions companions(scene, BarChoice::Auto);
  step::Monitor monitor;
  const Motion motion = companions.run(false, {}, &monitor);
  monitor.stop.store(true);
  EXPECT_FALSE(companions.compare(motion, run_in_order, &monitor).made);
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void expect_same(const std::vector<double>& a, const std::vector<double>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same_bits(a[i], b[i])) << what << i;
}

void expect_same_rows(const scene::Scene& scene) {
  const Motion plain = run_scene(scene, true);
  Companions companions(scene, BarChoice::Pair);
  const Motion watched = companions.run(true, {}, nullptr);
  EXPECT_EQ(watched.scene.run.record_every, scene.run.record_every);
  ASSERT_EQ(plain.rows.size(), watched.rows.size());
  for (std::size_t r = 0; r < plain.rows.size(); ++r) {
    const Row& a = plain.rows[r];
    const Row& b = watched.rows[r];
    EXPECT_TRUE(same_bits(a.t, b.t) && same_bits(a.kinetic, b.kinetic) &&
                same_bits(a.potential, b.potential))
        << r << ": " << a.kinetic << " " << b.kinetic;
    expect_same(a.q, b.q, "q");
    expect_same(a.u, b.u, "u");
    expect_same(a.gaps, b.gaps, "gaps");
    expect_same(a.impulses, b.impulses, "impulses");
    expect_same(a.tangential, b.tangential, "tangential");
    expect_same(a.slips, b.slips, "slips");
    expect_same(a.states, b.states, "states");
  }
}

TEST(Companions, LeaveTheRowsOfARunAsTheyAre) {
  for (const std::string record : {"run.record=0", "run.record=1", "run.record=7"}) {
    for (const char* name : {"essai-08", "belt", "brick", "dropped-ball"}) {
      SCOPED_TRACE(name + record);
      expect_same_rows(read_text(builtin_scene(name), {record}));
    }
    // One that ends early, and one under step control.
    expect_same_rows(read_text(ball(0.5,
                                    "scheme = \"moreau\"\nstep = 0.03\nuntil = 2\n"
                                    "violation_limit = 0.01\n"),
                               {record}));
    expect_same_rows(read_text(ball(0.5,
                                    "scheme = \"moreau\"\nuntil = 2\n"
                                    "step = { max = 0.1, min = 1e-6, tolerance = 1e-4 }\n"),
                               {record}));
  }
}

// ---- the program --------------------------------------------------------------------------------

nlohmann::json summary_in(const testing::Folder& folder) {
  return nlohmann::json::parse(testing::read_file(folder / "out/summary.json"));
}

TEST(ErrorBar, IsToldByTheProgram) {
  const testing::Folder folder;
  testing::write_file(folder / "ball.toml",
                      ball(0.5, "scheme = \"moreau\"\nstep = 0.001\nuntil = 0.6\n"));
  const testing::Finished run =
      testing::run_program({"run", "ball.toml", "--out", "out"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("ok: each step obeys the law; error ± "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("final       x = "), std::string::npos) << run.out;
  const nlohmann::json json = summary_in(folder);
  EXPECT_EQ(json["status"], "ok");
  ASSERT_TRUE(json["error_bar"].is_object());
  EXPECT_EQ(json["error_bar"].size() + 1, json["final"].size());  // that has t
  const double t = 0.6 - std::sqrt(0.2);                          // since the impact, at sqrt(20)
  const double x = 0.5 * std::sqrt(20.0) * t - 5.0 * t * t;
  EXPECT_LE(std::abs(json["final"]["x"].get<double>() - x), json["error_bar"]["x"].get<double>());
  EXPECT_EQ(json["resolution"]["companions"], (std::vector<long long>{424, 300}));
  EXPECT_TRUE(json["resolution"]["horizon"].is_null());
}

TEST(ErrorBar, IsLeftOutWhereItIsNotWanted) {
  const testing::Folder folder;
  testing::write_file(folder / "ball.toml",
                      ball(0.5, "scheme = \"moreau\"\nstep = 0.001\nuntil = 0.6\n"));
  const auto run = [&](const std::string& word) {
    return testing::run_program({"run", "ball.toml", "--out", "out", "--error-bar", word},
                                folder.path());
  };
  EXPECT_EQ(run("none").code, 0);
  EXPECT_EQ(summary_in(folder)["status"], "ok");
  EXPECT_TRUE(summary_in(folder)["error_bar"].is_null());
  EXPECT_EQ(run("pair").code, 0);
  EXPECT_FALSE(summary_in(folder)["error_bar"].is_null());
  EXPECT_EQ(run("twice").code, 2);
}

TEST(ErrorBar, OfARunThatIsNotResolvedIsNoFault) {
  const testing::Folder folder;
  testing::write_file(folder / "alias.toml",
                      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
                      "force = { x = \"cos(2*pi*100*t)\" }\n[start]\nposition = { x = 2 }\n"
                      "[run]\nscheme = \"moreau\"\nstep = 0.01\nuntil = 10\n");
  const testing::Finished run =
      testing::run_program({"run", "alias.toml", "--out", "out"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("unresolved: each step obeys the law, but"), std::string::npos);
  const nlohmann::json json = summary_in(folder);
  EXPECT_EQ(json["status"], "unresolved");
  EXPECT_FALSE(json["resolution"]["unresolved"].is_null());
  EXPECT_FALSE(json["resolution"]["horizon"].is_null());
}

TEST(ErrorBar, IsToldOfStructuresToo) {
  const Barred found = run_barred(read_text(builtin_scene("bar-wall")));
  EXPECT_TRUE(found.bar.made) << found.bar.not_made;
  EXPECT_EQ(found.bar.position.size(), found.motion.scene.columns.coordinates.size());
}

/// Seconds of this process, the least of a few trials.
template <class Work>
double least_seconds(const Work& work) {
  double least = 1e9;
  for (int trial = 0; trial < 3; ++trial) {
    const std::clock_t start = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

/// What runs with their companions cost, in times of the runs: some of nearly the same length,
/// since one that comes to rest exactly takes longer or shorter than its companions by chance. The
/// least of some attempts.
double cost_of(scene::Scene scene, double limit) {
  double ratio = 1e9;
  const double time = 3e5 * scene.run.step;
  for (int attempt = 0; attempt < 8 && ratio > limit; ++attempt) {  // others run
    double alone = 0.0, barred = 0.0;
    for (const long long steps : {300'000, 308'000, 316'000}) {
      scene.run.steps = steps;
      scene.run.step = time / static_cast<double>(steps);
      alone += least_seconds([&] { (void)run_scene(scene, false); });
      barred += least_seconds([&] { (void)run_barred(scene); });
    }
    ratio = std::min(ratio, barred / alone);
  }
  return ratio;
}

// 1 + 1/sqrt(2) + 1/2 = 2.2 times the steps, and looking at them.
TEST(Companions, CostLittleMoreThanTheirSteps) {
  if (kSlow) GTEST_SKIP() << "sanitizers take time of their own";
  constexpr double kMost = 2.8;  // 2.6 on a free machine, see bench
  const std::string run = "scheme = \"moreau\"\nstep = 1e-4\nuntil = 30\nrecord = 0\n";
  EXPECT_LE(cost_of(read_text(ball(0.8, run)), kMost), kMost);  // mostly at rest
  EXPECT_LE(cost_of(read_text(ball(1.0, run)), kMost), kMost);
  scene::Scene rough = read_text(builtin_scene("essai-10"));
  rough.run.step = 1e-5;
  rough.run.record_every = 0;
  EXPECT_LE(cost_of(rough, kMost), kMost);
}

}  // namespace
}  // namespace ricochet::study::error_bar_test
