// Levels of the certificate of bodies: piles that run, and what each level refuses.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "body_step.h"
#include "ricochet/base/error.h"
#include "ricochet/base/index.h"
#include "ricochet/scene/scene.h"
#include "ricochet/shape/gaps.h"
#include "ricochet/study/motion.h"
#include "ricochet/study/run_world.h"

namespace ricochet::testing::levels_test {
namespace {

using base::index;
using certify::Failure;
using certify::Level;

const std::string kBox = R"toml(
[world]
dimension = 2
gravity   = [0, -10]
[material.wood]
density = 2
[pair]
default = { friction = 0.5 }
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[body.box]
box      = [1, 1]
at       = [0, 0.5]
material = "wood"
[run]
step  = 0.001
until = 0.1
)toml";

const std::string kPile = R"toml(
[world]
dimension = 2
gravity   = [0, -10]
[material.glass]
density = 5
[pair]
default = { friction = 0.5 }
[fill.grain]
shape    = "disc"
radius   = { uniform = [0.007, 0.01] }
count    = 40
inside   = { box = [[-0.06, 0], [0.06, 0.25]] }
pattern  = "random"
seed     = 3
material = "glass"
[body.box]
fixed  = true
shapes = [{ half_plane = { point = [0, 0], normal = [0, 1] } },
          { half_plane = { point = [-0.06, 0], normal = [1, 0] } },
          { half_plane = { point = [0.06, 0], normal = [-1, 0] } }]
[watch.load]
force_on = "box"
[run]
step   = 0.001
until  = 1.5
record = 1
)toml";

study::Motion run_text(const std::string& text) {
  return study::run_scene(scene::read_scene("levels.toml", text), false);
}

