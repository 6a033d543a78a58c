// Rolling and spinning friction of bodies: closed forms, balances, and what the judge refuses.
//
// A disc or ball of radius r and moment of inertia k m r^2 that rolls at v has F = m a, and about
// its centre k m r^2 a/r = c N - r F: it slows down at a = c g/(r (1 + k)). On a slope it stays
// where r F = r m g sin <= c m g cos.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "body_step.h"
#include "ricochet/base/error.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/motion.h"

namespace ricochet::testing::rolling_friction_test {
namespace {

using body::Vec;

constexpr double kG = 9.81;
constexpr double kR = 0.1;
constexpr double kC = 0.004;   // rolling
constexpr double kD = 0.0005;  // spinning
constexpr double kStop = 0.8;  // [s], a whole number of steps

study::Motion run_text(const std::string& text) {
  return study::run_scene(scene::read_scene("rolling.toml", text), false);
}

/// A disc that rolls on the floor and stops after kStop, unless it stands on a slope.
std::string disc_text(double slope, double v, double until) {
  return fmt::format(R"toml(
[world]
dimension = 2
gravity   = [{}, {}]
[pair]
default = {{ friction = 0.5, rolling = {} }}
[body.floor]
fixed      = true
half_plane = {{ point = [0, 0], normal = [0, 1] }}
[body.disc]
disc     = {}
mass     = 2
inertia  = 0.01
at       = [0, {}]
velocity = [{}, 0]
spin     = {}
[run]
step  = 0.001
until = {}
)toml",
                     kG * std::sin(slope), -kG * std::cos(slope), kC, kR, kR, v, -v / kR, until);
}

TEST(RollingFriction, ADiscSlowsDownStopsAndStays) {  // exact
  const double a = kC * kG / (kR * (1.0 + 0.01 / (2.0 * kR * kR)));
  const double v = a * kStop;
  const auto end_of = [&](double until) {
    const study::Motion motion = run_text(disc_text(0.0, v, until));
    EXPECT_TRUE(motion.outcome.certificate.ok());
    const certify::Ledger& ledger = motion.outcome.certificate.ledger;
    EXPECT_LT(std::abs(ledger.defect.value()), 1e-14);
    if (until > kStop) {
      EXPECT_NEAR(ledger.friction.value(), -ledger.kinetic_start, 1e-13);
    }
    return motion.world->last.bodies[1];
  };
  const auto half = end_of(0.5 * kStop);
  EXPECT_NEAR(half.v[0], 0.5 * v, 1e-12);
  EXPECT_NEAR(half.spin, -0.5 * v / kR, 1e-11);
  const auto before = end_of(kStop - 0.001);
  EXPECT_NEAR(before.v[0], 0.001 * a, 1e-12);
  const auto stopped = end_of(kStop + 0.001);
  EXPECT_LT(stopped.v.norm(), 1e-15);
  EXPECT_NEAR(stopped.x[0], 0.5 * v * kStop, 1e-12);
  const auto later = end_of(10.0 * kStop);
  EXPECT_LT(later.v.norm(), 1e-14);
  EXPECT_LT((later.x - stopped.x).norm(), 1e-14);
  // Where it stops inside a step, it does so in that step.
  const study::Motion between = run_text(disc_text(0.0, v * (1.0 + 0.3e-3 / kStop), 1.0));
  EXPECT_LT(between.world->last.bodies[1].v.norm(), 1e-15);
  EXPECT_NEAR(between.world->last.bodies[1].x[0], 0.5 * v * kStop * (1.0 + 0.6e-3 / kStop), 1e-6);
}

TEST(RollingFriction, ADiscStaysOnASlopeUpToItsLimit) {  // exact
  for (const double side : {-1e-6, 1e-6}) {
    const double slope = std::atan((1.0 + side) * kC / kR);
    const study::Motion motion = run_text(disc_text(slope, 0.0, 1.0));
    EXPECT_TRUE(motion.outcome.certificate.ok());
    const double a = kG * (std::sin(slope) - kC / kR * std::cos(slope)) / 1.5;
    const double v = motion.world->last.bodies[1].v[0];
    EXPECT_NEAR(v / a, side < 0.0 ? 0.0 : 1.0, 1e-6);
  }
}

/// A ball, and what stands in its table besides.
std::string ball_text(const std::string& floor, const std::string& ball, double until) {
  return fmt::format(R"toml(
[world]
dimension  = 3
gravity    = [0, 0, -9.81]
[material.wood]
density = 700
[pair]
default = {{ friction = 0.5, rolling = {}, spinning = {} }}
[body.floor]
{}
[body.ball]
sphere   = {}
at       = [0, 0, {}]
material = "wood"
{}
[run]
step  = 0.001
until = {}
)toml",
                     kC, kD, floor, kR, kR, ball, until);
}
const std::string kFixed = "fixed = true\nhalf_space = { point = [0, 0, 0], normal = [0, 0, 1] }";

