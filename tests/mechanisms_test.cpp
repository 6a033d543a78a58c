// Sequences of events, mechanisms and columns: inelastic motions in space, masses that change with
// the configuration, joints, moving walls, many contacts.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numbers>

#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/gallery_inelastic.h"
#include "support.h"

namespace ricochet::study::mechanisms_test {
namespace {

using testing::run_text;

#if defined(RICOCHET_SANITIZED)
constexpr int kShorter = 50;  // long runs are so much shorter where every access is checked
#else
constexpr int kShorter = 1;
#endif

std::string setting(const std::string& key, double value) {
  return fmt::format("{}={}", key, value);
}

/// A scene's text with one piece put in place of another.
std::string replaced(std::string text, const std::string& piece, const std::string& other) {
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), other);
}

// ---- essais 6 to 8 and the corner ---------------------------------------------------------------

/// Essai 6 by hand: one contact at a time, u+ = u' - n (n.u')/|n|^2 where n.u' < 0.
struct VaseByHand {
  double cone{-1.0};  // instants: shock, rim, shock
  double rim{-1.0};
  double floor{-1.0};
  Eigen::Vector3d q{45.0, 25.0, 70.0};
  Eigen::Vector3d u{-170.0, -30.0, 60.0};

  void step(int n, double h) {
    const Eigen::Vector3d middle = q + 0.5 * h * u;
    const Eigen::Vector3d at = middle + 0.5 * h * u;
    const double radius = at[0] * at[0] + at[1] * at[1];
    u[2] -= 981.0 * h;
    if (9.0 * radius >= 4.0 * at[2] * at[2] && radius < 900.0) {
      const Eigen::Vector3d normal(-18.0 * at[0], -18.0 * at[1], 8.0 * at[2]);
      if (normal.dot(u) < 0.0) {
        u -= normal * (normal.dot(u) / normal.squaredNorm());
        if (cone < 0.0) cone = (n + 0.5) * h;
      }
    }
    if (at[2] <= 0.0 && u[2] < 0.0) {
      u[2] = 0.0;
      if (floor < 0.0) floor = (n + 0.5) * h;
    }
    const double before = q[2];
    q = middle + 0.5 * h * u;
    if (cone >= 0.0 && before < 45.0 && q[2] >= 45.0) rim = (n + 1) * h;
  }
};

// roundoff: the scheme by hand; converged: parabola, z and phi on the cone by Runge-Kutta, parabola
TEST(Essai6, ShockOnTheConeOverTheRimShockOnTheFloor) {
  VaseByHand hand;
  for (int n = 0; n < 650; ++n) hand.step(n, 0.002);
  const Motion motion = run_text(builtin_scene("essai-06"));
  const std::vector<double> cone = shock_times(motion, 0);
  const std::vector<double> floor = shock_times(motion, 1);
  ASSERT_EQ(cone.size(), 1U);
  ASSERT_EQ(floor.size(), 1U);
  const double rim = rises_to(motion, 2, 45.0, cone[0]);
  constexpr double kStep = 0.002 + 1e-9;
  EXPECT_NEAR(cone[0], hand.cone, 1e-12);
  EXPECT_NEAR(cone[0], 0.350357, kStep);
  EXPECT_NEAR(rim, hand.rim, 1e-12);
  EXPECT_NEAR(floor[0], hand.floor, 1e-12);
  EXPECT_NEAR(floor[0], 1.153517, kStep);
  EXPECT_LT((motion.final_state.q - hand.q).norm(), 1e-9);
  EXPECT_LT((motion.final_state.u - hand.u).norm(), 1e-9);
  // the cone pushes without a break from soon after the shock to the rim, and never again
  for (const Row& row : motion.rows) {
    const bool sliding = row.t > cone[0] + 0.05 && row.t < rim - 0.005;
    EXPECT_TRUE(!sliding || row.impulses[0] > 0.0) << row.t;
    EXPECT_TRUE(row.t <= rim || row.impulses[0] == 0.0) << row.t;
  }
  // exact: the floor has no horizontal reaction
  for (const Row& row : motion.rows) {
    if (row.t <= rim + 0.002) continue;
    EXPECT_EQ(row.u[0], motion.final_state.u[0]) << row.t;
    EXPECT_EQ(row.u[1], motion.final_state.u[1]) << row.t;
  }
}

