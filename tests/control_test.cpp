// Step control, backward runs, joints, varying masses: against closed forms and independent
// computation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "ricochet/model/inline_model.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/elast.h"
#include "ricochet/step/simulate.h"
#include "ricochet/study/motion.h"
#include "support.h"

namespace ricochet::study::control_test {
namespace {

using testing::kFloor;

Motion run(const std::string& text, const std::vector<std::string>& changes = {},
           bool backward = false) {
  scene::Scene scene = testing::read_text(text, changes);
  scene.run.backward = backward;
  return run_scene(scene, true);
}

const char* const kWave = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "981*y"
[contact.wall]
keep = "y >= 3*sin(2*pi*x/40)"
[start]
position = { x = 0, y = 30 }
velocity = { x = 60, y = 0 }
[run]
scheme = "elast"
step   = { max = 0.05, min = 1e-10, tolerance = 1e-4 }
until  = 1
)toml";

/// Essai 1 exactly: parabolas between elastic reflections, the instants by bisection.
struct Exact {
  double x{0.0}, y{30.0}, u{60.0}, v{0.0};
  std::vector<double> impacts;

  static double wall(double at) { return 3.0 * std::sin(std::numbers::pi * at / 20.0); }
  double gap(double dt) const { return y + v * dt - 490.5 * dt * dt - wall(x + u * dt); }
  void fly(double dt) {
    x += u * dt;
    y += v * dt - 490.5 * dt * dt;
    v -= 981.0 * dt;
  }
  void run_until(double end) {
    double t = 0.0;
    for (;;) {
      double low = 1e-9;
      while (low < end - t && gap(low + 1e-5) > 0.0) low += 1e-5;
      if (low >= end - t) break;
      double high = low + 1e-5;
      for (int k = 0; k < 60; ++k)
        (gap(0.5 * (low + high)) > 0.0 ? low : high) = 0.5 * (low + high);
      fly(low);
      t += low;
      impacts.push_back(t);
      const double slope = 0.15 * std::numbers::pi * std::cos(std::numbers::pi * x / 20.0);
      const double pushed = 2.0 * (v - slope * u) / (1.0 + slope * slope);
      u += pushed * slope;
      v -= pushed;
    }
    fly(end - t);
  }
};

double error_of(const Motion& motion, const Exact& exact) {
  return std::hypot(motion.final_state.q[0] - exact.x, motion.final_state.q[1] - exact.y);
}

TEST(StepControl, NeedsFiveTimesFewerStepsThanAFixedStepOfTheSameError) {
  Exact exact;
  exact.run_until(1.0);
  ASSERT_EQ(exact.impacts.size(), 2U);
  const Motion controlled = run(kWave);
  ASSERT_TRUE(controlled.outcome.certificate.ok());
  const double error = error_of(controlled, exact);
  EXPECT_LT(error, 1e-2);
  // A fixed step that takes five times as many steps is still worse.
  const double h = 1.0 / (5.0 * static_cast<double>(controlled.outcome.steps));
  const Motion fixed = run(kWave, {"run.step=" + std::to_string(h)});
  EXPECT_GT(error_of(fixed, exact), error);
  RecordProperty("controlled_steps", std::to_string(controlled.outcome.steps));
}

/// What the second impact is off by where the start is off by `off`, in the worst direction.
double carried_to_second(const Exact& exact, double off) {
  double most = 0.0;
  for (int k = 0; k < 16; ++k) {
    const double angle = std::numbers::pi * k / 8.0;
    Exact moved;
    moved.x += off * std::cos(angle);
    moved.y += off * std::sin(angle);
    moved.run_until(1.0);
    EXPECT_EQ(moved.impacts.size(), 2U);
    most = std::max(most, std::abs(moved.impacts.at(1) - exact.impacts[1]));
  }
  return most;
}

TEST(StepControl, FindsTheInstantsOfShocksToTheTolerance) {
  Exact exact;
  exact.run_until(1.0);
  constexpr double kSpeed = 230.0;  // the least at a shock
  double before = 1.0;
  for (const double tolerance : {1e-3, 1e-4, 1e-5}) {
    const Motion motion = run(kWave, {"run.step.tolerance=" + std::to_string(tolerance)});
    const auto& shocks = motion.outcome.certificate.shocks;
    ASSERT_EQ(shocks.size(), exact.impacts.size());
    // A shock is met to the time in which the tolerance is covered. What the first one is off by,
    // the exact motion carries on to the second.
    const double met = tolerance / kSpeed;
    const double first = std::abs(shocks[0].t - exact.impacts[0]);
    EXPECT_LT(first, met);
    EXPECT_LT(first, 0.2 * before);  // in proportion to the tolerance
    before = first;
    EXPECT_NEAR(shocks[1].t, exact.impacts[1], met + carried_to_second(exact, kSpeed * first));
    EXPECT_EQ(motion.outcome.forced, 0);
  }
}

TEST(StepControl, AToleranceBelowRoundingStillEnds) {
  Exact exact;
  exact.run_until(1.0);
  const Motion motion = run(kWave, {"run.step.tolerance=1e-18", "run.step.min=1e-30"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.final_state.t, 1.0);
  EXPECT_LT(motion.outcome.steps, 500);
  // instants nearer than 1e-12 t are one; at a speed of 250 that is 2.5e-10
  EXPECT_LT(error_of(motion, exact), 1e-7);
}

TEST(StepControl, EndsWhereAskedAndSaysWhenItCannotHoldTheTolerance) {
  const Motion motion = run(kWave, {"run.step.min=0.01", "run.step.tolerance=1e-6"});
  EXPECT_NEAR(motion.final_state.t, 1.0, 1e-9);
  EXPECT_GT(motion.outcome.forced, 0);
  ASSERT_EQ(motion.scene.warnings.size(), 1U);
  EXPECT_NE(motion.scene.warnings[0].find("did not hold the tolerance"), std::string::npos);
}

const char* const kDamped = R"toml(
[system]
coordinates = ["x"]
mass    = [2]
damping = "0.5*3*x'^2"
[start]
position = { x = 0 }
velocity = { x = 1 }
[run]
scheme = "inel"
step   = 0.01
steps  = 100
)toml";

const char* const kFlight = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { c = 0.3 }
mass        = [2, 2]
force       = ["-c*x'", "-9.81*2 - c*y' + sin(t)"]
[start]
position = { x = 0, y = 0 }
velocity = { x = 3, y = 4 }
[run]
scheme = "inel"
step   = 1e-4
until  = 1
)toml";

