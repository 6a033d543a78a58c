// Rigid bodies of space: rotation, what scenes of them say, and what their judge refuses.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "body_step.h"
#include "ricochet/base/error.h"
#include "ricochet/body/turning.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/motion.h"

namespace ricochet::testing::space_bodies_test {
namespace {

using body::Vec;

const std::string kBox = R"toml(
[world]
dimension = 3
gravity   = [0, 0, -10]
[material.wood]
density = 2
[pair]
default = { friction = 0.5 }
[run]
step  = 0.001
until = 0.1
[body.floor]
fixed      = true
half_space = { point = [0, 0, 0], normal = [0, 0, 1] }
[body.box]
box      = [1, 2, 1]
at       = [0, 0, 0.5]
material = "wood"
)toml";

void expect_fault(const std::string& text, const std::string& words) {
  std::string fault;
  try {
    (void)scene::read_scene("space.toml", text);
  } catch (const base::InputError& error) {
    fault = error.what();
  }
  EXPECT_NE(fault.find(words), std::string::npos) << "wanted: " << words << "\nfound: " << fault;
}

/// R I Ω.
Vec<3> momentum(const body::Body<3>& body, const body::Motion<3>& m) {
  return m.turn.toRotationMatrix() * (body.inertia * m.rates);
}

body::Motion<3> turned(const body::Body<3>& body, const body::Motion<3>& from, double h,
                       const body::Turning& turning) {
  body::Motion<3> to;
  to.spin = turning.after;
  to.rates = turning.rates;
  body::finish_turning(body, h, from, to);
  return to;
}

TEST(Turning, KeepsItsBalancesWhateverTheStepAndTheMoment) {
  body::Body<3> body;
  body.inertia = Vec<3>(1.0, 2.0, 3.0).asDiagonal();
  for (const double h : {1e-3, 0.03, 0.2}) {
    body::Motion<3> from;
    from.turn = body::rotation({0.3, -0.4, 1.2});
    from.rates = {0.5, 2.0, -1.0};
    from.spin = from.turn * from.rates;
    const Vec<3> moment(0.2, -0.3, 0.1);
    const body::Turning turning = body::turn_by(body, from, h, moment);
    ASSERT_TRUE(turning.is_found);
    const body::Motion<3> to = turned(body, from, h, turning);
    EXPECT_LT((momentum(body, to) - momentum(body, from) - moment).norm(), 1e-14);
    const double gained = 0.5 * to.rates.dot(body.inertia * to.rates) -
                          0.5 * from.rates.dot(body.inertia * from.rates);
    EXPECT_NEAR(gained, 0.5 * (turning.before + turning.after).dot(moment), 1e-14);
    for (int k = 0; k < 3; ++k) {  // the slope, by differences
      constexpr double kDelta = 1e-6;
      const Vec<3> more = body::turn_by(body, from, h, moment + kDelta * Vec<3>::Unit(k)).after;
      const Vec<3> less = body::turn_by(body, from, h, moment - kDelta * Vec<3>::Unit(k)).after;
      EXPECT_LT(((more - less) / (2.0 * kDelta) - turning.slope.col(k)).norm(), 1e-8);
    }
  }
  body::Motion<3> fast;
  fast.rates = {3000.0, 10.0, 0.0};
  EXPECT_FALSE(body::turn_by(body, fast, 1e-3, Vec<3>::Zero()).is_found);
}

/// A thin rod that is turned back: of its rates one stays within a rounding of its place while
/// another shrinks by last digits, without end.
TEST(Turning, EndsWhereRoundingsGoOn) {
  body::Body<3> body;
  body.inertia =
      Vec<3>(0.00021166666666666672, 0.042439166666666667, 0.042439166666666667).asDiagonal();
  body::Motion<3> from;
  from.turn = Eigen::Quaterniond(0.96814874016186647, 0.0005012570125271865, 0.23343476596878904,
                                 0.090531628183165222);
  from.rates = {0.11843582318443163, 0.0081397974199306378, -0.49687409584450681};
  from.spin = from.turn * from.rates;
  const Vec<3> moment(0.019214477699346009, 0.001405052356447769, 0.037843700155503888);
  const double h = 0.004;
  const body::Turning turning = body::turn_by(body, from, h, moment);
  ASSERT_TRUE(turning.is_found);
  const body::Motion<3> to = turned(body, from, h, turning);
  EXPECT_LT((momentum(body, to) - momentum(body, from) - moment).norm(), 1e-15);
}

TEST(SpaceBodies, WrongInputIsRefusedWithWords) {
  EXPECT_NO_THROW((void)scene::read_scene("space.toml", kBox));
  const std::string at = "at       = [0, 0, 0.5]";
  expect_fault(changed(kBox, at, "at = [0, 0, 0.4]"), "overlap by 0.1");
  expect_fault(changed(kBox, at, "at = [0, 0.5]"), "three numbers");
  expect_fault(changed(kBox, "dimension = 3", "dimension = 4"), "must be 2 or 3");
  expect_fault(changed(kBox, at, at + "\nmass = 1\ninertia = [1, 1, 3]"), "belongs to no body");
  expect_fault(changed(kBox, at, at + "\nmass = 1\ninertia = [1, -1, 1]"), "must be positive");
  expect_fault(changed(kBox, at, at + "\nmass = 1\ninertia = [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]"),
               "not symmetric");
  expect_fault(changed(kBox, at, at + "\nspin = [1, 0, 0]\nrates = [1, 0, 0]"), "stands beside");
  expect_fault(changed(kBox, at, at + "\nangle = 1\nquaternion = [1, 0, 0, 0]"), "says again");
  expect_fault(kBox + "[body.egg]\nellipsoid = [1, 2, 3]\nat = [9, 9, 9]\nmaterial = \"wood\"\n",
               "may touch");
  expect_fault(changed(kBox, "half_space = {", "half_plane = {"), "has no shape");
}

TEST(SpaceBodies, RestIsRest) {
  const study::Motion rest = study::run_scene(scene::read_scene("space.toml", kBox), false);
  ASSERT_TRUE(rest.outcome.certificate.ok());
  EXPECT_LT((rest.world->last_in_space.bodies[1].x - Vec<3>(0.0, 0.0, 0.5)).norm(), 1e-13);
  EXPECT_LT(rest.world->last_in_space.bodies[1].spin.norm(), 1e-12);
}

/// A brick that falls on a floor, the whole scene moved.
std::string brick(double x, double y, double z) {
  const auto place = [&](double above) { return fmt::format("[{}, {}, {}]", x, y, z + above); };
  return fmt::format(R"toml(
[world]
dimension = 3
gravity   = [0, 0, -10]
[material.m]
density = 1
[pair]
default = {{ friction = 0.3 }}
[body.floor]
fixed      = true
half_space = {{ point = {}, normal = [0, 0, 1] }}
[body.p]
box        = [0.3, 0.2, 0.1]
at         = {}
axis_angle = [[1, 2, 0], 0.3]
velocity   = [1, 0, 0]
material   = "m"
[run]
step  = 0.001
until = 0.5
)toml",
                     place(0.0), place(0.2));
}

