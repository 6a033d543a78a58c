// Motions whose orbits, multipliers and exponents are known in closed form, or were computed
// independently: Newton on the map from impact to impact, with the derivatives of the flow.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

#include "ricochet/dynamics/basin.h"
#include "ricochet/dynamics/lyapunov.h"
#include "support.h"

namespace ricochet::dynamics::attractor_cases_test {
namespace {

using testing::read_text;

constexpr double kPi = std::numbers::pi;
const std::string kRun = "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n";

/// A wall that moves, on the side of x where `side` points away from it.
struct Wall {
  std::function<double(double)> place, speed, acceleration;
  double side{1.0};
};
const Wall kStill{[](double) { return 0.0; }, [](double) { return 0.0; },
                  [](double) { return 0.0; }};

/// (t, w) of take-off, w the relative speed, to the next one, for one coordinate and one contact.
class ImpactMap {
 public:
  ImpactMap(const std::string& text, Wall wall, std::function<double(double, double)> force)
      : scene_(read_text(text)),
        equations_(*scene_.formulas(), true, {}),
        flow_(equations_, {}),
        wall_(std::move(wall)),
        force_(std::move(force)) {
    flow_.keep_columns(true);
  }

  /// One bounce; D is multiplied by its derivative from the left.
  void bounce(Eigen::Vector2d& z, Eigen::Matrix2d& D) {
    const double t = z[0], w = z[1], side = wall_.side;
    const double x = wall_.place(t), u = wall_.speed(t) + side * w;
    flow_.start(t, Eigen::VectorXd::Constant(1, x), Eigen::VectorXd::Constant(1, u));
    Eigen::Matrix2d columns;
    columns << wall_.speed(t) - u, 0.0, wall_.acceleration(t) - force_(t, x), side;
    flow_.set_columns(columns);
    flow::Event event;
    while (event.kind != flow::EventKind::Impact) {
      event = flow_.advance(1000.0);
      ASSERT_NE(event.kind, flow::EventKind::Failure) << flow_.failure();
    }
    const double end = t + flow_.elapsed();
    const double after = side * (flow_.u()[0] - wall_.speed(end));
    columns = flow_.columns();
    Eigen::Matrix2d step;
    step.row(0) = -side * columns.row(0) / after;
    step.row(1) = side * (columns.row(1) +
                          (force_(end, flow_.q()[0]) - wall_.acceleration(end)) * step.row(0));
    z = {end, after};
    D = step * D;
    approach = event.approach;
  }

  /// Newton's method for an orbit of so many bounces that repeats after multiples of `modulus`.
  Eigen::Matrix2d close(Eigen::Vector2d& z, int bounces, double modulus) {
    Eigen::Matrix2d D;
    for (int round = 0; round < 20; ++round) {
      Eigen::Vector2d end = z;
      D.setIdentity();
      for (int k = 0; k < bounces; ++k) bounce(end, D);
      Eigen::Vector2d off = end - z;
      off[0] -= modulus * std::round(off[0] / modulus);
      if (off.norm() < 1e-13) break;
      z -= (D - Eigen::Matrix2d::Identity()).inverse() * off;
    }
    return D;
  }

  double approach{0.0};

