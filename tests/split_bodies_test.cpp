// A run of bodies that is split at any step and continued has the same bits as the whole: all that
// a step needs from those before it is in the state.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "ricochet/base/random.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/moreau_bodies.h"
#include "ricochet/step/run_bodies.h"
#include "ricochet/study/builtin_scenes.h"

namespace ricochet::step::split_bodies_test {
namespace {

using Bits = std::vector<std::uint64_t>;

void add(Bits& bits, const double* values, Eigen::Index count) {
  for (Eigen::Index k = 0; k < count; ++k) bits.push_back(std::bit_cast<std::uint64_t>(values[k]));
}
template <class Dense>
void add(Bits& bits, const Dense& values) {
  add(bits, values.data(), values.size());
}

void add_turn(Bits& bits, const body::Motion<2>& m) {
  add(bits, &m.angle, 1);
  add(bits, &m.spin, 1);
}
void add_turn(Bits& bits, const body::Motion<3>& m) {
  add(bits, m.turn.coeffs());
  add(bits, m.spin);
  add(bits, m.rates);
}

/// Places, velocities and impulses.
template <int D>
Bits bits_of(const body::WorldState<D>& state) {
  Bits bits;
  for (const body::Motion<D>& m : state.bodies) {
    add(bits, m.x);
    add(bits, m.v);
    add_turn(bits, m);
  }
  for (const body::Push<D>& push : state.pushes) add(bits, push.impulse);
  return bits;
}

/// States of a run, as many as it has steps and one more.
template <int D>
std::vector<body::WorldState<D>> run_from(const body::World<D>& world, const RunSettings& run,
                                          const body::WorldState<D>& start, int steps) {
  std::vector<body::WorldState<D>> states = {start};
  MoreauBodies<D> stepper(world, run.limits);
  certify::BodyClaim<D> claim;
  for (int k = 0; k < steps; ++k) {
    body::WorldState<D> next = states.back();
    next.t = static_cast<double>(states.back().steps + 1) * run.step;
    const problem::Report report = stepper.advance(states.back(), run.step, next, claim);
    EXPECT_EQ(report.status, problem::Status::Solved) << "step " << states.back().steps;
    if (report.status != problem::Status::Solved) break;
    states.push_back(std::move(next));
  }
  return states;
}

template <int D>
void expect_same_when_split(const body::World<D>& world, const RunSettings& run, int steps) {
  constexpr int kSplits = 20;
  constexpr int kAfter = 6;  // steps that are compared
  const auto whole = run_from(world, run, start_of(world, 0.0), steps);
  ASSERT_EQ(whole.size(), static_cast<std::size_t>(steps) + 1);
  base::Random random(7);
  for (int k = 0; k < kSplits; ++k) {
    const auto at = static_cast<std::size_t>(random.uniform() * (steps - kAfter));
    const auto part = run_from(world, run, whole[at], kAfter);
    for (std::size_t j = 0; j < part.size(); ++j) {
      ASSERT_EQ(bits_of(part[j]), bits_of(whole[at + j])) << "split at " << at << ", " << j;
    }
  }
}

struct Case {
  std::string name;
  std::string scene;  // in the program, or the text of one
  int steps;
};

/// Discs that fall on each other: a run that states no level, and leaves the exact one.
const std::string kCollapse = R"(
title = "Discs that fall"
[world]
dimension = 2
gravity   = [0, -9.81]
[material.glass]
density = 1000
[pair]
default = { friction = 0.5 }
[fill.grain]
shape    = "disc"
radius   = { uniform = [0.004, 0.006] }
count    = 120
inside   = { box = [[0, 0], [0.1, 0.25]] }
pattern  = "random"
seed     = 1
material = "glass"
[body.ground]
fixed      = true
material   = "glass"
half_plane = { point = [0, 0], normal = [0, 1] }
[run]
step  = 0.001
until = 0.3
)";

/// A plank that slides over three discs: its load can be shared in more than one way.
const std::string kPlank = R"(
title = "A plank on three discs"
[world]
dimension = 2
gravity   = [0, -9.81]
[material.wood]
density = 600
[material.ice]
[pair]
"wood wood" = { friction = 0.5 }
"wood ice"  = { friction = 0 }
[body.plank]
box      = [2, 0.1]
at       = [0, 0.15]
velocity = [1, 0]
material = "wood"
[body.left]
fixed    = true
disc     = 0.1
at       = [-0.6, 0]
material = "wood"
[body.middle]
fixed    = true
disc     = 0.1
at       = [0, 0]
material = "ice"
[body.right]
fixed    = true
disc     = 0.1
at       = [0.6, 0]
material = "wood"
[run]
step  = 0.001
until = 0.2
)";

/// Spheres enough to be swept by bodies.
const std::string kSpheres = R"(
title = "Spheres that fall"
[world]
dimension = 3
gravity   = [0, 0, -9.81]
[material.glass]
density = 1000
[pair]
default = { friction = 0.5 }
[fill.grain]
shape    = "sphere"
radius   = { uniform = [0.045, 0.055] }
count    = 260
inside   = { box = [[0, 0, 0], [0.6, 0.6, 1.5]] }
pattern  = "random"
seed     = 1
material = "glass"
[body.box]
fixed    = true
material = "glass"
shapes   = [{ half_space = { point = [0, 0, 0], normal = [0, 0, 1] } },
            { half_space = { point = [0, 0, 0], normal = [1, 0, 0] } },
            { half_space = { point = [0.6, 0, 0], normal = [-1, 0, 0] } },
            { half_space = { point = [0, 0, 0], normal = [0, 1, 0] } },
            { half_space = { point = [0, 0.6, 0], normal = [0, -1, 0] } }]
[run]
step  = 0.002
until = 0.6
level = "bounded"
)";

class SplitBodies : public ::testing::TestWithParam<Case> {};

TEST_P(SplitBodies, HasTheSameBits) {
  const Case& one = GetParam();
  const bool is_text = one.scene.find('\n') != std::string::npos;
  const std::string text = is_text ? one.scene : study::builtin_scene(one.scene);
  const scene::Scene scene = scene::read_scene(one.name + ".toml", text);
  const scene::WorldPart* world = scene.world();
  ASSERT_NE(world, nullptr);
  if (world->plane) expect_same_when_split(*world->plane, scene.run, one.steps);
  if (world->space) expect_same_when_split(*world->space, scene.run, one.steps);
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, SplitBodies,
    ::testing::Values(Case{"Pile", "body-pile", 200}, Case{"Heap", "body-heap", 100},
                      Case{"CardTent", "body-card-tent", 100}, Case{"Arch", "body-arch", 100},
                      Case{"Cloud", "body-cloud", 300}, Case{"PlankTower", "body-plank-tower", 60},
                      Case{"FourBar", "body-four-bar", 500}, Case{"Cart", "body-cart", 500},
                      Case{"Chain", "body-pendulum-chain", 300},
                      Case{"RollingFriction", "body-rolling-resistance", 1000},
                      Case{"Packing", "body-packing", 400},
                      Case{"Rattleback", "body-rattleback", 300}, Case{"Plank", kPlank, 100},
                      Case{"Collapse", kCollapse, 200}, Case{"Spheres", kSpheres, 200}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ricochet::step::split_bodies_test
