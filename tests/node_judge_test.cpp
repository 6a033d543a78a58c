// The judge of steps made up of nodes: honest ones pass, every kind of lie is caught.

#include <gtest/gtest.h>

#include <functional>

#include "ricochet/step/mabrouk.h"
#include "ricochet/step/moreau_jean.h"
#include "ricochet/step/paoli_schatzman.h"
#include "ricochet/step/penalty.h"
#include "ricochet/step/simulate.h"
#include "support.h"

namespace ricochet::certify::node_judge_test {
namespace {

/// A particle over a floor y >= 0 under gravity 10, with e = 1/2, written by hand.
struct Ball {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 1;
  double gap(int, double, const Eigen::Vector2d& q) const { return q[1]; }
  Eigen::Vector2d gap_gradient(int, double, const Eigen::Vector2d&) const { return {0.0, 1.0}; }
  Eigen::Vector2d force(double, const Eigen::Vector2d&, const Eigen::Vector2d&) const {
    return {0.0, -10.0};
  }
  double potential(double, const Eigen::Vector2d& q) const { return 10.0 * q[1]; }
  double restitution(int) const { return 0.5; }
};

using Model = model::InlineModel<Ball>;
using State = model::State<2>;

/// One step into the floor, as a scheme tells it.
template <class S>
struct Told {
  Model model{Ball{}};
  State before{0.0, {1.0, 0.002}, {2.0, -1.0}};
  State after{0.01, {0.0, 0.0}, {0.0, 0.0}};
  step::Workspace<Model> w{model, before.q};

  Told() {
    before.memory.steps = 1;  // no first step
    (void)step::make_step(S{}, model, before, 0.01, after, w);
  }

  using Tamper = std::function<void(State&, Claim<2, 1>&)>;
  Failure judge(const Tamper& tamper = {}, const Method& method = S{}.method()) {
    State told = after;
    Claim<2, 1> claim = w.claim;
    if (tamper) tamper(told, claim);
    Judge<Model> judge(model, method, Limits{}, before);
    (void)judge.template check<S::kInfo.integrator>(before, told, 0.01, claim);
    return judge.certificate().failure;
  }
};

template <class S>
class NodeJudge : public ::testing::Test {};
using Schemes =
    ::testing::Types<step::Mabrouk, step::PaoliSchatzman, step::MoreauJean, step::Penalty>;
TYPED_TEST_SUITE(NodeJudge, Schemes);

TYPED_TEST(NodeJudge, PassesAnHonestImpact) {
  Told<TypeParam> told;
  ASSERT_EQ(told.w.claim.active.size(), 1);
  EXPECT_GT(told.w.claim.impulses[0], 0.0);
  EXPECT_EQ(told.judge(), Failure::None);
}

TYPED_TEST(NodeJudge, CatchesEveryLie) {
  Told<TypeParam> told;
  const auto lie = [&](auto tamper) { return told.judge(tamper); };
  EXPECT_NE(lie([](State&, auto& claim) { claim.impulses[0] *= 1.001; }), Failure::None);
  EXPECT_NE(lie([](State&, auto& claim) { claim.impulses[0] *= -1.0; }), Failure::None);
  EXPECT_NE(lie([](State&, auto& claim) { claim.active.clear(); }), Failure::None);
  EXPECT_NE(lie([](State&, auto& claim) { claim.piece = Piece::Impact; }), Failure::None);
  EXPECT_NE(lie([](State& after, auto&) { after.t += 1e-9; }), Failure::None);
  EXPECT_NE(lie([](State& after, auto&) { after.u[1] += 1e-6; }), Failure::None);
  EXPECT_NE(lie([](State& after, auto&) { after.u[0] += 1e-6; }), Failure::None);
  EXPECT_NE(lie([](State& after, auto&) { after.q[0] += 1e-8; }), Failure::None);
  EXPECT_NE(lie([](State& after, auto&) { after.q[1] += 1e-8; }), Failure::None);
}

// What the scene states is what is judged by.
TEST(NodeJudge, CatchesOtherSettings) {
  Told<step::Mabrouk> told;
  EXPECT_NE(told.judge({}, {.integrator = Integrator::End, .restitution = 0.0}), Failure::None);
  Told<step::MoreauJean> theta;
  EXPECT_NE(theta.judge({}, step::MoreauJean{.theta = 0.6}.method()), Failure::None);
  Told<step::Penalty> spring;
  EXPECT_NE(spring.judge({}, step::Penalty{.stiffness = 1e3}.method()), Failure::None);
}

// What a motion is driven by is taken off, and what remains must not grow: V depends on t, walls
// move, belts run.
TEST(Judge, CatchesDrivenMotionsThatDiverge) {
  const std::string spring = R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "50*(x - sin(t))^2"
[contact.wall]
keep        = "x <= 2 + 0.1*sin(3*t)"
[start]
position = { x = 0 }
[run]
scheme = "moreau"
step   = 0.01
until  = 20
)toml";
  EXPECT_TRUE(testing::run_text(spring).outcome.certificate.ok());
  const auto wild = testing::run_text(spring, {"run.step=0.3", "run.until=60"});  // h w > 2
  EXPECT_EQ(wild.outcome.certificate.failure, Failure::Diverged);
}

// Resonance is no divergence: the drive feeds the motion, and the books know it.
TEST(Judge, LetsAResonanceGrow) {
  const auto motion = testing::run_text(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "0.5*x^2 - x*sin(t)"
[start]
position = { x = 0 }
[run]
scheme = "moreau"
step   = 0.01
until  = 300
)toml");
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_GT(motion.rows.back().kinetic + motion.rows.back().potential, 1000.0);
}

TEST(Penalty, WarnsWhenTheStepIsTooLargeForTheWall) {
  const std::string ball = testing::kFloor;
  const auto warned = [&](const char* step) {
    const auto motion = testing::run_text(
        ball, {"run.scheme=penalty", "run.stiffness=1e4", std::string("run.step=") + step,
               "start.position={ x = 0, y = 1 }"});
    for (const std::string& warning : motion.scene.warnings) {
      if (warning.find("too large for this stiffness") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(warned("0.01"));  // a contact lasts pi/100
  EXPECT_FALSE(warned("0.001"));
}

// A spring and its dashpot give back the speed that e says, as the step goes to zero.
TEST(Penalty, DashpotGivesTheRestitution) {
  for (const double e : {0.05, 0.3, 0.7, 1.0}) {
    const auto motion = testing::run_text(
        R"toml(
[system]
coordinates = ["x"]
mass = [3]
[contact.wall]
keep = "x >= 0"
restitution = )toml" +
        std::to_string(e) + R"toml(
[start]
position = { x = 0.01 }
velocity = { x = -1 }
[run]
scheme = "penalty"
stiffness = 3e4
step = 1e-5
until = 0.1
)toml");
    ASSERT_TRUE(motion.outcome.certificate.ok());
    EXPECT_NEAR(motion.rows.back().u[0], e, 1e-3);
  }
}

}  // namespace
}  // namespace ricochet::certify::node_judge_test
