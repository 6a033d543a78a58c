// Sleep by islands: what is at rest is not solved again until something comes near, moves by the
// same law as what was awake, and the judge believes nothing of it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"

namespace ricochet::testing::sleep_test {
namespace {

constexpr double kGravity = 9.81;
constexpr int kRows = 5;                         // of a pyramid
constexpr int kDiscs = kRows * (kRows + 1) / 2;  // of mass 1; the floor is body 0
constexpr int kCorner = kDiscs + kRows;          // of the second one, to the right

/// Two pyramids of discs that rest, at x = 0 and x = 3, and what else there is.
std::string heaps(bool sleep, const std::string& level, const std::string& more) {
  return fmt::format(
      "[world]\ndimension = 2\ngravity = [0, -9.81]\nsleep = {0}\n"
      "[pair]\ndefault = {{ friction = 0.7 }}\n[body.floor]\nfixed = true\n"
      "half_plane = {{ point = [0, 0], normal = [0, 1] }}\n"
      "[body.d]\nfor = \"k in 0..1, j in 1..{1}, i in 1..{1}-j+1\"\ndisc = 0.05\nmass = 1\n"
      "inertia = \"0.5*0.05^2\"\nat = [\"3*k + 0.1*(i + 0.5*j)\", \"0.05 + (j-1)*sqrt(3)*0.05\"]\n"
      "{2}[run]\nstep = 0.001\nuntil = 0.1\nlevel = \"{3}\"\n",
      sleep, kRows, more, level);
}
const std::string kBall =  // strikes the second pyramid from the right, at t = 0.045
    "[body.ball]\ndisc = 0.05\nmass = 1\ninertia = \"0.5*0.05^2\"\nat = [3.78, 0.05]\n"
    "velocity = [-3, 0]\n";
const std::string kRoller =  // rolls along the floor, beside nobody
    "[body.ball]\ndisc = 0.05\nmass = 1\ninertia = \"0.5*0.05^2\"\nat = [1.5, 0.05]\n"
    "velocity = [1, 0]\nspin = -20\n";

/// Steps of a world one by one, each judged.
struct Steps {
  scene::Scene scene;
  const body::World<2>& world;
  body::WorldState<2> state;
  body::WorldState<2> next;
  step::MoreauBodies<2> stepper;
  certify::BodyJudge<2> judge;
  certify::BodyClaim<2> claim;

  explicit Steps(const std::string& text)
      : scene(scene::read_scene("sleep.toml", text)),
        world(*scene.world()->plane),
        state(step::start_of(world, 0.0)),
        next(state),
        stepper(world, scene.run.limits),
        judge(world, scene.run.limits, state) {}

