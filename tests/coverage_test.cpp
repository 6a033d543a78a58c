// The judge's own pairs: against all pairs, and against steps whose finder drops some.

#include "ricochet/certify/coverage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "body_step.h"
#include "ricochet/base/index.h"
#include "ricochet/base/random.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/moreau_bodies.h"
#include "ricochet/step/run_bodies.h"

namespace ricochet::testing::coverage_test {
namespace {

using base::index;

/// Balls of sizes over a factor of 30, rods that do not lie about their mass centre, a fixed floor,
/// and a wall without end that is driven.
template <int D>
body::World<D> random_world(base::Random& random, int count) {
  body::World<D> world;
  world.materials = {"stone"};
  world.laws = {body::PairLaw{.is_stated = true}};
  const auto add = [&](body::Kind kind, shape::Shape<D> shape) {
    body::Body<D> body;
    body.kind = kind;
    body.first_shape = world.count();
    body.shapes = 1;
    world.solids.push_back({world.count(), std::move(shape)});
    world.bodies.push_back(std::move(body));
  };
  using Vec = body::Vec<D>;
  for (int i = 0; i < count; ++i) {
    const double r = 0.5 * std::pow(30.0, -random.uniform());
    add(body::Kind::Free,
        i % 7 == 0 ? shape::capsule<D>(Vec::Zero(), 8.0 * r * Vec::UnitX(), r) : shape::ball<D>(r));
  }
  add(body::Kind::Fixed, shape::half_space<D>(Vec::Zero(), Vec::UnitY()));
  add(body::Kind::Driven, shape::half_space<D>(Vec::Zero(), Vec::UnitX()));
  return world;
}

template <int D>
shape::Mat<D> random_rotation(base::Random& random) {
  if constexpr (D == 2) return shape::pose({0.0, 0.0}, random.uniform(0.0, 6.0)).R;
  if constexpr (D == 3) {
    return Eigen::Quaterniond(random.normal(), random.normal(), random.normal(), random.normal())
        .normalized()
        .toRotationMatrix();
  }
}

/// Expected: balls of definition, grown by reach, meet; found may have those that nearly do.
template <int D>
void expect_pairs(const body::World<D>& world, const std::vector<shape::Pose<D>>& poses,
                  const std::vector<char>& exists, const std::vector<double>& reach,
                  const std::vector<std::pair<int, int>>& found) {
  ASSERT_TRUE(std::is_sorted(found.begin(), found.end()));
  const int floor = world.count() - 2;
  const int wall = world.count() - 1;
  auto next = found.begin();
  for (int a = 0; a < world.count(); ++a) {
    for (int b = a + 1; b < world.count(); ++b) {
      const bool is_found = next != found.end() && *next == std::pair(a, b);
      if (is_found) ++next;
      const auto middle = [&](int i) { return poses[index(i)].place(world.solid(i).shape.centre); };
      double apart = -1.0;
      if (a < floor && b < floor) apart = (middle(a) - middle(b)).norm();
      if (a < floor && b < floor) apart -= world.solid(b).shape.extent;
      if (b == floor && a < floor) apart = middle(a)[1];
      if (a < floor) apart -= world.solid(a).shape.extent + reach[index(a)] + reach[index(b)];
      const bool can = a < floor && exists[index(a)] != 0 && exists[index(b)] != 0;
      const double rounding = 1e-3 * (1.0 + std::abs(apart));
      const bool must = can && (apart <= 0.0 || b == wall);
      const bool may = can && (apart <= rounding || b == wall);
      ASSERT_TRUE(is_found ? may : !must) << a << ", " << b;
    }
  }
  EXPECT_EQ(next, found.end());
}

/// Bodies that fall together and move beside that, some of them by leaps; some come and go.
template <int D>
void expect_all_pairs(std::uint64_t seed) {
  base::Random random(seed);
  using Vec = body::Vec<D>;
  for (int round = 0; round < 12; ++round) {
    const body::World<D> world = random_world<D>(random, 20 + random.below(150));
    certify::Coverage<D> coverage(world);
    const std::size_t count = world.bodies.size();
    std::vector<shape::Pose<D>> poses(count);
    std::vector<Vec> speeds(count, Vec::Zero());
    std::vector<char> exists(count, 1);
    std::vector<double> reach(count, 0.0);
    const double room = 1.2 * std::pow(static_cast<double>(count), 1.0 / D);
    const double beside = std::pow(10.0, random.uniform(-4.0, -1.0));
    const auto anywhere = [&] {
      return Vec(Vec::NullaryExpr([&] { return random.uniform(0.0, room); }));
    };
    for (std::size_t i = 0; i + 2 < count; ++i) {
      poses[i] = {anywhere(), random_rotation<D>(random)};
      speeds[i] = beside * (anywhere() / room - Vec::Constant(0.5));
    }
    Vec fall = Vec::Zero();
    for (int step = 0; step < 60; ++step) {
      fall[1] -= 0.002 * room * random.uniform();
      for (std::size_t i = 0; i + 2 < count; ++i) {
        poses[i].x += speeds[i] + fall;
        if (random.below(2000) == 0) poses[i].x = anywhere();
        if (random.below(50) == 0) poses[i].R = random_rotation<D>(random);
        if (random.below(200) == 0) exists[i] = exists[i] == 0 ? 1 : 0;
        reach[i] = speeds[i].norm() + fall.norm() * (random.below(100) == 0 ? 30.0 : 1.0);
      }
      expect_pairs<D>(world, poses, exists, reach, coverage.pairs(poses, exists, reach));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Coverage, FindsAllPairsInThePlane) { expect_all_pairs<2>(1); }
TEST(Coverage, FindsAllPairsInSpace) { expect_all_pairs<3>(2); }

/// When the judge refuses steps that know nothing of the pair of bodies (a, b); infinity where it
/// never does. With a < 0 they know of all.
template <int D>
double refused_at(const std::string& text, int a, int b) {
  const scene::Scene scene = scene::read_scene("bodies.toml", text);
  const body::World<D>* world = nullptr;
  if constexpr (D == 2) world = &*scene.world()->plane;
  if constexpr (D == 3) world = &*scene.world()->space;
  body::World<D> blind = *world;
  if (a >= 0) blind.apart = {{a, b}};
  step::MoreauBodies<D> stepper(blind, scene.run.limits);
  body::WorldState<D> state = step::start_of(*world, 0.0);
  body::WorldState<D> next = state;
  certify::BodyJudge<D> judge(*world, scene.run.limits, state);
  certify::BodyClaim<D> claim;
  const double h = scene.run.step;
  for (int k = 1; k <= scene.run.steps; ++k) {
    next.t = k * h;
    EXPECT_EQ(stepper.advance(state, h, next, claim).status, problem::Status::Solved);
    if (!judge.accept(state, next, h, claim)) return judge.certificate().failure_time;
    std::swap(state, next);
  }
  return std::numeric_limits<double>::infinity();
}

/// The two meet at this time [closed form]; a step looks at its middle and one step ahead.
template <int D>
void expect_refused(const std::string& text, int a, int b, double time) {
  EXPECT_NEAR(refused_at<D>(text, a, b), time, 0.002);
  EXPECT_EQ(refused_at<D>(text, -1, -1), std::numeric_limits<double>::infinity());
}

std::string head(int dimension) {
  const std::string zero = dimension == 2 ? "[0, 0]" : "[0, 0, 0]";
  return "[world]\ndimension = " + std::to_string(dimension) + "\ngravity = " + zero + R"toml(
[material.wood]
density = 2
[pair]
default = { friction = 0.5 }
[run]
step  = 0.001
until = 1.1
)toml";
}

TEST(Coverage, SeesWhoMeetsLongAfterASearch) {
  // All drift along y together; gap 19 at a speed of 20. One more leaves the world on its way.
  expect_refused<2>(head(2) + R"toml(
[remove]
below = -5
[body.one]
disc = 0.5
at = [0, 0]
velocity = [10, 5]
material = "wood"
[body.other]
disc = 0.5
at = [20, 0]
velocity = [-10, 5]
material = "wood"
[body.crowd]
for = "i in 1..20"
disc = 0.5
at = ["3*i", 30]
velocity = [0, 5]
material = "wood"
[body.leaves]
disc = 0.5
at = [10, -3]
velocity = [0, -15]
material = "wood"
)toml",
                    0, 1, 19.0 / 20.0);
  expect_refused<3>(head(3) + R"toml(
[body.one]
sphere = 0.5
at = [0, 0, 0]
velocity = [0, 5, 10]
spin = [1, 2, 3]
material = "wood"
[body.other]
box = [1, 1, 1]
at = [0, 0, 20]
velocity = [0, 5, -10]
material = "wood"
)toml",
                    0, 1, 19.0 / 20.0);
}

TEST(Coverage, SeesWhoIsBornLater) {
  expect_refused<2>(head(2) + R"toml(
[body.one]
disc = 0.5
at = [0, 0]
material = "wood"
[body.late]
disc = 0.5
at = [3, 0]
velocity = [-10, 0]
born = 0.3
material = "wood"
)toml",
                    0, 1, 0.3 + 2.0 / 10.0);
}