 private:
  scene::Scene scene_;
  flow::Equations equations_;
  flow::Flow flow_;
  Wall wall_;
  std::function<double(double, double)> force_;
};

std::complex<double> multiplier(const Eigen::Matrix2d& D) {
  const std::complex<double> root =
      std::sqrt(std::complex<double>(0.25 * D.trace() * D.trace() - D.determinant()));
  return 0.5 * D.trace() + root;
}

std::string table_text(double G, double e, const std::string& more = "") {
  return fmt::format(
      "[system]\ncoordinates = [\"z\"]\nparameters = {{ G = {:.17g}, s = 0.51, w = 2.09 }}\n"
      "mass = [1]\npotential = \"z\"\nperiod = \"2*pi\"\n"
      "[contact.table]\nkeep = \"z >= G*sin(t)\"\nrestitution = {:.17g}\n"
      "[start]\nposition = {{ z = \"G*sin(s)\" }}\nvelocity = {{ z = \"G*cos(s) + w\" }}\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 10\nstart_time = \"s\"\n{}\n",
      G, e, more);
}

/// A ball of gravity 1 on the table z >= G sin t.
ImpactMap table(double G, double e) {
  return {table_text(G, e),
          {[G](double t) { return G * std::sin(t); }, [G](double t) { return G * std::cos(t); },
           [G](double t) { return -G * std::sin(t); }},
          [](double, double) { return -1.0; }};
}

/// Near the motion with one impact a period.
Eigen::Vector2d near_one_bounce(double G, double e) {
  return {std::acos(kPi * (1.0 - e) / ((1.0 + e) * G)) + 1e-3, 2.0 * kPi * e / (1.0 + e)};
}

// exact: lambda^2 - [1 + e^2 - (1+e)^2 sqrt(G^2 - G_b^2)] lambda + e^2 = 0
TEST(AttractorCases, MultipliersOfTheBallOnATable) {
  ImpactMap map = table(1.2, 0.5);
  Eigen::Vector2d z = near_one_bounce(1.2, 0.5);
  const Eigen::Matrix2d D = map.close(z, 1, 2.0 * kPi);
  EXPECT_NEAR(z[0], 0.5101636085, 1e-9);
  EXPECT_NEAR(multiplier(D).real(), -0.03423204, 1e-8);
  EXPECT_NEAR(std::abs(multiplier(D).imag()), 0.49882679, 1e-8);
}

/// The parameter at which a stable orbit of so many bounces flips: det(D + 1) = 0, by secants.
double flip_of(int bounces, double from) {
  Eigen::Vector2d z = near_one_bounce(from, 0.5);
  ImpactMap first = table(from, 0.5);
  Eigen::Matrix2d D;
  for (int k = 0; k < 4096; ++k) first.bounce(z, D);
  const auto value = [&](double G) {
    return (table(G, 0.5).close(z, bounces, 2.0 * kPi) + Eigen::Matrix2d::Identity()).determinant();
  };
  double a = from, fa = value(a), b = from + 1e-5, fb = value(b);
  for (int round = 0; round < 30 && std::abs(b - a) > 1e-12 && fb != fa; ++round) {
    double next = b - fb * (b - a) / (fb - fa);
    next = std::clamp(next, b - 2e-3, b + 2e-3);  // the orbit is followed
    a = b, fa = fb;
    b = next, fb = value(b);
  }
  return b;
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
  ImpactMap map = table(1.6, 0.5);
  Eigen::Vector2d z = near_one_bounce(1.6, 0.5);
  Eigen::Matrix2d D;
  for (int k = 0; k < 2000; ++k) map.bounce(z, D);
  D = map.close(z, 2, 2.0 * kPi);
  EXPECT_NEAR(multiplier(D).real(), -0.02759603, 1e-8);
  EXPECT_NEAR(std::abs(multiplier(D).imag()), 0.24847225, 1e-8);
  const auto phase = [](double t) { return t - 2.0 * kPi * std::floor(t / (2.0 * kPi)); };
  if (phase(z[0]) < 1.0) map.bounce(z, D);
  z[0] = phase(z[0]);
  EXPECT_NEAR(z[0], 1.19434771072543, 1e-11);
  EXPECT_NEAR(z[1] + 1.6 * std::cos(z[0]), 2.58996513934720, 1e-11);
  map.bounce(z, D);
  EXPECT_NEAR(phase(z[0]), 0.40391495630515, 1e-11);
  EXPECT_NEAR(z[1] + 1.6 * std::cos(z[0]), 3.65826422738157, 1e-11);
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
    while (flow.elapsed() < until) {
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

// computed independently on the closed map: 0.2347 of the starts bounce, the others chatter
TEST(AttractorCases, TheBasinOfTheBall) {
  constexpr int kCells = 50;
  const double a = kPi / kCells, b = 4.0 / kCells;
  const scene::Scene scene =
      read_text(table_text(1.2, 0.5,
                           fmt::format("[section]\nevery = \"2*pi\"\n[sweep.over]\n"
                                       "s = {{ from = {:.17g}, to = {:.17g}, count = {} }}\n"
                                       "w = {{ from = {:.17g}, to = {:.17g}, count = {} }}\n",
                                       a, 2.0 * kPi - a, kCells, b, 8.0 - b, kCells)));
  const Basin found = find_basin(scene, {}, {});
  ASSERT_EQ(found.attractors.size(), 2U);
  EXPECT_NEAR(std::min(found.fraction(0), found.fraction(1)), 0.2347, 0.006);
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
  while (event.kind == flow::EventKind::Impact) event = flow.advance(100.0);
  ASSERT_EQ(event.kind, flow::EventKind::Rest);
  EXPECT_NEAR(flow.elapsed() / T - 0.25, 5.98730, 1e-4);
  ASSERT_EQ(flow.advance(100.0).kind, flow::EventKind::Release);
  EXPECT_NEAR(flow.elapsed() / T - 0.25, 6.0, 1e-9);
}

// exact: the slender block x'' = x - sgn x + F cos wt, rate times r at x = 0: from edge to edge
// |x| bounces while the force changes sign, so that half a period is one bounce
TEST(AttractorCases, TheRockingBlock) {
  const auto orbit = [](double w, double F, double r, Eigen::Vector2d& z, double& approach) {
    ImpactMap map(fmt::format("[system]\ncoordinates = [\"x\"]\nmass = [1]\n"
                              "potential = \"x - 0.5*x^2\"\nforce = [\"{}*cos({}*t)\"]\n"
                              "[contact.edge]\nkeep = \"x >= 0\"\nrestitution = {}\n"
                              "[start]\nposition = {{ x = 0.1 }}\n{}",
                              F, w, r, kRun),
                  kStill, [=](double t, double x) { return x - 1.0 + F * std::cos(w * t); });
    const Eigen::Matrix2d D = map.close(z, 1, kPi / w);
    approach = map.approach;
    return multiplier(D);
  };
  const double cases[3][3] = {
      {4.0, 4.0, 1.378114362}, {5.0, 6.0, 1.528621600}, {3.0, 3.0, 1.446749903}};
  for (const auto& [w, F, speed] : cases) {
    Eigen::Vector2d z(1.46 / w, 0.9 * speed);
    double approach = 0.0;
    const std::complex<double> lambda = orbit(w, F, 0.9, z, approach);
    EXPECT_NEAR(approach, speed, 1e-8) << w;
    EXPECT_NEAR(z[1], 0.9 * approach, 1e-9) << w;
    if (w == 4.0) {
      EXPECT_NEAR(lambda.real(), -0.607128, 1e-6);
      EXPECT_NEAR(std::abs(lambda.imag()), 0.664376, 1e-6);
    }
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

/// The first exponent of a billiard, per time, within four of its errors and those of `known`.
void expect_exponent(const std::string& walls, const std::string& start, double until, double known,
                     double error, double per_impact_of = 0.0) {
  const Lyapunov found =
      lyapunov(read_text("[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n" + walls +
                         "[start]\n" + start + kRun),
               {.until = until});
  ASSERT_EQ(found.exponents.size(), 4U) << found.failure << found.broken;
  const double scale = per_impact_of > 0.0 ? 1.0 / found.rate : 1.0;
  EXPECT_NEAR(found.exponents[0] * scale, known, 4.0 * std::hypot(found.errors[0] * scale, error));
  EXPECT_LT(found.errors[0] * scale, 0.02 * known);
  EXPECT_LT(std::abs(found.sum_residual), 1e-10);
  if (per_impact_of > 0.0) {
    EXPECT_NEAR(found.rate, per_impact_of, 0.01 * per_impact_of);
  }
}

std::string wall(const char* name, const std::string& keep) {
  return fmt::format("[contact.{}]\nkeep = \"{}\"\nrestitution = 1\n", name, keep);
}

// computed independently: 0.4296(5); mean free path pi (4a + pi)/(4a + 2 pi) exactly
TEST(AttractorCases, TheStadium) {
  expect_exponent(wall("rim", "hypot(max(abs(x) - 1, 0), y) <= 1"),
                  "position = { x = 0.2, y = 0.1 }\nvelocity = { x = 0.6, y = 0.8 }\n", 1e5, 0.4296,
                  0.0005);
}

// computed independently: a triangle of mirrors with discs of radius 1 in its corners, side 2.5,
// unfolds to the triangular Lorentz gas: 1.3442(4)
TEST(AttractorCases, TheLorentzGas) {
  const double height = 2.5 * std::sqrt(3.0) / 2.0;
  std::string walls = wall("floor", "y >= 0") + wall("left", "y <= sqrt(3)*x") +
                      wall("right", "y <= sqrt(3)*(2.5 - x)") + wall("a", "x^2 + y^2 >= 1") +
                      wall("b", "(x - 2.5)^2 + y^2 >= 1") +
                      wall("c", fmt::format("(x - 1.25)^2 + (y - {:.17g})^2 >= 1", height));
  expect_exponent(walls, "position = { x = 1.25, y = 0.6 }\nvelocity = { x = 0.6, y = 0.8 }\n", 2e4,
                  1.3442, 0.0004);
}

// computed independently [Lehtihet and Miller 1986]: 0.6135(2) a bounce at 60 degrees; mean flight
// 3 pi sin(60) sqrt(E)/(4 sqrt(2) g) exactly
TEST(AttractorCases, TheWedge) {
  const double flight = 3.0 * kPi * std::sin(kPi / 3.0) * std::sqrt(1.0) / (4.0 * std::sqrt(2.0));
  expect_exponent(
      "potential = \"y\"\n" + wall("left", "y*sqrt(3) >= -x") + wall("right", "y*sqrt(3) >= x"),
      "position = { x = 0.1, y = 0.5 }\nvelocity = { x = 0.8, y = 0.6 }\n", 2e4, 0.6135, 0.0002,
      1.0 / flight);
}

// exact: the unit oscillator between two walls at +-d, e = 1: frequency pi/(2 asin(d/a)): a = 2d ->
// 3
TEST(AttractorCases, BackboneBetweenTwoWalls) {
  const scene::Scene scene =
      read_text("[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n" +
                wall("right", "x <= 0.5") + wall("left", "x >= -0.5") +
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
