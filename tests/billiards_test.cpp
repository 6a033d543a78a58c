// Exponents of billiards against independent computations; mean paths that are exact.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ricochet/dynamics/lyapunov.h"
#include "support.h"

namespace ricochet::dynamics::billiards_test {
namespace {

using testing::read_text;

constexpr double kPi = std::numbers::pi;
#if defined(RICOCHET_SANITIZED)
constexpr double kLess = 0.1;  // of the time
#else
constexpr double kLess = 1.0;
#endif

std::string wall(const char* name, const std::string& keep) {
  return fmt::format("[contact.{}]\nkeep = \"{}\"\nrestitution = 1\n", name, keep);
}

/// All exponents of a motion at speed 1 that keeps its energy: pairs of opposite ones, two of 0.
Lyapunov exponents_of(const std::string& walls, const std::string& start, double until) {
  const Lyapunov found = lyapunov(
      read_text("[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n" + walls + "[start]\n" +
                start + "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n"),
      {.until = kLess * until});
  EXPECT_EQ(found.exponents.size(), 4U) << found.failure << found.broken;
  EXPECT_LT(std::abs(found.sum_residual), 1e-10);
  EXPECT_NEAR(found.exponents[0] + found.exponents[3], 0.0, 1e-2);
  EXPECT_NEAR(found.exponents[1], 0.0, 1e-2);
  return found;
}

/// The first one within four of its errors and of those of `known`, which are to be small.
void expect_exponent(const Lyapunov& found, double scale, double known, double error) {
  const double own = found.errors[0] * scale;
  EXPECT_NEAR(found.exponents[0] * scale, known, 4.0 * std::hypot(own, error)) << known;
  EXPECT_LT(own * std::sqrt(kLess), 0.03 * known);
}

Lyapunov sinai(double R, double until) {
  return exponents_of(
      wall("disc", fmt::format("x^2 + y^2 >= {}^2", R)) + wall("east", "x <= 0.5") +
          wall("west", "x >= -0.5") + wall("north", "y <= 0.5") + wall("south", "y >= -0.5"),
      "position = { x = 0.45, y = 0.31 }\nvelocity = { x = \"cos(1)\", y = \"sin(1)\" }\n", until);
}

// computed independently; disc or wall, exact: pi (1 - pi R^2)/(4 + 2 pi R) on average
TEST(Billiards, Sinai) {
  const double cases[5][3] = {{0.4, 2.7388, 0.0014},
                              {0.3, 1.9919, 0.0014},
                              {0.25, 1.7202, 0.0009},
                              {0.2, 1.4704, 0.0010},
                              {0.1, 0.9423, 0.0007}};
  for (const auto& [R, known, error] : cases) {
    const Lyapunov found = sinai(R, 6e3);
    expect_exponent(found, 1.0, known, error);
    const double path = kPi * (1.0 - kPi * R * R) / (4.0 + 2.0 * kPi * R);
    EXPECT_NEAR(1.0 / found.rate, path, 0.02 * path / std::sqrt(kLess)) << R;
  }
}

// [Dahlqvist 1997]: from disc to disc, which is (1 - pi R^2)/(2 R), the exponent tends to
// -2 ln R + 1 - 4 ln 2 + 27 zeta(3)/(2 pi^2); computed independently for R = 0.01: 9.0936
TEST(Billiards, ASmallDisc) {
  constexpr double R = 0.01, kZeta3 = 1.2020569031595943;
  const double limit =
      -2.0 * std::log(R) + 1.0 - 4.0 * std::log(2.0) + 27.0 * kZeta3 / (2.0 * kPi * kPi);
  EXPECT_NEAR(limit, 9.0820, 1e-4);
  const Lyapunov found = sinai(R, 1e5);
  expect_exponent(found, (1.0 - kPi * R * R) / (2.0 * R), 9.0936, 0.003);
}

// computed independently: a triangle of mirrors with discs of radius 1 in its corners unfolds to
// the triangular Lorentz gas; disc or mirror, exact: pi area/perimeter on average
TEST(Billiards, TheLorentzGas) {
  const double cases[5][3] = {{2.0, 3.6084, 0.0008},
                              {2.5, 1.3442, 0.0004},
                              {3.0, 0.8552, 0.0006},
                              {3.5, 0.6258, 0.0004},
                              {4.0, 0.4890, 0.0003}};
  for (const auto& [s, known, error] : cases) {
    const std::string side = fmt::format("{}", s);
    const std::string walls =
        wall("floor", "y >= 0") + wall("left", "y <= sqrt(3)*x") +
        wall("right", "y <= sqrt(3)*(" + side + " - x)") + wall("a", "x^2 + y^2 >= 1") +
        wall("b", "(x - " + side + ")^2 + y^2 >= 1") +
        wall("c", fmt::format("(x - 0.5*{0})^2 + (y - sqrt(3)/2*{0})^2 >= 1", side));
    const Lyapunov found = exponents_of(
        walls,
        fmt::format("position = {{ x = {}, y = {} }}\nvelocity = {{ x = 0.6, y = 0.8 }}\n", 0.5 * s,
                    0.28 * s),
        s < 2.2 ? 2e4 : 5e4);
    expect_exponent(found, 1.0, known, error);
    const double area = std::sqrt(3.0) / 4.0 * s * s - 0.5 * kPi, rim = 3.0 * (s - 2.0) + kPi;
    EXPECT_NEAR(1.0 / found.rate, kPi * area / rim, 0.03 * kPi * area / rim / std::sqrt(kLess))
        << s;
  }
}

// computed independently; exact: pi (4a + pi)/(4a + 2 pi) on average
TEST(Billiards, TheStadium) {
  const double cases[3][3] = {{1.0, 0.4296, 0.0005}, {0.5, 0.4604, 0.0003}, {0.25, 0.4246, 0.0002}};
  for (const auto& [a, known, error] : cases) {
    const Lyapunov found =
        exponents_of(wall("rim", fmt::format("hypot(max(abs(x) - {}, 0), y) <= 1", a)),
                     "position = { x = 0.2, y = 0.1 }\nvelocity = { x = 0.6, y = 0.8 }\n", 3e4);
    expect_exponent(found, 1.0, known, error);
    const double path = kPi * (4.0 * a + kPi) / (4.0 * a + 2.0 * kPi);
    EXPECT_NEAR(1.0 / found.rate, path, 0.01 * path / std::sqrt(kLess)) << a;
  }
}

// computed independently [Lehtihet and Miller 1986], a bounce; mean flight
// 3 pi sin(angle) sqrt(E)/(4 sqrt(2) g) exactly; at 45 degrees both directions are apart
TEST(Billiards, TheWedge) {
  const double cases[4][3] = {
      {45.0, 0.0, 0.0}, {50.0, 0.5113, 0.0001}, {60.0, 0.6135, 0.0002}, {80.0, 0.2674, 0.0002}};
  for (const auto& [degrees, known, error] : cases) {
    const double angle = degrees * kPi / 180.0;
    const std::string slope = fmt::format("{:.17g}", std::tan(angle));
    const Lyapunov found =
        exponents_of("potential = \"y\"\n" + wall("left", "y*" + slope + " >= -x") +
                         wall("right", "y*" + slope + " >= x"),
                     "position = { x = 0.1, y = 0.5 }\nvelocity = { x = 0.8, y = 0.6 }\n", 2e5);
    if (known == 0.0) {
      EXPECT_LT(found.exponents[0], 0.01);
      continue;
    }
    expect_exponent(found, 1.0 / found.rate, known, error);
    const double flight = 3.0 * kPi * std::sin(angle) / (4.0 * std::sqrt(2.0));
    EXPECT_NEAR(1.0 / found.rate, flight, 0.02 * flight / std::sqrt(kLess)) << degrees;
  }
}

}  // namespace
}  // namespace ricochet::dynamics::billiards_test
