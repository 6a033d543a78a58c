// A new user's path, walked again: scenes that ended red, pictures that were wrong, messages that
// did not help.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "program.h"
#include "ricochet/base/error.h"
#include "ricochet/plot/trail.h"
#include "ricochet/solve/load_rounds.h"
#include "support.h"

namespace ricochet::testing::new_user_test {
namespace {

using certify::Failure;

/// What is wrong and the remedy, in one line.
std::string error_of(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    (void)read_text(text, settings);
  } catch (const base::InputError& error) {
    return fmt::format("{}: {}; {}", error.key(), error.message(), error.remedy());
  }
  return "no error";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

/// A block on a rough floor, in a rough guide: two laws for one velocity.
const std::string kBlock = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "10*y"
[contact.floor]
keep     = "y >= 0"
slip     = ["x'"]
friction = 0.3
[friction.guide]
slip  = "x'"
bound = 1
[start]
position = { x = 0, y = 0 }
velocity = { x = 2 }
[run]
step  = 1e-3
until = 2
)toml";

TEST(NewUser, ABlockInAGuideStopsWhereBothFrictionsSay) {
  for (const char* scheme : {"moreau", "moreau-jean"}) {
    const study::Motion motion = run_text(kBlock, {fmt::format("run.scheme=\"{}\"", scheme)});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None) << scheme;
    EXPECT_NEAR(motion.final_state.q[0], 2.0 * 2.0 / (2.0 * 4.0), 2e-3) << scheme;  // v^2/2a
    EXPECT_EQ(motion.final_state.u[0], 0.0) << scheme;
  }
}

/// Beside a hinge that turns on at many times the speed, with a guide that opposes the bounce too.
TEST(NewUser, PartsThatShareNothingAreSolvedToTheirOwnScale) {
  const std::string box = R"toml(
[system]
coordinates = ["x", "y", "phi"]
mass        = [1, 1, 0.1]
potential   = "9.81*y"
[contact.floor]
keep        = "y >= 0"
slip        = ["x'"]
friction    = 0.3
restitution = 0.4
[friction.hinge]
slip  = "phi'"
bound = 0.05
[friction.air]
slip  = ["x'", "y'"]
bound = 0.4
[start]
position = { x = 0, y = 0.5, phi = 0 }
velocity = { x = 2, phi = 3 }
[run]
step  = 1e-3
until = 2
)toml";
  for (const char* scheme : {"moreau", "moreau-jean"}) {
    const study::Motion motion = run_text(box, {fmt::format("run.scheme=\"{}\"", scheme)});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None) << scheme;
    EXPECT_NEAR(motion.final_state.u[2], 3.0 - 0.05 / 0.1 * 2.0, 1e-9) << scheme;
  }
}

/// Places of 1e-320 below a wall are put right too, where the mass couples them to others.
TEST(NewUser, WhatIsBelowAWallByLessThanAnythingIsNoFailure) {
  const std::string coupled =
      replaced(replaced(kBlock, "[1, 1]", "[[2, 0.5], [0.5, 1]]"), "potential   = \"10*y\"",
               "potential   = \"9.81*y\"\nforce = { x = \"5*sin(3*t)\" }");
  for (const char* friction : {"0", "0.1", "0.3"}) {
    const study::Motion motion =
        run_text(coupled, {fmt::format("contact.floor.friction={}", friction), "run.until=3"});
    EXPECT_EQ(motion.outcome.certificate.failure, Failure::None) << friction;
  }
}

/// A ball of 200 g that rests on a floor: corrections leave places of 1e-320 there.
TEST(NewUser, ABallOfAnyMassMayRest) {
  for (const char* mass : {"0.2", "0.3", "1.7", "1e-3"}) {
    const std::string ball =
        replaced(replaced(kFloor, "[1, 1]", fmt::format("[{}, {}]", mass, mass)),
                 "position = { x = 0, y = 0 }", "position = { x = 0, y = 1 }");
    const study::Motion motion =
        run_text(ball.substr(0, ball.find("[run]")) + "[run]\nstep = 1e-3\nuntil = 2\n",
                 {fmt::format("system.potential=\"9.81*{}*y\"", mass)});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None) << mass;
    EXPECT_NEAR(motion.final_state.q[1], 0.0, 1e-15) << mass;
  }
}