TEST(RollingFriction, ABallStopsObliquelyAndItsSpinBesides) {  // exact
  const double a = 5.0 * kC * kG / (7.0 * kR);
  const double v = a * kStop;
  const double about = 5.0 * kD * kG * kStop / (2.0 * kR * kR);  // stops at the same time
  const Vec<3> way(std::cos(2.2), std::sin(2.2), 0.0);
  const std::string ball = fmt::format("velocity = [{}, {}, 0]\nspin = [{}, {}, {}]", v * way[0],
                                       v * way[1], -v * way[1] / kR, v * way[0] / kR, about);
  const study::Motion half = run_text(ball_text(kFixed, ball, 0.5 * kStop));
  ASSERT_TRUE(half.outcome.certificate.ok());
  EXPECT_LT((half.world->last_in_space.bodies[1].v - 0.5 * v * way).norm(), 1e-12);
  EXPECT_NEAR(half.world->last_in_space.bodies[1].spin[2], 0.5 * about, 1e-11);
  const study::Motion end = run_text(ball_text(kFixed, ball, 1.5));
  ASSERT_TRUE(end.outcome.certificate.ok());
  const auto& last = end.world->last_in_space.bodies[1];
  EXPECT_LT(last.v.norm() + kR * last.spin.norm(), 1e-14);
  EXPECT_LT((last.x - 0.5 * v * kStop * way - Vec<3>(0, 0, kR)).norm(), 1e-12);
  EXPECT_LT(std::abs(end.outcome.certificate.ledger.defect.value()), 1e-13);
}

TEST(RollingFriction, AFloorThatTurnsCarriesABall) {  // exact
  const double rate = 5.0 * kD * kG / (2.0 * kR * kR);
  const std::string floor =
      "driven = { position = [0, 0, 0], axis = [0, 0, 1], angle = \"2*t\" }\n"
      "half_space = { point = [0, 0, 0], normal = [0, 0, 1] }";
  for (const double until : {1.0, 2.0}) {
    const study::Motion motion = run_text(ball_text(floor, "", until));
    ASSERT_TRUE(motion.outcome.certificate.ok());
    EXPECT_NEAR(motion.world->last_in_space.bodies[1].spin[2], std::min(2.0, rate * until), 1e-11);
    EXPECT_LT(std::abs(motion.outcome.certificate.ledger.defect.value()), 1e-13);
  }
}

/// Two discs meet head on without friction, e = 0: p_N = m v, and the moment c p_N slows their
/// spins down, or takes all of their difference.
TEST(RollingFriction, ItActsInImpacts) {  // exact
  const auto spins = [](double c) {
    const study::Motion motion = run_text(fmt::format(R"toml(
[world]
dimension = 2
[pair]
default = {{ rolling = {} }}
[body.one]
disc     = 0.5
mass     = 2
inertia  = 0.3
at       = [-1, 0]
velocity = [3, 0]
spin     = 4
[body.two]
disc     = 0.5
mass     = 2
inertia  = 0.3
at       = [1, 0]
velocity = [-3, 0]
spin     = -1
[run]
step  = 0.001
until = 0.5
)toml",
                                                      c));
    EXPECT_TRUE(motion.outcome.certificate.ok());
    return Vec<2>(motion.world->last.bodies[0].spin, motion.world->last.bodies[1].spin);
  };
  EXPECT_LT((spins(0.05) - Vec<2>(4.0 - 0.05 * 6.0 / 0.3, -1.0 + 0.05 * 6.0 / 0.3)).norm(), 1e-12);
  EXPECT_LT((spins(0.5) - Vec<2>(1.5, 1.5)).norm(), 1e-12);
}

