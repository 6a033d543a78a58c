// What scenes of bodies may say of conditions, units, forces and births, and what is told where it
// makes no sense.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>
#include <string>

#include "ricochet/base/error.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/motion.h"
#include "ricochet/study/run_world.h"

namespace ricochet::testing::world_words_test {
namespace {

std::string falls(const std::string& stop) {
  return fmt::format(R"(
[world]
dimension = 2
gravity   = [0, -9.81]
define    = {{ late = "t > 0.2" }}
[pair]
default = {{ restitution = 0 }}
[body.a]
disc = 0.1
mass = 1
at   = [0, 0.5]
[run]
step  = 0.001
until = 0.5
stop  = "{}"
)",
                     stop);
}

study::Motion run(const std::string& text) {
  return study::run_scene(scene::read_scene("scene.toml", text), true);
}

int line_of_error(const std::string& text) {
  try {
    (void)run(text);
  } catch (const base::InputError& error) {
    return error.spot().line;
  }
  return -1;
}

/// A condition that is no number ends the run, with what was found until then: 0.4 is passed at
/// t = 0.143.
TEST(WorldWords, AStopThatCannotBeComputedKeepsTheRun) {
  const study::Motion motion = run(falls("sqrt(a.y - 0.4) < 0"));
  ASSERT_TRUE(motion.world);
  EXPECT_NE(motion.world->stop_fault.find("line 15"), std::string::npos);
  EXPECT_TRUE(motion.world->stopped.empty());
  EXPECT_EQ(motion.outcome.steps, 143);
  EXPECT_NEAR(motion.final_state.t, 0.143, 1e-9);
}

/// A body is born at rest at t = 0.1 and falls: 0.5 m/s are reached at t = 0.1 + 0.5/9.81 = 0.151.
TEST(WorldWords, AStopWaitsForTheBodiesItSpeaksOf) {
  std::string text = falls("a.speed > 0.5");
  text.replace(text.find("at   = [0, 0.5]"), 15, "at   = [0, 0.5]\nborn = 0.1");
  EXPECT_NEAR(run(text).final_state.t, 0.151, 1e-9);
  text.replace(text.find("a.speed > 0.5"), 13, "a.speed < 0.5");
  EXPECT_NEAR(run(text).final_state.t, 0.1, 1e-9);
  text.replace(text.find("a.speed < 0.5"), 13, "fast < 1");
  const std::string watches =
      "[watch.speed]\nformula = \"a.speed\"\n[watch.fast]\nformula = \"2 * speed\"\n";
  text.insert(text.find("[run]"), watches);
  EXPECT_NEAR(run(text).final_state.t, 0.1, 1e-9);
}

TEST(WorldWords, AStopIsACondition) {
  constexpr int kLine = 15;
  EXPECT_EQ(line_of_error(falls("a.y")), kLine);
  EXPECT_EQ(line_of_error(falls("a.y - 0.3")), kLine);
  EXPECT_NEAR(run(falls("late")).final_state.t, 0.201, 1e-9);
  EXPECT_NEAR(run(falls("not (a.y > 0.4) and t > 0")).final_state.t, 0.143, 1e-9);
  const study::Motion at_once = run(falls("a.y > 0"));
  EXPECT_EQ(at_once.outcome.steps, 0);
  EXPECT_EQ(at_once.final_state.t, 0.0);
}

/// Who is born inside another is a failure that names both.
TEST(WorldWords, BornInsideAnother) {
  const auto text = [](double at) {
    return fmt::format(R"(
[world]
dimension = 2
[pair]
default = {{ friction = 0, restitution = 0 }}
[body.a]
disc     = 0.1
mass     = 1
at       = [-1, 0]
velocity = [1, 0]
[body.b]
disc = 0.1
mass = 1
at   = [0, {}]
born = 1
[run]
step  = 0.001
until = 1.2
)",
                       at);
  };
  const study::Motion inside = run(text(0.01));
  EXPECT_EQ(inside.outcome.certificate.failure, certify::Failure::Overlap);
  EXPECT_NEAR(inside.outcome.certificate.failure_time, 1.0, 1e-9);
  EXPECT_NEAR(inside.outcome.certificate.failure_value, 0.2 - 0.01, 1e-9);
  EXPECT_NE(inside.world->told.broken.find("'b' is born"), std::string::npos);
  EXPECT_NE(inside.world->told.broken.find("inside 'a'"), std::string::npos);
  EXPECT_EQ(run(text(0.5)).outcome.certificate.failure, certify::Failure::None);
}

/// Discs of 0.1 born at one place every 1/300 s, where a fall of their size takes 0.2 s.
TEST(WorldWords, RainThatIsTooFast) {
  const study::Motion motion = run(R"(
[world]
dimension = 2
gravity   = [0, -10]
[material.m]
density = 1
[pair]
default = { friction = 0.3, restitution = 0 }
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[fill.g]
shape    = "disc"
radius   = 0.1
count    = 60
inside   = { box = [[-0.5, 0.2], [0.5, 2]] }
pattern  = "rain"
rate     = 300
material = "m"
[run]
step  = 1e-3
until = 1
)");
  EXPECT_EQ(motion.outcome.certificate.failure, certify::Failure::Overlap);
  EXPECT_NE(motion.world->told.broken.find("is born"), std::string::npos);
  EXPECT_NE(study::remedy_of_world(motion).find("fill.g rains 300 bodies"), std::string::npos);
}

