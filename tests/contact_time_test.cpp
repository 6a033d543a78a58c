// How long contacts last, and where the energy goes, against closed forms and independent
// integration; what counts as a shock.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::testing::contact_time_test {
namespace {

const std::string kLadder = R"toml(
[system]
coordinates = ["x", "y", "phi"]
parameters  = { m = 10, a = 2, g = 9.81, mu = 0.2, phi0 = "60*pi/180" }
define = { yA = "y - a*sin(phi)", xB = "x - a*cos(phi)" }
kinetic     = "0.5*m*(x'^2 + y'^2 + a^2/3*phi'^2)"
potential   = "m*g*y"
[contact.floor]
keep     = "yA >= 0"
slip     = ["x' - a*sin(phi)*phi'"]
friction = "mu"
[contact.wall]
keep     = "xB >= 0"
slip     = ["y' + a*cos(phi)*phi'"]
friction = "mu"
[start]
position = { x = "a*cos(phi0)", y = "a*sin(phi0)", phi = "phi0" }
[run]
scheme = "moreau"
step   = 1e-3
until  = 1.3
)toml";

/// When the wall lets the ladder go: the rod's one equation of motion with both ends sliding, by
/// the classical method of Runge and Kutta, until the reaction of the wall is zero.
double ladder_leaves() {
  const double m = 10.0, a = 2.0, g = 9.81, mu = 0.2;
  const double inertia = m * a * a / 3.0;
  double reaction = 1.0;
  const auto acceleration = [&](double phi, double w) {
    const double c = std::cos(phi), s = std::sin(phi), k = 1.0 / (1.0 + mu * mu);
    // R - mu N = A and N + mu R = B, both linear in phi''.
    const double A0 = -m * a * c * w * w, A1 = -m * a * s;
    const double B0 = m * g - m * a * s * w * w, B1 = m * a * c;
    const double N0 = k * (B0 - mu * A0), N1 = k * (B1 - mu * A1);
    const double R0 = k * (A0 + mu * B0), R1 = k * (A1 + mu * B1);
    const double arm_N = a * (mu * s - c), arm_R = a * (s + mu * c);
    const double bent = (N0 * arm_N + R0 * arm_R) / (inertia - N1 * arm_N - R1 * arm_R);
    reaction = R0 + R1 * bent;
    return bent;
  };
  const double h = 1e-5;
  double t = 0.0, phi = M_PI / 3.0, w = 0.0;
  while (t < 2.0) {
    const double k1 = acceleration(phi, w);
    if (reaction < 0.0) break;
    const double k2 = acceleration(phi + 0.5 * h * w, w + 0.5 * h * k1);
    const double k3 = acceleration(phi + 0.5 * h * w + 0.25 * h * h * k1, w + 0.5 * h * k2);
    const double k4 = acceleration(phi + h * w + 0.5 * h * h * k2, w + h * k3);
    phi += h * w + h * h / 6.0 * (k1 + k2 + k3);
    w += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    t += h;
  }
  return t;
}

certify::Certificate run(const std::string& text, const std::string& scheme, double h,
                         std::vector<std::string> settings = {}) {
  settings.push_back("run.scheme=" + scheme);
  settings.push_back("run.step=" + std::to_string(h));
  settings.push_back("run.record=0");
  const study::Motion motion = run_text(text, settings);
  EXPECT_TRUE(motion.outcome.certificate.ok())
      << certify::describe_failure(motion.outcome.certificate);
  return motion.outcome.certificate;
}

/// Both schemes with friction on Moreau's middles, three steps: the error is a few steps.
void expect_times(const std::string& text, int contact, double stick, double slip, double steps) {
  for (const std::string scheme : {"moreau", "moreau-jean"}) {
    for (const double h : {4e-3, 1e-3, 2.5e-4}) {
      const certify::Certificate c = run(text, scheme, h);
      const certify::FrictionRecord& record = c.friction[static_cast<std::size_t>(contact)];
      EXPECT_NEAR(record.stick_time, stick, steps * h) << scheme << ", h = " << h;
      EXPECT_NEAR(record.slip_time, slip, steps * h) << scheme << ", h = " << h;
    }
  }
}

