// Where orbits are born, flip and graze, chatter that repeats, and maps over half a period: closed
// forms, and independent computations.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "impact_map.h"
#include "ricochet/dynamics/section.h"

namespace ricochet::dynamics::attractor_tables_test {
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
const std::string kRun = "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 100\n";

// exact: one impact in n periods from G_b = n pi (1-e)/(1+e) to sqrt(G_b^2 + f^2), where
// lambda^2 - [1 + e^2 - (1+e)^2 sqrt(G^2 - G_b^2)] lambda + e^2 = 0 has -1
TEST(AttractorTables, BirthAndFlipOfTheBall) {
  struct Case {
    double e;
    int n;
    double birth, flip;
  };
  for (const Case& c :
       {Case{0.2, 1, 2.094395102, 2.544191541}, Case{0.5, 1, 1.047197551, 1.526823701},
        Case{0.8, 1, 0.349065850, 1.070836468}, Case{0.9, 1, 0.165346982, 1.016310712},
        Case{0.5, 2, 2.094395102, 2.370877210}}) {
    const double square = (1.0 + c.e) * (1.0 + c.e), from = c.flip - 0.02;
    Eigen::Vector2d z = near_one_bounce(from, c.e, c.n);
    const auto close = [&](double G) { return table_map(G, c.e).close(z, 1, 2.0 * kPi); };
    const double root = (1.0 + c.e * c.e - close(from).trace()) / square;
    EXPECT_NEAR(std::sqrt(from * from - root * root), c.birth, 1e-8) << c.e << " " << c.n;
    EXPECT_NEAR(
        zero_near(from, 1e-4, 1e-2,
                  [&](double G) { return (close(G) + Eigen::Matrix2d::Identity()).determinant(); }),
        c.flip, 1e-8)
        << c.e << " " << c.n;
    EXPECT_NEAR(close(from).determinant(), c.e * c.e, 1e-9);
    EXPECT_NEAR(z[1], 2.0 * c.n * kPi * c.e / (1.0 + c.e), 1e-9);
  }
}

/// The first flight of a ball that does not bounce, after it was let go.
double first_flight(double G, double& from) {
  const scene::Scene scene = read_text(table_text(G, 0.0), {"s=0", "w=0"});
  flow::Equations equations(*scene.formulas(), false, {});
  flow::Flow flow(equations, {});
  flow.start(scene.start.t, scene.start.q, scene.start.u);
  EXPECT_EQ(flow.advance(100.0).kind, flow::EventKind::Release) << G;
  from = flow.elapsed();
  EXPECT_EQ(flow.advance(100.0).kind, flow::EventKind::Impact) << G;
  return flow.elapsed() - from;
}

// exact [Mehta and Luck 1990]: flights from sin t = 1/G last n periods at sqrt(1 + n^2 pi^2), and
// at the end of a window come down where the table falls as fast again, at no speed: the cube of
// what is missing is smooth
TEST(AttractorTables, WindowsOfTheBallThatDoesNotBounce) {
  const double begins[] = {3.296908309, 6.362265132}, ends[] = {4.603338849, 7.789705767};
  double from = 0.0;
  for (int n = 1; n <= 2; ++n) {
    const auto late = [&](double G) { return first_flight(G, from) - 2.0 * n * kPi; };
    EXPECT_NEAR(zero_near(begins[n - 1] + 0.1, 0.01, 0.05, late), begins[n - 1], 1e-8) << n;
    const auto beyond = [&](double G) {  // of the phase pi - from
      const double flight = first_flight(G, from);
      return std::pow(flight + 2.0 * from - (2.0 * n + 1.0) * kPi, 3);
    };
    EXPECT_NEAR(zero_near(ends[n - 1] - 0.1, 0.01, 0.05, beyond), ends[n - 1], 1e-8) << n;
  }
}

// exact: without rest, e = 0: the time of landing over that of take-off has the slope
// 1 - sqrt(G^2 - pi^2), and is -1 at sqrt(4 + pi^2)
TEST(AttractorTables, TheBallThatDoesNotBounceFlips) {
  const auto slope = [](double G) {
    const scene::Scene scene = read_text(table_text(G, 0.0));
    flow::Equations equations(*scene.formulas(), false, {});
    flow::Flow flow(equations, {});
    const double at = std::acos(kPi / G);
    constexpr double kStep = 1e-3;
    double sum = 0.0;
    for (const auto& [part, weight] : {std::pair(1.0, 0.75), {2.0, -0.15}, {3.0, 1.0 / 60.0}}) {
      for (const double sign : {1.0, -1.0}) {
        const double t = at + sign * part * kStep;
        flow.start(t, Eigen::VectorXd::Constant(1, G * std::sin(t)),
                   Eigen::VectorXd::Constant(1, G * std::cos(t)));
        EXPECT_EQ(flow.advance(20.0).kind, flow::EventKind::Impact) << G;
        sum += sign * weight * (t + flow.elapsed()) / kStep;
      }
    }
    return sum;
  };
  EXPECT_NEAR(slope(3.5), -0.54285307, 1e-8);
  EXPECT_NEAR(zero_near(3.7, 0.01, 0.02, [&](double G) { return slope(G) + 1.0; }), 3.724191778,
              1e-8);
}

// exact: e = 1, thrown so that 2 v = 10 pi: tr D = a (1 - 2 G sin t), a = 2 v/(v + pi/2): for fast
// flights stable while G sin t < 1, G < sqrt(1 + pi^2/4)
TEST(AttractorTables, TheAcceleratorModeIsStable) {
  for (const double G : {1.6, 1.7, 1.85, 1.9}) {
    const double v = 5.0 * kPi, a = 2.0 * v / (v + 0.5 * kPi), t = std::acos(0.5 * kPi / G);
    Eigen::Vector2d z(t, v - 0.5 * kPi);
    const Eigen::Matrix2d D = table_map(G, 1.0).bounces(z, 1);
    EXPECT_NEAR(z[1], v + 0.5 * kPi, 1e-9) << G;
    EXPECT_NEAR(D.determinant(), a - 1.0, 1e-9) << G;
    EXPECT_NEAR(D.trace(), a * (1.0 - 2.0 * G * std::sin(t)), 1e-9) << G;
    const double root = 0.5 * (1.0 - D.trace() / a);
    EXPECT_NEAR(std::sqrt(1.0 + G * G - root * root), 1.862095889, 1e-9) << G;
  }
}

/// x'' + 2 zeta x' + x = A cos wt, x <= d, e.
std::string oscillator(double zeta, double A, double w, double d, double e,
                       const Eigen::Vector2d& start = {0.0, 0.0}) {
  return fmt::format(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
      "force = [\"{:.17g}*cos({:.17g}*t) - {:.17g}*x'\"]\n"
      "[contact.stop]\nkeep = \"x <= {:.17g}\"\nrestitution = {:.17g}\n"
      "[section]\nwhen = \"x'\"\ndirection = \"down\"\nkeep = [\"x\"]\n"
      "[start]\nposition = {{ x = {:.17g} }}\nvelocity = {{ x = {:.17g} }}\n"
      "{}start_time = {:.17g}\n",
      A, w, 2.0 * zeta, d, e, d, -start[1], kRun, start[0]);
}

/// Orbits of one impact in n periods: zeta = 1.25, w = 2, d = 1, e = 0.7, A = (1 + part) of that
/// which grazes.
class PeriodAdding {
 public:
  /// Settles at `part`.
  PeriodAdding(int n, double part) : n_(n), part_(part), z_(0.3, 0.5) {
    map(part).bounces(z_, 400);
    z_[0] -= kPi * std::floor(z_[0] / kPi);
  }