std::string fault_of(const std::string& text) {
  try {
    (void)scene::read_scene("levels.toml", text);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

std::string with_run(const std::string& text, const std::string& line) {
  return changed(text, "[run]\n", "[run]\n" + line + "\n");
}

TEST(Levels, AreStatedInWordsOrByOneNumber) {
  const auto limits = [](const std::string& line) {
    return scene::read_scene("levels.toml", with_run(kBox, line)).run.limits;
  };
  EXPECT_EQ(limits("level = \"tight\"").least, Level::Tight);
  EXPECT_EQ(limits("tolerance = { speed = 1e-5 }").least, Level::Bounded);
  EXPECT_EQ(limits("tolerance = { speed = 1e-5 }").speed, 1e-5);
  EXPECT_EQ(limits("tolerance = { meeting = 1e-3 }").least, Level::Bounded);
  EXPECT_EQ(limits("tolerance = { meeting = 1e-3 }").creep_part(), 1e-3);
  EXPECT_EQ(limits("level = \"bounded\"").creep_part(), 1e-4);
  EXPECT_NE(fault_of(with_run(kBox, "tolerance = { meeting = 0.1 }")).find("0.01 at most"),
            std::string::npos);
  EXPECT_EQ(limits("tolerance = { residual = 1e-8 }").least, Level::Exact);
  EXPECT_EQ(limits("tolerance = { residual = 1e-8 }").residual, 1e-8);
  EXPECT_EQ(limits("residual_limit = 1e-8").least, Level::Exact);
  EXPECT_NE(fault_of(with_run(kBox, "level = \"soft\"")).find("is not known"), std::string::npos);
  EXPECT_NE(fault_of(with_run(kBox, "tolerance = { speed = 1, residual = 1 }")).find("one number"),
            std::string::npos);
  EXPECT_NE(fault_of(with_run(kBox, "level = \"exact\"\ntolerance = { speed = 1e-5 }"))
                .find("another level"),
            std::string::npos);
}

/// A box that rests, the first body after the floor, said to slide at `speed` by friction that is
/// admissible: all balances hold.
Failure verdict_of_sliding(const std::string& text, double speed,
                           const std::optional<body::Push<2>>& besides = std::nullopt) {
  BodyStep<2> one(text);
  EXPECT_GE(one.claim.pushes.size(), 2U);  // the first two are those of its corners
  if (besides) one.claim.pushes.push_back(*besides);
  const double h = 0.001;
  const double given = one.world.body(1).mass * speed;
  one.after.bodies[1].v[0] = speed;
  one.after.bodies[1].x[0] = 0.5 * h * speed;
  Failure found = Failure::Balance;
  const auto claim = one.claim;
  for (const double side : {1.0, -1.0}) {  // which of the corners is the left one
    one.claim = claim;
    one.claim.pushes[0].impulse += body::Vec<2>(0.5 * side * given, -0.5 * given);
    one.claim.pushes[1].impulse += body::Vec<2>(-0.5 * side * given, -0.5 * given);
    const Failure verdict = one.verdict();
    if (verdict != Failure::Balance) found = verdict;
  }
  return found;
}

Failure verdict_of_creep(const std::string& level, double speed) {
  return verdict_of_sliding(with_run(kBox, "level = \"" + level + "\""), speed);
}

/// A ball that strikes the floor at 100 m/s in the first step.
const std::string kBall = R"toml(
[body.ball]
disc     = 0.5
at       = [50, 0.56]
velocity = [0, -100]
material = "wood"
[run]
level = "bounded"
)toml";

/// The ball, said to be pushed by so much too much that it ends `speed` too fast.
Failure verdict_of_striking(const std::string& text, double speed) {
  BodyStep<2> one(text);
  EXPECT_EQ(one.claim.pushes.size(), 3U);
  one.claim.pushes[2].impulse[0] += one.world.body(2).mass * speed;
  one.after.bodies[2].v[1] += speed;
  one.after.bodies[2].x[1] += 0.5 * 0.001 * speed;
  return one.verdict();
}

/// Near its limit an arch stands at any level: least thickness of 27 stones 0.10672 (limit analysis
/// of the same polygons), here 0.1068.
TEST(Levels, WhatTheExactLawHoldsDoesNotFallAtALowerOne) {
  const std::string arch = R"toml(
[world]
dimension  = 2
gravity    = [0, -9.81]
parameters = { N = 27, R = 1, d = 0.1068 }
[material.stone]
density = 2000
[pair]
default = { friction = 0.7 }
[body.stone]
for      = "i in 1..N"
with     = { a = "pi*(i-1)/N", b = "pi*i/N" }
polygon  = [["(R-d/2)*cos(a)", "(R-d/2)*sin(a)"], ["(R+d/2)*cos(a)", "(R+d/2)*sin(a)"],
            ["(R+d/2)*cos(b)", "(R+d/2)*sin(b)"], ["(R-d/2)*cos(b)", "(R-d/2)*sin(b)"]]
vertices = "world"
material = "stone"
[body.ground]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[watch.drift]
displacement = "stone"
[run]
step  = 0.001
until = 0.3
)toml";
  for (const char* level : {"bounded", "tight", "exact"}) {
    const study::Motion motion = run_text(with_run(arch, fmt::format("level = \"{}\"", level)));
    ASSERT_TRUE(motion.outcome.certificate.ok()) << level;
    EXPECT_LT(motion.world->watches[0].second, 1e-9) << level;
    EXPECT_EQ(motion.world->told.left_rest, 0) << level;
  }
}

/// Bricks of friction 0.3 on a slope of 0.997 of it: the exact law holds them, with 196 rows for 90
/// freedoms, and no lower one is asked for.
TEST(Levels, AWallNearTheLimitOfItsFrictionStandsExactly) {
  const study::Motion motion = run_text(R"toml(
[world]
dimension  = 2
parameters = { w = 0.2, b = 0.1, mu = 0.3, a = "atan(0.997*mu)" }
gravity    = ["9.81*sin(a)", "-9.81*cos(a)"]
[material.brick]
density = 1800
[pair]
default = { friction = "mu" }
[body.brick]
for      = "j in 1..6, i in 1..5"
box      = ["w", "b"]
at       = ["w*(i + 0.25*(1 - cos(pi*j)))", "b*(j - 0.5)"]
material = "brick"
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[watch.drift]
displacement = "brick"
[run]
step  = 0.001
until = 0.05
)toml");
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.world->told.law, Level::Exact);
  EXPECT_LT(motion.world->watches[0].second, 1e-12);
}