// Space is the same everywhere. Places are rounded to 1e-13 m there, 1e-10 m/s in a step. From
// t = 0.188 on the brick slides on four corners, which may share its load in many ways: until then
// its motion is the only one.
TEST(SpaceBodies, FallFarFromTheOriginAsTheyDoThere) {
  const auto run_at = [](double x, double y, double z, const char* until) {
    return study::run_scene(
        scene::read_scene("brick.toml", brick(x, y, z), {scene::parse_override(until)}), false);
  };
  const study::Motion here = run_at(0.0, 0.0, 0.0, "run.until=0.18");
  const study::Motion there = run_at(1000.0, 500.0, 333.0, "run.until=0.18");
  ASSERT_TRUE(here.outcome.certificate.ok());
  ASSERT_TRUE(there.outcome.certificate.ok());
  const auto& from = here.world->last_in_space.bodies[1];
  const auto& to = there.world->last_in_space.bodies[1];
  EXPECT_LT((to.x - from.x - Vec<3>(1000.0, 500.0, 333.0)).norm(), 1e-7);
  EXPECT_LT((to.v - from.v).norm(), 1e-6);
  EXPECT_LT(to.turn.angularDistance(from.turn), 1e-6);
  EXPECT_TRUE(run_at(1000.0, 500.0, 333.0, "run.until=0.5").outcome.certificate.ok());
}

