// Numbers of known attractors that no other test looks at: where motions begin, how often and how
// fast they strike, how long they rest. Closed forms, and independent computations.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "impact_map.h"
#include "ricochet/base/random.h"
#include "ricochet/dynamics/lyapunov.h"
#include "ricochet/dynamics/section.h"

namespace ricochet::dynamics::attractor_values_test {
namespace {

using testing::near_one_bounce;
using testing::read_text;
using testing::table_map;
using testing::table_text;
using testing::zero_near;

constexpr double kPi = std::numbers::pi;
#if defined(RICOCHET_SANITIZED)
constexpr double kLess = 0.1;  // of the time
#else
constexpr double kLess = 1.0;
#endif
constexpr int kMostEvents = 10'000'000;  // of one motion
const std::string kRun = "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n";
const std::string kFrictionRun = "[run]\nscheme = \"moreau\"\nstep = 0.01\nuntil = 1\n";

/// Every event of a motion, until a time or until `see` has seen enough.
void watch(flow::Flow& flow, double until, const std::function<bool(const flow::Event&)>& see) {
  for (int k = 0; k < kMostEvents && flow.elapsed() < until; ++k) {
    const flow::Event event = flow.advance(until - flow.elapsed());
    ASSERT_NE(event.kind, flow::EventKind::Failure) << flow.failure();
    if (event.kind != flow::EventKind::End && !see(event)) return;
  }
}

/// Events of the motion of a scene.
void watch(const std::string& text, double period, double until,
           const std::function<bool(const flow::Flow&, const flow::Event&)>& see) {
  const scene::Scene scene = read_text(text);
  flow::Equations equations(*scene.formulas(), false, {});
  flow::Flow flow(equations, {.period = period});
  flow.start(scene.start.t, scene.start.q, scene.start.u);
  watch(flow, until, [&](const flow::Event& event) { return see(flow, event); });
}

// exact: one impact in n periods, at cos t = G_b/G, thrown off at n pi. det(D - 1)^2 is linear in
// G^2 and vanishes at the birth, G_b = n pi (1-e)/(1+e)
TEST(AttractorValues, TheBallIsBorn) {
  struct Case {
    double e;
    int n;
    double birth;
  };
  for (const Case& c :
       {Case{0.2, 1, 2.094395102}, Case{0.5, 1, 1.047197551}, Case{0.8, 1, 0.349065850},
        Case{0.9, 1, 0.165346982}, Case{0.5, 2, 2.094395102}}) {
    const auto square = [&](double G) {
      Eigen::Vector2d z = near_one_bounce(G, c.e, c.n);
      const Eigen::Matrix2d D = table_map(G, c.e).close(z, 1, 2.0 * kPi);
      EXPECT_NEAR(G * std::cos(z[0]), c.birth, 1e-8) << c.e << " " << c.n;
      EXPECT_NEAR(z[1] + G * std::cos(z[0]), c.n * kPi, 1e-8) << c.e << " " << c.n;
      return std::pow((D - Eigen::Matrix2d::Identity()).determinant(), 2);
    };
    const double a = 1.04 * c.birth, b = 1.02 * c.birth, fa = square(a), fb = square(b);
    EXPECT_NEAR(std::sqrt(b * b - fb * (b * b - a * a) / (fb - fa)), c.birth, 1e-8) << c.e;
  }
}

// exact: a ball that does not bounce is lifted off the table from G = 1
TEST(AttractorValues, TheTableLiftsTheBallOff) {
  for (const double off : {-1e-8, 1e-8}) {
    const scene::Scene scene = read_text(table_text(1.0 + off, 0.0), {"s=0", "w=0"});
    flow::Equations equations(*scene.formulas(), false, {});
    flow::Flow flow(equations, {});
    flow.start(scene.start.t, scene.start.q, scene.start.u);
    EXPECT_EQ(flow.advance(20.0).kind, off > 0.0 ? flow::EventKind::Release : flow::EventKind::End);
  }
}

/// How long a ball flies that leaves the table G sin t with it, by bisection between two times.
double flight_from(double t, double G, double low, double high) {
  const auto gap = [&](double time) {
    return G * std::sin(t) + G * std::cos(t) * time - 0.5 * time * time - G * std::sin(t + time);
  };
  EXPECT_GT(gap(low), 0.0);
  EXPECT_LT(gap(high), 0.0);
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (gap(middle) > 0.0 ? low : high) = middle;
  }
  return low;
}

// exact [Mehta and Luck 1990]: e = 0 is released once a period up to G = 3.2969; at G = 4 once in
// two, after flights of 1.123431 and 0.846752 periods
TEST(AttractorValues, CyclesOfTheBallThatDoesNotBounce) {
  constexpr double kPeriod = 2.0 * kPi;
  for (const double G : {1.5, 3.0, 4.0}) {
    std::vector<double> releases, flights;
    double left = 0.0;
    watch(table_text(G, 0.0), kPeriod, 200.0,
          [&](const flow::Flow& flow, const flow::Event& event) {
            if (event.kind == flow::EventKind::Impact) flights.push_back(flow.elapsed() - left);
            if (event.kind == flow::EventKind::Release) releases.push_back(flow.elapsed());
            left = flow.elapsed();
            return true;
          });
    ASSERT_GE(releases.size(), 4U) << G;
    EXPECT_NEAR(releases.back() - releases.rbegin()[1], G < 3.5 ? kPeriod : 2.0 * kPeriod, 1e-8)
        << G;
    if (G < 3.5) continue;
    ASSERT_GE(flights.size(), 2U);
    std::vector<double> last(flights.end() - 2, flights.end());
    std::sort(last.begin(), last.end());
    EXPECT_NEAR(last[1] / kPeriod, 1.123431, 5e-7);  // digits that are known
    EXPECT_NEAR(last[0] / kPeriod, 0.846752, 5e-7);
    const double t = std::asin(1.0 / G), first = flight_from(t, G, 6.9, 7.2);
    EXPECT_NEAR(last[1], first, 1e-8);
    EXPECT_NEAR(last[0], flight_from(t + first, G, 5.2, 5.4), 1e-8);
  }
}

// exact: e = 1, G = 1.7, thrown off at 5 pi where G cos t = pi/2: 35 pi after 30 bounces
TEST(AttractorValues, TheAcceleratorModeReaches35Pi) {
  const double t = std::acos(0.5 * kPi / 1.7);
  EXPECT_NEAR(t, 0.3923898157, 1e-10);
  const scene::Scene scene = read_text(
      table_text(1.7, 1.0,
                 "[section]\nat = \"after impact of table\"\nkeep = [\"z'\", \"phase\"]\n"),
      {fmt::format("s={:.17g}", t), fmt::format("w={:.17g}", 4.5 * kPi)});
  const SectionResult found = take_section(scene, {.settle = 0, .show = 30});
  ASSERT_EQ(found.rows.size(), 30U) << found.ended;
  EXPECT_NEAR(found.rows.back()[0], 35.0 * kPi, 1e-9);
  for (const std::vector<double>& row : found.rows) EXPECT_NEAR(row[1], 0.3923898157, 1e-9);
}

// exact: with a = 2 v/(v + pi/2) the mode has det(D + 1) = 2 a (1 - G sin t), det(D - 1) = 2 a G
// sin t: at every speed v it is born at pi/2 and flips at sqrt(1 + pi^2/4)
TEST(AttractorValues, TheAcceleratorModeIsBornAndFlips) {
  const auto determinant = [](double G, double sign, double v) {
    Eigen::Vector2d z(std::acos(0.5 * kPi / G), v - 0.5 * kPi);
    const Eigen::Matrix2d D = table_map(G, 1.0).bounces(z, 1);
    return (D + sign * Eigen::Matrix2d::Identity()).determinant();
  };
  for (const double v : {5.0 * kPi, 20.0 * kPi}) {
    EXPECT_NEAR(zero_near(1.85, 1e-3, 0.01, [&](double G) { return determinant(G, 1.0, v); }),
                1.862095889, 1e-9);
    const double a = 1.62, b = 1.6;
    const double fa = std::pow(determinant(a, -1.0, v), 2),
                 fb = std::pow(determinant(b, -1.0, v), 2);
    EXPECT_NEAR(std::sqrt(b * b - fb * (b * b - a * a) / (fb - fa)), 0.5 * kPi, 1e-9);
  }
}

/// Whether a ball thrown off the table at s with the relative speed w comes to rest on it; if not,
/// it comes so near to the motion of one impact a period that it is drawn in.
bool comes_to_rest(flow::Flow& flow, double G, double s, double w) {
  const double phase = std::acos(kPi / (3.0 * G)), speed = 4.0 * kPi / 3.0;  // of e = 1/2
  flow.start(s, Eigen::VectorXd::Constant(1, G * std::sin(s)),
             Eigen::VectorXd::Constant(1, G * std::cos(s) + w));
  bool rests = false, bounces = false;
  watch(flow, 1e4, [&](const flow::Event& event) {
    rests = event.kind == flow::EventKind::Rest;
    bounces =
        std::hypot(std::remainder(flow.t() - phase, 2.0 * kPi), event.approach - speed) < 0.02;
    return !rests && !bounces;
  });
  EXPECT_TRUE(rests || bounces) << s << " " << w;
  return rests;
}

// computed independently on the closed map: the share of starts, phase by relative speed, that
// bounce, 0.23474 on a grid of 400 x 400 and 0.23475 on this; the others rest, and what has rested
// once is the same motion ever after
TEST(AttractorValues, TheBasinOfTheBallOnAFinerGrid) {
  constexpr int kCells = kLess < 1.0 ? 20 : 200;
  constexpr double G = 1.2;
  const scene::Scene scene = read_text(table_text(G, 0.5));
  flow::Equations equations(*scene.formulas(), false, {});
  flow::Flow flow(equations, {.period = 2.0 * kPi});
  int rest = 0;
  for (int i = 0; i < kCells; ++i) {
    for (int j = 0; j < kCells; ++j) {
      if (comes_to_rest(flow, G, 2.0 * kPi * (i + 0.5) / kCells, 8.0 * (j + 0.5) / kCells)) ++rest;
    }
  }
  const double share = static_cast<double>(rest) / (kCells * kCells);
  EXPECT_NEAR(1.0 - share, 0.23474, kLess < 1.0 ? 0.02 : 0.001);
}

/// x'' + 2 zeta x' + x = A cos wt, x <= d, e.
std::string oscillator(double zeta, double A, double w, double d, double e) {
  return fmt::format(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
      "force = [\"{:.17g}*cos({:.17g}*t) - {:.17g}*x'\"]\nperiod = {:.17g}\n"
      "[contact.stop]\nkeep = \"x <= {:.17g}\"\nrestitution = {:.17g}\n"
      "[section]\nwhen = \"x'\"\ndirection = \"down\"\nkeep = [\"x\"]\n"
      "[start]\nposition = {{ x = {:.17g} }}\nvelocity = {{ x = 0.1 }}\n{}",
      A, w, 2.0 * zeta, 2.0 * kPi / w, d, e, d - 0.1, kRun);
}

// exact: zeta = 1.25, w = 2, d = 1: the free motion is linear in A and grazes at 5.8309518948; over
// a period its multipliers are 0.207880 and 0.001867, and windows shrink by the square of the first
TEST(AttractorValues, TheFreeMotionOfPeriodAdding) {
  const scene::Scene scene = read_text(oscillator(1.25, 2.0, 2.0, 1.0, 0.7));
  const SectionResult found = take_section(scene, {.settle = 40, .show = 3});
  ASSERT_EQ(found.rows.size(), 3U) << found.ended;
  EXPECT_EQ(found.rate, 0.0);
  EXPECT_NEAR(2.0 / found.rows.back()[0], 5.8309518948, 1e-9);
  flow::Equations equations(*scene.formulas(), true, {});
  flow::Flow flow(equations, {});
  flow.keep_columns(true);
  flow.start(0.0, Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1));
  flow.set_columns(Eigen::MatrixXd::Identity(2, 2));
  ASSERT_EQ(flow.advance(kPi).kind, flow::EventKind::End);
  flow.orthonormalise();  // ends the arc; the columns are kept
  const Eigen::Vector2d multipliers = Eigen::Matrix2d(flow.columns()).eigenvalues().real();
  EXPECT_NEAR(multipliers.maxCoeff(), std::exp(-0.5 * kPi), 1e-12);
  EXPECT_NEAR(multipliers.maxCoeff(), 0.207880, 5e-7);  // digits that are known
  EXPECT_NEAR(multipliers.minCoeff(), 0.001867, 5e-7);
  EXPECT_NEAR(std::pow(multipliers.maxCoeff(), -2), 23.14, 0.005);
}

