// Sharp corners that pass the ends of faces and other corners are not struck by them, and nobody
// passes through a thin wall unseen.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"

namespace ricochet::step::corners_test {
namespace {

struct Ran {
  body::Motion<2> a;  // the first body, at the end
  certify::Failure failure;
};

/// A world in the plane without friction, gravity g.
Ran run(const std::string& bodies, double g, double h, double until, double restitution = 0.0) {
  const std::string text = fmt::format(R"(
[world]
dimension = 2
gravity   = [0, {}]
[pair]
default = {{ friction = 0, restitution = {} }}
{}
[run]
step  = {}
until = {}
)",
                                       -g, restitution, bodies, h, until);
  const scene::Scene scene = scene::read_scene("corners.toml", text);
  const body::World<2>& world = *scene.world()->plane;
  body::WorldState<2> state = start_of(world, 0.0);
  certify::BodyStatistics told;
  const Outcome outcome = run_bodies<2>(
      world, scene.run, state, [](const auto&) { return true; }, nullptr, told);
  return {state.bodies[0], outcome.certificate.failure};
}

/// A square on its tip slides off a table: from there on it falls, and does not turn.
TEST(Corners, ATipThatLeavesATableIsNotStruck) {
  for (const double h : {1e-3, 2.5e-4}) {
    const Ran found = run(R"(
[body.a]
polygon  = [[0, -0.2], [0.2, 0], [0, 0.2], [-0.2, 0]]
at       = [-0.3, 0.2]
mass     = 1
velocity = [1, 0]
[body.table]
fixed = true
box   = [2, 1]
at    = [-1, -0.5]
)",
                          9.81, h, 0.4);
    EXPECT_EQ(found.failure, certify::Failure::None);
    EXPECT_NEAR(found.a.v[0], 1.0, 1e-12);
    EXPECT_NEAR(found.a.v[1], -9.81 * 0.1, 9.81 * h);
    EXPECT_NEAR(found.a.spin, 0.0, 1e-12);
  }
}

/// A box slides from a block on the next one, which is a little lower: it has nothing to run into.
TEST(Corners, ALowerBlockIsNoStep) {
  for (const double lower : {1e-3, 1e-6}) {
    const Ran found = run(fmt::format(R"(
[body.a]
box      = [0.1, 0.1]
at       = [-0.4, 0.05]
mass     = 1
velocity = [1, 0]
[body.one]
fixed = true
box   = [1, 1]
at    = [-0.5, -0.5]
[body.other]
fixed = true
box   = [1, 1]
at    = [0.5, {}]
)",
                                      -0.5 - lower),
                          9.81, 1e-3, 0.4);
    EXPECT_EQ(found.failure, certify::Failure::None);
    EXPECT_NEAR(found.a.v[0], 1.0, 1e-9) << lower;
  }
}

/// A box flies by above a corner, several of its distances in one step.
TEST(Corners, WhoFliesByIsNotHindered) {
  const Ran found = run(R"(
[body.a]
box      = [0.2, 0.2]
at       = [-0.3, 0.101]
mass     = 1
velocity = [3, 0]
[body.block]
fixed = true
box   = [1, 1]
at    = [0.5, -0.5]
)",
                        0.0, 1e-3, 0.2);
  EXPECT_EQ(found.failure, certify::Failure::None);
  EXPECT_EQ(found.a.v[0], 3.0);
  EXPECT_EQ(found.a.spin, 0.0);
}

/// Two squares that meet corner to corner do not go through each other. One impulse along the
/// normal of a side, at the tip: U/W with W = 1/m + (0.1/sqrt 2)^2/I, I = m/300, takes a fifth of
/// v.
TEST(Corners, TwoThatMeetHeadOnGlideOff) {
  const Ran found = run(R"(
[body.a]
polygon  = [[0, -0.1], [0.1, 0], [0, 0.1], [-0.1, 0]]
at       = [-0.3, 0]
mass     = 1
velocity = [1, 0]
[body.block]
fixed   = true
polygon = [[0, -0.1], [0.1, 0], [0, 0.1], [-0.1, 0]]
)",
                        0.0, 1e-3, 0.3);
  EXPECT_EQ(found.failure, certify::Failure::None);
  EXPECT_GE(found.a.x.lpNorm<1>(), 0.2 - 1e-8);  // they do not overlap
  EXPECT_LE(found.a.v[0], 0.8 + 1e-9);
}

/// 1 m in a step, through a wall of 1 cm: told, at whatever place of the step.
TEST(Corners, ABulletIsSeen) {
  for (int k = 0; k < 10; ++k) {
    const Ran found = run(fmt::format(R"(
[body.a]
disc     = 0.01
at       = [{}, 0]
mass     = 1
velocity = [997, 0]
[body.wall]
fixed   = true
capsule = [[0, -1], [0, 1], 0.005]
)",
                                      -10.0 - 0.0937 * k),
                          0.0, 1e-3, 0.03, 0.5);
    EXPECT_EQ(found.failure, certify::Failure::PassedThrough) << k;
  }
}

}  // namespace
}  // namespace ricochet::step::corners_test
