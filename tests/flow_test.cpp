// Arcs as Taylor series, events on them, and their derivatives against differences.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/base/random.h"
#include "ricochet/flow/flow.h"
#include "ricochet/formula/lower.h"
#include "ricochet/formula/roots.h"
#include "support.h"

namespace ricochet::flow::flow_test {
namespace {

using testing::read_text;

constexpr double kPi = std::numbers::pi;

std::string scene_text(const std::string& system, const std::string& contacts,
                       const std::string& position, const std::string& velocity) {
  return fmt::format(
      "[system]\n{}\n{}\n[start]\nposition = {{ {} }}\nvelocity = {{ {} }}\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.1\nuntil = 1\n",
      system, contacts, position, velocity);
}

// exact: the series of a function of t is the function
TEST(Flow, SeriesAreThoseOfTheFunctions) {
  formula::Graph graph;
  formula::Scope scope;
  scope.define("t", graph.input(0));
  scope.define("x", graph.input(1));  // x = cos t, y = sin t
  scope.define("y", graph.input(2));
  std::vector<formula::NodeId> nodes;
  for (const char* text :
       {"sin(3*t)*cos(t)", "tan(0.5*t)", "exp(-t)/(1 + t^2)", "log(2 + x)", "sqrt(2 + y*x)",
        "atan(2*t)", "asin(0.5*x)", "acos(0.5*x)", "sinh(t) - cosh(y)", "tanh(2*x)",
        "atan2(y, x + 2)", "hypot(x, 2)", "(2 + x)^1.7", "(2 + x)^(1 + y)", "abs(x - 2)",
        "if(x > -2, x*y, 0)", "max(x, -3) + min(y, t + 5)", "sign(x + 2)*y"}) {
    nodes.push_back(formula::lower(formula::parse(text), scope, graph, {}));
  }
  const formula::NodeId minus_y = graph.negate(graph.input(2));
  const formula::Jet jet(graph, 3, {{0, graph.constant(1.0)}, {1, minus_y}, {2, graph.input(1)}},
                         nodes);
  for (const double t : {0.3, -0.4, 0.7}) {
    std::vector<double> rows = jet.coefficients();
    rows[0] = t;
    rows[formula::Jet::kStride] = std::cos(t);
    rows[2 * formula::Jet::kStride] = std::sin(t);
    std::vector<signed char> sides(jet.switches().size(), 1);
    for (int round = 0; round < 2; ++round) {
      jet.expand(rows.data(), sides.data());
      for (std::size_t s = 0; s < sides.size(); ++s) {
        sides[s] = rows[jet.switches()[s] * formula::Jet::kStride] < 0.0 ? -1 : 1;
      }
    }
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      for (const double s : {-0.1, 0.05, 0.12}) {
        const double exact = graph.evaluate(nodes[k], {t + s, std::cos(t + s), std::sin(t + s)});
        const double* const row = formula::Jet::row(rows.data(), jet.row(k));
        EXPECT_NEAR(formula::Jet::value(row, s), exact, 2e-14) << k << " " << t << " " << s;
      }
    }
  }
}

// exact: the first zero of a product of known factors
TEST(Flow, TheFirstZeroIsFoundHoweverNearTheNext) {
  base::Random random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> row(formula::Jet::kStride, 0.0);
    row[0] = 1.0;
    std::vector<double> zeros;
    const int count = 1 + random.below(8);
    for (int k = 0; k < count; ++k) zeros.push_back(random.uniform(-0.5, 1.5));
    const double close = std::pow(10.0, random.uniform(-5.0, -1.0));
    zeros.push_back(zeros[0] + close);
    for (const double zero : zeros) {  // times (s - zero)
      for (int k = formula::Jet::kOrder; k > 0; --k) {
        row[static_cast<std::size_t>(k)] =
            row[static_cast<std::size_t>(k - 1)] - zero * row[static_cast<std::size_t>(k)];
      }
      row[0] *= -zero;
    }
    std::sort(zeros.begin(), zeros.end());
    double expected = -1.0;  // where it falls: an odd number of zeros lies to the right
    for (std::size_t k = 0; k < zeros.size(); ++k) {
      const bool falls = (zeros.size() - k) % 2 == 0;
      if (zeros[k] > 0.0 && zeros[k] <= 1.0 && falls && expected < 0.0) expected = zeros[k];
    }
    double least = 1.0;  // distance of neighbours: what rounding does to a zero
    for (std::size_t k = 1; k < zeros.size(); ++k) least = std::min(least, zeros[k] - zeros[k - 1]);
    if (least < 1e-5 || std::abs(expected - 1.0) < 1e-5 || std::abs(expected) < 1e-5) continue;
    const std::optional<double> found =
        formula::first_fall(row.data(), formula::Jet::kOrder, 0, 1.0);
    ASSERT_EQ(found.has_value(), expected > 0.0) << trial;
    if (found) {
      EXPECT_NEAR(*found, expected, 0.3 * least) << trial;
    }
  }
}

