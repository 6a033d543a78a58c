// Exponents of billiards against independent computations; mean paths that are exact.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <random>
#include <vector>

#include "ricochet/dynamics/lyapunov.h"
#include "ricochet/step/run_formula.h"
#include "support.h"

namespace ricochet::dynamics::billiards_test {
namespace {

using testing::read_text;

constexpr double kPi = std::numbers::pi;
#if defined(RICOCHET_SANITIZED)
constexpr double kLess = 0.03;         // of the time
constexpr std::size_t kMotions = 32;   // from different starts
constexpr std::size_t kMostCases = 1;  // of each kind
#else
constexpr double kLess = 1.0;
constexpr std::size_t kMotions = 64;
constexpr std::size_t kMostCases = 8;
#endif

/// Where a motion starts.
struct Place {
  double x, y, vx, vy;
};

/// Numbers from 0 to 1, the same everywhere.
class Chance {
 public:
  double next() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double next(double from, double to) { return from + (to - from) * next(); }
  /// A direction at this speed.
  Place heading(double x, double y, double speed) {
    const double angle = next(0.0, 2.0 * kPi);
    return {x, y, speed * std::cos(angle), speed * std::sin(angle)};
  }

 private:
  std::mt19937_64 engine_{17};
};

/// Mean of independent numbers, and its error.
struct Mean {
  double value{0.0}, error{0.0};
  explicit Mean(const std::vector<double>& numbers) {
    const auto count = static_cast<double>(numbers.size());
    for (const double number : numbers) value += number / count;
    for (const double number : numbers) error += (number - value) * (number - value);
    error = std::sqrt(error / (count - 1.0) / count);
  }
};

std::string wall(const char* name, const std::string& keep) {
  return fmt::format("[contact.{}]\nkeep = \"{}\"\nrestitution = 1\n", name, keep);
}

scene::Scene billiard(const std::string& walls, const Place& at) {
  return read_text(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n" + walls +
      fmt::format("[start]\nposition = {{ x = {}, y = {} }}\nvelocity = {{ x = {}, y = {} }}\n",
                  at.x, at.y, at.vx, at.vy) +
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n");
}

/// First exponent and impacts per time of many motions from starts that the invariant measure
/// chooses. Such motions are independent and stationary, so that their means have no bias and their
/// spread is an honest error, however long each takes and however slowly correlations decay: they
/// do as 1/t in most of these billiards, which blocks of one motion would not see.
struct Ensemble {
  Mean exponent, rate;
};

/// `time` is that of all motions together, `pause` lets the direction of growth settle.
template <class Start>
Ensemble run_many(const std::string& walls, const Start& start, double time, double pause) {
  Chance chance;
  std::vector<double> exponents, rates;
  for (std::size_t k = 0; k < kMotions; ++k) {
    const double until = kLess * time / kMotions;
    const Lyapunov found =
        lyapunov(billiard(walls, start(chance)), {.until = until, .settle = pause});
    EXPECT_EQ(found.exponents.size(), 4U) << found.failure << found.broken;
    EXPECT_LT(std::abs(found.sum_residual), 1e-10);
    exponents.push_back(found.exponents[0]);
    rates.push_back(found.rate);
  }
  return {Mean(exponents), Mean(rates)};
}

/// The first exponent, impacts per time: within four errors of the known ones; errors are small
/// enough to tell.
void expect_exponent(const Mean& found, double known, double error) {
  EXPECT_NEAR(found.value, known, 4.0 * std::hypot(found.error, error));
  EXPECT_LT(found.error * std::sqrt(kLess), 0.05 * known);
}
void expect_path(const Mean& rate, double path) {
  EXPECT_NEAR(rate.value * path, 1.0, 4.0 * rate.error * path);
  EXPECT_LT(rate.error * path * std::sqrt(kLess), 0.03);
}

/// All cases; one where sanitizers watch.
template <class Case, std::size_t kCount>
std::vector<Case> some_of(const Case (&cases)[kCount]) {
  return {cases, cases + std::min(kCount, kMostCases)};
}

struct Known {
  double size, exponent, error;
};

Ensemble sinai(double R, double time) {
  const std::string walls = wall("disc", fmt::format("x^2 + y^2 >= {}^2", R)) +
                            wall("east", "x <= 0.5") + wall("west", "x >= -0.5") +
                            wall("north", "y <= 0.5") + wall("south", "y >= -0.5");
  const auto start = [&](Chance& chance) {
    double x = 0.0, y = 0.0;
    while (std::hypot(x, y) <= R) x = chance.next(-0.5, 0.5), y = chance.next(-0.5, 0.5);
    return chance.heading(x, y, 1.0);
  };
  return run_many(walls, start, time, std::min(10.0 / R, 300.0));
}

// computed independently; disc or wall, exact: pi (1 - pi R^2)/(4 + 2 pi R) on average
TEST(Billiards, Sinai) {
  constexpr Known kCases[] = {{0.4, 2.7388, 0.0014},
                              {0.3, 1.9919, 0.0014},
                              {0.25, 1.7202, 0.0009},
                              {0.2, 1.4704, 0.0010},
                              {0.1, 0.9423, 0.0007}};
  for (const auto& [R, known, error] : some_of(kCases)) {
    SCOPED_TRACE(R);
    const Ensemble found = sinai(R, 1.2e4);
    expect_exponent(found.exponent, known, error);
    expect_path(found.rate, kPi * (1.0 - kPi * R * R) / (4.0 + 2.0 * kPi * R));
  }
}

// [Dahlqvist 1997]: from disc to disc, which is (1 - pi R^2)/(2 R), the exponent tends to
// -2 ln R + 1 - 4 ln 2 + 27 zeta(3)/(2 pi^2); computed independently for R = 0.01: 9.0936
TEST(Billiards, ASmallDisc) {
  constexpr double R = 0.01, kZeta3 = 1.2020569031595943;
  const double limit =
      -2.0 * std::log(R) + 1.0 - 4.0 * std::log(2.0) + 27.0 * kZeta3 / (2.0 * kPi * kPi);
  EXPECT_NEAR(limit, 9.0820, 1e-4);
  const double path = (1.0 - kPi * R * R) / (2.0 * R);
  expect_exponent(sinai(R, 1e5).exponent, 9.0936 / path, 0.003 / path);
}

/// A triangle of mirrors of this side, with discs of radius 1 in its corners.
std::string triangle(double s) {
  const std::string side = fmt::format("{}", s);
  return wall("floor", "y >= 0") + wall("left", "y <= sqrt(3)*x") +
         wall("right", "y <= sqrt(3)*(" + side + " - x)") + wall("a", "x^2 + y^2 >= 1") +
         wall("b", "(x - " + side + ")^2 + y^2 >= 1") +
         wall("c", fmt::format("(x - 0.5*{0})^2 + (y - sqrt(3)/2*{0})^2 >= 1", side));
}

/// pi area/perimeter
double path_in_triangle(double s) {
  const double area = std::sqrt(3.0) / 4.0 * s * s - 0.5 * kPi, rim = 3.0 * (s - 2.0) + kPi;
  return kPi * area / rim;
}

// computed independently: it unfolds to the triangular Lorentz gas; disc or mirror, exact: pi
// area/perimeter on average
TEST(Billiards, TheLorentzGas) {
  constexpr Known kCases[] = {{2.0, 3.6084, 0.0008},
                              {2.5, 1.3442, 0.0004},
                              {3.0, 0.8552, 0.0006},
                              {3.5, 0.6258, 0.0004},
                              {4.0, 0.4890, 0.0003}};
  for (const auto& [s, known, error] : some_of(kCases)) {
    SCOPED_TRACE(s);
    const auto start = [s = s](Chance& chance) {
      const double height = std::sqrt(3.0) / 2.0 * s;
      const auto is_inside = [&](double x, double y) {
        return y < std::sqrt(3.0) * x && y < std::sqrt(3.0) * (s - x) && std::hypot(x, y) > 1.0 &&
               std::hypot(x - s, y) > 1.0 && std::hypot(x - 0.5 * s, y - height) > 1.0;
      };
      double x = 0.0, y = 0.0;
      while (!is_inside(x, y)) x = chance.next(0.0, s), y = chance.next(0.0, height);
      return chance.heading(x, y, 1.0);
    };
    const Ensemble found = run_many(triangle(s), start, s < 2.2 ? 1e4 : 2e4, 20.0);
    expect_exponent(found.exponent, known, error);
    expect_path(found.rate, path_in_triangle(s));
  }
}

// one long motion and its own bars, from blocks; exact: energy is kept, so that exponents are pairs
// of opposite ones and two of them 0
TEST(Billiards, OneMotionHasBars) {
  constexpr double s = 2.5;
  const double until = kLess * 4e4;
  const Lyapunov found =
      lyapunov(billiard(triangle(s), {1.25, 0.7, 0.6, 0.8}), {.until = until, .settle = 50.0});
  ASSERT_EQ(found.exponents.size(), 4U) << found.failure << found.broken;
  EXPECT_NEAR((found.exponents[0] + found.exponents[3]) * until, 0.0, 5.0);  // bounded
  EXPECT_NEAR(found.exponents[1] * until, 0.0, 2.0 * std::log(until));       // grows as t does
  EXPECT_NEAR(found.exponents[0], 1.3442, 4.0 * std::hypot(found.errors[0], 0.0004));
  EXPECT_LT(found.errors[0] * std::sqrt(kLess), 0.01 * 1.3442);
  const double path = path_in_triangle(s);
  EXPECT_NEAR(found.rate * path, 1.0, 4.0 * found.rate_error * path);
  EXPECT_GT(found.rate_error, 0.0);
  EXPECT_LT(found.rate_error * path * std::sqrt(kLess), 0.01);
  const scene::Scene scene = billiard(triangle(s), {1.25, 0.7, 0.6, 0.8});
  EXPECT_EQ(nlohmann::json::parse(to_json(found, scene))["rate_error"].get<double>(),
            found.rate_error);
}

// computed independently; exact: pi (4a + pi)/(4a + 2 pi) on average
TEST(Billiards, TheStadium) {
  constexpr Known kCases[] = {{1.0, 0.4296, 0.0005}, {0.5, 0.4604, 0.0003}, {0.25, 0.4246, 0.0002}};
  for (const auto& [a, known, error] : some_of(kCases)) {
    SCOPED_TRACE(a);
    const auto start = [a = a](Chance& chance) {
      double x = 2.0 + a, y = 0.0;
      while (std::hypot(std::max(std::abs(x) - a, 0.0), y) >= 1.0) {
        x = chance.next(-1.0 - a, 1.0 + a), y = chance.next(-1.0, 1.0);
      }
      return chance.heading(x, y, 1.0);
    };
    const Ensemble found = run_many(
        wall("rim", fmt::format("hypot(max(abs(x) - {}, 0), y) <= 1", a)), start, 2e4, 50.0);
    expect_exponent(found.exponent, known, error);
    expect_path(found.rate, kPi * (4.0 * a + kPi) / (4.0 * a + 2.0 * kPi));
  }
}

/// Mean flight in a wedge of this half-angle at E = 1, over all flights that leave a wall: places s
/// along it and velocities v along it are then equally likely where there is energy for them. Both
/// are taken from a lattice in z and phi, y = 1 - z^2 and v = sqrt(2) z sin(phi): of random ones
/// 10^6 would be needed.
double mean_flight(const std::string& walls, double angle) {
  constexpr int kCells = 32;
  scene::Scene scene = billiard(walls, {0.0, 0.5, 0.0, 0.0});
  scene.run.step = 4.0;  // no flight is longer: it would rise by more than 1
  scene.run.steps = 1;
  const Eigen::Vector2d along(std::sin(angle), std::cos(angle));
  const Eigen::Vector2d inward(-along[1], along[0]);
  double sum = 0.0, weights = 0.0;
  for (int i = 0; i < kCells; ++i) {
    const double z = (i + 0.5) / kCells;
    for (int j = 0; j < kCells; ++j) {
      const double phi = kPi * ((j + 0.5) / kCells - 0.5), speed = std::sqrt(2.0) * z;
      model::State<model::kDynamic> state = scene.start;
      state.q = (1.0 - z * z) / std::cos(angle) * along;
      state.u = speed * (std::sin(phi) * along + std::cos(phi) * inward);
      const step::Outcome outcome = step::run_formula(*scene.formulas(), scene.scheme, scene.run,
                                                      state, [](const step::Sample&) {});
      EXPECT_TRUE(outcome.certificate.ok());
      if (outcome.certificate.shocks.empty()) return 0.0;
      const double weight = z * z * std::cos(phi);
      sum += weight * outcome.certificate.shocks.front().t;
      weights += weight;
    }
  }
  return sum / weights;
}

// computed independently [Lehtihet and Miller 1986], a bounce; mean flight
// 3 pi sin(angle) sqrt(E)/(4 sqrt(2) g) exactly; at 45 degrees both directions are apart
TEST(Billiards, TheWedge) {
  constexpr Known kCases[] = {
      {50.0, 0.5113, 0.0001}, {60.0, 0.6135, 0.0002}, {80.0, 0.2674, 0.0002}, {45.0, 0.0, 0.0}};
  for (const auto& [degrees, known, error] : some_of(kCases)) {
    SCOPED_TRACE(degrees);
    const double angle = degrees * kPi / 180.0, tangent = std::tan(angle);
    const std::string slope = fmt::format("{:.17g}", tangent);
    const std::string walls = "potential = \"y\"\n" + wall("left", "y*" + slope + " >= -x") +
                              wall("right", "y*" + slope + " >= x");
    const auto start = [&](Chance& chance) {  // at E = 1
      double x = 0.0, y = 0.0;
      while (std::abs(x) >= y * tangent) x = chance.next(-tangent, tangent), y = chance.next();
      return chance.heading(x, y, std::sqrt(2.0 - 2.0 * y));
    };
    if (known == 0.0) {
      const Place place{0.1, 0.5, 0.8, 0.6};
      const Lyapunov found = lyapunov(billiard(walls, place), {.until = 1e4, .settle = 100.0});
      EXPECT_LT(found.exponents[0], 2e-3);  // ln t / t
      continue;
    }
    const double flight = 3.0 * kPi * std::sin(angle) / (4.0 * std::sqrt(2.0));
    const Ensemble found = run_many(walls, start, 1e5, 100.0);
    expect_exponent(found.exponent, known / flight, error / flight);
    expect_path(found.rate, flight);
    EXPECT_NEAR(mean_flight(walls, angle) / flight, 1.0, 1e-3);
  }
}

}  // namespace
}  // namespace ricochet::dynamics::billiards_test
