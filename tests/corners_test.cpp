// Sharp corners that pass the ends of faces, seams and other corners are not struck by them, nobody
// passes through a thin wall unseen, and pushes without a touch are told.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"

namespace ricochet::step::corners_test {
namespace {

template <int D>
struct Ran {
  body::Motion<D> a;  // the first two bodies, at the end
  body::Motion<D> b;
  certify::Failure failure;
  certify::BodyStatistics told;
};

template <int D>
Ran<D> run_text(const std::string& text) {
  const scene::Scene scene = scene::read_scene("corners.toml", text);
  const body::World<D>* world = nullptr;
  if constexpr (D == 2) world = scene.world()->plane.get();
  if constexpr (D == 3) world = scene.world()->space.get();
  body::WorldState<D> state = start_of(*world, 0.0);
  certify::BodyStatistics told;
  const Outcome outcome = run_bodies<D>(
      *world, scene.run, state, [](const auto&) { return true; }, nullptr, told);
  return {state.bodies[0], state.bodies[1], outcome.certificate.failure, told};
}

/// A world without friction, gravity (gx, ..., gy).
template <int D = 2>
Ran<D> run(const std::string& bodies, double g, double h, double until, double restitution = 0.0,
           double aside = 0.0) {
  const std::string text =
      fmt::format(R"(
[world]
dimension = {}
gravity   = [{}, {}{}]
[pair]
default = {{ friction = 0, restitution = {} }}
{}
[run]
step  = {}
until = {}
)",
                  D, aside, D == 2 ? "" : "0, ", -g, restitution, bodies, h, until);
  return run_text<D>(text);
}

/// A square on its tip slides off a table: from there on it falls, and does not turn.
TEST(Corners, ATipThatLeavesATableIsNotStruck) {
  for (const double h : {1e-3, 2.5e-4}) {
    const Ran<2> found = run(R"(
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
    const Ran<2> found = run(fmt::format(R"(
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
  const Ran<2> found = run(R"(
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

/// From one block to the next of a flat floor, wherever the seam is met and however the floor is
/// turned: the speed stays.
TEST(Corners, AFlushSeamIsNoStep) {
  for (const double turn : {0.0, 0.3, -0.7}) {
    for (const double from : {-0.4, -0.41234567}) {
      const Ran<2> found = run(fmt::format(R"toml(
[body.a]
box      = [0.1, 0.1]
at       = ["{1}*cos({0}) - 0.05*sin({0})", "{1}*sin({0}) + 0.05*cos({0})"]
angle    = {0}
mass     = 1
velocity = ["cos({0})", "sin({0})"]
[body.floor]
for   = "i in 0..7"
fixed = true
box   = [0.3, 1]
at    = ["(0.3*i - 0.9)*cos({0}) + 0.5*sin({0})", "(0.3*i - 0.9)*sin({0}) - 0.5*cos({0})"]
angle = {0}
)toml",
                                           turn, from),
                               9.81 * std::cos(turn), 1e-3, 0.8, 0.0, 9.81 * std::sin(turn));
      EXPECT_EQ(found.failure, certify::Failure::None);
      EXPECT_NEAR(found.a.v.norm(), 1.0, 1e-8) << turn << " " << from;
      EXPECT_NEAR(found.a.spin, 0.0, 1e-8) << turn << " " << from;
    }
  }
}

/// The same of blocks of one body, and in space, where edges cross at the ends of edges too.
TEST(Corners, SeamsOfOneBodyAndInSpace) {
  const Ran<2> one = run(R"(
[body.a]
box      = [0.1, 0.1]
at       = [-0.4, 0.05]
mass     = 1
velocity = [1, 0]
[body.floor]
fixed  = true
shapes = [{ box = [1, 1], at = [-0.5, -0.5] }, { box = [0.2, 0.7], at = [0.1, -0.35] },
          { box = [1, 1], at = [0.7, -0.5] }]
)",
                         9.81, 1e-3, 0.8);
  EXPECT_EQ(one.failure, certify::Failure::None);
  EXPECT_NEAR(one.a.v[0], 1.0, 1e-9);
  for (const double aside : {0.0, 0.3}) {  // along the seam
    const Ran<3> found = run<3>(fmt::format(R"(
[body.a]
box      = [0.1, 0.1, 0.1]
at       = [-0.4, 0.013, 0.05]
mass     = 1
velocity = [1, {}, 0]
[body.one]
fixed = true
box   = [1, 1, 1]
at    = [-0.5, 0, -0.5]
[body.other]
fixed = true
box   = [1, 1, 1]
at    = [0.5, 0, -0.5]
)",
                                            aside),
                                9.81, 1e-3, 0.8);
    EXPECT_EQ(found.failure, certify::Failure::None);
    EXPECT_NEAR(found.a.v[0], 1.0, 1e-9);
    EXPECT_NEAR(found.a.v[1], aside, 1e-9);
    EXPECT_NEAR(found.a.spin.norm(), 0.0, 1e-8);
  }
}

/// Boxes that lie flush on each other still hold: a tower of equal ones, a row beside it.
TEST(Corners, FlushStacksStand) {
  const Ran<2> found = run(R"(
[body.stone]
for  = "i in 0..2, j in 0..2"
box  = [0.2, 0.1]
at   = ["0.2*i", "0.1*j + 0.05"]
mass = 1
[body.ground]
fixed = true
box   = [0.6, 1]
at    = [0.2, -0.5]
)",
                           9.81, 1e-3, 0.2);
  EXPECT_EQ(found.failure, certify::Failure::None);
  EXPECT_NEAR(found.a.x[1], 0.05, 1e-9);
  EXPECT_NEAR(found.a.v.norm(), 0.0, 1e-9);
}

/// A tip or a point that comes down on the peak of a chain, a tip on the seam of two blocks, is
/// held: by symmetry it stays above it, and rests. A point may slip between two blocks, by
/// rounding.
TEST(Corners, WhatFallsOnAPeakOrASeamIsHeld) {
  const std::string peak = "chain = [[-1, -1], [0, 0], [1, -1]]";
  const std::string seam =
      "shapes = [{ box = [1, 1], at = [-0.5, -0.5] }, { box = [1, 1], at = [0.5, -0.5] }]";
  const std::string tip = "polygon = [[0, 0], [0.05, 0.2], [-0.05, 0.2]]";
  const std::string point = "point = [0, 0]";
  for (const auto& [shape, ground] :
       {std::pair(tip, peak), std::pair(point, peak), std::pair(tip, seam)}) {
    for (const double height : {0.0, 0.05}) {
      const Ran<2> found = run(fmt::format(R"(
[body.a]
{}
at      = [0, {}]
mass    = 1
inertia = 1
[body.ground]
fixed = true
{}
)",
                                           shape, height, ground),
                               9.81, 1e-3, 0.3);
      EXPECT_EQ(found.failure, certify::Failure::None) << shape;
      EXPECT_NEAR(found.a.v.norm(), 0.0, 1e-12) << shape << " on " << ground;
      EXPECT_GT(found.told.pushes_mean, 0.5) << shape << " on " << ground;
    }
  }
}

/// A tip that slides along a chain and over where it bends down, or ends, falls freely from there.
TEST(Corners, ATipThatLeavesAChainIsNotStruck) {
  for (const char* chain : {"[[-2, 0], [-0.1, 0], [0, 0], [1, -2]]", "[[-2, 0], [0, 0]]",
                            "[[-2, 0], [0, 0], [1, -1], [1, -2]]"}) {
    const Ran<2> found = run(fmt::format(R"(
[body.a]
polygon  = [[0, 0], [0.2, 0.15], [0, 0.4], [-0.2, 0.15]]
at       = [-0.3, 0]
mass     = 1
velocity = [1, 0]
[body.floor]
fixed = true
chain = {}
)",
                                         chain),
                             9.81, 1e-3, 0.4);
    EXPECT_EQ(found.failure, certify::Failure::None);
    EXPECT_NEAR(found.a.v[0], 1.0, 1e-12) << chain;
    EXPECT_NEAR(found.a.v[1], -9.81 * 0.1, 9.81 * 1e-3) << chain;
    EXPECT_NEAR(found.a.spin, 0.0, 1e-12) << chain;
  }
}

/// Balls and rods do not feel the inner edges of a flat surface.
TEST(Corners, InnerEdgesOfAFlatFloor) {
  const std::string row = "[0, 0, 0, 0, 0, 0, 0, 0, 0]";
  for (const char* shape : {"sphere = 0.05", "capsule = [[-0.1, 0, 0], [0.1, 0, 0], 0.05]",
                            "capsule = [[-0.1, 0.03, 0], [0.1, -0.03, 0], 0.05]"}) {
    const Ran<3> found = run<3>(fmt::format(R"(
[body.a]
{}
at       = [0.31, 0.37, 0.05]
mass     = 1
velocity = [1, 0.3, 0]
[body.floor]
fixed       = true
heightfield = {{ spacing = [0.2, 0.2], heights = [{}, {}, {}, {}, {}] }}
)",
                                            shape, row, row, row, row, row),
                                9.81, 1e-3, 0.8);
    EXPECT_EQ(found.failure, certify::Failure::None);
    EXPECT_NEAR(found.a.v[0], 1.0, 1e-10) << shape;
    EXPECT_NEAR(found.a.v[1], 0.3, 1e-10) << shape;
  }
}