/// A box that crept in a bounded step, and then slides: whether it would have stood is not decided.
/// The same after a step that is exact is no question.
/// Squares that touch above, below and at their sides: many impulses hold them, and any will do.
TEST(Levels, APyramidWithoutGapsStandsExactly) {
  const study::Motion motion = run_text(R"toml(
[world]
dimension  = 2
gravity    = [0, "-g"]
parameters = { n = 14, s = 0.1, g = 9.81, density = 10 }
[material.wood]
density = "density"
[pair]
default = { friction = 0.5 }
[body.square]
for      = "j in 1..n, i in 1..n-j+1"
box      = ["s", "s"]
at       = ["s*(i + 0.5*j)", "s*(j - 0.5)"]
material = "wood"
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[watch.load]
force_on = "floor"
[watch.drift]
displacement = "square"
[run]
level = "exact"
step  = 0.001
until = 0.01
)toml");
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.world->told.law, Level::Exact);
  const double weight = 105 * 10 * 0.01 * 9.81;
  for (const auto& [name, value] : motion.world->watches) {
    if (name == "drift") {
      EXPECT_LT(value, 1e-10);
    }
    if (name == "load.y") {
      EXPECT_NEAR(value, -weight, 1e-10 * weight);
    }
  }
  EXPECT_GE(motion.world->watches.size(), 3U);
}

TEST(Levels, WhoLeavesRestInABoundedStepIsNamed) {
  const std::string text = changed(with_run(kBox, "level = \"bounded\""), "gravity   = [0, -10]",
                                   "gravity = [\"if(t < 0.001, 0, 100)\", -10]");
  for (const double speed : {0.0, 5e-5}) {
    BodyStep<2> one(text);
    const double h = 0.001;
    const double given = one.world.body(1).mass * speed;
    const auto claim = one.claim;
    one.after.bodies[1].v[0] = speed;
    one.after.bodies[1].x[0] = 0.5 * h * speed;
    bool held = false;
    for (const double side : {1.0, -1.0}) {
      one.claim = claim;
      one.claim.pushes[0].impulse += body::Vec<2>(0.5 * side * given, -0.5 * given);
      one.claim.pushes[1].impulse += body::Vec<2>(-0.5 * side * given, -0.5 * given);
      certify::BodyJudge<2> judge(one.world, one.scene.run.limits, one.before);
      if (!judge.accept(one.before, one.after, h, one.claim)) continue;
      held = true;
      one.after.pushes = one.claim.pushes;
      step::MoreauBodies<2> stepper(one.world, one.scene.run.limits);
      body::WorldState<2> next = one.after;
      for (int k = 2; k <= 3; ++k) {
        next.t = k * h;
        ASSERT_EQ(stepper.advance(one.after, h, next, one.claim).status, problem::Status::Solved);
        ASSERT_TRUE(judge.accept(one.after, next, h, one.claim));
        one.after = next;
      }
      EXPECT_NEAR(next.bodies[1].v[0], speed + 2.0 * (100.0 - 0.5 * 10.0) * h, 1e-12);
      EXPECT_EQ(judge.statistics().left_rest, speed > 0.0 ? 1 : 0);
      EXPECT_EQ(judge.statistics().left_first, speed > 0.0 ? "box" : "");
      break;
    }
    EXPECT_TRUE(held) << speed;
  }
}

TEST(Levels, EachRefusesWhatCreepsFasterThanItAllows) {
  EXPECT_EQ(verdict_of_creep("exact", 0.0), Failure::None);
  EXPECT_EQ(verdict_of_creep("exact", 1e-9), Failure::Residual);
  EXPECT_EQ(verdict_of_creep("tight", 1e-9), Failure::Residual);
  EXPECT_EQ(verdict_of_creep("tight", 1e-11), Failure::None);   // below 1e-8 g h
  EXPECT_EQ(verdict_of_creep("bounded", 5e-5), Failure::None);  // below g h / 100
  EXPECT_EQ(verdict_of_creep("bounded", 5e-4), Failure::Residual);
}

