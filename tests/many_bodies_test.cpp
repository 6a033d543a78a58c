// Systems of many bodies: problems that fall into parts, solved part by part, without a matrix that
// has all its zeros.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/QR>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "dense_step.h"
#include "program.h"
#include "ricochet/base/random.h"
#include "ricochet/convex/friction_cone.h"
#include "ricochet/solve/islands.h"
#include "ricochet/solve/step_solver.h"
#include "ricochet/step/run_formula.h"
#include "support.h"

namespace ricochet::solve::many_bodies_test {
namespace {

using Eigen::VectorXd;
using problem::StepProblem;
using testing::random_matrix;
using testing::random_vector;

/// Bodies of three coordinates and random masses with a contact each; `chained` of them, from the
/// first on, also have one with the next.
struct Bodies {
  std::vector<double> inverse;
  std::vector<double> half_inverse;
  StepProblem problem;
};

void add_contact(base::Random& random, int first, int coordinates, int slips, double press, int key,
                 Bodies& bodies) {
  StepProblem& problem = bodies.problem;
  auto& contact = problem.add_contact(slips, static_cast<problem::Key>(key));
  const double mu = random.uniform(0.05, 0.8);
  if (slips == 1) contact.section = convex::Segment{-mu, mu};
  if (slips == 2) contact.section = convex::Disc{mu};
  for (int j = 0; j <= slips; ++j) {
    for (int i = 0; i < coordinates; ++i) {
      problem.add(first + i, random.normal() + (j == 0 && i == 0 ? 3.0 : 0.0));
    }
    problem.end_row(random.normal() - (j == 0 ? press : 0.0));
  }
}

void make_bodies(base::Random& random, int count, int chained, int most_slips, Bodies& bodies) {
  bodies.inverse.clear();
  bodies.half_inverse.clear();
  for (int i = 0; i < 3 * count; ++i) {
    bodies.inverse.push_back(std::pow(10.0, random.uniform(-1.0, 1.0)));
    bodies.half_inverse.push_back(std::sqrt(bodies.inverse.back()));
  }
  bodies.problem.begin(3 * count, {bodies.inverse.data(), bodies.half_inverse.data()});
  for (int i = 0; i < count; ++i) {
    const int slips = most_slips > 0 ? random.below(most_slips + 1) : 0;
    add_contact(random, 3 * i, 3, slips, 1.0, i, bodies);
  }
  for (int i = 0; i < chained; ++i) {
    add_contact(random, 3 * i, 6, most_slips, 0.5, count + i, bodies);
  }
}

/// The scale-free residual from the definition; W R by way of the coordinates.
double residual_of(const StepProblem& problem, const StepSolver& solver) {
  VectorXd velocity = VectorXd::Zero(problem.dofs);
  problem.add_momentum([&](int row) { return solver.impulse(row); }, velocity);
  for (int i = 0; i < problem.dofs; ++i) velocity[i] *= problem.metric.inverse(i);
  double distance = 0.0;
  double scale = 0.0;
  for (const StepProblem::Contact& contact : problem.contacts) {
    Eigen::Vector3d r = Eigen::Vector3d::Zero();
    Eigen::Vector3d v = Eigen::Vector3d::Zero();
    Eigen::Vector3d b = Eigen::Vector3d::Zero();
    double trace = 0.0;
    for (int j = 0; j <= contact.slips; ++j) {
      const int row = contact.first + j;
      r[j] = solver.impulse(row);
      v[j] = b[j] = problem.free[static_cast<std::size_t>(row)];
      problem.each(row, [&](int i, double entry) { v[j] += entry * velocity[i]; });
      trace += problem.product(row, row);
    }
    const double rho = (1 + contact.slips) / trace;
    const convex::FrictionCone cone{contact.slips > 0 ? contact.section
                                                      : convex::Section{convex::Disc{0.0}}};
    v[0] += cone.lift(v.tail<2>());
    distance = std::max(distance, (r - cone.project(r - rho * v)).norm());
    scale = std::max({scale, r.norm(), rho * b.norm()});
  }
  return distance / scale;
}

TEST(Islands, AreTheRowsThatShareCoordinates) {
  base::Random random(31);
  Bodies bodies;
  make_bodies(random, 40, 9, 2, bodies);  // one part of ten bodies, thirty of one
  Islands islands;
  ASSERT_EQ(islands.split(bodies.problem), 31);
  EXPECT_EQ(islands.contacts(0), 10 + 9);
  const StepProblem& chain = islands.gather(bodies.problem, 0);
  EXPECT_EQ(chain.dofs, 30);
  for (int part = 1; part < 31; ++part) {
    ASSERT_EQ(islands.contacts(part), 1);
    const int mine = islands.contact(part, 0);
    EXPECT_EQ(mine, 9 + part);
    const StepProblem& single = islands.gather(bodies.problem, part);
    ASSERT_EQ(single.dofs, 3);
    const StepProblem::Contact& given = bodies.problem.contacts[static_cast<std::size_t>(mine)];
    ASSERT_EQ(single.rows(), 1 + given.slips);
    for (int i = 0; i < single.rows(); ++i) {  // the same W
      for (int j = 0; j < single.rows(); ++j) {
        EXPECT_EQ(single.product(i, j), bodies.problem.product(given.first + i, given.first + j));
      }
    }
  }
}

TEST(Islands, HoldJointsAndContactsThatMoveNothing) {
  StepProblem problem;
  problem.begin(6, {});
  for (int i = 0; i < 3; ++i) {  // the first has no gradient
    problem.add_contact(0, static_cast<problem::Key>(i));
    if (i > 0) problem.add(2 * i, 1.0);
    problem.end_row(-1.0);
  }
  problem.held = 2;
  problem.add(2, 1.0), problem.add(3, -1.0), problem.end_row(0.0);
  problem.add(0, 1.0), problem.add(1, -1.0), problem.end_row(0.0);
  Islands islands;
  ASSERT_EQ(islands.split(problem), 4);
  EXPECT_EQ(islands.contacts(0), 1);
  EXPECT_EQ(islands.joints(0), 0);
  EXPECT_EQ(islands.joints(1), 1);
  EXPECT_EQ(islands.joint(1, 0), 0);
  EXPECT_EQ(islands.contacts(3), 0);
  EXPECT_EQ(islands.joint(3, 0), 1);
}

TEST(StepSolver, ObeysTheLawForManyBodies) {
  base::Random random(32);
  StepSolver solver;
  problem::WarmStart warm;
  int fell_back = 0;
  for (int trial = 0; trial < 30; ++trial) {
    Bodies bodies;
    const int count = 30 + random.below(300);
    make_bodies(random, count, trial % 3 == 0 ? 0 : random.below(count - 1), trial % 4 == 0 ? 0 : 2,
                bodies);
    const problem::Report report = solver.solve(bodies.problem, warm);
    ASSERT_EQ(report.status, problem::Status::Solved) << trial;
    EXPECT_LE(residual_of(bodies.problem, solver), 1e-10) << trial;
    fell_back += report.fell_back ? 1 : 0;
  }
  EXPECT_LE(fell_back, 5);
}

TEST(StepSolver, BeginsEachPartWhereItsLastSolveEnded) {
  base::Random random(33);
  Bodies bodies;
  make_bodies(random, 60, 20, 2, bodies);
  StepSolver solver;
  problem::WarmStart warm;
  const int cold = solver.solve(bodies.problem, warm).iterations;
  EXPECT_FALSE(warm.entries.empty());
  StepSolver other;  // what is carried over is in the WarmStart alone
  problem::WarmStart same = warm;
  const int warmed = solver.solve(bodies.problem, warm).iterations;
  EXPECT_LT(warmed, cold);
  EXPECT_EQ(other.solve(bodies.problem, same).iterations, warmed);
  for (int row = 0; row < bodies.problem.rows(); ++row) {
    ASSERT_EQ(solver.impulse(row), other.impulse(row)) << row;
  }
}

TEST(StepSolver, GivesTheDenseImpulsesWithoutFriction) {
  // Far-apart rows that share coordinates make the envelope of W wide; parts do not mind.
  base::Random random(34);
  Bodies bodies;
  const int count = 200;
  make_bodies(random, count, 0, 0, bodies);
  for (int i = 0; i < count; ++i) add_contact(random, 3 * i, 3, 0, 1.0, count + i, bodies);
  ASSERT_FALSE(Envelope().take(bodies.problem));
  StepSolver solver;
  problem::WarmStart warm;
  ASSERT_EQ(solver.solve(bodies.problem, warm).status, problem::Status::Solved);
  EXPECT_LE(residual_of(bodies.problem, solver), 1e-12);
}

TEST(StepSolver, BalancesManyRowsAsTheLeastNormDoes) {
  // 90 rows of rank 80 in 100 coordinates: by conjugate gradients, against the pseudo-inverse.
  base::Random random(35);
  testing::DenseStep step;
  step.resize(100, 90, 90);
  step.factor.leftCols(80) = random_matrix(random, 100, 80);
  step.factor.rightCols(10) = step.factor.leftCols(10) + 2.0 * step.factor.middleCols(10, 10);
  for (int k = 0; k < 90; ++k) step.contacts[static_cast<std::size_t>(k)].first = k;
  for (const bool is_consistent : {true, false}) {
    step.free = random_vector(random, 90);
    if (is_consistent) step.free = step.factor.transpose() * random_vector(random, 100);
    StepSolver solver;
    solver.balance(step);
    const Eigen::MatrixXd At = step.factor.transpose();
    const VectorXd expected = -At.completeOrthogonalDecomposition().solve(step.free);
    EXPECT_LE((solver.motion() - expected).norm(), 1e-9 * expected.norm()) << is_consistent;
    VectorXd R(90);
    for (int k = 0; k < 90; ++k) R[k] = solver.impulse(k);
    EXPECT_LE((step.factor * R - expected).norm(), 1e-9 * expected.norm()) << is_consistent;
  }
}

// --- scenes ------------------------------------------------------------------------------------

#ifdef RICOCHET_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// N particles that slide on a floor, each by itself; or in a row, each pushing its neighbour.
std::string particles(int count, bool coupled) {
  const std::string pair = R"toml(
[contact.pair]
for      = "i in 1..N-1"
keep     = "x[i+1] - x[i] >= d"
friction = "mu"
slip     = ["y[i+1]' - y[i]'", "z[i+1]' - z[i]'"]
)toml";
  return fmt::format(R"toml(
[system]
coordinates = ["x[1..N]", "y[1..N]", "z[1..N]"]
parameters  = {{ N = {}, g = 9.81, mu = 0.3, m = 2, d = 0.5 }}
mass        = {{ x = "m", y = "m", z = "m" }}
potential   = "sum(i, 1, N, m*g*z[i])"
[contact.floor]
for      = "i in 1..N"
keep     = "z[i] >= 0"
friction = "mu"
slip     = ["x[i]'", "y[i]'"]
{}
[start]
position = {{ x = "d*i", y = 0, z = 0 }}
velocity = {{ x = {}, y = "0.2*sin(i)", z = 0 }}
[run]
scheme = "moreau"
step   = 0.001
steps  = 100
record = 0
)toml",
                     count, coupled ? pair : "",
                     coupled ? "\"0.1*cos(i)\"" : "\"0.5 + 0.2*cos(i)\"");
}