/// Two discs that miss each other by 0.3, 1 a step: they push, and that is told. With steps as
/// short as the run asks for they keep what they have.
TEST(Corners, PushesWithoutATouchAreTold) {
  const std::string discs = R"(
[body.a]
disc     = 0.1
mass     = 1
at       = [-50.2, 0.5]
velocity = [1000, 0]
[body.b]
disc = 0.1
mass = 1
)";
  const Ran<2> found = run(discs, 0.0, 1e-3, 0.1);
  EXPECT_EQ(found.told.ghosts, 1);
  EXPECT_GT(found.told.ghost_gap, 3.0);  // 0.3 of a disc of 0.1
  EXPECT_GT(found.told.ghost_share, 0.01);
  ASSERT_GT(found.told.ghost_step, 1e-6);
  const Ran<2> fine = run(discs, 0.0, 1e-5, 0.06);
  EXPECT_LE(1e-5, 1.01 * found.told.ghost_step);
  EXPECT_EQ(fine.told.ghosts, 0);
  EXPECT_EQ(fine.b.v.norm(), 0.0);
}

/// Discs that do hit are no ghosts, whatever the step.
TEST(Corners, HitsAreNoGhosts) {
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    const Ran<2> found = run(R"(
[body.a]
disc     = 0.1
mass     = 1
at       = [-1, 0.05]
velocity = [3, 0]
[body.b]
disc = 0.1
mass = 1
)",
                             0.0, h, 0.5);
    EXPECT_EQ(found.told.ghosts, 0) << h;
    EXPECT_GT(found.b.v[0], 1.0);
  }
}

