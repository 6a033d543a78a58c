// [roll]: velocities that are kept at 0, nonholonomic constraints.  [Moreau 1986, par. 11,
// appendix]

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/inspect.h"
#include "support.h"

namespace ricochet::roll_test {
namespace {

using certify::Failure;
using testing::run_text;

const std::vector<const char*> kSchemes = {"moreau", "inel", "elast", "billiard", "event-driven"};

study::Motion run(const char* scene, const std::vector<std::string>& settings = {}) {
  study::Motion motion = run_text(study::builtin_scene(scene), settings);
  EXPECT_EQ(motion.outcome.certificate.failure, Failure::None)
      << scene << ": " << certify::describe_failure(motion.outcome.certificate);
  return motion;
}

std::vector<std::string> by(const char* scheme, double h, double until) {
  return {fmt::format("run.scheme=\"{}\"", scheme), fmt::format("run.step={}", h),
          fmt::format("run.until={}", until)};
}

/// The largest distance of a run from the cycloid, part times as large as the skate's.
double off_cycloid(const study::Motion& motion, double part) {
  const double w = 2.0, A = part * 9.81 * std::sin(0.3) / (2.0 * w * w);
  double worst = 0.0;
  for (const study::Row& row : motion.rows) {
    const double x = A * std::pow(std::sin(w * row.t), 2);
    const double y = A * (w * row.t - 0.5 * std::sin(2.0 * w * row.t));
    worst = std::max(worst, std::hypot(row.q[0] - x, row.q[1] - y));
  }
  return worst;
}

TEST(Roll, ASkateOnASlopeGoesAlongACycloidWithOrderTwo) {
  for (const char* scheme : kSchemes) {
    if (std::string(scheme) == "event-driven") continue;
    const double coarse = off_cycloid(run("skate", by(scheme, 0.02, 4.0)), 1.0);
    const double fine = off_cycloid(run("skate", by(scheme, 0.01, 4.0)), 1.0);
    EXPECT_LT(fine, 1e-3) << scheme;
    EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.05) << scheme;
  }
  EXPECT_LT(off_cycloid(run("skate", by("event-driven", 0.1, 4.0)), 1.0), 1e-8);
}

TEST(Roll, ADiscThatRollsAndTurnsHasTwoThirdsOfItsAcceleration) {
  for (const char* scheme : {"moreau", "event-driven"}) {
    EXPECT_LT(off_cycloid(run("disc-on-slope", by(scheme, 0.01, 4.0)), 2.0 / 3.0), 1e-3) << scheme;
  }
  // Without turning straight down, exactly: x = g sin(slope) t^2 / 3.
  for (const char* scheme : kSchemes) {
    std::vector<std::string> settings = by(scheme, 0.01, 2.0);
    settings.push_back("w=1e-9");
    const study::Motion down = run("disc-on-slope", settings);
    EXPECT_NEAR(down.final_state.q[0], 9.81 * std::sin(0.3) * 4.0 / 3.0, 1e-9) << scheme;
    EXPECT_NEAR(down.final_state.u[0], 9.81 * std::sin(0.3) * 4.0 / 3.0, 1e-9) << scheme;
  }
}

/// On level ground an upright disc goes round a circle of radius R s / w with both rates, by every
/// step: no order, but the chord in place of its arc.
TEST(Roll, AnUprightDiscGoesRoundACircle) {
  const double w = 1.5, speed = 2.0, h = 0.01;
  for (const char* scheme : kSchemes) {
    std::vector<std::string> settings = by(scheme, h, 6.0);
    for (const char* more : {"slope=0", "w=1.5", "start.velocity.x=2", "start.velocity.psi=4"}) {
      settings.emplace_back(more);
    }
    const study::Motion motion = run("disc-on-slope", settings);
    // Sums of h/2 (u + u+) along a regular polygon: the circle is larger by (wh/2)/tan(wh/2).
    const double part =
        scheme == std::string("event-driven") ? 1.0 : 0.5 * w * h / std::tan(0.5 * w * h);
    for (const study::Row& row : motion.rows) {
      EXPECT_NEAR(row.q[0], part * speed / w * std::sin(w * row.t), 1e-8) << scheme;
      EXPECT_NEAR(row.q[1], part * speed / w * (1.0 - std::cos(w * row.t)), 1e-8) << scheme;
      EXPECT_NEAR(row.u[3], 4.0, 1e-8) << scheme;
    }
    EXPECT_NEAR(motion.outcome.certificate.ledger.joints.value(), 0.0, 1e-12) << scheme;
  }
}

TEST(Roll, ChaplyginsSleighComesToGoStraight) {
  std::vector<double> errors;
  for (const double h : {0.02, 0.01}) {
    const study::Motion motion = run("sleigh", by("moreau", h, 5.0));
    const double W = 2.0, V = W * std::sqrt(0.55), k = 0.5 * V / 0.55;
    double worst = 0.0;
    for (const study::Row& row : motion.rows) {
      const double along = row.u[0] * std::cos(row.q[2]) + row.u[1] * std::sin(row.q[2]);
      worst = std::max(worst, std::abs(row.u[2] - W / std::cosh(k * row.t)));
      worst = std::max(worst, std::abs(along - V * std::tanh(k * row.t)));
    }
    errors.push_back(worst);
  }
  EXPECT_LT(errors[1], 1e-3);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2.0, 0.1);
}