// converged: the particle reaches the rim at 0.72719 in the exact motion
TEST(Essai6, TheInstantOfTheRimConvergesToTheExactOne) {
  std::vector<double> errors;
  for (const double h : {0.002, 0.001, 0.0005, 0.00025}) {
    const Motion motion = run_text(builtin_scene("essai-06"),
                                   {setting("run.step", h), setting("run.steps", 1.3 / h)});
    errors.push_back(std::abs(rises_to(motion, 2, 45.0, 0.4) - 0.72719));
  }
  for (std::size_t i = 1; i < errors.size(); ++i) EXPECT_LT(errors[i], 0.65 * errors[i - 1]);
  EXPECT_LT(errors.back(), 0.006);
}

// converged: 0.093746, 0.225016 and 0.650531 are the instants of the exact motion, whose lobes both
// reach 1.46819
TEST(Essai7, ShockLossShockAndTheLobes) {
  double before = 1e9;
  for (const double h : {0.005, 0.002, 0.0005}) {
    const Motion motion = run_text(builtin_scene("essai-07"),
                                   {setting("run.step", h), setting("run.steps", 2.5 / h)});
    const std::vector<double> shocks = shock_times(motion, 0);
    ASSERT_EQ(shocks.size(), 2U) << h;
    EXPECT_NEAR(shocks[0], 0.093746, h);
    EXPECT_NEAR(last_push(motion, 0, shocks[1]), 0.225016, 2.0 * h);
    EXPECT_NEAR(shocks[1], 0.650531, 2.0 * h);
    for (const Row& row : motion.rows) {  // permanent contact
      if (row.t <= shocks[1] + 0.05) continue;
      EXPECT_NEAR(std::hypot(row.q[0], row.q[1], row.q[2]), 45.0, 10.0 * h) << row.t;
    }
    const std::vector<double> lobes = tops(motion, 2, shocks[1]);
    ASSERT_EQ(lobes.size(), 2U);
    EXPECT_LT(lobes[1], lobes[0]);
    EXPECT_LT(lobes[0], 1.46819);
    EXPECT_LT(1.46819 - lobes[1], 0.6 * before);  // order one: steps in the ratios 0.4 and 0.25
    before = 1.46819 - lobes[1];
  }
}

// printed: positions of plate 10, each 0.05 apart
TEST(Essai8, AThenBLetGoAThenBComeBack) {
  const Motion motion = run_text(builtin_scene("essai-08"));
  const std::vector<double> a = shock_times(motion, 0);
  const std::vector<double> b = shock_times(motion, 1);
  ASSERT_EQ(a.size(), 1U);
  ASSERT_EQ(b.size(), 1U);
  EXPECT_NEAR(a[0], 0.575, 0.01 + 1e-9);
  EXPECT_NEAR(b[0], 1.005, 0.01 + 1e-9);
  const double a_off = last_push(motion, 0, a[0]);
  const double b_off = last_push(motion, 1, b[0]);
  EXPECT_GT(a_off, 0.1);
  EXPECT_LT(a_off, 0.15);
  EXPECT_GT(b_off, a_off);
  EXPECT_LT(b_off, 0.3);
  EXPECT_LT(motion.outcome.certificate.violation_max, 0.1);
}

// exact
TEST(Corner, TurnsBackOrStops) {
  const Motion elast = run_text(builtin_scene("corner"));
  const Motion inel = run_text(builtin_scene("corner"), {"run.scheme=inel"});
  for (const Row& row : elast.rows) {
    EXPECT_EQ(row.u[0], row.t < 1.005 ? 1.0 : -1.0) << row.t;
    EXPECT_EQ(row.u[1], 0.0);
    EXPECT_EQ(row.q[1], 0.0);
  }
  EXPECT_EQ(inel.final_state.u, Eigen::Vector2d(0.0, 0.0));
  EXPECT_NEAR(inel.final_state.q[0], 0.0, 0.01);
}

// ---- masses that change -------------------------------------------------------------------------

constexpr const char* kSphericalAngles = R"toml(
[system]
coordinates = ["theta", "phi"]
parameters  = { R = 45, g = 981 }
kinetic     = "0.5*R^2*(theta'^2 + sin(theta)^2*phi'^2)"
potential   = "g*R*cos(theta)"
[start]
position = { theta = 2, phi = 0 }
velocity = { theta = 1, phi = 6 }
[run]
scheme = "inel"
step = 0.001
until = 0.8
)toml";