/// A disc on a plane that turns about a point far from it. Along the plane s'' = w^2 s, from
/// s = 1, s' = w r: it lies on the plane at rest.
TEST(Corners, ATurningHalfPlaneReachesFar) {
  const double w = 0.1;
  const double r = 0.1;
  const Ran<2> found = run(R"(
[body.a]
disc = 0.1
mass = 1
at   = [1, 0.1]
[body.w]
driven     = { position = [0, 0], angle = "0.1*t" }
half_plane = { point = [0, 0], normal = [0, 1] }
)",
                           0.0, 1e-3, 1.0);
  const double s = std::cosh(w) + r * std::sinh(w);
  EXPECT_EQ(found.failure, certify::Failure::None);
  EXPECT_NEAR(found.a.x[0], s * std::cos(w) - r * std::sin(w), 1e-3);
  EXPECT_NEAR(found.a.x[1], s * std::sin(w) + r * std::cos(w), 1e-3);
}

/// Two squares that meet corner to corner do not go through each other. One impulse along the
/// normal of a side, at the tip: U/W with W = 1/m + (0.1/sqrt 2)^2/I, I = m/300, takes a fifth of
/// v.
TEST(Corners, TwoThatMeetHeadOnGlideOff) {
  const Ran<2> found = run(R"(
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
    const Ran<2> found = run(fmt::format(R"(
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

/// A box falls flat on a plateau of a chain that is as wide as itself, its corners over the bends:
/// as on a floor without end, also while it is inside by what it moves in a step.
TEST(Corners, AChainThrowsBackABoxAsWideAsItsPlateau) {
  const std::string box = R"(
[body.a]
box  = [0.4, 0.1]
mass = 1
at   = [0, 0.1]
)";
  const std::string chain = R"(
[body.g]
fixed = true
chain = [[-0.4, -0.3], [-0.2, -0.1], [0.2, -0.1], [0.4, -0.2]]
)";
  const std::string floor = R"(
[body.g]
fixed      = true
half_plane = { point = [0, -0.1], normal = [0, 1] }
)";
  for (const double h : {1e-3, 3e-4}) {
    const Ran<2> found = run(box + chain, 9.81, h, 0.6, 0.5);
    const Ran<2> wanted = run(box + floor, 9.81, h, 0.6, 0.5);
    EXPECT_EQ(found.failure, certify::Failure::None) << h;
    EXPECT_NEAR(found.a.x[1], wanted.a.x[1], 1e-9) << h;
    EXPECT_NEAR(found.a.v[1], wanted.a.v[1], 1e-9) << h;
    EXPECT_NEAR(found.a.spin, 0.0, 1e-9) << h;
  }
}

/// A box slides against a step of a chain that is as high as itself, and comes back half as fast.
TEST(Corners, AStepAsHighAsTheBoxThrowsItBack) {
  const Ran<2> found = run(R"(
[body.a]
box      = [0.2, 0.2]
mass     = 1
at       = [0.4, 0.1]
velocity = [-2, 0]
[body.g]
fixed = true
chain = [[-1, 0.2], [0, 0.2], [0, 0], [1, 0]]
)",
                           9.81, 1e-3, 0.3, 0.5);
  EXPECT_EQ(found.failure, certify::Failure::None);
  EXPECT_NEAR(found.a.v[0], 1.0, 1e-9);
  EXPECT_NEAR(found.a.v[1], 0.0, 1e-9);
  EXPECT_NEAR(found.a.spin, 0.0, 1e-9);
}

