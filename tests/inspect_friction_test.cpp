// What an inspection tells of contacts with friction, and joints in arcs from event to event.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ricochet/study/inspect_scene.h"
#include "support.h"

namespace ricochet::inspect_friction_test {
namespace {

using study::ActiveRow;
using study::Inspection;
using study::Standing;
using testing::read_text;
using testing::run_text;

Inspection inspect_start(const std::string& text, const std::vector<std::string>& settings = {}) {
  const scene::Scene scene = read_text(text, settings);
  return study::Inspector(*scene.formulas()).at(scene.start);
}

const std::string kIncline = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { m = 2, a = 0.4, mu = 0.5, v = 0 }
kinetic     = "0.5*m*(x'^2 + y'^2)"
potential   = "m*10*(y*cos(a) - x*sin(a))"
[contact.slope]
keep     = "y >= 0"
slip     = ["x'"]
friction = "mu"
[start]
position = { x = 0, y = 0 }
velocity = { x = "v" }
[run]
scheme = "moreau"
step   = 0.001
until  = 1
)toml";

TEST(InspectFriction, ABlockOnASlope) {
  const double down = 20.0 * std::sin(0.4);
  const double load = 20.0 * std::cos(0.4);
  const Inspection rests = inspect_start(kIncline);  // tan 0.4 = 0.42 < mu
  ASSERT_TRUE(rests.ok());
  ASSERT_EQ(rests.active.size(), 1U);
  EXPECT_EQ(rests.active[0].standing, Standing::Sticking);
  EXPECT_NEAR(rests.active[0].reaction, load, 1e-12);
  EXPECT_NEAR(rests.active[0].friction[0], -down, 1e-12);
  EXPECT_NEAR(rests.acceleration.norm(), 0.0, 1e-12);
  for (const double v : {0.0, 1.0, -1.0}) {
    const Inspection slides = inspect_start(
        kIncline, {"system.parameters.mu=0.3", fmt::format("system.parameters.v={}", v)});
    const double sign = v < 0.0 ? -1.0 : 1.0;  // from rest it goes down
    EXPECT_EQ(slides.active[0].standing, Standing::Sliding);
    EXPECT_NEAR(slides.acceleration[0], (down - sign * 0.3 * load) / 2.0, 1e-12);
    EXPECT_NEAR(slides.active[0].friction[0], -sign * 0.3 * load, 1e-12);
  }
}

TEST(InspectFriction, AShockWithFriction) {
  const Inspection found = inspect_start(kIncline, {"start.velocity={ x = 1, y = -1 }"});
  ASSERT_FALSE(found.in_tangent_cone);
  EXPECT_NEAR(found.active[0].impulse, 2.0, 1e-12);
  EXPECT_NEAR(found.active[0].friction_impulse[0], -1.0, 1e-12);  // mu p
  EXPECT_NEAR(found.right_velocity[0], 0.5, 1e-12);
  EXPECT_NEAR(found.right_velocity[1], 0.0, 1e-12);
}

/// A disc rolls down with 2/3 g sin, held by m g sin / 3; where mu < tan/3 it slides.
TEST(InspectFriction, ADiscRollsOrSlides) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y", "phi"]
parameters  = { m = 3, R = 0.5, a = 0.4, mu = 0.5 }
kinetic     = "0.5*m*(x'^2 + y'^2) + 0.25*m*R^2*phi'^2"
potential   = "m*10*(y*cos(a) - x*sin(a))"
[contact.slope]
keep     = "y >= R"
body     = { position = ["x", "y"], angle = "phi", point = ["x", "y - R"] }
friction = "mu"
[start]
position = { x = 0, y = "R", phi = 0 }
[run]
scheme = "moreau"
step   = 0.001
until  = 1
)toml";
  const Inspection rolls = inspect_start(text);
  ASSERT_TRUE(rolls.ok());
  EXPECT_EQ(rolls.active[0].standing, Standing::Sticking);
  EXPECT_NEAR(rolls.acceleration[0], 10.0 * std::sin(0.4) * 2.0 / 3.0, 1e-11);
  EXPECT_NEAR(std::abs(rolls.active[0].friction[0]), 10.0 * std::sin(0.4), 1e-11);
  const Inspection slides = inspect_start(text, {"system.parameters.mu=0.1"});
  EXPECT_EQ(slides.active[0].standing, Standing::Sliding);
  EXPECT_NEAR(slides.acceleration[0], 10.0 * (std::sin(0.4) - 0.1 * std::cos(0.4)), 1e-11);
}