/// The state after a time, from this one.
Eigen::VectorXd flow_map(Flow& flow, double t, const Eigen::VectorXd& y, double time,
                         int& impacts) {
  const Eigen::Index n = y.size() / 2;
  flow.start(t, y.head(n), y.tail(n));
  impacts = 0;
  while (flow.elapsed() < time) {
    const Event event = flow.advance(time - flow.elapsed());
    EXPECT_NE(event.kind, EventKind::Failure) << flow.failure();
    if (event.kind == EventKind::Failure) break;
    if (event.kind == EventKind::Impact) ++impacts;
  }
  Eigen::VectorXd end(y.size());
  end << flow.q(), flow.u();
  return end;
}

/// Derivatives of the map of random starts, across impacts, against central differences.
void expect_derivatives(const std::string& text, const Eigen::VectorXd& lowest,
                        const Eigen::VectorXd& highest, double time, double determinant,
                        int wanted) {
  const scene::Scene scene = read_text(text);
  Equations plain(*scene.formulas(), false, {}), with(*scene.formulas(), true, {});
  Flow flow(plain, {}), varied(with, {});
  base::Random random(3);
  int seen = 0;
  for (int trial = 0; trial < 400 && seen < wanted; ++trial) {
    Eigen::VectorXd y(lowest.size());
    for (Eigen::Index i = 0; i < y.size(); ++i) y[i] = random.uniform(lowest[i], highest[i]);
    const double t = random.uniform(0.0, 3.0);
    int impacts = 0;
    const Eigen::VectorXd end = flow_map(flow, t, y, time, impacts);
    if (impacts != 1 || std::abs(flow.elapsed() - time) > 1e-12) continue;
    Eigen::MatrixXd differences(y.size(), y.size());
    bool same = true;
    double speed = 0.0;
    for (Eigen::Index i = 0; i < y.size(); ++i) {
      constexpr double kStep = 1e-4;
      Eigen::VectorXd sums = Eigen::VectorXd::Zero(y.size());
      for (const auto& [part, weight] :  // of order 6
           {std::pair(1.0, 0.75), {2.0, -0.15}, {3.0, 1.0 / 60.0}}) {
        for (const double sign : {1.0, -1.0}) {
          Eigen::VectorXd shifted = y;
          shifted[i] += sign * part * kStep;
          int others = 0;
          sums += sign * weight * flow_map(flow, t, shifted, time, others);
          same = same && others == 1;
        }
      }
      differences.col(i) = sums / kStep;
    }
    if (!same) continue;
    varied.keep_columns(true);
    varied.start(t, y.head(y.size() / 2), y.tail(y.size() / 2));
    while (varied.elapsed() < time) {
      const Event event = varied.advance(time - varied.elapsed());
      if (event.kind == EventKind::Impact) speed = event.approach;
      ASSERT_NE(event.kind, EventKind::Failure) << varied.failure();
    }
    varied.orthonormalise();    // ends the arc; the columns were kept until here
    if (speed < 0.3) continue;  // differences need many steps from grazing
    const Eigen::MatrixXd exact = varied.columns();
    EXPECT_LT((exact - differences).cwiseAbs().maxCoeff(),
              1e-7 * (1.0 + differences.cwiseAbs().maxCoeff()))
        << trial << " at speed " << speed;
    if (determinant > 0.0) {
      EXPECT_NEAR(varied.saltation().determinant(), determinant, 1e-9) << trial;
    }
    ++seen;
  }
  EXPECT_EQ(seen, wanted);
}

