// One-step problems: the closed forms, the active-set method and the least-norm solution.

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/problem/residual.h"
#include "ricochet/solve/least_norm.h"
#include "ricochet/solve/unilateral.h"
#include "support.h"

namespace ricochet::solve {
namespace {

using testing::random_matrix;
using testing::random_vector;

problem::Unilateral make_problem(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  problem::Unilateral problem;
  problem.resize(A.rows(), A.cols());
  problem.factor = A;
  problem.free = b;
  problem.noise = Eigen::VectorXd::Constant(b.size(), 1e-15 * b.cwiseAbs().maxCoeff());
  return problem;
}

/// Largest violation of p >= 0, v >= 0, p v = 0, recomputed from the definition.
double complementarity_error(const problem::Unilateral& problem, const UnilateralSolver& solver) {
  const Eigen::MatrixXd A = problem.factor.leftCols(problem.count);
  Eigen::VectorXd p(problem.count);
  for (Eigen::Index j = 0; j < problem.count; ++j) p[j] = solver.impulse(j);
  const Eigen::VectorXd v = A.transpose() * (A * p) + problem.free.head(problem.count);
  double worst = 0.0;
  for (Eigen::Index j = 0; j < problem.count; ++j) {
    const double W = A.col(j).squaredNorm();
    if (W == 0.0) continue;
    worst = std::max(worst, std::abs(p[j] - std::max(0.0, p[j] - v[j] / W)));
  }
  return worst / std::max(1e-300, p.cwiseAbs().maxCoeff() + 1.0);
}

TEST(UnilateralSolver, SatisfiesTheLawForAnyNumberOfContacts) {
  base::Random random(1);
  UnilateralSolver solver;
  for (int trial = 0; trial < 10000; ++trial) {
    const Eigen::Index n = 1 + random.below(5);
    const Eigen::Index m = 1 + random.below(7);
    Eigen::MatrixXd A = random_matrix(random, n, m);
    if (m > 1 && random.below(4) == 0) A.col(m - 1) = -A.col(0);
    const Eigen::VectorXd b = A.transpose() * random_vector(random, n);
    const problem::Unilateral problem = make_problem(A, b);
    const problem::Report report = solver.solve(problem);
    ASSERT_EQ(report.status, problem::Status::Solved);
    EXPECT_LE(complementarity_error(problem, solver), 1e-10) << trial;
  }
}

TEST(UnilateralSolver, SaysWhenImpulsesAreNotUnique) {
  UnilateralSolver solver;
  Eigen::MatrixXd A(2, 2);
  A << 1.0, 1.0, 0.0, 0.0;
  EXPECT_FALSE(solver.solve(make_problem(A, Eigen::Vector2d(-1.0, -1.0))).unique);
  A << 1.0, 0.6, 0.0, 0.8;
  EXPECT_TRUE(solver.solve(make_problem(A, Eigen::Vector2d(-1.0, -1.0))).unique);
  EXPECT_FALSE(
      solver.solve(make_problem(Eigen::MatrixXd::Random(2, 3), Eigen::Vector3d::Ones())).unique);
}

TEST(UnilateralSolver, ClosedFormOfTwoEqualsTheActiveSetMethod) {
  base::Random random(2);
  for (int trial = 0; trial < 20000; ++trial) {
    const Eigen::MatrixXd A = random_matrix(random, 3, 2);
    const Eigen::VectorXd b = random_vector(random, 2);
    double p1 = 0.0;
    double p2 = 0.0;
    const double w11 = A.col(0).squaredNorm();
    const double w12 = A.col(0).dot(A.col(1));
    const double w22 = A.col(1).squaredNorm();
    if (!solve_two(w11, w12, w22, b[0], b[1], p1, p2)) continue;
    convex::ConeProjector projector;
    ASSERT_EQ(projector.solve(A, b, Eigen::Vector2d::Zero()), convex::ProjectionStatus::Exact);
    const double size = 1e-9 * (1.0 + p1 + p2);
    EXPECT_NEAR(p1, projector.multipliers()[0], size) << trial;
    EXPECT_NEAR(p2, projector.multipliers()[1], size) << trial;
  }
}

TEST(UnilateralSolver, FourRegionsOfTheDihedralCone) {
  double p1 = -1.0;
  double p2 = -1.0;
  // unit normals at 60 degrees: W = [1 1/2; 1/2 1]
  ASSERT_TRUE(solve_two(1.0, 0.5, 1.0, 1.0, 2.0, p1, p2));
  EXPECT_EQ(p1, 0.0);
  EXPECT_EQ(p2, 0.0);
  ASSERT_TRUE(solve_two(1.0, 0.5, 1.0, -1.0, 2.0, p1, p2));
  EXPECT_EQ(p1, 1.0);
  EXPECT_EQ(p2, 0.0);
  ASSERT_TRUE(solve_two(1.0, 0.5, 1.0, 2.0, -1.0, p1, p2));
  EXPECT_EQ(p1, 0.0);
  EXPECT_EQ(p2, 1.0);
  ASSERT_TRUE(solve_two(1.0, 0.5, 1.0, -3.0, -3.0, p1, p2));
  EXPECT_DOUBLE_EQ(p1, 2.0);
  EXPECT_DOUBLE_EQ(p2, 2.0);
  EXPECT_FALSE(solve_two(1.0, 1.0, 1.0, -1.0, -1.0, p1, p2));  // parallel: left to the other method
}

TEST(LeastNorm, SolvesAndIsShortest) {
  base::Random random(3);
  LeastNorm least_norm;
  for (int trial = 0; trial < 2000; ++trial) {
    const Eigen::Index n = 2 + random.below(4);
    const Eigen::Index m = 1 + random.below(static_cast<int>(n) - 1);
    Eigen::MatrixXd A = random_matrix(random, n, m);
    Eigen::VectorXd c = random_vector(random, m);
    if (m > 1 && random.below(3) == 0) {  // the same surface twice
      A.col(m - 1) = 2.0 * A.col(0);
      c[m - 1] = 2.0 * c[0];
    }
    const Eigen::VectorXd y = least_norm.solve(A, c);
    EXPECT_LE((A.transpose() * y - c).norm(), 1e-9 * c.norm()) << trial;
    // shortest: y is a combination of the columns, so it is orthogonal to what they do not reach
    const Eigen::VectorXd probe = random_vector(random, n);
    const Eigen::VectorXd unreached = probe - A * A.completeOrthogonalDecomposition().solve(probe);
    EXPECT_LE(std::abs(unreached.dot(y)), 1e-9 * unreached.norm() * y.norm()) << trial;
  }
}

TEST(LeastNorm, TakesTheMiddleOfContradictions) {
  LeastNorm least_norm;
  Eigen::MatrixXd A(1, 2);
  A << 1.0, 1.0;
  EXPECT_NEAR(least_norm.solve(A, Eigen::Vector2d(1.0, 3.0))[0], 2.0, 1e-15);
}

TEST(Residual, IsFreeOfScalesAndKnowsNoRounding) {
  const auto residual = [](double r, double rho, double v, double v_free, double lost) {
    problem::Residual one;
    one.add(convex::HalfLine{}, r, rho, v, v_free, lost, [&] { return lost; });
    return one.value();
  };
  EXPECT_EQ(residual(2.0, 1.0, 0.0, -2.0, 0.0), 0.0);   // pushes, velocity zero
  EXPECT_EQ(residual(0.0, 1.0, 3.0, 3.0, 0.0), 0.0);    // leaves, no push
  EXPECT_EQ(residual(0.0, 0.0, 0.0, 0.0, 0.0), 0.0);    // 0/0
  EXPECT_EQ(residual(0.0, 1.0, -1.0, -1.0, 0.0), 1.0);  // penetrates, no push
  EXPECT_EQ(residual(1.0, 1.0, 1.0, 0.0, 0.0), 1.0);    // pushes and leaves
  EXPECT_EQ(residual(-1.0, 1.0, 0.0, 1.0, 0.0), 1.0);   // pulls
  for (const double scale : {1e-8, 1e8}) {              // other units of mass and velocity
    EXPECT_NEAR(residual(scale, 0.5 * scale, 1e-3, -2.0, 0.0), residual(1.0, 0.5, 1e-3, -2.0, 0.0),
                1e-15);
  }
  EXPECT_EQ(residual(2.0, 1.0, 1e-16, -2.0, 1e-15), 0.0);  // below what evaluation loses
  EXPECT_EQ(residual(std::numeric_limits<double>::quiet_NaN(), 1.0, 0.0, 0.0, 0.0),
            std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace ricochet::solve
