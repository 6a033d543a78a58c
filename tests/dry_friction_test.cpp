// Friction without a contact: of a stated bound, and of the reactions of joints; and restitution
// along a contact.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ricochet/base/error.h"
#include "support.h"

namespace ricochet::dry_friction_test {
namespace {

using certify::Failure;
using testing::run_text;

double final_place(const study::Motion& motion, Eigen::Index i = 0) {
  return motion.final_state.q[i];
}

/// m x'' + k x + F sign(x') = 0: each half period takes 2 F/k from the amplitude, and the motion
/// ends at the first turning point within F/k of the centre.           [Den Hartog 1931]
const std::string kDenHartog = R"toml(
[system]
coordinates = ["x"]
parameters  = { m = 2, k = 8, F = 0.64 }
mass        = ["m"]
potential   = "0.5*k*x^2"
[friction.guide]
slip  = "x'"
bound = "F"
[start]
position = { x = 1 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 12
)toml";

TEST(DryFriction, AnOscillatorStopsWhereDenHartogSays) {
  // Turning points 1, -0.84, 0.68, -0.52, 0.36, -0.20, 0.04, F/k = 0.08.
  for (const char* scheme : {"moreau", "moreau-jean"}) {
    const study::Motion motion = run_text(kDenHartog, {fmt::format("run.scheme=\"{}\"", scheme)});
    const certify::Certificate& c = motion.outcome.certificate;
    ASSERT_EQ(c.failure, Failure::None) << scheme;
    EXPECT_NEAR(final_place(motion), 0.04, 2e-3) << scheme;
    EXPECT_EQ(motion.final_state.u[0], 0.0) << scheme;
    // Six half periods of pi sqrt(m/k), and then rest.
    const double moving = 6.0 * M_PI * 0.5;
    EXPECT_NEAR(c.friction[0].slip_time, moving, 5e-3) << scheme;
    EXPECT_NEAR(c.friction[0].stick_time, 12.0 - moving, 5e-3) << scheme;
    EXPECT_NEAR(c.friction[0].dissipated.value(), 0.5 * 8.0 * (1.0 - 0.04 * 0.04), 1e-2) << scheme;
    EXPECT_EQ(c.shock_counts[0], 0) << scheme;
  }
}

TEST(DryFriction, IsOfTheOrderOfTheScheme) {
  std::vector<double> errors;
  for (const double h : {4e-3, 2e-3, 1e-3}) {
    const study::Motion motion =
        run_text(kDenHartog, {fmt::format("run.step={}", h), "run.until=1.2"});
    // Before the first turning point, at pi/2: x = F/k + (1 - F/k) cos(2 t).
    errors.push_back(std::abs(final_place(motion) - (0.08 + 0.92 * std::cos(2.4))));
  }
  EXPECT_LT(errors[2], 1e-4);
  EXPECT_GT(errors[0] / errors[2], 3.5);
}

/// The same law as a contact that gravity presses, which has its load as a reaction.
TEST(DryFriction, IsThatOfAContactWithTheSameLoad) {
  const std::string pressed = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [2, 2]
potential   = "4*x^2 + 1.6*y"
[contact.floor]
keep     = "y >= 0"
slip     = ["x' - 0.1"]
friction = { static = 0.5, dynamic = 0.4 }
[start]
position = { x = 1, y = 0 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 10
)toml";
  const std::string alone = R"toml(
[system]
coordinates = ["x"]
mass        = [2]
potential   = "4*x^2"
[friction.belt]
slip     = "x' - 0.1"
bound    = 1.6
friction = { static = 0.5, dynamic = 0.4 }
[start]
position = { x = 1 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 10
)toml";
  const study::Motion one = run_text(pressed);
  const study::Motion other = run_text(alone);
  ASSERT_EQ(one.outcome.certificate.failure, Failure::None);
  ASSERT_EQ(other.outcome.certificate.failure, Failure::None);
  ASSERT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t k = 0; k < one.rows.size(); ++k) {
    EXPECT_NEAR(one.rows[k].q[0], other.rows[k].q[0], 1e-12);
    EXPECT_NEAR(one.rows[k].u[0], other.rows[k].u[0], 1e-11);
  }
  EXPECT_NEAR(one.outcome.certificate.friction[0].stick_time,
              other.outcome.certificate.friction[0].stick_time, 1e-12);
}

/// A belt carries a block until the spring is as strong as the bound: at F / (k v).
TEST(DryFriction, StickIsExact) {
  const std::string text = R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "0.5*x^2"
[friction.belt]
slip  = "x' - 0.2"
bound = 0.5
[start]
position = { x = 0 }
velocity = { x = 0.2 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 2.4
)toml";
  const study::Motion motion = run_text(text);
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  for (const study::Row& row : motion.rows) {
    EXPECT_NEAR(row.q[0], 0.2 * row.t, 1e-13);
    EXPECT_EQ(row.u[0], 0.2);
  }
  const study::Motion later = run_text(text, {"run.until=2.6"});
  EXPECT_LT(later.final_state.u[0], 0.2);
}

/// In the plane of two slips a thrown particle stops after v^2 / (2 F/m), on a straight line.
TEST(DryFriction, ActsAgainstTheSlipInThePlane) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [2, 2]
[friction.table]
slip  = ["x'", "y'"]
bound = 3
[start]
position = { x = 0, y = 0 }
velocity = { x = 3, y = 4 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 4
)toml";
  const study::Motion motion = run_text(text);
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  const double way = 25.0 / (2.0 * 1.5);
  EXPECT_NEAR(final_place(motion, 0), 0.6 * way, 1e-2);
  EXPECT_NEAR(final_place(motion, 1), 0.8 * way, 1e-2);
  EXPECT_EQ(motion.final_state.u.norm(), 0.0);
  const study::Motion ellipse = run_text(text, {"friction.table.friction={ ellipse = [1, 1] }"});
  EXPECT_NEAR(final_place(ellipse, 0), 0.6 * way, 1e-2);
}