  /// Follows the orbit, along the line through its last two places; the derivative of its map.
  Eigen::Matrix2d follow(double part) {
    constexpr int kSteps = 20;
    Eigen::Matrix2d D;
    const double way = std::log(part / part_) / kSteps;
    for (int k = 1; k <= kSteps && z_.allFinite(); ++k) {
      part_ = k < kSteps ? part_ * std::exp(way) : part;
      const Eigen::Vector2d before = z_;
      z_ += way * rate_;
      D = map(part_).close(z_, 1, kPi, n_);
      if (std::abs(way) > 1e-12) rate_ = (z_ - before) / way;
    }
    return D;
  }

  /// How far the highest of the turns between two impacts is beyond the wall.
  double beyond(double part) {
    follow(part);
    const SectionResult turns =
        take_section(read_text(text(part, z_)), {.settle = 0, .show = n_ - 1});
    double highest = -1e9;
    for (const std::vector<double>& row : turns.rows) highest = std::max(highest, row[0]);
    return highest - 1.0;
  }

  double approach() const { return z_[1] / 0.7; }

 private:
  static double amplitude(double part) { return 5.8309518948453 * (1.0 + part); }
  static std::string text(double part, const Eigen::Vector2d& z) {
    return oscillator(1.25, amplitude(part), 2.0, 1.0, 0.7, z);
  }
  static ImpactMap map(double part) {
    return {text(part, {0.0, 0.5}), still_wall(1.0, -1.0),
            [A = amplitude(part)](double t, double x, double u) {
              return A * std::cos(2.0 * t) - 2.5 * u - x;
            }};
  }

