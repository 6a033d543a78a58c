// The schemes: exactness, energy, order, independence of how the system is written, no allocation.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "allocations.h"
#include "ricochet/step/elast.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/step/simulate.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::step::step_test {
namespace {

using testing::run_text;

const std::string kFall = R"toml(
[system]
coordinates = ["x", "y"]
mass = [2, 3]
force = ["4", "-9"]
[start]
position = { x = 1, y = 2 }
velocity = { x = -1, y = 5 }
[run]
scheme = "elast"
step = 0.125
until = 4
)toml";

TEST(Schemes, AreExactForConstantFields) {
  for (const std::string scheme : {"billiard", "elast", "inel"}) {
    const study::Motion motion = run_text(kFall, {"run.scheme=" + scheme});
    ASSERT_TRUE(motion.outcome.certificate.ok());
    for (const study::Row& row : motion.rows) {  // q0 + u0 t + a t^2/2, a = force/mass
      EXPECT_NEAR(row.q[0], 1.0 - row.t + 0.5 * 2.0 * row.t * row.t, 1e-13);
      EXPECT_NEAR(row.q[1], 2.0 + 5.0 * row.t - 0.5 * 3.0 * row.t * row.t, 1e-13);
      EXPECT_NEAR(row.u[1], 5.0 - 3.0 * row.t, 1e-13);
    }
  }
}

TEST(Schemes, MeetTheFloorExactlyWhenAMidpointDoes) {
  // From y = 9/8 at u = -2 without forces: the floor is reached at t = 9/16, the middle of the step
  // that starts at 1/2. INEL stops there, ELAST comes back.
  const std::string scene = R"toml(
[system]
coordinates = ["y"]
mass = [1]
[contact.floor]
keep = "y >= 0"
[start]
position = { y = 1.125 }
velocity = { y = -2 }
[run]
scheme = "inel"
anticipation = 0
step = 0.125
until = 1
)toml";
  const study::Motion inel = run_text(scene);
  EXPECT_EQ(inel.final_state.q[0], 0.0);
  EXPECT_EQ(inel.final_state.u[0], 0.0);
  EXPECT_EQ(inel.outcome.certificate.shocks.size(), 1U);
  EXPECT_EQ(inel.outcome.certificate.shocks[0].t, 0.5625);
  EXPECT_EQ(inel.outcome.certificate.shocks[0].approach, 2.0);
  EXPECT_EQ(inel.outcome.certificate.ledger.contacts.value(), -2.0);
  EXPECT_EQ(inel.outcome.certificate.ledger.shocks.value(), -2.0);
  const study::Motion elast = run_text(scene, {"run.scheme=elast"});
  EXPECT_EQ(elast.final_state.q[0], 2.0 * (1.0 - 0.5625));
  EXPECT_EQ(elast.final_state.u[0], 2.0);
  EXPECT_EQ(elast.outcome.certificate.ledger.contacts.value(), 0.0);
}

TEST(Schemes, SmoothMotionIsOfOrderTwoAtTheOutputTimes) {
  const auto error = [](const std::string& scheme, double h) {
    const study::Motion motion =
        run_text(R"toml(
[system]
coordinates = ["x"]
mass = [1]
potential = "0.5*x^2"
[start]
position = { x = 1 }
[run]
scheme = "elast"
step = 0.1
until = 3
)toml",
                 {"run.scheme=" + scheme, "run.step=" + std::to_string(h)});
    return std::array{std::abs(motion.final_state.q[0] - std::cos(motion.final_state.t)),
                      std::abs(motion.final_state.u[0] + std::sin(motion.final_state.t))};
  };
  for (const std::string scheme : {"billiard", "elast", "inel"}) {
    const auto [q1, u1] = error(scheme, 0.02);
    const auto [q2, u2] = error(scheme, 0.01);
    EXPECT_NEAR(std::log2(q1 / q2), 2.0, 0.05) << scheme;
    EXPECT_NEAR(std::log2(u1 / u2), 2.0, 0.05) << scheme;
  }
}