TEST(InspectFriction, FrictionOfABoundAndOnAWire) {
  const Inspection bound = inspect_start(R"toml(
[system]
coordinates = ["x"]
mass        = [2]
force       = ["3"]
[friction.guide]
slip  = "x'"
bound = 2
[start]
position = { x = 0 }
[run]
step  = 0.001
until = 1
)toml");
  ASSERT_TRUE(bound.ok());
  EXPECT_NEAR(bound.acceleration[0], 0.5, 1e-12);
  const Inspection ring = inspect_start(R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
[hold.wire]
zero = "sqrt(x^2 + y^2) - 2"
[friction.rough]
hold     = "wire"
slip     = "(x*y' - y*x')/sqrt(x^2 + y^2)"
friction = 0.25
[start]
position = { x = 2, y = 0 }
velocity = { y = 4 }
[run]
step  = 0.001
until = 1
)toml");
  ASSERT_TRUE(ring.ok());
  EXPECT_NEAR(ring.acceleration[0], -8.0, 1e-11);  // v^2/R
  EXPECT_NEAR(ring.acceleration[1], -2.0, 1e-11);  // mu v^2/R
}

const std::string kPendulum = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "9.81*y"
[hold.rod]
zero = "x^2 + y^2 - 1"
[start]
position = { x = 1, y = 0 }
[run]
scheme = "event-driven"
step   = 0.05
until  = 3
)toml";

/// theta'' = -g sin(theta) from the horizontal, by the classical Runge-Kutta method.
std::pair<double, double> swing(double angle, double rate, double time) {
  const int steps = 40000;
  const double k = time / steps;
  const auto f = [](double a) { return -9.81 * std::sin(a); };
  for (int i = 0; i < steps; ++i) {
    const double a1 = rate, b1 = f(angle);
    const double a2 = rate + 0.5 * k * b1, b2 = f(angle + 0.5 * k * a1);
    const double a3 = rate + 0.5 * k * b2, b3 = f(angle + 0.5 * k * a2);
    const double a4 = rate + k * b3, b4 = f(angle + k * a3);
    angle += k / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    rate += k / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
  }
  return {angle, rate};
}

TEST(EventDrivenJoints, APendulum) {
  const study::Motion motion = run_text(kPendulum);
  ASSERT_EQ(motion.outcome.certificate.failure, certify::Failure::None);
  const auto [angle, rate] = swing(M_PI / 2.0, 0.0, 3.0);
  EXPECT_NEAR(motion.final_state.q[0], std::sin(angle), 1e-7);
  EXPECT_NEAR(motion.final_state.q[1], -std::cos(angle), 1e-7);
  for (const study::Row& row : motion.rows) {
    EXPECT_NEAR(std::hypot(row.q[0], row.q[1]), 1.0, 1e-10);
    EXPECT_NEAR(row.kinetic + row.potential, 0.0, 1e-7);
  }
}

/// It strikes a wall below its pivot: the rod leaves it only its velocity along the circle, which
/// is turned round with e.
TEST(EventDrivenJoints, APendulumAndAWall) {
  std::string text = kPendulum;
  text += "[contact.wall]\nkeep = \"x >= 0\"\nrestitution = 0.5\n";
  const study::Motion motion = run_text(text, {"run.until=1"});
  ASSERT_EQ(motion.outcome.certificate.failure, certify::Failure::None);
  ASSERT_EQ(motion.outcome.certificate.shocks.size(), 1U);
  double low = 0.0, high = 1.0;  // when the bottom is met
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (swing(M_PI / 2.0, 0.0, middle).first > 0.0 ? low : high) = middle;
  }
  EXPECT_NEAR(motion.outcome.certificate.shocks[0].t, low, 1e-8);
  const auto [angle, rate] = swing(0.0, 0.5 * std::sqrt(2.0 * 9.81), 1.0 - low);
  EXPECT_NEAR(motion.final_state.q[0], std::sin(angle), 1e-7);
  EXPECT_NEAR(motion.final_state.q.norm(), 1.0, 1e-10);
}

}  // namespace
}  // namespace ricochet::inspect_friction_test
