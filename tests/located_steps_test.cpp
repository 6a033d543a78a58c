// Schemes that locate impacts inside steps of fixed length: affine velocities [Moreau 1986, par.
// 6], and pieces that conserve T + V.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::located_steps_test {
namespace {

using study::Motion;
using study::Row;
using testing::run_text;

const char* const kSchemes[] = {"affine", "conserving"};

std::string scheme(const char* name) { return fmt::format("run.scheme={}", name); }
std::string step(double h) { return fmt::format("run.step={}", h); }

/// A ball over a floor in a potential that is not quadratic.
const std::string kAnharmonic = study::builtin_scene("anharmonic-ball");
/// A spring pendulum in polar coordinates against a wall: M(q) = diag(1, r^2).
const std::string kPendulum = study::builtin_scene("pendulum-wall");

/// A bead on a hill that is no quadric: it slides, flies and lands.
const std::string kHill = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "9.81*y"
[contact.hill]
keep        = "y >= 0.3*x^2*exp(-x^2)"
restitution = 0
[start]
position = { x = -1, y = "0.3*exp(-1)" }
velocity = { x = 1, y = 0 }
[run]
scheme = "conserving"
step   = 0.01
until  = 3
)toml";

/// Order by halving the step, of positions at all rows and of velocities at the end, against arcs
/// of event location, which are exact to 1e-12.
void expect_order_two(const std::string& text, const char* name, double h,
                      const std::vector<std::string>& settings = {}) {
  const auto run = [&](const char* by, double length, const std::vector<std::string>& more) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {scheme(by), step(length), "run.record=1"});
    return run_text(text, all);
  };
  const Motion reference = run("event-driven", h, {"run.accuracy=1e-13", "run.zeno=contact"});
  ASSERT_TRUE(reference.outcome.certificate.ok());
  std::array<double, 2> q{}, u{};
  for (const std::size_t k : {0u, 1u}) {
    const Motion motion = run(name, h / static_cast<double>(k + 1), {});
    ASSERT_TRUE(motion.outcome.certificate.ok()) << name;
    ASSERT_GT(motion.outcome.certificate.shocks.size(), 1u);
    ASSERT_EQ(motion.rows.size() - 1, (k + 1) * (reference.rows.size() - 1));
    for (std::size_t i = 0; i < reference.rows.size(); ++i) {
      for (std::size_t j = 0; j < reference.rows[i].q.size(); ++j) {
        const double off = motion.rows[(k + 1) * i].q[j] - reference.rows[i].q[j];
        q[k] = std::max(q[k], std::abs(off));
      }
    }
    u[k] = (motion.final_state.u - reference.final_state.u).norm();
  }
  EXPECT_NEAR(std::log2(q[0] / q[1]), 2.0, 0.15) << name;
  EXPECT_NEAR(std::log2(u[0] / u[1]), 2.0, 0.15) << name;
}

// converged: order 2 in q and u across impacts, on three scenes.
TEST(LocatedSteps, AreOfSecondOrderAcrossImpacts) {
  for (const char* name : kSchemes) {
    expect_order_two(kAnharmonic, name, 0.01);
    expect_order_two(study::builtin_scene("impact-oscillator"), name, 0.0125, {"run.until=40"});
    expect_order_two(kPendulum, name, 0.0025);
  }
}

// The same through a chatter that ends in a contact that lasts, two bodies and three walls.
TEST(LocatedSteps, AreOfSecondOrderThroughAccumulations) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 3]
potential   = "9.81*y + 50*(x - y)^2"
[contact.floor]
keep        = "y >= 0"
restitution = 0.6
[contact.roof]
keep        = "x <= 1.2"
restitution = 0.9
[contact.stop]
keep        = "x >= y - 0.3"
restitution = 0.3
[start]
position = { x = 1, y = 1 }
velocity = { x = 3, y = -1 }
[run]
scheme = "affine"
step   = 0.001
until  = 5
)toml";
  for (const char* name : kSchemes) {
    const auto end = [&](const char* by, double h, const std::vector<std::string>& more) {
      std::vector<std::string> all = {scheme(by), step(h)};
      all.insert(all.end(), more.begin(), more.end());
      const Motion motion = run_text(text, all);
      EXPECT_TRUE(motion.outcome.certificate.ok()) << by;
      EXPECT_GE(motion.outcome.certificate.zeno_count, 1) << by;
      Eigen::Vector4d state;
      state << motion.final_state.q, motion.final_state.u;
      return state;
    };
    const Eigen::Vector4d exact =
        end("event-driven", 0.01, {"run.accuracy=1e-12", "run.zeno=contact"});
    const double coarse = (end(name, 0.0005, {}) - exact).norm();
    const double fine = (end(name, 0.00025, {}) - exact).norm();
    EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.2) << name;
  }
}