constexpr const char* kSphericalParticle = R"toml(
[system]
coordinates = ["x", "y", "z"]
parameters  = { R = 45, g = 981 }
mass        = [1, 1, 1]
potential   = "g*z"
[contact.sphere]
keep = "x^2 + y^2 + z^2 <= R^2"
[start]
position  = { x = "R*sin(2)", y = 0, z = "R*cos(2)" }
velocity  = { x = "R*cos(2)", y = "6*R*sin(2)", z = "-R*sin(2)" }
[run]
scheme = "inel"
step = 0.001
until = 0.8
)toml";

Eigen::Vector3d place_on_sphere(const Motion& angles) {
  const double theta = angles.final_state.q[0];
  const double phi = angles.final_state.q[1];
  return 45.0 * Eigen::Vector3d(std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi),
                                std::cos(theta));
}

// converged: two ways to write one motion
TEST(SphericalPendulum, InAnglesIsTheParticleInPermanentContact) {
  std::vector<double> apart;
  std::vector<Eigen::Vector3d> by_angles;
  for (const double h : {0.004, 0.002, 0.001, 0.0005}) {
    const Motion angles = run_text(kSphericalAngles, {setting("run.step", h)});
    const Motion particle = run_text(kSphericalParticle, {setting("run.step", h)});
    EXPECT_TRUE(angles.outcome.certificate.ok());
    EXPECT_TRUE(particle.outcome.certificate.ok());
    by_angles.push_back(place_on_sphere(angles));
    apart.push_back((by_angles.back() - particle.final_state.q).norm());
  }
  for (std::size_t i = 1; i < apart.size(); ++i) {
    EXPECT_NEAR(std::log2(apart[i - 1] / apart[i]), 1.0, 0.2) << i;  // inel: first order
  }
  EXPECT_LT(apart.back(), 1.0);
  // in angles there is no contact, and free motion is of second order
  const double coarse = (by_angles[0] - by_angles[1]).norm();
  const double fine = (by_angles[1] - by_angles[2]).norm();
  EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.2);
}

/// Largest distance of T + V from its start over 10^5 steps of a free double pendulum.
double energy_wander(double h) {
  constexpr int kSteps = 100000 / kShorter;
  std::string text = builtin_scene("double-pendulum");
  text = replaced(text.substr(0, text.find("[expect]")), "until  = 2", "steps = 1");
  const Motion motion =
      run_text(text, {"wall=3", setting("run.step", h), setting("run.steps", kSteps),
                      "run.record=0", "start.position.a=0.5", "start.position.b=0.3"});
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.outcome.steps, kSteps);
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  const double start = ledger.kinetic_start + ledger.potential_start;
  return std::max(ledger.highest - start, start - ledger.lowest) / ledger.kinetic_max;
}

// law: a discrete Lagrangian has no drift, and an error of the energy of second order
TEST(DoublePendulum, TheEnergyOfFreeMotionDoesNotDrift) {
  const double coarse = energy_wander(0.004);
  const double fine = energy_wander(0.002);
  EXPECT_LT(coarse, 1e-4);
  EXPECT_NEAR(coarse / fine, 4.0, 0.3);
}

// converged: Runge-Kutta between impacts, elastic law in the metric of M(q) at each
TEST(DoublePendulum, StrikesTheWallAsTheEventDrivenMotionDoes) {
  double before = 1e9;
  for (const double h : {0.001, 0.00025, 0.0000625}) {
    const Motion motion = run_text(builtin_scene("double-pendulum"),
                                   {setting("run.step", h), "run.until=3", "run.record=0"});
    ASSERT_EQ(motion.outcome.certificate.shocks.size(), 2U);
    EXPECT_NEAR(motion.outcome.certificate.shocks[0].t, 0.827303, h);
    EXPECT_NEAR(motion.outcome.certificate.shocks[1].t, 2.478647, 3.0 * h);
    const double error = (motion.final_state.q - Eigen::Vector2d(-0.470733, -0.904030)).norm();
    EXPECT_LT(error, before);
    before = error;
  }
  EXPECT_LT(before, 2e-3);
}

