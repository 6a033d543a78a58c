// Motions whose orbits, multipliers and exponents are known in closed form, or were computed
// independently: Newton on the map from impact to impact, with the derivatives of the flow.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

#include "impact_map.h"
#include "ricochet/dynamics/basin.h"
#include "ricochet/dynamics/lyapunov.h"

namespace ricochet::dynamics::attractor_cases_test {
namespace {

using testing::ImpactMap;
using testing::multiplier;
using testing::near_one_bounce;
using testing::read_text;
using testing::still_wall;
using testing::table_map;
using testing::table_text;
using testing::zero_near;

constexpr double kPi = std::numbers::pi;
const std::string kRun = "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n";

// exact: lambda^2 - [1 + e^2 - (1+e)^2 sqrt(G^2 - G_b^2)] lambda + e^2 = 0
TEST(AttractorCases, MultipliersOfTheBallOnATable) {
  ImpactMap map = table_map(1.2, 0.5);
  Eigen::Vector2d z = near_one_bounce(1.2, 0.5);
  const Eigen::Matrix2d D = map.close(z, 1, 2.0 * kPi);
  EXPECT_NEAR(z[0], 0.5101636085, 1e-9);
  EXPECT_NEAR(multiplier(D).real(), -0.03423204, 1e-8);
  EXPECT_NEAR(std::abs(multiplier(D).imag()), 0.49882679, 1e-8);
}

/// The parameter at which a stable orbit of so many bounces flips: det(D + 1) = 0.
double flip_of(int bounces, double from) {
  Eigen::Vector2d z = near_one_bounce(from, 0.5);
  table_map(from, 0.5).bounces(z, 4096);
  return zero_near(from, 1e-5, 2e-3, [&](double G) {
    return (table_map(G, 0.5).close(z, bounces, 2.0 * kPi) + Eigen::Matrix2d::Identity())
        .determinant();
  });
}

// computed independently on the closed map: the cascade of the ball, e = 0.5
TEST(AttractorCases, TheCascadeOfTheBall) {
  EXPECT_NEAR(flip_of(1, 1.5), 1.5268237005, 1e-8);
  EXPECT_NEAR(flip_of(2, 1.65), 1.6671306608, 1e-8);
  EXPECT_NEAR(flip_of(4, 1.69), 1.6967807458, 1e-8);
  EXPECT_NEAR(flip_of(8, 1.7025), 1.7031805256, 1e-7);
  EXPECT_NEAR(flip_of(16, 1.7043), 1.7045564692, 1e-7);
}

// proved by Krawczyk's test: an orbit of two impacts, e = 0.5, G = 1.6
TEST(AttractorCases, TheOrbitOfTwoImpacts) {
  ImpactMap map = table_map(1.6, 0.5);
  Eigen::Vector2d z = near_one_bounce(1.6, 0.5);
  const auto phase = [](double t) { return t - 2.0 * kPi * std::floor(t / (2.0 * kPi)); };
  map.bounces(z, 2000);
  z[0] = phase(z[0]);  // late times have fewer digits
  Eigen::Matrix2d D = map.close(z, 2, 2.0 * kPi);
  EXPECT_NEAR(multiplier(D).real(), -0.02759603, 1e-8);
  EXPECT_NEAR(std::abs(multiplier(D).imag()), 0.24847225, 1e-8);
  if (phase(z[0]) < 1.0) map.bounce(z, D);
  z[0] = phase(z[0]);
  EXPECT_NEAR(z[0], 1.19434771072543, 1e-12);
  EXPECT_NEAR(z[1] + 1.6 * std::cos(z[0]), 2.58996513934720, 1e-12);
  map.bounce(z, D);
  EXPECT_NEAR(phase(z[0]), 0.40391495630515, 1e-12);
  EXPECT_NEAR(z[1] + 1.6 * std::cos(z[0]), 3.65826422738157, 1e-12);
}

/// Flights of a ball that does not bounce, in periods, and how often it is released.
struct Flights {
  std::vector<double> times;
  int releases{0};