std::string words_of_error(const std::string& text) {
  try {
    (void)run(text);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(WorldWords, ANumberThatABodyDoesNotHave) {
  const std::string words = words_of_error(falls("a.foo > 1"));
  EXPECT_NE(words.find("'a' has no 'foo'"), std::string::npos) << words;
  EXPECT_NE(words.find("known: x, y, angle"), std::string::npos) << words;
  EXPECT_EQ(line_of_error(falls("a.foo > 1")), 15);
}

/// A box that nothing can be in, and one beside a lowest height: what is below either leaves.
TEST(WorldWords, WhereBodiesAreRemoved) {
  const std::string text = falls("t > 0.4");
  EXPECT_EQ(line_of_error(text + "[remove]\noutside = [[1, 1], [-1, -1]]\n"), 17);
  const auto removed = [&](const std::string& where) {
    return run(text + "[remove]\n" + where).world->told.removed;
  };
  EXPECT_EQ(removed("outside = [[-1, -1], [1, 1]]\n"), 0);
  EXPECT_EQ(removed("below = 0.3\noutside = [[-1, -1], [1, 1]]\n"), 1);
}

/// One kilogram on a spring of 10^4 N/m alone: h sqrt(k/m) = 100 h.
TEST(WorldWords, ASpringThatIsTooStiffForTheStep) {
  const auto warned = [](double step) {
    const std::string text = fmt::format(
        "[world]\ndimension = 2\n[pair]\ndefault = \"none\"\n[body.a]\ndisc = 0.1\nmass = 1\nat = "
        "[0, 0]\n"
        "[joint.rail]\nkind = \"slider\"\nbetween = [\"ground\", \"a\"]\nat = [0, 0]\naxis = [1, "
        "0]\n"
        "spring = {{ stiffness = 10000 }}\n[run]\nstep = {}\nsteps = 5\n",
        step);
    std::string all;
    for (const std::string& warning : run(text).scene.warnings) all += warning;
    return all;
  };
  EXPECT_EQ(warned(0.019).find("stiff"), std::string::npos);
  EXPECT_NE(
      warned(0.05).find("the spring of joint 'rail' is stiff for the step: h sqrt(k / m) = 5 "),
      std::string::npos);
  EXPECT_NE(warned(0.05).find("take steps below 0.02"), std::string::npos);
}

/// Bodies of a fill need no other: ten discs of one velocity fly in line, and keep T = n m v^2/2.
TEST(WorldWords, AFillAloneIsAWorld) {
  const std::string text = R"(
[world]
dimension = 2
[material.m]
density = 1
[pair]
default = { friction = 0.3 }
[fill.g]
shape    = "disc"
radius   = 0.1
count    = 10
inside   = { box = [[0, 0], [4, 4]] }
pattern  = "random"
velocity = [0.5, 0]
material = "m"
[run]
step  = 0.01
until = 1
)";
  const study::Motion motion = run(text);
  EXPECT_TRUE(motion.outcome.certificate.ok());
  const double kinetic = 10.0 * std::numbers::pi * 0.01 * 0.125;
  EXPECT_NEAR(motion.outcome.certificate.ledger.kinetic_end, kinetic, 1e-12);
  EXPECT_EQ(line_of_error(text.substr(0, text.find("[fill")) + "[run]\nstep = 0.1\n"), 1);
}

/// m v^2/2 = 1.6e398 is no double.
TEST(WorldWords, EnergiesThatOverflowAreNoNumbers) {
  const auto thrown = [](const char* speed) {
    return run(
        fmt::format("[world]\ndimension = 2\ngravity = [0, -10]\n[pair]\ndefault = \"none\"\n"
                    "[body.p]\ndisc = 0.1\nmass = 1\nvelocity = [{}, 0]\n"
                    "[run]\nstep = 0.001\nuntil = 0.01\n",
                    speed));
  };
  const study::Motion motion = thrown("1e200");
  EXPECT_EQ(motion.outcome.certificate.failure, certify::Failure::NotFinite);
  EXPECT_EQ(motion.world->told.where, "of 'p'");
  EXPECT_TRUE(thrown("1e100").outcome.certificate.ok());
}

std::string mixed(const std::string& gravity, const std::string& mass, const std::string& more) {
  return fmt::format(R"(
[system]
coordinates = ["th"]
units       = {{ th = "rad" }}
parameters  = {{ L = "1 m", m = "2 kg", g = "9.81 m/s^2" }}
kinetic     = "0.5*m*L^2*th'^2"
{}
[world]
dimension  = 2
gravity    = [0, "{}"]
parameters = {{ R = "15 cm", M = "3 kg" }}
[pair]
default = {{ restitution = 0.8 }}
[body.puck]
disc = "R"
mass = "{}"
at   = ["R + L", "-L"]
[start]
position = {{ th = 0 }}
[run]
step  = 0.001
until = 0.1
)",
                     more, gravity, mass);
}

TEST(WorldWords, UnitsOfBodiesBesideASystem) {
  EXPECT_EQ(run(mixed("-g", "M", "")).outcome.certificate.failure, certify::Failure::None);
  EXPECT_EQ(line_of_error(mixed("-L", "M", "")), 10);
  EXPECT_EQ(line_of_error(mixed("-g", "R", "")), 16);
}

/// Coordinates of free bodies beside [system] take forces by name: x = F t^2/(2 m).
TEST(WorldWords, ForcesOnBodiesBesideASystem) {
  const study::Motion pushed = run(R"(
[system]
coordinates = ["s"]
mass        = [1]
force       = { "puck.x" = "6" }
[world]
dimension = 2
[pair]
default = { restitution = 0.8 }
[body.puck]
disc = 0.1
mass = 3
at   = [0, 0]
[start]
position = { s = 0 }
[run]
step  = 0.001
until = 0.5
)");
  EXPECT_EQ(pushed.outcome.certificate.failure, certify::Failure::None);
  EXPECT_NEAR(pushed.final_state.q[1], 6.0 * 0.25 / (2.0 * 3.0), 1e-12);
}

}  // namespace
}  // namespace ricochet::testing::world_words_test