// exact: least potential energy with elbow and hand on the floor
TEST(Arm, ComesToRestOnTheFloor) {
  for (const char* height : {"H=0.1", "H=0.3", "H=0.45", "H=0.6", "H=0.8"}) {
    const Motion motion = run_text(builtin_scene("arm"), {height, "run.record=0", "run.until=8"});
    EXPECT_TRUE(motion.outcome.certificate.ok()) << height;
    const double H = std::stod(std::string(height).substr(2));
    EXPECT_NEAR(motion.final_state.q[0], std::acos(H), 1e-6) << height;
    EXPECT_NEAR(motion.final_state.q[1], 0.5 * std::numbers::pi, 1e-6) << height;
    EXPECT_LT(motion.final_state.u.norm(), 1e-9) << height;
  }
}

// ---- moving walls -------------------------------------------------------------------------------

/// A ball in a box whose middle is at c(t): in the room, or in the box with the force -c''.
std::string box_scene(bool in_the_box, const std::string& c, const std::string& rate,
                      const std::string& acceleration, const std::string& scheme) {
  const std::string keep = in_the_box ? "-1 <= x <= 1" : fmt::format("{0} - 1 <= x <= {0} + 1", c);
  return fmt::format(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
force       = ["{}"]
[contact.wall]
keep = "{}"
[start]
position = {{ x = 0 }}
velocity = {{ x = "{}" }}
[run]
scheme = "{}"
step = 0.001
until = 3
)toml",
                     in_the_box ? "-(" + acceleration + ")" : "0", keep,
                     in_the_box ? "2 - (" + rate + ")" : "2", scheme);
}

// roundoff: Galilean invariance. The times of impact, 1/1.7 and so on, are not multiples of h.
TEST(MovingBox, AtConstantSpeedIsTheBoxAtRest) {
  for (const char* scheme : {"elast", "inel", "billiard"}) {
    const Motion room = run_text(box_scene(false, "0.3*t", "0.3", "0", scheme));
    const Motion box = run_text(box_scene(true, "0.3*t", "0.3", "0", scheme));
    EXPECT_GE(box.outcome.certificate.shocks.size(), 1U);
    ASSERT_EQ(room.rows.size(), box.rows.size());
    for (std::size_t i = 0; i < room.rows.size(); ++i) {
      const double t = room.rows[i].t;
      ASSERT_NEAR(room.rows[i].q[0] - 0.3 * t, box.rows[i].q[0], 1e-12) << scheme << " " << t;
      ASSERT_NEAR(room.rows[i].u[0] - 0.3, box.rows[i].u[0], 1e-12) << scheme << " " << t;
    }
  }
}

/// Distance of the two motions at the end, as the box oscillates.
double frames_apart(const std::string& scheme, double h) {
  const auto final_place = [&](bool in_the_box, const char* rate) {
    return run_text(box_scene(in_the_box, "0.2*sin(2*t)", rate, "-0.8*sin(2*t)", scheme),
                    {setting("run.step", h), "run.record=0"})
        .final_state.q[0];
  };
  return std::abs(final_place(false, "0.4") - 0.2 * std::sin(6.0) - final_place(true, "0.4"));
}

// converged: the frames differ by what the instants of the impacts do within a step
TEST(MovingBox, OscillatingIsTheBoxAtRestWithTheForceOfInertia) {
  for (const char* scheme : {"elast", "inel"}) {
    for (const double h : {0.004, 0.001, 0.00025}) {
      EXPECT_LT(frames_apart(scheme, h), 2.0 * h) << scheme << " " << h;
    }
  }
}

// ---- joints -------------------------------------------------------------------------------------