/// Mean over blocks of a motion, or over motions, and its error.
struct Mean {
  double value{0.0}, error{0.0};
  explicit Mean(const std::vector<double>& numbers) {
    const auto count = static_cast<double>(numbers.size());
    for (const double number : numbers) value += number / count;
    for (const double number : numbers) error += (number - value) * (number - value);
    error = std::sqrt(error / (count - 1.0) / count);
  }
};

// independent computation with closed arcs, 4e7 impacts: w = 2.8, e = 0.8 strikes 1.05742 times a
// period, at 0.35661 on average and 0.15610 squared, and never sticks
TEST(AttractorValues, ImpactsOfTheChaoticOscillator) {
  constexpr double kPeriod = 2.0 * kPi / 2.8, kTolerance = 0.001;
  constexpr int kBlocks = 50;
  const scene::Scene scene = read_text(oscillator(0.0, 1.0, 2.8, 0.0, 0.8));
  flow::Equations equations(*scene.formulas(), false, {});
  flow::Flow flow(equations, {.period = kPeriod});
  flow.start(0.0, scene.start.q, scene.start.u);
  long long impacts = 0, others = 0;
  double speeds = 0.0, squares = 0.0;
  const auto see = [&](const flow::Event& event) {
    ++(event.kind == flow::EventKind::Impact ? impacts : others);
    speeds += event.approach;
    squares += event.approach * event.approach;
    return true;
  };
  double until = 500.0 * kPeriod;
  watch(flow, until, see);
  std::vector<double> rates, means, second;
  for (int k = 0; k < kBlocks; ++k) {
    impacts = 0;
    speeds = squares = 0.0;
    const double periods = kLess * 10000.0;
    watch(flow, until += periods * kPeriod, see);
    const auto count = static_cast<double>(impacts);
    rates.push_back(count / periods);
    means.push_back(speeds / count);
    second.push_back(squares / count);
  }
  EXPECT_EQ(others, 0);  // no rest, no release
  const auto expect = [&](const std::vector<double>& numbers, double known) {
    const Mean mean(numbers);
    EXPECT_LT(4.0 * mean.error * std::sqrt(kLess), kTolerance);
    EXPECT_NEAR(mean.value, known, kLess < 1.0 ? 4.0 * mean.error : kTolerance);
  };
  expect(rates, 1.05742);
  expect(means, 0.35661);
  expect(second, 0.15610);
}

