#include <gtest/gtest.h>

#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/two_motions.h"
#include "support.h"

namespace ricochet::motion_judge_test {
namespace {

using certify::Certificate;
using certify::certify_motion;
using certify::Failure;
using study::AnyView;
using study::FreeMotion;
using study::TwoMotions;

Eigen::VectorXd scalar(double x) { return Eigen::VectorXd::Constant(1, x); }

/// A ball of mass 2 under gravity 10 over a floor, restitution e.
scene::Scene dropped(const std::string& law = "restitution = 0.5") {
  return testing::read_text(R"toml(
[system]
coordinates = ["z"]
mass        = [2]
potential   = "20*z"
[contact.floor]
keep = "z >= 0"
)toml" + law + R"toml(
[start]
position = { z = 5 }
velocity = { z = 0 }
[run]
scheme = "moreau"
step   = 0.1
until  = 1
)toml");
}

/// It falls from 5 m for 1 s, arrives at 10 m/s and leaves at `leaves`, until 1.4 s.
FreeMotion bounce(double leaves, double impulse) {
  FreeMotion motion{.instants = {0.0, 1.0, 1.4}};
  motion.at = [=](double t, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    const double s = t - 1.0;
    q = scalar(t < 1.0 ? 5.0 - 5.0 * t * t : leaves * s - 5.0 * s * s);
    u = scalar(t < 1.0 ? -10.0 * t : leaves - 10.0 * s);
  };
  motion.atoms.push_back({1.0, scalar(-10.0), scalar(leaves), scalar(impulse)});
  return motion;
}

Certificate judge(const scene::Scene& scene, const FreeMotion& motion, double touching = 1e-12,
                  double balance = 1e-10) {
  return certify_motion(AnyView(*scene.system().model), motion, {.balance = balance}, touching);
}

TEST(MotionJudge, AcceptsABallThatBouncesByItsLaw) {
  const Certificate certificate = judge(dropped(), bounce(5.0, 30.0));
  EXPECT_TRUE(certificate.ok()) << certify::describe(certificate.failure).name;
  EXPECT_LE(certificate.balance_max, 1e-12);
  ASSERT_EQ(certificate.shocks.size(), 1u);
  EXPECT_NEAR(certificate.shocks[0].approach, 10.0, 1e-12);
  EXPECT_NEAR(certificate.ledger.contacts.value(), -75.0, 1e-12);  // (25 - 100) of u^2, mass 2
}

TEST(MotionJudge, RefusesAnotherRestitutionThanTheModels) {
  EXPECT_EQ(judge(dropped(), bounce(7.0, 34.0)).failure, Failure::Residual);
}

TEST(MotionJudge, RefusesAnImpulseThatIsNotTheJumpOfMomentum) {
  EXPECT_EQ(judge(dropped(), bounce(5.0, 31.0)).failure, Failure::Balance);
}

TEST(MotionJudge, RefusesAMotionThatForcesDoNotGive) {
  FreeMotion motion = bounce(5.0, 30.0);
  const auto right = motion.at;
  motion.at = [=](double t, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    right(t, q, u);
    if (t > 1.0) {  // half of gravity
      q[0] = 5.0 * (t - 1.0) - 2.5 * (t - 1.0) * (t - 1.0);
      u[0] = 5.0 - 5.0 * (t - 1.0);
    }
  };
  const Certificate certificate = judge(dropped(), motion);
  EXPECT_EQ(certificate.failure, Failure::Balance);
  EXPECT_EQ(certificate.failure_time, 1.4);
}

TEST(MotionJudge, RefusesPositionsThatVelocitiesDoNotGive) {
  FreeMotion motion = bounce(5.0, 30.0);
  const auto right = motion.at;
  motion.at = [=](double t, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    right(t, q, u);
    if (t > 1.0) q[0] += 0.01 * (t - 1.0);
  };
  EXPECT_EQ(judge(dropped(), motion).failure, Failure::Kinematics);
}

TEST(MotionJudge, RefusesToPassThroughTheFloor) {
  FreeMotion motion{.instants = {0.0, 1.0, 1.4}};
  motion.at = [](double t, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    q = scalar(5.0 - 5.0 * t * t);
    u = scalar(-10.0 * t);
  };
  EXPECT_EQ(judge(dropped(), motion).failure, Failure::Residual);  // unanswered, at t = 1
  motion.instants = {0.0, 1.4};
  EXPECT_EQ(judge(dropped(), motion).failure, Failure::Violation);
}

TEST(MotionJudge, KnowsReactionsThatLast) {
  FreeMotion motion{.instants = {0.0, 1.0}};
  double height = 0.0;
  double push = 20.0;  // the weight
  motion.at = [&](double, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    q = scalar(height);
    u = scalar(0.0);
  };
  motion.reaction = [&](double, Eigen::VectorXd& r) { r = scalar(push); };
  EXPECT_TRUE(judge(dropped(), motion).ok());
  push = 19.0;
  EXPECT_EQ(judge(dropped(), motion).failure, Failure::Balance);
  push = -1.0;
  EXPECT_EQ(judge(dropped(), motion).failure, Failure::Residual);
  push = 20.0;
  height = 0.1;  // held in the air
  EXPECT_EQ(judge(dropped(), motion).failure, Failure::ActiveSet);
}

TEST(MotionJudge, HoldsAtomsAgainstALawOfTheUser) {
  const scene::Scene scene = dropped("law = [\"-0.3*z'\"]");
  EXPECT_TRUE(judge(scene, bounce(3.0, 26.0)).ok());
  EXPECT_FALSE(judge(scene, bounce(5.0, 30.0)).ok());
}

TEST(MotionJudge, AsksForInstantsInOrder) {
  FreeMotion motion = bounce(5.0, 30.0);
  motion.instants = {0.0, 1.4};
  EXPECT_THROW((void)judge(dropped(), motion), base::InputError);  // the atom at t = 1
  motion.instants = {0.0, 1.4, 1.0};
  EXPECT_THROW((void)judge(dropped(), motion), base::InputError);
}

// Ballard 2013, par. 2: one force, two motions, and both satisfy problem P1.
TEST(TwoMotions, BothSatisfyTheEvolutionProblem) {
  constexpr int kBumps = 12;
  constexpr double kBalance = 1e-9;  // the times of short bumps are rounded
  const scene::Scene scene =
      testing::read_text(study::builtin_scene("bressan-schatzman"), {"N=12"});
  const TwoMotions motions(kBumps);
  const Certificate rest = judge(scene, motions.rest(), 0.0, kBalance);
  EXPECT_TRUE(rest.ok()) << certify::describe(rest.failure).name << rest.failure_time;
  const Certificate bounces = judge(scene, motions.bounces(), 0.0, kBalance);
  EXPECT_TRUE(bounces.ok()) << certify::describe(bounces.failure).name << " at "
                            << bounces.failure_time << ", " << bounces.failure_value;
  EXPECT_EQ(bounces.shocks.size(), 12u);
  EXPECT_NEAR(bounces.ledger.contacts.value(), 0.0, 1e-15);  // elastic
  // Before t_n no more than v_n t_n from the wall: both start at rest on it.
  for (int n = 1; n < kBumps; ++n) {
    Eigen::VectorXd q;
    Eigen::VectorXd u;
    for (double part = 0.01; part < 1.0; part += 0.01) {
      const double t = TwoMotions::time(n + 1) * part + TwoMotions::time(n) * (1.0 - part);
      motions.bounces().at(t, q, u);
      EXPECT_LE(std::abs(q[0]), TwoMotions::speed(n) * t);
      EXPECT_LE(std::abs(u[0]), TwoMotions::speed(n) * (1.0 + 1e-12));
    }
  }
}

TEST(TwoMotions, AnyOtherMixIsRefused) {
  const scene::Scene scene = testing::read_text(study::builtin_scene("bressan-schatzman"));
  ASSERT_TRUE(judge(scene, TwoMotions(6).bounces(), 0.0).ok());
  FreeMotion mixed = TwoMotions(6).bounces();  // which stops at its last impact but one
  mixed.atoms[4].after = scalar(0.0);
  mixed.atoms[4].impulses *= 0.5;
  EXPECT_FALSE(judge(scene, mixed, 0.0).ok());
  FreeMotion slower = TwoMotions(6).bounces();
  slower.reaction = [](double, Eigen::VectorXd& r) { r = scalar(1e-3); };
  EXPECT_FALSE(judge(scene, slower, 0.0).ok());
}

}  // namespace
}  // namespace ricochet::motion_judge_test