  int n_;
  double part_;
  Eigen::Vector2d z_, rate_{0.0, 0.0};  // and its change over that of ln(part)
};

// exact: the windows of period adding, from where the orbit flips to where it grazes
TEST(AttractorTables, WindowsOfPeriodAdding) {
  struct Case {
    double inside, speed, flips, grazes;
  };
  const Case cases[] = {{0.5, 1.31970874, 0.2887308787, 0.0},
                        {0.1, 0.74616326, 0.0131208432, 0.3317179648},
                        {0.005, 0.16397449, 6.082972980e-4, 1.447338307e-2},
                        {2e-4, 0.03243673, 2.674876e-5, 6.490695e-4}};
  for (int n = 1; n <= 4; ++n) {
    const Case& c = cases[n - 1];
    PeriodAdding orbit(n, c.inside);
    EXPECT_NEAR(orbit.approach(), c.speed, 1e-7) << n;
    const double exact = n < 4 ? 1e-9 : 1e-10;  // digits that are known
    if (n > 1) {
      for (const double rest : {0.1, 1e-2, 1e-3, 1e-4}) orbit.follow(c.grazes * (1.0 - rest));
      const double a = c.grazes * (1.0 - 2e-5), b = c.grazes * (1.0 - 1e-5);
      const double fa = orbit.beyond(a), fb = orbit.beyond(b);
      EXPECT_LT(fb, 0.0) << n;
      EXPECT_NEAR(b - fb * (b - a) / (fb - fa), c.grazes, exact) << n;
    }
    EXPECT_NEAR(zero_near(1.02 * c.flips, 1e-3 * c.flips, 0.05 * c.flips,
                          [&](double part) {
                            return (orbit.follow(part) + Eigen::Matrix2d::Identity()).determinant();
                          }),
                c.flips, exact)
        << n;
  }
}

// exact for w = 1/2, e = 0.3 (impact half a period after release, at 4/3, then at 0.65), and arcs
// of 40 digits: one chatter a period, all multipliers 0
TEST(AttractorTables, ChatterOncePerPeriod) {
  struct Case {
    double w, e, first, speed, second, next, rest;
  };
  for (const Case& c : {Case{0.5, 0.3, 0.5, 4.0 / 3.0, 0.642549479296, 0.65, 0.694673817152478},
                        Case{0.4, 0.5, 0.452530315056, 0.778238094286, 0.612980533934,
                             0.844077215571, 0.740539881520117}}) {
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
      for (int k = 0; k < 1000 && event.kind == flow::EventKind::Impact; ++k) {
        event = flow.advance(100.0);
      }
      ASSERT_EQ(event.kind, flow::EventKind::Rest);
      EXPECT_NEAR((flow.elapsed() - from) / T, c.rest, 1e-9);
      EXPECT_EQ(flow.columns().cols(), 0);  // nothing is left of where it came from
    }
  }
}

// exact [Den Hartog 1930]: the map of half a period, turned round, has these multipliers
TEST(AttractorTables, DenHartogOverHalfAPeriod) {
  const double cases[3][4] = {{0.7, 0.2, 0.1836394, 0.7853741},
                              {1.3, 0.3, 0.6595061, 0.5720435},
                              {0.8, 0.5, 0.5296763, 0.4664695}};
  for (const auto& [W, f, re, im] : cases) {
    const double V = 1.0 / (1.0 - W * W);
    const double U = std::sin(kPi / W) / (W * (1.0 + std::cos(kPi / W)));
    const scene::Scene scene = read_text(
        fmt::format("[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
                    "force = [\"cos({}*t) - {}*sign(x')\"]\n"
                    "[start]\nposition = {{ x = {} }}\nvelocity = {{ x = 0.01 }}\n{}",
                    W, f, 1.1 * std::sqrt(V * V - U * U * f * f), kRun));
    flow::Equations equations(*scene.formulas(), true, {});
    flow::Flow flow(equations, {.period = 2.0 * kPi / W});
    flow.keep_columns(true);
    flow.start(0.0, scene.start.q, scene.start.u);
    const auto go = [&](double time) {
      const double end = flow.elapsed() + time;
      for (int k = 0; k < 100000 && flow.elapsed() < end; ++k) {
        ASSERT_NE(flow.advance(end - flow.elapsed()).kind, flow::EventKind::Failure);
      }
    };
    go((2.0 * kPi / W) * 200.0 + 0.4);  // settled, and not where it turns
    flow.set_columns(Eigen::MatrixXd::Identity(2, 2));
    const double x = flow.q()[0], u = flow.u()[0];
    go(kPi / W);
    flow.orthonormalise();  // ends the arc; the columns are kept
    EXPECT_NEAR(flow.q()[0], -x, 1e-9) << W;
    EXPECT_NEAR(flow.u()[0], -u, 1e-9) << W;
    const std::complex<double> lambda = multiplier(-flow.columns());
    EXPECT_NEAR(lambda.real(), re, 1e-7) << W;
    EXPECT_NEAR(std::abs(lambda.imag()), im, 1e-7) << W;
  }
}

}  // namespace
}  // namespace ricochet::dynamics::attractor_tables_test
