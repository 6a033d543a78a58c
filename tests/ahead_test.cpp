// Walls that are not entered: contacts that act ahead, and places put back by pushes alone.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "ricochet/base/error.h"
#include "support.h"

namespace ricochet::ahead_test {
namespace {

using certify::Failure;
using testing::run_text;

const std::vector<std::string> kAhead = {"run.contact=\"ahead\"", "run.correction=\"unilateral\""};

std::vector<std::string> with(std::vector<std::string> changes, const std::string& one) {
  changes.push_back(one);
  return changes;
}

const std::string kDrop = R"toml(
[system]
coordinates = ["z"]
mass = [1]
potential = "9.81*z"
[contact.floor]
keep = "z >= 0"
[start]
position = { z = 1 }
[run]
scheme = "moreau"
step = 0.001
until = 2
)toml";

std::string without_scheme(std::string text) {
  const std::string line = "scheme = \"moreau\"\n";
  return text.erase(text.find(line), line.size());
}

TEST(Ahead, ADroppedBallRestsOnTheFloor) {
  for (const double h : {1e-3, 7.1e-4, 1e-2}) {
    const study::Motion motion = run_text(kDrop, with(kAhead, fmt::format("run.step={}", h)));
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
    EXPECT_NEAR(motion.final_state.q[0], 0.0, 1e-15);
    EXPECT_EQ(motion.final_state.u[0], 0.0);
    EXPECT_LT(motion.outcome.certificate.violation_max, 1e-15);
    EXPECT_EQ(motion.outcome.certificate.shock_counts[0], 1);
  }
  const study::Motion plain = run_text(kDrop);
  EXPECT_LT(plain.final_state.q[0], -1e-3);  // as Moreau has it: entered, and never left
  const study::Motion unnamed = run_text(without_scheme(kDrop));
  EXPECT_NEAR(unnamed.final_state.q[0], 0.0, 1e-15);
}

const std::string kBowl = R"toml(
[system]
coordinates = ["x", "y", "z"]
mass = [1, 1, 1]
potential = "9.81*z"
[contact.bowl]
keep = "z >= 0.5*(x^2 + y^2)"
body = { position = ["x", "y", "z"] }
friction = 0.05
[start]
position = { x = 1, y = 0, z = 0.5 }
velocity = { y = 2 }
[run]
scheme = "moreau"
step = 0.001
until = 20
)toml";

TEST(Ahead, AParticleInABowlComesToRestOnIt) {
  for (const std::string& text : {kBowl, without_scheme(kBowl)}) {
    const bool is_named = text == kBowl;
    const study::Motion motion = run_text(text, is_named ? kAhead : std::vector<std::string>{});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
    const auto& q = motion.final_state.q;
    EXPECT_NEAR(q[2], 0.5 * (q[0] * q[0] + q[1] * q[1]), 1e-9);
    EXPECT_EQ(motion.final_state.u.norm(), 0.0);
    EXPECT_GE(motion.outcome.certificate.ledger.lowest, 0.0);  // of T + V, which is least at z = 0
    EXPECT_LT(std::abs(motion.outcome.certificate.ledger.correction.value()), 1e-5);
  }
  EXPECT_LT(run_text(kBowl).final_state.q[2], -1e-3);
}

/// A conical pendulum on a string: T + V, the angular momentum and the length stay.
TEST(Ahead, KeepsEnergyMomentumAndLength) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y", "z"]
mass = [1, 1, 1]
potential = "9.81*z"
[contact.string]
keep = "1 - sqrt(x^2 + y^2 + z^2) >= 0"
[start]
position = { x = "sin(pi/4)", y = 0, z = "-cos(pi/4)" }
velocity = { y = "sqrt(9.81*sin(pi/4))" }
[run]
scheme = "moreau"
contact = "ahead"
step = 1e-3
until = 20
)toml";
  const study::Motion motion = run_text(text);
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  const double radius = std::sin(std::numbers::pi / 4.0);
  const double speed = std::sqrt(9.81 * radius);
  for (const study::Row& row : motion.rows) {
    const double turns = row.q[0] * row.u[1] - row.q[1] * row.u[0];
    EXPECT_NEAR(turns, radius * speed, 1e-5 * radius * speed);
    EXPECT_NEAR(std::hypot(row.q[0], row.q[1], row.q[2]), 1.0, 2e-6);
    EXPECT_NEAR(row.kinetic + row.potential, 0.5 * speed * speed - 9.81 * radius, 1e-5);
  }
}

/// A particle at the bottom of a ring is a pendulum: its positions are of second order in h.
TEST(Ahead, IsOfSecondOrderWhereContactLasts) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "y"
[contact.ring]
keep = "1 - sqrt(x^2 + y^2) >= 0"
[start]
position = { x = 0, y = -1 }
velocity = { x = 1 }
[run]
scheme = "moreau"
contact = "ahead"
step = 0.01
until = 2
)toml";
  // theta'' = -sin(theta) from theta = 0, theta' = 1, by the classical Runge-Kutta method.
  double angle = 0.0, rate = 1.0;
  const int steps = 20000;
  const double k = 2.0 / steps;
  for (int i = 0; i < steps; ++i) {
    const double a1 = rate, b1 = -std::sin(angle);
    const double a2 = rate + 0.5 * k * b1, b2 = -std::sin(angle + 0.5 * k * a1);
    const double a3 = rate + 0.5 * k * b2, b3 = -std::sin(angle + 0.5 * k * a2);
    const double a4 = rate + k * b3, b4 = -std::sin(angle + k * a3);
    angle += k / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    rate += k / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
  }
  for (const char* scheme : {"moreau", "moreau-jean"}) {
    std::vector<double> errors;
    for (const double h : {0.02, 0.01, 0.005}) {
      const study::Motion motion =
          run_text(text, {fmt::format("run.step={}", h), fmt::format("run.scheme=\"{}\"", scheme)});
      ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
      errors.push_back(std::hypot(motion.final_state.q[0] - std::sin(angle),
                                  motion.final_state.q[1] + std::cos(angle)));
    }
    EXPECT_NEAR(errors[0] / errors[1], 4.0, 0.4) << scheme;
    EXPECT_NEAR(errors[1] / errors[2], 4.0, 0.4) << scheme;
  }
}