TEST(Schemes, ForcesThatUseVelocityAreOfOrderOne) {
  const auto error = [](double h) {
    const study::Motion motion = run_text(R"toml(
[system]
coordinates = ["x"]
mass = [1]
force = ["-x'"]
[start]
position = { x = 0 }
velocity = { x = 1 }
[run]
scheme = "inel"
step = 0.1
until = 2
)toml",
                                          {"run.step=" + std::to_string(h)});
    return std::abs(motion.final_state.u[0] - std::exp(-2.0));
  };
  EXPECT_NEAR(std::log2(error(0.02) / error(0.01)), 1.0, 0.05);
}

/// Largest change of T + V in parts of the largest T.
double energy_spread(const study::Motion& motion) {
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  return (ledger.highest - ledger.lowest) / ledger.kinetic_max;
}

TEST(Elast, ConservesEnergyOver100000StepsOfEssais1And4) {
  for (const std::string name : {"essai-01", "essai-04"}) {
    const study::Motion motion =
        run_text(study::builtin_scene(name), {"run.steps=100000", "run.record=0"});
    ASSERT_TRUE(motion.outcome.certificate.ok());
    EXPECT_EQ(motion.outcome.steps, 100000);
    EXPECT_LT(energy_spread(motion), 1e-13) << name;
    EXPECT_GT(motion.outcome.certificate.ledger.kinetic_max, 0.0);
  }
}

/// A particle in a triangle under gravity: corners have two contacts at once.
const std::string kTriangle = R"toml(
[system]
coordinates = ["x", "y"]
mass = [[2, 0.5], [0.5, 1]]
potential = "3*x + 10*y"
[contact.floor]
keep = "y >= 0"
[contact.left]
keep = "y <= 2*x + 2"
[contact.right]
keep = "y <= 2 - 2*x"
[start]
position = { x = 0.1, y = 1 }
velocity = { x = 3, y = 1 }
[run]
scheme = "elast"
step = 0.001
until = 20
)toml";

TEST(Elast, ConservesEnergyWithSeveralContactsAtOnce) {
  // Straight down into a valley, where both walls are met at once, over and over.
  const study::Motion motion = run_text(R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "10*y"
[contact.left]
keep = "y >= -0.5*x"
[contact.right]
keep = "y >= 0.5*x"
[start]
position = { x = 0, y = 1 }
[run]
scheme = "elast"
step = 0.001
until = 20
)toml");
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_LT(energy_spread(motion), 1e-13);
  int both = 0;
  for (const study::Row& row : motion.rows) {
    both += row.impulses[0] > 0.0 && row.impulses[1] > 0.0 ? 1 : 0;
  }
  EXPECT_GE(both, 20);  // each fall takes 0.45, up and down 0.89
  const study::Motion triangle = run_text(kTriangle);
  ASSERT_TRUE(triangle.outcome.certificate.ok());
  EXPECT_LT(energy_spread(triangle), 1e-12);
}

TEST(Schemes, DoNotDependOnTheOrderOfContactsOrCoordinates) {
  const std::string other = R"toml(
[system]
coordinates = ["y", "x"]
mass = [[1, 0.5], [0.5, 2]]
potential = "3*x + 10*y"
[contact.right]
keep = "y <= 2 - 2*x"
[contact.floor]
keep = "y >= 0"
[contact.left]
keep = "y <= 2*x + 2"
[start]
position = { x = 0.1, y = 1 }
velocity = { x = 3, y = 1 }
[run]
scheme = "elast"
step = 0.001
until = 2
)toml";
  for (const std::string scheme : {"billiard", "elast", "inel"}) {
    const std::vector<std::string> settings = {"run.scheme=" + scheme, "run.until=2"};
    const study::Motion a = run_text(kTriangle, settings);
    const study::Motion b = run_text(other, settings);
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
      EXPECT_NEAR(a.rows[i].q[0], b.rows[i].q[1], 1e-9) << scheme << " row " << i;
      EXPECT_NEAR(a.rows[i].q[1], b.rows[i].q[0], 1e-9) << scheme << " row " << i;
    }
  }
}

