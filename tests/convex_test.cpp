// Projections: theorems on thousands of random cones, degenerate ones among them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ricochet/convex/dense.h"
#include "ricochet/convex/pivoted.h"
#include "ricochet/convex/polyhedral_cone.h"
#include "support.h"

namespace ricochet::convex::convex_test {
namespace {

using testing::random_matrix;
using testing::random_metric;
using testing::random_vector;

/// Normals of many shapes: general, repeated, opposite, nearly parallel, more than the dimension,
/// combinations of each other, with a zero.
Eigen::MatrixXd random_normals(base::Random& random, Eigen::Index n) {
  const Eigen::Index m = 1 + random.below(8);
  Eigen::MatrixXd J = random_matrix(random, n, m);
  switch (random.below(7)) {
    case 0: J.col(m - 1) = J.col(0); break;
    case 1: J.col(m - 1) = -J.col(0); break;
    case 2: J.col(m - 1) = J.col(0) + 1e-9 * random_vector(random, n); break;
    case 3:
      if (m > 2) J.col(m - 1) = J.leftCols(m - 1) * random_vector(random, m - 1).cwiseAbs();
      break;
    case 4:
      if (m > 1) J.col(m - 1).setZero();
      break;
    case 5:
      for (Eigen::Index j = 0; j < m; ++j) J.col(j) *= std::pow(10.0, random.uniform(-4.0, 4.0));
      break;
    default: break;
  }
  return J;
}

struct Case {
  PolyhedralCone cone;
  Metric<kDynamic> metric;
  Eigen::MatrixXd M;
  Eigen::VectorXd z;
};

Case random_case(base::Random& random) {
  const Eigen::Index n = 1 + random.below(5);
  const bool diagonal = random.below(3) == 0;
  Eigen::MatrixXd M = random_metric(random, n);
  if (diagonal) M = Eigen::MatrixXd(M.diagonal().asDiagonal());
  const Metric<kDynamic> metric =
      diagonal ? Metric<kDynamic>::diagonal(M.diagonal()) : Metric<kDynamic>::full(M);
  return {{random_normals(random, n)}, metric, M, random_vector(random, n)};
}

double norm(const Eigen::MatrixXd& M, const Eigen::VectorXd& v) { return std::sqrt(v.dot(M * v)); }

/// How far v violates the cone, each constraint measured against |J_j| |v|.
double violation(const PolyhedralCone& cone, const Eigen::VectorXd& v, double size) {
  double worst = 0.0;
  for (Eigen::Index j = 0; j < cone.normals.cols(); ++j) {
    const double length = cone.normals.col(j).norm();
    if (length > 0.0) worst = std::max(worst, -cone.normals.col(j).dot(v) / (length * size));
  }
  return worst;
}

TEST(PolyhedralCone, DecomposesIntoTwoOrthogonalPartsOfPolarCones) {
  base::Random random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    const Case c = random_case(random);
    const TwoCones two = decompose(c.cone, c.metric, c.z);
    ASSERT_EQ(two.status, ProjectionStatus::Exact);
    const double size = c.z.norm();
    EXPECT_LE((two.x + two.y - c.z).norm(), 1e-12 * size);     // z = x + y
    EXPECT_LE(violation(c.cone, two.x, size), 1e-9) << trial;  // x in V
    EXPECT_GE(two.p.minCoeff(), 0.0);                          // y in N
    const Eigen::VectorXd Jp = c.cone.normals * two.p;
    EXPECT_LE((c.M * two.y + Jp).norm(), 1e-9 * (Jp.norm() + size)) << trial;
    EXPECT_LE(std::abs(two.x.dot(c.M * two.y)),
              1e-9 * c.z.dot(c.M * c.z)) << trial;  // x . M y = 0
  }
}

TEST(PolyhedralCone, ProjectionIsIdempotentAndNonExpansive) {
  base::Random random(2);
  for (int trial = 0; trial < 20000; ++trial) {
    const Case c = random_case(random);
    const Eigen::VectorXd other = random_vector(random, c.z.size());
    const Eigen::VectorXd x = decompose(c.cone, c.metric, c.z).x;
    const Eigen::VectorXd again = decompose(c.cone, c.metric, x).x;
    const Eigen::VectorXd y = decompose(c.cone, c.metric, other).x;
    const double size = norm(c.M, c.z);
    EXPECT_LE(norm(c.M, again - x), 1e-8 * size) << trial;
    EXPECT_LE(norm(c.M, x - y), norm(c.M, c.z - other) + 1e-8 * size) << trial;
  }
}

TEST(PolyhedralCone, IsNearerThanAnyOtherPointOfTheCone) {
  base::Random random(3);
  for (int trial = 0; trial < 5000; ++trial) {
    const Case c = random_case(random);
    const Eigen::VectorXd x = decompose(c.cone, c.metric, c.z).x;
    const Eigen::VectorXd other = decompose(c.cone, c.metric, random_vector(random, c.z.size())).x;
    // <z - x, v - x> <= 0 for all v of a convex set characterises its nearest point
    EXPECT_LE((c.z - x).dot(c.M * (other - x)),
              1e-8 * (norm(c.M, c.z) + norm(c.M, other)) * norm(c.M, c.z))
        << trial;
  }
}

TEST(PolyhedralCone, DoesNotDependOnTheOrderOfItsNormals) {
  base::Random random(4);
  for (int trial = 0; trial < 5000; ++trial) {
    Case c = random_case(random);
    const Eigen::VectorXd x = decompose(c.cone, c.metric, c.z).x;
    for (Eigen::Index j = c.cone.normals.cols() - 1; j > 0; --j) {
      c.cone.normals.col(j).swap(c.cone.normals.col(random.below(static_cast<int>(j) + 1)));
    }
    const Eigen::VectorXd shuffled = decompose(c.cone, c.metric, c.z).x;
    EXPECT_LE(norm(c.M, x - shuffled), 1e-8 * norm(c.M, c.z)) << trial;
  }
}

TEST(PolyhedralCone, WholeSpaceAndOriginAreCones) {
  const Eigen::Vector2d z(1.0, -2.0);
  const auto metric = Metric<kDynamic>::diagonal(Eigen::Vector2d(1.0, 3.0));
  EXPECT_EQ(decompose({Eigen::MatrixXd(2, 0)}, metric, z).x, z);
  Eigen::MatrixXd all(2, 4);  // x = 0 and y = 0 as four inequalities
  all << 1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0;
  EXPECT_LE(decompose({all}, metric, z).x.norm(), 1e-15);
}

TEST(ConeProjector, TellsContradictions) {
  // moving walls that close on each other: x >= 1 and -x >= 1
  Eigen::MatrixXd A(1, 2);
  A << 1.0, -1.0;
  ConeProjector projector;
  EXPECT_EQ(projector.solve(A, Eigen::Vector2d(-1.0, -1.0), Eigen::Vector2d::Zero()),
            ProjectionStatus::Infeasible);
  EXPECT_EQ(projector.solve(A, Eigen::Vector2d(-1.0, 1.0), Eigen::Vector2d::Zero()),
            ProjectionStatus::Exact);
  EXPECT_DOUBLE_EQ(projector.multipliers()[0], 1.0);
}

TEST(ConeProjector, SolvesManyConstraintsInFewDimensions) {
  base::Random random(6);
  const Eigen::MatrixXd A = random_matrix(random, 3, 500);
  const Eigen::VectorXd b = A.transpose() * random_vector(random, 3);
  ConeProjector projector;
  ASSERT_EQ(projector.solve(A, b, Eigen::VectorXd::Zero(500)), ProjectionStatus::Exact);
  const Eigen::VectorXd velocity = A.transpose() * (A * projector.multipliers()) + b;
  EXPECT_GE(velocity.minCoeff(), -1e-12);
}

TEST(Metric, FactorsAgreeWithTheMatrix) {
  base::Random random(7);
  for (const bool diagonal : {true, false}) {
    Eigen::MatrixXd M = random_metric(random, 4);
    if (diagonal) M = Eigen::MatrixXd(M.diagonal().asDiagonal());
    const Metric<kDynamic> metric =
        diagonal ? Metric<kDynamic>::diagonal(M.diagonal()) : Metric<kDynamic>::full(M);
    EXPECT_TRUE(metric.is_valid());
    const Eigen::VectorXd v = random_vector(random, 4);
    Eigen::VectorXd out(4);
    Eigen::VectorXd half(4);
    metric.apply(v, out);
    EXPECT_LE((out - M * v).norm(), 1e-12 * out.norm());
    metric.solve(v, out);
    EXPECT_LE((M * out - v).norm(), 1e-10 * v.norm());
    metric.half_solve(v, half);
    EXPECT_NEAR(half.squaredNorm(), v.dot(out), 1e-10 * half.squaredNorm());  // |L^-1 v|^2
    metric.half_solve_transposed(half, half);
    EXPECT_LE((half - out).norm(), 1e-10 * out.norm());  // L^-T L^-1 = M^-1
    EXPECT_NEAR(metric.half_square(v), 0.5 * v.dot(M * v), 1e-12 * v.dot(M * v));
    EXPECT_LE((metric.resized<4>().matrix() - M).norm(), 0.0);
  }
}

TEST(Metric, KnowsWhatIsNoMetric) {
  EXPECT_FALSE(Metric<2>::diagonal({1.0, 0.0}).is_valid());
  EXPECT_FALSE(Metric<2>::diagonal({1.0, -1.0}).is_valid());
  EXPECT_FALSE(Metric<2>::full((Eigen::Matrix2d() << 1.0, 2.0, 2.0, 1.0).finished()).is_valid());
  EXPECT_FALSE(Metric<2>::full((Eigen::Matrix2d() << 1.0, 1.0, 1.0, 1.0).finished()).is_valid());
}

/// Exact: Q diag(s) P with Q and P orthogonal has the singular values s.
TEST(Dense, FindsSingularValuesThatWerePutIn) {
  base::Random random(11);
  const auto reflection = [&](Eigen::Index n) {
    const Eigen::VectorXd v = random_vector(random, n).normalized();
    return Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n) - 2.0 * v * v.transpose());
  };
  for (Eigen::Index n = 1; n <= 20; ++n) {
    Eigen::VectorXd put(n);
    for (Eigen::Index i = 0; i < n; ++i) put[i] = std::pow(10.0, -0.7 * static_cast<double>(i));
    if (n > 3) put[n - 1] = 0.0;
    const Eigen::MatrixXd A = reflection(n) * reflection(n) * put.asDiagonal() * reflection(n);
    const Eigen::VectorXd found = singular_values(A);
    ASSERT_EQ(found.size(), n);
    EXPECT_LE((found - put).cwiseAbs().maxCoeff(), 1e-14 * static_cast<double>(n));
  }
  EXPECT_EQ(singular_values(Eigen::MatrixXd()).size(), 0);
}