  explicit Flights(double G, double until = 400.0) {
    const scene::Scene scene = read_text(table_text(G, 0.0));
    flow::Equations equations(*scene.formulas(), false, {});
    flow::Flow flow(equations, {.period = 2.0 * kPi});
    flow.start(scene.start.t, scene.start.q, scene.start.u);
    double left = 0.0;
    for (int k = 0; k < 100000 && flow.elapsed() < until; ++k) {
      const flow::Event event = flow.advance(until - flow.elapsed());
      EXPECT_NE(event.kind, flow::EventKind::Failure) << flow.failure();
      if (event.kind == flow::EventKind::Failure) return;
      if (event.kind == flow::EventKind::Release && flow.elapsed() > 0.5 * until) {
        ++releases;
        phase = flow.t();
      }
      if (event.kind == flow::EventKind::Impact && flow.elapsed() > 0.5 * until) {
        times.push_back((flow.elapsed() - left) / (2.0 * kPi));
      }
      if (event.kind != flow::EventKind::End) left = flow.elapsed();
    }
  }
  double phase{0.0};  // of the last release
};

// exact [Mehta and Luck 1990]: e = 0 sticks from G = 1 to sqrt(1 + pi^2), then flies at once
TEST(AttractorCases, TheBallThatDoesNotBounce) {
  for (const double G : {1.5, 2.0, 3.0}) {
    EXPECT_NEAR(std::sin(Flights(G).phase), 1.0 / G, 1e-9) << G;
  }
  const double border = std::sqrt(1.0 + kPi * kPi);
  EXPECT_GT(Flights(border - 1e-3).releases, 20);
  EXPECT_EQ(Flights(border + 1e-3).releases, 0);
  const Flights two(4.0);
  ASSERT_GE(two.times.size(), 4U);
  const double a = two.times.back(), b = two.times[two.times.size() - 2];
  EXPECT_NEAR(std::max(a, b), 1.123431, 1e-6);
  EXPECT_NEAR(std::min(a, b), 0.846752, 1e-6);
  for (const double G : {3.5, 3.7}) {  // multipliers 0 and 1 - sqrt(G^2 - pi^2)
    const double t = std::acos(kPi / G);
    const Lyapunov found =
        lyapunov(read_text(table_text(G, 0.0), {fmt::format("s={:.17g}", t), "w=0"}),
                 {.until = 512.0 * kPi});
    ASSERT_EQ(found.exponents.size(), 1U) << found.failure << found.broken;
    EXPECT_EQ(found.lost, 1);
    const double exact = std::log(std::abs(1.0 - std::sqrt(G * G - kPi * kPi))) / (2.0 * kPi);
    EXPECT_NEAR(found.exponents[0], exact, 1e-6) << G;
  }
}

// computed independently on the closed map: 0.2363 of these starts bounce, the others chatter
TEST(AttractorCases, TheBasinOfTheBall) {
  constexpr int kCells = 100;
  const double a = kPi / kCells, b = 4.0 / kCells;
  const scene::Scene scene =
      read_text(table_text(1.2, 0.5,
                           fmt::format("[section]\nevery = \"2*pi\"\n[sweep.over]\n"
                                       "s = {{ from = {:.17g}, to = {:.17g}, count = {} }}\n"
                                       "w = {{ from = {:.17g}, to = {:.17g}, count = {} }}\n",
                                       a, 2.0 * kPi - a, kCells, b, 8.0 - b, kCells)));
  const Basin found = find_basin(scene, {}, {});
  ASSERT_EQ(found.attractors.size(), 2U);
  EXPECT_NEAR(std::min(found.fraction(0), found.fraction(1)), 0.23630, 0.001);
  EXPECT_EQ(found.fraction(Basin::kUndecided), 0.0);
}

// exact: x'' + x = cos 2.7 t, x <= 0, e = 0.8 rests once in six periods
TEST(AttractorCases, ChatterOverSixPeriods) {
  const double T = 2.0 * kPi / 2.7;
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
      "force = [\"cos(2.7*t)\"]\n[contact.stop]\nkeep = \"x <= 0\"\nrestitution = 0.8\n"
      "[start]\nposition = { x = 0 }\n" +
      kRun);
  flow::Equations equations(*scene.formulas(), false, {});
  flow::Flow flow(equations, {});
  flow.start(0.0, Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1));
  ASSERT_EQ(flow.advance(100.0).kind, flow::EventKind::Release);
  EXPECT_NEAR(flow.elapsed(), 0.25 * T, 1e-9);
  flow::Event event = flow.advance(100.0);
  ASSERT_EQ(event.kind, flow::EventKind::Impact);
  EXPECT_NEAR(flow.elapsed() / T - 0.25, 1.196507160, 1e-9);
  EXPECT_NEAR(event.approach, 0.543732158, 1e-9);
  for (int k = 0; k < 10000 && event.kind == flow::EventKind::Impact; ++k) {
    event = flow.advance(100.0);
  }
  ASSERT_EQ(event.kind, flow::EventKind::Rest);
  EXPECT_NEAR(flow.elapsed() / T - 0.25, 5.9872994440404, 1e-9);  // arcs of 40 digits
  ASSERT_EQ(flow.advance(100.0).kind, flow::EventKind::Release);
  EXPECT_NEAR(flow.elapsed() / T - 0.25, 6.0, 1e-9);
}

