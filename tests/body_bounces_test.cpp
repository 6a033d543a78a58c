// Bodies that bounce, against closed forms: what is put back pays for its height where it is thrown
// back, so that elastic ones keep their energy and heights of others go by e^2 until they rest.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ricochet/base/random.h"
#include "ricochet/study/motion.h"
#include "support.h"

namespace ricochet::study::body_bounces_test {
namespace {

constexpr double kG = 9.81;

std::string on_floor(int dimension, const std::string& pair, const std::string& body, double step,
                     double until) {
  const bool is_plane = dimension == 2;
  return fmt::format(
      "[world]\ndimension = {}\ngravity = {}\n[pair]\ndefault = {{ {} }}\n[body.floor]\nfixed = "
      "true\n{}\n[body.a]\n{}\n[run]\nstep = {:.17g}\nuntil = {:.17g}\n",
      dimension, is_plane ? "[0, -9.81]" : "[0, 0, -9.81]", pair,
      is_plane ? "half_plane = { point = [0, 0], normal = [0, 1] }"
               : "half_space = { point = [0, 0, 0], normal = [0, 0, 1] }",
      body, step, until);
}

/// A ball of radius 0.1 and mass 1, dropped from a height.
std::string ball(int dimension, double e, double height, double step, double until) {
  const std::string at = fmt::format("[0, {}{:.17g}]", dimension == 2 ? "" : "0, ", 0.1 + height);
  return on_floor(
      dimension, fmt::format("restitution = {}", e),
      fmt::format("{} = 0.1\nmass = 1\nat = {}\n", dimension == 2 ? "disc" : "sphere", at), step,
      until);
}

struct Bounces {
  Motion motion;
  std::vector<double> tops;  // heights that it comes to
  double least{0.0};         // of (T + V)/m over all steps
  double most{0.0};
};

Bounces bounces_of(int dimension, const std::string& text) {
  const auto up = static_cast<std::size_t>(dimension - 1);
  Bounces found;
  found.motion = run_scene(testing::read_text(text), true);
  double last = 0.0;
  for (const Row& row : found.motion.rows) {
    const double v = row.u[up];
    const double height = row.q[up] - 0.1;
    const double energy = kG * height + 0.5 * v * v;
    const bool is_first = &row == &found.motion.rows.front();
    found.least = is_first ? energy : std::min(found.least, energy);
    found.most = is_first ? energy : std::max(found.most, energy);
    if (last > 0.0 && v <= 0.0) found.tops.push_back(energy / kG);
    last = v;
  }
  return found;
}

// Exact: T + V of a ball with e = 1.
TEST(BodyBounces, ElasticBallsKeepTheirEnergy) {
  for (const int dimension : {2, 3}) {
    for (const double height : {1.0, 0.02, 0.3456}) {
      for (const double step : {1e-3, 3.3e-3}) {
        const Bounces found =
            bounces_of(dimension, ball(dimension, 1.0, height, step, 20.0 * std::sqrt(height)));
        EXPECT_TRUE(found.motion.outcome.certificate.ok());
        EXPECT_GE(found.tops.size(), 20U);
        EXPECT_NEAR(found.least, kG * height, 1e-12 * kG * height) << height << ", " << step;
        EXPECT_NEAR(found.most, kG * height, 1e-12 * kG * height) << height << ", " << step;
      }
    }
  }
}

// Exact: T + V of a slider that falls to an elastic limit; of a pendulum that swings against one to
// the order of the step squared; whether there are pairs that are thrown back or not.
TEST(BodyBounces, ElasticLimitsKeepEnergy) {
  const std::string kSlider =
      "kind = \"slider\"\nbetween = [\"ground\", \"a\"]\nat = [0, 0]\naxis = [0, 1]\nlimits = { "
      "low = -1, high = 3 }";
  const std::string kHinge =
      "kind = \"hinge\"\nbetween = [\"ground\", \"a\"]\nat = [-0.5, 0]\nlimits = { low = -0.5, "
      "high = 3 }";
  for (const double pairs : {0.0, 1.0}) {
    const auto largest_change = [&](const std::string& joint) {
      const std::string text = fmt::format(
          "[world]\ndimension = 2\ngravity = [0, -9.81]\n[pair]\ndefault = {{ restitution = {} "
          "}}\n[body.a]\nbox = [0.2, 0.2]\nmass = 1\nat = [0, 0]\n[joint.j]\n{}\nrestitution = "
          "1\n[run]\nstep = 1e-3\nuntil = 20\n",
          pairs, joint);
      const Motion motion = run_scene(testing::read_text(text), true);
      EXPECT_TRUE(motion.outcome.certificate.ok());
      double most = 0.0;
      for (const Row& row : motion.rows) {
        most = std::max(most, std::abs(row.energy() - motion.rows.front().energy()));
      }
      return most;
    };
    EXPECT_LT(largest_change(kSlider), 1e-12 * kG) << pairs;
    EXPECT_LT(largest_change(kHinge), 1e-4 * kG * 0.5 * std::sin(0.5)) << pairs;
  }
}

// Exact: heights e^2 times the last, and rest at the time sqrt(2 H/g) (1 + e)/(1 - e).
TEST(BodyBounces, HeightsGoByTheSquareOfE) {
  for (const double e : {0.5, 0.8, 0.9, 0.97}) {
    const double rests = std::sqrt(2.0 / kG) * (1.0 + e) / (1.0 - e);
    for (const double step : {1e-3, 1e-4}) {
      const Bounces found = bounces_of(2, ball(2, e, 1.0, step, 1.1 * rests));
      EXPECT_TRUE(found.motion.outcome.certificate.ok());
      ASSERT_GE(found.tops.size(), 6U);
      double height = 1.0;
      for (std::size_t k = 0; k < found.tops.size(); ++k) {
        height *= e * e;
        // What gravity does in the step of an impact, (1 - e)/2 of it, adds up.
        const double off = 2.0 * step * kG / std::sqrt(2.0 * kG * height);
        if (off < 0.5) {
          EXPECT_NEAR(found.tops[k] / height, 1.0, off) << e << ", bounce " << k;
        }
      }
      EXPECT_EQ(found.motion.final_state.u[1], 0.0) << e;
      EXPECT_NEAR(found.motion.final_state.q[1], 0.1, 1e-9) << e;
    }
  }
}

// A box, a bar or a triangle that falls on a floor with 0 < e < 1 rests after finite time; steps
// that are as long as its last hops must not keep it rocking from one corner to the other.
TEST(BodyBounces, WhatHasCornersComesToRest) {
#if defined(RICOCHET_SANITIZED)
  constexpr int kTried = 6;
#else
  constexpr int kTried = 90;
#endif
  base::Random random(11);
  for (int which = 0; which < kTried; ++which) {
    const double w = random.uniform(0.1, 0.5);
    const std::array<std::string, 3> shapes = {
        fmt::format("box = [{}, {}]", w, random.uniform(0.1, 0.5)),
        "polygon = [[-0.2, -0.1], [0.2, -0.1], [0.1, 0.2]]",
        fmt::format("capsule = [[{}, 0], [{}, 0], 0.05]", -w, w)};
    const std::string text =
        on_floor(2,
                 fmt::format("friction = {}, restitution = {}", random.uniform(0.05, 1.2),
                             random.uniform(0.05, 0.7)),
                 fmt::format("{}\nmass = 1\nat = [0, 0.6]\nangle = {}\nspin = {}\n",
                             shapes[static_cast<std::size_t>(which % 3)], random.uniform(-1.5, 1.5),
                             random.uniform(-3.0, 3.0)),
                 1e-3, 6.0);
    const Motion motion = run_scene(testing::read_text(text), false);
    EXPECT_TRUE(motion.outcome.certificate.ok()) << text;
    EXPECT_LT(motion.final_state.u.head(3).norm(), 1e-10) << text;
  }
}

// The judge knows by itself which rows land: chains with limits, whose links fall on a floor, and
// boxes among others with another e.
TEST(BodyBounces, WhereLimitsOrOtherLawsAreNobodyLandsAhead) {
  for (const double restitution : {0.0, 0.4}) {
    const Motion motion = run_scene(
        testing::read_text(on_floor(
            2, "friction = 0.4, restitution = 0.4",
            fmt::format("capsule = [[-0.2, 0], [0.2, 0], 0.03]\nmass = 1\nat = [0, 0.4]\nangle = "
                        "0.3\n[body.b]\ncapsule = [[-0.2, 0], [0.2, 0], 0.03]\nmass = 1\nat = "
                        "[0.3821, 0.5182]\nangle = 0.3\n[joint.j]\nkind = \"hinge\"\nbetween = "
                        "[\"a\", \"b\"]\nat = [0.19107, 0.45911]\nlimits = {{ low = -0.5, high "
                        "= 0.5 }}\nrestitution = {}\n",
                        restitution),
            1e-3, 3.0)),
        false);
    EXPECT_TRUE(motion.outcome.certificate.ok()) << restitution;
  }
}

/// Discs or boxes that fall between walls, nine of them of two materials by turns.
std::string heap(const std::string& shape, const std::string& pairs, double turn) {
  std::string text =
      "[world]\ndimension = 2\ngravity = [0, -9.81]\n[material.odd]\ndensity = 30\n"
      "[material.even]\ndensity = 30\n[material.walls]\n[pair]\n" +
      pairs +
      "[body.floor]\nfixed = true\nmaterial = \"walls\"\nhalf_plane = { point = [0, 0], normal = "
      "[0, 1] }\n[body.left]\nfixed = true\nmaterial = \"walls\"\nhalf_plane = { point = [-0.5, "
      "0], normal = [1, 0] }\n[body.right]\nfixed = true\nmaterial = \"walls\"\nhalf_plane = { "
      "point = [0.5, 0], normal = [-1, 0] }\n";
  base::Random random(7);
  for (int i = 0; i < 9; ++i) {
    text += fmt::format("[body.b{}]\n{}\nmaterial = \"{}\"\nat = [{}, {}]\nangle = {}\n", i, shape,
                        i % 2 == 0 ? "even" : "odd", 0.3 * (i % 3 - 1) + 0.02 * random.uniform(),
                        0.2 + 0.3 * (i / 3), turn * random.uniform());
  }
  return text + "[run]\nstep = 1e-3\nuntil = 6\n";
}

// A theorem: what bounces with e < 1 and rubs comes to rest, in heaps too, and beside pairs with
// e = 0.
TEST(BodyBounces, HeapsComeToRest) {
  const std::string all = "default = { friction = 0.5, restitution = 0.5 }\n";
  for (const std::string& pairs :
       {all, all + "\"even even\" = { friction = 0.5, restitution = 0 }\n",
        all + "\"walls even\" = { friction = 0.5, restitution = 0 }\n"}) {
    for (const std::string shape : {"disc = 0.1", "box = [0.2, 0.16]"}) {
      const Motion motion = run_scene(testing::read_text(heap(shape, pairs, 0.2)), false);
      EXPECT_TRUE(motion.outcome.certificate.ok()) << pairs << shape;
      EXPECT_LT(motion.final_state.u.norm(), shape[0] == 'd' ? 1e-3 : 1e-9) << pairs << shape;
    }
  }
}

}  // namespace
}  // namespace ricochet::study::body_bounces_test