/// The reaction does no work: what a step of the scheme leaves is of order 2 and does not drift.
TEST(Roll, TheConstraintDoesNoWork) {
  std::vector<double> most;
  for (const double h : {0.02, 0.01}) {
    const study::Motion motion = run("skate", by("moreau", h, 200.0));
    double worst = 0.0, early = 0.0, late = 0.0;
    for (const study::Row& row : motion.rows) {
      const double energy = 0.5 * (row.u[0] * row.u[0] + row.u[1] * row.u[1]) +
                            0.05 * row.u[2] * row.u[2] - 9.81 * std::sin(0.3) * row.q[0];
      worst = std::max(worst, std::abs(energy - 0.2));
      double& part = row.t < 10.0 ? early : late;
      part = std::max(part, std::abs(energy - 0.2));
    }
    EXPECT_LT(late, 1.001 * early);
    most.push_back(worst);
  }
  EXPECT_LT(most[1], 1e-3);
  EXPECT_NEAR(std::log2(most[0] / most[1]), 2.0, 0.1);
  const study::Motion exact = run("skate", by("event-driven", 0.05, 6.0));
  EXPECT_NEAR(exact.outcome.certificate.ledger.joints.value(), 0.0, 1e-9);
}

/// At the ends of steps the velocity is 0 to rounding, and the certificate has a line for it.
TEST(Roll, TheCertificateTellsWhatIsLeftOfTheVelocity) {
  for (const char* scheme : kSchemes) {
    const study::Motion motion = run("skate", by(scheme, 0.01, 4.0));
    double worst = 0.0;
    for (std::size_t i = 1; i < motion.rows.size(); ++i) {
      const study::Row& row = motion.rows[i];
      worst =
          std::max(worst, std::abs(-row.u[0] * std::sin(row.q[2]) + row.u[1] * std::cos(row.q[2])));
    }
    EXPECT_LT(worst, 1e-14) << scheme;
    EXPECT_NEAR(motion.outcome.certificate.roll_max, worst, 1e-15) << scheme;
  }
}