Eigen::VectorXd vector(std::initializer_list<double> values) {
  Eigen::VectorXd v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

// theorem: S = R_y + (f+ - R_y f- - R_t) h_y / (dh/dt)-; det S = e^2
TEST(Flow, SaltationIsTheDerivativeForAConstantMass) {
  expect_derivatives(scene_text("coordinates = [\"x\", \"y\"]\nmass = [[2, 0.5], [0.5, 1]]\n"
                                "potential = \"x^2 + 0.3*x*y^2 + 4*y\"\ndamping = \"0.1*x'^2\"\n"
                                "force = [\"cos(2*t)\", \"0\"]",
                                "[contact.hill]\nkeep = \"y >= 0.4*sin(2*x)\"\nrestitution = 0.7\n",
                                "x = 0, y = 2", "x = 0, y = 0"),
                     vector({-1.0, 0.6, -1.0, -2.0}), vector({1.0, 1.2, 1.0, -0.5}), 0.5, 0.49, 20);
}

TEST(Flow, SaltationIsTheDerivativeForAMassThatVaries) {
  expect_derivatives(
      scene_text("coordinates = [\"a\", \"b\"]\n"
                 "kinetic = \"0.5*(2*a'^2 + b'^2 + 2*a'*b'*cos(a - b))\"\n"
                 "potential = \"-9.81*(2*cos(a) + cos(b))\"",
                 "[contact.wall]\nkeep = \"sin(a) + sin(b) <= 1\"\nrestitution = 0.6\n",
                 "a = 0, b = 0", "a = 0, b = 0"),
      vector({-0.1, -0.1, 1.0, 1.0}), vector({0.4, 0.4, 3.0, 3.0}), 0.4, 0.36, 20);
}

TEST(Flow, SaltationIsTheDerivativeForAMovingWall) {
  expect_derivatives(
      scene_text(
          "coordinates = [\"x\", \"z\"]\nmass = [1, 1.5]\npotential = \"3*z + 0.5*x^2\"",
          "[contact.table]\nkeep = \"z >= 0.3*sin(3*t) + 0.1*x*cos(t)\"\nrestitution = 0.5\n",
          "x = 0, z = 2", "x = 0, z = 0"),
      vector({-1.0, 0.6, -1.0, -3.0}), vector({1.0, 1.2, 1.0, -1.0}), 0.6, 0.25, 20);
}

// e = e(v): det S = e (e + v e'), which changes from impact to impact
TEST(Flow, SaltationIsTheDerivativeWhereRestitutionIsAFormula) {
  expect_derivatives(scene_text("coordinates = [\"x\", \"z\"]\nmass = [1, 1]\npotential = \"z\"",
                                "[contact.floor]\nkeep = \"z >= 0.2*x^2\"\n"
                                "restitution = \"0.9*exp(-0.3*approach) + 0.05*sin(t)*cos(x)\"\n",
                                "x = 0, z = 2", "x = 0, z = 0"),
                     vector({-1.0, 0.6, -1.0, -3.0}), vector({1.0, 1.2, 1.0, -1.0}), 0.6, -1.0, 20);
}

// Filippov: where a force changes by sign, S = I + (f+ - f-) h_y / (dh/dt)
TEST(Flow, SwitchesAreMetAndHaveTheirDerivative) {
  const scene::Scene scene =
      read_text(scene_text("coordinates = [\"x\"]\nmass = [1]\n"
                           "force = [\"-2*sign(x - 0.3) - 0.5*max(0, x') - abs(x)\"]",
                           "", "x = 0", "x = 0"));
  Equations plain(*scene.formulas(), false, {}), with(*scene.formulas(), true, {});
  Flow flow(plain, {}), varied(with, {});
  varied.keep_columns(true);
  for (const double start : {0.8, 1.1, 2.3}) {
    const Eigen::VectorXd y = vector({start, -0.4});
    constexpr double kTime = 2.6;
    Eigen::MatrixXd differences(2, 2);
    int none = 0;
    for (int i = 0; i < 2; ++i) {
      constexpr double kStep = 1e-5;
      const Eigen::VectorXd unit = kStep * Eigen::VectorXd::Unit(2, i);
      differences.col(i) = (flow_map(flow, 0.0, y + unit, kTime, none) -
                            flow_map(flow, 0.0, y - unit, kTime, none)) /
                           (2.0 * kStep);
    }
    flow_map(varied, 0.0, y, kTime, none);
    varied.orthonormalise();
    EXPECT_LT((varied.columns() - differences).cwiseAbs().maxCoeff(), 1e-7) << start;
    EXPECT_NEAR(std::log(std::abs(differences.determinant())),
                varied.trace() + varied.log_determinants(), 1e-7)
        << start;
  }
}

// exact: x'' + x = cos t/2, x <= 0, e = 0.3 [case of a complete chatter]: released at t/2 = pi/2,
// first impact half a period later at speed 4/3, the second at 0.642549479296 periods at 0.65
TEST(Flow, ChatterEndsInContactAndAllVariationsDie) {
  const scene::Scene scene = read_text(
      scene_text("coordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
                 "force = [\"cos(0.5*t)\"]",
                 "[contact.stop]\nkeep = \"x <= 0\"\nrestitution = 0.3\n", "x = 0", "x = 0"));
  Equations equations(*scene.formulas(), true, {});
  Flow flow(equations, {.period = 4.0 * kPi});
  flow.start(0.0, vector({0.0}), vector({0.0}));
  EXPECT_EQ(flow.held(), Rows{0});
  Event event = flow.advance(100.0);
  ASSERT_EQ(event.kind, EventKind::Release);
  EXPECT_NEAR(flow.t(), kPi, 1e-9);
  event = flow.advance(100.0);
  ASSERT_EQ(event.kind, EventKind::Impact);
  EXPECT_NEAR(flow.t(), kPi + 2.0 * kPi, 1e-9);
  EXPECT_NEAR(event.approach, 4.0 / 3.0, 1e-9);
  event = flow.advance(100.0);
  EXPECT_NEAR((flow.elapsed() - kPi) / (4.0 * kPi), 0.642549479296, 1e-9);
  EXPECT_NEAR(event.approach, 0.65, 5e-3);
  while (event.kind == EventKind::Impact) event = flow.advance(100.0);
  ASSERT_EQ(event.kind, EventKind::Rest);
  EXPECT_NEAR((flow.elapsed() - kPi) / (4.0 * kPi), 0.69467381715, 1e-9);
  EXPECT_EQ(flow.columns().cols(), 0);
  EXPECT_EQ(flow.advance(100.0).kind, EventKind::Release);
  EXPECT_NEAR(flow.elapsed(), kPi + 4.0 * kPi, 1e-8);
}

// A particle slides down a parabola y >= x^2/2 without bouncing: the constrained flow against a
// reduced one, x'' (1 + x^2) = -x x'^2 - g x, and derivatives of rank two.
TEST(Flow, LastingContactMovesOnTheWall) {
  const scene::Scene scene =
      read_text(scene_text("coordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"2*y\"",
                           "[contact.bowl]\nkeep = \"y >= 0.5*x^2\"\nrestitution = 0\n",
                           "x = 1, y = 0.5", "x = 0.3, y = 0.3"));
  const scene::Scene reduced = read_text(
      scene_text("coordinates = [\"x\"]\nkinetic = \"0.5*(1 + x^2)*x'^2\"\npotential = \"x^2\"", "",
                 "x = 1", "x = 0.3"));
  Equations equations(*scene.formulas(), true, {}), one(*reduced.formulas(), true, {});
  Flow flow(equations, {}), small(one, {});
  flow.start(0.0, vector({1.0, 0.5}), vector({0.3, 0.3}));
  small.start(0.0, vector({1.0}), vector({0.3}));
  EXPECT_EQ(flow.columns().cols(), 2);
  EXPECT_EQ(flow.advance(3.0).kind, EventKind::End);
  EXPECT_EQ(small.advance(3.0).kind, EventKind::End);
  EXPECT_NEAR(flow.q()[0], small.q()[0], 1e-12);
  EXPECT_NEAR(flow.u()[0], small.u()[0], 1e-12);
  EXPECT_NEAR(flow.q()[1], 0.5 * flow.q()[0] * flow.q()[0], 1e-14);
}

// Two walls that are not orthogonal, struck in their corner: there is no derivative.
TEST(Flow, ContactsThatStrikeTogetherHaveNoDerivative) {
  for (const double slope : {1.0, 0.5}) {
    const scene::Scene scene = read_text(
        scene_text("coordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"10*y\"",
                   fmt::format("[contact.left]\nkeep = \"y >= {0}*x\"\nrestitution = 0.5\n"
                               "[contact.right]\nkeep = \"y >= -{0}*x\"\nrestitution = 0.5\n",
                               slope),
                   "x = 0, y = 1", "x = 0, y = 0"));
    Equations equations(*scene.formulas(), true, {});
    Flow flow(equations, {});
    flow.start(0.0, vector({0.0, 1.0}), vector({0.0, 0.0}));
    const Event event = flow.advance(1.0);
    EXPECT_EQ(event.kind, EventKind::Impact);
    EXPECT_NEAR(flow.u()[1], 0.5 * std::sqrt(20.0), 1e-9);  // by symmetry
    EXPECT_EQ(flow.broken(), slope == 1.0 ? "" : "'left' and 'right' strike together");
  }
}

// exact: up and down between y = 1 and y = -1 at speed 0.8, where the gap has a kink at y = 0
TEST(Flow, DistancesTurnBackAtZero) {
  for (const char* gap : {"hypot(max(abs(x) - 1, 0), y) <= 1", "sqrt(y^2) <= 1"}) {
    const scene::Scene scene =
        read_text(scene_text("coordinates = [\"x\", \"y\"]\nmass = [1, 1]",
                             fmt::format("[contact.wall]\nkeep = \"{}\"\nrestitution = 1\n", gap),
                             "x = 0.2, y = 0.1", "x = 0, y = 0.8"));
    Equations equations(*scene.formulas(), true, {});
    Flow flow(equations, {});
    flow.start(0.0, vector({0.2, 0.1}), vector({0.0, 0.8}));
    for (int k = 0; k < 6;) {
      const Event event = flow.advance(100.0);
      ASSERT_NE(event.kind, EventKind::Failure) << gap << ": " << flow.failure();
      if (event.kind != EventKind::Impact) continue;
      EXPECT_NEAR(flow.elapsed(), (0.9 + 2.0 * k) / 0.8, 1e-12) << gap;
      EXPECT_NEAR(flow.q()[1], k % 2 == 0 ? 1.0 : -1.0, 1e-12) << gap;
      ++k;
    }
  }
}

TEST(Flow, WhatHasNoEquationsIsRefused) {
  const auto refuses = [](const std::string& contact) {
    const scene::Scene scene = read_text(
        "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"y\"\n" + contact +
        "[start]\nposition = { x = 0, y = 1 }\n[run]\nscheme = \"moreau\"\n"
        "step = 0.1\nuntil = 1\n");
    EXPECT_THROW(Equations(*scene.formulas(), true, {}), base::InputError) << contact;
  };
  refuses(
      "[contact.floor]\nkeep = \"y >= 0\"\nslip = [\"x'\"]\n"
      "friction = { forward = 0.2, backward = 0.5 }\n");
  refuses("[contact.floor]\nkeep = \"y >= 0\"\nwhere = \"x > 0\"\n");
}

}  // namespace
}  // namespace ricochet::flow::flow_test