/// A point slides down the face of a roof near the origin, where places round by less than the roof
/// does: 45 degrees without friction, g/2 across and down.
TEST(Corners, APointSlidesDownARoofAtTheOrigin) {
  const Ran<3> found = run<3>(R"(
[body.a]
point   = [0, 0, 0]
mass    = 1
inertia = [1, 1, 1]
at      = [-1e-4, 3e-7, -1e-4]
[body.g]
fixed    = true
polytope = [[-0.1, -0.2, -0.1], [0.1, -0.2, -0.1], [0, -0.2, 0],
            [-0.1, 0.2, -0.1], [0.1, 0.2, -0.1], [0, 0.2, 0]]
)",
                              9.81, 1e-3, 0.1);
  EXPECT_EQ(found.failure, certify::Failure::None);
  EXPECT_NEAR(found.a.v[0], -0.4905, 1e-9);
  EXPECT_NEAR(found.a.v[2], -0.4905, 1e-9);
}

/// Two floors side by side, one of which throws back: struck at the same time, Newton's law of
/// both, 0 <= p ⟂ U+ + eU >= 0, has the whole e = 0.8 in the rebound, and the row at the seam alone
/// pushes.
TEST(Corners, FloorsOfWhichOneThrowsBackActTogether) {
  constexpr double kG = 9.81;
  constexpr double kUntil = 0.3;
  const double speed = std::sqrt(2.0 * kG * 0.2);
  const double after = kUntil - speed / kG;
  const double v = 0.8 * speed - kG * after;
  const double y = 0.1 + 0.8 * speed * after - 0.5 * kG * after * after;
  for (const bool is_box : {true, false}) {
    for (const double h : {1e-3, 9e-4, 5e-4, 3e-4, 2.3e-4, 1e-4, 5e-5}) {
      const std::string text = fmt::format(R"(
[world]
dimension = 2
gravity   = [0, -9.81]
[material]
s = {{}}
p = {{}}
q = {{}}
[pair]
"s p" = {{ restitution = 0 }}
"s q" = {{ restitution = 0.8 }}
"p q" = "none"
[body.a]
{}
mass     = 1
at       = [0, 0.3]
material = "s"
[body.l]
fixed    = true
box      = [1, 1]
at       = [{}, -0.5]
material = "p"
[body.r]
fixed    = true
box      = [1, 1]
at       = [{}, -0.5]
material = "q"
[run]
step  = {}
until = {}
)",
                                           is_box ? "box = [0.4, 0.2]" : "disc = 0.1",
                                           is_box ? -0.5 : 0.0, is_box ? 0.5 : 0.0, h, kUntil);
      const Ran<2> found = run_text<2>(text);
      EXPECT_EQ(found.failure, certify::Failure::None) << h;
      EXPECT_NEAR(found.a.x[1], y, 3.0 * h * speed) << h;
      EXPECT_NEAR(found.a.v[1], v, 3.0 * h * kG) << h;
      EXPECT_NEAR(found.a.spin, 0.0, 1e-9) << h;
    }
  }
}

