// Free arcs as Taylor series: closed forms, and what the judge says of such arcs that are not true.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "ricochet/flow/flow.h"
#include "ricochet/model/flight.h"
#include "ricochet/step/event_driven.h"
#include "ricochet/step/run_scheme.h"
#include "support.h"

namespace ricochet::study::flight_test {
namespace {

using certify::Certificate;
using certify::Failure;
using testing::read_text;
using testing::run_text;

std::string one_coordinate(const std::string& force, const std::string& contact, double x, double u,
                           double step, double until, const std::string& more = "") {
  return fmt::format(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"{}\"]\n{}"
      "[start]\nposition = {{ x = {:.17g} }}\nvelocity = {{ x = {:.17g} }}\n"
      "[run]\nscheme = \"event-driven\"\nstep = {:.17g}\nuntil = {:.17g}\n{}\n",
      force, contact, x, u, step, until, more);
}
const std::string kWall = "[contact.wall]\nkeep = \"x <= 0\"\nrestitution = 0.8\n";
const std::string kFar = "[contact.wall]\nkeep = \"x <= 1000\"\n";

/// x'' + x = cos w t from (t0, x0, u0).
struct Oscillation {
  double w, t0, a, b, g;
  Oscillation(double frequency, double t, double x, double u) : w(frequency), t0(t) {
    g = 1.0 / (1.0 - w * w);
    a = x - g * std::cos(w * t);
    b = u + g * w * std::sin(w * t);
  }
  double x(double t) const {
    return g * std::cos(w * t) + a * std::cos(t - t0) + b * std::sin(t - t0);
  }
  double u(double t) const {
    return -g * w * std::sin(w * t) - a * std::sin(t - t0) + b * std::cos(t - t0);
  }
};

// exact: arcs in closed form, impacts by bisection
TEST(Flight, ImpactOscillatorFollowsItsClosedForm) {
  constexpr double kW = 2.8;
  for (const double step : {2.0 * std::numbers::pi / kW, 0.3, 0.02}) {
    const Motion motion =
        run_text(one_coordinate("cos(2.8*t) - x", kWall, -0.1, 0.1, step, 10.0 * step + 20.0));
    const Certificate& c = motion.outcome.certificate;
    ASSERT_TRUE(c.ok()) << step << " " << certify::describe(c.failure).name;
    double t = 0.0, x = -0.1, u = 0.1;
    for (std::size_t k = 0; k < 8; ++k) {
      const Oscillation arc(kW, t, x, u);
      double low = t + 1e-3;
      while (arc.x(low + 1e-3) < 0.0) low += 1e-3;
      double high = low + 1e-3;
      for (int i = 0; i < 100; ++i)
        (arc.x(0.5 * (low + high)) < 0.0 ? low : high) = 0.5 * (low + high);
      EXPECT_NEAR(c.shocks[k].t, low, 1e-11) << step << " " << k;
      t = low;
      x = 0.0;
      u = -0.8 * arc.u(low);
    }
  }
}

// exact: T + V stays, over a thousand impacts of e = 1
TEST(Flight, PendulumsKeepTheirEnergy) {
  const Motion motion = run_text(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 2]\n"
      "potential = \"-cos(x) + 0.3*(x - y)^2 + 0.1*y^4\"\n"
      "[contact.wall]\nkeep = \"x + 0.5*y <= 0.2\"\nrestitution = 1\n"
      "[start]\nposition = { x = -0.5, y = 0.3 }\nvelocity = { x = 0.7, y = 0.2 }\n"
      "[run]\nscheme = \"event-driven\"\nstep = 5\nuntil = 2000\n");
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const auto energy = [](const auto& row) {
    const double x = row.q[0], y = row.q[1];
    return 0.5 * row.u[0] * row.u[0] + row.u[1] * row.u[1] - std::cos(x) + 0.3 * (x - y) * (x - y) +
           0.1 * y * y * y * y;
  };
  EXPECT_GT(motion.outcome.certificate.shocks.size(), 400U);
  for (const auto& row : motion.rows) EXPECT_NEAR(energy(row), energy(motion.rows[0]), 1e-11);
}

/// 4 sqrt 3 / a^2 times the integral of 1/sqrt(1 - s^6): the period of x'' = -x^5, u(0) = 1.
double quintic_period() {
  const double a = std::pow(3.0, 1.0 / 6.0);
  const double integral =
      std::sqrt(std::numbers::pi) * std::tgamma(7.0 / 6.0) / std::tgamma(2.0 / 3.0);
  return 4.0 * std::sqrt(3.0) / (a * a) * integral;
}

// exact: every sixth term of the series is there, and none of the last two
TEST(Flight, SeriesThatLeaveOutOrders) {
  const double period = quintic_period();
  const std::string text = one_coordinate("-x^5", kFar, 0.0, 1.0, period, 3.0 * period);
  const Motion motion = run_text(text);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  for (const auto& row : motion.rows) {
    EXPECT_NEAR(row.q[0], 0.0, 1e-9);
    EXPECT_NEAR(row.u[0], 1.0, 1e-9);
  }
  const scene::Scene scene = read_text(text);
  flow::Equations equations(*scene.system().model, false, {});
  flow::Flow flow(equations, {});
  flow.start(0.0, scene.start.q, scene.start.u);
  EXPECT_EQ(flow.advance(period).kind, flow::EventKind::End);
  EXPECT_NEAR(flow.q()[0], 0.0, 1e-11);
  EXPECT_NEAR(flow.u()[0], 1.0, 1e-11);
}

// exact: x = t^7/42 - t
TEST(Flight, PolynomialsOfTimeAreExact) {
  const Motion motion =
      run_text(one_coordinate("t^5", "[contact.wall]\nkeep = \"x >= -2\"\n", 0.0, -1.0, 2.5, 2.5));
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_NEAR(motion.rows.back().q[0], std::pow(2.5, 7) / 42.0 - 2.5, 1e-12);
}

// exact: x = sin t meets x = d < 1 at asin d, stops there, and swings back as d cos(t - asin d)
TEST(Flight, GrazingWallsAreMetIfAndOnlyIfTheyAreThere) {
  for (const double d : {1.0 - 1e-5, 1.0 - 1e-9, 1.0 + 1e-9}) {
    const Motion motion = run_text(one_coordinate(
        "-x", fmt::format("[contact.wall]\nkeep = \"x <= {:.17g}\"\n", d), 0.0, 1.0, 3.0, 3.0));
    ASSERT_TRUE(motion.outcome.certificate.ok()) << d;
    const double met = d < 1.0 ? d * std::cos(3.0 - std::asin(d)) : std::sin(3.0);
    EXPECT_NEAR(motion.rows.back().q[0], met, 1e-10) << d;
  }
}

TEST(Flight, OnlyTameForcesHaveThem) {
  const auto has = [](const std::string& force, const std::string& contact) {
    return model::has_flights(
        *read_text(one_coordinate(force, contact, -0.1, 0.0, 0.1, 1.0)).system().model);
  };
  for (const char* force :
       {"cos(2.8*t) - x", "-sin(x) - 0.1*x'", "-x^3 + 0.3*cos(t)*x", "1", "t*x'"}) {
    EXPECT_TRUE(has(force, kWall)) << force;
  }
  for (const char* force :
       {"exp(-100*(x - 1)^2)", "-x^9", "1/(1 + x^2)", "abs(x)", "if(x > 1, 1, 0)", "sqrt(1 + x^2)",
        "sin(x^2)", "tanh(50*x)", "max(0, x - 1)"}) {
    EXPECT_FALSE(has(force, kWall)) << force;
  }
}

/// A flight of the oscillator as the scheme tells it.
struct Told {
  explicit Told(double wall = 0.0, const std::string& force = "cos(2.8*t) - x")
      : scene(read_text(
            one_coordinate(force, fmt::format("[contact.wall]\nkeep = \"x <= {:.17g}\"\n", wall),
                           -1.0, -0.4, 1.0, 2.0))),
        view(*scene.system().model),
        before(scene.start),
        after(scene.start),
        w(view, before.q) {
    step::EventArc<step::AnyView> arc = scheme.arc(view, before, w);
    double error = 0.0;
    int stray = -1;
    (void)arc.open(before, 1.0);
    reach = arc.reach();
    (void)arc.advance_by(before, h, error);
    (void)arc.complete(before, h, w.reactions, error, stray);
    after.t = arc.end().t;
    after.q = arc.end().q;
    after.u = arc.end().u;
    step::open_nodes(before.t, w, certify::Piece::Arc);
    arc.claim(false);
    if (w.claim.flight != nullptr) {
      states.assign(w.claim.flight, w.claim.flight + 2 * (certify::FlightRule::kNodes - 2));
      w.claim.flight = states.data();
    }
  }
  Failure judge() {
    step::RunSettings run;
    certify::Judge<step::AnyView> judge(view, scheme.method(), run.limits, before);
    (void)judge.check<certify::Integrator::Arcs>(before, after, h, w.claim);
    return judge.certificate().failure;
  }