/// g h / 100 = 1e-4 for what rests; 1e-4 of 100 m/s for the ball that meets the floor.
TEST(Levels, EachGroupHasItsOwnLimit) {
  const std::string both = changed(kBox, "[run]\n", kBall);
  EXPECT_EQ(verdict_of_striking(both, 0.0), Failure::None);
  EXPECT_EQ(verdict_of_striking(both, 9e-3), Failure::None);
  EXPECT_EQ(verdict_of_striking(both, 1.1e-2), Failure::Residual);
  EXPECT_EQ(verdict_of_striking(both, -1.1e-2), Failure::Residual);
  // As if there were no ball; |û| is the speed of slip times sqrt(1 + mu^2).
  EXPECT_EQ(verdict_of_sliding(both, 8.9e-5), Failure::None);
  EXPECT_EQ(verdict_of_sliding(both, 9.0e-5), Failure::Residual);
  const std::string stated = changed(both, "level = \"bounded\"", "tolerance = { speed = 1e-4 }");
  EXPECT_EQ(verdict_of_striking(stated, 9e-5), Failure::None);
  EXPECT_EQ(verdict_of_striking(stated, 1.1e-4), Failure::Residual);  // a stated limit is for all
}

/// A push of next to nothing between bodies that are apart does not make one group of them.
TEST(Levels, AClaimDoesNotJoinGroups) {
  const std::string near = changed(changed(kBox, "[run]\n", kBall), "[50, 0.56]", "[1.05, 0.56]");
  EXPECT_EQ(verdict_of_sliding(near, 5e-4), Failure::Residual);
  BodyStep<2> one(near);
  ASSERT_EQ(one.claim.pushes.size(), 3U);
  const auto pose = [&](int b) {
    return body::pose_of(one.world.body(b), one.before.bodies[index(b)]);
  };
  std::vector<shape::Row<2>> found;
  shape::gaps(one.world.solid(1).shape, pose(1), one.world.solid(2).shape, pose(2), 0.1, found);
  ASSERT_FALSE(found.empty());
  one.claim.pushes.push_back({{1, 2, found[0].feature}, body::Vec<2>(1e-30, 0.0)});
  EXPECT_EQ(one.verdict(), Failure::None);  // it is admissible, and moves nothing
  EXPECT_EQ(verdict_of_sliding(near, 5e-4, one.claim.pushes.back()), Failure::Residual);
}

TEST(Levels, AFailureNamesTheLimitOfItsLevel) {
  for (const char* level : {"tight", "bounded"}) {
    BodyStep<2> one(with_run(kBox, fmt::format("level = \"{}\"", level)));
    one.claim.pushes.clear();  // a free fall, which the floor should stop: at 0.01
    one.after.bodies[1].v[1] = -0.01;
    one.after.bodies[1].x[1] = 0.5 - 0.5e-5;
    certify::BodyJudge<2> judge(one.world, one.scene.run.limits, one.before);
    EXPECT_FALSE(judge.accept(one.before, one.after, 0.001, one.claim));
    const std::string broken = judge.statistics().broken;
    const std::string wanted = level[0] == 't' ? "tight allows 1e-06" : "bounded allows 0.0001";
    EXPECT_NE(broken.find(wanted), std::string::npos) << broken;
  }
}

TEST(Levels, FewBodiesMayNotFall) {
  BodyStep<2> one(kBox);
  one.claim.level = Level::Tight;
  EXPECT_EQ(one.verdict(), Failure::Residual);
}

/// Its remedy is told.
TEST(Levels, FewBodiesMayAskForLess) {
  study::Motion motion = study::run_scene(scene::read_scene("box.toml", kBox), true);
  EXPECT_EQ(study::remedy_of_world(motion), "");
  motion.outcome.certificate.failure = Failure::Residual;
  EXPECT_NE(study::remedy_of_world(motion).find("run.level = \"tight\""), std::string::npos);
}