TEST(Dense, TakesTheShortestOfManySolutions) {
  base::Random random(12);
  const Eigen::MatrixXd A = random_matrix(random, 3, 5);
  const Eigen::VectorXd b = random_vector(random, 3);
  const Eigen::VectorXd x = least_squares(A, b);
  const Eigen::VectorXd expected = A.transpose() * inverse_of(A * A.transpose()) * b;
  EXPECT_LE((x - expected).norm(), 1e-12 * expected.norm());
  EXPECT_EQ(rank_of(A, 1e-12), 3);
  Eigen::MatrixXd twice(5, 2);
  twice << A.row(0).transpose(), 2.0 * A.row(0).transpose();
  EXPECT_EQ(rank_of(twice, 1e-12), 1);
}

/// A = B C of a given rank, any number of rows and columns: the least |A x - b| by its normal
/// equations, the shortest x by being a sum of rows.
TEST(Pivoted, SolvesWhatHasNoOrManySolutions) {
  base::Random random(31);
  PivotedQr factor;
  for (int trial = 0; trial < 300; ++trial) {
    const auto size = [&](int most) { return 1 + static_cast<Eigen::Index>(random.below(most)); };
    const Eigen::Index rows = size(9), columns = size(9);
    const Eigen::Index rank = std::min({size(9), rows, columns});
    const Eigen::MatrixXd B = random_matrix(random, rows, rank);
    const Eigen::MatrixXd C = random_matrix(random, rank, columns);
    const Eigen::MatrixXd A = B * C;
    const Eigen::VectorXd b = random_vector(random, rows);
    factor.compute(A, 1e-11);
    ASSERT_EQ(factor.rank(), rank) << trial;
    Eigen::VectorXd x(columns), shortest(columns);
    factor.solve(b, x);
    factor.solve_shortest(b, shortest);
    const double size_of_x = std::max(x.norm(), shortest.norm());
    const double scale = A.norm() * (A.norm() * size_of_x + b.norm());
    EXPECT_LE((A.transpose() * (A * x - b)).norm(), 1e-12 * scale) << trial;
    EXPECT_LE((A.transpose() * (A * shortest - b)).norm(), 1e-12 * scale) << trial;
    EXPECT_EQ((x.array() == 0.0).count(), columns - rank) << trial;
    EXPECT_LE(shortest.norm(), x.norm() * (1.0 + 1e-12)) << trial;
    const Eigen::VectorXd sum = solve_symmetric(C * C.transpose(), C * shortest);
    EXPECT_LE((C.transpose() * sum - shortest).norm(), 1e-6 * shortest.norm()) << trial;
  }
}