// theorem: the sum of exponents is 2 f ln e, to the last digits
TEST(AttractorValues, TheSumOfExponentsToTheLastDigits) {
  const Lyapunov found =
      lyapunov(read_text(oscillator(0.0, 1.0, 2.8, 0.0, 0.8)), {.until = 2000.0});
  ASSERT_EQ(found.exponents.size(), 2U) << found.failure << found.broken;
  EXPECT_LT(std::abs(found.sum_residual), 1e-13);
  EXPECT_NEAR(found.sum(), 2.0 * found.rate * std::log(0.8), 1e-13);
}

/// A mass on a spring on a belt of speed v; weight 1.
std::string belt(double v, const std::string& friction) {
  return fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"0.5*x^2 + y\"\n"
      "[contact.belt]\nkeep = \"y >= 0\"\nslip = [\"x' - {0}\"]\nfriction = {1}\n"
      "[start]\nposition = {{ x = 0.2, y = 0 }}\nvelocity = {{ x = {0}, y = 0 }}\n{2}",
      v, friction, kFrictionRun);
}

/// From slip to slip, and the first time in between that the mass is as fast as the belt.
struct Cycle {
  double period{0.0}, slip{0.0}, place{0.0};
};

Cycle last_cycle(const std::string& text) {
  Cycle cycle;
  double began = 0.0;
  bool is_first = false;
  watch(text, 0.0, 150.0, [&](const flow::Flow& flow, const flow::Event& event) {
    if (event.kind == flow::EventKind::Slip) {
      cycle.period = flow.elapsed() - began;
      began = flow.elapsed();
      is_first = true;
    } else if (event.kind == flow::EventKind::Stick && is_first) {
      cycle.slip = flow.elapsed() - began;
      cycle.place = flow.q()[0];
      is_first = false;
    }
    return true;
  });
  return cycle;
}