/// Two blocks on each other, the lower one pulled by P: they go together while the upper bound
/// holds m2 a, a = (P - F1)/(m1 + m2).
TEST(DryFriction, SeveralAreSolvedTogether) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { P = 4, F1 = 1, F2 = 2 }
mass        = [1, 2]
force       = { x = "P" }
[friction.floor]
slip  = "x'"
bound = "F1"
[friction.between]
slip  = "y' - x'"
bound = "F2"
[start]
position = { x = 0, y = 0 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 1
)toml";
  const study::Motion together = run_text(text);
  ASSERT_EQ(together.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(final_place(together, 0), 0.5, 1e-9);  // a = 1
  EXPECT_NEAR(final_place(together, 1), 0.5, 1e-9);
  const study::Motion apart = run_text(text, {"system.parameters.F2=1"});
  EXPECT_NEAR(final_place(apart, 0), 0.5 * 2.0, 1e-9);  // (4 - 1 - 1)/1
  EXPECT_NEAR(final_place(apart, 1), 0.5 * 0.5, 1e-9);
  const study::Motion still = run_text(text, {"system.parameters.P=0.9"});
  EXPECT_EQ(still.final_state.q.norm(), 0.0);
}

/// A bound that grows with time stops what slides under a constant force P: u' = P - t, so that u
/// is 0 again at t = 2 P.
TEST(DryFriction, TheBoundMayBeAFormula) {
  const std::string text = R"toml(
[system]
coordinates = ["x"]
mass        = [1]
force       = ["1"]
[friction.brake]
slip  = "x'"
bound = "t"
[start]
position = { x = 0 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 3
)toml";
  const study::Motion motion = run_text(text);
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(final_place(motion), 2.0 - 8.0 / 6.0, 1e-5);  // t^2/2 - t^3/6 at 2
  EXPECT_NEAR(motion.outcome.certificate.friction[0].stick_time, 1.0, 3e-3);
}

