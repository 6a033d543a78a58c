// Friction in arcs from event to event: motions in closed form, and derivatives against
// differences.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "ricochet/base/random.h"
#include "ricochet/dynamics/lyapunov.h"
#include "ricochet/flow/flow.h"
#include "support.h"

namespace ricochet::flow::friction_arcs_test {
namespace {

using testing::read_text;

constexpr double kPi = std::numbers::pi;
const std::string kRun = "[run]\nscheme = \"moreau\"\nstep = 0.01\nuntil = 1\n";

Eigen::VectorXd vector(std::initializer_list<double> values) {
  Eigen::VectorXd v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

/// A mass on a spring on a belt of speed v; weight 1.
std::string belt(double v, const std::string& friction) {
  return fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"0.5*x^2 + y\"\n"
      "[contact.belt]\nkeep = \"y >= 0\"\nslip = [\"x' - {0}\"]\nfriction = {1}\n"
      "[start]\nposition = {{ x = 0.2, y = 0 }}\nvelocity = {{ x = {0}, y = 0 }}\n{2}",
      v, friction, kRun);
}

struct Cycle {
  double slip{0.0}, stick{0.0}, period{0.0};
  double end{0.0};  // x where the slip ends
};

/// The last whole cycle of a motion.
Cycle last_cycle(const std::string& text, double until) {
  const scene::Scene scene = read_text(text);
  Equations equations(*scene.formulas(), false, {});
  Flow flow(equations, {});
  flow.start(0.0, scene.start.q, scene.start.u);
  Cycle cycle;
  double last = 0.0, began = 0.0;
  while (flow.elapsed() < until) {
    const Event event = flow.advance(until - flow.elapsed());
    EXPECT_NE(event.kind, EventKind::Failure) << flow.failure();
    if (event.kind == EventKind::Failure) break;
    if (event.kind == EventKind::Stick) {
      cycle.slip = flow.elapsed() - last;
      cycle.end = flow.q()[0];
    }
    if (event.kind == EventKind::Slip) {
      cycle.stick = flow.elapsed() - last;
      cycle.period = flow.elapsed() - began;
      began = flow.elapsed();
    }
    if (event.kind == EventKind::Stick || event.kind == EventKind::Slip) last = flow.elapsed();
  }
  return cycle;
}

// exact: m = k = 1, static 1, dynamic 0.5, v = 0.2: it slips (2/w)(pi - atan(D w/v)), sticks 2 D/v
TEST(FrictionArcs, TheBelt) {
  const std::string text = belt(0.2, "{ static = 1, dynamic = 0.5 }");
  const Cycle cycle = last_cycle(text, 100.0);
  EXPECT_NEAR(cycle.slip, 2.0 * (kPi - std::atan(2.5)), 1e-9);
  EXPECT_NEAR(cycle.slip, 3.902605408, 1e-9);
  EXPECT_NEAR(cycle.stick, 5.0, 1e-9);
  // multipliers 1 and 0, and the wall forgets two more
  const dynamics::Lyapunov found =
      dynamics::lyapunov(read_text(text), {.until = 64.0 * 8.902605408, .settle = 50.0});
  ASSERT_EQ(found.exponents.size(), 1U) << found.failure << found.broken;
  EXPECT_NEAR(found.exponents[0], 0.0, 1e-8);
  EXPECT_EQ(found.lost, 3);
}

// computed independently: friction 1/(1 + 3 |slip|); at v = 1 the spring pulls too much to stick at
// once, and the mass is faster than the belt for 0.6245
TEST(FrictionArcs, TheBeltWithFrictionThatFalls) {
  const Cycle slow = last_cycle(belt(0.2, "\"1/(1 + 3*slip)\""), 100.0);
  EXPECT_NEAR(slow.slip, 4.2959995255, 1e-8);
  EXPECT_NEAR(slow.stick, 7.7050317694, 1e-8);
  EXPECT_NEAR(slow.end, -0.5410063539, 1e-8);
  for (const auto& [v, period] : {std::pair(0.5, 8.2827435227), {1.0, 7.0426870955}}) {
    const Cycle cycle = last_cycle(belt(v, "\"1/(1 + 3*slip)\""), 200.0);
    EXPECT_NEAR(cycle.period, period, 1e-8) << v;
  }
}

// theorem: the motion does not depend on the unit of a gap
TEST(FrictionArcs, AGapThatIsNoLength) {
  std::string text = belt(0.2, "{ static = 1, dynamic = 0.5 }");
  text.replace(text.find("y >= 0"), 6, "3*y*(2 + sin(x)) >= 0");
  text.insert(text.find("friction"), "normal = \"y'\"\n");
  const Cycle cycle = last_cycle(text, 100.0);
  EXPECT_NEAR(cycle.slip, 2.0 * (kPi - std::atan(2.5)), 1e-9);
  EXPECT_NEAR(cycle.stick, 5.0, 1e-9);
}

// exact [Den Hartog 1930]: x'' + x + 0.3 sgn x' = cos 0.4 t stops twice a period
TEST(FrictionArcs, DenHartogWithRest) {
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
      "force = [\"cos(0.4*t)\"]\nperiod = \"2*pi/0.4\"\n"
      "[friction.dry]\nslip = \"x'\"\nbound = 0.3\n[start]\nposition = { x = 0.5 }\n" +
      kRun);
  Equations equations(*scene.formulas(), false, {});
  Flow flow(equations, {.period = 5.0 * kPi});
  flow.start(0.0, scene.start.q, scene.start.u);
  double last = 0.0, place = 0.0, stuck = 0.0;
  while (flow.elapsed() < 3000.0) {
    const Event event = flow.advance(3000.0 - flow.elapsed());
    ASSERT_NE(event.kind, EventKind::Failure) << flow.failure();
    if (event.kind == EventKind::Slip) stuck = flow.elapsed() - last;
    if (event.kind == EventKind::Stick) last = flow.elapsed(), place = flow.q()[0];
  }
  EXPECT_NEAR(std::abs(place), 1.127623771, 1e-9);
  EXPECT_NEAR(stuck, 2.178268740, 1e-8);
}

/// The state after a time, and what happened.
Eigen::VectorXd flow_map(Flow& flow, const Eigen::VectorXd& y, double time, std::string& events) {
  const Eigen::Index n = y.size() / 2;
  flow.start(0.3, y.head(n), y.tail(n));
  events.clear();
  while (flow.elapsed() < time) {
    const Event event = flow.advance(time - flow.elapsed());
    EXPECT_NE(event.kind, EventKind::Failure) << flow.failure();
    if (event.kind == EventKind::Failure) break;
    for (const int state : flow.grips()) events += std::to_string(state);
    events += std::to_string(static_cast<int>(event.kind)) + " ";
  }
  Eigen::VectorXd end(y.size());
  end << flow.q(), flow.u();
  return end;
}

/// Derivatives along `directions` of random starts against differences of order 6.
void expect_derivatives(const std::string& text, const Eigen::VectorXd& middle, double spread,
                        const Eigen::MatrixXd& directions, double time, const std::string& wanted,
                        int count) {
  const scene::Scene scene = read_text(text);
  Equations plain(*scene.formulas(), false, {}), with(*scene.formulas(), true, {});
  Flow flow(plain, {}), varied(with, {});
  varied.keep_columns(true);
  base::Random random(5);
  int seen = 0;
  for (int trial = 0; trial < 400 && seen < count; ++trial) {
    Eigen::VectorXd y = middle;
    for (Eigen::Index k = 0; k < directions.cols(); ++k) {
      y += spread * random.uniform(-1.0, 1.0) * directions.col(k);
    }
    std::string events, others;
    (void)flow_map(flow, y, time, events);
    bool same = events.find(wanted) != std::string::npos;
    Eigen::MatrixXd differences(y.size(), directions.cols());
    for (Eigen::Index k = 0; k < directions.cols() && same; ++k) {
      constexpr double kStep = 1e-4;
      differences.col(k).setZero();
      for (const auto& [part, weight] : {std::pair(1.0, 0.75), {2.0, -0.15}, {3.0, 1.0 / 60.0}}) {
        for (const double sign : {1.0, -1.0}) {
          differences.col(k) +=
              sign * weight / kStep *
              flow_map(flow, y + sign * part * kStep * directions.col(k), time, others);
          same = same && others == events;
        }
      }
    }
    if (!same) continue;
    const Eigen::Index n = y.size() / 2;
    varied.start(0.3, y.head(n), y.tail(n));
    varied.set_columns(directions);
    while (varied.elapsed() < time) {
      ASSERT_NE(varied.advance(time - varied.elapsed()).kind, EventKind::Failure);
    }
    varied.orthonormalise();
    EXPECT_LT((varied.columns() - differences).cwiseAbs().maxCoeff(),
              1e-7 * (1.0 + differences.cwiseAbs().maxCoeff()))
        << trial << " " << events << "\n"
        << varied.columns() << "\n\n"
        << differences;
    ++seen;
  }
  EXPECT_EQ(seen, count) << wanted;
}

// theorem: S = I + (f+ - f-) h_y/(dh/dt), where slip ends and begins
TEST(FrictionArcs, SaltationIsTheDerivativeOfStickAndSlip) {
  Eigen::MatrixXd along = Eigen::MatrixXd::Zero(4, 2);  // in the wall
  along(0, 0) = along(2, 1) = 1.0;
  // slips, sticks, slips again, the force of the spring growing on the belt
  expect_derivatives(belt(0.4, "{ static = 0.6, dynamic = 0.4 }"), vector({0.9, 0.0, 0.1, 0.0}),
                     0.2, along, 6.0, "04 ", 15);
  // turns round without rest
  expect_derivatives(
      "[system]\ncoordinates = [\"x\"]\nmass = [2]\npotential = \"4*x^2 + 0.3*x^4\"\n"
      "force = [\"cos(3*t)\"]\n[friction.dry]\nslip = \"x'\"\nbound = \"0.5 + 0.1*x^2\"\n"
      "[start]\nposition = { x = 1 }\n" +
          kRun,
      vector({2.0, 0.5}), 0.3, Eigen::MatrixXd::Identity(2, 2), 1.5, "14 ", 15);
}

// a disc thrown on a rough table: it grips, or slips, in the impact
TEST(FrictionArcs, SaltationIsTheDerivativeOfImpactsWithFriction) {
  const std::string text =
      "[system]\ncoordinates = [\"x\", \"y\", \"a\"]\nmass = [1, 1, 0.02]\npotential = \"5*y\"\n"
      "[contact.table]\nkeep = \"y >= 0.2 + 0.1*sin(x)\"\nslip = [\"x' + 0.2*a'\"]\n"
      "friction = 0.2\nrestitution = 0.7\n"
      "[start]\nposition = { x = 0, y = 1, a = 0 }\n" +
      kRun;
  for (const double spin : {0.0, -9.5}) {  // slips; grips
    expect_derivatives(text, vector({0.0, 0.6, 0.0, 2.0, -2.0, spin}), 0.05,
                       Eigen::MatrixXd::Identity(6, 6), 0.4, "1", 10);
  }
}

}  // namespace
}  // namespace ricochet::flow::friction_arcs_test