// converged: the period is the integral of sqrt((I + m x'(theta)^2)/(2 E)) over a turn
TEST(SliderCrank, WithoutClearanceHasThePeriodOfItsEnergy) {
  const auto rate = [](double angle) {
    return -std::sin(angle) *
           (1.0 + std::cos(angle) / std::sqrt(9.0 - std::pow(std::sin(angle), 2)));
  };
  double period = 0.0;
  constexpr int kPoints = 1000;
  for (int i = 0; i < kPoints; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / kPoints;
    period +=
        2.0 * std::numbers::pi / kPoints * std::sqrt((2.0 + std::pow(rate(angle), 2)) / 200.0);
  }
  for (const double h : {0.002, 0.001, 0.0005}) {
    const Motion motion =
        run_text(builtin_scene("slider-crank"),
                 {"c=0", "start.velocity.y=0", setting("run.step", h), "run.until=1"});
    ASSERT_TRUE(motion.outcome.certificate.ok());
    const double turned = rises_to(motion, 0, 2.0 * std::numbers::pi, 0.0);
    EXPECT_NEAR(turned, period, 1.5 * h) << h;  // rows tell the instant to a step
  }
}

TEST(SliderCrank, KnocksOnItsGuideAndKeepsItsRod) {
  const Motion motion = run_text(builtin_scene("slider-crank"), {"run.until=2"});
  const certify::Certificate& c = motion.outcome.certificate;
  EXPECT_TRUE(c.ok());
  for (const Row& row : motion.rows) {
    const double rod = std::hypot(row.q[1] - std::cos(row.q[0]), row.q[2] - std::sin(row.q[0]));
    ASSERT_NEAR(rod, 3.0, 1e-5) << row.t;
    ASSERT_LT(std::abs(row.q[2]), 0.01 * 1.05) << row.t;
  }
  EXPECT_GT(c.shock_counts[0], 2);
  EXPECT_GT(c.shock_counts[1], 2);
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {  // law: inelastic shocks create no energy
    ASSERT_LE(motion.rows[i].energy(), motion.rows[0].energy() * (1.0 + 1e-5));
  }
}

// ---- several contacts at once -------------------------------------------------------------------

// exact: at the flat position phi' is multiplied by (a^2 - 2 b^2)/(a^2 + 4 b^2), or it stops
TEST(RockingBlock, GoesOnSlowerOrStops) {
  for (const auto& [b, ratio] : {std::pair{0.5, 0.7}, std::pair{0.8, 2.72 / 6.56}}) {
    const Motion motion =
        run_text(builtin_scene("rocking-block"),
                 {setting("b", b), "run.step=0.0001", "run.until=0.6", "tilt=0.1"});
    double fastest = 0.0;  // at the end of the fall
    double after = 0.0;    // fastest on the other side
    for (const Row& row : motion.rows) {
      if (row.q[0] > 0.0) fastest = std::max(fastest, std::abs(row.u[0]));
      if (row.q[0] < 0.0) after = std::max(after, std::abs(row.u[0]));
    }
    EXPECT_NEAR(after / fastest, ratio, 0.01) << b;
  }
  const Motion stout =
      run_text(builtin_scene("rocking-block"), {"b=2", "run.step=0.0001", "run.until=1"});
  double lowest = 0.0;
  for (const Row& row : stout.rows) lowest = std::min(lowest, row.q[0]);
  EXPECT_GT(lowest, -1e-3);
  EXPECT_LT(stout.final_state.u.norm(), 1e-12);
}

/// Largest distance of two motions over all rows.
double apart(const Motion& a, const Motion& b) {
  double distance = a.rows.size() == b.rows.size() ? 0.0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.rows.size(), b.rows.size()); ++i) {
    for (std::size_t k = 0; k < a.rows[i].q.size(); ++k) {
      distance = std::max(distance, std::abs(a.rows[i].q[k] - b.rows[i].q[k]));
    }
  }
  return distance;
}

/// The text up to [run], with [contact.first] and [contact.second] in the other order, and names
/// that sort so.
std::string reordered(const std::string& text, const std::string& first,
                      const std::string& second) {
  const std::size_t one = text.find("[contact." + first + "]");
  const std::size_t two = text.find("[contact." + second + "]");
  const std::size_t end = text.find("[start]");
  EXPECT_TRUE(one < two && two < end && end != std::string::npos);
  std::string swapped = text.substr(two, end - two) + text.substr(one, two - one);
  swapped = replaced(swapped, "[contact." + second + "]", "[contact.a_" + second + "]");
  swapped = replaced(swapped, "[contact." + first + "]", "[contact.b_" + first + "]");
  const std::size_t rest = std::min(text.find("[plot]"), text.find("[expect]"));  // they use names
  return text.substr(0, one) + swapped + text.substr(end, rest - end);
}

