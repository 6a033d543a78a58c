// Sweeps over spheres by bodies: rows alone against their closed forms, heaps against Coulomb's law
// from its definition.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "allocations.h"
#include "ricochet/base/index.h"
#include "ricochet/base/random.h"
#include "ricochet/body/finder.h"
#include "ricochet/body/rows.h"
#include "ricochet/scene/scene.h"
#include "ricochet/solve/contact_measure.h"
#include "ricochet/step/round_sweeps.h"
#include "ricochet/study/motion.h"

namespace ricochet::step::round_sweeps_test {
namespace {

using base::index;
using Vec = body::Vec<3>;

/// Uniform spheres over the ground z = 0, and a row for each pair that is near.
struct Heap {
  body::World<3> world;
  std::vector<body::Row<3>> rows;
  std::vector<int> members;
  Eigen::VectorXd free;
  std::vector<double> friction;
  std::vector<double> noise;
  Eigen::VectorXd impulses;

  Heap() {
    world.materials = {"glass"};
    world.laws.resize(1);
    body::Body<3> ground;
    ground.kind = body::Kind::Fixed;
    ground.shapes = 1;
    ground.size = std::numeric_limits<double>::infinity();
    world.solids.push_back({0, shape::half_space<3>(Vec::Zero(), Vec::UnitZ())});
    world.bodies.push_back(ground);
  }
  void add(const Vec& at, double radius, double mass) {
    body::Body<3> ball;
    ball.mass = mass;
    ball.inertia = 0.4 * mass * radius * radius * shape::Mat<3>::Identity();
    body::settle_inertia(ball);
    ball.reach = ball.size = radius;
    ball.first_shape = static_cast<int>(world.solids.size());
    ball.shapes = 1;
    ball.start.x = at;
    world.solids.push_back({world.count(), shape::ball<3>(radius)});
    world.bodies.push_back(ball);
  }
  /// Rows with gaps up to twice `reach`, all with the same friction.
  void find(double reach, double mu) {
    std::vector<body::Motion<3>> at;
    for (const auto& one : world.bodies) at.push_back(one.start);
    body::Finder<3> finder(world);
    finder.find(at, std::vector<char>(at.size(), 1), std::vector<double>(at.size(), reach), rows);
    members.resize(rows.size());
    std::iota(members.begin(), members.end(), 0);
    const auto size = static_cast<Eigen::Index>(3 * rows.size());
    free = impulses = Eigen::VectorXd::Zero(size);
    friction.assign(rows.size(), mu);
    noise.assign(rows.size(), 0.0);
  }
  /// Free velocities of rows: those of bodies that fly at `velocities`.
  void set_free(const std::vector<body::Motion<3>>& velocities) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      free.segment<3>(static_cast<Eigen::Index>(3 * k)) = body::relative(
          rows[k], velocities[index(rows[k].body_a)], velocities[index(rows[k].body_b)]);
    }
  }
  std::vector<body::Motion<3>> places;      // where set: many rows are swept in groups
  const base::Executor* executor{nullptr};  // and by these threads

  RoundSweeps<3>::Problem problem() const {
    return {world,   rows, members, free, friction, noise, places.empty() ? nullptr : &places,
            executor};
  }

  /// Velocities of rows by the definition: u' + M^-1 G^T r of each body, with its inertia.
  Eigen::VectorXd velocities() const {
    std::vector<body::Motion<3>> given(world.bodies.size());
    const auto add_to = [&](int b, double sign, const Vec& arm, const Vec& p) {
      const body::Body<3>& body = world.body(b);
      if (!body.is_free()) return;
      given[index(b)].v += sign * p / body.mass;
      given[index(b)].spin += sign * body.inertia.inverse() * arm.cross(p);
    };
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Vec r = impulses.segment<3>(static_cast<Eigen::Index>(3 * k));
      const Vec p = body::in_space(rows[k], r);
      add_to(rows[k].body_a, 1.0, rows[k].arm_a, p);
      add_to(rows[k].body_b, -1.0, rows[k].arm_b, p);
    }
    Eigen::VectorXd u = free;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      u.segment<3>(static_cast<Eigen::Index>(3 * k)) +=
          body::relative(rows[k], given[index(rows[k].body_a)], given[index(rows[k].body_b)]);
    }
    return u;
  }
};