TEST(Pivoted, KnowsVolumesAndMatricesOfZeros) {
  PivotedQr factor;
  Eigen::Matrix3d A;
  A << 2, 0, 1, 1, 3, 0, 0, 1, -4;  // det = 2 (-12) + 1 = -23
  factor.compute(A);
  EXPECT_NEAR(factor.volume(), 23.0, 1e-13);
  factor.compute(Eigen::Matrix3d::Zero());
  EXPECT_EQ(factor.rank(), 0);
  Eigen::VectorXd x(3);
  factor.solve_shortest(Eigen::Vector3d::Ones(), x);
  EXPECT_EQ(x.norm(), 0.0);
}

TEST(Pivoted, EliminatesFewRows) {
  base::Random random(32);
  for (int trial = 0; trial < 200; ++trial) {
    const Eigen::Matrix3d A = random_matrix(random, 3, 3);
    const Eigen::Vector3d b = random_vector(random, 3);
    const FullyPivoted<3> factor(A);
    ASSERT_EQ(factor.rank(), 3);
    const Eigen::Vector3d x = factor.solve(b);
    EXPECT_LE((A * x - b).norm(), 1e-14 * (A.norm() * x.norm() + b.norm()));
    EXPECT_LE((A * factor.inverse() - Eigen::Matrix3d::Identity()).norm(),
              1e-14 * A.norm() * factor.inverse().norm());
  }
  Eigen::Matrix2d twice;
  twice << 1, 2, 2, 4;
  const FullyPivoted<2> factor(twice);
  EXPECT_EQ(factor.rank(), 1);
  const Eigen::Vector2d x = factor.solve(Eigen::Vector2d(3, 6));
  EXPECT_EQ(twice * x, Eigen::Vector2d(3, 6));
  EXPECT_EQ((x.array() == 0.0).count(), 1);
}

}  // namespace
}  // namespace ricochet::convex::convex_test
