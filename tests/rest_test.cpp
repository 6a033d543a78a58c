// Rest that is possible is found, and stays: heaps of discs and spheres.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "ricochet/study/motion.h"
#include "support.h"

namespace ricochet::testing::rest_test {
namespace {

constexpr double kGravity = 9.81;
constexpr double kRadius = 0.05;

std::string world(int dimension, double friction, const std::string& more = "") {
  const bool is_plane = dimension == 2;
  return fmt::format(
      "[world]\ndimension = {}\ngravity = {}\n{}\n[pair]\ndefault = {{ friction = {} }}\n"
      "[body.floor]\nfixed = true\n{}\n[watch.load]\nforce_on = \"floor\"\n"
      "[watch.drift]\ndisplacement = \"all\"\n",
      dimension, is_plane ? "[0, -9.81]" : "[0, 0, -9.81]", more, friction,
      is_plane ? "half_plane = { point = [0, 0], normal = [0, 1] }"
               : "half_space = { point = [0, 0, 0], normal = [0, 0, 1] }");
}

/// A pyramid of n rows of discs of mass 1 that touch.
std::string pyramid(int rows, double friction, const std::string& more = "") {
  return world(2, friction, more) +
         fmt::format(
             "[body.d]\nfor = \"j in 1..{0}, i in 1..{0}-j+1\"\ndisc = 0.05\nmass = 1\n"
             "inertia = \"0.5*0.05^2\"\n"
             "at = [\"0.1*(i + 0.5*j)\", \"0.05 + (j-1)*sqrt(3)*0.05\"]\n",
             rows);
}

/// n layers of n by n spheres of mass 1, one above the other.
std::string cube(int n, const std::string& more = "") {
  return world(3, 0.5, more) +
         fmt::format(
             "[body.s]\nfor = \"k in 1..{0}, j in 1..{0}, i in 1..{0}\"\nsphere = 0.05\n"
             "mass = 1\nat = [\"0.1*i\", \"0.1*j\", \"0.05 + (k-1)*0.1\"]\n",
             n);
}

std::string run(int steps, const std::string& level = "") {
  return fmt::format("[run]\nstep = 0.001\nuntil = {}\n{}", 0.001 * steps,
                     level.empty() ? "" : "level = \"" + level + "\"\n");
}

double watched(const study::Motion& motion, const std::string& name) {
  for (const auto& [its, value] : motion.world->watches) {
    if (its == name) return value;
  }
  ADD_FAILURE() << name;
  return 0.0;
}

void expect_rest(const study::Motion& motion, double weight, const std::string& load) {
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_LE(watched(motion, "drift"), 1e-9 * kRadius);
  EXPECT_NEAR(watched(motion, load), -weight, 1e-10 * weight);
}

/// Equal discs that touch, in n rows. Linear programming on the same cones (2 generators a contact,
/// 3 equations a disc) finds forces in balance from these frictions on.
struct Limit {
  int rows;
  double friction;
};
constexpr std::array<Limit, 3> kLimits = {{{4, 0.47297}, {6, 0.51267}, {10, 0.54080}}};

TEST(Rest, OfPyramidsIsFoundWhereThereAreForces) {
  for (const auto& [rows, limit] : kLimits) {
    for (const char* level : {"exact", "tight", "bounded", ""}) {
      const double weight = 0.5 * rows * (rows + 1) * kGravity;
      expect_rest(run_text(pyramid(rows, 1.01 * limit) + run(20, level)), weight, "load.y");
    }
  }
}

TEST(Rest, OfPyramidsIsNotFoundWhereThereAreNone) {
  for (const auto& [rows, limit] : kLimits) {
    const study::Motion motion = run_text(pyramid(rows, 0.99 * limit) + run(40, "exact"));
    EXPECT_TRUE(motion.outcome.certificate.ok());
    EXPECT_GT(watched(motion, "drift"), 1e-6) << rows;
  }
}

TEST(Rest, OfManyDiscsAndSpheresStays) {
  expect_rest(run_text(pyramid(20, 0.7) + run(20, "bounded")), 210.0 * kGravity, "load.y");
  expect_rest(run_text(cube(6) + run(20, "bounded")), 216.0 * kGravity, "load.z");
  expect_rest(run_text(cube(4) + run(20, "exact")), 64.0 * kGravity, "load.z");
}

const std::string kSleeps = "sleep = true";

/// A disc that rolls along a plank, which lies on a row of discs between two walls: it keeps its
/// velocity, as it needs no friction, and all others rest: forces along the vertical hold them.
TEST(Rest, IsHeldBesideWhatRolls) {
  const std::string table =
      "[body.left]\nfixed = true\nhalf_plane = { point = [0, 0], normal = [1, 0] }\n"
      "[body.right]\nfixed = true\nhalf_plane = { point = [0.8, 0], normal = [-1, 0] }\n"
      "[body.d]\nfor = \"i in 1..8\"\ndisc = 0.05\nmass = 1\ninertia = \"0.5*0.05^2\"\n"
      "at = [\"0.1*i - 0.05\", 0.05]\n"
      "[body.plank]\nbox = [0.7, 0.04]\nmass = 3\ninertia = 0.1\nat = [0.4, 0.12]\n"
      "[body.roller]\ndisc = 0.05\nmass = 1\ninertia = \"0.5*0.05^2\"\nat = [0.1, 0.19]\n"
      "velocity = [0.5, 0]\nspin = -10\n"
      "[watch.held]\ndisplacement = \"d\"\n[watch.lies]\ndisplacement = \"plank\"\n"
      "[watch.rolls]\nformula = \"roller.x\"\n"
      "[watch.side]\nforce_on = \"right\"\n[watch.other]\nforce_on = \"left\"\n";
  for (const char* level : {"exact", "tight", "bounded"}) {
    const study::Motion motion = run_text(world(2, 0.5, kSleeps) + table + run(200, level));
    EXPECT_TRUE(motion.outcome.certificate.ok()) << level;
    EXPECT_LE(watched(motion, "held"), 1e-9 * kRadius) << level;
    EXPECT_LE(watched(motion, "lies"), 1e-9 * kRadius) << level;
    EXPECT_NEAR(watched(motion, "rolls"), 0.1 + 0.5 * 0.2, 1e-9) << level;
    const double y =
        watched(motion, "load.y") + watched(motion, "side.y") + watched(motion, "other.y");
    EXPECT_NEAR(y, -12.0 * kGravity, 1e-10 * 12.0 * kGravity) << level;
  }
}

/// What is dropped where nothing can roll on, as no wall is level, comes to rest: velocities are 0,
/// and the box carries the weight.
TEST(Rest, OfWhatWasDroppedIsExact) {
  const std::string plane =
      "[body.left]\nfixed = true\nhalf_plane = { point = [0, 0], normal = [1, 0] }\n"
      "[body.right]\nfixed = true\nhalf_plane = { point = [0.75, 0], normal = [-1, 0] }\n"
      "[body.d]\nfor = \"j in 1..5, i in 1..6\"\ndisc = \"0.05 + 0.008*sin(7*i + 31*j)\"\n"
      "mass = 1\ninertia = 0.00125\nat = [\"0.12*i - 0.05\", \"0.12*j - 0.05\"]\n";
  std::string text = world(2, 0.5, kSleeps) + plane;
  const std::string from = "gravity = [0, -9.81]";
  text.replace(text.find(from), from.size(), "gravity = [2, -9.6]");
  text += "[watch.side]\nforce_on = \"right\"\n[watch.other]\nforce_on = \"left\"\n";
  const study::Motion motion = run_text(text + run(3000, "bounded") + "record = 100\n");
  EXPECT_TRUE(motion.outcome.certificate.ok());
  for (const double u : motion.final_state.u) EXPECT_EQ(u, 0.0);
  const double x =
      watched(motion, "load.x") + watched(motion, "side.x") + watched(motion, "other.x");
  const double y =
      watched(motion, "load.y") + watched(motion, "side.y") + watched(motion, "other.y");
  EXPECT_NEAR(x, 30.0 * 2.0, 1e-10 * 30.0 * kGravity);
  EXPECT_NEAR(y, -30.0 * 9.6, 1e-10 * 30.0 * kGravity);
}

TEST(Sleep, OfAHeapHasItsPlacesAndLoads) {
  for (const char* level : {"exact", "bounded"}) {
    const study::Motion awake = run_text(pyramid(6, 0.6) + run(50, level));
    const study::Motion asleep = run_text(pyramid(6, 0.6, kSleeps) + run(50, level));
    expect_rest(asleep, 21.0 * kGravity, "load.y");
    EXPECT_LE((asleep.final_state.q - awake.final_state.q).cwiseAbs().maxCoeff(), 1e-15);
    for (const double u : asleep.final_state.u) EXPECT_EQ(u, 0.0);
  }
}

/// A column that sleeps and is struck moves as one that was awake. It has no more impulses than
/// ways to move, so that its motion is one.
TEST(Sleep, EndsWhereAColumnIsStruck) {
  const std::string column =
      "[body.d]\nfor = \"j in 1..14\"\ndisc = 0.05\nmass = 1\ninertia = \"0.5*0.05^2\"\n"
      "at = [0, \"0.1*j - 0.05\"]\n[body.ball]\ndisc = 0.05\nmass = 2\nat = [-0.15, 0.75]\n"
      "velocity = [3, 0]\nborn = 0.02\n";
  const study::Motion awake = run_text(world(2, 0.3) + column + run(60, "exact"));
  const study::Motion asleep = run_text(world(2, 0.3, kSleeps) + column + run(60, "exact"));
  EXPECT_TRUE(asleep.outcome.certificate.ok());
  EXPECT_GT(watched(asleep, "drift"), 1e-2);
  EXPECT_LE((asleep.final_state.q - awake.final_state.q).cwiseAbs().maxCoeff(), 1e-12);
}

/// Weight that turns: the heap sleeps until its direction changes, then slides or falls.
TEST(Sleep, EndsWhereTheWeightChanges) {
  std::string text = pyramid(4, 0.6, kSleeps);
  const std::string from = "gravity = [0, -9.81]";
  text.replace(text.find(from), from.size(), "gravity = [\"if(t < 0.02, 0, 9.81)\", -9.81]");
  const study::Motion motion = run_text(text + run(60, "exact"));
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_GT(watched(motion, "drift"), 1e-3);
}

}  // namespace
}  // namespace ricochet::testing::rest_test
