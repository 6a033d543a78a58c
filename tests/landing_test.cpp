// What newcomers drop on floors: points, coins, boxes that slap down, sliders that meet their
// limits.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"

namespace ricochet::step {
namespace {

constexpr double kG = 9.81;

template <int D>
struct Landed {
  body::Motion<D> a;
  double t{0.0};
  certify::Failure failure{certify::Failure::None};
};

template <int D>
Landed<D> land(const std::string& bodies, const std::string& pair, double h, double until) {
  const std::string text = fmt::format(
      "[world]\ndimension = {}\ngravity = [{}0, -{}]\n[pair]\ndefault = {{ {} }}\n{}\n"
      "[run]\nstep = {}\nuntil = {}\n",
      D, D == 2 ? "" : "0, ", kG, pair, bodies, h, until);
  const scene::Scene scene = scene::read_scene("landing.toml", text);
  const body::World<D>* world = nullptr;
  if constexpr (D == 2) world = scene.world()->plane.get();
  if constexpr (D == 3) world = scene.world()->space.get();
  body::WorldState<D> state = start_of(*world, 0.0);
  certify::BodyStatistics told;
  const Outcome outcome = run_bodies<D>(
      *world, scene.run, state, [](const auto&) { return true; }, nullptr, told);
  std::size_t a = 0;
  while (world->bodies[a].name != "a") ++a;
  return {state.bodies[a], state.t, outcome.certificate.failure};
}

/// Falls by a height, is thrown back with e, and is on its way up or down at a time.
struct Bounce {
  Bounce(double height, double e, double t) {
    const double meets = std::sqrt(2.0 * height / kG);
    const double up = e * kG * meets;
    y = up * (t - meets) - 0.5 * kG * (t - meets) * (t - meets);
    v = up - kG * (t - meets);
  }
  double y;
  double v;
};

TEST(Landing, PointsBounceOnGroundOfEveryKind) {
  for (const char* ground : {"half_plane = { point = [0, 0], normal = [0, 1] }",
                             "box = [4, 0.4]\nat = [0, -0.2]", "chain = [[-2, 0], [2, 0]]"}) {
    for (const double h : {1e-3, 3e-4}) {
      const auto found =
          land<2>(fmt::format("[body.floor]\nfixed = true\n{}\n[body.a]\npoint = [0, 0]\nmass = 1\n"
                              "inertia = 1e-3\nat = [0, 0.1]\nvelocity = [1, 0]",
                              ground),
                  "restitution = 0.5", h, 0.2);
      EXPECT_EQ(found.failure, certify::Failure::None) << ground << h;
      const Bounce truth(0.1, 0.5, found.t);
      EXPECT_NEAR(found.a.x[1], truth.y, 3.0 * h) << ground << h;
      EXPECT_NEAR(found.a.v[1], truth.v, 3.0 * h * kG) << ground << h;
      EXPECT_NEAR(found.a.x[0], found.t, 1e-12);
    }
  }
}

/// A box on a slider comes to a floor and to the limit at the same time: one has e = 0.8, the other
/// e = 0. The one that throws it back decides.
TEST(Landing, LimitsOfJointsWaitForWhatThrowsBack) {
  for (const bool is_floor : {true, false}) {
    for (const double h : {1e-3, 9e-4, 5e-4, 2.3e-4, 1e-4}) {
      const auto found =
          land<2>(fmt::format("[body.floor]\nfixed = true\n"
                              "half_plane = {{ point = [0, 0], normal = [0, 1] }}\n"
                              "[body.a]\nbox = [0.2, 0.2]\nmass = 1\nat = [0, 0.3]\n"
                              "[joint.s]\nkind = \"slider\"\nbetween = [\"ground\", \"a\"]\n"
                              "at = [0, 0.3]\naxis = [0, 1]\nlimits = {{ low = -0.2 }}\n"
                              "restitution = {}",
                              is_floor ? 0.0 : 0.8),
                  fmt::format("restitution = {}", is_floor ? 0.8 : 0.0), h, 0.3);
      EXPECT_EQ(found.failure, certify::Failure::None) << h;
      const Bounce truth(0.2, 0.8, found.t);
      EXPECT_NEAR(found.a.x[1], 0.1 + truth.y, 6.0 * h) << is_floor << h;
      EXPECT_NEAR(found.a.v[1], truth.v, 3.0 * h * kG) << is_floor << h;
    }
  }
}

TEST(Landing, LimitsThatThrowBackAreRestedOn) {
  for (const char* kind : {"hinge", "slider"}) {
    const auto found =
        land<2>(fmt::format("[body.a]\nbox = [0.4, 0.05]\nmass = 1\nat = [0.2, 0]\n[joint.s]\n"
                            "kind = \"{}\"\nbetween = [\"ground\", \"a\"]\nat = [0, 0]\n{}\n"
                            "limits = {{ low = -0.1 }}\nrestitution = 0.5",
                            kind, kind[0] == 's' ? "axis = [0, 1]" : ""),
                "restitution = 0", 1e-3, 3.0);
    EXPECT_EQ(found.failure, certify::Failure::None) << kind;
    EXPECT_LT(found.a.v.norm(), 1e-12) << kind;
    EXPECT_LT(std::abs(found.a.spin), 1e-12) << kind;
    EXPECT_NEAR(kind[0] == 's' ? found.a.x[1] : found.a.angle, -0.1, 1e-6) << kind;
  }
}

/// Coins and logs that are thrown slap down, rock and roll on their rims: no step fails, none goes
/// through the floor, and they have no more energy than they began with, whose spin is at most 4
/// about each axis.
TEST(Landing, CoinsThatAreThrownSlapDownAndRoll) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-4.0, 4.0);
  for (const double height : {0.02, 0.1}) {
    for (int k = 0; k < 3; ++k) {
      const auto found =
          land<3>(fmt::format("[body.floor]\nfixed = true\n"
                              "half_space = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n"
                              "[body.a]\ncylinder = [0.1, {}]\nmass = 1\nat = [0, 0, 0.4]\n"
                              "spin = [{}, {}, {}]",
                              height, any(random), any(random), any(random)),
                  "restitution = 0, friction = 0.3", 1e-3, 4.0);
      EXPECT_EQ(found.failure, certify::Failure::None) << height << " " << k;
      EXPECT_GT(found.a.x[2], 0.5 * height - 1e-6);
      const double kept = 0.5 * found.a.v.squaredNorm() + kG * found.a.x[2];
      EXPECT_LT(kept, kG * 0.4 + 0.5 * 48.0 * 0.005) << height << " " << k;
    }
  }
}