/// Momentum, and moment of momentum about the origin, of bodies that only have each other and are
/// nowhere put back.
TEST(RollingFriction, KeepsAllMomenta) {  // exact
  const std::string plane = R"toml(
[world]
dimension = 2
[pair]
default = { friction = 0.3, rolling = 0.05 }
[body.one]
disc     = 0.5
mass     = 2
inertia  = 0.3
at       = [-1, 0.2]
velocity = [3, 0.1]
spin     = 4
[body.two]
disc     = 0.4
mass     = 1
inertia  = 0.1
at       = [1, 0]
velocity = [-2, 0]
spin     = -1
[body.three]
disc     = 0.4
mass     = 1
inertia  = 0.1
at       = [0.9, 0.85]
velocity = [-2, -0.4]
[run]
step  = 0.001
until = 1
)toml";
  const study::Motion motion = run_text(plane);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const body::World<2>& world = *motion.scene.world()->plane;
  Vec<3> change = Vec<3>::Zero();
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    const auto& body = world.bodies[i];
    const auto add = [&](const body::Motion<2>& m, double sign) {
      const Vec<2> p = body.mass * m.v;
      change += sign * Vec<3>(p[0], p[1], m.x[0] * p[1] - m.x[1] * p[0] + body.inertia * m.spin);
    };
    add(body.start, -1.0);
    add(motion.world->last.bodies[i], 1.0);
  }
  EXPECT_LT(change.norm(), 1e-12);
  EXPECT_LT(std::abs(motion.outcome.certificate.ledger.defect.value()), 1e-12);
  EXPECT_GT((motion.world->last.bodies[0].v - world.bodies[0].start.v).norm(), 1.0);
  EXPECT_EQ(motion.world->told.projected, 0);
}

TEST(RollingFriction, KeepsAllMomentaInSpace) {  // exact
  const study::Motion motion = run_text(R"toml(
[world]
dimension = 3
[pair]
default = { friction = 0.3, rolling = 0.05, spinning = 0.02 }
[body.one]
sphere   = 0.5
mass     = 2
inertia  = [0.2, 0.2, 0.2]
at       = [-1, 0.2, 0.1]
velocity = [3, 0.1, 0]
spin     = [4, 1, -2]
[body.two]
sphere   = 0.4
mass     = 1
inertia  = [0.1, 0.12, 0.15]
at       = [1, 0, 0]
velocity = [-2, 0, 0]
spin     = [-1, 2, 0.5]
[run]
step  = 0.001
until = 1
)toml");
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const body::World<3>& world = *motion.scene.world()->space;
  Vec<3> momentum = Vec<3>::Zero();
  Vec<3> turning = Vec<3>::Zero();
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    const auto& body = world.bodies[i];
    const auto add = [&](const body::Motion<3>& m, double sign) {
      momentum += sign * body.mass * m.v;
      turning += sign * (m.x.cross(Vec<3>(body.mass * m.v)) +
                         m.turn * Vec<3>(body.inertia * (m.turn.inverse() * m.spin)));
    };
    add(body.start, -1.0);
    add(motion.world->last_in_space.bodies[i], 1.0);
  }
  EXPECT_LT(momentum.norm(), 1e-12);
  EXPECT_LT(turning.norm(), 1e-12);
  EXPECT_GT(motion.world->told.pushes_max, 0);
  EXPECT_EQ(motion.world->told.projected, 0);
}

/// The cart of the gallery, whose wheels now roll with friction: (M + 2 m + 2 I/r^2) a r = torque -
/// c (M + 2 m) g, as the wheels carry all of it whatever each of them does.
TEST(RollingFriction, WheelsOnJointsHaveIt) {  // exact
  const std::string text = changed(changed(study::builtin_scene("body-cart"), "friction = 0.8 }",
                                           "friction = 0.8, rolling = 0.002 }"),
                                   "until  = 5", "until  = 1");
  const study::Motion motion = run_text(text);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const double a = (5.0 - 0.002 * 12.0 * 9.81) / 0.3 / (12.0 + 0.1 / 0.09);
  EXPECT_NEAR(motion.world->last.bodies[1].v[0], a, 1e-10);
  EXPECT_NEAR(motion.world->last.bodies[1].x[0], 0.5 * a, 1e-10);
}

using Plane = testing::BodyStep<2>;
using Space = testing::BodyStep<3>;

