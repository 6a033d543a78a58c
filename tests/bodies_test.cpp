// Rigid bodies: what scenes of them say, closed forms, and what their judge refuses.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "body_step.h"
#include "ricochet/base/error.h"
#include "ricochet/certify/bodies.h"
#include "ricochet/certify/coverage.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"
#include "ricochet/study/facts.h"
#include "ricochet/study/motion.h"

namespace ricochet::testing::bodies_test {
namespace {

using body::Vec;

const std::string kHead = R"toml(
[world]
dimension  = 2
gravity    = [0, -10]
parameters = { r = 0.5 }
[material.wood]
density = 2
[run]
step  = 0.001
until = 0.1
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
)toml";

const std::string kBox = kHead + R"toml(
[pair]
default = { friction = 0.5 }
[body.box]
box      = [1, 1]
at       = [0, 0.5]
material = "wood"
)toml";

study::Motion run_text(const std::string& text) {
  return study::run_scene(scene::read_scene("bodies.toml", text), false);
}

/// The whole message of what is wrong with a scene.
std::string fault_of(const std::string& text) {
  try {
    (void)scene::read_scene("bodies.toml", text);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

void expect_fault(const std::string& text, const std::string& words) {
  const std::string fault = fault_of(text);
  EXPECT_NE(fault.find(words), std::string::npos) << "wanted: " << words << "\nfound: " << fault;
}

TEST(Bodies, WrongInputIsRefusedWithWords) {
  EXPECT_EQ(fault_of(kBox), "");
  expect_fault(changed(kBox, "default = { friction = 0.5 }", ""), "may touch");
  const std::string deep = changed(kBox, "at       = [0, 0.5]", "at = [0, 0.4]");
  expect_fault(deep, "'floor' and 'box' overlap by 0.1");
  expect_fault(deep, "[start] with tolerance");
  expect_fault(changed(kBox, "material = \"wood\"", ""), "no material gives it a density");
  expect_fault(changed(kBox, "material = \"wood\"", "material = \"wod\""), "'wod' is not known");
  expect_fault(changed(kBox, "box      = [1, 1]", "bux = [1, 1]"), "has no shape");
  expect_fault(changed(kBox, "box      = [1, 1]", "polygon = [[0,0],[1,0],[0.2,0.2],[0,1]]"),
               "concave at corner 3");
  expect_fault(changed(kBox, "box      = [1, 1]", "box = [1, 1]\nmass = 0"), "must be positive");
  expect_fault(kBox +
                   "[fill.g]\nshape = \"disc\"\nradius = 0.1\ncount = 1000\nseed = 1\n"
                   "inside = { box = [[2, 1], [3, 2]] }\npattern = \"random\"\n"
                   "material = \"wood\"\n",
               "of 1000 do not fit into the box");
  for (const char* pattern : {"random", "rain", "grid"}) {
    expect_fault(kBox +
                     "[fill.g]\nshape = \"disc\"\nradius = 0.6\ncount = 1\nseed = 1\n"
                     "inside = { box = [[2, 1], [3, 4]] }\npattern = \"" +
                     pattern + "\"\nmaterial = \"wood\"\n",
                 "is 1 wide at its narrowest, and the largest body is 1.2");
  }
  expect_fault(changed(kBox, "box      = [1, 1]", "box = [1, 1]\nmass = -1"), "must be positive");
  expect_fault(changed(kBox, "box      = [1, 1]", "box = [1, 1]\ndisc = 1"), "stands beside disc");
  expect_fault(changed(kBox, "friction = 0.5", "friction = -1"), "must be at least 0");
  expect_fault(changed(kBox, "friction = 0.5", "restitution = 2"), "[0, 1]");
  expect_fault(changed(kBox, "dimension  = 2", ""), "dimension");
  expect_fault(kBox + "[system]\ncoordinates = [\"x\"]\n", "kinetic");
  expect_fault(kBox + "[watch.load]\nforce_on = \"flor\"\n", "did you mean 'floor'");
  expect_fault(kBox + "[expect]\nf = \"bix.x > 0\"\n", "bix");
  expect_fault(changed(kBox, "step  = 0.001", "step  = 0.001\nscheme = \"inel\""),
               "bodies are run");
}

TEST(Bodies, AStatedToleranceAllowsAnOverlapThatIsPutRight) {
  const std::string deep = changed(kBox, "at       = [0, 0.5]", "at = [0, 0.4999]");
  const study::Motion motion = run_text(deep + "[start]\ntolerance = 1e-3\n");
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_NEAR(motion.world->last.bodies[1].x[1], 0.5, 2e-9);
  EXPECT_LT(motion.world->last.bodies[1].v.norm(), 1e-12);  // no push by velocity
}

TEST(Bodies, RestIsRestAndFreeFallIsExact) {
  const study::Motion rest = run_text(kBox);
  ASSERT_TRUE(rest.outcome.certificate.ok());
  EXPECT_LT((rest.world->last.bodies[1].x - Vec<2>(0.0, 0.5)).norm(), 1e-13);
  const study::Motion fall = run_text(changed(kBox, "at       = [0, 0.5]", "at = [0, 5]"));
  ASSERT_TRUE(fall.outcome.certificate.ok());
  EXPECT_NEAR(fall.world->last.bodies[1].x[1], 5.0 - 0.5 * 10.0 * 0.01, 1e-13);
}

using OneStep = testing::BodyStep<2>;

TEST(BodyJudge, RefusesLies) {
  using certify::Failure;
  const double h = 0.001;
  const auto lie = [&](const std::function<void(OneStep&)>& change) {
    OneStep one(kBox);
    EXPECT_EQ(one.claim.pushes.size(), 2U);
    change(one);
    return one.verdict();
  };
  EXPECT_EQ(lie([](OneStep&) {}), Failure::None);
  // A pair that is not claimed: momentum does not add up without it.
  EXPECT_NE(lie([](OneStep& s) { s.claim.pushes.clear(); }), Failure::None);
  // The same with the motion that belongs to it, a fall through the floor.
  EXPECT_EQ(lie([&](OneStep& s) {
              s.claim.pushes.clear();
              s.after.bodies[1].v[1] = -10.0 * h;
              s.after.bodies[1].x[1] = 0.5 - 5.0 * h * h;
            }),
            Failure::Residual);
  EXPECT_EQ(lie([](OneStep& s) { s.after.bodies[1].x[0] += 1e-6; }), Failure::Kinematics);
  EXPECT_EQ(lie([](OneStep& s) { s.after.bodies[0].x[1] -= 1e-6; }), Failure::Kinematics);
  EXPECT_NE(lie([](OneStep& s) { s.after.bodies[1].v[0] += 1e-6; }), Failure::None);
  EXPECT_EQ(lie([](OneStep& s) { s.after.t += 1e-3; }), Failure::Kinematics);
  EXPECT_NE(lie([](OneStep& s) { s.claim.pushes[0].key.feature += 12345; }), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.pushes[0].impulse[1] += s.claim.pushes[0].impulse[0]; }),
            Failure::None);
  EXPECT_EQ(lie([](OneStep& s) { s.after.bodies[1].v[0] = std::nan(""); }), Failure::NotFinite);
}