/// Four corners with friction at once, of a box that is nearly flat: the impulses are unique, and
/// a solver that ends beside them says so (`no_solution`).
TEST(Landing, BoxesThatSlapDownAreSolved) {
  for (const double h : {1e-3, 1e-4}) {
    const auto found = land<3>(
        "[body.floor]\nfixed = true\nbox = [20, 20, 0.4]\nat = [0, 0, -0.2]\n"
        "[body.a]\nbox = [0.3, 0.2, 0.1]\nmass = 1\nat = [0, 0, 0.4]\n"
        "velocity = [-0.16, -0.37, 0.5]\nspin = [0.45, 3.17, 1.23]",
        "restitution = 0, friction = 0.3", h, 0.6);
    EXPECT_EQ(found.failure, certify::Failure::None) << h;
  }
}

/// Boxes that land on the edge of a block with a corner beyond it, and lose their speed: which
/// faces a corner is before depends on how far one looks, and the judge knew the speed after the
/// impact alone (`active_set`).
TEST(Landing, BoxesOnTheEdgeOfABlock) {
  struct Box {
    const char* sides;
    double angle;
    const char* at;
    const char* velocity;
    double friction;
    double h;
  };
  for (const Box& box : {Box{"0.25, 0.34", 1.96, "0.33, 0.6", "-2.92, -6.33", 0, 2e-3},
                         Box{"0.29, 0.14", 0.06, "0.52, 0.6", "-1.26, -3.73", 1, 1e-3},
                         Box{"0.29, 0.45", 1.67, "0.51, 0.6", "2.88, -6.69", 1, 5e-3},
                         Box{"0.35, 0.25", 1.66, "0.34, 0.6", "1.10, -9.42", 0, 5e-3}}) {
    const auto found = land<2>(
        fmt::format("[body.a]\nbox = [{}]\nmass = 1\ninertia = 0.02\nangle = {}\nat = [{}]\n"
                    "velocity = [{}]\n[body.b]\nfixed = true\nbox = [1, 1]\nat = [0, -0.5]",
                    box.sides, box.angle, box.at, box.velocity),
        fmt::format("restitution = 0, friction = {}", box.friction), box.h, 0.5);
    EXPECT_EQ(found.failure, certify::Failure::None) << box.sides;
  }
}

/// A tilted box that lies in the floor and does not move: put back it is as flat as rounds of the
/// projection leave it, farther above than the slack. It comes to rest on its side.
TEST(Landing, ATiltedBoxIsPutBackAtRest) {
  const auto found = land<2>(
      "[body.floor]\nfixed = true\nhalf_plane = { point = [0, 0], normal = [0, 1] }\n"
      "[body.a]\nbox = [0.4, 0.2]\nmass = 1\ninertia = 0.0166666666666667\n"
      "at = [0, 0.098]\nangle = 0.02\n[start]\ntolerance = 0.02",
      "restitution = 0.3, friction = 0.6", 2e-3, 0.2);
  EXPECT_EQ(found.failure, certify::Failure::None);
  EXPECT_NEAR(found.a.x[1], 0.1, 1e-8);
  EXPECT_NEAR(found.a.angle, 0.0, 1e-8);
  EXPECT_NEAR(found.a.v[1], 0.0, 1e-8);
}

}  // namespace
}  // namespace ricochet::step