TEST(Schemes, DoNotDependOnLinearCoordinates) {
  // The triangle again in coordinates x = a + b, y = a - b: the same motion.
  const std::string turned = R"toml(
[system]
coordinates = ["a", "b"]
define = { x = "a + b", y = "a - b" }
kinetic = "(a' + b')^2 + 0.5*(a' + b')*(a' - b') + 0.5*(a' - b')^2"
potential = "3*x + 10*y"
[contact.floor]
keep = "y >= 0"
[contact.left]
keep = "y <= 2*x + 2"
[contact.right]
keep = "y <= 2 - 2*x"
[start]
position = { a = 0.55, b = -0.45 }
velocity = { a = 2, b = 1 }
[run]
scheme = "inel"
step = 0.001
until = 2
)toml";
  const study::Motion a = run_text(kTriangle, {"run.scheme=inel", "run.until=2"});
  const study::Motion b = run_text(turned);
  ASSERT_TRUE(b.outcome.certificate.ok());
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); i += 50) {
    EXPECT_NEAR(a.rows[i].q[0], b.rows[i].q[0] + b.rows[i].q[1], 1e-10);
    EXPECT_NEAR(a.rows[i].q[1], b.rows[i].q[0] - b.rows[i].q[1], 1e-10);
    EXPECT_NEAR(a.rows[i].energy(), b.rows[i].energy(), 1e-9);
  }
}

TEST(Schemes, TheLedgerClosesAndContactsTakeGiveOrKeepAsTheirSchemeDoes) {
  for (const std::string scheme : {"billiard", "elast", "inel"}) {
    const study::Motion motion = run_text(kTriangle, {"run.scheme=" + scheme, "run.until=3"});
    const certify::Ledger& ledger = motion.outcome.certificate.ledger;
    const double change = ledger.kinetic_end - ledger.kinetic_start;
    EXPECT_NEAR(change, ledger.forces.value() + ledger.contacts.value() + ledger.defect.value(),
                1e-12 * ledger.kinetic_max);
    EXPECT_LT(std::abs(ledger.defect.value()), 1e-12 * ledger.kinetic_max) << scheme;
    // forces that come from a potential do the work that the potential loses
    EXPECT_NEAR(ledger.forces.value(), ledger.potential_start - ledger.potential_end,
                1e-11 * ledger.kinetic_max)
        << scheme;
    const double work = ledger.contacts.value() / ledger.kinetic_max;
    EXPECT_TRUE(scheme == "inel"    ? work < -0.1
                : scheme == "elast" ? std::abs(work) < 1e-12
                                    : work > 1e-6)
        << scheme << " " << work;
  }
}

TEST(Schemes, AMovingWallPushesAsInItsOwnFrame) {
  // A floor that rises and falls, y >= sin(5 t)/10, and the same in the frame of the floor.
  const std::string laboratory = R"toml(
[system]
coordinates = ["y"]
mass = [1]
force = ["-9.81"]
[contact.floor]
keep = "y >= sin(5*t)/10"
[start]
position = { y = 1 }
[run]
scheme = "inel"
step = 0.0005
until = 3
)toml";
  const std::string frame = R"toml(
[system]
coordinates = ["z"]
mass = [1]
force = ["-9.81 + 2.5*sin(5*t)"]
[contact.floor]
keep = "z >= 0"
[start]
position = { z = 1 }
velocity = { z = -0.5 }
[run]
scheme = "inel"
step = 0.0005
until = 3
)toml";
  for (const std::string scheme : {"inel", "elast"}) {
    const study::Motion a = run_text(laboratory, {"run.scheme=" + scheme});
    const study::Motion b = run_text(frame, {"run.scheme=" + scheme});
    ASSERT_TRUE(a.outcome.certificate.ok()) << scheme;
    ASSERT_EQ(a.rows.size(), b.rows.size());
    EXPECT_GE(a.outcome.certificate.shock_counts[0], 1);
    for (std::size_t i = 0; i < a.rows.size(); i += 100) {
      // the frames may find an impact a step apart, at 4.4 + 0.5 m/s at most
      const double floor = std::sin(5.0 * a.rows[i].t) / 10.0;
      EXPECT_NEAR(a.rows[i].q[0] - floor, b.rows[i].q[0], 4.9 * 0.0005)
          << scheme << " " << a.rows[i].t;
    }
  }
}

