// The scheme with dry friction: rest and sliding by closed forms, energy, laws of friction, what it
// shares with the scheme without; and the judge of its steps.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "allocations.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/step/simulate.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::step::friction_step_test {
namespace {

using testing::read_text;
using testing::run_text;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

void expect_same_motion(const study::Motion& a, const study::Motion& b, const std::string& what) {
  ASSERT_TRUE(a.outcome.certificate.ok()) << what;
  ASSERT_TRUE(b.outcome.certificate.ok()) << what;
  ASSERT_EQ(a.rows.size(), b.rows.size()) << what;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    ASSERT_EQ(a.rows[i].q, b.rows[i].q) << what << " row " << i;
    ASSERT_EQ(a.rows[i].u, b.rows[i].u) << what << " row " << i;
    ASSERT_EQ(a.rows[i].impulses, b.rows[i].impulses) << what << " row " << i;
  }
}

TEST(Moreau, IsInelWithoutFrictionAtEqualAnticipation) {
  // To the last bit: one contact, several, a mass that varies, joints, a moving wall.
  for (const std::string name : {"essai-05", "essai-06", "essai-07", "essai-08", "corner", "wedge",
                                 "moving-box", "double-pendulum", "slider-crank"}) {
    const std::string text = study::builtin_scene(name);
    for (const std::string anticipation : {"0", "0.5"}) {
      // Looked at ahead of a curved wall, contacts open that last with moreau alone.
      const bool curved = name == "essai-05" || name == "essai-06" || name == "essai-07";
      if (curved && anticipation != "0") continue;
      const std::vector<std::string> common{"run.anticipation=" + anticipation, "run.steps=2000"};
      std::vector<std::string> inel = common;
      std::vector<std::string> moreau = common;
      inel.push_back("run.scheme=inel");
      moreau.push_back("run.scheme=moreau");
      expect_same_motion(run_text(text, inel), run_text(text, moreau), name + " " + anticipation);
    }
  }
}

const std::string kSkater = R"toml(
[system]
coordinates = ["x", "y", "z"]
parameters  = { mu = 0 }
mass        = [2, 2, 2]
force       = ["-3*x", "0.5", "-20 + 25*sin(3*t)"]
[contact.floor]
keep     = "z >= 0"
slip     = ["x'", "y'"]
friction = "mu"
[contact.wall]
keep     = "y <= 0.2"
slip     = ["x'", "z'"]
friction = "mu"
[start]
position = { x = 1, y = 0, z = 0.5 }
velocity = { x = 0, y = 0.4, z = 0 }
[run]
scheme = "moreau"
step   = 0.01
until  = 20
)toml";

TEST(Moreau, WithCoefficientZeroIsTheMotionWithoutFriction) {
  std::string smooth = kSkater;
  for (int k = 0; k < 2; ++k) {
    smooth = replaced(smooth,
                      k == 0 ? "slip     = [\"x'\", \"y'\"]" : "slip     = [\"x'\", \"z'\"]", "");
    smooth = replaced(smooth, "friction = \"mu\"", "");
  }
  const study::Motion with = run_text(kSkater);
  const study::Motion without = run_text(smooth);
  ASSERT_TRUE(with.outcome.certificate.ok());
  ASSERT_EQ(with.rows.size(), without.rows.size());
  double pushed = 0.0;
  for (std::size_t i = 0; i < with.rows.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_NEAR(with.rows[i].q[k], without.rows[i].q[k], 1e-15 * (1.0 + double(i))) << i;
      ASSERT_NEAR(with.rows[i].u[k], without.rows[i].u[k], 1e-15 * (1.0 + double(i))) << i;
    }
    for (const double impulse : with.rows[i].tangential) ASSERT_EQ(impulse, 0.0);
    pushed += with.rows[i].impulses[1];
  }
  EXPECT_GT(pushed, 1.0);  // both contacts at once, too
}

/// A block on a slope, in world coordinates; (x, y) lies on the plane to rounding.
std::string incline(double slope, double m, double g, double mu, double x, double h) {
  return fmt::format(R"toml(
[system]
coordinates = ["x", "y"]
parameters  = {{ m = {:.17g}, g = {:.17g}, slope = {:.17g}, mu = {:.17g} }}
kinetic     = "0.5*m*(x'^2 + y'^2)"
potential   = "m*g*y"
[contact.slope]
keep     = "x*sin(slope) + y*cos(slope) >= 0"
slip     = ["x'*cos(slope) - y'*sin(slope)"]
friction = "mu"
[start]
position = {{ x = {:.17g}, y = {:.17g} }}
velocity = {{ x = 0, y = 0 }}
[run]
scheme = "moreau"
step   = {:.17g}
steps  = 1000
record = 0
)toml",
                     m, g, slope, mu, x, -x * std::sin(slope) / std::cos(slope), h);
}

