// Experiments of Paoli 2001 that its text names without data: the joint with clearance by three
// kinds of methods, and the slender bar that bends.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <complex>
#include <numbers>

#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::theorems_bodies_test {
namespace {

using study::Motion;
using testing::run_text;

/// The speed of arrival on the orbit of `tight-joint` that strikes either stop in turn. From a stop
/// at +c, left with -e v, half a period of the force leads to the other at -c, met with -v; the
/// motion is a decaying oscillation about the driven one, (p, r) at the first impact and (-p, -r)
/// at the second.
double speed_of_symmetric_orbit(double k, double damping, double F, double w, double c, double e) {
  const double rate = 0.5 * damping, own = std::sqrt(k - rate * rate);
  const double t = std::numbers::pi / w;
  const double decay = std::exp(-rate * t), cosine = std::cos(own * t),
               sine = std::sin(own * t) / own;
  Eigen::Matrix2d H;  // (y, y') over half a period
  H << cosine + rate * sine, sine, -k * sine, cosine - rate * sine;
  H *= decay;
  const double response = std::abs(F / std::complex<double>(k - w * w, damping * w));
  const auto excess = [&](double v) {
    // H (c - p, -e v - r) = (p - c, r - v): linear in (p, r).
    const Eigen::Matrix2d A = H + Eigen::Matrix2d::Identity();
    const Eigen::Vector2d right = H * Eigen::Vector2d(c, -e * v) + Eigen::Vector2d(c, v);
    const Eigen::Vector2d place = A.inverse() * right;
    return std::hypot(place[0], place[1] / w) - response;
  };
  double low = 0.8, high = 1.2;
  EXPECT_LT(excess(low) * excess(high), 0.0);
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    ((excess(middle) > 0.0) == (excess(high) > 0.0) ? high : low) = middle;
  }
  return low;
}

// As P01 compares them: event location, compliant stops, and the schemes in positions and
// velocities.
TEST(Joint, EventDrivenCompliantAndSteppingSchemesAgree) {
  const double exact = speed_of_symmetric_orbit(1.0, 0.1, 1.0, 1.5, 0.5, 0.5);
  const auto arrival = [](const std::vector<std::string>& settings) {
    const Motion motion = run_text(study::builtin_scene("tight-joint"), settings);
    EXPECT_TRUE(motion.outcome.certificate.ok());
    const auto& shocks = motion.outcome.certificate.shocks;
    EXPECT_GT(shocks.size(), 100u);
    EXPECT_NE(shocks.back().contact, shocks[shocks.size() - 2].contact);  // in turn
    return 0.5 * (shocks.back().approach + shocks[shocks.size() - 2].approach);
  };
  EXPECT_NEAR(arrival({"run.scheme=event-driven"}), exact, 1e-8);
  for (const char* scheme : {"paoli-schatzman", "mabrouk", "moreau"}) {
    EXPECT_NEAR(arrival({fmt::format("run.scheme={}", scheme)}), exact, 2e-3) << scheme;
  }
  // Stops of stiffness k, with a dashpot for e, hold the mass for about pi/sqrt(k), in which the
  // force, at most 1, changes its speed by that much at most.
  for (const double k : {1e4, 1e5}) {
    EXPECT_NEAR(arrival({"run.scheme=penalty", fmt::format("run.stiffness={}", k),
                         "run.record=1000", fmt::format("run.step={}", 0.05 / std::sqrt(k))}),
                exact, std::numbers::pi / std::sqrt(k))
        << k;
  }
}

/// W of the end of a straight chain of N links at an angle, normal to the floor: by M of lumped
/// nodes.
double end_response(int links, double angle) {
  const int n = 2 + links;  // x, z, angles
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
  for (int node = 0; node <= links; ++node) {
    Eigen::MatrixXd velocity = Eigen::MatrixXd::Zero(2, n);  // of the node
    velocity(0, 0) = velocity(1, 1) = 1.0;
    for (int j = 0; j < node; ++j) {
      velocity(0, 2 + j) = -std::sin(angle) / links;
      velocity(1, 2 + j) = std::cos(angle) / links;
    }
    const double mass = (node == 0 || node == links ? 0.5 : 1.0) / links;
    M += mass * velocity.transpose() * velocity;
  }
  return M.inverse()(1, 1);
}

/// The restitution of the bar as a whole: that of a rigid one with the same impulse.
double effective_restitution(double degrees, long long* shocks) {
  const double angle = degrees * std::numbers::pi / 180.0;
  const Motion motion = run_text(study::builtin_scene("deformable-bar"),
                                 {fmt::format("angle={:.17g}", angle), "k=500"});
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_NEAR(motion.outcome.certificate.ledger.contacts.value(), 0.0, 1e-9);  // elastic contacts
  *shocks = motion.outcome.certificate.shock_counts[0];
  double impulse = 0.0;
  for (const study::Row& row : motion.rows) impulse += row.impulses[0];
  double inertia = 0.0;
  for (int node = 0; node <= 5; ++node) {
    inertia += (node == 0 || node == 5 ? 0.1 : 0.2) * std::pow(node / 5.0 - 0.5, 2);
  }
  const double arm = 0.5 * std::cos(angle);
  return (1.0 + arm * arm / inertia) * impulse - 1.0;
}

// Upright the bar is rigid along its axis and returns the speed; at an angle it bends, and returns
// less, by an amount that rises and falls with the angle. Where its end strikes once, the impulse
// is 2/W.
TEST(Bar, ADeformableBarLosesAngleDependentEnergy) {
  long long shocks = 0;
  EXPECT_NEAR(effective_restitution(90.0, &shocks), 1.0, 1e-6);
  EXPECT_EQ(shocks, 1);
  for (const double degrees : {70.0, 80.0}) {
    const double angle = degrees * std::numbers::pi / 180.0;
    const double arm = 0.5 * std::cos(angle);
    double inertia = 0.0;
    for (int node = 0; node <= 5; ++node) {
      inertia += (node == 0 || node == 5 ? 0.1 : 0.2) * std::pow(node / 5.0 - 0.5, 2);
    }
    const double exact = (1.0 + arm * arm / inertia) * 2.0 / end_response(5, angle) - 1.0;
    EXPECT_NEAR(effective_restitution(degrees, &shocks), exact, 1e-3) << degrees;
    EXPECT_EQ(shocks, 1);
  }
  const double steep = effective_restitution(70.0, &shocks);
  const double middle = effective_restitution(45.0, &shocks);
  EXPECT_GT(shocks, 1);  // the end strikes again while the bar bends
  EXPECT_GT(middle, 1.5 * steep);
  EXPECT_LT(middle, 0.9);
}

}  // namespace
}  // namespace ricochet::theorems_bodies_test