/// A heap of spheres in layers that are not quite regular, radii up to a factor `range` apart, each
/// with a velocity of its own beside that of falling.
Heap random_heap(base::Random& random, int across, double range, double mu) {
  Heap heap;
  std::vector<body::Motion<3>> velocities(1);
  for (int k = 0; k < across * across * across; ++k) {
    const double radius = random.uniform(1.0 / range, 1.0);
    const Vec jitter(random.normal(), random.normal(), random.normal());
    const Vec at(k % across, k / across % across, k / (across * across));
    heap.add(1.9 * at + 0.05 * jitter + Vec(0.0, 0.0, 0.95), radius, radius * radius * radius);
    body::Motion<3>& one = velocities.emplace_back();
    one.v = Vec(0.3 * random.normal(), 0.3 * random.normal(), -1.0 + 0.3 * random.normal());
    one.spin = 0.3 * Vec(random.normal(), random.normal(), random.normal());
  }
  heap.find(0.05, mu);
  heap.set_free(velocities);
  return heap;
}

/// Sweeps until the largest creep speed is below `speed`; whether it came to be.
bool solve(RoundSweeps<3>& sweeps, Heap& heap, double speed) {
  constexpr int kMost = 20'000;
  if (!sweeps.take(heap.problem(), heap.impulses)) return false;
  for (int k = 0; k < kMost && sweeps.measure().creep > speed; ++k) {
    sweeps.sweep({1.2, 1.2}, speed);
    sweeps.sweep_noted({1.0, 1.0});
  }
  sweeps.give(heap.problem(), heap.impulses);
  return sweeps.measure().creep <= speed;
}

/// One sphere strikes another that is free, off its middle line or along it: with
/// w = 1/m + 1/m', r_N = v_N/w and r_T = min(mu r_N, v_T/(7/2 w)).
TEST(RoundSweeps, TwoSpheresHaveTheirClosedForm) {
  constexpr double kFriction = 0.3;
  for (const double slip : {0.0, 0.5, 1.04, 1.06, 3.0}) {
    Heap heap;
    heap.add(Vec(0.0, 0.0, 10.0), 0.5, 2.0);
    heap.add(Vec(0.6, 0.8, 10.0), 0.5, 3.0);  // touches the other one
    heap.find(1e-6, kFriction);
    ASSERT_EQ(heap.rows.size(), 1U);
    const body::Row<3>& row = heap.rows[0];
    std::vector<body::Motion<3>> velocities(3);
    const Vec across = Vec::UnitZ();
    velocities[index(row.body_a)].v = -1.0 * row.normal + slip * across;
    heap.set_free(velocities);
    RoundSweeps<3> sweeps;
    ASSERT_TRUE(sweeps.take(heap.problem(), heap.impulses));
    sweeps.sweep({1.0, 1.0}, 0.0);  // one row: one sweep
    sweeps.give(heap.problem(), heap.impulses);
    const double w = 1.0 / 2.0 + 1.0 / 3.0;
    const double normal = 1.0 / w;
    const double tangential = std::min(kFriction * normal, slip / (3.5 * w));
    const Vec p = body::in_space(row, heap.impulses.head<3>());
    EXPECT_NEAR(p.dot(row.normal), normal, 1e-14) << slip;
    EXPECT_NEAR(p.dot(across), -tangential, 1e-14) << slip;
    EXPECT_NEAR((p - p.dot(row.normal) * row.normal - p.dot(across) * across).norm(), 0.0, 1e-14);
    EXPECT_LE(sweeps.measure().creep, 1e-14);
  }
}