TEST(Schemes, CorrectionPutsPositionsBackOnTheWall) {
  const study::Motion plain =
      run_text(study::builtin_scene("essai-05"), {"run.anticipation=0", "run.until=0.3"});
  const study::Motion mended =
      run_text(study::builtin_scene("essai-05"),
               {"run.anticipation=0", "run.until=0.3", "run.correction=project"});
  ASSERT_TRUE(mended.outcome.certificate.ok());
  EXPECT_GT(plain.outcome.certificate.violation_depth, 1.0);
  // what is left is the half step after the correction: (h u)^2 / 8 R for a circle
  EXPECT_LT(mended.outcome.certificate.violation_depth, 0.03);
  EXPECT_GT(plain.outcome.certificate.violation_depth,
            40.0 * mended.outcome.certificate.violation_depth);
}

TEST(Schemes, RestOnAWallForever) {
  const study::Motion motion =
      run_text(testing::kFloor,
               {"system.potential=9.81*y", "run.step=0.001", "run.steps=100000", "run.record=0"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.final_state.q[1], 0.0);
  EXPECT_EQ(motion.final_state.u[1], 0.0);
  EXPECT_EQ(motion.outcome.certificate.shock_counts[0], 0);
}

TEST(Schemes, DependentGradientsAreNoObstacle) {
  // The same floor three times, one of them scaled, and a wedge of three walls through one line.
  const study::Motion motion = run_text(R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 4]
potential = "9.81*y"
[contact.one]
keep = "y >= 0"
[contact.two]
keep = "3*y >= 0"
[contact.three]
keep = "y + x/10 >= 0"
[contact.four]
keep = "y - x/10 >= 0"
[start]
position = { x = 0.001, y = 1 }
[run]
scheme = "inel"
step = 0.001
until = 2
)toml");
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_FALSE(motion.outcome.certificate.impulses_unique);
  EXPECT_NEAR(motion.final_state.u.norm(), 0.0, 1e-12);
}

TEST(Simulate, RecordsEveryNthRowWithImpulsesSummed) {
  const study::Motion all = run_text(kTriangle, {"run.steps=1000"});
  const study::Motion some = run_text(kTriangle, {"run.steps=1000", "run.record=7"});
  const study::Motion ends = run_text(kTriangle, {"run.steps=1000", "run.record=0"});
  ASSERT_EQ(all.rows.size(), 1001U);
  ASSERT_EQ(some.rows.size(), 1U + 1000U / 7U + 1U);
  ASSERT_EQ(ends.rows.size(), 2U);
  EXPECT_EQ(some.rows[3].q, all.rows[21].q);
  double sum = 0.0;
  double summed = 0.0;
  double total = 0.0;
  for (const study::Row& row : all.rows) sum += row.impulses[0];
  for (const study::Row& row : some.rows) summed += row.impulses[0];
  for (const study::Row& row : ends.rows) total += row.impulses[0];
  EXPECT_GT(sum, 0.0);
  EXPECT_NEAR(summed, sum, 1e-12 * sum);
  EXPECT_NEAR(total, sum, 1e-12 * sum);
}

TEST(Simulate, EndsAtTheFirstStepTimeAtOrAfterUntil) {
  EXPECT_EQ(steps_until(0.0, 1.0, 0.1), 10);
  EXPECT_EQ(steps_until(0.0, 1.0, 0.3), 4);
  EXPECT_EQ(steps_until(0.0, 1.0 + 1e-8, 0.1), 10);
  EXPECT_EQ(steps_until(2.0, 3.0, 0.25), 4);
  EXPECT_EQ(steps_until(0.0, 0.0, 0.25), 0);
}