// roundoff: the order in which contacts are written does not matter
TEST(Contacts, TheirOrderDoesNotMatter) {
  struct Case {
    const char* scene;
    const char* first;
    const char* second;
    double scale;
  };
  for (const Case& one :
       {Case{"essai-06", "cone", "floor", 45.0}, Case{"essai-08", "A", "B", 45.0},
        Case{"corner", "wall", "floor", 1.0}, Case{"wedge", "floor", "wall", 1.0},
        Case{"arm", "elbow", "hand", 1.0}, Case{"rocking-block", "left", "right", 1.0}}) {
    const std::string& text = builtin_scene(one.scene);
    const Motion as_written = run_text(text);
    const Motion other = run_text(reordered(text, one.first, one.second));
    EXPECT_LT(apart(as_written, other), 1e-9 * one.scale) << one.scene;
  }
}

// ---- columns ------------------------------------------------------------------------------------

// exact: it stays where it is, and ball i carries the N - i above it
TEST(Column, OfAThousandBallsStaysAtRest) {
  constexpr int kSteps = 10000 / kShorter;
  const Motion motion = run_text(builtin_scene("column"), {setting("run.steps", kSteps)});
  const certify::Certificate& c = motion.outcome.certificate;
  ASSERT_TRUE(c.ok()) << certify::describe(c.failure).name;
  EXPECT_LT(c.violation_max, 1e-9 * 0.05);
  EXPECT_LT(motion.final_state.u.cwiseAbs().maxCoeff(), 1e-9);
  const std::vector<double>& impulses = motion.rows.back().impulses;  // of all steps
  ASSERT_EQ(impulses.size(), 1000U);
  for (int a = 0; a < 1000; ++a) {
    const double carried = (1000 - a) * 9.81 * 0.001 * kSteps;
    EXPECT_NEAR(impulses[static_cast<std::size_t>(a)], carried, 1e-8 * carried) << a;
  }
}

/// Seconds of one step of a column, the least of three runs.
double seconds_per_step(int balls, int steps) {
  double least = 1e9;
  for (int trial = 0; trial < 3; ++trial) {
    const scene::Scene scene = testing::read_text(
        builtin_scene("column"), {setting("N", balls), setting("run.steps", steps)});
    const std::clock_t start = std::clock();  // of this process, whatever else the machine does
    const Motion motion = run_scene(scene, false);
    const std::clock_t spent = std::clock() - start;
    least = std::min(least, static_cast<double>(spent) / CLOCKS_PER_SEC / steps);
    EXPECT_TRUE(motion.outcome.certificate.ok());
  }
  return least;
}

TEST(Column, CostsInProportionToItsLength) {
  if (kShorter > 1) GTEST_SKIP() << "sanitizers take time of their own";
  double growth = 1e9;  // with four times the balls
  double step = 1e9;
  for (int attempt = 0; attempt < 5 && !(growth < 8.0 && step < 1e-3); ++attempt) {  // others run
    growth = std::min(growth, seconds_per_step(8000, 10) / seconds_per_step(2000, 40));
    step = std::min(step, seconds_per_step(1000, 100));
  }
  EXPECT_LT(growth, 8.0);
  EXPECT_LT(step, 1e-3);
}

// law: no energy is created, and contacts hold, when a column falls on the floor as a whole
TEST(Column, DroppedLandsAndStays) {
  const Motion motion =
      run_text(builtin_scene("column"),
               {"N=200", "start.position.z=(2*i - 1)*r + 0.1", "run.steps=1000", "run.record=10"});
  const certify::Certificate& c = motion.outcome.certificate;
  ASSERT_TRUE(c.ok()) << certify::describe(c.failure).name;
  EXPECT_LE(c.ledger.highest, (c.ledger.kinetic_start + c.ledger.potential_start) * (1.0 + 1e-12));
  EXPECT_LT(motion.final_state.u.cwiseAbs().maxCoeff(), 1e-9);
  for (Eigen::Index i = 0; i < 200; ++i) {
    // the landing is found within a step, at sqrt(2 g 0.1) = 1.4 m/s
    EXPECT_NEAR(motion.final_state.q[i], (2.0 * static_cast<double>(i) + 1.0) * 0.05, 2e-3);
  }
}

}  // namespace
}  // namespace ricochet::study::mechanisms_test