/// A sphere on a slope rolls up to tan(slope) = 7/2 mu, and then friction is 2/7 of the weight
/// along it; beyond, it slides and friction is mu times the load.
TEST(RoundSweeps, ASphereOnASlopeRollsOrSlides) {
  constexpr double kFriction = 0.2;
  constexpr double kWeight = 2.0 * 9.81 * 0.01;  // m g h
  for (const double steep : {0.1, 0.69, 0.71, 2.0}) {
    Heap heap;
    heap.add(Vec(0.0, 0.0, 1.0), 1.0, 2.0);
    heap.find(1e-6, kFriction);
    ASSERT_EQ(heap.rows.size(), 1U);
    const double angle = std::atan(steep);
    std::vector<body::Motion<3>> velocities(2);
    velocities[1].v = kWeight / 2.0 * Vec(std::sin(angle), 0.0, -std::cos(angle));
    heap.set_free(velocities);
    RoundSweeps<3> sweeps;
    ASSERT_TRUE(solve(sweeps, heap, 1e-16));
    const double load = kWeight * std::cos(angle);
    const double rolls = 2.0 / 7.0 * kWeight * std::sin(angle);
    const double expected = steep < 3.5 * kFriction ? rolls : kFriction * load;
    EXPECT_NEAR(heap.impulses[0], load, 1e-15);
    EXPECT_NEAR(heap.impulses.tail<2>().norm(), expected, 1e-15) << steep;
    const double slip = heap.velocities().tail<2>().norm();
    if (steep < 3.5 * kFriction) {
      EXPECT_LE(slip, 1e-15);
    } else {
      EXPECT_GT(slip, 1e-5);
    }
  }
}

/// In the plane a disc rolls up to tan(slope) = 3 mu with a third of the weight along it; without
/// friction nothing acts along the tangent, not even rounding.
TEST(RoundSweeps, ADiscOnASlopeRollsOrSlides) {
  constexpr double kWeight = 2.0 * 9.81 * 0.01;  // m g h
  const Eigen::Vector2d n(0.6, 0.8);
  const Eigen::Vector2d down(0.8, -0.6);  // tan(slope) = 3/4
  body::World<2> world;
  world.bodies.resize(2);
  world.bodies[0].kind = body::Kind::Fixed;
  world.bodies[1].mass = 2.0;
  world.bodies[1].inertia = 0.5 * 2.0 * 0.25;
  body::Row<2> row;
  row.body_a = 1;
  row.body_b = 0;
  row.normal = n;
  row.arm_a = -0.5 * n;
  row.arm_b = Eigen::Vector2d(7.0, -3.0);
  const Eigen::Vector2d falls(0.0, -kWeight / 2.0);
  const Eigen::VectorXd free = body::in_frame(row, falls);
  for (const double mu : {0.0, 0.2, 0.24, 0.26, 1.0}) {
    const std::vector<double> friction = {mu};
    const std::vector<double> noise = {0.0};
    const std::vector<int> members = {0};
    Eigen::VectorXd impulses = Eigen::VectorXd::Zero(2);
    RoundSweeps<2> sweeps;
    const RoundSweeps<2>::Problem problem{world, {&row, 1}, members, free, friction, noise};
    ASSERT_TRUE(sweeps.take(problem, impulses));
    for (int k = 0; k < 60; ++k) sweeps.sweep({1.0, 1.0}, 0.0);
    sweeps.give(problem, impulses);
    const double load = 0.8 * kWeight;
    const double along = std::min(mu * load, 0.6 * kWeight / 3.0);
    EXPECT_NEAR(impulses[0], load, 1e-15) << mu;
    EXPECT_NEAR(body::in_space(row, impulses).dot(down), -along, 1e-15) << mu;
    if (mu == 0.0) {
      EXPECT_EQ(impulses[1], 0.0);
    }
    EXPECT_LE(sweeps.measure().creep, 1e-15) << mu;
  }
}