TEST(BodyJudge, SeesPairsThatAFinderDrops) {
  // Two boxes side by side of which the step knows one only: the other one falls through.
  const std::string text = kBox + R"toml(
[body.other]
box      = [1, 1]
at       = [3, 0.5]
material = "wood"
)toml";
  OneStep one(text);
  const double h = one.scene.run.step;
  std::erase_if(one.claim.pushes, [&](const auto& push) {
    return one.world.solid(push.key.a).body == 2 || one.world.solid(push.key.b).body == 2;
  });
  one.after.bodies[2].v[1] = -10.0 * h;
  one.after.bodies[2].x[1] = 0.5 - 5.0 * h * h;
  EXPECT_EQ(one.verdict(), certify::Failure::Residual);
}

TEST(BodyJudge, SeesWhoPassesThrough) {
  const std::string fast = kHead + R"toml(
[pair]
default = { restitution = 1 }
[body.bullet]
disc     = 0.05
at       = [0, 3]
velocity = [0, -3000]
material = "wood"
[body.plate]
fixed = true
box   = [2, 0.1]
at    = [0, 1.03]
)toml";
  const study::Motion motion = run_text(fast);
  EXPECT_EQ(motion.outcome.certificate.failure, certify::Failure::PassedThrough);
  // Without restitution the pair looks ahead, and nobody gets through.
  const study::Motion caught = run_text(changed(fast, "restitution = 1", "restitution = 0"));
  EXPECT_TRUE(caught.outcome.certificate.ok());
  EXPECT_NEAR(caught.world->last.bodies[1].x[1], 1.13, 1e-6);
}

