// Chatter that repeats, and billiards: closed forms and independent computations.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "ricochet/dynamics/lyapunov.h"
#include "ricochet/flow/flow.h"
#include "support.h"

namespace ricochet::dynamics::attractor_windows_test {
namespace {

using testing::read_text;

constexpr double kPi = std::numbers::pi;
const std::string kRun = "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n";

/// x'' + 2 zeta x' + x = A cos wt, x <= d, e.
std::string oscillator(double zeta, double A, double w, double d, double e) {
  return fmt::format(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
      "force = [\"{:.17g}*cos({:.17g}*t) - {:.17g}*x'\"]\n"
      "[contact.stop]\nkeep = \"x <= {:.17g}\"\nrestitution = {:.17g}\n"
      "[start]\nposition = {{ x = {:.17g} }}\n{}",
      A, w, 2.0 * zeta, d, e, d, kRun);
}

// exact for w = 1/2, e = 0.3 (impact half a period after release, at 4/3, then at 0.65); 30 digits
// of arcs in closed form for w = 0.4, e = 0.5: one chatter a period, all multipliers 0
TEST(AttractorWindows, ChatterOncePerPeriod) {
  struct Case {
    double w, e, first, speed, second, next, rest;
  };
  for (const Case& c : {Case{0.5, 0.3, 0.5, 4.0 / 3.0, 0.642549479296, 0.65, 0.69467381715},
                        Case{0.4, 0.5, 0.452530315056, 0.778238094286, 0.612980533934,
                             0.844077215571, 0.74053988152}}) {
    const double T = 2.0 * kPi / c.w;
    const scene::Scene scene = read_text(oscillator(0.0, 1.0, c.w, 0.0, c.e));
    flow::Equations equations(*scene.formulas(), true, {});
    flow::Flow flow(equations, {});
    flow.start(0.0, Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1));
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(flow.advance(100.0).kind, flow::EventKind::Release);
      const double from = flow.elapsed();
      EXPECT_NEAR(from, (0.25 + round) * T, 1e-9);
      flow::Event event = flow.advance(100.0);
      ASSERT_EQ(event.kind, flow::EventKind::Impact);
      EXPECT_NEAR((flow.elapsed() - from) / T, c.first, 1e-9);
      EXPECT_NEAR(event.approach, c.speed, 1e-9);
      event = flow.advance(100.0);
      EXPECT_NEAR((flow.elapsed() - from) / T, c.second, 1e-9);
      EXPECT_NEAR(event.approach, c.next, 1e-9);
      while (event.kind == flow::EventKind::Impact) event = flow.advance(100.0);
      ASSERT_EQ(event.kind, flow::EventKind::Rest);
      EXPECT_NEAR((flow.elapsed() - from) / T, c.rest, 2e-7);  // a millionth of a speed is rest
      EXPECT_EQ(flow.columns().cols(), 0);  // nothing is left of where it came from
    }
  }
}

// exact: from disc to disc (1 - pi R^2)/(2 R) on average; exponents computed independently
TEST(AttractorWindows, SinaiBilliards) {
  struct Case {
    double R, exponent, error;
  };
  for (const Case& c : {Case{0.3, 1.9919, 0.0014}, Case{0.2, 1.4704, 0.0010}}) {
    const scene::Scene scene = read_text(fmt::format(
        "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n"
        "[contact.disc]\nkeep = \"x^2 + y^2 >= {}^2\"\nrestitution = 1\n"
        "[contact.east]\nkeep = \"x <= 0.5\"\nrestitution = 1\n"
        "[contact.west]\nkeep = \"x >= -0.5\"\nrestitution = 1\n"
        "[contact.north]\nkeep = \"y <= 0.5\"\nrestitution = 1\n"
        "[contact.south]\nkeep = \"y >= -0.5\"\nrestitution = 1\n"
        "[start]\nposition = {{ x = 0.45, y = 0.31 }}\nvelocity = {{ x = 0.6, y = 0.8 }}\n{}",
        c.R, kRun));
    const Lyapunov found = lyapunov(scene, {.until = 3e3});
    EXPECT_NEAR(found.exponents[0], c.exponent, 4.0 * std::hypot(found.errors[0], c.error)) << c.R;
    flow::Equations equations(*scene.formulas(), false, {});
    flow::Flow flow(equations, {});
    flow.start(0.0, scene.start.q, scene.start.u);
    double time = 0.0;
    int discs = 0;
    while (discs < 8000) {
      const flow::Event event = flow.advance(1e3);
      ASSERT_EQ(event.kind, flow::EventKind::Impact);
      if (event.row == 0) ++discs;
      time = flow.elapsed();
    }
    const double path = (1.0 - kPi * c.R * c.R) / (2.0 * c.R);
    EXPECT_NEAR(time / discs, path, 0.05 * path) << c.R;
  }
}

}  // namespace
}  // namespace ricochet::dynamics::attractor_windows_test