TEST(Moreau, ABlockBelowTheFrictionAngleDoesNotMoveByOneUlp) {
  base::Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const double slope = trial % 5 == 0 ? 1e-4 * random.uniform() : random.uniform(-1.4, 1.4);
    const double mu = std::abs(std::tan(slope)) * random.uniform(1.0001, 3.0);
    const double m = std::pow(10.0, random.uniform(-6.0, 6.0));
    const double g = std::pow(10.0, random.uniform(-3.0, 4.0));
    const double x = trial % 3 == 0 ? 0.0 : random.normal() * std::pow(10.0, random.uniform(-6, 3));
    const double h = std::pow(10.0, random.uniform(-5.0, -1.0));
    const scene::Scene scene = read_text(incline(slope, m, g, mu, x, h));
    const study::Motion motion = study::run_scene(scene, false);
    ASSERT_TRUE(motion.outcome.certificate.ok()) << trial;
    EXPECT_EQ(motion.outcome.steps, 1000);
    ASSERT_EQ(motion.final_state.q[0], scene.start.q[0]) << slope << " " << x << " mu " << mu;
    ASSERT_EQ(motion.final_state.q[1], scene.start.q[1]) << slope << " " << x << " mu " << mu;
  }
}

TEST(Moreau, ABlockStaysForAMillionSteps) {
  const scene::Scene scene =
      read_text(incline(0.3, 2.0, 9.81, 0.5, -1.7, 1e-3), {"run.steps=1000000"});
  const study::Motion motion = study::run_scene(scene, false);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.outcome.steps, 1'000'000);
  EXPECT_EQ(motion.final_state.q, scene.start.q);
  EXPECT_EQ(motion.final_state.u[0], 0.0);
  EXPECT_EQ(motion.final_state.u[1], 0.0);
  const certify::FrictionRecord& record = motion.outcome.certificate.friction[0];
  EXPECT_NEAR(record.stick_time, 1000.0, 1e-6);
  EXPECT_EQ(record.slip_time, 0.0);
  EXPECT_EQ(record.dissipated.value(), 0.0);
}

TEST(Moreau, ABlockAboveTheFrictionAngleSlidesAtGSinMinusMuCos) {
  // Constant forces: u = n h a and q = a (n h)^2 / 2, exactly. In world coordinates rounding may
  // put the block off the plane for one step, in which it falls by g h^2 / 2 and no more; its
  // velocity knows nothing of it afterwards.
  base::Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const double slope = random.uniform(0.05, 1.4);
    const double mu = std::tan(slope) * random.uniform(0.0, 0.95);
    const double m = std::pow(10.0, random.uniform(-3.0, 3.0));
    const double g = random.uniform(1.0, 20.0);
    const double h = 0.001;
    const double a = g * (std::sin(slope) - mu * std::cos(slope));
    const study::Motion world = run_text(incline(slope, m, g, mu, 0.0, h));
    ASSERT_TRUE(world.outcome.certificate.ok()) << trial;
    const auto& u = world.final_state.u;
    const auto& q = world.final_state.q;
    EXPECT_NEAR(u[0] * std::cos(slope) - u[1] * std::sin(slope), a, 1e-12 * g) << trial;
    EXPECT_NEAR(u[0] * std::sin(slope) + u[1] * std::cos(slope), 0.0, 1e-14 * g) << trial;
    EXPECT_NEAR(q[0] * std::cos(slope) - q[1] * std::sin(slope), 0.5 * a, g * h * h) << trial;
    const study::Motion along =
        run_text(fmt::format(R"toml(
[system]
coordinates = ["s", "n"]
mass        = [{0:.17g}, {0:.17g}]
force       = [{1:.17g}, {2:.17g}]
[contact.slope]
keep     = "n >= 0"
slip     = ["s'"]
friction = {3:.17g}
[start]
position = {{ s = 0, n = 0 }}
velocity = {{ s = 0, n = 0 }}
[run]
scheme = "moreau"
step   = 0.001
steps  = 1000
record = 0
)toml",
                             m, m * g * std::sin(slope), -m * g * std::cos(slope), mu));
    ASSERT_TRUE(along.outcome.certificate.ok()) << trial;
    EXPECT_NEAR(along.final_state.u[0], a, 1e-12 * g) << trial;
    EXPECT_NEAR(along.final_state.q[0], 0.5 * a, 1e-12 * g) << trial;
    EXPECT_EQ(along.final_state.q[1], 0.0) << trial;
    const double lost = mu * m * g * std::cos(slope) * 0.5 * a;  // force times way
    EXPECT_NEAR(along.outcome.certificate.friction[0].dissipated.value(), lost, 1e-10 * m * g * g)
        << trial;
  }
}

const std::string kCrate = R"toml(
[system]
coordinates = ["x", "y", "phi"]
parameters  = { m = 3, a = 0.5, b = 0.2, g = 9.81, slope = 0.3, mu = 0.4 }
mass        = ["m", "m", "m*(a^2 + b^2)/3"]
potential   = "m*g*(y*cos(slope) - x*sin(slope))"
[contact.left]
keep     = "y - a*sin(phi) - b*cos(phi) >= 0"
body     = { position = ["x", "y"], angle = "phi", point = ["x - a*cos(phi) + b*sin(phi)", "0"] }
friction = "mu"
[contact.right]
keep     = "y + a*sin(phi) - b*cos(phi) >= 0"
body     = { position = ["x", "y"], angle = "phi", point = ["x + a*cos(phi) + b*sin(phi)", "0"] }
friction = "mu"
[start]
position = { x = 0.1, y = 0.2, phi = 0 }
velocity = { x = 0, y = 0, phi = 0 }
[run]
scheme = "moreau"
step   = 0.001
steps  = 2000
)toml";