/// Coulomb's law row by row, from its definition, with velocities made from the impulses.
struct Modes {
  int sticking{0};
  int sliding{0};
  int open{0};
};
void expect_law(const Heap& heap, double speed, double impulse, Modes& modes) {
  const Eigen::VectorXd u = heap.velocities();
  for (std::size_t k = 0; k < heap.rows.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(3 * k);
    const double mu = heap.friction[k];
    const double normal = heap.impulses[at];
    const Eigen::Vector2d tangential = heap.impulses.segment<2>(at + 1);
    const Eigen::Vector2d slip = u.segment<2>(at + 1);
    EXPECT_GE(normal, 0.0);
    EXPECT_LE(tangential.norm(), mu * normal * (1.0 + 1e-12));
    EXPECT_GE(u[at], -speed);  // nothing is entered
    if (normal > impulse) {
      EXPECT_LE(u[at], speed);  // who pushes stays shut
    }
    if (tangential.norm() < mu * normal - impulse) {
      EXPECT_LE(slip.norm(), speed);
    }
    if (slip.norm() > 1e3 * speed) {
      EXPECT_LE((tangential + mu * normal * slip.normalized()).norm(),
                1e-2 * mu * normal + impulse);
    }
    modes.open += normal == 0.0 ? 1 : 0;
    modes.sliding += normal > impulse && slip.norm() > 1e3 * speed ? 1 : 0;
    modes.sticking += normal > impulse && slip.norm() <= speed ? 1 : 0;
  }
}

TEST(RoundSweeps, TheirEndObeysCoulombsLaw) {
  constexpr double kSpeed = 1e-9;  // of free velocities about 1
  base::Random random(7);
  RoundSweeps<3> sweeps;
  Modes modes;
  for (int k = 0; k < 12; ++k) {
    Heap heap = random_heap(random, 4, 1.0 + 0.2 * k, 0.1 * (1 + k % 6));
    ASSERT_TRUE(solve(sweeps, heap, kSpeed)) << k;
    expect_law(heap, 4.0 * kSpeed, 1e-8, modes);
  }
  EXPECT_GT(modes.sticking, 100);  // all three occur
  EXPECT_GT(modes.sliding, 100);
  EXPECT_GT(modes.open, 100);
}

/// Many rows, in groups: their end obeys Coulomb's law, the last group of each phase may come
/// first, and a second time nothing is allocated.
TEST(RoundSweeps, GroupsObeyCoulombsLawInAnyOrder) {
  constexpr double kSpeed = 1e-2;  // of free velocities about 1
  const base::Executor backwards = [](std::size_t count, const auto& work) {
    for (std::size_t k = count; k > 0; --k) work(k - 1);
  };
  base::Random random(3);
  Heap heap = random_heap(random, 11, 1.0, 0.4);
  for (const auto& one : heap.world.bodies) heap.places.push_back(one.start);
  ASSERT_GT(heap.rows.size(), 2048U);
  Heap other = heap;
  other.executor = &backwards;
  RoundSweeps<3> sweeps;
  ASSERT_TRUE(solve(sweeps, heap, kSpeed));
  EXPECT_GE(sweeps.groups(), 8);
  Modes modes;
  expect_law(heap, 4.0 * kSpeed, 10.0 * kSpeed, modes);
  const long long before = testing::allocations();
  ASSERT_TRUE(solve(sweeps, other, kSpeed));
  EXPECT_EQ(testing::allocations() - before, 0);
  EXPECT_EQ(other.impulses, heap.impulses);
}

