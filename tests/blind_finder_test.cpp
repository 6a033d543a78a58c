// A step whose finder drops a pair: the judge, who searches by himself, fails every such run.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/certify/bodies.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::testing::blind_finder_test {
namespace {

using Pair = std::pair<int, int>;  // of bodies, the lower one first

template <int D>
struct Run {
  certify::Failure failure{certify::Failure::None};
  std::vector<Pair> pushed;  // in the order in which they first did
  int steps{0};
};

/// Steps of `seen`, judged as steps of `world`.
template <int D>
Run<D> judged(const body::World<D>& world, const body::World<D>& seen,
              const step::RunSettings& settings, int most) {
  step::MoreauBodies<D> stepper(seen, settings.limits);
  body::WorldState<D> state = step::start_of(world, 0.0);
  body::WorldState<D> next = state;
  certify::BodyJudge<D> judge(world, settings.limits, state);
  certify::BodyClaim<D> claim;
  Run<D> run;
  std::set<Pair> known;
  for (; run.steps < most; ++run.steps) {
    next.t = state.t + settings.step;
    EXPECT_EQ(stepper.advance(state, settings.step, next, claim).status, problem::Status::Solved);
    if (!judge.accept(state, next, settings.step, claim)) {
      run.failure = judge.certificate().failure;
      return run;
    }
    for (const body::Push<D>& push : claim.pushes) {
      if (push.impulse[0] <= 0.0) continue;
      const int a = world.solid(push.key.a).body;
      const int b = world.solid(push.key.b).body;
      const Pair pair = std::minmax(a, b);
      if (known.insert(pair).second) run.pushed.push_back(pair);
    }
    std::swap(state, next);
  }
  return run;
}

/// Drops each of the first pairs that push, one after the other.
template <int D>
void expect_failures(const std::string& name, int steps, std::size_t pairs) {
  const scene::Scene scene = read_text(study::builtin_scene(name));
  const body::World<D>& world = [&]() -> const body::World<D>& {
    if constexpr (D == 2) return *scene.world()->plane;
    if constexpr (D == 3) return *scene.world()->space;
  }();
  const Run<D> honest = judged(world, world, scene.run, steps);
  EXPECT_EQ(honest.failure, certify::Failure::None) << name;
  ASSERT_GE(honest.pushed.size(), pairs) << name;
  for (std::size_t k = 0; k < pairs; ++k) {
    const Pair dropped = honest.pushed[k * honest.pushed.size() / pairs];
    body::World<D> blind = world;
    blind.apart.insert(std::lower_bound(blind.apart.begin(), blind.apart.end(), dropped), dropped);
    EXPECT_NE(judged(world, blind, scene.run, steps).failure, certify::Failure::None)
        << name << ": " << world.bodies[static_cast<std::size_t>(dropped.first)].name << " and "
        << world.bodies[static_cast<std::size_t>(dropped.second)].name;
  }
}

/// Scenes in which nobody else can carry what a pair carries: towers, arches, lone bodies on a
/// floor, impacts of two.
TEST(BlindFinder, FailsEveryRunInThePlane) {
  expect_failures<2>("body-stack", 20, 20);
  expect_failures<2>("body-arch", 20, 28);
  expect_failures<2>("body-overhang", 20, 4);
  expect_failures<2>("body-card-tent", 20, 3);
  expect_failures<2>("body-tilting-arch", 20, 8);
  expect_failures<2>("body-slide-to-roll", 5, 1);
  expect_failures<2>("body-slope", 5, 2);
  expect_failures<2>("body-cradle", 150, 4);
  expect_failures<2>("body-spinning-disc", 300, 2);
  expect_failures<2>("body-cloud", 80, 12);
}

TEST(BlindFinder, FailsEveryRunInSpace) {
  expect_failures<3>("body-sphere-rolls", 5, 1);
  expect_failures<3>("body-sphere-slope", 5, 2);
  expect_failures<3>("body-sphere-spin", 300, 2);
  expect_failures<3>("body-box-stack", 5, 20);
  expect_failures<3>("body-rattleback", 20, 1);
  expect_failures<3>("body-euler-disc", 20, 1);
  expect_failures<3>("body-tippe-top", 20, 1);
}

}  // namespace
}  // namespace ricochet::testing::blind_finder_test