TEST(Simulate, StopsBetweenStepsWhenAsked) {
  const scene::Scene scene = scene::read_scene("t.toml", kTriangle);
  model::State<model::kDynamic> state = scene.start;
  Monitor monitor;
  RunSettings run = scene.run;
  run.steps = 1'000'000'000;
  const Outcome outcome = run_formula(
      *scene.system().model, scene.scheme, run, state,
      [&](const Sample& sample) {
        if (sample.step == 500) monitor.stop = true;
      },
      &monitor);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.steps, 500);
  EXPECT_TRUE(outcome.certificate.ok());
}

TEST(Simulate, AllocatesNothingAfterTheFirstStep) {
  std::string circle = study::builtin_scene("essai-04");
  circle.erase(circle.find("restitution = 1"), 15);  // so that all schemes can run it
  for (const std::string& text : {kTriangle, circle, kFall}) {
    for (const std::string scheme : {"billiard", "elast", "inel"}) {
      const scene::Scene scene = testing::read_text(
          text, {"run.steps=20000", "run.scheme=" + scheme, "run.correction=project"});
      model::State<model::kDynamic> state = scene.start;
      long long first = -1;
      long long last = -1;
      const Outcome outcome = run_formula(*scene.system().model, scene.scheme, scene.run, state,
                                          [&](const Sample& sample) {
                                            if (sample.step == 1) first = testing::allocations();
                                            if (sample.step == 20000) last = testing::allocations();
                                          });
      EXPECT_TRUE(outcome.certificate.ok()) << scheme;
      EXPECT_GT(first, 0);
      EXPECT_EQ(last, first) << scheme;
    }
  }
}

TEST(Simulate, IsDeterministic) {
  const study::Motion a = run_text(kTriangle, {"run.until=5"});
  const study::Motion b = run_text(kTriangle, {"run.until=5"});
  ASSERT_EQ(a.rows.size(), 5001U);
  ASSERT_EQ(b.rows.size(), a.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    ASSERT_EQ(a.rows[i].q, b.rows[i].q);
    ASSERT_EQ(a.rows[i].u, b.rows[i].u);
  }
}

TEST(Simulate, SizesKnownToTheCompilerChangeNothing) {
  // Two more coordinates, which nothing moves, select the instantiation for any size.
  const study::Motion a = run_text(study::builtin_scene("essai-04"));
  std::string text = study::builtin_scene("essai-04");
  text.replace(text.find("[\"x\", \"y\"]"), 10, "[\"x\", \"y\", \"c\", \"d\"]");
  text.replace(text.find("y'^2)"), 5, "y'^2 + c'^2 + d'^2)");
  text.replace(text.find("y = \"-R\" }"), 10, "y = \"-R\", c = 0, d = 0 }");
  text.replace(text.find("R\", y = 0 }"), 11, "R\", y = 0, c = 0, d = 0 }");
  const study::Motion b = run_text(text);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    ASSERT_EQ(a.rows[i].q[0], b.rows[i].q[0]);
    ASSERT_EQ(a.rows[i].q[1], b.rows[i].q[1]);
  }
}

/// Essai 4 as a C++ user writes it.
struct Pendulum {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 1;
  double gap(int, double, const Eigen::Vector2d& q) const { return 1600.0 - q.squaredNorm(); }
  Eigen::Vector2d gap_gradient(int, double, const Eigen::Vector2d& q) const { return -2.0 * q; }
  Eigen::Vector2d force(double, const Eigen::Vector2d&, const Eigen::Vector2d&) const {
    return {0.0, -1000.0};
  }
  double potential(double, const Eigen::Vector2d& q) const { return 1000.0 * q[1]; }
};

TEST(Simulate, ACppModelGivesTheMotionOfTheScene) {
  const study::Motion scene = run_text(study::builtin_scene("essai-04"));
  model::State<2> state{0.0, {0.0, -40.0}, {std::sqrt(200.0) * 40.0, 0.0}};
  const Outcome outcome = simulate(model::InlineModel<Pendulum>{Pendulum{}}, Elast{},
                                   {.step = 0.005, .steps = 200}, state, [](const Sample&) {});
  EXPECT_TRUE(outcome.certificate.ok());
  EXPECT_EQ(state.q[0], scene.final_state.q[0]);
  EXPECT_EQ(state.q[1], scene.final_state.q[1]);
}