TEST(ContactTime, OfALadderIsThatOfItsEquations) {
  const double leaves = ladder_leaves();
  EXPECT_GT(leaves, 1.0);
  expect_times(kLadder, 0, 0.0, 1.3, 2.0);
  expect_times(kLadder, 1, 0.0, leaves, 3.0);
}

const std::string kBlock = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { g = 9.81, e = 0, mu = 0.3 }
mass        = [1, 1]
potential   = "g*y"
[contact.floor]
keep        = "y >= 0"
slip        = ["x'"]
friction    = "mu"
restitution = "e"
[start]
position = { x = 0, y = 0 }
velocity = { x = 2 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 2
)toml";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(ContactTime, OfABlockThatSlidesToAStop) {
  const double stop = 2.0 / (0.3 * 9.81);  // v / (mu g)
  expect_times(kBlock, 0, 2.0 - stop, stop, 2.0);
}

TEST(ContactTime, OfABallThatLandsAndRests) {
  const std::string ball =
      changed(changed(kBlock, "x = 0, y = 0", "x = 0, y = 1"), "x = 2", "x = 0");
  const double lands = std::sqrt(2.0 / 9.81);
  expect_times(ball, 0, 2.0 - lands, 0.0, 2.0);
  // With e = 0.5 it rests after infinitely many bounces, at (1 + e)/(1 - e) of that time. Every
  // bounce that steps can see is one step of contact: as many as the logarithm of h.
  const std::string bounces = changed(ball, "e = 0", "e = 0.5");
  expect_times(bounces, 0, 2.0 - 3.0 * lands, 0.0, 40.0);
}

/// On a sphere of radius R the bead leaves where cos(theta) = 2/3 + v0^2/(3 g R).
TEST(ContactTime, OfABeadThatLeavesASphere) {
  const std::string bead = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "9.81*y"
[contact.sphere]
keep     = "hypot(x, y) >= 1"
slip     = ["(x'*y - y'*x)/hypot(x, y)"]
friction = 0
[start]
position = { x = 0, y = 1 }
velocity = { x = 0.5 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 1.2
)toml";
  const double g = 9.81, v0 = 0.5;
  const double last = std::acos(2.0 / 3.0 + v0 * v0 / (3.0 * g));
  double leaves = 0.0;  // the integral of d theta / omega, by the rule of midpoints
  const int pieces = 100'000;
  for (int k = 0; k < pieces; ++k) {
    const double theta = last * (k + 0.5) / pieces;
    leaves += last / pieces / std::sqrt(v0 * v0 + 2.0 * g * (1.0 - std::cos(theta)));
  }
  for (const std::string scheme : {"moreau", "moreau-jean"}) {
    for (const double h : {4e-3, 1e-3, 2.5e-4}) {
      const certify::FrictionRecord record = run(bead, scheme, h).friction[0];
      EXPECT_NEAR(record.stick_time + record.slip_time, leaves, 4.0 * h) << scheme << " " << h;
    }
  }
}

const std::string kCradle = R"toml(
[system]
coordinates = ["x1", "x2", "x3"]
mass = [1, 1, 1]
[contact.left]
keep = "x2 - x1 >= 1"
restitution = 1
law = "sequential"
[contact.right]
keep = "x3 - x2 >= 1"
restitution = 1
law = "sequential"
[start]
position = { x1 = -1, x2 = 1, x3 = 2 }
velocity = { x1 = 1 }
[run]
scheme = "moreau"
step = 0.01
until = 3
)toml";

TEST(Ledger, OfACradleBooksWhatOneShockGivesToTheNext) {
  const certify::Certificate c = run_text(kCradle).outcome.certificate;
  EXPECT_NEAR(c.ledger.contacts.value(), 0.0, 1e-14);
  EXPECT_NEAR(c.ledger.shocks.value(), 0.0, 1e-14);
  EXPECT_EQ(c.shock_counts, (std::vector<long long>{1, 1}));
  ASSERT_EQ(c.shocks.size(), 2U);
  EXPECT_NEAR(c.shocks[0].work, -0.5, 1e-14);  // the first ball stops
  EXPECT_NEAR(c.shocks[1].work, 0.5, 1e-14);   // the last one leaves with its energy
  EXPECT_TRUE(c.shocks[1].transmitted);
}

