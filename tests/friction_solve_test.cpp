// Contacts with friction: one by closed forms, several together, against the law and against
// Moreau's formulation without a split of the reaction.

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "allocations.h"
#include "dense_step.h"
#include "ricochet/convex/friction_cone.h"
#include "ricochet/solve/single_contact.h"
#include "ricochet/solve/step_solver.h"
#include "support.h"

namespace ricochet::solve::friction_solve_test {
namespace {

using convex::Section;
using convex::Tangent;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using problem::Grip;
using testing::DenseStep;
using testing::random_matrix;
using testing::random_metric;
using testing::random_vector;

const std::vector<Tangent> kSquare{{0.5, 0.0}, {0.0, 0.5}, {-0.5, 0.0}, {0.0, -0.5}};
const std::vector<Tangent> kTriangle{{1.2, -0.3}, {-0.2, 0.9}, {-0.4, -0.5}};

/// A section of any kind in space, or a segment in the plane.
Section random_section(base::Random& random, int slips) {
  const auto mu = [&] { return random.below(8) == 0 ? 0.0 : random.uniform(0.0, 2.0); };
  if (slips == 1) return convex::Segment{-mu(), mu()};
  switch (random.below(5)) {
    case 0: return convex::Ellipse{mu() + 0.01, mu() + 0.01};
    case 1: return convex::Polygon{kSquare};
    case 2: return convex::Polygon{kTriangle};
    default: return convex::Disc{mu()};
  }
}

/// By how much R and U = W R + b break (11.14), relative to the impulses at hand: U_N and R_N are
/// complementary, and R_T is the point of R_N D nearest to R_T - rho U_T.
double law_error(const Vector3d& R, const Vector3d& U, const Section& section, double rho,
                 double scale) {
  const double normal = std::abs(R.x() - std::max(0.0, R.x() - rho * U.x()));
  if (!(R.x() >= 0.0)) return std::numeric_limits<double>::infinity();
  const Tangent T = R.tail<2>();
  const Tangent image = convex::project(section, T - rho * U.tail<2>(), R.x());
  return std::max(normal, (T - image).norm()) / scale;
}

/// The same by (11.15): -U in proj_T of the normal cone of C at R. The vector of the normal cone
/// whose tangential part is -U_T has the normal part -support(-U_T).
double new_law_error(const Vector3d& R, const Vector3d& U, const Section& section, double rho,
                     double scale) {
  if (R.norm() == 0.0) return std::max(0.0, -U.x()) * rho / scale;
  const convex::FrictionCone cone{section};
  const Vector3d normal(-convex::support(section, -U.tail<2>()), -U.y(), -U.z());
  return std::max((cone.project(R + rho * normal) - R).norm(), rho * std::abs(U.x())) / scale;
}

struct Errors {
  double classical{0.0};
  double unsplit{0.0};
};

Errors errors_of(const Matrix3d& W, const Vector3d& b, const SingleSolution& s,
                 const Section& section) {
  const Vector3d U = W * s.impulse + b;
  const double rho = 3.0 / W.trace();
  const double scale = s.impulse.norm() + rho * b.norm();
  return {law_error(s.impulse, U, section, rho, scale),
          new_law_error(s.impulse, U, section, rho, scale)};
}

/// A mass, a normal and tangents with any coupling, as rows of G; W = G M^-1 G^T.
Matrix3d random_delassus(base::Random& random, int slips) {
  const Eigen::Index n = 3 + random.below(4);
  MatrixXd G = random_matrix(random, 1 + slips, n);
  if (random.below(3) == 0) {  // strong coupling: tangent rows lean on the normal one
    for (int j = 0; j < slips; ++j) G.row(1 + j) += random.normal() * 5.0 * G.row(0);
  }
  const MatrixXd M = random_metric(random, n, 0.5);
  Matrix3d W = Matrix3d::Zero();
  const MatrixXd small = G * M.ldlt().solve(G.transpose());
  W.topLeftCorner(1 + slips, 1 + slips) = 0.5 * (small + small.transpose());
  return W;
}

TEST(SingleContact, InThePlaneObeysTheLaw) {
  base::Random random(1);
  std::map<Grip, int> seen;
  for (int trial = 0; trial < 100000; ++trial) {
    const Matrix3d W = random_delassus(random, 1);
    const Vector3d b(random.normal(), random.normal(), 0.0);
    const Section section = random_section(random, 1);
    const SingleSolution s =
        solve_in_plane(W(0, 0), W(0, 1), W(1, 1), b.x(), b.y(), std::get<convex::Segment>(section));
    ASSERT_EQ(s.status, problem::Status::Solved);
    const double condition =
        W.topLeftCorner<2, 2>().squaredNorm() / W.topLeftCorner<2, 2>().determinant();
    const Errors errors = errors_of(W, b, s, section);
    ASSERT_LE(errors.classical, 1e-14 * (10.0 + condition)) << trial;
    ASSERT_LE(errors.unsplit, 1e-14 * (10.0 + condition)) << trial;
    ++seen[s.grip];
    const double slip = (W * s.impulse + b).y();
    if (s.grip == Grip::Stick) {
      EXPECT_NEAR(slip, 0.0, 1e-13 * condition * (1.0 + b.norm()));
    }
  }
  EXPECT_GT(seen[Grip::Free], 10000);
  EXPECT_GT(seen[Grip::Stick], 1000);
  EXPECT_GT(seen[Grip::Slip], 1000);
}

TEST(SingleContact, InSpaceObeysTheLawForEverySection) {
  base::Random random(2);
  std::map<Grip, int> seen;
  double worst = 0.0;
  for (int trial = 0; trial < 100000; ++trial) {
    Matrix3d W = random_delassus(random, 2);
    if (random.below(5) == 0) W = Vector3d(W(0, 0), W(1, 1), W(1, 1)).asDiagonal();
    if (random.below(5) == 0) W = W.diagonal().eval().asDiagonal();
    const Vector3d b(random.normal(), random.normal(), random.normal());
    const Section section = random_section(random, 2);
    const SingleSolution s = solve_in_space(W, b, section);
    ASSERT_EQ(s.status, problem::Status::Solved) << trial << "\n" << W << "\n" << b.transpose();
    const double condition = std::pow(W.norm(), 3.0) / W.determinant();
    const Errors errors = errors_of(W, b, s, section);
    worst = std::max({worst, errors.classical, errors.unsplit});
    ASSERT_LE(errors.classical, 1e-13 * (10.0 + condition)) << trial << " " << section.index();
    ASSERT_LE(errors.unsplit, 1e-13 * (10.0 + condition)) << trial << " " << section.index();
    ++seen[s.grip];
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GT(seen[Grip::Free], 10000);
  EXPECT_GT(seen[Grip::Stick], 1000);
  EXPECT_GT(seen[Grip::Slip], 10000);
}

TEST(SingleContact, DependentTangentsAreNoObstacle) {
  // Both slips say the same, or one of them says nothing: W is singular.
  base::Random random(3);
  int sticks = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    MatrixXd G = random_matrix(random, 3, 4);
    G.row(2) = random.below(2) == 0 ? VectorXd::Zero(4).transpose().eval()
                                    : (random.normal() * G.row(1)).eval();
    const Matrix3d W = G * G.transpose();
    const Vector3d b = G * random_vector(random, 4);
    const Section section = random_section(random, 2);
    const SingleSolution s = solve_in_space(W, b, section);
    ASSERT_EQ(s.status, problem::Status::Solved) << trial << " " << section.index();
    const Errors errors = errors_of(W, b, s, section);
    ASSERT_LE(errors.classical, 1e-9) << trial << " " << section.index() << "\n" << W;
    sticks += s.grip == Grip::Stick ? 1 : 0;
  }
  EXPECT_GT(sticks, 500);
}

using Real = long double;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

/// u+ = prox(S, 0) of (13.13) in R^n, S being where the cone u' + C meets the hyperplane J u = 0:
/// no impulses, no slip, only the two edges of the cone and the metric M.
struct Planar {
  RealMatrix M;
  RealVector J;
  RealVector S;
  RealVector u;  // u'
  Real low;
  Real high;
  bool half_line{false};