TEST(Moreau, ACrateOnTwoCornersStaysOrSlides) {
  const study::Motion rests = run_text(kCrate);
  ASSERT_TRUE(rests.outcome.certificate.ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rests.final_state.q[i], rests.scene.start.q[i]) << i;
    EXPECT_EQ(rests.final_state.u[i], 0.0) << i;
  }
  const study::Motion slides = run_text(kCrate, {"mu=0.2"});
  ASSERT_TRUE(slides.outcome.certificate.ok());
  const double a = 9.81 * (std::sin(0.3) - 0.2 * std::cos(0.3));
  EXPECT_NEAR(slides.final_state.u[0], 2.0 * a, 1e-10);
  EXPECT_NEAR(slides.final_state.q[0], 0.1 + 0.5 * a * 4.0, 1e-10);
  EXPECT_NEAR(slides.final_state.u[2], 0.0, 1e-12);
  // the corners share the load: N (left) - N (right) = 2 F b / (2 a) with F = mu N
  const double load = 3.0 * 9.81 * std::cos(0.3);
  double left = 0.0;
  double right = 0.0;
  for (const study::Row& row : slides.rows) {
    left += row.impulses[0];
    right += row.impulses[1];
  }
  EXPECT_NEAR(left + right, load * 2.0, 1e-9);
  EXPECT_NEAR((right - left) / (left + right), 0.2 * 0.2 / 0.5, 1e-9);
}

/// A sledge on the floor, pulled by a constant force f and of weight m g = 20.
const std::string kSledge = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { f = 0, v = 0 }
mass        = [2, 2]
force       = ["f", "-20"]
[contact.floor]
keep     = "y >= 0"
slip     = ["x'"]
friction = 0.3
[start]
position = { x = 0, y = 0 }
velocity = { x = "v", y = 0 }
[run]
scheme = "moreau"
step   = 0.01
steps  = 100
)toml";

double speed_of_sledge(const std::string& friction, double force, double v) {
  const study::Motion motion =
      run_text(replaced(kSledge, "friction = 0.3", "friction = " + friction),
               {fmt::format("f={:.17g}", force), fmt::format("v={:.17g}", v)});
  EXPECT_TRUE(motion.outcome.certificate.ok()) << friction;
  return motion.final_state.u[0];
}

TEST(Moreau, StaticAndDynamicCoefficientsBelongToStickAndSlip) {
  const std::string law = "{ static = 0.5, dynamic = 0.3 }";
  EXPECT_EQ(speed_of_sledge(law, 9.9, 0.0), 0.0);  // below 0.5 x 20
  // above it, the first step is resisted by the static one, the others by the dynamic one
  const double first = 0.01 * (10.4 - 10.0) / 2.0;
  EXPECT_NEAR(speed_of_sledge(law, 10.4, 0.0), first + 99 * 0.01 * (10.4 - 6.0) / 2.0, 1e-13);
  // sliding already, the dynamic one decides from the start
  EXPECT_NEAR(speed_of_sledge(law, 8.0, 1e-3), 1e-3 + (8.0 - 6.0) / 2.0, 1e-13);
  // braked to rest it stays: |u| falls by 0.01 x (6 - 5) / 2 in each step until it would change
  // sign
  EXPECT_EQ(speed_of_sledge(law, 5.0, 0.1), 0.0);
  EXPECT_EQ(speed_of_sledge(law, 8.0, 0.0), 0.0);
}

TEST(Moreau, CoefficientsMayDependOnSlipAtTheStartOfAStep) {
  // Stribeck: u+ = u + h (f - mu(|u|) 20) / 2 as long as it slides forward.
  const std::string law = "\"0.2 + 0.3*exp(-slip/0.5)\"";
  double u = 2.0;
  for (int k = 0; k < 100; ++k) {
    u += 0.01 * (7.0 - 20.0 * (0.2 + 0.3 * std::exp(-u / 0.5))) / 2.0;
  }
  EXPECT_NEAR(speed_of_sledge(law, 7.0, 2.0), u, 1e-13);
  EXPECT_EQ(speed_of_sledge(law, 9.9, 0.0), 0.0);  // 0.5 at rest
  // a coefficient of time and place
  double w = 3.0;
  double x = 0.0;
  for (int k = 0; k < 100; ++k) {
    const double before = w;
    const double t = 0.01 * k + 0.005;
    w -= 0.01 * 10.0 * (0.1 + 0.05 * t + 0.02 * (x + 0.005 * w));
    x += 0.005 * (before + w);
  }
  EXPECT_NEAR(speed_of_sledge("\"0.1 + 0.05*t + 0.02*x\"", 0.0, 3.0), w, 1e-12);
}