// exact, and computed independently: periods of the mass on a belt. With friction 1/(1 + 3 |slip|)
// and v = 1 it is at x = -1.2348 when it is as fast as the belt: were it held there, against a
// spring stronger than friction, the period would be 7.0629134182
TEST(AttractorValues, PeriodsOnTheBelt) {
  EXPECT_NEAR(last_cycle(belt(0.2, "{ static = 1, dynamic = 0.5 }")).period, 8.902605408, 1e-9);
  const std::string falls = "\"1/(1 + 3*slip)\"";
  EXPECT_NEAR(last_cycle(belt(0.2, falls)).period, 12.0010312948, 1e-8);
  const Cycle fast = last_cycle(belt(1.0, falls));
  EXPECT_NEAR(fast.place, -1.2348142548, 1e-8);
  EXPECT_NEAR(fast.slip + 1.0 - fast.place, 7.0629134182, 1e-8);
  EXPECT_NEAR(fast.period, 7.0426870955, 1e-8);  // 0.6245478060 faster than the belt
}

// exact [Den Hartog 1930]: amplitudes without rest
TEST(AttractorValues, AmplitudesOfDenHartog) {
  const double cases[3][3] = {
      {0.7, 0.2, 1.9277745179}, {1.3, 0.3, 1.3153481967}, {0.8, 0.5, 2.3322349875}};
  for (const auto& [W, f, amplitude] : cases) {
    const scene::Scene scene = read_text(
        fmt::format("[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
                    "force = [\"cos({0}*t) - {1}*sign(x')\"]\nperiod = \"2*pi/{0}\"\n"
                    "[section]\nwhen = \"x'\"\nkeep = [\"x\"]\n"
                    "[start]\nposition = {{ x = 2 }}\nvelocity = {{ x = 0.01 }}\n{2}",
                    W, f, kRun));
    const SectionResult found = take_section(scene, {.settle = 400, .show = 2});
    ASSERT_EQ(found.rows.size(), 2U) << found.ended;
    EXPECT_NEAR(std::max(found.rows[0][0], found.rows[1][0]), amplitude, 1e-9) << W;
    EXPECT_NEAR(std::min(found.rows[0][0], found.rows[1][0]), -amplitude, 1e-9) << W;
  }
}