TEST(Coverage, SeesWhoIsFast) {
  const std::string still = head(2) + R"toml(
[body.one]
disc = 0.5
at = [0, 0]
material = "wood"
)toml";
  expect_refused<2>(still + R"toml(
[body.bullet]
disc = 0.5
at = [-200, 0]
velocity = [400, 0]
material = "wood"
)toml",
                    0, 1, 199.0 / 400.0);
  expect_refused<2>(still + R"toml(
[body.ram]
disc = 0.5
driven = { position = ["-200 + 400*t", 0] }
material = "wood"
)toml",
                    0, 1, 199.0 / 400.0);
}

TEST(Coverage, SeesWhoTurns) {
  // A bar of half thickness 0.1 about its end; the disc's middle is 0.6 from its axis when it
  // comes.
  expect_refused<2>(head(2) + R"toml(
[body.one]
disc = 0.5
at = [0, 4]
material = "wood"
[body.bar]
capsule = [[0, 0], [5, 0], 0.1]
driven = { position = [0, 0], angle = "2*t" }
material = "wood"
)toml",
                    0, 1, 0.5 * (0.5 * std::numbers::pi - std::asin(0.6 / 4.0)));
  // The floor is a half-plane, which no ball contains: fall of 1 m at 2 m/s.
  expect_refused<2>(head(2) + R"toml(
[body.one]
disc = 0.5
at = [0, 1.5]
velocity = [0, -2]
material = "wood"
[body.floor]
fixed = true
half_plane = { point = [0, 0], normal = [0, 1] }
material = "wood"
)toml",
                    0, 1, 0.5);
}

}  // namespace
}  // namespace ricochet::testing::coverage_test
