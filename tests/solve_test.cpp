// One-step problems: the closed forms, the active-set method and the least-norm solution.

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/problem/residual.h"
#include "ricochet/problem/step_problem.h"
#include "ricochet/solve/banded.h"
#include "ricochet/solve/least_norm.h"
#include "ricochet/solve/unilateral.h"
#include "support.h"

namespace ricochet::solve::solve_test {
namespace {

using testing::random_matrix;
using testing::random_vector;

DenseRows make_problem(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  DenseRows problem;
  problem.resize(A.rows(), A.cols());
  problem.factor = A;
  problem.free = b;
  problem.noise = Eigen::VectorXd::Constant(b.size(), 1e-15 * b.cwiseAbs().maxCoeff());
  return problem;
}

/// Largest violation of p >= 0, v >= 0, p v = 0, recomputed from the definition.
double complementarity_error(const DenseRows& problem, const UnilateralSolver& solver) {
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
    const DenseRows problem = make_problem(A, b);
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
  int compared = 0;
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
    ++compared;
  }
  EXPECT_GT(compared, 19000);
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

TEST(UnilateralSolver, JointsHoldAndContactsObeyTheLaw) {
  base::Random random(7);
  UnilateralSolver solver;
  for (int trial = 0; trial < 3000; ++trial) {
    const Eigen::Index n = 2 + random.below(5);
    const Eigen::Index joints = 1 + random.below(static_cast<int>(n) - 1);
    const Eigen::Index contacts = random.below(4);
    Eigen::MatrixXd A = random_matrix(random, n, contacts + joints);
    if (joints > 1 && random.below(4) == 0) A.col(contacts + 1) = 2.0 * A.col(contacts);
    const Eigen::VectorXd b = A.transpose() * random_vector(random, n);
    DenseRows problem = make_problem(A, b);
    problem.held = joints;
    ASSERT_EQ(solver.solve(problem).status, problem::Status::Solved);
    Eigen::VectorXd p(contacts + joints);
    for (Eigen::Index k = 0; k < p.size(); ++k) p[k] = solver.impulse(k);
    const Eigen::VectorXd v = A.transpose() * (A * p) + b;
    const double size = 1e-8 * (1.0 + p.cwiseAbs().maxCoeff());
    for (Eigen::Index k = contacts; k < p.size(); ++k) EXPECT_NEAR(v[k], 0.0, size);
    for (Eigen::Index k = 0; k < contacts; ++k) {
      EXPECT_GE(p[k], 0.0);
      EXPECT_GE(v[k], -size);
      EXPECT_NEAR(p[k] * v[k], 0.0, size * (1.0 + p[k]));
    }
  }
}

TEST(UnilateralSolver, SaysWhenJointsContradictEachOther) {
  Eigen::MatrixXd A(2, 2);
  A << 1.0, 2.0, 0.0, 0.0;
  DenseRows problem = make_problem(A, Eigen::Vector2d(1.0, 1.0));
  problem.held = 2;
  UnilateralSolver solver;
  EXPECT_EQ(solver.solve(problem).status, problem::Status::Infeasible);
}

TEST(UnilateralSolver, AFlatContactThatMustPushIsDegenerate) {
  DenseRows problem = make_problem(Eigen::MatrixXd::Zero(2, 1), Eigen::VectorXd::Constant(1, -1.0));
  UnilateralSolver solver;
  EXPECT_EQ(solver.solve(problem).status, problem::Status::Degenerate);
}

/// Contacts of neighbours in a chain, and a few joints between others, with random masses.
struct Chain {
  std::vector<double> inverse;
  std::vector<double> half_inverse;
  Eigen::MatrixXd A;
  Eigen::VectorXd b;
  problem::StepProblem problem;
};

void make_chain(base::Random& random, int dofs, int joints, Chain& chain) {
  const int contacts = dofs;
  chain.inverse.assign(static_cast<std::size_t>(dofs), 0.0);
  for (double& entry : chain.inverse) entry = random.uniform(0.2, 3.0);
  chain.half_inverse.clear();
  for (const double entry : chain.inverse) chain.half_inverse.push_back(std::sqrt(entry));
  Eigen::MatrixXd& A = chain.A;
  A = Eigen::MatrixXd::Zero(dofs, contacts + joints);
  const auto put = [&](int row, int i, double value) {
    A(i, row) += value * chain.half_inverse[static_cast<std::size_t>(i)];
  };
  for (int k = 0; k < contacts; ++k) {
    put(k, k, random.uniform(0.5, 1.5));
    if (k > 0) put(k, k - 1, random.uniform(-1.5, 0.5));
  }
  for (int k = 0; k < joints; ++k) {
    put(contacts + k, random.below(dofs - 3), 1.0);
    put(contacts + k, dofs - 1 - k, -1.0);
  }
  chain.b = A.transpose() * random_vector(random, dofs);
  problem::StepProblem& problem = chain.problem;
  problem.begin(dofs, {chain.inverse.data(), chain.half_inverse.data()});
  problem.held = joints;
  for (int k = 0; k < contacts + joints; ++k) {
    if (k < contacts) problem.add_contact(0, static_cast<problem::Key>(k));
    for (int i = 0; i < dofs; ++i) {
      problem.add(i, A(i, k) / chain.half_inverse[static_cast<std::size_t>(i)]);
    }
    problem.end_row(chain.b[k], 1e-14);
  }
}

TEST(BandedSolver, GivesTheImpulsesOfTheDenseMethod) {
  base::Random random(3);
  BandedSolver sparse;
  UnilateralSolver dense;
  int solved = 0;
  int many_rounds = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const int dofs = 10 + random.below(40);
    const int joints = random.below(3);
    Chain chain;
    make_chain(random, dofs, joints, chain);
    const Eigen::MatrixXd& A = chain.A;
    const Eigen::VectorXd& b = chain.b;
    const problem::Report report = sparse.solve(chain.problem);
    DenseRows problem = make_problem(A, b);
    problem.held = joints;
    ASSERT_EQ(dense.solve(problem).status, problem::Status::Solved);
    if (report.status != problem::Status::Solved) continue;  // dependent: left to the dense one
    ++solved;
    many_rounds += report.iterations > 2 ? 1 : 0;
    Eigen::VectorXd difference(b.size());
    Eigen::VectorXd size(b.size());
    for (Eigen::Index k = 0; k < b.size(); ++k) {
      difference[k] = sparse.impulse(static_cast<int>(k)) - dense.impulse(k);
      size[k] = dense.impulse(k);
    }
    EXPECT_LE((A * difference).norm(), 1e-7 * (1.0 + size.norm())) << trial;
  }
  EXPECT_GT(solved, 450);
  EXPECT_GT(many_rounds, 100);
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

TEST(LeastNorm, KeepsItsDigitsWhenColumnsAreNearlyDependent) {
  for (const double tilt : {1e-3, 1e-6, 1e-8}) {
    Eigen::MatrixXd A(3, 3);
    A << 1.0, 1.0, 0.0, 0.0, tilt, 1.0, 0.0, 0.0, tilt;
    const Eigen::Vector3d c(1.0, 1.0, 1.0);
    LeastNorm solver;
    const Eigen::Vector3d y = solver.solve(A, c);
    EXPECT_LE((A.transpose() * y - c).norm(), 1e-12 * A.norm() * y.norm()) << tilt;
    Eigen::VectorXd p(3);
    solver.coefficients(y, p);
    EXPECT_LE((A * p - y).norm(), 1e-12 * A.norm() * p.norm() + 1e-12 * y.norm()) << tilt;
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
}  // namespace ricochet::solve::solve_test
