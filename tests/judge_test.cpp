// The judge: honest steps pass, and every kind of lie is caught.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ricochet/step/elast.h"
#include "ricochet/step/inel.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/simulate.h"

namespace ricochet::certify::judge_test {
namespace {

/// A particle over a floor y >= 0 and beside a wall x >= 0, under gravity.
struct Corner {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 2;
  double gap(int contact, double, const Eigen::Vector2d& q) const { return q[1 - contact]; }
  Eigen::Vector2d gap_gradient(int contact, double, const Eigen::Vector2d&) const {
    return contact == 0 ? Eigen::Vector2d(0.0, 1.0) : Eigen::Vector2d(1.0, 0.0);
  }
  Eigen::Vector2d force(double, const Eigen::Vector2d&, const Eigen::Vector2d&) const {
    return {0.0, -10.0};
  }
  double potential(double, const Eigen::Vector2d& q) const { return 10.0 * q[1]; }
};

using Model = model::InlineModel<Corner>;
using State = model::State<2>;
using TheClaim = Claim<2, 2>;

/// One inelastic step from just above the floor, which ends in a shock.
struct Shocked {
  Model model{Corner{}};
  State before{0.0, {1.0, 0.001}, {2.0, -1.0}};
  State after{0.01, {0.0, 0.0}, {0.0, 0.0}};
  step::Workspace<Model> workspace{model, before.q};

  explicit Shocked() { (void)step::make_step(step::Inel{}, model, before, 0.01, after, workspace); }

  Certificate judge(const std::function<void(State&, TheClaim&)>& tamper = {}) {
    State told = after;
    TheClaim claim = workspace.claim;
    if (tamper) tamper(told, claim);
    Judge<Model> judge(model, step::Inel{}.method(), Limits{}, before);
    (void)judge.check<Integrator::MiddleAhead>(before, told, 0.01, claim);
    return judge.finish();
  }
};

TEST(Judge, PassesAnHonestShock) {
  Shocked shocked;
  const Certificate c = shocked.judge();
  EXPECT_EQ(c.failure, Failure::None);
  EXPECT_EQ(c.residual_max, 0.0);
  EXPECT_EQ(c.shock_counts[0], 1);
  EXPECT_EQ(c.shock_counts[1], 0);
  // p = -(u_y + h g) = 1.1, work = p (U + U+)/2 = -1.1/2
  EXPECT_NEAR(c.ledger.contacts.value(), -0.55, 1e-15);
  EXPECT_NEAR(c.ledger.forces.value(), 0.5 * 0.01 * 10.0, 1e-15);
  EXPECT_NEAR(c.ledger.defect.value(), 0.0, 1e-15);
}

TEST(Judge, CatchesEveryLie) {
  struct Lie {
    const char* what;
    std::function<void(State&, TheClaim&)> tell;
    Failure found;
  };
  const std::vector<Lie> lies = {
      {"an impulse a little too large", [](State&, TheClaim& c) { c.impulses[0] *= 1.0 + 1e-8; },
       Failure::Balance},
      {"a velocity that leaves although the contact pushes",
       [](State& s, TheClaim&) { s.u[1] += 1e-6; }, Failure::Residual},
      {"a velocity that enters the floor", [](State& s, TheClaim&) { s.u[1] -= 1e-6; },
       Failure::Residual},
      {"a sideways velocity out of nothing", [](State& s, TheClaim&) { s.u[0] += 1e-6; },
       Failure::Balance},
      {"a contact left out", [](State&, TheClaim& c) { c.active.clear(); }, Failure::ActiveSet},
      {"a contact that does not touch", [](State&, TheClaim& c) { c.active.push(1); },
       Failure::ActiveSet},
      {"a position that jumps", [](State& s, TheClaim&) { s.q[0] += 1e-6; }, Failure::Kinematics},
      {"a negative impulse", [](State&, TheClaim& c) { c.impulses[0] = -c.impulses[0]; },
       Failure::Residual},
      {"not a number", [](State& s, TheClaim&) { s.u[0] = std::nan(""); }, Failure::NotFinite},
      {"an infinite position", [](State& s, TheClaim&) { s.q[0] = INFINITY; }, Failure::NotFinite},
      {"a reflection passed off as inelastic",
       [](State& s, TheClaim& c) {
         c.impulses[0] *= 2.0;
         s.u[1] = 1.1;
         s.q[1] += 0.005 * 1.1;
       },
       Failure::Residual},
  };
  for (const Lie& lie : lies) {
    Shocked shocked;
    EXPECT_EQ(shocked.judge(lie.tell).failure, lie.found) << lie.what;
  }
}

TEST(Judge, CatchesASmallDisplacementLeftOut) {
  // Far from the origin, slow: the whole motion of the step is 1e-10 of the position.
  const Model model{Corner{}};
  State before{0.0, {1.0, 1.0}, {1e-9, 0.0}};
  State after{0.01, {0.0, 0.0}, {0.0, 0.0}};
  step::Workspace<Model> workspace(model, before.q);
  (void)step::make_step(step::Inel{}, model, before, 0.01, after, workspace);
  after.q[0] = before.q[0] + 2e-11;  // twice as far as it moved
  Judge<Model> judge(model, step::Inel{}.method(), Limits{}, before);
  EXPECT_FALSE(judge.check<Integrator::MiddleAhead>(before, after, 0.01, workspace.claim));
  EXPECT_EQ(judge.certificate().failure, Failure::Kinematics);
}

TEST(Judge, CatchesAnotherLawThanTheOneStated) {
  Shocked shocked;  // an honest inelastic shock, in a run of a scheme that implies e = 1
  Method method = step::Inel{}.method();
  method.restitution = 1.0;
  Judge<Model> judge(shocked.model, method, Limits{}, shocked.before);
  EXPECT_FALSE(judge.check<Integrator::MiddleAhead>(shocked.before, shocked.after, 0.01,
                                                    shocked.workspace.claim));
  EXPECT_EQ(judge.certificate().failure, Failure::Residual);
}

TEST(Judge, CatchesAVelocityFixedInVain) {
  // Leaving the floor; the reflection of an elastic scheme would turn it back.
  const Model model{Corner{}};
  const State before{0.0, {1.0, -0.1}, {2.0, 1.0}};
  State after{0.01, {1.0 + 0.02, -0.1}, {2.0, -1.0}};
  step::Workspace<Model> workspace(model, before.q);
  State honest = before;
  honest.t = 0.01;
  (void)step::make_step(step::Elast{}, model, before, 0.01, honest, workspace);
  TheClaim claim = workspace.claim;
  claim.impulses[0] = -1.0 - 1.0 + 0.1;  // u+ = -u
  after.q = workspace.q_mid + 0.005 * after.u;
  Judge<Model> judge(model, step::Elast{}.method(), Limits{}, before);
  EXPECT_FALSE(judge.check<Integrator::Middle>(before, after, 0.01, claim));
  EXPECT_EQ(judge.certificate().failure, Failure::Residual);
}

/// A step that starts beyond the floor and puts the middle back on it.
struct Corrected {
  step::Inel scheme{.correction = step::Correction::Project};
  Model model{Corner{}};
  State before{0.0, {1.0, -0.1}, {2.0, -1.0}};
  State after{0.01, before.q, before.u};
  step::Workspace<Model> workspace{model, before.q};