// exact [Den Hartog 1930]: x'' + x + 0.3 sgn x' = cos 0.4 t stops at both ends, as long at each
TEST(AttractorValues, RestsOfDenHartog) {
  const std::string text =
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
      "force = [\"cos(0.4*t)\"]\nperiod = \"2*pi/0.4\"\n"
      "[friction.dry]\nslip = \"x'\"\nbound = 0.3\n[start]\nposition = { x = 0.5 }\n" +
      kFrictionRun;
  std::vector<double> places, rests;
  double last = 0.0;
  watch(text, 5.0 * kPi, 2000.0, [&](const flow::Flow& flow, const flow::Event& event) {
    if (event.kind == flow::EventKind::Slip) {
      places.push_back(flow.q()[0]);
      rests.push_back(flow.elapsed() - last);
    }
    if (event.kind == flow::EventKind::Stick) last = flow.elapsed();
    return true;
  });
  ASSERT_GE(places.size(), 10U);
  EXPECT_NEAR(std::abs(places.back()), 1.127623771, 1e-9);
  EXPECT_NEAR(places.back() + places.rbegin()[1], 0.0, 1e-9);
  EXPECT_NEAR(rests.back(), 2.178268740, 1e-9);
  EXPECT_NEAR(rests.rbegin()[1], 2.178268740, 1e-9);
}

