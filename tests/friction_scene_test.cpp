// Scenes with friction: bodies by their points against hand-written velocities, laws that fail
// while they run, runs that have no answer. Scenes that cannot be read are in bad_scenes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "program.h"
#include "ricochet/base/error.h"
#include "support.h"

namespace ricochet::scene::friction_scene_test {
namespace {

using testing::read_text;
using testing::run_text;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

void expect_close(const study::Motion& a, const study::Motion& b, double tolerance) {
  ASSERT_TRUE(a.outcome.certificate.ok());
  ASSERT_TRUE(b.outcome.certificate.ok());
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    for (std::size_t k = 0; k < a.rows[i].q.size(); ++k) {
      ASSERT_NEAR(a.rows[i].q[k], b.rows[i].q[k], tolerance) << i << " " << k;
      ASSERT_NEAR(a.rows[i].u[k], b.rows[i].u[k], tolerance) << i << " " << k;
    }
    for (std::size_t k = 0; k < a.rows[i].slips.size(); ++k) {
      ASSERT_NEAR(a.rows[i].slips[k], b.rows[i].slips[k], tolerance) << i << " " << k;
    }
  }
}

const std::string kDisc = R"toml(
[system]
coordinates = ["x", "y", "phi"]
parameters  = { R = 0.5, m = 3, v = 2 }
mass        = ["m", "m", "0.5*m*R^2"]
potential   = "m*10*y"
[contact.floor]
keep     = "y >= R"
body     = { position = ["x", "y"], angle = "phi", point = ["x", "y - R"] }
friction = 0.2
[start]
position = { x = 0, y = "R", phi = 0 }
velocity = { x = "v", y = 0, phi = 0 }
[run]
scheme = "moreau"
step   = 0.001
until  = 1
)toml";

const std::string kDiscBody =
    R"(body     = { position = ["x", "y"], angle = "phi", point = ["x", "y - R"] })";

TEST(FrictionScene, ADiscByItsPointIsTheDiscByItsSlip) {
  const study::Motion body = run_text(kDisc);
  const std::string slip = R"(slip = ["x' + R*phi'"])";
  expect_close(body, run_text(replaced(kDisc, kDiscBody, slip)), 0.0);
  const std::string full = slip + "\nnormal = \"y'\"";
  expect_close(body, run_text(replaced(kDisc, kDiscBody, full)), 0.0);
  // A gap in other units, with the normal velocity given, is the same contact.
  const std::string scaled = replaced(replaced(kDisc, kDiscBody, full), "y >= R", "10*y >= 10*R");
  expect_close(body, run_text(scaled), 1e-12);
  // The point where they touch may be said by the floor as well, and the spin by a formula.
  const std::string floor = replaced(kDisc, "\"y - R\"", "\"0\"");
  expect_close(body, run_text(floor), 1e-12);
  const std::string spin = replaced(kDisc, "angle = \"phi\"", "spin = \"phi'\"");
  expect_close(body, run_text(spin), 1e-12);
}