TEST(Moreau, ForwardAndBackwardHaveTheirOwnCoefficients) {
  const std::string law = "{ forward = 0.1, backward = 0.6 }";
  EXPECT_NEAR(speed_of_sledge(law, 4.0, 0.0), (4.0 - 2.0) / 2.0, 1e-13);
  EXPECT_EQ(speed_of_sledge(law, -4.0, 0.0), 0.0);
  EXPECT_NEAR(speed_of_sledge(law, -14.0, 0.0), -(14.0 - 12.0) / 2.0, 1e-13);
  EXPECT_EQ(speed_of_sledge(law, 1.9, 0.0), 0.0);
}

std::string puck(const std::string& friction) {
  return R"toml(
[system]
coordinates = ["x", "y", "z"]
parameters  = { vx = 1, vy = 1, fx = 0, fy = 0 }
mass        = [1, 1, 1]
force       = ["fx", "fy", "-10"]
[contact.floor]
keep     = "z >= 0"
slip     = ["x'", "y'"]
friction = )toml" +
         friction + R"toml(
[start]
position = { x = 0, y = 0, z = 0 }
velocity = { x = "vx", y = "vy", z = 0 }
[run]
scheme = "moreau"
step   = 0.001
steps  = 100
)toml";
}

TEST(Moreau, AnisotropicSlidingFollowsTheNormalConeOfTheSection) {
  // u+ - u = -h mu-force with R_T = -R_N (a^2 U_x, b^2 U_y) / sqrt(a^2 U_x^2 + b^2 U_y^2) at u+.
  const double a = 0.2;
  const double b = 0.8;
  const study::Motion motion = run_text(puck("{ ellipse = [0.2, 0.8] }"));
  ASSERT_TRUE(motion.outcome.certificate.ok());
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {
    const std::vector<double>& u = motion.rows[i].u;
    const std::vector<double>& before = motion.rows[i - 1].u;
    const double size = std::hypot(a * u[0], b * u[1]);
    EXPECT_NEAR(u[0] - before[0], -0.001 * 10.0 * a * a * u[0] / size, 1e-14) << i;
    EXPECT_NEAR(u[1] - before[1], -0.001 * 10.0 * b * b * u[1] / size, 1e-14) << i;
  }
  // it turns towards the slippery direction, x
  EXPECT_LT(motion.final_state.u[1], 0.7 * motion.final_state.u[0]);
  // isotropic friction keeps the direction
  const study::Motion plain = run_text(puck("0.3"));
  EXPECT_NEAR(plain.final_state.u[1], plain.final_state.u[0], 1e-14);
  EXPECT_NEAR(plain.final_state.u[0], 1.0 - 0.1 * 3.0 / std::sqrt(2.0), 1e-13);
}