/// A ball that bounces with e: heights after the n-th bounce are e^2n of the first, to O(h).
/// A disc strikes a row of discs at rest with gaps d between them, which all close in one step:
/// 0 <= p ⟂ u_(k+1) - u_k + d/h >= 0 with p > 0, and for the first pair its gap at the middle.
TEST(Bodies, ABlowPassesThroughManyInOneStep) {
  constexpr int kDiscs = 40;
  constexpr double kGap = 1e-6;
  constexpr double kStep = 1e-2;
  const study::Motion motion = run_text(R"toml(
[world]
dimension = 2
gravity   = [0, 0]
[pair]
default = {}
[body.d]
for      = "i in 1..40"
disc     = 0.5
mass     = 1
at       = ["i*(1 + 1e-6) - if(i == 1, 0.06, 0)", 0]
velocity = ["if(i == 1, 10, 0)", 0]
[run]
step  = 0.01
until = 0.01
)toml");
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const auto& bodies = motion.world->state<2>().bodies;
  ASSERT_EQ(bodies.size(), kDiscs);
  EXPECT_NEAR(bodies[0].v[0] - bodies[1].v[0], (0.06 + kGap - 0.5 * kStep * 10.0) / kStep, 1e-9);
  for (std::size_t k = 1; k + 1 < bodies.size(); ++k) {
    EXPECT_NEAR(bodies[k].v[0] - bodies[k + 1].v[0], kGap / kStep, 1e-9) << k;
  }
  double sum = 0.0;
  for (const auto& body : bodies) sum += body.v[0];
  EXPECT_NEAR(sum, 10.0, 1e-9);
}

TEST(Bodies, BouncesLoseWhatTheySay) {
  const study::Motion motion =
      run_text(changed(changed(kHead, "until = 0.1", "until = 0.7"), "[material.wood]",
                       "[pair]\ndefault = { restitution = 0.8 }\n[body.ball]\ndisc = \"r\"\nat = "
                       "[0, 1.5]\nmaterial = \"wood\"\n[material.wood]"));
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const double fall = std::sqrt(2.0 * 1.0 / 10.0);
  const double up = 0.8 * 10.0 * fall;
  const double since = 0.7 - fall;
  EXPECT_NEAR(motion.world->last.bodies[0].v[1], up - 10.0 * since, 0.02);
  EXPECT_NEAR(motion.world->last.bodies[0].x[1], 0.5 + up * since - 5.0 * since * since, 0.01);
}

/// The judge leaves half-planes that are far out of its looks, but none that may turn.
TEST(Bodies, HalfPlanesThatTurnAreNeverFar) {
  const scene::Scene scene = scene::read_scene("bodies.toml", kHead + R"toml(
[pair]
default = { friction = 0.5, restitution = 0.5 }
[body.wall]
driven     = { position = [0, -1], angle = "t" }
half_plane = { point = [0, 0], normal = [0, 1] }
[body.disc]
disc     = "r"
at       = [3, 9]
material = "wood"
)toml");
  const body::World<2>& world = *scene.world()->plane;  // floor, wall, disc
  ASSERT_EQ(world.bodies.size(), 3U);
  certify::Coverage<2> coverage(world);
  const std::vector<std::pair<int, int>> only_wall = {{1, 2}};
  const std::vector<double> still(3, 0.0);
  const auto poses = [](double y) {
    return std::vector{shape::pose({0.0, 0.0}, 0.0), shape::pose({0.0, -1.0}, 0.0),
                       shape::pose({3.0, y}, 0.0)};
  };
  EXPECT_EQ(coverage.pairs(poses(9.0), {1, 1, 1}, still), only_wall);
  EXPECT_EQ(coverage.pairs(poses(0.49), {1, 1, 1}, still).size(), 2U);
  EXPECT_EQ(coverage.pairs(poses(9.0), {1, 1, 1}, {0.0, 0.0, 9.0}).size(), 2U);  // it is fast
}

TEST(Bodies, DrivenBodiesCarryOthers) {
  const std::string belt = changed(kBox, "fixed      = true\nhalf_plane",
                                   "driven = { position = [\"2*t\", 0] }\nhalf_plane");
  const study::Motion motion = run_text(belt + "[watch.load]\nforce_on = \"floor\"\n");
  ASSERT_TRUE(motion.outcome.certificate.ok());
  // Slides until v = mu g t reaches the belt: 2/5 s, so after 0.1 s v = 0.5.
  EXPECT_NEAR(motion.world->last.bodies[1].v[0], 0.5, 1e-12);
  EXPECT_NEAR(motion.world->watches[0].second, -0.5 * 20.0, 1e-9);
  EXPECT_NEAR(motion.world->watches[1].second, -20.0, 1e-9);
}

}  // namespace
}  // namespace ricochet::testing::bodies_test