/// There and back: the same scene, started where it ended and run backwards.
Motion there_and_back(const std::string& text, const std::vector<std::string>& changes = {}) {
  Motion there = run(text, changes);
  EXPECT_TRUE(there.outcome.certificate.ok());
  there.scene.start = there.final_state;
  there.scene.run.backward = true;
  return run_scene(there.scene, true);
}

TEST(Backward, FreeMotionReturnsToItsStart) {
  std::vector<double> errors;
  for (const char* step : {"run.step=2e-3", "run.step=1e-3"}) {
    const Motion back = there_and_back(kFlight, {step});
    ASSERT_TRUE(back.outcome.certificate.ok());
    EXPECT_NEAR(back.final_state.t, 0.0, 1e-12);
    const Eigen::Vector2d position(0.0, 0.0);
    const Eigen::Vector2d velocity(3.0, 4.0);
    errors.push_back((back.final_state.q - position).norm() +
                     (back.final_state.u - velocity).norm());
    for (std::size_t i = 1; i < back.rows.size(); ++i) {
      EXPECT_LT(back.rows[i].t, back.rows[i - 1].t);
    }
  }
  EXPECT_NEAR(errors[0] / errors[1], 2.0, 0.05);  // forces use velocities: first order
}

TEST(Backward, ElasticMotionIsReversible) {
  // J (u + u+) = 0 at the same middle reads the same both ways, and forces of q do.
  const Motion back = there_and_back(kWave, {"run.step=0.001"});
  ASSERT_TRUE(back.outcome.certificate.ok());
  EXPECT_EQ(back.outcome.certificate.shock_counts[0], 2);
  EXPECT_NEAR(back.final_state.q[0], 0.0, 1e-8);
  EXPECT_NEAR(back.final_state.q[1], 30.0, 1e-8);
  EXPECT_NEAR(back.final_state.u[0], 60.0, 1e-8);
  EXPECT_NEAR(back.final_state.u[1], 0.0, 1e-8);
}

TEST(Backward, StepControlMeetsTheSameShocks) {
  // From where the exact motion ends, the shock met first is the exact one's last.
  Exact exact;
  exact.run_until(1.0);
  scene::Scene scene = testing::read_text(kWave);
  scene.start = {1.0, Eigen::Vector2d(exact.x, exact.y), Eigen::Vector2d(exact.u, exact.v)};
  scene.run.backward = true;
  const Motion back = run_scene(scene, true);
  ASSERT_TRUE(back.outcome.certificate.ok());
  EXPECT_NEAR(back.final_state.t, 0.0, 1e-12);
  ASSERT_EQ(back.outcome.certificate.shocks.size(), 2U);
  EXPECT_NEAR(back.outcome.certificate.shocks[0].t, exact.impacts[1], 1e-4 / 100.0);
  EXPECT_NEAR(back.final_state.u[0], 60.0, 0.1);
}