TEST(RollingFriction, TheJudgeRefusesLies) {
  using certify::Failure;
  const auto lie = [&](const std::function<void(Plane&)>& change) {
    Plane one(disc_text(0.0, 1.0, 1.0));
    EXPECT_EQ(one.claim.pushes.size(), 1U);
    EXPECT_LT(one.claim.pushes[0].moment, 0.0);  // on the floor
    change(one);
    return one.verdict();
  };
  const auto turn = [](Plane& s, double by) {  // with the motion that belongs to it
    s.claim.pushes[0].moment -= by;
    s.after.bodies[1].spin += by / 0.01;
    s.after.bodies[1].angle += 0.5 * 0.001 * by / 0.01;
  };
  const double most = kC * 2.0 * kG * 0.001;
  EXPECT_EQ(lie([](Plane&) {}), Failure::None);
  EXPECT_EQ(lie([](Plane& s) { s.claim.pushes[0].moment *= 0.5; }), Failure::Residual);
  EXPECT_EQ(lie([](Plane& s) { s.claim.pushes[0].moment *= 1.0 - 1e-11; }), Failure::None);
  EXPECT_EQ(lie([](Plane& s) {  // rolls on, faster than moments and impulses say
              s.after.bodies[1].v[0] += kR * 1e-8;
              s.after.bodies[1].spin -= 1e-8;
            }),
            Failure::Balance);
  EXPECT_EQ(lie([](Plane& s) { s.claim.pushes[0].moment = std::nan(""); }), Failure::Residual);
  EXPECT_EQ(lie([&](Plane& s) { turn(s, 1e-6 * most); }), Failure::Residual);   // beyond the bound
  EXPECT_EQ(lie([&](Plane& s) { turn(s, -1e-6 * most); }), Failure::Residual);  // not on it
  EXPECT_EQ(lie([&](Plane& s) { turn(s, -most); }), Failure::Residual);         // none at all
  const std::string spins = ball_text(kFixed, "spin = [0, 0, 3]", 1.0);
  const auto lie_in_space = [&](const std::string& text, const Vec<3>& by) {
    Space one(text);
    one.claim.pushes.at(0).moment += by;
    auto& body = one.after.bodies[1];
    body.spin += one.world.bodies[1].inertia.inverse() * Vec<3>(by[1], by[2], by[0]);
    body.turn = body::rotation(0.0005 * (one.before.bodies[1].spin + body.spin));
    body.rates = body.turn.inverse() * body.spin;
    return one.verdict();
  };
  const double weight = 700.0 * 4.0 / 3.0 * 3.14159265358979 * kR * kR * kR * kG * 0.001;
  EXPECT_EQ(lie_in_space(spins, {0, 0, 0}), Failure::None);
  EXPECT_EQ(lie_in_space(spins, {1e-6 * kD * weight, 0, 0}), Failure::Residual);
  EXPECT_EQ(lie_in_space(spins, {-1e-6 * kD * weight, 0, 0}), Failure::Residual);
  EXPECT_EQ(lie_in_space(spins, {0, 1e-3 * kC * weight, 0}), Failure::Residual);
  const std::string smooth = changed(spins, "spinning = 0.0005", "spinning = 0");
  EXPECT_EQ(lie_in_space(smooth, {0, 0, 0}), Failure::None);
  EXPECT_EQ(lie_in_space(smooth, {-1e-9 * kD * weight, 0, 0}), Failure::Residual);
}

TEST(RollingFriction, WrongInputIsRefusedWithWords) {
  const auto fault = [](const std::string& text) -> std::string {
    try {
      (void)scene::read_scene("rolling.toml", text);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string disc = disc_text(0.0, 0.0, 1.0);
  const auto says = [&](const std::string& text, const std::string& words) {
    EXPECT_NE(fault(text).find(words), std::string::npos) << fault(text);
  };
  EXPECT_EQ(fault(disc), "");
  says(changed(disc, "rolling = 0.004", "rolling = -0.004"), "must be a length from 0");
  says(changed(disc, "rolling = 0.004", "rolling = -0.004"), ":6:");
  says(changed(disc, "rolling = 0.004", "spinning = 0.004"), "in the plane write rolling");
  says(changed(disc, "rolling = 0.004", "roling = 0.004"), "rolling");
  says(changed(disc, "disc     = 0.1", "point = [0, 0]"), "point at its mass centre");
}

}  // namespace
}  // namespace ricochet::testing::rolling_friction_test