/// A mass that varies: a bob on an arm of length 1 + s, braked in its pivot; the arm is held.
TEST(DryFriction, GoesWithAMassOfTheConfiguration) {
  const std::string text = R"toml(
[system]
coordinates = ["s", "phi"]
kinetic     = "0.5*(s'^2 + (2 + s)^2*phi'^2)"
potential   = "1000*s^2"
[friction.pivot]
slip  = "phi'"
bound = 2
[friction.arm]
slip  = "s'"
bound = 1e4
[start]
position = { s = 0, phi = 0 }
velocity = { phi = 1 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 3
)toml";
  const study::Motion motion = run_text(text);  // phi'' = -2/4: at rest at t = 2, phi = 1
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(final_place(motion, 1), 1.0, 2e-3);
  EXPECT_EQ(motion.final_state.q[0], 0.0);
}

const std::string kRing = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { mu = 0.3, v = 2 }
mass        = [1.5, 1.5]
[hold.wire]
zero = "sqrt(x^2 + y^2) - 1"
[friction.rough]
hold     = "wire"
slip     = "(x*y' - y*x')/sqrt(x^2 + y^2)"
friction = "mu"
[start]
position = { x = 1, y = 0 }
velocity = { y = "v" }
[run]
scheme = "moreau"
step   = 1e-3
until  = 2
)toml";

/// A bead on a rough ring is pressed by v^2/R alone: v' = -mu v^2/R, v = v0/(1 + mu v0 t/R).
TEST(DryFriction, ABeadOnARoughRing) {
  std::vector<double> errors;
  for (const double h : {4e-3, 2e-3, 1e-3}) {
    const study::Motion motion = run_text(kRing, {fmt::format("run.step={}", h)});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
    errors.push_back(std::abs(motion.final_state.u.norm() - 2.0 / (1.0 + 0.3 * 2.0 * 2.0)));
    EXPECT_NEAR(motion.final_state.q.norm(), 1.0, 1e-5);
  }
  EXPECT_LT(errors[2], 1e-3);
  EXPECT_GT(errors[0] / errors[2], 3.0);
}

/// On a straight wire at an angle the bead sticks where tan < mu, else it goes with
/// g (sin - mu cos).
TEST(DryFriction, ABeadOnAnInclinedWire) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { mu = 0.3, a = 0.5 }
mass        = [2, 2]
potential   = "2*9.81*y"
[hold.wire]
zero = "x*sin(a) + y*cos(a)"
[friction.rough]
hold     = "wire"
slip     = "x'*cos(a) - y'*sin(a)"
friction = "mu"
[start]
position = { x = 0, y = 0 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 1
)toml";
  const study::Motion slides = run_text(text);
  ASSERT_EQ(slides.outcome.certificate.failure, Failure::None);
  const double acceleration = 9.81 * (std::sin(0.5) - 0.3 * std::cos(0.5));
  EXPECT_NEAR(slides.final_state.q.norm(), 0.5 * acceleration, 1e-6);
  const study::Motion sticks = run_text(text, {"system.parameters.mu=0.6"});
  ASSERT_EQ(sticks.outcome.certificate.failure, Failure::None);
  EXPECT_LT(sticks.final_state.q.norm(), 1e-12);
}

/// A straight wire in space is two joints: what presses is the length of both reactions.
TEST(DryFriction, TwoJointsPressTogether) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y", "z"]
mass        = [1, 1, 1]
force       = { y = "3", z = "-4" }
[hold.a]
zero = "y"
[hold.b]
zero = "z"
[friction.wire]
hold     = ["a", "b"]
slip     = "x'"
friction = 0.2
[start]
position = { x = 0, y = 0, z = 0 }
velocity = { x = 2 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 1
)toml";
  const study::Motion motion = run_text(text);  // x'' = -0.2*5
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(final_place(motion), 1.5, 1e-9);
  EXPECT_NEAR(motion.final_state.u[0], 1.0, 1e-9);
}