  scene::Scene scene;
  step::AnyView view;
  step::EventDriven scheme;
  model::State<model::kDynamic> before, after;
  step::Workspace<step::AnyView> w;
  std::vector<double> states;
  double reach{0.0};
  static constexpr double h = 0.8;
};

TEST(FlightLies, AreRefused) {
  ASSERT_EQ(Told().judge(), Failure::None);
  ASSERT_FALSE(Told().states.empty());
  for (const double size : {1e-8, 1e-4, 1.0}) {
    for (std::size_t k = 0; k < Told().states.size(); ++k) {
      Told told;
      told.states[k] += size;
      EXPECT_NE(told.judge(), Failure::None) << k << " " << size;
    }
    Told place, speed, time;
    place.after.q[0] += size;
    speed.after.u[0] += size;
    time.after.t += size;
    for (Told* told : {&place, &speed, &time}) EXPECT_NE(told->judge(), Failure::None) << size;
  }
  for (std::size_t k = 0; k < Told().states.size(); ++k) {
    Told told;
    told.states[k] = std::nan("");
    EXPECT_NE(told.judge(), Failure::None) << k;
  }
  Told kept;  // only its ends: too long for that
  kept.w.claim.flight = nullptr;
  EXPECT_NE(kept.judge(), Failure::None);
  Told pushed;
  pushed.w.claim.reactions = &pushed.w.reactions;
  EXPECT_NE(pushed.judge(), Failure::None);
}

// The way of another force, told where only two ends and a few points are looked at.
TEST(FlightLies, OtherForcesAreRefused) {
  for (const char* force : {"cos(2.8*t) - 1.000001*x", "cos(2.8*t + 1e-6) - x",
                            "cos(2.8*t) - x - 1e-6*x'", "cos(2.8*t) - x + 1e-6*sin(60*t)"}) {
    Told truth;
    Told other(0.0, force);
    truth.after.q = other.after.q;
    truth.after.u = other.after.u;
    truth.states = other.states;
    truth.w.claim.flight = truth.states.data();
    EXPECT_NE(truth.judge(), Failure::None) << force;
  }
}

// The wall stands in the way, and the flight goes through it and back.
TEST(FlightLies, WallsAreNotFlownThrough) {
  const Told free(0.0);
  double highest = -1e9;
  for (std::size_t k = 0; k + 1 < free.states.size(); k += 2)
    highest = std::max(highest, free.states[k]);
  Told told(-0.999);
  const double top = std::max({highest, told.before.q[0], told.after.q[0]});
  ASSERT_GT(top, -0.999);  // it does
  EXPECT_NE(told.judge(), Failure::None);
}

// A force that is not tame has no flights, whatever its values are here.
TEST(FlightLies, NarrowForcesHaveNone) {
  Told narrow(0.0, "cos(2.8*t) - x + exp(-1e6*(x - 5)^2)");
  EXPECT_EQ(narrow.reach, 0.0);
  const Told wide;
  narrow.after.q = wide.after.q;
  narrow.after.u = wide.after.u;
  narrow.states = wide.states;
  narrow.w.claim.flight = narrow.states.data();
  EXPECT_NE(narrow.judge(), Failure::None);
}

}  // namespace
}  // namespace ricochet::study::flight_test