  RealVector edge(Real mu) const {
    return M.ldlt().solve(RealVector(J + mu * S));  // M^-1 G^T (1, mu)
  }
  Real product(const RealVector& a, const RealVector& b) const { return a.dot(M * b); }

  RealVector solve() {
    const RealVector a1 = edge(low);
    const RealVector a2 = edge(high);
    const bool meets1 = J.dot(a1) > 0;
    const bool meets2 = J.dot(a2) > 0;
    half_line = !(meets1 && meets2);
    const auto end = [&](const RealVector& a) { return RealVector(u - (J.dot(u) / J.dot(a)) * a); };
    const RealVector from = meets1 ? end(a1) : end(a2);
    RealVector along;
    if (!half_line) {
      along = end(a2) - from;
    } else {  // the direction of the half-line: a combination of the edges in the hyperplane
      const RealVector& other = meets1 ? a2 : a1;
      const RealVector& own = meets1 ? a1 : a2;
      along = J.dot(own) * other - J.dot(other) * own;
    }
    const Real square = product(along, along);
    if (!(square > 0)) return from;
    Real at = -product(from, along) / square;
    at = std::max(Real(0), at);
    if (!half_line) at = std::min(Real(1), at);
    return from + at * along;
  }
};

TEST(SingleContact, InThePlaneEqualsTheFormulationWithoutSplit) {
  base::Random random(4);
  int half_lines = 0;
  double worst = 0.0;
  for (int trial = 0; trial < 5000; ++trial) {
    const Eigen::Index n = 2 + random.below(5);
    Planar planar;
    planar.M = random_metric(random, n, 0.3).cast<Real>();
    planar.J = random_vector(random, n).cast<Real>();
    planar.S = (random_vector(random, n) + random.normal() * planar.J.cast<double>()).cast<Real>();
    planar.u = random_vector(random, n).cast<Real>();
    if (planar.J.dot(planar.u) > 0) planar.u = -planar.u;
    const convex::Segment section{-random.uniform(0.0, 2.0), random.uniform(0.0, 2.0)};
    planar.low = section.low;
    planar.high = section.high;
    const RealVector next = planar.solve();
    half_lines += planar.half_line ? 1 : 0;
    RealMatrix G(2, n);
    G << planar.J.transpose(), planar.S.transpose();
    const RealMatrix W = G * planar.M.ldlt().solve(G.transpose().eval());
    const RealVector b = G * planar.u;
    const SingleSolution s = solve_in_plane(
        static_cast<double>(W(0, 0)), static_cast<double>(W(0, 1)), static_cast<double>(W(1, 1)),
        static_cast<double>(b[0]), static_cast<double>(b[1]), section);
    ASSERT_EQ(s.status, problem::Status::Solved);
    const RealVector expected = W.inverse() * (G * next - b);  // U+ - U' = W R
    const double condition = static_cast<double>(W.squaredNorm() / W.determinant());
    const double size = static_cast<double>(expected.norm());
    const double off = (s.impulse.head<2>() - expected.cast<double>()).norm() / size;
    ASSERT_LE(off, 1e-15 * (10.0 + condition) * (1.0 + condition)) << trial;
    if (condition < 50.0) {
      ASSERT_LE(off, 1e-12) << trial << " " << condition;
      worst = std::max(worst, off);
    }
  }
  EXPECT_GT(half_lines, 250);
  EXPECT_LE(worst, 1e-12);
}

/// The point of c + r D nearest to 0, by the section's points only. [Moreau 1986 (12.6)]
Tangent nearest_to_zero(const Tangent& c, double r, const Section& section) {
  using RealTangent = Eigen::Matrix<Real, 2, 1>;
  const RealTangent centre = c.cast<Real>();
  if (const auto* polygon = std::get_if<convex::Polygon>(&section)) {
    RealTangent best = RealTangent::Zero();
    Real least = std::numeric_limits<Real>::infinity();
    bool inside = true;
    for (std::size_t i = 0; i < polygon->corners.size(); ++i) {
      const RealTangent from = centre + Real(r) * polygon->corners[i].cast<Real>();
      const RealTangent to =
          centre + Real(r) * polygon->corners[(i + 1) % polygon->corners.size()].cast<Real>();
      const RealTangent along = to - from;
      inside = inside && along.x() * -from.y() - along.y() * -from.x() >= 0;
      const Real at = std::clamp(-from.dot(along) / along.squaredNorm(), Real(0), Real(1));
      const RealTangent point = from + at * along;
      if (point.squaredNorm() < least) {
        least = point.squaredNorm();
        best = point;
      }
    }
    return inside ? Tangent::Zero().eval() : best.cast<double>().eval();
  }
  const auto* disc = std::get_if<convex::Disc>(&section);
  const auto* ellipse = std::get_if<convex::Ellipse>(&section);
  const Real a = Real(r) * (disc != nullptr ? disc->radius : ellipse->a);
  const Real b = Real(r) * (disc != nullptr ? disc->radius : ellipse->b);
  if (a == 0 && b == 0) return c;
  const auto sq = [](Real x) { return x * x; };
  if (sq(centre.x() / a) + sq(centre.y() / b) <= 1) return Tangent::Zero();
  const auto point = [&](Real angle) {
    return RealTangent(centre.x() + a * std::cos(angle), centre.y() + b * std::sin(angle));
  };
  Real angle = 0;  // the nearest point of the curve by its angle: a grid, then Newton's method
  constexpr int kGrid = 90;
  for (int k = 0; k < kGrid; ++k) {
    const Real other = 2 * std::numbers::pi_v<Real> * k / kGrid;
    if (point(other).squaredNorm() < point(angle).squaredNorm()) angle = other;
  }
  for (int round = 0; round < 30; ++round) {
    const RealTangent p = point(angle);
    const RealTangent d(-a * std::sin(angle), b * std::cos(angle));
    const RealTangent dd(-a * std::cos(angle), -b * std::sin(angle));
    angle -= p.dot(d) / (d.squaredNorm() + p.dot(dd));
  }
  return point(angle).cast<double>();
}

TEST(SingleContact, AParticleComesToThePointOfItsConeNearestToRest) {
  base::Random random(5);
  std::map<std::size_t, int> slides;
  for (int trial = 0; trial < 4000; ++trial) {
    const double m = std::pow(10.0, random.uniform(-3.0, 3.0));
    const Vector3d u(-std::abs(random.normal()), random.normal(), random.normal());
    const Section section = random_section(random, 2);
    const SingleSolution s = solve_in_space(Matrix3d::Identity() / m, u, section);
    ASSERT_EQ(s.status, problem::Status::Solved);
    const Tangent next = nearest_to_zero(u.tail<2>(), -u.x(), section);
    const Vector3d expected = m * (Vector3d(0.0, next.x(), next.y()) - u);
    ASSERT_LE((s.impulse - expected).norm(), 1e-12 * expected.norm())
        << trial << " " << section.index();
    slides[section.index()] += s.grip == Grip::Slip ? 1 : 0;
    EXPECT_EQ(s.grip == Grip::Stick, next.norm() == 0.0);
    if (const auto* disc = std::get_if<convex::Disc>(&section)) {  // (12.7)
      const double speed = u.tail<2>().norm();
      const double left = std::max(0.0, 1.0 - disc->radius * std::abs(u.x()) / speed);
      ASSERT_LE((next - left * u.tail<2>()).norm(), 1e-12 * speed);
    }
  }
  for (const auto& [kind, count] : slides) EXPECT_GT(count, 200) << kind;
  EXPECT_EQ(slides.size(), 3U);
}

TEST(SingleContact, AnisotropicSlidingFollowsTheNormalConeOfTheSection) {
  // With R_T = -R_N v, v on the ellipse, U_T is along the normal of the ellipse at v, which is
  // (v_x/a^2, v_y/b^2): R_T = -R_N (a^2 U_x, b^2 U_y) / sqrt(a^2 U_x^2 + b^2 U_y^2).
  base::Random random(6);
  double least_angle = 10.0;
  for (int trial = 0; trial < 5000; ++trial) {
    const double a = random.uniform(0.1, 0.4);
    const double b = random.uniform(0.6, 1.5);
    Matrix3d W = random_delassus(random, 2);
    if (trial % 2 == 0) W.setIdentity();
    const Vector3d free(-1.0, random.uniform(3.0, 9.0), random.uniform(3.0, 9.0));
    const SingleSolution s = solve_in_space(W, free, convex::Ellipse{a, b});
    const double condition = std::pow(W.norm(), 3.0) / W.determinant();
    if (s.grip != Grip::Slip || condition > 1e4) continue;
    const Tangent U = (W * s.impulse + free).tail<2>();
    const Tangent v(a * a * U.x(), b * b * U.y());
    const Tangent expected = -s.impulse.x() * v / std::hypot(a * U.x(), b * U.y());
    ASSERT_LE((Tangent(s.impulse.tail<2>()) - expected).norm(), 1e-9 * expected.norm()) << trial;
    if (trial % 2 != 0) continue;
    ASSERT_LE((Tangent(s.impulse.tail<2>()) - expected).norm(), 1e-12 * expected.norm()) << trial;
    // and not along the slip
    const double turn = U.x() * expected.y() - U.y() * expected.x();
    const double angle = std::abs(turn) / (U.norm() * expected.norm());
    least_angle = std::min(least_angle, angle / std::min(1.0, std::abs(U.x() / U.y())));
  }
  EXPECT_GT(least_angle, 0.05);
  // a polygon whose edge (0.5, 0)-(0, 0.5) faces the slip: impulse anywhere on it, slip along its
  // normal (1, 1)
  const SingleSolution edge =
      solve_in_space(Matrix3d::Identity(), {-1.0, -2.1, -2.0}, convex::Polygon{kSquare});
  const Vector3d U = edge.impulse + Vector3d(-1.0, -2.1, -2.0);
  EXPECT_NEAR(U.y(), U.z(), 1e-15);
  EXPECT_NEAR(edge.impulse.y() + edge.impulse.z(), 0.5, 1e-15);
}

TEST(SingleContact, OpensWhereItWouldAndPushesOnlyWhereItMust) {
  const SingleSolution leaving = solve_in_plane(1.0, 0.5, 1.0, 0.1, -3.0, {-1.0, 1.0});
  EXPECT_EQ(leaving.grip, Grip::Free);
  EXPECT_EQ(leaving.impulse, Vector3d::Zero());
  const SingleSolution touching =
      solve_in_space(Matrix3d::Identity(), {0.0, 2.0, 1.0}, convex::Disc{1.0});
  EXPECT_EQ(touching.grip, Grip::Free);
  EXPECT_EQ(touching.impulse, Vector3d::Zero());
  // Jamming: W_NN + edge W_NT = 1 - 2 < 0, so that no sliding impulse stops the approach.
  const SingleSolution jammed = solve_in_plane(1.0, 2.0, 8.0, -1.0, 5.0, {-1.0, 1.0});
  EXPECT_EQ(jammed.grip, Grip::Stick);
  EXPECT_NEAR(jammed.impulse[0] + 2.0 * jammed.impulse[1], 1.0, 1e-15);
  EXPECT_NEAR(2.0 * jammed.impulse[0] + 8.0 * jammed.impulse[1], -5.0, 1e-14);
  EXPECT_EQ(solve_in_plane(1.0, 0.0, 0.0, -1.0, 1.0, {-1.0, 1.0}).grip, Grip::Slip);
}

/// Contacts with rows of G A^-T as columns, joints last.
struct Random {
  DenseStep problem;
  MatrixXd W;
  VectorXd b;
  bool singular{false};
};

Random random_problem(base::Random& random, bool with_joints, bool dependent) {
  Random made;
  const int count = 2 + random.below(11);
  Eigen::Index rows = 0;
  std::vector<DenseStep::Contact> contacts;
  for (int i = 0; i < count; ++i) {
    DenseStep::Contact contact;
    contact.first = static_cast<int>(rows);
    contact.slips = random.below(4) == 0 ? 0 : 1 + random.below(2);
    if (contact.slips > 0) contact.section = random_section(random, contact.slips);
    rows += 1 + contact.slips;
    contacts.push_back(contact);
  }
  const Eigen::Index joints = with_joints ? 1 + random.below(3) : 0;
  const Eigen::Index dofs =
      dependent ? std::max<Eigen::Index>(joints + 2, (rows + joints) / 2) : rows + joints + 3;
  made.singular = dependent;
  made.problem.resize(dofs, rows + joints, contacts.size());
  made.problem.held = joints;
  made.problem.contacts = contacts;
  made.problem.factor = random_matrix(random, dofs, rows + joints);
  // Contacts press from one side more than from the other, else little of them would last.
  for (const auto& contact : contacts) {
    made.problem.factor.col(contact.first)[0] += 2.0;
  }
  VectorXd velocity = random_vector(random, dofs);
  velocity[0] -= 2.0;
  made.b = made.problem.factor.transpose() * velocity;
  made.problem.free = made.b;
  made.W = made.problem.factor.transpose() * made.problem.factor;
  return made;
}

VectorXd impulses_of(const StepSolver& solver, Eigen::Index rows) {
  VectorXd R(rows);
  for (Eigen::Index i = 0; i < rows; ++i) R[i] = solver.impulse(static_cast<int>(i));
  return R;
}

double residual_of(const Random& made, const VectorXd& R) {
  const VectorXd U = made.W * R + made.b;
  double scale = 0.0;
  double worst = 0.0;
  for (const DenseStep::Contact& contact : made.problem.contacts) {
    const int size = 1 + contact.slips;
    const double rho = size / made.W.block(contact.first, contact.first, size, size).trace();
    scale = std::max({scale, R.segment(contact.first, size).norm(),
                      rho * made.b.segment(contact.first, size).norm()});
  }
  for (const DenseStep::Contact& contact : made.problem.contacts) {
    const int size = 1 + contact.slips;
    const double rho = size / made.W.block(contact.first, contact.first, size, size).trace();
    Vector3d r = Vector3d::Zero();
    Vector3d u = Vector3d::Zero();
    r.head(size) = R.segment(contact.first, size);
    u.head(size) = U.segment(contact.first, size);
    const Section section = contact.slips == 0 ? Section{convex::Disc{0.0}} : contact.section;
    worst = std::max(worst, law_error(r, u, section, rho, scale));
    if (r.norm() > 0.0) worst = std::max(worst, new_law_error(r, u, section, rho, scale));
  }
  for (Eigen::Index k = made.problem.rows - made.problem.held; k < made.problem.rows; ++k) {
    worst = std::max(worst, std::abs(U[k]) / made.W(k, k) / scale);
  }
  return worst;
}

struct Tally {
  int solved{0};
  int failed{0};
  double worst{0.0};
  int sticks{0};
  int slides{0};
  int most_rounds{0};
};

Tally solve_many(unsigned seed, int trials, bool joints, bool dependent) {
  base::Random random(seed);
  StepSolver solver;
  problem::WarmStart warm;
  Tally tally;
  for (int trial = 0; trial < trials; ++trial) {
    const Random made = random_problem(random, joints, dependent);
    const problem::Report report = solver.solve(made.problem, warm);
    const VectorXd R = impulses_of(solver, made.problem.rows);
    tally.most_rounds = std::max(tally.most_rounds, report.iterations);
    if (report.status != problem::Status::Solved) {
      ++tally.failed;
      continue;
    }
    ++tally.solved;
    const double residual = residual_of(made, R);
    EXPECT_LE(residual, 1e-10) << "seed " << seed << " trial " << trial;
    tally.worst = std::max(tally.worst, residual);
    for (std::size_t i = 0; i < made.problem.count; ++i) {
      if (made.problem.contacts[i].slips == 0) continue;
      tally.sticks += solver.grip(static_cast<int>(i)) == Grip::Stick ? 1 : 0;
      tally.slides += solver.grip(static_cast<int>(i)) == Grip::Slip ? 1 : 0;
    }
  }
  return tally;
}

TEST(StepSolver, ObeysTheLawForManyContacts) {
  const Tally tally = solve_many(11, 3000, false, false);
  EXPECT_EQ(tally.failed, 0);
  EXPECT_GT(tally.sticks, 500);
  EXPECT_GT(tally.slides, 500);
}

TEST(StepSolver, ObeysTheLawWithJoints) {
  const Tally tally = solve_many(12, 2000, true, false);
  EXPECT_EQ(tally.failed, 0);
}

TEST(StepSolver, ObeysTheLawWithDependentRows) {
  const Tally tally = solve_many(13, 2000, false, true);
  EXPECT_LE(tally.failed, 1);  // and said so
  const Tally held = solve_many(14, 1000, true, true);
  EXPECT_LE(held.failed, 1);
}

TEST(StepSolver, EqualsTheClosedFormsWhereContactsDoNotFeelEachOther) {
  base::Random random(15);
  StepSolver solver;
  problem::WarmStart warm;
  for (int trial = 0; trial < 1000; ++trial) {
    const int count = 2 + random.below(5);
    DenseStep problem;
    problem.resize(3 * count, 3 * count, static_cast<std::size_t>(count));
    problem.factor.setZero();
    problem.free = random_vector(random, 3 * count);
    for (int i = 0; i < count; ++i) {
      MatrixXd block = random_matrix(random, 3, 3) + 2.0 * MatrixXd::Identity(3, 3);
      problem.factor.block(3 * i, 3 * i, 3, 3) = block;
      problem.contacts[static_cast<std::size_t>(i)] = {3 * i, 2, convex::Disc{0.2}};
    }
    ASSERT_EQ(solver.solve(problem, warm).status, problem::Status::Solved);
    for (int i = 0; i < count; ++i) {
      const MatrixXd block = problem.factor.block(3 * i, 3 * i, 3, 3);
      const Matrix3d W = block.transpose() * block;
      const Vector3d b = problem.free.segment(3 * i, 3);
      const SingleSolution single = solve_in_space(W, b, convex::Disc{0.2});
      Vector3d R;
      for (int j = 0; j < 3; ++j) R[j] = solver.impulse(3 * i + j);
      const double condition = std::pow(W.norm(), 3.0) / W.determinant();
      if (condition > 1e5) continue;
      ASSERT_LE((R - single.impulse).norm(), 1e-9 * problem.free.norm()) << trial;
      EXPECT_EQ(solver.grip(i), single.grip) << trial;
    }
  }
}

/// The same contacts in the opposite order.
Random turned_round(const Random& given) {
  Random made = given;
  Eigen::Index at = 0;
  const std::size_t count = given.problem.count;
  for (std::size_t i = 0; i < count; ++i) {
    const DenseStep::Contact& old = given.problem.contacts[count - 1 - i];
    DenseStep::Contact& contact = made.problem.contacts[i];
    contact = old;
    contact.first = static_cast<int>(at);
    for (int j = 0; j <= old.slips; ++j, ++at) {
      made.problem.factor.col(at) = given.problem.factor.col(old.first + j);
      made.problem.free[at] = given.problem.free[old.first + j];
    }
  }
  return made;
}

TEST(StepSolver, DoesNotDependOnTheOrderOfContactsWhereThereIsOneSolution) {
  // Little friction and W far from singular: the frictionless problem has one solution, and the
  // map that friction adds contracts.
  base::Random random(16);
  StepSolver solver;
  problem::WarmStart warm;
  StepSolver other;
  problem::WarmStart other_warm;
  for (int trial = 0; trial < 500; ++trial) {
    Random made = random_problem(random, false, false);
    for (DenseStep::Contact& contact : made.problem.contacts) {
      if (contact.slips == 1) contact.section = convex::Segment{-0.02, 0.01};
      if (contact.slips == 2) contact.section = convex::Ellipse{0.02, 0.01};
    }
    const Random turned = turned_round(made);
    ASSERT_EQ(solver.solve(made.problem, warm).status, problem::Status::Solved);
    ASSERT_EQ(other.solve(turned.problem, other_warm).status, problem::Status::Solved);
    const std::size_t count = made.problem.count;
    const double size = impulses_of(solver, made.problem.rows).norm();
    for (std::size_t i = 0; i < count; ++i) {
      const DenseStep::Contact& contact = made.problem.contacts[i];
      const DenseStep::Contact& same = turned.problem.contacts[count - 1 - i];
      for (int j = 0; j <= contact.slips; ++j) {
        ASSERT_NEAR(solver.impulse(contact.first + j), other.impulse(same.first + j), 1e-9 * size)
            << trial;
      }
    }
  }
}

TEST(StepSolver, FreeContactsHaveNoImpulseAtAll) {
  base::Random random(17);
  StepSolver solver;
  problem::WarmStart warm;
  int free = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Random made = random_problem(random, trial % 2 == 0, false);
    ASSERT_EQ(solver.solve(made.problem, warm).status, problem::Status::Solved);
    for (std::size_t i = 0; i < made.problem.count; ++i) {
      const DenseStep::Contact& contact = made.problem.contacts[i];
      const double normal = solver.impulse(contact.first);
      ASSERT_GE(normal, 0.0);
      ASSERT_EQ(solver.grip(static_cast<int>(i)) == Grip::Free, normal == 0.0);
      if (normal > 0.0) continue;
      ++free;
      for (int j = 1; j <= contact.slips; ++j) EXPECT_EQ(solver.impulse(contact.first + j), 0.0);
    }
  }
  EXPECT_GT(free, 200);
}

TEST(StepSolver, SaysWhatCannotBeSolved) {
  DenseStep problem;
  problem.resize(2, 4, 2);
  problem.factor << 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0;  // the first contact has no normal
  problem.contacts = {{0, 1, convex::Segment{-0.5, 0.5}}, {2, 1, convex::Segment{-0.5, 0.5}}};
  problem.free = Eigen::Vector4d(-1.0, 0.0, -1.0, 0.0);
  StepSolver solver;
  problem::WarmStart warm;
  EXPECT_EQ(solver.solve(problem, warm).status, problem::Status::Degenerate);
  problem.free[0] = 1.0;  // it opens: no harm
  EXPECT_EQ(solver.solve(problem, warm).status, problem::Status::Solved);
  EXPECT_EQ(solver.impulse(0), 0.0);
  EXPECT_GT(solver.impulse(2), 0.0);
  problem.resize(2, 4, 1);
  problem.held = 2;
  problem.factor << 1.0, 0.0, 1.0, 2.0, 0.0, 1.0, 0.0, 0.0;  // joints that contradict each other
  problem.free = Eigen::Vector4d(-1.0, 0.0, 1.0, 1.0);
  EXPECT_EQ(solver.solve(problem, warm).status, problem::Status::Infeasible);
}

TEST(StepSolver, AllocatesNothingOnceItHasSeenTheLargestProblem) {
  base::Random random(18);
  for (const int size : {1, 3}) {  // up to 36 rows, and more
    std::vector<Random> made;
    for (int trial = 0; trial < 60; ++trial) made.push_back(random_problem(random, false, false));
    if (size == 3) {  // one of 14 contacts in space
      Random large = made[0];
      large.problem.resize(50, 42, 14);
      large.problem.factor = random_matrix(random, 50, 42);
      large.problem.free = random_vector(random, 42);
      large.problem.contacts.assign(14, {});
      for (int i = 0; i < 14; ++i) {
        large.problem.contacts[static_cast<std::size_t>(i)] = {3 * i, 2, convex::Disc{0.3}};
      }
      made.push_back(large);
    }
    std::vector<problem::StepProblem> problems;
    for (const Random& one : made) problems.push_back(one.problem);
    StepSolver solver;
    problem::WarmStart warm;
    for (int pass = 0; pass < 2; ++pass) {  // not every solve looks for other motions
      for (const problem::StepProblem& step : problems) (void)solver.solve(step, warm);
    }
    const long long before = testing::allocations();
    for (const problem::StepProblem& step : problems) (void)solver.solve(step, warm);
    EXPECT_EQ(testing::allocations(), before) << size;
  }
}

}  // namespace
}  // namespace ricochet::solve::friction_solve_test