// exact: the slender block x'' = x - sgn x + F cos wt, rate times r at x = 0: from edge to edge
// |x| bounces while the force changes sign, so that half a period is one bounce
TEST(AttractorCases, TheRockingBlock) {
  const double cases[3][4] = {{4.0, 4.0, 1.378114362, 0.3064885947},
                              {5.0, 6.0, 1.528621600, 0.2771327661},
                              {3.0, 3.0, 1.446749903, 0.4212041960}};
  for (const auto& [w, F, speed, highest] : cases) {
    const auto text = [w = w, F = F](const Eigen::Vector2d& z) {
      return fmt::format(
          "[system]\ncoordinates = [\"x\"]\nmass = [1]\n"
          "potential = \"x - 0.5*x^2\"\nforce = [\"{}*cos({}*t)\"]\n"
          "[contact.edge]\nkeep = \"x >= 0\"\nrestitution = 0.9\n"
          "[section]\nwhen = \"x'\"\ndirection = \"down\"\nkeep = [\"x\"]\n"
          "[start]\nposition = {{ x = 0 }}\nvelocity = {{ x = {:.17g} }}\n"
          "{}start_time = {:.17g}\n",
          F, w, z[1], kRun, z[0]);
    };
    Eigen::Vector2d z(1.46 / w, 0.9 * speed);
    ImpactMap map(text(z), still_wall(0.0, 1.0), [w = w, F = F](double t, double x, double) {
      return x - 1.0 + F * std::cos(w * t);
    });
    const std::complex<double> lambda = multiplier(map.close(z, 1, kPi / w));
    EXPECT_NEAR(map.approach, speed, 1e-8) << w;
    EXPECT_NEAR(z[1], 0.9 * map.approach, 1e-9) << w;
    const SectionResult flight = take_section(read_text(text(z)), {.settle = 0, .show = 1});
    ASSERT_EQ(flight.rows.size(), 1U) << flight.ended;
    EXPECT_NEAR(flight.rows[0][0], highest, 1e-8) << w;
    if (w != 4.0) continue;
    EXPECT_NEAR(w * z[0], 1.46114340, 1e-8);
    EXPECT_NEAR(lambda.real(), -0.607128, 1e-6);
    EXPECT_NEAR(std::abs(lambda.imag()), 0.664376, 1e-6);
  }
}