/// A slider held at y = 0 whose mass couples x and y: its reaction r = c x'' - f_y depends on the
/// friction it presses.
const std::string kWedge = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { c = 0.5, mu = 0.5, f = 0.3 }
mass        = [[1, "c"], ["c", 1]]
force       = { x = "f", y = "-1" }
[hold.wire]
zero = "y"
[friction.rough]
hold     = "wire"
slip     = "x'"
friction = "mu"
[start]
position = { x = 0, y = 0 }
velocity = { x = 1 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 2
)toml";

TEST(NewUser, FrictionAndReactionOfAJointAreFoundTogether) {
  for (const double mu : {0.2, 0.5, 0.9, 1.1}) {
    for (const double c : {0.5, 0.9, -0.5}) {
      const study::Motion motion =
          run_text(kWedge, {fmt::format("mu={}", mu), fmt::format("c={}", c)});
      ASSERT_EQ(motion.outcome.certificate.failure, Failure::None) << mu << " " << c;
      // x'' = f - mu r with r = c x'' + 1, until it stops; then f < mu holds it.
      const double a = (0.3 - mu) / (1.0 + mu * c);
      const double stop = std::min(2.0, a < 0.0 ? -1.0 / a : 2.0);
      const double way = stop + 0.5 * a * stop * stop +
                         (a < 0.0 && mu < 0.3 ? 0.0 : (2.0 - stop) * (1.0 + a * stop));
      EXPECT_NEAR(motion.final_state.q[0], way, 2e-3) << mu << " " << c;
    }
  }
}

/// mu c > 1 and v < 0: no acceleration obeys the law, and the slider stops at once. The impulses of
/// that step follow from its momentum: r = c + h, T = 1 - h f.
TEST(NewUser, AWedgeThatJamsStops) {
  for (const double mu : {1.5, 2.0, 5.0}) {
    const study::Motion motion =
        run_text(kWedge, {fmt::format("mu={}", mu), "c=0.9", "start.velocity.x=-1"});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None) << mu;
    EXPECT_EQ(motion.final_state.u[0], 0.0) << mu;
    EXPECT_NEAR(motion.final_state.q[0], -0.5e-3, 1e-12) << mu;  // half of the first step
    EXPECT_GT(motion.outcome.certificate.friction[0].stick_time, 1.99) << mu;
  }
}

/// s = r(s): contractions, slopes beyond one that plain rounds leave, and several loads at once.
TEST(NewUser, LoadsAgreeWithTheirReactions) {
  using Ask = solve::LoadRounds::Ask;
  solve::LoadRounds rounds;
  Eigen::VectorXd s = Eigen::VectorXd::Zero(1);
  const Ask steep = [](void*, const Eigen::VectorXd& at, Eigen::VectorXd& answer) {
    answer = Eigen::VectorXd::Constant(1, std::abs(2.0 - 3.0 * std::min(at[0], 5.0)));
    return problem::Report{};
  };
  EXPECT_EQ(rounds.settle(s, steep, nullptr).status, problem::Status::Solved);
  EXPECT_TRUE(std::abs(s[0] - 0.5) < 1e-12 || std::abs(s[0] - 1.0) < 1e-12 ||
              std::abs(s[0] - 13.0) < 1e-11)
      << s[0];
  s = Eigen::VectorXd::Zero(2);
  const Ask coupled = [](void*, const Eigen::VectorXd& at, Eigen::VectorXd& answer) {
    answer.resize(2);
    answer[0] = 1.0 + 2.0 * std::min(at[1], 3.0);
    answer[1] = std::abs(4.0 - 2.0 * std::min(at[0], 3.0));
    return problem::Report{};
  };
  EXPECT_EQ(rounds.settle(s, coupled, nullptr).status, problem::Status::Solved);
  Eigen::VectorXd answer;
  (void)coupled(nullptr, s, answer);
  EXPECT_LT((answer - s).norm(), 1e-11);
}