/// What they say of themselves is what the general solvers' measure says, with W by its definition.
TEST(RoundSweeps, MeasureAsTheGeneralSolversDo) {
  base::Random random(11);
  RoundSweeps<3> sweeps;
  for (int k = 0; k < 40; ++k) {
    Heap heap = random_heap(random, 3, 1.0 + 0.1 * k, 0.05 * k);
    ASSERT_TRUE(sweeps.take(heap.problem(), heap.impulses));
    const int count = random.below(30);
    for (int j = 0; j < count; ++j) sweeps.sweep({1.3, 1.3}, 0.0);
    sweeps.give(heap.problem(), heap.impulses);
    std::vector<double> rho;
    for (const body::Row<3>& row : heap.rows) {
      double trace = 0.0;
      for (const bool of_a : {true, false}) {
        const body::Body<3>& body = heap.world.body(of_a ? row.body_a : row.body_b);
        if (!body.is_free()) continue;
        const Vec arm = of_a ? row.arm_a : row.arm_b;
        trace += 3.0 / body.mass + 2.0 * arm.squaredNorm() / body.inertia(0, 0);
      }
      rho.push_back(3.0 / trace);
    }
    const auto sums =
        solve::measure_contacts<3>(heap.friction, rho, heap.impulses, heap.velocities());
    const RoundSweeps<3>::Size size = sweeps.measure();
    EXPECT_NEAR(size.distance, std::sqrt(sums.distance), 1e-12 * size.impulse) << k;
    EXPECT_GE(size.impulse, std::sqrt(sums.largest) * (1.0 - 1e-12));
  }
}