TEST(Backward, DampingMayGiveBackMoreThanTenTimesTheEnergy) {
  // w = -u in the time -t: m w' = c w, explicitly (1 + h c/m) each step; T grows by 1.015^200.
  const Motion motion = run(kDamped, {}, true);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_NEAR(motion.final_state.u[0], std::pow(1.015, 100), 1e-12);
  EXPECT_GT(motion.outcome.certificate.ledger.kinetic_end,
            10.0 * motion.outcome.certificate.ledger.kinetic_start);
}

TEST(Backward, ABodySlidingOnAFloorCameAlongIt) {
  // u_(i-1) = prox(-V, u_i - h a): gravity would have it come from above, V keeps it on the floor.
  const Motion motion = run(kFloor, {"start.velocity.x=1"}, true);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_NEAR(motion.final_state.t, -1.0, 1e-12);
  EXPECT_NEAR(motion.final_state.q[0], -1.0, 1e-12);
  EXPECT_EQ(motion.final_state.q[1], 0.0);
  EXPECT_EQ(motion.final_state.u[1], 0.0);
  ASSERT_EQ(motion.scene.warnings.size(), 1U);  // it may as well have fallen there
  EXPECT_NE(motion.scene.warnings[0].find("a fall may have ended"), std::string::npos);
}

TEST(Backward, SaysWhereThePastIsAmbiguous) {
  const Motion motion = run(kFloor, {"start.position.y=1", "start.velocity.y=10"}, true);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  ASSERT_EQ(motion.scene.warnings.size(), 1U);
  EXPECT_NE(motion.scene.warnings[0].find("ambiguous"), std::string::npos);
  // y(t) = 1 + 10 t - 5 t^2 meets the floor at t = 1 - sqrt(1.2).
  EXPECT_NEAR(motion.outcome.certificate.shocks[0].t, 1.0 - std::sqrt(1.2), 0.011);
}

const char* const kRod = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "9.81*y"
[hold.rod]
zero = "x^2 + y^2 - 1"
[start]
position = { x = 1, y = 0 }
[run]
scheme = "inel"
step   = 0.01
until  = 4
)toml";

const char* const kAngle = R"toml(
[system]
coordinates = ["a"]
mass        = [1]
potential   = "-9.81*cos(a)"
[start]
position = { a = "pi/2" }
[run]
scheme = "inel"
step   = 1e-4
until  = 4
)toml";

TEST(Hold, APendulumOnARodIsThePendulumToSecondOrder) {
  const double a = run(kAngle).final_state.q[0];
  std::vector<double> errors;
  for (const char* step : {"run.step=0.02", "run.step=0.01", "run.step=0.005"}) {
    const Motion motion = run(kRod, {step});
    ASSERT_TRUE(motion.outcome.certificate.ok());
    errors.push_back(
        std::hypot(motion.final_state.q[0] - std::sin(a), motion.final_state.q[1] + std::cos(a)));
  }
  EXPECT_NEAR(errors[0] / errors[1], 4.0, 0.4);
  EXPECT_NEAR(errors[1] / errors[2], 4.0, 0.4);
}

TEST(Hold, DoesNotDriftInALongRun) {
  const Motion first = run(kRod, {"run.until=10"});
  const Motion motion = run(kRod, {"run.until=1000", "run.record=0"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_LT(motion.outcome.certificate.joint_max, 1.01 * first.outcome.certificate.joint_max);
  const auto& ledger = motion.outcome.certificate.ledger;
  EXPECT_LT(ledger.highest - ledger.lowest, 0.01);  // of 9.81
}

TEST(Hold, RedundantEquationsChangeNothing) {
  const Motion one = run(kRod);
  std::string text = kRod;
  text.insert(text.find("[start]"), "[hold.again]\nzero = \"2*x^2 + 2*y^2 - 2\"\n");
  const Motion two = run(text);
  ASSERT_TRUE(two.outcome.certificate.ok());
  EXPECT_FALSE(two.outcome.certificate.impulses_unique);
  EXPECT_NEAR((one.final_state.q - two.final_state.q).norm(), 0.0, 1e-9);
}

/// A double pendulum against a wall.
const char* const kPendulums = R"toml(
[system]
coordinates = ["a", "b"]
kinetic   = "a'^2 + 0.5*b'^2 + a'*b'*cos(a - b)"
potential = "-9.81*(2*cos(a) + cos(b))"
[contact.wall]
keep = "sin(a) + sin(b) >= -0.3"
[start]
position = { a = 0.9, b = 0.6 }
[run]
scheme = "inel"
step   = 0.001
until  = 1.5
)toml";

TEST(Varying, ResultsDoNotDependOnLinearCoordinates) {
  // The same in sums and differences of the angles.
  const char* const sums = R"toml(
[system]
coordinates = ["s", "d"]
define    = { a = "s + d", b = "3*s - d" }
kinetic   = "(s' + d')^2 + 0.5*(3*s' - d')^2 + (s' + d')*(3*s' - d')*cos(a - b)"
potential = "-9.81*(2*cos(a) + cos(b))"
[contact.wall]
keep = "sin(a) + sin(b) >= -0.3"
[start]
position = { s = 0.375, d = 0.525 }
[run]
scheme = "inel"
step   = 0.001
until  = 1.5
)toml";
  const Motion one = run(kPendulums);
  const Motion two = run(sums);
  ASSERT_TRUE(one.outcome.certificate.ok());
  ASSERT_TRUE(two.outcome.certificate.ok());
  EXPECT_GE(one.outcome.certificate.shock_counts[0], 1);
  const auto& q = two.final_state.q;
  EXPECT_NEAR(one.final_state.q[0], q[0] + q[1], 1e-9);
  EXPECT_NEAR(one.final_state.q[1], 3.0 * q[0] - q[1], 1e-9);
}