TEST(Moreau, APolygonGivesConstantForcesAlongItsCorners) {
  // In the cone of directions whose best corner is (-0.4, 0), friction is that corner: the slip
  // (1, 0.2) has it on the diamond of half axes 0.4 and 0.3.
  const std::string diamond = "{ polygon = [[0.4, 0], [0, 0.3], [-0.4, 0], [0, -0.3]] }";
  const study::Motion motion = run_text(puck(diamond), {"vy=0.2"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_NEAR(motion.final_state.u[0], 1.0 - 0.1 * 4.0, 1e-13);
  EXPECT_NEAR(motion.final_state.u[1], 0.2, 1e-13);
  const std::string turned = "{ polygon = [[0, -0.3], [-0.4, 0], [0, 0.3], [0.4, 0]] }";
  const study::Motion clockwise = run_text(puck(turned), {"vy=0.2"});
  EXPECT_EQ(clockwise.final_state.u, motion.final_state.u);
  // and it holds forces inside it
  const study::Motion held = run_text(puck(diamond), {"vx=0", "vy=0", "fx=1.9", "fy=1.5"});
  EXPECT_EQ(held.final_state.u[0], 0.0);
  const study::Motion moves = run_text(puck(diamond), {"vx=0", "vy=0", "fx=2.1", "fy=1.5"});
  EXPECT_GT(moves.final_state.u[0], 0.0);
}

TEST(Moreau, RestitutionActsAlongTheNormalAndItsGainIsBooked) {
  // A ball of unit mass falls on a floor with friction: u_y+ = -e u_y', slip falls by mu (1 + e).
  const std::string text = replaced(
      replaced(puck("0.1"), "keep     = \"z >= 0\"", "keep     = \"z >= 0\"\nrestitution = 0.5"),
      "position = { x = 0, y = 0, z = 0 }\nvelocity = { x = \"vx\", y = \"vy\", z = 0 }",
      "position = { x = 0, y = 0, z = 0.001 }\nvelocity = { x = \"vx\", y = \"vy\", z = -4 }");
  const study::Motion motion = run_text(text, {"run.steps=1", "vy=0"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const double normal = (4.0 + 0.01) + 0.5 * 4.0;  // U' + e U
  EXPECT_NEAR(motion.final_state.u[2], 2.0, 1e-14);
  EXPECT_NEAR(motion.final_state.u[0], 1.0 - 0.1 * normal, 1e-14);
  ASSERT_EQ(motion.outcome.certificate.shocks.size(), 1U);
}

/// A rod that falls on its end: normal and tangential directions are coupled, and e > 0 with
/// friction can create energy [Kane 1985].
const std::string kKane = R"toml(
[system]
coordinates = ["x", "y", "phi"]
parameters  = { e = 0.9, mu = 1.2, v = 0, w = 0, phi0 = 1.0 }
mass        = [1, 1, 0.08333333333333333]
[contact.tip]
keep        = "y - 0.5*sin(phi) >= 0"
body        = { position = ["x", "y"], angle = "phi", point = ["x - 0.5*cos(phi)", "0"] }
friction    = "mu"
restitution = "e"
[start]
position = { x = 0, y = "0.5*sin(phi0)", phi = "phi0" }
velocity = { x = "v", y = -1, phi = "w" }
[run]
scheme = "moreau"
step   = 1e-6
steps  = 1
)toml";

TEST(Moreau, EnergyThatRestitutionCreatesIsBookedAndInelasticShocksCreateNone) {
  base::Random random(3);
  int gained = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<std::string> settings{fmt::format("v={:.17g}", random.uniform(-3.0, 3.0)),
                                            fmt::format("w={:.17g}", random.uniform(-3.0, 3.0)),
                                            fmt::format("phi0={:.17g}", random.uniform(0.2, 1.5))};
    const study::Motion motion = run_text(kKane, settings);
    ASSERT_TRUE(motion.outcome.certificate.ok()) << trial;
    const certify::Ledger& ledger = motion.outcome.certificate.ledger;
    const double gain = ledger.kinetic_end - ledger.kinetic_start;
    EXPECT_NEAR(std::max(0.0, gain), ledger.gain.value(), 1e-9 * ledger.kinetic_start) << trial;
    gained += gain > 1e-6 ? 1 : 0;
    std::vector<std::string> inelastic = settings;
    inelastic.push_back("e=0");
    const study::Motion stopped = run_text(kKane, inelastic);
    ASSERT_TRUE(stopped.outcome.certificate.ok()) << trial;
    EXPECT_LE(stopped.outcome.certificate.ledger.kinetic_end,
              stopped.outcome.certificate.ledger.kinetic_start * (1.0 + 1e-14));
    EXPECT_EQ(stopped.outcome.certificate.ledger.gain.value(), 0.0);
  }
  EXPECT_GT(gained, 5);
}

/// Planes beyond the origin with any normals and tangents, any mass: all contacts are active.
template <int Slips>
struct Planes {
  static constexpr int kDofs = 5;
  static constexpr int kContacts = 4;
  static constexpr int kSlips = Slips;
  using Vec = model::Vector<kDofs>;
  std::array<Vec, kContacts> normals;
  std::array<std::array<Vec, 2>, kContacts> tangents;
  std::array<double, kContacts> mu;
  Vec pull;
  convex::FullMetric<kDofs> inertia{model::Matrix<kDofs, kDofs>::Identity()};
  const convex::FullMetric<kDofs>& mass() const { return inertia; }

  double gap(int a, double, const Vec& q) const { return normals[std::size_t(a)].dot(q) - 1e3; }
  Vec gap_gradient(int a, double, const Vec&) const { return normals[std::size_t(a)]; }
  Vec force(double, const Vec&, const Vec&) const { return pull; }
  Vec slip_gradient(int a, int j, double, const Vec&) const {
    return tangents[std::size_t(a)][std::size_t(j)];
  }
  convex::Section friction(int a, double, const Vec&, double, bool) const {
    const double m = mu[std::size_t(a)];
    if constexpr (Slips == 1) return convex::Segment{-m, 0.5 * m};
    if (a == 0) return convex::Ellipse{m + 0.01, 0.5 * m + 0.01};
    return convex::Disc{m};
  }
};

template <int Slips>
int expect_no_energy_from_friction(unsigned seed, int steps, double most_friction) {
  using System = Planes<Slips>;
  using M = model::InlineModel<System>;
  using Vec = typename System::Vec;
  base::Random random(seed);
  const auto vector = [&] { return Vec(testing::random_vector(random, System::kDofs)); };
  int failed = 0;
  int pushed = 0;
  for (int round = 0; round < steps / 100; ++round) {
    System system;
    for (std::size_t a = 0; a < System::kContacts; ++a) {
      system.normals[a] = vector();
      for (Vec& tangent : system.tangents[a]) tangent = vector();
      system.mu[a] = random.uniform(0.0, most_friction);
    }
    system.pull = vector();
    const model::Matrix<5, 5> inertia = testing::random_metric(random, 5, 0.5);
    system.inertia = convex::FullMetric<5>(inertia);
    const M model(system);
    model::State<5> before{0.0, Vec::Zero(), vector()};
    model::State<5> after = before;
    Workspace<M> workspace(model, before.q);
    for (int k = 0; k < 100; ++k) {
      before.u = vector();
      const double h = std::pow(10.0, random.uniform(-4.0, 0.0));
      after.t = h;
      const problem::Report report = make_step(step::Moreau{}, model, before, h, after, workspace);
      if (report.status != problem::Status::Solved) {
        ++failed;
        continue;
      }
      const Vec& free = workspace.free;
      const double end = 0.5 * after.u.dot(inertia * after.u);
      const double start = 0.5 * free.dot(inertia * free);
      EXPECT_LE(end, start * (1.0 + 1e-12)) << seed << " " << round << " " << k;
      certify::Judge<M> judge(model, Moreau{}.method(), {}, before);
      EXPECT_TRUE(judge.template check<Moreau::kInfo.integrator>(before, after, h, workspace.claim))
          << seed << " " << round << " " << k << " "
          << certify::describe(judge.certificate().failure).name << " "
          << judge.certificate().failure_value;
      pushed += workspace.claim.impulses.norm() > 0.0 ? 1 : 0;
    }
  }
  EXPECT_GT(pushed, steps / 2);
  return failed;
}

/// 1e4 steps from random states. Four contacts with up to twelve rows share five coordinates, so
/// that W is singular; a step that finds no impulses says so.
void expect_no_energy_from_friction(double most_friction) {
  const int failed = expect_no_energy_from_friction<1>(7, 5000, most_friction) +
                     expect_no_energy_from_friction<2>(8, 5000, most_friction);
  EXPECT_LE(failed, 100);  // 1 in 100
}

TEST(Moreau, FrictionNeverCreatesEnergy) { expect_no_energy_from_friction(0.3); }

TEST(Moreau, LargeFrictionNeverCreatesEnergy) { expect_no_energy_from_friction(1.5); }

/// The puck of the scene above in C++.
struct Puck {
  static constexpr int kDofs = 3;
  static constexpr int kContacts = 1;
  static constexpr int kSlips = 2;
  using Vec = Eigen::Vector3d;
  double gap(int, double, const Vec& q) const { return q[2]; }
  Vec gap_gradient(int, double, const Vec&) const { return {0.0, 0.0, 1.0}; }
  Vec force(double, const Vec&, const Vec&) const { return {0.0, 0.0, -10.0}; }
  Vec slip_gradient(int, int j, double, const Vec&) const { return Vec::Unit(j); }
  convex::Section friction(int, double, const Vec&, double speed, bool sticks) const {
    return convex::Disc{sticks ? 0.6 : 0.2 + 0.1 * speed};
  }
};

TEST(Moreau, ACppModelGivesTheMotionOfTheScene) {
  const study::Motion scene =
      run_text(puck("{ static = 0.6, dynamic = \"0.2 + 0.1*slip\" }"), {"run.steps=3000"});
  const model::InlineModel<Puck> model{Puck{}};
  model::State<3> state{0.0, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0}};
  const Outcome outcome = simulate(model, Moreau{}, RunSettings{.step = 0.001, .steps = 3000},
                                   state, [](const Sample&) {});
  ASSERT_TRUE(outcome.certificate.ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(state.q[i], scene.final_state.q[i]) << i;
    EXPECT_EQ(state.u[i], scene.final_state.u[i]) << i;
  }
  EXPECT_EQ(state.u[0], 0.0);  // it stopped
  EXPECT_GT(state.q[0], 0.1);
  EXPECT_EQ(state.memory.scheme.stuck, std::vector<model::Key>{0});
}

TEST(Moreau, SizesKnownToTheCompilerChangeNothing) {
  for (const std::string name : {"essai-09", "essai-10", "painleve", "incline"}) {
    const std::string text = study::builtin_scene(name);
    const study::Motion known = run_text(text, {"run.steps=300"});
    std::string more = text;
    const std::size_t at = more.find("coordinates = [") + 15;
    more.insert(at, "\"spare1\", \"spare2\", ");
    if (more.find("kinetic ") != std::string::npos) {
      more = replaced(more, "kinetic     = \"", "kinetic     = \"0.5*spare1'^2 + 0.5*spare2'^2 + ");
    } else {
      more = replaced(more, "mass        = [", "mass        = [1, 1, ");
    }
    if (more.find("force       = [") != std::string::npos) {
      more = replaced(more, "force       = [", "force       = [\"0\", \"0\", ");
    }
    for (const std::string key : {"position", "velocity"}) {
      const std::size_t start = more.find('{', more.find(key, more.find("[start]"))) + 1;
      more.insert(start, " spare1 = 0, spare2 = 0, ");
    }
    const study::Motion general = run_text(more, {"run.steps=300"});
    ASSERT_TRUE(known.outcome.certificate.ok()) << name;
    ASSERT_TRUE(general.outcome.certificate.ok()) << name;
    for (Eigen::Index i = 0; i < known.final_state.q.size(); ++i) {
      const double size = 1.0 + std::abs(known.final_state.q[i]) + std::abs(known.final_state.u[i]);
      EXPECT_NEAR(known.final_state.q[i], general.final_state.q[i + 2], 1e-9 * size) << name;
      EXPECT_NEAR(known.final_state.u[i], general.final_state.u[i + 2], 1e-9 * size) << name;
    }
  }
}

TEST(Moreau, AllocatesNothingAfterItsFirstContacts) {
  // One contact, two corners, and corners that come and go.
  for (const auto& [text, settings] :
       {std::pair{study::builtin_scene("essai-10"), std::vector<std::string>{"run.steps=4000"}},
        std::pair{kCrate, std::vector<std::string>{"run.steps=4000", "mu=0.2"}},
        std::pair{kSkater, std::vector<std::string>{"run.steps=4000", "mu=0.3"}}}) {
    const scene::Scene scene = read_text(text, settings);
    model::State<model::kDynamic> state = scene.start;
    long long first = 0;
    long long last = 0;
    const Outcome outcome = run_formula(*scene.system().model, scene.scheme, scene.run, state,
                                        [&](const Sample& sample) {
                                          if (sample.step == 2000) first = testing::allocations();
                                          if (sample.step == 4000) last = testing::allocations();
                                        });
    EXPECT_TRUE(outcome.certificate.ok());
    EXPECT_GT(first, 0);
    EXPECT_EQ(last, first);
  }
}

TEST(Moreau, JointsAndVaryingMassGoWithFriction) {
  // A bead on a straight rod that is turned at a right angle to gravity and held there by a joint:
  // the sledge again. u+ = u + h (f - mu m g) / m.
  const std::string text = R"toml(
[system]
coordinates = ["x", "y", "z"]
parameters  = { v = 2 }
mass        = [2, 2, 1]
force       = ["5", "-20", "0"]
[contact.floor]
keep     = "y + 0*z >= 0"
slip     = ["x'"]
friction = 0.3
[hold.link]
zero = "z - 0.5*x"
[start]
position = { x = 0, y = 0, z = 0 }
velocity = { x = "v", y = 0, z = "0.5*v" }
[run]
scheme = "moreau"
step   = 0.001
steps  = 1000
)toml";
  const study::Motion motion = run_text(text);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const double mass = 2.0 + 0.25;  // the joint carries z along
  EXPECT_NEAR(motion.final_state.u[0], 2.0 + (5.0 - 6.0) / mass, 1e-9);
  EXPECT_NEAR(motion.final_state.q[2], 0.5 * motion.final_state.q[0], 1e-12);
  // Polar coordinates: a puck on a table (weight along z) with friction moves in a straight line
  // and stops after v^2 / (2 mu g).
  const std::string polar = R"toml(
[system]
coordinates = ["r", "phi", "z"]
kinetic     = "0.5*(r'^2 + r^2*phi'^2 + z'^2)"
potential   = "10*z"
[contact.table]
keep     = "z >= 0"
slip     = ["r'", "r*phi'"]
friction = 0.2
[start]
position = { r = 1, phi = 0, z = 0 }
velocity = { r = 0, phi = 1, z = 0 }
[run]
scheme = "moreau"
step   = 0.0005
until  = 1
)toml";
  const study::Motion turned = run_text(polar);
  ASSERT_TRUE(turned.outcome.certificate.ok());
  const double r = turned.final_state.q[0];
  const double phi = turned.final_state.q[1];
  EXPECT_NEAR(r * std::sin(phi), 0.25, 1e-3);  // way: 1 / (2 x 0.2 x 10)
  EXPECT_NEAR(r * std::cos(phi), 1.0, 1e-3);
  EXPECT_EQ(turned.final_state.u[0], 0.0);
  EXPECT_EQ(turned.final_state.u[1], 0.0);
  EXPECT_NEAR(turned.outcome.certificate.friction[0].dissipated.value(), 0.5, 1e-3);
}