  Corrected() { (void)step::make_step(scheme, model, before, 0.01, after, workspace); }
  Failure judge(const Limits& limits = {}) {
    Judge<Model> judge(model, scheme.method(), limits, before);
    (void)judge.check<Integrator::MiddleAhead>(before, after, 0.01, workspace.claim);
    return judge.certificate().failure;
  }
};

TEST(Judge, CatchesAShiftThatIsNoCorrection) {
  EXPECT_EQ(Corrected{}.judge(), Failure::None);
  Corrected half;
  half.workspace.weights *= 0.5;
  half.after.q -= 0.5 * half.workspace.shift;
  EXPECT_EQ(half.judge(), Failure::Correction);
  Corrected sideways;
  sideways.after.q[0] += 1e-6;
  EXPECT_EQ(sideways.judge(), Failure::Kinematics);
  Corrected none;  // the middle stays beyond the floor
  none.workspace.claim.shift_weights = nullptr;
  none.after.q -= none.workspace.shift;
  EXPECT_EQ(none.judge(), Failure::Correction);
  Corrected unasked;
  unasked.scheme.correction = step::Correction::None;
  EXPECT_EQ(unasked.judge(), Failure::Correction);
}

TEST(Judge, HoldsACorrectionToItsOwnLimit) {
  // A shift a part in a million too long passes only where the limit is larger than that.
  for (const double limit : {1e-9, 1e-5}) {
    Corrected corrected;
    corrected.workspace.weights *= 1.0 + 1e-6;
    corrected.after.q += 1e-6 * corrected.workspace.shift;
    const Failure failure = corrected.judge({.correction = limit});
    EXPECT_EQ(failure, limit > 1e-6 ? Failure::None : Failure::Correction);
  }
}

TEST(Judge, AfterAFailureTheCertificateShowsTheLastInstantThatHolds) {
  Shocked shocked;
  Limits limits;
  limits.violation = 1e-12;
  State told = shocked.after;
  Judge<Model> judge(shocked.model, step::Inel{}.method(), limits, shocked.before);
  told.q[1] = -1.0;
  EXPECT_FALSE(
      judge.check<Integrator::MiddleAhead>(shocked.before, told, 0.01, shocked.workspace.claim));
  const Certificate c = judge.finish();
  EXPECT_EQ(c.balance_max, 0.0);
  EXPECT_EQ(c.ledger.contacts.value(), 0.0);
  EXPECT_EQ(c.steps, 0);
  EXPECT_EQ(c.shock_counts[0], 0);
  EXPECT_EQ(judge.gaps(shocked.before)[0], shocked.before.q[1]);
  EXPECT_EQ(judge.kinetic(), 2.5);
  EXPECT_EQ(c.ledger.kinetic_end, 2.5);
}

/// A floor that throws things up faster than they came.
struct Trampoline : Corner {
  double restitution(int) const { return 2.0; }
};

TEST(Judge, CatchesContactsThatCreateEnergy) {
  // v = U+ + e U with e = 2 makes the complementarity hold.
  const model::InlineModel<Trampoline> model{Trampoline{}};
  const State before{0.0, {1.0, 0.001}, {2.0, -1.0}};
  State after{0.01, before.q, before.u};
  step::Workspace<model::InlineModel<Trampoline>> workspace(model, before.q);
  (void)step::make_step(step::Moreau{.anticipation = 0.5}, model, before, 0.01, after, workspace);
  Judge<model::InlineModel<Trampoline>> judge(model, step::Moreau{.anticipation = 0.5}.method(),
                                              Limits{}, before);
  EXPECT_FALSE(judge.check<Integrator::MiddleAhead>(before, after, 0.01, workspace.claim));
  EXPECT_EQ(judge.certificate().failure, Failure::EnergyGain);
  EXPECT_NEAR(judge.certificate().failure_value, 0.5 * 3.1 * (2.0 - 1.0), 1e-12);  // p (U + U+)/2
}

struct Circle {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 1;
  double gap(int, double, const Eigen::Vector2d& q) const { return 1.0 - q.squaredNorm(); }
  Eigen::Vector2d gap_gradient(int, double, const Eigen::Vector2d& q) const { return -2.0 * q; }
  Eigen::Vector2d force(double, const Eigen::Vector2d&, const Eigen::Vector2d&) const {
    return {0.0, -1.0};
  }
};

TEST(Judge, CatchesTheWrongPointOfEvaluation) {
  // The cone of a curved wall taken elsewhere than the scene states.
  using CircleModel = model::InlineModel<Circle>;
  const CircleModel model{Circle{}};
  const State before{0.0, {0.0, -1.0}, {1.0, 0.0}};
  State after = before;
  after.t = 0.1;
  step::Workspace<CircleModel> workspace(model, before.q);
  const step::Elast ahead{.anticipation = 0.1};
  (void)step::make_step(ahead, model, before, 0.1, after, workspace);
  Judge<CircleModel> honest(model, ahead.method(), Limits{}, before);
  EXPECT_TRUE(honest.check<Integrator::Middle>(before, after, 0.1, workspace.claim));
  Judge<CircleModel> judge(model, step::Elast{}.method(), Limits{}, before);
  EXPECT_FALSE(judge.check<Integrator::Middle>(before, after, 0.1, workspace.claim));
}

TEST(Judge, CatchesATimeThatIsNotTheNext) {
  Shocked shocked;
  EXPECT_EQ(shocked.judge([](State& s, TheClaim&) { s.t += 1e-12; }).failure, Failure::Kinematics);
}

TEST(Judge, KeepsTheFirstFailureOnly) {
  Shocked shocked;
  const Certificate c = shocked.judge([](State& s, TheClaim& claim) {
    claim.active.clear();
    s.q[0] += 1.0;
  });
  EXPECT_EQ(c.failure, Failure::ActiveSet);
  EXPECT_EQ(c.failure_time, 0.005);
}

TEST(Judge, NamesEveryFailure) {
  for (int k = 0; k <= static_cast<int>(Failure::NoConvergence); ++k) {
    const FailureText text = describe(static_cast<Failure>(k));
    EXPECT_STRNE(text.name, "unknown");
    EXPECT_STRNE(text.meaning, "");
    EXPECT_EQ(std::string(text.remedy).empty(), k == 0);
  }
}

/// A spring of frequency 1 with a step beyond the limit h < 2 of the staggered scheme.
struct Spring {
  static constexpr int kDofs = 1;
  static constexpr int kContacts = 1;
  using Vec = model::Vector<1>;
  double gap(int, double, const Vec&) const { return 1.0; }
  Vec gap_gradient(int, double, const Vec&) const { return Vec(0.0); }
  Vec force(double, const Vec& q, const Vec&) const { return -q; }
  double potential(double, const Vec& q) const { return 0.5 * q[0] * q[0]; }
};

TEST(Judge, StopsWhenPositionsOverflow) {
  const model::InlineModel<Spring> model{Spring{}};
  model::State<1> state{0.0, model::Vector<1>(1.0), model::Vector<1>(0.0)};
  const step::RunSettings run{.step = 3.0, .steps = 100'000};
  const step::Outcome outcome =
      step::simulate(model, step::Inel{}, run, state, [](const step::Sample&) {});
  EXPECT_EQ(outcome.certificate.failure, Failure::Diverged);
  EXPECT_TRUE(std::isfinite(state.q[0]));  // the last good state is kept
  EXPECT_EQ(state.t, 3.0 * static_cast<double>(outcome.steps));
}

}  // namespace
}  // namespace ricochet::certify::judge_test