/// Sweeps over what still changes lead where sweeps over all do.
TEST(RoundSweeps, TwoWaysOfSweepingEndAtTheSameMotionWithoutFriction) {
  base::Random random(3);
  Heap heap = random_heap(random, 4, 1.5, 0.0);
  Heap same = heap;
  RoundSweeps<3> sweeps;
  ASSERT_TRUE(solve(sweeps, heap, 1e-12));
  ASSERT_TRUE(sweeps.take(same.problem(), same.impulses));
  for (int k = 0; k < 20'000 && sweeps.measure().creep > 1e-12; ++k) sweeps.sweep({1.0, 1.0}, 0.0);
  sweeps.give(same.problem(), same.impulses);
  EXPECT_LE((heap.velocities() - same.velocities()).lpNorm<Eigen::Infinity>(), 1e-9);
}

TEST(RoundSweeps, RefuseWhatIsNoSphere) {
  Heap heap;
  heap.add(Vec(0.0, 0.0, 1.0), 1.0, 2.0);
  heap.find(1e-6, 0.2);
  RoundSweeps<3> sweeps;
  EXPECT_TRUE(sweeps.take(heap.problem(), heap.impulses));
  Heap aside = heap;
  aside.rows[0].arm_b += Vec(0.1, 0.0, 0.0);
  aside.rows[0].arm_a += Vec(0.1, 0.0, 0.0);
  EXPECT_FALSE(sweeps.take(aside.problem(), aside.impulses));
  Heap uneven = heap;
  uneven.world.bodies[1].is_even = false;
  EXPECT_FALSE(sweeps.take(uneven.problem(), uneven.impulses));
}

/// Exact: r in K, whatever the size of r; squares of such numbers are 0.
TEST(RoundSweeps, ImpulsesOfNoSizeStayInTheirCones) {
  Heap heap;
  heap.add(Vec(0.0, 0.0, 1.0), 1.0, 1.0);
  heap.find(0.05, 0.5);
  ASSERT_EQ(heap.rows.size(), 1U);
  heap.free = 1e-165 * Eigen::Vector3d(-1.0, 50.0, 0.0);
  RoundSweeps<3> sweeps;
  ASSERT_TRUE(sweeps.take(heap.problem(), heap.impulses));
  sweeps.sweep({1.0, 1.0}, 0.0);
  sweeps.give(heap.problem(), heap.impulses);
  EXPECT_GE(heap.impulses[0], 0.0);
  EXPECT_LE(heap.impulses.tail<2>().stableNorm(), 0.5 * heap.impulses[0]);
}

TEST(RoundSweeps, DoNotAllocateOnceTheyHaveTheirRoom) {
  base::Random random(5);
  Heap heap = random_heap(random, 4, 1.5, 0.5);
  RoundSweeps<3> sweeps;
  ASSERT_TRUE(solve(sweeps, heap, 1e-3));
  const long long before = testing::allocations();
  const bool is_solved = solve(sweeps, heap, 1e-6);
  EXPECT_EQ(testing::allocations() - before, 0);
  EXPECT_TRUE(is_solved);
}

/// Newton's method on rows around one leaves the impulses of all others, and its own obey Coulomb's
/// law: all rows are measured, of a part or of the whole heap.
TEST(RoundSweeps, RowsAroundOneObeyCoulombsLaw) {
  constexpr double kSpeed = 1e-7;  // of free velocities about 1
  base::Random random(17);
  Modes modes;
  for (int k = 0; k < 6; ++k) {
    Heap heap = random_heap(random, 4, 1.0 + 0.2 * k, 0.1 * (1 + k));
    RoundSweeps<3> sweeps;
    ASSERT_TRUE(sweeps.take(heap.problem(), heap.impulses));
    for (int j = 0; j < 20; ++j) sweeps.sweep({1.0, 1.0}, 0.0);
    sweeps.give(heap.problem(), heap.impulses);
    const Eigen::VectorXd before = heap.impulses;
    if (!sweeps.solve_around(index(k), 30)) continue;
    EXPECT_LT(sweeps.solved().size(), sweeps.count());
    std::vector<char> is_solved(heap.rows.size(), 0);
    for (const int contact : sweeps.solved()) {
      EXPECT_LE(sweeps.seen(index(contact)).creep, kSpeed);
      is_solved[index(sweeps.row(index(contact)))] = 1;
    }
    sweeps.give(heap.problem(), heap.impulses);
    for (std::size_t i = 0; i < heap.rows.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(3 * i);
      if (is_solved[i] == 0) {
        EXPECT_LE((heap.impulses - before).segment<3>(at).norm(), 1e-14);
      }
    }
    bool is_all_solved = true;  // a heap may be in parts that do not touch
    for (std::size_t i = 0; i < sweeps.count(); ++i) {
      if (sweeps.seen(i).creep <= kSpeed) continue;
      is_all_solved = sweeps.solve_around(i, sweeps.count()) && is_all_solved;
    }
    if (!is_all_solved) continue;
    EXPECT_LE(sweeps.measure().creep, kSpeed);
    sweeps.give(heap.problem(), heap.impulses);
    expect_law(heap, 4.0 * kSpeed, 1e-6, modes);
  }
  EXPECT_GT(modes.sticking, 50);  // it was solved, and all three occur
  EXPECT_GT(modes.sliding, 50);
  EXPECT_GT(modes.open, 50);
}

/// With lifts s held, impulses minimise 1/2 r.Wr + r.q + sum s r_N over their cones, and no sweep
/// of a pace below 2 makes that larger: it is convex. With lifts that follow they end at Coulomb's
/// law.
TEST(RoundSweeps, LiftedSweepsNeverRise) {
  constexpr double kSpeed = 1e-7;
  base::Random random(19);
  Modes modes;
  for (const double mu : {0.2, 0.5, 0.9}) {
    Heap heap = random_heap(random, 4, 1.3, mu);
    RoundSweeps<3> sweeps;
    ASSERT_TRUE(sweeps.take(heap.problem(), heap.impulses));
    sweeps.lift();  // of free velocities
    double before = 0.0;
    for (int k = 0; k < 40; ++k) {
      sweeps.sweep({1.9, 1.9, true}, 0.0);
      sweeps.give(heap.problem(), heap.impulses);
      double value = 0.5 * heap.impulses.dot(heap.velocities() + heap.free);
      for (Eigen::Index at = 0; at < heap.free.size(); at += 3) {
        value += mu * heap.free.segment<2>(at + 1).norm() * heap.impulses[at];
      }
      EXPECT_LE(value, before + 1e-12 * std::abs(before));
      before = value;
    }
    EXPECT_LT(before, 0.0);
    for (int k = 0; k < 20'000 && sweeps.measure().creep > kSpeed; ++k) {
      sweeps.sweep({1.0, 1.0, true}, 0.0);
      sweeps.lift_on(0.1);
    }
    EXPECT_LE(sweeps.measure().creep, kSpeed) << mu;
    sweeps.give(heap.problem(), heap.impulses);
    expect_law(heap, 4.0 * kSpeed, 1e-6, modes);
  }
  EXPECT_GT(modes.sliding, 10);
}

/// Where sweeps go round in circles for ever, Newton's method around the worst row ends them.
TEST(RoundSweeps, CirclesEndAroundTheWorstRow) {
  constexpr double kSpeed = 1e-4;
  constexpr int kRounds = 200;
  int circles = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    base::Random random(static_cast<unsigned>(seed));
    Heap heap = random_heap(random, 5, 1.2, 1.0);
    RoundSweeps<3> sweeps;
    ASSERT_TRUE(sweeps.take(heap.problem(), heap.impulses));
    for (int k = 0; k < 2000; ++k) sweeps.sweep({1.8, 1.1}, kSpeed);
    if (sweeps.measure().creep <= kSpeed) continue;
    ++circles;
    for (int round = 0; round < kRounds && sweeps.measure().creep > kSpeed; ++round) {
      std::size_t worst = 0;
      for (std::size_t k = 1; k < sweeps.count(); ++k) {
        if (sweeps.seen(k).creep > sweeps.seen(worst).creep) worst = k;
      }
      sweeps.solve_around(worst, 100);
      for (int k = 0; k < 20; ++k) sweeps.sweep({1.0, 0.9}, kSpeed);
    }
    EXPECT_LE(sweeps.measure().creep, kSpeed) << seed;
  }
  EXPECT_GT(circles, 6);
}