/// A particle of speed 1 between mirrors and discs of radius R; one disc is around the origin.
struct DiscBilliard {
  std::vector<std::string> walls;
  double x, y;           // a place in it
  double width, height;  // of a box around it
  double R;
  double most;                                         // angle of the disc around the origin
  double path;                                         // from disc to disc, on average
  std::function<double(double x, double y)> distance;  // from the nearest disc; < 0 outside

  std::string text() const {
    std::string all = "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n";
    for (std::size_t k = 0; k < walls.size(); ++k) {
      all += fmt::format("[contact.w{}]\nkeep = \"{}\"\nrestitution = 1\n", k, walls[k]);
    }
    return all + fmt::format("[start]\nposition = {{ x = {:.17g}, y = {:.17g} }}\n{}", x, y, kRun);
  }
  bool is_struck(const flow::Flow& flow, const flow::Event& event) const {
    return event.kind == flow::EventKind::Impact && distance(flow.q()[0], flow.q()[1]) < 1e-9;
  }
};

/// A quarter of the unit square around a disc.
DiscBilliard sinai(double R) {
  return {{fmt::format("x^2 + y^2 >= {}^2", R), "x >= 0", "x <= 0.5", "y >= 0", "y <= 0.5"},
          0.5,
          0.5,
          0.5,
          0.5,
          R,
          0.5 * kPi,
          (1.0 - kPi * R * R) / (2.0 * R),
          [R](double x, double y) { return std::hypot(x, y) - R; }};
}

/// A triangle of this side, with discs of radius 1 in its corners.
DiscBilliard lorentz(double s) {
  const double height = std::sqrt(0.75) * s;
  return {{"y >= 0", "y <= sqrt(3)*x", fmt::format("y <= sqrt(3)*({} - x)", s), "x^2 + y^2 >= 1",
           fmt::format("(x - {})^2 + y^2 >= 1", s),
           fmt::format("(x - 0.5*{0})^2 + (y - sqrt(3)/2*{0})^2 >= 1", s)},
          0.5 * s,
          height / 3.0,
          s,
          height,
          1.0,
          kPi / 3.0,
          std::sqrt(3.0) / 4.0 * s * s - 0.5 * kPi,
          [=](double x, double y) {
            if (y > std::sqrt(3.0) * std::min(x, s - x) + 1e-9) return -1.0;
            return std::min({std::hypot(x, y), std::hypot(x - s, y),
                             std::hypot(x - 0.5 * s, y - height)}) -
                   1.0;
          }};
}

/// Flights from disc to disc: the angle of the place where they leave, and the sine of that of the
/// flight, are equally likely. They are taken from lattices that are shifted by chance, so that
/// means over lattices are independent.
Mean mean_flight(const DiscBilliard& billiard) {
  constexpr int kLattices = 16, kPoints = kLess < 1.0 ? 400 : 2000;
  const scene::Scene scene = read_text(billiard.text());
  flow::Equations equations(*scene.formulas(), false, {});
  flow::Flow flow(equations, {});
  base::Random random(23);
  std::vector<double> means;
  for (int lattice = 0; lattice < kLattices; ++lattice) {
    const double first = random.uniform(), second = random.uniform();
    double sum = 0.0;
    for (int k = 0; k < kPoints; ++k) {
      const double angle = billiard.most * (k + first) / kPoints;
      const double turn = second + k / std::numbers::phi;
      const double sine = 2.0 * (turn - std::floor(turn)) - 1.0;
      const Eigen::Vector2d out(std::cos(angle), std::sin(angle)), along(-out[1], out[0]);
      flow.start(0.0, billiard.R * out, std::sqrt(1.0 - sine * sine) * out + sine * along);
      watch(flow, 1e6, [&](const flow::Event& event) { return !billiard.is_struck(flow, event); });
      sum += flow.elapsed();
    }
    means.push_back(sum / kPoints);
  }
  return Mean(means);
}

void expect_path(const DiscBilliard& billiard) {
  const Mean flight = mean_flight(billiard);
  EXPECT_NEAR(flight.value / billiard.path, 1.0, 4.0 * flight.error / billiard.path);
  EXPECT_LT(flight.error / billiard.path, kLess < 1.0 ? 0.05 : 0.008);
}