/// A box is dropped on a slope of 0.3 that holds it, tan 0.3 < mu, and comes to rest in spite of
/// e = 0.5: T is 0, and it slides no farther than what it fell by.
TEST(Corners, WhatBouncesOnASlopeComesToRest) {
  for (const double h : {1e-3, 2.5e-4}) {
    const std::string text = fmt::format(R"toml(
[world]
dimension  = 2
gravity    = [0, -9.81]
parameters = {{ s = 0.3, up = 0.051 }}
[pair]
default = {{ friction = 0.6, restitution = 0.5 }}
[body.a]
box   = [0.1, 0.1]
mass  = 1
at    = ["-up*sin(s)", "up*cos(s)"]
angle = "s"
[body.g]
fixed      = true
half_plane = {{ point = [0, 0], normal = ["-sin(s)", "cos(s)"] }}
[run]
step  = {}
until = 5
)toml",
                                         h);
    const Ran<2> found = run_text<2>(text);
    EXPECT_EQ(found.failure, certify::Failure::None) << h;
    EXPECT_LT(found.a.v.norm(), 1e-12) << h;
    EXPECT_LT(std::hypot(found.a.x[0] + 0.05 * std::sin(0.3), found.a.x[1] - 0.05 * std::cos(0.3)),
              2e-3)
        << h;
  }
}

/// A cylinder falls flat by 0.2 on a floor, away from the origin: it rebounds at 0.8 of its speed.
TEST(Corners, AFlatCylinderIsThrownBackWhereverItIs) {
  constexpr double kG = 9.81;
  const double speed = std::sqrt(2.0 * kG * 0.2);
  const double after = 0.3 - speed / kG;
  const Ran<3> found = run<3>(R"(
[body.a]
cylinder = [0.2, 0.2]
mass     = 1
at       = [0.4, 0.1, 0.3]
[body.g]
fixed      = true
half_space = { point = [0, 0, 0], normal = [0, 0, 1] }
)",
                              kG, 1e-4, 0.3, 0.8);
  EXPECT_EQ(found.failure, certify::Failure::None);
  EXPECT_NEAR(found.a.v[2], 0.8 * speed - kG * after, 3e-3);
  EXPECT_NEAR(found.a.spin.norm(), 0.0, 1e-9);
}

/// A disc that slides fast on a floor with e = 0.5, which it touches now and then, is held by a
/// thin wall with e = 0.
TEST(Corners, ADiscThatBouncesDoesNotPassAWallThatDoesNotThrowBack) {
  for (int k = 0; k < 20; ++k) {
    const std::string text = fmt::format(R"(
[world]
dimension = 2
gravity   = [0, -9.81]
[material]
s = {{}}
w = {{}}
f = {{}}
[pair]
"s w" = {{ restitution = 0 }}
"s f" = {{ restitution = 0.5 }}
"w f" = "none"
[body.a]
disc     = 0.01
mass     = 1
at       = [0, {}]
velocity = [30, 0]
material = "s"
[body.w]
fixed    = true
box      = [0.02, 2]
at       = [1, 0]
material = "w"
[body.f]
fixed      = true
half_plane = {{ point = [0, 0], normal = [0, 1] }}
material   = "f"
[run]
step  = 0.001
until = 0.06
)",
                                         0.0101 + 1e-4 * k);
    const Ran<2> found = run_text<2>(text);
    const bool is_held = found.a.x[0] < 1.0;
    EXPECT_TRUE(is_held || found.failure == certify::Failure::PassedThrough) << k;
  }
}

}  // namespace
}  // namespace ricochet::step::corners_test