TEST(NewUser, UnitsOfFactsAndPicturesAreChecked) {
  const std::string scene = R"toml(
[system]
coordinates = ["x", "y"]
units       = { x = "m", y = "m" }
parameters  = { m = "200 g", g = "9.81 m/s^2", far = "2 m", E = "1 J", T = "1 s" }
kinetic     = "0.5*m*(x'^2 + y'^2)"
potential   = "m*g*y"
[contact.floor]
keep = "y >= 0"
[start]
position = { x = 0, y = 1 }
[run]
step  = "1 ms"
until = 1
)toml";
  const auto fact = [&](const std::string& text) {
    return error_of(scene + fmt::format("[expect]\na = \"{}\"\n", text));
  };
  for (const char* right : {"x < far", "abs(x') < far/T", "floor.gap >= 0", "floor.gap < far",
                            "energy.end < E", "floor.shocks == 1", "violation.max < far"}) {
    EXPECT_EQ(fact(right), "no error") << right;
  }
  expect_part(fact("x < T"), "expect.a: m and s cannot be compared");
  expect_part(fact("x < 2"), "a number cannot be compared; name the number as a parameter");
  expect_part(fact("floor.gap < T"), "cannot be compared");
  expect_part(fact("energy.end + x < E"), "cannot be added");
  expect_part(fact("floor.shoks == 1"), "unknown name");
  const auto curve = [&](const std::string& text) {
    return error_of(scene + fmt::format("[plot]\ny = \"{}\"\n", text));
  };
  EXPECT_EQ(curve("x*x'"), "no error");
  EXPECT_EQ(curve("energy.kinetic + energy.potential"), "no error");
  expect_part(curve("x + t"), "plot.y: m and s cannot be added");
  expect_part(curve("floor.gap + energy.kinetic"), "cannot be added");
  expect_part(error_of(scene + "[expect]\nmotion = { x = \"0\", y = \"far - g*t\" }\n"),
              "cannot be subtracted");
  expect_part(error_of(scene + "[expect]\nmotion = { x = \"0\", y = \"g*t\" }\n"),
              "expect.motion.y: is m/s, and its coordinate is m");
}

TEST(NewUser, MessagesSayWhatToWrite) {
  const auto wrong = [](const std::string& from, const std::string& to) {
    return error_of(replaced(kBlock, from, to));
  };
  expect_part(wrong("10*y", "10*y**2"), "write ^ for a power");
  expect_part(wrong("\"10*y\"", "\"10*y\"\ndamping = \"0.1*xdot^2\""), "write x' for the velocity");
  expect_part(wrong("\"y >= 0\"", "\"y > 0\""), "write >= in place of >");
  expect_part(wrong("\"y >= 0\"", "\"y >= 20 cm\""), "a number with a unit stands alone");
  expect_part(wrong("10*y", "10*y*sin(30°)"), "write 30*pi/180");
  expect_part(wrong("x = 0, y = 0", "x = 0,5, y = 0"), "numbers have a point");
  expect_part(error_of(kBlock + "[contact.floor]\nkeep = \"x >= 0\"\n"), "each name once");
  expect_part(error_of(kBlock + "[hold.a]\nzero = \"x >= 1\"\n"), "hold.a.zero: is a comparison");
  const std::string body =
      "body = { position = [\"x\", \"y\"], angle = \"-x\", point = [\"x\", \"y\"] }";
  expect_part(wrong("slip     = [\"x'\"]", body), "grows anticlockwise");
}