/// A ball with the slip U_T that it strikes the floor with: U_T+ = -e U_T where the cone allows it.
const std::string kBall = R"toml(
[system]
coordinates = ["x", "y", "phi"]
parameters  = { R = 0.5, w = 3, eN = 0.8, eT = 0.5, mu = 2 }
kinetic     = "0.5*(x'^2 + y'^2) + 0.2*R^2*phi'^2"
[contact.floor]
keep        = "y >= R"
body        = { position = ["x", "y"], angle = "phi", point = ["x", "y - R"] }
friction    = "mu"
restitution = { normal = "eN", tangential = "eT" }
[start]
position = { x = 0, y = 1, phi = 0 }
velocity = { x = 1, y = -1, phi = "w" }
[run]
scheme = "moreau"
step   = 1e-3
until  = 1
)toml";

double slip_of(const study::Motion& motion, double R) {
  return motion.final_state.u[0] + R * motion.final_state.u[2];
}

TEST(TangentialRestitution, TurnsTheSlipRound) {
  const double before = 1.0 + 0.5 * 3.0;
  for (const double e : {0.0, 0.5, 1.0}) {
    const study::Motion motion = run_text(kBall, {fmt::format("system.parameters.eT={}", e)});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None) << e;
    EXPECT_NEAR(slip_of(motion, 0.5), -e * before, 1e-12) << e;
    EXPECT_NEAR(motion.final_state.u[1], 0.8, 1e-12) << e;
    // A solid ball: 1/m + R^2/I = 7/2 of 1/m, so that x' changes by 2/7 of the slip.
    EXPECT_NEAR(motion.final_state.u[0], 1.0 - 2.0 / 7.0 * (1.0 + e) * before, 1e-12) << e;
  }
}

TEST(TangentialRestitution, ASuperballKeepsItsEnergy) {
  const study::Motion motion =
      run_text(kBall, {"system.parameters.eT=1", "system.parameters.eN=1"});
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(ledger.kinetic_end, ledger.kinetic_start, 1e-12 * ledger.kinetic_start);
}

TEST(TangentialRestitution, StaysInTheCone) {
  const study::Motion motion = run_text(kBall, {"system.parameters.mu=0.1"});
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(motion.final_state.u[0], 1.0 - 0.1 * 1.8, 1e-12);  // mu (1 + e) of the normal speed
}

TEST(TangentialRestitution, EndsWhereTheContactLasts) {
  const study::Motion motion =
      run_text(kBall, {"system.parameters.eN=0", "system.potential=\"9.81*y\"", "run.until=3"});
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None);
  EXPECT_EQ(slip_of(motion, 0.5), 0.0);  // it rolls
}

std::string error_of(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    (void)testing::read_text(text, settings);
  } catch (const base::InputError& error) {
    return fmt::format("{}: {}; {}", error.key(), error.message(), error.remedy());
  }
  return "";
}

TEST(DryFriction, SaysWhatIsWrong) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of(kDenHartog, {"run.scheme=\"elast\""}),
      "has no friction; schemes that have it: moreau");
  has(error_of(kDenHartog, {"friction.guide.bound=-1"}), "friction.guide.bound: is negative");
  has(error_of(kDenHartog, {"friction.guide.slip=\"x'^2\""}), "is not linear in the velocities");
  has(error_of(kDenHartog, {"friction.guide.hold=\"x\""}), "is given beside bound");
  has(error_of(kRing, {"friction.rough.hold=\"wir\""}), "there is no [hold.wir]");
  has(error_of(kRing, {"hold.wire.zero=\"x^2 + y^2 - 1\""}), "is no length, which friction needs");
  has(error_of(kRing, {"hold.wire.friction=0.3"}), "has a table of its own");
  has(error_of(kBall, {"contact.floor.restitution={ normal = 0.5, tangential = 2 }"}),
      "must lie in [0, 1], not 2");
}

}  // namespace
}  // namespace ricochet::dry_friction_test
