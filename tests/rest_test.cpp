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