/// Friction with a bound above every reaction is the same constraint, which its step meets with
/// order 1: it has the direction of the blade at the middle.
TEST(Roll, IsTheLimitOfFrictionWithoutBound) {
  std::string rough = study::builtin_scene("skate");
  rough.replace(rough.find("[roll.blade]\nzero"), 17, "[friction.blade]\nbound = 1e4\nslip");
  std::vector<double> errors;
  for (const double h : {0.002, 0.001}) {
    const study::Motion friction = run_text(rough, by("moreau", h, 4.0));
    ASSERT_EQ(friction.outcome.certificate.failure, Failure::None);
    EXPECT_GT(friction.outcome.certificate.friction[0].stick_time, 3.99);
    errors.push_back(off_cycloid(friction, 1.0));
  }
  EXPECT_LT(errors[1], 1e-2);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 1.0, 0.1);
}

/// A step is its own inverse, so that a motion run backwards comes to where it began.
TEST(Roll, RunsBackwards) {
  study::Motion there = run("sleigh", by("moreau", 0.01, 2.0));
  there.scene.start = there.final_state;
  there.scene.run.backward = true;
  const study::Motion home = study::run_scene(there.scene, true);
  ASSERT_EQ(home.outcome.certificate.failure, Failure::None)
      << certify::describe_failure(home.outcome.certificate);
  EXPECT_NEAR(home.final_state.q.norm(), 0.0, 1e-11);
  EXPECT_NEAR(home.final_state.u[2], 2.0, 1e-11);
  const std::size_t last = there.rows.size() - 1;  // the same reactions, one after the other
  for (std::size_t k = 1; k <= last; ++k) {
    EXPECT_NEAR(home.rows[k].impulses[0], there.rows[last + 1 - k].impulses[0], 1e-11) << k;
  }
}

/// A turntable that carries a ball without slip: the ball goes round a circle at 2/7 of its rate.
///                                                               [closed form of the rolling ball]
const std::string kTurntable = R"toml(
[system]
coordinates = ["x", "y", "a", "b"]
parameters  = { R = 0.2, m = 1, W = 3, r = 0.5 }
mass        = ["m", "m", "0.4*m*R^2", "0.4*m*R^2"]
[roll.one]
zero = "x' - R*b' + W*y"
[roll.other]
zero = "y' + R*a' - W*x"
[start]
position = { x = "r", y = 0, a = 0, b = 0 }
velocity = { x = 0, y = "2/7*W*r", a = "(W*r - 2/7*W*r)/R", b = 0 }
[run]
scheme = "moreau"
step   = 0.01
until  = 7
)toml";

TEST(Roll, ABallOnATurntableGoesRoundAtTwoSeventhsOfItsRate) {
  std::vector<double> errors;
  for (const double h : {0.02, 0.01}) {
    const study::Motion motion = run_text(kTurntable, {fmt::format("run.step={}", h)});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None)
        << certify::describe_failure(motion.outcome.certificate);
    double worst = 0.0;
    for (const study::Row& row : motion.rows) {
      const double angle = 6.0 / 7.0 * row.t;
      worst = std::max(
          worst, std::hypot(row.q[0] - 0.5 * std::cos(angle), row.q[1] - 0.5 * std::sin(angle)));
    }
    errors.push_back(worst);
  }
  EXPECT_LT(errors[1], 1e-3);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2.0, 0.1);
}

/// A rolling disc strikes a wall: U+ = -e U with the inertia of rolling in W, and it rolls on.
TEST(Roll, IsKeptThroughImpacts) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "psi"]
parameters  = { R = 0.5, m = 2 }
mass        = ["m", "0.5*m*R^2"]
[contact.wall]
keep        = "x <= 1"
restitution = 0.5
[roll.floor]
zero = "x' - R*psi'"
[start]
position = { x = 0, psi = 0 }
velocity = { x = 1, psi = 2 }
[run]
scheme = "moreau"
step   = 0.01
until  = 2
)toml";
  for (const char* scheme : {"moreau", "event-driven"}) {
    const study::Motion motion = run_text(text, {fmt::format("run.scheme=\"{}\"", scheme)});
    const certify::Certificate& c = motion.outcome.certificate;
    ASSERT_EQ(c.failure, Failure::None) << scheme << certify::describe_failure(c);
    EXPECT_NEAR(motion.final_state.u[0], -0.5, 1e-12) << scheme;
    EXPECT_NEAR(motion.final_state.u[1], -1.0, 1e-12) << scheme;
    EXPECT_NEAR(motion.final_state.q[0], 0.5, 0.02) << scheme;
    ASSERT_EQ(c.shock_counts[0], 1) << scheme;
    // The wall's impulse carries the mass of rolling: (1 + e) 3/2 m v.
    EXPECT_NEAR(c.shocks[0].impulse, 1.5 * 1.5 * 2.0, 1e-9) << scheme;
    EXPECT_NEAR(c.ledger.shocks.value(), -0.75 * 0.5 * 3.0, 1e-9) << scheme;
  }
}