/// Jellett's integral of a tippe top, -L . a with a from its mass centre to the table, is kept by
/// any friction: what the step changes of it is of order 2.
TEST(SpaceBodies, JellettsIntegralIsKeptToSecondOrder) {
  const double R = 0.02, al = 0.3, I1 = 131.0 / 350.0 * 0.02 * R * R, I3 = 0.4 * 0.02 * R * R;
  const double start = R * 155.0 * I3 * (std::cos(0.3) - al);
  const auto lost = [&](const char* step) {
    const scene::Scene scene =
        scene::read_scene("tippe.toml", study::builtin_scene("body-tippe-top"),
                          {scene::parse_override(step), scene::parse_override("run.until=2")});
    const study::Motion motion = study::run_scene(scene, false);
    EXPECT_TRUE(motion.outcome.certificate.ok());
    const body::Motion<3>& top = motion.world->last_in_space.bodies[0];
    const Vec<3> axis = top.turn * Vec<3>::UnitZ();
    const Vec<3> L = I1 * top.spin + (I3 - I1) * top.spin.dot(axis) * axis;
    return -L.dot(R * (al * axis - Vec<3>::UnitZ())) / start - 1.0;
  };
  const double coarse = lost("run.step=8e-4");
  const double fine = lost("run.step=2e-4");
  EXPECT_LT(std::abs(fine), 1e-4);
  EXPECT_NEAR(std::log2(std::abs(coarse / fine)) / 2.0, 2.0, 0.1);
}

using OneStep = testing::BodyStep<3>;

TEST(SpaceBodies, TheJudgeRefusesLies) {
  using certify::Failure;
  const std::string moving = changed(kBox, "at       = [0, 0, 0.5]",
                                     "at = [0, 0, 0.5]\nvelocity = [1, 0, 0]\nspin = [0, 0, 2]");
  const auto lie = [&](const std::function<void(OneStep&)>& change) {
    OneStep one(moving);
    EXPECT_FALSE(one.claim.pushes.empty());
    change(one);
    return one.verdict();
  };
  EXPECT_EQ(lie([](OneStep&) {}), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.pushes.clear(); }), Failure::None);
  EXPECT_EQ(lie([](OneStep& s) { s.after.bodies[1].x[0] += 1e-6; }), Failure::Kinematics);
  EXPECT_NE(lie([](OneStep& s) {  // turned a little, with its spin
              s.after.bodies[1].turn = body::rotation({0, 0, 1e-6}) * s.after.bodies[1].turn;
            }),
            Failure::None);
  EXPECT_EQ(lie([](OneStep& s) { s.after.bodies[1].turn.coeffs() *= 1.0 + 1e-9; }),
            Failure::Kinematics);
  EXPECT_EQ(lie([](OneStep& s) { s.after.bodies[1].rates[2] += 1e-9; }), Failure::Kinematics);
  EXPECT_NE(lie([](OneStep& s) {  // spins about z that friction did not give
              s.after.bodies[1].rates[2] += 1e-6;
              s.after.bodies[1].spin = s.after.bodies[1].turn * s.after.bodies[1].rates;
            }),
            Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.pushes[0].impulse[2] += s.claim.pushes[0].impulse[0]; }),
            Failure::None);
  EXPECT_EQ(lie([](OneStep& s) { s.after.bodies[1].spin[0] = std::nan(""); }), Failure::NotFinite);
}

}  // namespace
}  // namespace ricochet::testing::space_bodies_test