TEST(FrictionScene, ADiscThatSlidesEndsInRollingWithTwoThirdsOfItsSpeed) {
  // Momentum about the line of contact is kept: m R v = m R u + m R^2/2 u/R.
  const study::Motion motion = run_text(kDisc);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const auto& u = motion.final_state.u;
  EXPECT_NEAR(u[0], 2.0 * 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(u[2], -u[0] / 0.5, 1e-12);
  // lost: m v^2/2 - (3/4) m u^2 = m v^2 / 6, over the time v / (3 mu g) of sliding
  const certify::FrictionRecord& record = motion.outcome.certificate.friction[0];
  EXPECT_NEAR(record.dissipated.value(), 3.0 * 4.0 / 6.0, 1e-9);
  EXPECT_NEAR(record.slip_time, 2.0 / (3.0 * 0.2 * 10.0), 2e-3);
}

/// On a slope a disc rolls with (2/3) g sin where 3 mu > tan; all of it is one step's closed form.
TEST(FrictionScene, ADiscRollsDownASlopeWithTwoThirdsOfGSin) {
  const std::string text = replaced(replaced(kDisc, "potential   = \"m*10*y\"",
                                             "potential   = \"m*10*(y*cos(0.4) - x*sin(0.4))\""),
                                    "friction = 0.2", "friction = 0.3");
  const study::Motion motion = run_text(text, {"v=0"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const double a = 10.0 * std::sin(0.4) * 2.0 / 3.0;
  EXPECT_NEAR(motion.final_state.u[0], a, 1e-11);
  EXPECT_NEAR(motion.final_state.q[0], 0.5 * a, 1e-11);
  EXPECT_NEAR(motion.outcome.certificate.friction[0].dissipated.value(), 0.0, 1e-10);
}

/// A ball by Euler's angles z-x-z.
const std::string kBall = R"toml(
[system]
coordinates = ["x", "y", "z", "al", "be", "ga"]
parameters  = { R = 0.5, m = 2 }
kinetic     = "0.5*m*(x'^2 + y'^2 + z'^2) + 0.2*m*R^2*(al'^2 + be'^2 + ga'^2 + 2*al'*ga'*cos(be))"
potential   = "m*10*z"
[system.define]
wx = "be'*cos(al) + ga'*sin(be)*sin(al)"
wy = "be'*sin(al) - ga'*sin(be)*cos(al)"
wz = "al' + ga'*cos(be)"
[contact.floor]
keep     = "z >= R"
body     = { position = ["x", "y", "z"], spin = ["wx", "wy", "wz"], point = ["x", "y", "z - R"] }
friction = 0.2
[start]
position = { x = 0, y = 0, z = "R", al = 0.3, be = 1.2, ga = 0.1 }
velocity = { x = 1.2, y = -0.9, z = 0, al = 0, be = 0, ga = 0 }
[run]
scheme = "moreau"
step   = 0.0005
until  = 0.5
)toml";

TEST(FrictionScene, ABallByItsPointIsTheBallByItsSlip) {
  const study::Motion body = run_text(kBall);
  const std::string by_hand = replaced(
      kBall,
      R"(body     = { position = ["x", "y", "z"], spin = ["wx", "wy", "wz"], point = ["x", "y", "z - R"] })",
      R"(slip = ["x' - R*wy", "y' + R*wx"])");
  expect_close(body, run_text(by_hand), 1e-9);
  // it ends in rolling with 5/7 of its speed, in the direction it had
  const auto& u = body.final_state.u;
  EXPECT_NEAR(u[0], 1.2 * 5.0 / 7.0, 1e-3);
  EXPECT_NEAR(u[1], -0.9 * 5.0 / 7.0, 1e-3);
  EXPECT_GT(body.outcome.certificate.friction[0].stick_time, 0.2);
}

/// Two discs, free in the plane, that hit each other off centre.
const std::string kTwo = R"toml(
[system]
coordinates = ["x1", "y1", "p1", "x2", "y2", "p2"]
parameters  = { r1 = 0.5, r2 = 0.3, m1 = 2, m2 = 1 }
mass        = ["m1", "m1", "0.5*m1*r1^2", "m2", "m2", "0.5*m2*r2^2"]
[system.define]
d  = "hypot(x2 - x1, y2 - y1)"
nx = "(x2 - x1)/d"
ny = "(y2 - y1)/d"
[contact.touch]
keep     = "d >= r1 + r2"
body     = { position = ["x2", "y2"], angle = "p2", point = ["x1 + r1*nx", "y1 + r1*ny"], against = { position = ["x1", "y1"], angle = "p1" } }
friction = 0.3
[start]
position = { x1 = 0, y1 = 0, p1 = 0, x2 = 1, y2 = 0.4, p2 = 0 }
velocity = { x1 = 1, y1 = 0, p1 = 3, x2 = -2, y2 = 0.1, p2 = 5 }
[run]
scheme = "moreau"
step   = 0.0005
until  = 0.5
)toml";

TEST(FrictionScene, TwoBodiesAgainstEachOther) {
  const study::Motion body = run_text(kTwo);
  ASSERT_TRUE(body.outcome.certificate.ok());
  const std::string by_hand = replaced(
      kTwo,
      R"(body     = { position = ["x2", "y2"], angle = "p2", point = ["x1 + r1*nx", "y1 + r1*ny"], against = { position = ["x1", "y1"], angle = "p1" } })",
      R"(slip = ["(x2' - x1')*ny - (y2' - y1')*nx + (d - r1)*p2' + r1*p1'"])");
  expect_close(body, run_text(by_hand), 1e-12);
  // nothing from outside: momentum and moment of momentum are kept
  const auto momentum = [](const study::Row& row) {
    const std::vector<double>& q = row.q;
    const std::vector<double>& u = row.u;
    const double px = 2.0 * u[0] + 1.0 * u[3];
    const double py = 2.0 * u[1] + 1.0 * u[4];
    const double moment = 2.0 * (q[0] * u[1] - q[1] * u[0]) + (q[3] * u[4] - q[4] * u[3]) +
                          0.25 * u[2] + 0.045 * u[5];
    return std::array{px, py, moment};
  };
  const auto first = momentum(body.rows.front());
  const auto last = momentum(body.rows.back());
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(first[i], last[i], 1e-13);
  EXPECT_NEAR(first[2], last[2], 2e-3);  // the impulse acts where they overlap by a step's way
  ASSERT_EQ(body.outcome.certificate.shocks.size(), 1U);
  EXPECT_NE(body.final_state.u[5], 5.0);
  // a driven surface is a body too: the disc against a belt
  const std::string belt =
      replaced(kDisc, "point = [\"x\", \"y - R\"] }",
               "point = [\"x\", \"y - R\"], against = { velocity = [1, 0] } }");
  const study::Motion carried = run_text(belt, {"v=0"});
  ASSERT_TRUE(carried.outcome.certificate.ok());
  EXPECT_NEAR(carried.final_state.u[0], 1.0 / 3.0, 1e-12);  // at rest, seen from the belt: -1
}

TEST(FrictionScene, AParticleNeedsNoPoint) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "10*y"
[contact.bowl]
keep     = "x^2 + (y - 2)^2 <= 4"
body     = { position = ["x", "y"] }
friction = 0.2
[start]
position = { x = 1.2, y = 0.4 }
velocity = { x = 0, y = 0 }
[run]
scheme = "moreau"
step   = 0.001
until  = 5
)toml";
  const study::Motion body = run_text(text);
  // inward normal (-x, 2 - y)/2, turned clockwise: ((2 - y)/2, x/2)
  const std::string slip = replaced(replaced(text, "body     = { position = [\"x\", \"y\"] }",
                                             "slip = [\"(x'*(2 - y) + y'*x)/hypot(x, 2 - y)\"]"),
                                    "x^2 + (y - 2)^2 <= 4", "hypot(x, y - 2) <= 2");
  expect_close(body, run_text(slip), 1e-9);
  // it comes to rest where the slope is less than the friction angle
  EXPECT_EQ(body.final_state.u[0], 0.0);
  EXPECT_LE(std::abs(body.final_state.q[0]), 2.0 * 0.2 / std::sqrt(1.04) + 1e-9);
}