TEST(Simulate, FailsWithTimeAndKeepsWhatWasBefore) {
  const study::Motion diverged = run_text(R"toml(
[system]
coordinates = ["x"]
mass = [1]
potential = "0.5*1e6*x^2"
[start]
position = { x = 1 }
[run]
scheme = "inel"
step = 0.01
until = 100
)toml");
  EXPECT_EQ(diverged.outcome.certificate.failure, certify::Failure::Diverged);
  EXPECT_EQ(diverged.rows.size(), static_cast<std::size_t>(diverged.outcome.steps) + 1U);
  EXPECT_EQ(diverged.rows.back().t, diverged.final_state.t);
  EXPECT_LT(diverged.rows.back().energy(), 10.0 * diverged.rows.front().energy());

  const study::Motion undefined = run_text(R"toml(
[system]
coordinates = ["x"]
mass = [1]
force = ["sqrt(1 - x)"]
[start]
position = { x = 0 }
velocity = { x = 1 }
[run]
scheme = "inel"
step = 0.01
until = 5
)toml");
  EXPECT_EQ(undefined.outcome.certificate.failure, certify::Failure::NotFinite);
  EXPECT_TRUE(std::isfinite(undefined.final_state.q[0]));

  const study::Motion flat = run_text(R"toml(
[system]
coordinates = ["x"]
mass = [1]
[contact.wall]
keep = "x^3 <= 0"
[start]
position = { x = -1 }
velocity = { x = 1 }
[run]
scheme = "inel"
anticipation = 0
step = 0.125
until = 5
)toml");  // the gap's gradient is zero on the wall itself
  EXPECT_EQ(flat.outcome.certificate.failure, certify::Failure::Derivative);

  const study::Motion closing = run_text(R"toml(
[system]
coordinates = ["x"]
mass = [1]
[contact.left]
keep = "x >= t"
[contact.right]
keep = "x <= 1 - t"
[start]
position = { x = 0.4 }
velocity = { x = 1 }
[run]
scheme = "inel"
step = 0.01
until = 2
)toml");
  EXPECT_EQ(closing.outcome.certificate.failure, certify::Failure::Infeasible);
  EXPECT_NEAR(closing.outcome.certificate.failure_time, 0.5, 0.03);
}

TEST(Simulate, DoesNotMistakeAFallForADivergence) {
  // V is zero at the start by choice of its origin, and so is T.
  for (const std::string potential : {"9.81*y", "-9.81*cos(y)", "9.81*(y + 5)"}) {
    const study::Motion motion =
        run_text(R"toml(
[system]
coordinates = ["y"]
mass = [1]
potential = "9.81*y"
[start]
position = { y = 0 }
[run]
scheme = "inel"
step = 0.01
until = 50
)toml",
                 {"system.potential=" + potential, "start.position.y=pi/2"});
    EXPECT_TRUE(motion.outcome.certificate.ok()) << potential;
  }
}

TEST(Simulate, CountsAdhesiveImpulses) {
  // A particle that leaves the floor while a force presses it on: J u > 0, J u' < 0.
  const study::Motion motion = run_text(R"toml(
[system]
coordinates = ["y"]
mass = [1]
force = ["-10"]
[contact.floor]
keep = "y >= 0"
[start]
position = { y = -0.001 }
velocity = { y = 0.08 }
tolerance = 0.01
[run]
scheme = "elast"
step = 0.01
steps = 1
)toml");
  EXPECT_EQ(motion.outcome.certificate.adhesive_count, 1);
  EXPECT_NEAR(motion.outcome.certificate.adhesive_max, 0.06, 1e-15);  // 2 u - h g
  EXPECT_TRUE(motion.outcome.certificate.ok());
}

}  // namespace
}  // namespace ricochet::step::step_test