// exact: (1 - pi R^2)/(2 R) from disc to disc, on average
TEST(AttractorValues, FromDiscToDiscInSinaisBilliard) {
  for (const double R : {0.4, 0.3, 0.25, 0.2, 0.1}) {
    SCOPED_TRACE(R);
    expect_path(sinai(R));
  }
}

// exact: sqrt(3) s^2/4 - pi/2 from disc to disc, on average
TEST(AttractorValues, FromDiscToDiscInTheLorentzGas) {
  for (const double s : {2.0, 2.5, 3.0, 3.5, 4.0}) {
    SCOPED_TRACE(s);
    expect_path(lorentz(s));
  }
}

/// First exponent of many motions from starts that the invariant measure chooses, which are
/// independent and stationary. How often they happen to strike discs says much of it, and the mean
/// of that is known: what the line through both says of its error is taken away.
Mean first_exponent(const DiscBilliard& billiard, double time, double pause) {
  constexpr std::size_t kMotions = 64;
  const scene::Scene scene = read_text(billiard.text());
  flow::Equations equations(*scene.formulas(), true, {});
  flow::Flow flow(equations, {});
  base::Random random(29);
  std::vector<double> exponents, rates;
  const double length = kLess * time / kMotions;
  for (std::size_t k = 0; k < kMotions; ++k) {
    Eigen::Vector2d at(0.0, 0.0);
    for (int trial = 0; trial < 10000 && billiard.distance(at[0], at[1]) <= 0.0; ++trial) {
      at = {random.uniform(0.0, billiard.width), random.uniform(0.0, billiard.height)};
    }
    const double angle = random.uniform(0.0, 2.0 * kPi);
    flow.start(0.0, at, Eigen::Vector2d(std::cos(angle), std::sin(angle)));
    int struck = 0;
    const auto see = [&](const flow::Event& event) {
      if (billiard.is_struck(flow, event)) ++struck;
      return true;
    };
    watch(flow, pause, see);
    flow.orthonormalise();
    const double before = flow.growth()[0];
    struck = 0;
    watch(flow, pause + length, see);
    flow.orthonormalise();
    exponents.push_back((flow.growth()[0] - before) / length);
    rates.push_back(struck / length);
  }
  const double mean = Mean(exponents).value, rate = Mean(rates).value;
  double both = 0.0, squares = 0.0;
  for (std::size_t k = 0; k < kMotions; ++k) {
    both += (exponents[k] - mean) * (rates[k] - rate);
    squares += (rates[k] - rate) * (rates[k] - rate);
  }
  for (std::size_t k = 0; k < kMotions; ++k) {
    exponents[k] -= both / squares * (rates[k] - 1.0 / billiard.path);
  }
  return Mean(exponents);
}

void expect_exponent(const Mean& found, double known, double error) {
  EXPECT_NEAR(found.value, known, 4.0 * std::hypot(found.error, error));
  EXPECT_LT(found.error * std::sqrt(kLess), 0.01 * known);
}

struct Known {
  double size, exponent, error;
};

// computed independently
TEST(AttractorValues, ExponentsOfSinaisBilliard) {
  for (const auto& [R, known, error] :
       {Known{0.4, 2.7388, 0.0014}, Known{0.3, 1.9919, 0.0014}, Known{0.25, 1.7202, 0.0009},
        Known{0.2, 1.4704, 0.0010}, Known{0.1, 0.9423, 0.0007}}) {
    SCOPED_TRACE(R);
    expect_exponent(first_exponent(sinai(R), 1.2e4, 10.0 / R), known, error);
  }
}

// computed independently
TEST(AttractorValues, ExponentsOfTheLorentzGas) {
  for (const auto& [s, known, error] :
       {Known{2.0, 3.6084, 0.0008}, Known{2.5, 1.3442, 0.0004}, Known{3.0, 0.8552, 0.0006},
        Known{3.5, 0.6258, 0.0004}, Known{4.0, 0.4890, 0.0003}}) {
    SCOPED_TRACE(s);
    expect_exponent(first_exponent(lorentz(s), s < 2.2 ? 5e3 : 2e4, 20.0), known, error);
  }
}

}  // namespace
}  // namespace ricochet::dynamics::attractor_values_test