/// Spheres whose radii are up to a factor `range` apart fall into a box, at Level::Bounded.
std::string box_of_spheres(double range) {
  return fmt::format(R"toml(
[world]
dimension  = 3
gravity    = [0, 0, -9.81]
[material.glass]
density = 1000
[pair]
default = {{ friction = 0.5 }}
[fill.grain]
shape    = "sphere"
radius   = {{ uniform = [{}, 0.05] }}
count    = 260
inside   = {{ box = [[0, 0, 0], [0.6, 0.6, 1.2]] }}
pattern  = "random"
seed     = 2
material = "glass"
[body.box]
fixed  = true
shapes = [{{ half_space = {{ point = [0, 0, 0], normal = [0, 0, 1] }} }},
          {{ half_space = {{ point = [0, 0, 0], normal = [1, 0, 0] }} }},
          {{ half_space = {{ point = [0.6, 0, 0], normal = [-1, 0, 0] }} }},
          {{ half_space = {{ point = [0, 0, 0], normal = [0, 1, 0] }} }},
          {{ half_space = {{ point = [0, 0.6, 0], normal = [0, -1, 0] }} }}]
[run]
level  = "bounded"
step   = 0.002
until  = 2
record = 10
)toml",
                     0.05 / range);
}

/// A heap that is large enough for sweeps comes to rest: next to nothing is left of its energy but
/// what a loose sphere may roll with, no body that rested begins to move, and steps come to be
/// exact.
TEST(RoundSweeps, HeapsComeToRest) {
  for (const double range : {1.25, 5.0}) {
    const study::Motion motion =
        study::run_scene(scene::read_scene("box.toml", box_of_spheres(range)), false);
    ASSERT_TRUE(motion.outcome.certificate.ok()) << range;
    const auto& told = motion.world->told;
    EXPECT_GT(told.pushes_max, 400) << range;
    EXPECT_GT(told.steps[0], 100) << range;
    EXPECT_EQ(told.left_rest, 0) << range;
    const auto& ledger = motion.outcome.certificate.ledger;
    EXPECT_LT(ledger.kinetic_end, 1e-4 * ledger.kinetic_max) << range;
  }
}

}  // namespace
}  // namespace ricochet::step::round_sweeps_test