/// With so much friction sweeps for a tight step end beside a solution, and the methods of exact
/// ones do not (`no_solution`).
TEST(Levels, ATightRunTriesTheExactLawToo) {
  const study::Motion motion = study::run_scene(scene::read_scene("discs.toml", R"toml(
[world]
dimension = 2
gravity   = [0, -10]
[material.m]
density = 1
[pair]
default = { friction = 2.5, restitution = 0 }
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[fill.g]
shape    = "disc"
radius   = { uniform = [0.08, 0.12] }
count    = 40
inside   = { box = [[-1, 0.2], [1, 4]] }
pattern  = "random"
seed     = 1
material = "m"
[body.l]
fixed      = true
half_plane = { point = [-1, 0], normal = [1, 0] }
[body.r]
fixed      = true
half_plane = { point = [1, 0], normal = [-1, 0] }
[run]
step  = 2e-3
until = 0.8
level = "tight"
)toml"),
                                                true);
  EXPECT_EQ(motion.outcome.certificate.failure, Failure::None);
  EXPECT_EQ(motion.outcome.steps, 400);
}

TEST(Levels, APileComesToRestAndStays) {
  const study::Motion early = run_text(kPile);
  const study::Motion late = run_text(changed(kPile, "until  = 1.5", "until  = 2.5"));
  ASSERT_TRUE(early.outcome.certificate.ok());
  ASSERT_TRUE(late.outcome.certificate.ok());
  const certify::BodyStatistics& told = late.world->told;
  EXPECT_EQ(told.steps[0] + told.steps[1] + told.steps[2], 2500);
  EXPECT_LE(late.outcome.certificate.creep_max, told.creep_limit);
  double mass = 0.0;
  double drift = 0.0;
  const body::World<2>& world = *late.scene.world()->plane;
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    if (!world.bodies[i].is_free()) continue;
    mass += world.bodies[i].mass;
    drift = std::max(drift, (late.world->last.bodies[i].x - early.world->last.bodies[i].x).norm());
  }
  EXPECT_LT(drift, 1e-9 * 0.007);
  EXPECT_NEAR(late.world->watches[1].second, -10.0 * mass, 1e-10 * 10.0 * mass);
  const certify::Ledger& ledger = late.outcome.certificate.ledger;
  EXPECT_LE(ledger.highest, ledger.kinetic_start + ledger.potential_start + 1e-12);
  EXPECT_LT(std::abs(ledger.defect.value()), 1e-12);
}

/// 160 discs fall up to two metres into a narrow box: a group of some 300 contacts that is struck
/// in every step. At rest the floor and the walls carry their weight, and nothing moves.
TEST(Levels, APourComesToRestAtTheDefaultLevel) {
  std::string text = changed(kPile, "radius   = { uniform = [0.007, 0.01] }",
                             "radius   = { uniform = [0.01, 0.02] }");
  text = changed(text, "count    = 40", "count    = 160");
  text = changed(text, "box = [[-0.06, 0], [0.06, 0.25]]", "box = [[-0.1, 0.02], [0.1, 1.9]]");
  text = changed(text, "[-0.06, 0]", "[-0.1, 0]");
  text = changed(text, "[0.06, 0]", "[0.1, 0]");
  text = changed(text, "friction = 0.5", "friction = 0.3");
  const study::Motion motion = run_text(text);
  const certify::Certificate& c = motion.outcome.certificate;
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(motion.outcome.steps, 1500);
  double mass = 0.0;
  for (const auto& body : motion.scene.world()->plane->bodies) {
    if (body.is_free()) mass += body.mass;
  }
  EXPECT_NEAR(motion.world->watches[1].second, -10.0 * mass, 1e-9 * 10.0 * mass);
  EXPECT_LT(c.ledger.kinetic_end, 1e-12 * c.ledger.kinetic_max);
  EXPECT_LT(std::abs(c.ledger.defect.value()), 1e-12 * c.ledger.potential_start);
  EXPECT_LE(c.creep_max, motion.world->told.creep_limit);
  // Nobody falls faster than from the top: 1.9 m.
  EXPECT_LE(motion.world->told.creep_limit, 1e-4 * std::sqrt(2.0 * 10.0 * 1.9));
}

}  // namespace
}  // namespace ricochet::testing::levels_test