/// The same double pendulum against its wall, written in C++: M(q) comes from `kinetic`.
struct Pendulums {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 1;
  double gap(int, double, const Eigen::Vector2d& q) const {
    return std::sin(q[0]) + std::sin(q[1]) + 0.3;
  }
  Eigen::Vector2d gap_gradient(int, double, const Eigen::Vector2d& q) const {
    return {std::cos(q[0]), std::cos(q[1])};
  }
  Eigen::Vector2d force(double, const Eigen::Vector2d& q, const Eigen::Vector2d&) const {
    return {-19.62 * std::sin(q[0]), -9.81 * std::sin(q[1])};
  }
  double potential(double, const Eigen::Vector2d& q) const {
    return -9.81 * (2.0 * std::cos(q[0]) + std::cos(q[1]));
  }
  template <class Real>
  Real kinetic(const Eigen::Matrix<Real, 2, 1>& q, const Eigen::Matrix<Real, 2, 1>& u) const {
    using std::cos;
    return u[0] * u[0] + 0.5 * u[1] * u[1] + u[0] * u[1] * cos(Real(q[0] - q[1]));
  }
};

TEST(Varying, ACppModelGivesTheMotionOfTheScene) {
  const Motion scene = run(kPendulums, {"run.scheme=elast"});
  model::State<2> state{0.0, {0.9, 0.6}, {0.0, 0.0}};
  const step::RunSettings settings{.step = 0.001, .steps = 1500};
  const step::Outcome outcome = step::simulate(model::InlineModel{Pendulums{}}, step::Elast{},
                                               settings, state, [](const step::Sample&) {});
  ASSERT_TRUE(outcome.certificate.ok());
  EXPECT_GE(outcome.certificate.shock_counts[0], 1);
  EXPECT_NEAR((state.q - scene.final_state.q).norm(), 0.0, 1e-9);
}

TEST(Varying, ASingularMassEndsTheRunAndSaysSo) {
  const char* const polar = R"toml(
[system]
coordinates = ["r", "phi"]
kinetic = "0.5*(r'^2 + r^2*phi'^2)"
[start]
position = { r = 1, phi = 0 }
velocity = { r = -1, phi = 0 }
[run]
scheme = "inel"
step   = 0.125
until  = 2
)toml";
  const Motion motion = run(polar, {"start.position.r=1.0625"});
  EXPECT_EQ(motion.outcome.certificate.failure, certify::Failure::SingularMass);
  EXPECT_NEAR(motion.outcome.certificate.failure_time, 1.0625, 1e-12);
}

TEST(Damping, IsTheRayleighFunction) {
  // m x'' = -c x': the explicit velocity multiplies by (1 - h c/m) each step.
  EXPECT_NEAR(run(kDamped).final_state.u[0], std::pow(1.0 - 0.015, 100), 1e-13);
}

TEST(Where, AConstraintExistsOnlyThere) {
  const Motion motion =
      run(kFloor, {"contact.floor.where=x < 1", "start.velocity.x=1", "run.until=2"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  // falls for a second after the edge, which is met to a step: 10 t h
  EXPECT_NEAR(motion.final_state.q[1], -5.0, 0.1 + 1e-3);
  EXPECT_EQ(motion.outcome.certificate.violation_max, 0.0);
}

TEST(TwoSided, HoldsBothWays) {
  const char* const channel = R"toml(
[system]
coordinates = ["x"]
mass = [1]
[contact.slot]
keep = "-1 <= x <= 2"
[start]
position = { x = 0 }
velocity = { x = 1 }
[run]
scheme = "elast"
step   = 0.01
until  = 10
)toml";
  const Motion motion = run(channel);
  EXPECT_EQ(motion.scene.system().model->contact_names(),
            (std::vector<std::string>{"slot.lower", "slot.upper"}));
  EXPECT_EQ(motion.outcome.certificate.shock_counts, (std::vector<long long>{1, 2}));
  EXPECT_LT(motion.outcome.certificate.violation_max, 0.011);
}

}  // namespace
}  // namespace ricochet::study::control_test