  void make() {
    const double h = scene.run.step;
    next.t = state.t + h;
    ASSERT_EQ(stepper.advance(state, h, next, claim).status, problem::Status::Solved);
  }
  bool accept() { return judge.accept(state, next, scene.run.step, claim); }
  void go(int steps) {
    for (int k = 0; k < steps; ++k) {
      make();
      ASSERT_TRUE(accept()) << judge.statistics().where << judge.statistics().broken;
      std::swap(state, next);
    }
  }
  std::size_t body(const std::string& name) const {
    for (std::size_t i = 0; i < world.bodies.size(); ++i) {
      if (world.bodies[i].name == name) return i;
    }
    ADD_FAILURE() << name;
    return 0;
  }
  /// Of pyramid k: how many of its discs sleep, and what it lays on the floor in a step.
  int asleep(int k) const {
    int count = 0;
    for (std::size_t i = 1; i <= 2 * kDiscs; ++i) {
      if ((i <= kDiscs) == (k == 0)) count += state.asleep[i] != 0 ? 1 : 0;
    }
    return count;
  }
  double load(int k) const {
    double sum = 0.0;
    for (const body::Push<2>& push : state.pushes) {
      const auto a = static_cast<std::size_t>(world.solid(push.key.a).body);
      const auto b = static_cast<std::size_t>(world.solid(push.key.b).body);
      if (a != 0 || b > 2 * kDiscs) continue;
      if ((b <= kDiscs) == (k == 0)) sum += push.impulse[0];
    }
    return sum;
  }
};

void expect_same_places(const Steps& one, const Steps& other, double most) {
  for (std::size_t i = 0; i < one.world.bodies.size(); ++i) {
    EXPECT_LE((one.state.bodies[i].x - other.state.bodies[i].x).norm(), most) << i;
    EXPECT_LE(std::abs(one.state.bodies[i].angle - other.state.bodies[i].angle), most / 0.05) << i;
  }
}

/// Who rests sleeps while somebody rolls elsewhere, who keeps the velocity of rolling for ever:
/// rows are his alone, the floor carries the weight, and no bit of those who sleep changes.
TEST(SleepByIslands, HoldsBesideWhatMoves) {
  for (const char* level : {"exact", "bounded"}) {
    Steps run(heaps(true, level, kRoller));
    run.go(10);
    ASSERT_EQ(run.asleep(0), kDiscs);
    ASSERT_EQ(run.asleep(1), kDiscs);
    const std::vector<body::Motion<2>> before = run.state.bodies;
    run.go(80);
    EXPECT_EQ(run.stepper.rows().size(), 1U);
    for (std::size_t i = 1; i <= 2 * kDiscs; ++i) {
      EXPECT_EQ(run.state.bodies[i].x, before[i].x);
      EXPECT_EQ(run.state.bodies[i].v, body::Vec<2>::Zero());
    }
    for (const int k : {0, 1}) EXPECT_NEAR(run.load(k), 1e-3 * kDiscs * kGravity, 1e-12);
    EXPECT_NEAR(run.state.bodies[run.body("ball")].x[0], 1.5 + 0.09, 1e-12);
    EXPECT_NEAR(run.state.bodies[run.body("ball")].v[0], 1.0, 1e-12);
  }
}

/// A pyramid that sleeps and is struck moves as its twin that was awake, and the other one sleeps
/// on.
TEST(SleepByIslands, EndsForTheIslandThatIsStruck) {
  Steps asleep(heaps(true, "exact", kBall));
  Steps awake(heaps(false, "exact", kBall));
  asleep.go(40);
  ASSERT_EQ(asleep.asleep(0), kDiscs);
  ASSERT_EQ(asleep.asleep(1), kDiscs);
  asleep.go(20);
  awake.go(60);
  EXPECT_EQ(asleep.asleep(0), kDiscs);
  EXPECT_LT(asleep.asleep(1), kDiscs);
  EXPECT_GT((asleep.state.bodies[kCorner].x - asleep.world.bodies[kCorner].start.x).norm(), 1e-3);
  expect_same_places(asleep, awake, 1e-8);  // roundoff: impulses of a blow, each to 1e-10
}

/// The same of a wall that is driven: it comes, pushes one, and the other sleeps on.
TEST(SleepByIslands, EndsWhereADrivenBodyComes) {
  const std::string wall =
      "[body.wall]\ndriven = { position = [\"3.72 - t\", 0.1] }\nbox = [0.1, 0.3]\n";
  Steps asleep(heaps(true, "exact", wall));
  Steps awake(heaps(false, "exact", wall));
  asleep.go(20);
  ASSERT_EQ(asleep.asleep(1), kDiscs) << "the wall is not there yet";
  asleep.go(80);
  awake.go(100);
  EXPECT_EQ(asleep.asleep(0), kDiscs);
  EXPECT_EQ(asleep.asleep(1), 0);
  expect_same_places(asleep, awake, 1e-8);
}

/// Steps that say nothing happened to those who sleep, and are wrong.
TEST(SleepByIslands, IsNotBelieved) {
  using certify::Failure;
  const auto told = [](const std::string& more, int steps, auto&& lie) {
    Steps run(heaps(true, "exact", more));
    run.go(steps);
    run.make();
    EXPECT_EQ(run.asleep(1), kDiscs);
    lie(run);
    (void)run.accept();
    return run.judge.certificate().failure;
  };
  const auto lowest = [](Steps& run) -> body::Push<2>& { return run.claim.pushes.front(); };
  EXPECT_EQ(told(kRoller, 20, [](Steps&) {}), Failure::None);
  EXPECT_NE(told(kRoller, 20, [&](Steps& run) { lowest(run).impulse[0] *= 1.0 + 1e-6; }),
            Failure::None);
  EXPECT_NE(told(kRoller, 20, [&](Steps& run) { lowest(run).impulse[1] += 1e-9; }), Failure::None);
  EXPECT_NE(told(kRoller, 20, [](Steps& run) { run.claim.pushes.pop_back(); }), Failure::None);
  EXPECT_NE(told(kRoller, 20, [](Steps& run) { run.next.bodies[kDiscs].x[0] += 1e-9; }),
            Failure::None);
  EXPECT_NE(told(kRoller, 20, [](Steps& run) { run.next.bodies[kDiscs].v[1] = 1e-6; }),
            Failure::None);
  EXPECT_NE(told(kRoller, 20, [](Steps& run) { run.next.gone[kDiscs] = 1; }), Failure::None);
}

/// A ball that comes to a pyramid which sleeps, and is said to fly on through it.
TEST(SleepByIslands, SeesWhoComesNear) {
  Steps run(heaps(true, "exact", kBall));
  run.go(30);
  ASSERT_EQ(run.asleep(1), kDiscs);
  const std::size_t ball = run.body("ball");
  const body::WorldState<2> before = run.state;
  const std::vector<body::Push<2>> pushes = run.state.pushes;
  certify::Failure found = certify::Failure::None;
  for (int k = 0; k < 40 && found == certify::Failure::None; ++k) {
    run.next = run.state;
    run.next.t += run.scene.run.step;
    run.next.steps += 1;
    run.next.bodies[ball].x[0] -= 3e-3;
    run.claim.pushes = pushes;
    (void)run.accept();
    found = run.judge.certificate().failure;
    std::swap(run.state, run.next);
  }
  EXPECT_NE(found, certify::Failure::None);
  const double gap = (run.state.bodies[ball].x - before.bodies[kCorner].x).norm() - 0.1;
  EXPECT_GE(gap, -6e-3) << "found before it is inside";
}

/// A box that begins where it is taken out leaves with the first step; from then on the one that
/// lay on it falls: y = 1.5 - g/2 (t - h)^2, in Moreau's step to rounding.
TEST(SleepByIslands, LetsGoWhoIsTakenOut) {
  for (const bool sleep : {true, false}) {
    Steps run(fmt::format(
        "[world]\ndimension = 2\ngravity = [0, -10]\nsleep = {}\n"
        "[pair]\ndefault = {{ friction = 0.3 }}\n[remove]\nbelow = 0.6\n"
        "[body.floor]\nfixed = true\nhalf_plane = {{ point = [0, 0], normal = [0, 1] }}\n"
        "[body.sup]\nbox = [1, 1]\nmass = 1\ninertia = 1\nat = [0, 0.5]\n"
        "[body.top]\nbox = [1, 1]\nmass = 1\ninertia = 1\nat = [0, 1.5]\n"
        "[run]\nstep = 0.001\nuntil = 1\n",
        sleep));
    run.go(1);
    EXPECT_EQ(run.state.gone[run.body("sup")], 1);
    EXPECT_EQ(run.state.bodies[run.body("top")].x[1], 1.5);
    run.go(199);
    EXPECT_NEAR(run.state.bodies[run.body("top")].x[1], 1.5 - 5 * 0.199 * 0.199, 1e-12);
    run.go(300);
    EXPECT_EQ(run.state.gone[run.body("top")], 1);
    EXPECT_EQ(run.judge.statistics().removed, 2);
  }
}

}  // namespace
}  // namespace ricochet::testing::sleep_test
