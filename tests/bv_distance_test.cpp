// Distances between functions of bounded variation whose distances are known.

#include "ricochet/study/bv_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/random.h"

namespace ricochet::testing::bv_distance_test {
namespace {

using study::clipped;
using study::Curve;
using study::graph_distance;
using study::l1_distance;

/// 0 before `at`, `height` after it, from 0 to 1.
Curve step_function(double at, double height = 1.0) {
  Curve curve;
  curve.add(0.0, 0.0);
  curve.add(at, 0.0);
  curve.add(at, height);
  curve.add(1.0, height);
  return curve;
}

Curve constant(double value) {
  Curve curve;
  curve.add(0.0, value);
  curve.add(1.0, value);
  return curve;
}

TEST(BvDistance, AJumpThatComesLateIsNearInTheGraphAndInTheMeanOnly) {
  for (const double late : {0.1, 1e-3, 1e-6}) {
    const Curve a = step_function(0.5);
    const Curve b = step_function(0.5 + late);
    EXPECT_NEAR(l1_distance(a, b), late, 1e-15);
    EXPECT_NEAR(graph_distance(a, b, 1.0), late, 1e-3 * late);
    EXPECT_NEAR(graph_distance(a, b, 4.0), 4.0 * late, 4e-3 * late);
  }
}

TEST(BvDistance, AFarJumpIsAsFarAsItsHeightAllows) {
  // The upper corner of the earlier jump is 6 from the later jump, but 1 above the line before it.
  const Curve a = step_function(0.2);
  const Curve b = step_function(0.8, 1.0);
  EXPECT_NEAR(graph_distance(a, b, 10.0), 1.0, 1e-3);
  EXPECT_NEAR(l1_distance(a, b), 0.6, 1e-15);
}

TEST(BvDistance, HeightsAndConstantsDifferByTheirDifference) {
  EXPECT_NEAR(graph_distance(step_function(0.5), step_function(0.5, 1.25), 1.0), 0.25, 1e-3);
  EXPECT_NEAR(l1_distance(step_function(0.5), step_function(0.5, 1.25)), 0.125, 1e-15);
  EXPECT_NEAR(graph_distance(constant(1.0), constant(-2.0), 7.0), 3.0, 1e-12);
  EXPECT_NEAR(l1_distance(constant(1.0), constant(-2.0)), 3.0, 1e-15);
  EXPECT_EQ(graph_distance(step_function(0.5), step_function(0.5), 1.0), 0.0);
  EXPECT_EQ(l1_distance(step_function(0.5), step_function(0.5)), 0.0);
}

TEST(BvDistance, ALineAcrossAnotherIsTwoTriangles) {
  Curve rising;
  rising.add(0.0, -1.0);
  rising.add(1.0, 1.0);
  EXPECT_NEAR(l1_distance(rising, constant(0.0)), 0.5, 1e-15);
  EXPECT_NEAR(l1_distance(constant(0.0), rising), 0.5, 1e-15);
}

TEST(BvDistance, ASteepRampIsNearTheJumpItStandsFor) {
  // The corner (0.5, 0) of the jump is r beside the ramp, whose slope is 1 / 2 r.
  const double r = 0.01;
  Curve ramp;
  ramp.add(0.0, 0.0);
  ramp.add(0.5 - r, 0.0);
  ramp.add(0.5 + r, 1.0);
  ramp.add(1.0, 1.0);
  EXPECT_NEAR(graph_distance(ramp, step_function(0.5), 1.0), r * std::cos(std::atan(2.0 * r)),
              2e-3 * r);
  EXPECT_NEAR(l1_distance(ramp, step_function(0.5)), 2.0 * 0.5 * r * 0.5, 1e-15);
}

TEST(BvDistance, PartsAreCutWhereTheyAreAsked) {
  const Curve part = clipped(step_function(0.5), 0.25, 0.75);
  EXPECT_EQ(part.t, (std::vector<double>{0.25, 0.5, 0.5, 0.75}));
  EXPECT_EQ(part.value, (std::vector<double>{0.0, 0.0, 1.0, 1.0}));
  Curve line;
  line.add(0.0, 0.0);
  line.add(2.0, 4.0);
  const Curve middle = clipped(line, 0.5, 1.5);
  EXPECT_EQ(middle.t, (std::vector<double>{0.5, 1.5}));
  EXPECT_EQ(middle.value, (std::vector<double>{1.0, 3.0}));
  EXPECT_EQ(middle.range(), 2.0);
}

Curve random_curve(base::Random& random, int nodes) {
  Curve curve;
  double t = 0.0;
  curve.add(t, random.normal());
  for (int k = 1; k < nodes; ++k) {
    if (random.uniform(0.0, 1.0) < 0.7) t += random.uniform(0.0, 1.0);  // else a jump
    curve.add(t, random.normal());
  }
  for (double& time : curve.t) time /= t;
  return curve;
}

double to_segment(double x, double y, double x0, double y0, double x1, double y1) {
  const double squared = (x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0);
  double s = squared > 0.0 ? ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / squared : 0.0;
  s = std::clamp(s, 0.0, 1.0);
  return std::hypot(x - x0 - s * (x1 - x0), y - y0 - s * (y1 - y0));
}

/// By the definition: points of `a` close together, each against every segment of `b`.
double one_sided(const Curve& a, const Curve& b, double rate, int points) {
  double largest = 0.0;
  for (std::size_t k = 0; k + 1 < a.size(); ++k) {
    for (int j = 0; j <= points; ++j) {
      const double s = static_cast<double>(j) / points;
      const double x = rate * (a.t[k] + s * (a.t[k + 1] - a.t[k]));
      const double y = a.value[k] + s * (a.value[k + 1] - a.value[k]);
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i + 1 < b.size(); ++i) {
        least = std::min(
            least, to_segment(x, y, rate * b.t[i], b.value[i], rate * b.t[i + 1], b.value[i + 1]));
      }
      largest = std::max(largest, least);
    }
  }
  return largest;
}

TEST(BvDistance, RandomGraphsAreAsFarAsTheDefinitionSays) {
  base::Random random(20261115);
  for (int k = 0; k < 40; ++k) {
    const Curve a = random_curve(random, 3 + k % 12);
    const Curve b = random_curve(random, 3 + (5 * k) % 17);
    const double rate = std::pow(10.0, random.uniform(-1.0, 1.0));
    const double found = graph_distance(a, b, rate);
    const double expected = std::max(one_sided(a, b, rate, 400), one_sided(b, a, rate, 400));
    EXPECT_NEAR(found, expected, 0.01 * expected) << k;
    EXPECT_NEAR(graph_distance(b, a, rate), found, 2e-3 * found) << k;
  }
}

TEST(BvDistance, AMillionNodesTakeNoTimeEvenWhenFarApart) {
  Curve near_zero;
  Curve wave;
  for (int k = 0; k <= 1'000'000; ++k) {
    const double t = 1e-6 * k;
    near_zero.add(t, 0.0);
    wave.add(t, std::sin(1000.0 * t));
  }
  EXPECT_NEAR(graph_distance(near_zero, wave, 1.0), 1.0, 1e-2);
  // sin over 159 whole periods and a part of one: the mean of |sin| is 2/pi.
  EXPECT_NEAR(l1_distance(near_zero, wave), 2.0 / M_PI, 1e-3);
}

}  // namespace
}  // namespace ricochet::testing::bv_distance_test