// exact [Den Hartog 1930]: x'' + x + f sgn x' = cos Wt without rest: amplitude sqrt(V^2 - U^2 f^2)
TEST(AttractorCases, DenHartogWithoutRest) {
  const double cases[3][4] = {{0.7, 0.2, 0.1836394, 0.7853741},
                              {1.3, 0.3, 0.6595061, 0.5720435},
                              {0.8, 0.5, 0.5296763, 0.4664695}};
  for (const auto& [W, f, re, im] : cases) {
    const double V = 1.0 / (1.0 - W * W);
    const double U = std::sin(kPi / W) / (W * (1.0 + std::cos(kPi / W)));
    const double a = std::sqrt(V * V - U * U * f * f);
    const scene::Scene scene = read_text(fmt::format(
        "[system]\ncoordinates = [\"x\"]\nparameters = {{ W = {}, f = {} }}\nmass = [1]\n"
        "potential = \"0.5*x^2\"\nforce = [\"cos(W*t) - f*sign(x')\"]\nperiod = \"2*pi/W\"\n"
        "[section]\nwhen = \"x'\"\ndirection = \"down\"\nkeep = [\"x\"]\n"
        "[start]\nposition = {{ x = {:.17g} }}\nvelocity = {{ x = 0.01 }}\n{}",
        W, f, 1.1 * a, kRun));
    const SectionResult found = take_section(scene, {.settle = 200, .show = 10});
    ASSERT_FALSE(found.rows.empty()) << found.ended;
    EXPECT_NEAR(found.rows.back()[0], a, 1e-9) << W;
    const Lyapunov exponents = lyapunov(scene, {.until = 256.0 * kPi / W});
    ASSERT_EQ(exponents.exponents.size(), 2U) << exponents.failure;
    const double exact = std::log(std::hypot(re, im)) * W / kPi;  // of half a period
    EXPECT_NEAR(exponents.exponents[0], exact, 2e-3) << W;
    EXPECT_NEAR(exponents.sum(), 2.0 * exact, 1e-4) << W;
  }
}

// exact: gears do not rattle for eps < 2 d/sqrt(4 pi^2 + d^2)
TEST(AttractorCases, GearsRattle) {
  const double d = 0.6, border = 2.0 * d / std::sqrt(4.0 * kPi * kPi + d * d);
  EXPECT_NEAR(border, 0.190121051, 1e-9);
  for (const double off : {-1e-8, 1e-8}) {
    const scene::Scene scene = read_text(fmt::format(
        "[system]\ncoordinates = [\"p\"]\nparameters = {{ d = {:.17g}, eps = {:.17g} }}\n"
        "mass = [1]\n"
        "force = [\"4*pi*d - d*p' - 4*pi^2*eps*cos(2*pi*t) - 2*pi*d*eps*sin(2*pi*t)\"]\n"
        "[contact.drive]\nkeep = \"p <= 0.1\"\n[contact.back]\nkeep = \"p >= -0.1\"\n"
        "[start]\nposition = {{ p = 0.1 }}\n{}",
        d, border + off, kRun));
    flow::Equations equations(*scene.formulas(), false, {});
    flow::Flow flow(equations, {});
    flow.start(0.0, scene.start.q, scene.start.u);
    const flow::Event event = flow.advance(20.0);
    EXPECT_EQ(event.kind, off > 0.0 ? flow::EventKind::Release : flow::EventKind::End);
  }
}

// exact: the unit oscillator between two walls at +-d, e = 1: frequency pi/(2 asin(d/a)): a = 2d ->
// 3
TEST(AttractorCases, BackboneBetweenTwoWalls) {
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
      "[contact.right]\nkeep = \"x <= 0.5\"\nrestitution = 1\n"
      "[contact.left]\nkeep = \"x >= -0.5\"\nrestitution = 1\n"
      "[section]\nat = \"impact of right\"\n[start]\nposition = { x = 0 }\n"
      "velocity = { x = 1 }\n" +
      kRun);
  const SectionResult found = take_section(scene, {.settle = 0, .show = 20});
  for (std::size_t k = 1; k < found.times.size(); ++k) {
    EXPECT_NEAR(found.times[k] - found.times[k - 1], 2.0 * kPi / 3.0, 1e-9);
  }
}

}  // namespace
}  // namespace ricochet::dynamics::attractor_cases_test