/// M(q): a skate in polar coordinates is the skate.
TEST(Roll, GoesWithAMassThatVaries) {
  const std::string polar = R"toml(
[system]
coordinates = ["r", "th", "phi"]
parameters  = { f = 2.9, w = 2 }
kinetic     = "0.5*(r'^2 + r^2*th'^2) + 0.05*phi'^2"
potential   = "-f*r*cos(th)"
[roll.blade]
zero = "-(r'*cos(th) - r*th'*sin(th))*sin(phi) + (r'*sin(th) + r*th'*cos(th))*cos(phi)"
[start]
position = { r = 5, th = 0, phi = 0 }
velocity = { phi = "w" }
[run]
scheme = "moreau"
step   = 0.01
until  = 3
)toml";
  std::vector<double> errors;
  for (const double h : {0.01, 0.005}) {
    const study::Motion motion = run_text(polar, {fmt::format("run.step={}", h)});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
    double worst = 0.0;
    for (const study::Row& row : motion.rows) {
      const double x = 5.0 + 2.9 / 8.0 * std::pow(std::sin(2.0 * row.t), 2);
      const double y = 2.9 / 8.0 * (2.0 * row.t - 0.5 * std::sin(4.0 * row.t));
      worst = std::max(
          worst, std::hypot(row.q[0] * std::cos(row.q[1]) - x, row.q[0] * std::sin(row.q[1]) - y));
    }
    errors.push_back(worst);
  }
  EXPECT_LT(errors[1], 1e-3);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2.0, 0.1);
  const study::Motion exact = run_text(polar, {"run.scheme=\"event-driven\""});
  EXPECT_EQ(exact.outcome.certificate.failure, Failure::None)
      << certify::describe_failure(exact.outcome.certificate);
}

/// Gauss' principle: the acceleration is the nearest that keeps J u' + (dJ/dt) u = 0.
TEST(Roll, InspectTellsItsReaction) {
  const scene::Scene scene = testing::read_text(study::builtin_scene("skate"));
  const study::Inspector inspector(*scene.system().model);
  model::State<model::kDynamic> state = scene.start;
  state.q[2] = 0.7;
  state.u << 1.5 * std::cos(0.7), 1.5 * std::sin(0.7), 2.0;
  const study::Inspection found = inspector.at(state, 0.0);
  // v' = f cos(phi) along the blade, v w across it.
  const double f = 9.81 * std::sin(0.3), c = std::cos(0.7), s = std::sin(0.7);
  EXPECT_NEAR(found.acceleration[0], f * c * c - 3.0 * s, 1e-12);
  EXPECT_NEAR(found.acceleration[1], f * c * s + 3.0 * c, 1e-12);
}

TEST(Roll, AStartThatSlipsIsStoppedAndSaid) {
  const study::Motion motion = run("skate", {"start.velocity.y=1", "g=0", "run.until=1"});
  ASSERT_FALSE(motion.scene.warnings.empty());
  EXPECT_NE(motion.scene.warnings[0].find("not 0"), std::string::npos) << motion.scene.warnings[0];
  EXPECT_NEAR(motion.outcome.certificate.ledger.kinetic_end, 0.2, 2e-3);
}

}  // namespace
}  // namespace ricochet::roll_test