TEST(Moreau, StepControlGoesWithFriction) {
  const std::string controlled =
      replaced(kSledge, "step   = 0.01\nsteps  = 100",
               "step   = { max = 0.05, min = 1e-6, tolerance = 1e-6 }\nuntil = 2");
  const study::Motion motion = run_text(controlled, {"v=3"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.final_state.u[0], 0.0);
  EXPECT_NEAR(motion.final_state.q[0], 9.0 / (2.0 * 0.3 * 10.0), 1e-4);  // v^2 / (2 mu g)
}

TEST(Moreau, ADrivenBeltCarriesTheBlock) {
  // In the frame of a belt at speed 1: the block is accelerated by mu g until it moves along.
  const std::string belt = replaced(kSledge, "slip     = [\"x'\"]", "slip     = [\"x' - 1\"]");
  const study::Motion motion = run_text(belt);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_NEAR(motion.final_state.u[0], 1.0, 1e-14);
  EXPECT_NEAR(motion.rows[20].u[0], 0.2 * 3.0, 1e-13);
  // what friction gives the block: 1/2 m v^2 = 1; as much again is lost in slip
  EXPECT_NEAR(motion.outcome.certificate.friction[0].dissipated.value(), 1.0, 1e-9);
  EXPECT_NEAR(motion.outcome.certificate.ledger.contacts.value(), 1.0, 1e-9);
}

// ---- the judge ------------------------------------------------------------------------------

/// A particle that lands on a floor with friction while it moves along it.
struct Landed {
  using M = model::InlineModel<Puck>;
  using State = model::State<3>;
  using TheClaim = certify::Claim<3, 1, 2>;
  M model{Puck{}};
  State before{0.0, {0.0, 0.0, 0.001}, {2.0, 0.0, -1.0}};
  State after = before;
  Workspace<M> workspace{model, before.q};
  static constexpr double kStep = 0.01;

  explicit Landed(double slip = 2.0, bool stuck = false) {
    before.u[0] = slip;
    if (stuck) before.memory.scheme.stuck = {0};
    after.t = kStep;
    (void)make_step(Moreau{}, model, before, kStep, after, workspace);
  }

  certify::Failure judge(const std::function<void(State&, TheClaim&)>& tamper = {}) {
    State told = after;
    TheClaim claim = workspace.claim;
    if (tamper) tamper(told, claim);
    certify::Judge<M> judge(model, Moreau{}.method(), {}, before);
    (void)judge.template check<Moreau::kInfo.integrator>(before, told, kStep, claim);
    return judge.certificate().failure;
  }
};

/// Moves the tangential impulse and what follows from it, so that all equations of motion hold.
void push_sideways(Landed::State& s, Landed::TheClaim& c, double x, double y) {
  c.tangential[0] += x;
  c.tangential[1] += y;
  s.u[0] += x;
  s.u[1] += y;
  s.q[0] += 0.5 * Landed::kStep * x;
  s.q[1] += 0.5 * Landed::kStep * y;
}

TEST(FrictionJudge, PassesAnHonestStep) {
  Landed landed;
  EXPECT_EQ(landed.judge(), certify::Failure::None);
  // R_N = 1.1, mu = 0.2 + 0.1 x 2 = 0.4
  EXPECT_NEAR(landed.workspace.claim.impulses[0], 1.1, 1e-15);
  EXPECT_NEAR(landed.workspace.claim.tangential[0], -0.44, 1e-15);
  EXPECT_NEAR(landed.after.u[0], 2.0 - 0.44, 1e-15);
}

TEST(FrictionJudge, CatchesEveryLie) {
  using certify::Failure;
  struct Lie {
    const char* what;
    std::function<void(Landed::State&, Landed::TheClaim&)> tell;
    Failure found;
  };
  const std::vector<Lie> lies = {
      {"too little friction", [](auto& s, auto& c) { push_sideways(s, c, 1e-6, 0.0); },
       Failure::Residual},
      {"too much of it: outside the cone",
       [](auto& s, auto& c) { push_sideways(s, c, -1e-6, 0.0); }, Failure::Residual},
      {"the wrong direction", [](auto& s, auto& c) { push_sideways(s, c, 0.01, 0.1); },
       Failure::Residual},
      {"friction that pushes", [](auto& s, auto& c) { push_sideways(s, c, 0.88, 0.0); },
       Failure::Residual},
      {"an impulse that moves nothing", [](auto&, auto& c) { c.tangential[0] *= 1.0 + 1e-6; },
       Failure::Residual},
      {"a velocity without impulse", [](auto& s, auto&) { s.u[1] += 1e-6; }, Failure::Residual},
      {"stick claimed of a slide", [](auto&, auto& c) { c.grip(0) = problem::Grip::Stick; },
       Failure::Law},
      {"stick by force: u+ = 0, R outside the cone",
       [](auto& s, auto& c) { push_sideways(s, c, -2.0 + 0.44, 0.0); }, Failure::Residual},
      {"the static section for a slide: mu = 0.6",
       [](auto& s, auto& c) { push_sideways(s, c, -0.2 * 1.1, 0.0); }, Failure::Residual},
      {"not a number", [](auto&, auto& c) { c.tangential[1] = std::nan(""); }, Failure::Residual},
  };
  for (const Lie& lie : lies) {
    Landed landed;
    const Failure found = landed.judge(lie.tell);
    EXPECT_EQ(found, lie.found) << lie.what << ": " << certify::describe(found).name;
  }
}

TEST(FrictionJudge, DecidesTheSectionItself) {
  // At rest before the step: static, mu = 0.6, holds a slip of 0.5 h. A step that used the dynamic
  // section, mu = 0.2, and slid, breaks the law.
  Landed landed(0.0);
  EXPECT_EQ(landed.judge(), certify::Failure::None);
  landed.before.u[0] = 0.5;  // slides at 0.5 with 0.25: R_T = 0.275 of the 0.5 needed to stop
  (void)make_step(Moreau{}, landed.model, landed.before, Landed::kStep, landed.after,
                  landed.workspace);
  EXPECT_EQ(landed.workspace.claim.grip(0), problem::Grip::Slip);
  EXPECT_EQ(landed.judge(), certify::Failure::None);
  // The scheme was told that the contact stuck before, which no step of the judge's has shown: the
  // static section stops the slide, 0.66 > 0.5.
  Landed liar(0.5, true);
  EXPECT_EQ(liar.workspace.claim.grip(0), problem::Grip::Stick);
  EXPECT_EQ(liar.judge(), certify::Failure::Residual);
}

TEST(FrictionJudge, RemembersStickFromStepToStep) {
  // The same motion, judged from the step before, in which the particle stuck.
  Landed first(0.3);
  ASSERT_EQ(first.workspace.claim.grip(0), problem::Grip::Slip);  // 0.23 x 1.1 < 0.3
  Landed held(0.2);
  ASSERT_EQ(held.workspace.claim.grip(0), problem::Grip::Stick);  // 0.22 x 1.1 > 0.2
  certify::Judge<Landed::M> judge(held.model, Moreau{}.method(), {}, held.before);
  ASSERT_TRUE(judge.check<Moreau::kInfo.integrator>(held.before, held.after, Landed::kStep,
                                                    held.workspace.claim));
  EXPECT_EQ(judge.certificate().friction[0].stick_time, Landed::kStep);
}

}  // namespace
}  // namespace ricochet::step::friction_step_test