/// Ten balls of mass 1 on a line, dropped by 0.1: none enters the other.
TEST(Ahead, AColumnLandsWithoutOverlap) {
  std::string text =
      "[system]\ncoordinates = [\"x1\", \"x2\", \"x3\", \"x4\", \"x5\"]\nmass = [1, 1, 1, 1, 1]\n"
      "potential = \"9.81*(x1 + x2 + x3 + x4 + x5)\"\n[contact.floor]\nkeep = \"x1 >= 0.5\"\n";
  for (int i = 1; i < 5; ++i) {
    text += fmt::format("[contact.c{0}]\nkeep = \"x{1} - x{0} >= 1\"\n", i, i + 1);
  }
  text +=
      "[start]\nposition = { x1 = 0.6, x2 = 1.6, x3 = 2.6, x4 = 3.6, x5 = 4.6 }\n[run]\n"
      "scheme = \"moreau\"\ncontact = \"ahead\"\nstep = 0.001\nuntil = 2\n";
  const study::Motion motion = run_text(text);
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  EXPECT_LT(motion.outcome.certificate.violation_max, 1e-14);
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(motion.final_state.q[i], 0.5 + i, 1e-14);
}

/// What begins beyond a wall is neither thrown out nor let deeper; put back, it gains its height.
TEST(Ahead, ABadStartGainsNoSpeed) {
  const std::vector<std::string> deep = {"start.position.z=-0.001", "start.tolerance=0.002",
                                         "run.until=0.1", "run.contact=\"ahead\""};
  const study::Motion stays = run_text(kDrop, deep);
  ASSERT_EQ(stays.outcome.certificate.failure, Failure::None);
  EXPECT_EQ(stays.final_state.q[0], -0.001);
  EXPECT_LT(stays.outcome.certificate.ledger.kinetic_max, 1e-30);
  const study::Motion back = run_text(kDrop, with(deep, "run.correction=\"unilateral\""));
  ASSERT_EQ(back.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(back.final_state.q[0], 0.0, 1e-15);
  EXPECT_LT(back.outcome.certificate.ledger.kinetic_max, 1e-30);
  EXPECT_NEAR(back.outcome.certificate.ledger.correction.value(), 9.81e-3, 1e-12);
}

TEST(Ahead, LeavesRestitutionAlone) {
  const std::vector<std::string> bounces = {"contact.floor.restitution=0.7"};
  const study::Motion one = run_text(kDrop, bounces);
  const study::Motion other = run_text(kDrop, with(bounces, "run.contact=\"ahead\""));
  ASSERT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) EXPECT_EQ(one.rows[i].q, other.rows[i].q);
}

/// y = -0.01 beyond the floor, where x + y >= -0.0005 is entered too. Pushed up by the floor the
/// particle is off the slope; the intersection of both would pull it along.
TEST(Unilateral, PullsNothing) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 1]
[contact.floor]
keep = "y >= 0"
[contact.slope]
keep = "x + y >= 0"
[start]
position = { x = 0.0095, y = -0.01 }
tolerance = 0.1
[run]
scheme = "moreau"
step = 0.01
steps = 1
)toml";
  const study::Motion pushed = run_text(text, {"run.correction=\"unilateral\""});
  ASSERT_EQ(pushed.outcome.certificate.failure, Failure::None);
  EXPECT_EQ(pushed.final_state.q[0], 0.0095);
  EXPECT_NEAR(pushed.final_state.q[1], 0.0, 1e-17);
  const study::Motion pulled = run_text(text, {"run.correction=\"project\""});
  ASSERT_EQ(pulled.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(pulled.final_state.q[0], 0.0, 1e-15);
}

/// With theta = 1/2 the middles of moreau-jean are the same, and nothing else is looked at.
TEST(Ahead, GoesWithTheThetaMethod) {
  const std::vector<std::string> jean = {"run.scheme=\"moreau-jean\"", "run.contact=\"ahead\""};
  for (const double h : {1e-3, 7.1e-4, 1e-2}) {
    const study::Motion motion = run_text(kDrop, with(jean, fmt::format("run.step={}", h)));
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
    EXPECT_NEAR(motion.final_state.q[0], 0.0, 1e-15);
    EXPECT_EQ(motion.final_state.u[0], 0.0);
    EXPECT_LT(motion.outcome.certificate.violation_max, 1e-15);
  }
  const study::Motion bowl = run_text(kBowl, jean);
  ASSERT_EQ(bowl.outcome.certificate.failure, Failure::None);
  EXPECT_GT(bowl.final_state.q[2], -1e-9);
  EXPECT_THROW((void)run_text(kDrop, with(jean, "run.theta=0.6")), base::InputError);
}

TEST(Ahead, IsASettingOfTheTwo) {
  for (const char* scheme : {"elast", "inel", "mabrouk", "event-driven"}) {
    EXPECT_THROW(
        (void)run_text(kDrop, {fmt::format("run.scheme=\"{}\"", scheme), "run.contact=\"ahead\""}),
        base::InputError)
        << scheme;
  }
  EXPECT_THROW((void)run_text(kDrop, {"run.contact=\"behind\""}), base::InputError);
}

}  // namespace
}  // namespace ricochet::ahead_test