// exact: the parabolas of a constant force and the bounces between them, at steps that know nothing
// of the impacts.
TEST(LocatedSteps, AreExactForConstantForcesThroughImpacts) {
  const double g = 9.81, e = 0.7, t1 = std::sqrt(2.0 / g), v = g * t1;
  const double t2 = t1 + 2.0 * e * v / g, t3 = t2 + 2.0 * e * e * v / g;
  for (const char* name : kSchemes) {
    for (const double h : {0.4, 0.16, 0.01}) {
      const Motion motion =
          run_text(study::builtin_scene("dropped-ball"), {scheme(name), step(h), "run.record=1"});
      ASSERT_TRUE(motion.outcome.certificate.ok());
      for (const Row& row : motion.rows) {
        const double t = row.t;
        const double from = t < t1 ? 0.0 : t < t2 ? t1 : t < t3 ? t2 : t3;
        const double up = t < t1 ? 0.0 : t < t2 ? e * v : t < t3 ? e * e * v : e * e * e * v;
        const double x = (t < t1 ? 1.0 : 0.0) + up * (t - from) - 0.5 * g * (t - from) * (t - from);
        EXPECT_NEAR(row.q[0], x, 1e-12) << name << " " << t;
        EXPECT_NEAR(row.u[0], up - g * (t - from), 1e-12) << name << " " << t;
      }
    }
  }
}

// exact: a particle thrown at a wall that leans, n = (-3, 4)/5; what is along the wall is kept, and
// e of what is across comes back.
TEST(LocatedSteps, ReflectFromALeaningWall) {
  for (const char* name : kSchemes) {
    const Motion motion = run_text(R"toml(
[system]
coordinates = ["x", "y"]
mass        = [2, 2]
potential   = "8*y"
[contact.wall]
keep        = "4*y - 3*x >= 0"
restitution = 0.5
[start]
position = { x = 0, y = 2 }
velocity = { x = 3, y = 1 }
[run]
scheme = "affine"
step   = 0.3
until  = 0.9
)toml",
                                   {scheme(name)});
    ASSERT_TRUE(motion.outcome.certificate.ok());
    // 4(2 + t - 2t^2) = 9t: 8t^2 + 5t - 8 = 0.
    const double t = (-5.0 + std::sqrt(25.0 + 256.0)) / 16.0, left = 0.9 - t;
    const Eigen::Vector2d n(-0.6, 0.8), a(0.0, -4.0), before(3.0, 1.0 - 4.0 * t);
    const Eigen::Vector2d after = before - 1.5 * n.dot(before) * n;
    const Eigen::Vector2d at(3.0 * t, 2.0 + t - 2.0 * t * t);
    EXPECT_LT((motion.final_state.u - (after + left * a)).norm(), 1e-13);
    EXPECT_LT((motion.final_state.q - (at + left * after + 0.5 * left * left * a)).norm(), 1e-13);
  }
}

// Between its nodes a step function is of order 1 [Moreau 1986, par. 6]; affine velocities are of
// order 2, and their primitive too.
TEST(LocatedSteps, AffineVelocitiesAreOfSecondOrderBetweenTheNodes) {
  const auto errors = [](double h) {
    const Motion motion = run_text(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "0.5*x^2"
[start]
position = { x = 1 }
[run]
scheme = "affine"
step   = 0.1
until  = 6
)toml",
                                   {step(h)});
    std::pair<double, double> most{0.0, 0.0};  // of u_app, of q_app
    for (std::size_t i = 1; i < motion.rows.size(); ++i) {
      const Row& row = motion.rows[i - 1];
      const double a = (motion.rows[i].u[0] - row.u[0]) / h;
      for (const double part : {0.0, 0.25, 0.5, 0.75}) {
        const double s = part * h, t = row.t + s;
        most.first = std::max(most.first, std::abs(row.u[0] + s * a + std::sin(t)));
        most.second = std::max(most.second,
                               std::abs(row.q[0] + s * row.u[0] + 0.5 * s * s * a - std::cos(t)));
      }
    }
    return most;
  };
  const auto coarse = errors(0.02), fine = errors(0.01);
  EXPECT_NEAR(std::log2(coarse.first / fine.first), 2.0, 0.05);
  EXPECT_NEAR(std::log2(coarse.second / fine.second), 2.0, 0.05);
}

// Roundoff: the change of T + V is what impacts take, at every row, however coarse the step.
TEST(Conserving, LosesAtImpactsAloneAndCreatesNothing) {
  for (const std::string* text : {&kAnharmonic, &kPendulum, &kHill}) {
    for (const double h : {0.05, 0.01, 0.0025}) {
      const Motion motion = run_text(*text, {scheme("conserving"), step(h), "run.record=1"});
      const certify::Ledger& ledger = motion.outcome.certificate.ledger;
      ASSERT_TRUE(motion.outcome.certificate.ok()) << h;
      const double start = ledger.kinetic_start + ledger.potential_start;
      const double size = std::abs(start) + ledger.kinetic_max;
      EXPECT_NEAR(ledger.kinetic_end + ledger.potential_end, start + ledger.contacts.value(),
                  1e-11 * size);
      EXPECT_LE(ledger.contacts.value(), 1e-13 * size);
      double last = start;
      for (const Row& row : motion.rows) {
        EXPECT_LE(row.kinetic + row.potential, last + 1e-12 * size) << h << " " << row.t;
        last = row.kinetic + row.potential;
      }
    }
  }
}