TEST(ManyBodies, EachSlidesAsByItself) {
  const scene::Scene scene = testing::read_text(particles(100, false));
  model::State<model::kDynamic> state = scene.start;
  const step::Outcome outcome = step::run_formula(*scene.system().model, scene.scheme, scene.run,
                                                  state, [](const step::Sample&) {});
  ASSERT_TRUE(outcome.certificate.ok());
  const double lost = 0.3 * 9.81 * 0.1;  // mu g t
  for (int i = 0; i < 100; ++i) {
    const double vx = scene.start.u[i];
    const double vy = scene.start.u[100 + i];
    const double left = std::max(0.0, 1.0 - lost / std::hypot(vx, vy));
    EXPECT_NEAR(state.u[i], left * vx, 1e-12) << i;
    EXPECT_NEAR(state.u[100 + i], left * vy, 1e-12) << i;
    EXPECT_EQ(state.u[200 + i], 0.0) << i;
  }
}

TEST(ManyBodies, AThousandWithFrictionNeedLittleMemory) {
  if (kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  const testing::Folder folder;
  for (const bool coupled : {false, true}) {
    testing::write_file(folder / "particles.toml", particles(1000, coupled));
    const testing::Finished finished =
        testing::run_program({"run", "particles.toml"}, folder.path());
    EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
    EXPECT_GT(finished.megabytes, 1.0);
    EXPECT_LE(finished.megabytes, 60.0) << coupled;  // G alone with its zeros would be 72
  }
}

TEST(ManyBodies, TimeOfAStepIsLinearInTheirNumber) {
  if (kSanitized) GTEST_SKIP() << "sanitizers take time of their own";
  const auto seconds_of = [](int count) {
    const scene::Scene scene = testing::read_text(particles(count, false));
    double least = 1e300;
    for (int k = 0; k < 3; ++k) {
      model::State<model::kDynamic> state = scene.start;
      const auto start = std::chrono::steady_clock::now();
      const step::Outcome outcome = step::run_formula(*scene.system().model, scene.scheme,
                                                      scene.run, state, [](const step::Sample&) {});
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      EXPECT_TRUE(outcome.certificate.ok());
      least = std::min(least, taken.count());
    }
    return least;
  };
  const double ratio = seconds_of(1600) / seconds_of(200);
  EXPECT_LT(ratio, 20.0);  // 8 if linear, 64 if each contact meets each coordinate
}

}  // namespace
}  // namespace ricochet::solve::many_bodies_test