/// A few arcs among the paths of many runs are arcs, and fill nothing.
TEST(NewUser, APathAmongManyIsNoArea) {
  for (const double arcs : {5.0, 20.0, 60.0}) {
    for (const std::size_t most : {std::size_t{300}, std::size_t{833}}) {
      plot::Trail trail(most);
      constexpr int kRows = 30000;
      for (int k = 0; k < kRows; ++k) {
        const double t = arcs * k / kRows;
        trail.add({4.0 * k / kRows, std::abs(std::sin(M_PI * t)) * std::exp(-t / arcs)});
      }
      trail.close();
      EXPECT_FALSE(trail.fills_an_area()) << arcs << " " << most;
      std::size_t kept = 0;
      for (const auto& piece : trail.pieces()) kept += piece.size();
      EXPECT_LT(kept, 1100U) << arcs << " " << most;
    }
  }
}

/// Two of five members stop at a formula that has no value there.
TEST(NewUser, EndsOfMembersThatStoppedAreLeftOut) {
  const Folder folder;
  write_file(folder / "s.toml", R"toml(
[system]
coordinates = ["x"]
parameters  = { a = 1 }
mass        = [1]
force       = ["1e-9*sqrt(3.5 - x)"]
[contact.wall]
keep = "x <= 100"
[start]
position = { x = 0 }
velocity = { x = "a" }
[run]
scheme = "moreau"
step   = 0.01
until  = 1
[family]
a = { from = 1, to = 5, count = 5 }
)toml");
  const Finished run = run_program({"run", "s.toml", "--out", "o", "--report"}, folder.path());
  EXPECT_EQ(run.code, 1);
  expect_part(run.out, "3 of 5 members are ok");
  expect_part(run.out, "report.html");
  expect_part(run.err, "error: a member failed: not_finite");
  const Finished plot = run_program(
      {"plot", "o", "--scene", "s.toml", "--x", "a", "--y", "x", "--out", "d.svg"}, folder.path());
  EXPECT_EQ(plot.code, 0) << plot.err;
  expect_part(plot.out, "3 rows of 3 trajectories");
  expect_part(read_file(folder / "d.svg"), "2 that stopped before left out");
}

TEST(NewUser, TheCommandLineIsAnsweredInOneForm) {
  const Folder folder;
  write_file(folder / "s.toml", kBlock);
  const auto tried = [&](const std::vector<std::string>& words) {
    return run_program(words, folder.path());
  };
  ASSERT_EQ(tried({"run", "s.toml", "--quiet"}).code, 0);
  EXPECT_EQ(tried({"help"}).code, 0);
  expect_part(tried({"help"}).out, "Start with:");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {}, {"run"}, {"run", "s.toml", "other"}, {"converge", "s.toml"}, {"plot"}}) {
    const Finished wrong = tried(words);
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(wrong.err.find("error: "), 0U) << wrong.err;
    expect_part(wrong.err, "\nremedy: ricochet");
  }
  EXPECT_EQ(tried({"plot", "out/s", "--out", "p.svg"}).code, 0);
  const Finished events = tried({"plot", "out/s/events.csv"});
  EXPECT_EQ(events.code, 2);
  expect_part(events.err, "name the trajectory.csv");
}

TEST(NewUser, StructuresWithoutASchemeCannotGainByContacts) {
  const std::string tube = R"toml(
[structure]
length  = 1.5
young   = 2.1e11
density = 7850
section = { tube = [0.020, 0.002] }
ends    = ["clamped", "pinned"]
nodes   = 30
damping = { ratio = 0.005, modes = 6 }
[structure.force.shaker]
at    = 0.5
value = "40*sin(2*pi*15*t)"
[structure.guide.plate]
at          = 1.0
clearance   = 5e-4
restitution = 0.5
[structure.guide.other]
at        = 0.5
clearance = 5e-4
[structure.point.mid]
at = 0.75
[run]
step  = 2e-5
until = 0.1
)toml";
  EXPECT_EQ(step::name_of(read_text(tube).scheme), "passive");
  EXPECT_EQ(run_text(tube).outcome.certificate.failure, Failure::None);
  const std::string rough = replaced(replaced(tube, "nodes ", "planes = 2\nnodes "), "restitution",
                                     "friction = 0.2\nrestitution");
  EXPECT_EQ(step::name_of(read_text(rough).scheme), "newmark");
}

}  // namespace
}  // namespace ricochet::testing::new_user_test