/// What friction takes in a shock it took: a ball with spin that lands and rolls on. The tangential
/// impulse mu p or what it takes to roll, p = m v.
TEST(Ledger, OfFrictionHasItsShocks) {
  const std::string landing =
      changed(changed(kBlock, "x = 0, y = 0", "x = 0, y = 1"), "x = 2", "x = 1");
  const certify::Certificate c = run(landing, "moreau", 1e-3);
  EXPECT_EQ(c.shock_counts[0], 1);
  EXPECT_NEAR(c.friction[0].dissipated.value(), 0.5, 1e-12);  // all of m v^2 / 2
  EXPECT_GT(c.friction[0].dissipated.value() + c.ledger.friction.value(), 0.1);
}

/// Rows in the state of a shock, and shocks, contact by contact.
void expect_rows_of_shocks(const study::Motion& motion, const std::string& name) {
  const certify::Certificate& c = motion.outcome.certificate;
  for (std::size_t a = 0; a < c.friction.size(); ++a) {
    if (motion.scene.columns.slips_of(a) == 0) continue;
    const auto rows = std::count_if(motion.rows.begin(), motion.rows.end(), [&](const auto& row) {
      return row.states[a] == static_cast<double>(certify::ContactState::Shock);
    });
    EXPECT_EQ(rows, c.shock_counts[a]) << name << ", " << motion.scene.columns.contacts[a];
  }
}

TEST(Shocks, AreCountedWhereARowSaysSo) {
  for (const study::BuiltinScene& builtin : study::builtin_scenes()) {
    scene::Scene scene = scene::read_scene(builtin.name + ".toml", builtin.text);
    if (!scene.columns.has_friction() || scene.structure() != nullptr) continue;
    scene.run.record_every = 1;
    expect_rows_of_shocks(study::run_scene(scene, true), builtin.name);
  }
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    for (const std::string& text : {kLadder, kBlock}) {
      expect_rows_of_shocks(run_text(text, {"run.step=" + std::to_string(h)}), "h");
    }
  }
  // Slow first, then fast: what was a shock when it happened is one in the end.
  const std::string cliff = changed(
      changed(kBlock, "keep        = \"y >= 0\"", "keep        = \"y >= if(x < 0.05, 0, -100)\""),
      "x = 0, y = 0", "x = 0, y = 1e-4");
  const study::Motion motion = run_text(cliff, {"run.step=1e-4", "mu=0"});
  EXPECT_EQ(motion.outcome.certificate.shock_counts[0], 1);
  expect_rows_of_shocks(motion, "cliff");
}

TEST(Shocks, AreNoneOfABlockThatRestsAtTheStart) {
  const std::string tilting = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { m = 1, g = 9.81, w = 0.05, mu = 0.4, s0 = 1 }
define      = { a = "w*t" }
kinetic     = "0.5*m*(x'^2 + y'^2)"
potential   = "m*g*y"
[contact.plane]
keep     = "y*cos(a) - x*sin(a) >= 0"
slip     = ["x'*cos(a) + y'*sin(a)"]
friction = "mu"
[start]
position = { x = "-s0", y = 0 }
velocity = { x = 0, y = "-w*s0" }
[run]
scheme = "moreau"
step   = 0.001
until  = 12
)toml";
  for (const std::string w : {"0.05", "0.5", "5"}) {
    for (const std::string h : {"0.01", "0.001"}) {
      for (const std::string scheme : {"moreau", "moreau-jean"}) {
        const study::Motion motion =
            run_text(tilting, {"w=" + w, "run.step=" + h, "run.scheme=" + scheme, "run.until=0.1"});
        EXPECT_EQ(motion.outcome.certificate.shock_counts[0], 0) << w << " " << h << " " << scheme;
        expect_rows_of_shocks(motion, w);
      }
    }
  }
  EXPECT_EQ(run_text(kFloor).outcome.certificate.shock_counts[0], 0);
}

}  // namespace
}  // namespace ricochet::testing::contact_time_test
