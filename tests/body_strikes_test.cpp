// Corners and ends that strike a rough floor with e = 0: one blow of Moreau's law, wherever it
// falls in a step. The blow of one contact is solved here by pages of its own.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>

#include "barred.h"

namespace ricochet::study::body_strikes_test {
namespace {

/// u+ after a blow of one contact with e = 0, of the plane: it sticks, or slides as it did, or the
/// other way.
Eigen::Vector2d blow_in_plane(const Eigen::Matrix2d& W, const Eigen::Vector2d& u, double mu) {
  Eigen::Vector2d p = -W.inverse() * u;
  if (std::abs(p[1]) <= mu * p[0]) return u + W * p;
  for (const double way : {-1.0, 1.0}) {  // of the push
    const double normal = -u[0] / (W(0, 0) + way * mu * W(0, 1));
    p = normal * Eigen::Vector2d(1.0, way * mu);
    const Eigen::Vector2d after = u + W * p;
    if (normal > 0.0 && after[1] * way <= 0.0) return after;
  }
  return Eigen::Vector2d::Constant(std::nan(""));
}

constexpr double kRadius2 = 0.13;  // (0.3^2 + 0.2^2): squared half diagonal of the box
constexpr double kInertia = kRadius2 / 3.0;
constexpr double kAngle = 0.5;
constexpr double kUntil = 0.12;

/// A box of 0.6 by 0.4 m whose corner comes to the floor, without gravity.
std::string corner(double mu, double vx, double step) {
  const double lowest = 0.3 * std::sin(kAngle) + 0.2 * std::cos(kAngle);
  return fmt::format(
      "[world]\ndimension = 2\n[pair]\ndefault = {{ friction = {} }}\n[body.box]\nbox = [0.6, "
      "0.4]\n"
      "mass = 1\nat = [0, {:.17g}]\nangle = {}\nvelocity = [{}, -2]\n[body.floor]\nfixed = true\n"
      "half_plane = {{ point = [0, 0], normal = [0, 1] }}\n[run]\nstep = {:.17g}\nuntil = {}\n",
      mu, lowest + 0.2, kAngle, vx, step, kUntil);
}

/// The spin that the blow leaves.
double spin_after(double mu, double vx) {
  const double x = -0.3 * std::cos(kAngle) + 0.2 * std::sin(kAngle);  // of the lowest corner
  const double y = -0.3 * std::sin(kAngle) - 0.2 * std::cos(kAngle);
  Eigen::Matrix2d W;  // (n, t) = (up, to the left)
  W << 1.0 + x * x / kInertia, x * y / kInertia, x * y / kInertia, 1.0 + y * y / kInertia;
  const Eigen::Vector2d u(-2.0, -vx);
  const Eigen::Vector2d p = W.inverse() * (blow_in_plane(W, u, mu) - u);
  return (x * p[0] + y * p[1]) / kInertia;
}

// Exact: the spin after the blow, to the first order of the step, in which the corner turns before.
TEST(BodyStrikes, CornersMakeOneBlow) {
  struct Case {
    double mu;
    double vx;
  };
  for (const Case& one : {Case{0.3, 0.5}, Case{0.3, 0.0}, Case{0.3, -1.5}, Case{0.8, 0.5},
                          Case{0.1, 0.2}, Case{0.5, 3.0}}) {
    const double spin = spin_after(one.mu, one.vx);
    for (int k = 0; k < 12; ++k) {
      const double step = kUntil / (600 + 234 * k);
      const testing::Barred run = testing::run_barred(corner(one.mu, one.vx, step));
      EXPECT_TRUE(run.motion.outcome.certificate.ok());
      EXPECT_NEAR(run.rate(2), spin, 10.0 * step * std::abs(spin)) << one.mu << ", " << one.vx;
      EXPECT_TRUE(run.bar.unresolved.empty()) << one.mu << ", " << one.vx << ", " << step;
      EXPECT_NEAR(run.rate(2), spin, run.bar.velocity[2])
          << one.mu << ", " << one.vx << ", " << step;
    }
  }
}

/// u+ after a blow of one contact with e = 0 that slides at its end, in space: the way in which it
/// does, by repeated turns towards it.
Eigen::Vector3d blow_in_space(const Eigen::Matrix3d& W, const Eigen::Vector3d& u, double mu) {
  const Eigen::Vector3d held = -W.inverse() * u;
  if (held.tail<2>().norm() <= mu * held[0]) return Eigen::Vector3d::Zero();
  Eigen::Vector2d way = u.tail<2>().normalized();
  Eigen::Vector3d after = u;
  for (int k = 0; k < 20000; ++k) {
    Eigen::Vector3d push;
    push << 1.0, -mu * way;
    after = u - W * push * (u[0] / W.row(0).dot(push));
    way = (way + 0.05 * (after.tail<2>().normalized() - way)).normalized();
  }
  return after;
}

// Exact: the velocity of a rod, its end struck against the floor, skew to its fall.
TEST(BodyStrikes, RodsInSpaceMakeOneBlow) {
  constexpr double kTilt = 0.9;
  constexpr double kRound = 0.01;
  const Eigen::Vector3d axis(std::cos(kTilt), 0.0, -std::sin(kTilt));
  const Eigen::Vector3d arm = 0.5 * axis - kRound * Eigen::Vector3d::UnitZ();
  const Eigen::Matrix3d along = axis * axis.transpose();
  const Eigen::Matrix3d inverse = 1e3 * along + 12.0 * (Eigen::Matrix3d::Identity() - along);
  Eigen::Matrix3d cross;
  cross << 0.0, -arm[2], arm[1], arm[2], 0.0, -arm[0], -arm[1], arm[0], 0.0;
  const Eigen::Matrix3d W = Eigen::Matrix3d::Identity() - cross * inverse * cross;  // (x, y, z)
  Eigen::Matrix3d turned;                                                           // (n, t, t')
  turned << 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0;
  const Eigen::Vector3d before(0.3, 0.1, -1.0);
  const Eigen::Vector3d u = turned * before;
  const Eigen::Matrix3d in_frame = turned * W * turned.transpose();
  const Eigen::Vector3d p = in_frame.inverse() * (blow_in_space(in_frame, u, 0.3) - u);
  const Eigen::Vector3d after = before + turned.transpose() * p;
  for (int k = 0; k < 12; ++k) {
    const double step = 0.03 / (100 + 71 * k);
    const testing::Barred run = testing::run_barred(fmt::format(
        "[world]\ndimension = 3\n[pair]\ndefault = {{ friction = 0.3 }}\n[body.rod]\n"
        "capsule = [[-0.5, 0, 0], [0.5, 0, 0], 0.01]\nmass = 1\n"
        "inertia = [0.001, \"1/12\", \"1/12\"]\nat = [0, 0, {:.17g}]\n"
        "axis_angle = [[0, 1, 0], 0.9]\nvelocity = [0.3, 0.1, -1]\n[body.floor]\nfixed = true\n"
        "half_space = {{ point = [0, 0, 0], normal = [0, 0, 1] }}\n[run]\nstep = {:.17g}\n"
        "until = 0.03\n",
        0.02 - arm[2], step));
    EXPECT_TRUE(run.motion.outcome.certificate.ok());
    EXPECT_TRUE(run.bar.unresolved.empty()) << step;
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(run.rate(i), after[i], 2.0 * step) << step << ", " << i;
      EXPECT_NEAR(run.rate(i), after[i], run.bar.velocity[static_cast<std::size_t>(i)])
          << step << ", " << i;
    }
  }
}

// Edges that are flush with faces: what rounding leaves of weights puts nobody back.
TEST(BodyStrikes, DominoesFallOnEachOther) {
  const std::string two =
      "[world]\ndimension = 3\ngravity = [0, 0, -9.81]\n[pair]\ndefault = { friction = 0.3 }\n"
      "[body.d]\nfor = \"i in 1..2\"\nbox = [0.01, 0.04, 0.1]\nmass = 0.04\n"
      "at = [\"0.04*i\", 0, 0.05]\nspin = [0, \"3*(2-i)\", 0]\n"
      "velocity = [\"0.15*(2-i)\", 0, \"0.015*(2-i)\"]\n[body.floor]\nfixed = true\n"
      "half_space = { point = [0, 0, 0], normal = [0, 0, 1] }\n[run]\nuntil = 0.3\nstep = ";
  for (const double step : {1e-3, 5e-4, 2.5e-4}) {
    const Motion motion = run_scene(testing::read_text(two + fmt::format("{}\n", step)), false);
    EXPECT_TRUE(motion.outcome.certificate.ok())
        << step << ": " << certify::describe_failure(motion.outcome.certificate);
  }
}

}  // namespace
}  // namespace ricochet::study::body_strikes_test