// What an impact takes is (1 - e)/(1 + e) of half the square of the jump in the kinetic metric, and
// with e = 1 nothing: over hundreds of bounces.
TEST(Conserving, KeepsTheEnergyOfElasticBounces) {
  const Motion motion =
      run_text(kAnharmonic, {scheme("conserving"), "contact.floor.restitution=1", "run.step=0.05",
                             "run.until=2000", "run.record=100"});
  const certify::Certificate& c = motion.outcome.certificate;
  ASSERT_TRUE(c.ok());
  EXPECT_GT(c.shock_counts[0], 700);
  EXPECT_NEAR(c.ledger.highest, c.ledger.lowest, 1e-9 * c.ledger.highest);
}

// The same scene at the same coarse step: forces at the middle give and take energy, of second
// order.
TEST(Affine, HasEnergyErrorsOfSecondOrder) {
  const auto spread = [](double h) {
    const Motion motion =
        run_text(kAnharmonic, {scheme("affine"), "contact.floor.restitution=1", step(h)});
    return motion.outcome.certificate.ledger.highest - motion.outcome.certificate.ledger.lowest;
  };
  EXPECT_GT(spread(0.04), 1e-5);
  EXPECT_NEAR(std::log2(spread(0.04) / spread(0.02)), 2.0, 0.3);
}

// Along a wall that is no quadric the gap stays where it was, to rounding, and energy with it.
TEST(LocatedSteps, FollowCurvedWallsWithoutDrift) {
  for (const char* name : kSchemes) {
    const Motion motion = run_text(kHill, {scheme(name), "run.until=0.8", "run.record=1"});
    ASSERT_TRUE(motion.outcome.certificate.ok());
    for (const Row& row : motion.rows) EXPECT_NEAR(row.gaps[0], 0.0, 1e-13) << name;
    EXPECT_NEAR(motion.outcome.certificate.ledger.contacts.value(), 0.0, 1e-13);
  }
}

// exact: infinitely many bounces end at sqrt(2H/g)(1 + e)/(1 - e); a contact rests once all further
// impacts fall within a step, so by no more than a step too early.
TEST(LocatedSteps, ComeToRestWhereImpactsAccumulate) {
  for (const char* name : kSchemes) {
    for (const double e : {0.3, 0.5, 0.8, 0.95}) {
      const double h = 0.01, end = std::sqrt(2.0 / 9.81) * (1.0 + e) / (1.0 - e);
      const Motion motion =
          run_text(study::builtin_scene("zeno"),
                   {fmt::format("e={}", e), scheme(name), step(h), "run.until=20", "run.record=1"});
      const certify::Certificate& c = motion.outcome.certificate;
      ASSERT_TRUE(c.ok()) << name << " " << e;
      EXPECT_EQ(c.zeno_count, 1);
      double last = 0.0;  // row with a velocity
      for (const Row& row : motion.rows) {
        if (std::abs(row.u[0]) > 0.0) last = row.t;
      }
      EXPECT_LE(last, end + 1e-9);
      EXPECT_GE(last, end - 2.0 * h) << name << " " << e;
      EXPECT_NEAR(motion.rows.back().q[0], 0.0, 1e-13);
    }
  }
}

// Elastic bounces never rest, however low they are.
TEST(LocatedSteps, ElasticBouncesGoOn) {
  for (const char* name : kSchemes) {
    const Motion motion = run_text(study::builtin_scene("dropped-ball"),
                                   {scheme(name), "e=1", "H=1e-4", "run.step=0.1", "run.until=2"});
    const certify::Certificate& c = motion.outcome.certificate;
    ASSERT_TRUE(c.ok()) << name;
    EXPECT_EQ(c.zeno_count, 0);
    // One impact every 2 sqrt(2H/g).
    const double bounces = 2.0 / (2.0 * std::sqrt(2.0 * 1e-4 / 9.81));
    EXPECT_NEAR(static_cast<double>(c.shock_counts[0]), bounces, 1.0);
    EXPECT_NEAR(c.ledger.kinetic_end + c.ledger.potential_end, 9.81e-4, 1e-14);
  }
}

// Joints are kept by mean gradients: no drift, no work.
TEST(LocatedSteps, KeepJoints) {
  for (const char* name : kSchemes) {
    const Motion motion = run_text(study::builtin_scene("slider-crank"),
                                   {scheme(name), "run.step=0.005", "run.until=1"});
    const certify::Certificate& c = motion.outcome.certificate;
    ASSERT_TRUE(c.ok()) << name;
    EXPECT_LT(c.joint_max, 1e-12);
    EXPECT_GT(c.shocks.size(), 1u);
  }
}

TEST(LocatedSteps, RefuseFriction) {
  for (const char* name : kSchemes) {
    try {
      (void)run_text(study::builtin_scene("belt"), {scheme(name)});
      FAIL() << name;
    } catch (const base::InputError& error) {
      EXPECT_NE(std::string(error.what()).find("has no friction"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ricochet::located_steps_test