TEST(FrictionScene, ACoefficientThatTurnsNegativeEndsTheRun) {
  const std::string text =
      replaced(replaced(testing::kFloor, "keep = \"y >= 0\"",
                        "keep = \"y >= 0\"\nslip = [\"x'\"]\nfriction = \"0.5 - t\""),
               "\"inel\"", "\"moreau\"");
  const study::Motion motion = run_text(text);
  EXPECT_EQ(motion.outcome.certificate.failure, certify::Failure::BadFriction);
  EXPECT_NEAR(motion.outcome.certificate.failure_time, 0.5, 0.011);
  EXPECT_EQ(motion.outcome.steps, 50);  // t_M = 0.505 is the first with a negative one
  const study::Motion fine = run_text(text, {"run.until=0.4"});
  EXPECT_TRUE(fine.outcome.certificate.ok());
  const std::string ellipse =
      replaced(replaced(replaced(text, "\"0.5 - t\"", "{ ellipse = [\"max(0, 0.5 - t)\", 0.3] }"),
                        "slip = [\"x'\"]", "slip = [\"x'\", \"z'\"]"),
               "coordinates = [\"x\", \"y\"]\nmass        = [1, 1]",
               "coordinates = [\"x\", \"y\", \"z\"]\nmass        = [1, 1, 1]");
  const study::Motion flat = run_text(replaced(
      replaced(ellipse, "position = { x = 0, y = 0 }", "position = { x = 0, y = 0, z = 0 }"),
      "velocity = { x = 0, y = 0 }", "velocity = { x = 0, y = 0, z = 1 }"));
  EXPECT_EQ(flat.outcome.certificate.failure, certify::Failure::BadFriction);
  EXPECT_EQ(flat.outcome.steps, 50);
}

TEST(FrictionScene, TheProgramSaysSoWithExitOne) {
  const std::string text =
      replaced(replaced(testing::kFloor, "keep = \"y >= 0\"",
                        "keep = \"y >= 0\"\nslip = [\"x'\"]\nfriction = \"0.5 - t\""),
               "\"inel\"", "\"moreau\"");
  const testing::Folder folder;
  testing::write_file(folder / "scene.toml", text);
  const testing::Finished run = testing::run_program({"run", "scene.toml"}, folder.path());
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("bad_friction"), std::string::npos) << run.err;
}

TEST(FrictionScene, HasNoPast) {
  Scene scene = read_text(kDisc);
  scene.run.backward = true;
  try {
    (void)study::run_scene(scene, false);
    FAIL() << "ran";
  } catch (const base::InputError& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("--backward"), std::string::npos) << said;
    EXPECT_NE(said.find("forgets the past"), std::string::npos) << said;
  }
  const testing::Folder folder;
  testing::write_file(folder / "scene.toml", kDisc);
  const testing::Finished run =
      testing::run_program({"run", "scene.toml", "--backward"}, folder.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("--backward"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace ricochet::scene::friction_scene_test
