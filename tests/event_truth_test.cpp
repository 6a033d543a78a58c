// Motions from impact to impact against closed forms and independent integrations.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "ricochet/step/run_formula.h"
#include "support.h"

namespace ricochet::study::event_truth_test {
namespace {

using certify::Certificate;
using certify::Failure;
using testing::run_text;

/// A particle over a floor z >= 0 with restitution e under gravity g.
std::string ball(double g, const std::string& e, double height, double step, double until,
                 const std::string& more = "") {
  return fmt::format(
      "[system]\ncoordinates = [\"z\"]\nmass = [2]\npotential = \"{:.17g}*z\"\n"
      "[contact.floor]\nkeep = \"z >= 0\"\nrestitution = {}\n"
      "[start]\nposition = {{ z = {:.17g} }}\n"
      "[run]\nscheme = \"event-driven\"\nstep = {:.17g}\nuntil = {:.17g}\n{}\n",
      2.0 * g, e, height, step, until, more);
}

// exact: t_n = t_1 (1 + 2 e + ... + 2 e^n), t_1 = sqrt(2 H / g)
TEST(EventTruth, ImpactsAreWhereTheyShouldBe) {
  for (const double e : {0.3, 0.7, 0.95}) {
    for (const double step : {0.01, 0.1, 10.0}) {
      const Motion motion = run_text(ball(9.81, fmt::format("{}", e), 1.3, step, 10.0 * step + 4.0),
                                     {"run.zeno=contact"});
      const Certificate& c = motion.outcome.certificate;
      ASSERT_TRUE(c.ok()) << e << " " << step << " " << certify::describe(c.failure).name;
      const double first = std::sqrt(2.0 * 1.3 / 9.81);
      double t = first, flight = 2.0 * first * e;
      ASSERT_GE(c.shocks.size(), 4U);
      for (std::size_t n = 0; n < 4; ++n) {
        EXPECT_NEAR(c.shocks[n].t, t, 1e-9) << e << " " << step << " " << n;
        t += flight;
        flight *= e;
      }
      const double rest = first * (1.0 + e) / (1.0 - e);
      if (rest < 4.0) {
        EXPECT_EQ(c.zeno_count, 1);
        EXPECT_NEAR(c.zeno_time, rest, 1e-7);
        EXPECT_NEAR(motion.rows.back().u[0], 0.0, 1e-15);
      }
    }
  }
}

// exact: the ball falls 5 under gravity 10, meets the floor at 1, and again at 3
TEST(EventTruth, AnImpactAtARowsOwnTimeIsMet) {
  for (const char* settings : {"run.step=1", "run.step=0.5", "run.step=0.125", "run.step=3"}) {
    const Motion motion = run_text(ball(10.0, "1", 5.0, 1.0, 3.0), {settings});
    ASSERT_TRUE(motion.outcome.certificate.ok()) << settings;
    EXPECT_NEAR(motion.rows.back().q[0], 0.0, 1e-9) << settings;
    EXPECT_NEAR(motion.rows.back().u[0], 10.0, 1e-9) << settings;  // after the impact
    EXPECT_LT(motion.outcome.certificate.violation_max, 1e-12) << settings;
  }
}

// e = 0.9 above a speed and 1 below it: the ball bounces for ever, whatever the rows.
TEST(EventTruth, AccumulationsAreNotSeenWhereThereAreNone) {
  for (const double slowest : {1.0, 1e-2}) {
    for (const double step : {80.0, 10.0}) {
      const Motion motion = run_text(
          ball(10.0, fmt::format("\"if(approach > {}, 0.9, 1)\"", slowest), 1.0, step, 80.0),
          {"run.zeno=contact", "run.record=0"});
      const Certificate& c = motion.outcome.certificate;
      ASSERT_TRUE(c.ok()) << slowest << " " << step << " " << certify::describe(c.failure).name;
      EXPECT_EQ(c.zeno_count, 0);
      const double end = motion.rows.back().energy() / 2.0;  // of a unit mass
      EXPECT_GE(end, 0.5 * 0.81 * slowest * slowest * (1.0 - 1e-6));
      EXPECT_LE(end, 0.5 * slowest * slowest * (1.0 + 1e-6));
    }
  }
}

std::string column(int n, double e, double step) {
  std::string names, masses, weights, walls, start;
  for (int i = 0; i < n; ++i) {
    const double mass = 1.0 + 0.7 * std::sin(3.0 * i);
    names += fmt::format("{}\"z{}\"", i > 0 ? ", " : "", i);
    masses += fmt::format("{}{:.17g}", i > 0 ? ", " : "", mass);
    weights += fmt::format("{}{:.17g}*z{}", i > 0 ? " + " : "", 9.81 * mass, i);
    start += fmt::format("{}z{} = {}", i > 0 ? ", " : "", i, i);
    const std::string keep = i > 0 ? fmt::format("z{} - z{} >= 1", i, i - 1) : "z0 >= 0";
    walls += fmt::format("[contact.c{}]\nkeep = \"{}\"\nrestitution = {}\n", i, keep, e);
  }
  return fmt::format(
      "[system]\ncoordinates = [{}]\nmass = [{}]\npotential = \"{}\"\n{}[start]\nposition = {{ {} "
      "}}\n[run]\nscheme = \"event-driven\"\nzeno = \"contact\"\nstep = {}\nuntil = 1\n",
      names, masses, weights, walls, start, step);
}

// exact: nothing moves, and each contact carries what lies above it
TEST(EventTruth, BallsInAColumnStayAtRest) {
  for (const int n : {1, 2, 3, 12}) {
    for (const double e : {0.0, 0.6}) {
      for (const double step : {0.01, 0.5}) {
        const Motion motion = run_text(column(n, e, step));
        const Certificate& c = motion.outcome.certificate;
        ASSERT_TRUE(c.ok()) << n << " " << e << certify::describe(c.failure).name;
        double above = 0.0;
        for (int i = n - 1; i >= 0; --i) {
          const auto k = static_cast<std::size_t>(i);
          above += 9.81 * (1.0 + 0.7 * std::sin(3.0 * i));
          EXPECT_NEAR(motion.rows.back().q[k], i, 1e-12) << n;
          EXPECT_NEAR(motion.rows.back().impulses[k], above * step, 1e-9 * above) << n;
        }
      }
    }
  }
}

// exact: a reflection at a circle, however small it is beside the rows
TEST(EventTruth, PostsOfAnySizeAreMet) {
  for (const double radius : {1.0, 1e-2, 1e-4}) {
    for (const double aside : {0.0, 0.6}) {
      for (const int rows : {1, 13, 400}) {
        const double far = 10.03, b = aside * radius, until = 2.0 * far;
        const Motion motion = run_text(fmt::format(
            "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n[contact.post]\nkeep = "
            "\"hypot(x - {:.17g}, y - {:.17g}) >= {:.17g}\"\nrestitution = 1\n[start]\nposition = "
            "{{ x = 0, y = 0 }}\nvelocity = {{ x = 1, y = 0 }}\n[run]\nscheme = "
            "\"event-driven\"\nstep = {:.17g}\nuntil = {:.17g}\nrecord = 0\n",
            far, b, radius, until / rows, until));
        ASSERT_TRUE(motion.outcome.certificate.ok()) << radius << " " << rows;
        EXPECT_EQ(motion.outcome.certificate.undecided_crossings, 0);
        const double depth = std::sqrt(radius * radius - b * b), t = far - depth;
        const double nx = -depth / radius, ny = -b / radius;
        const double ux = 1.0 - 2.0 * nx * nx, uy = -2.0 * nx * ny;
        const double digits = 1e-11 * far / radius + 1e-9;
        EXPECT_NEAR(motion.rows.back().q[0], t + ux * (until - t), digits) << radius << " " << rows;
        EXPECT_NEAR(motion.rows.back().q[1], uy * (until - t), digits) << radius << " " << rows;
      }
    }
  }
}

/// A bob on a slack string of length 1, by formulas of the parabola and by Runge and Kutta's rule
/// on the circle.
class Bob {
 public:
  Bob(double x, double z, double u, double w) : x_(x), z_(z), u_(u), w_(w) {}
  std::array<double, 2> at(double end) {
    bool free = true;
    while (t_ < end) {
      free ? fly(end) : swing(end);
      free = !free;
    }
    return {x_, z_};
  }

 private:
  static constexpr double kGravity = 9.81;
  double over(double s) const {
    return std::hypot(x_ + u_ * s, z_ + w_ * s - 0.5 * kGravity * s * s) - 1.0;
  }
  void fly(double end) {
    const double longest = end - t_;
    double low = 0.0, high = longest;
    constexpr int kLooks = 20000;
    for (int i = 1; i <= kLooks; ++i) {
      const double s = longest * i / kLooks;
      if (over(s) > 1e-13) {
        high = s;
        break;
      }
      low = s;
    }
    if (low < longest) {
      for (int i = 0; i < 100; ++i) {
        const double middle = 0.5 * (low + high);
        (over(middle) > 0.0 ? high : low) = middle;
      }
    }
    x_ += u_ * low;
    z_ += w_ * low - 0.5 * kGravity * low * low;
    w_ -= kGravity * low;
    t_ += low;
    if (t_ >= end) return;
    const double length = std::hypot(x_, z_);
    x_ /= length;
    z_ /= length;
    const double out = x_ * u_ + z_ * w_;
    u_ -= out * x_;
    w_ -= out * z_;
  }
  static std::array<double, 2> turn(double angle, double rate, double h) {
    const auto slope = [](double a) { return -kGravity * std::sin(a); };
    const double k1 = rate, l1 = slope(angle);
    const double k2 = rate + 0.5 * h * l1, l2 = slope(angle + 0.5 * h * k1);
    const double k3 = rate + 0.5 * h * l2, l3 = slope(angle + 0.5 * h * k2);
    const double k4 = rate + h * l3, l4 = slope(angle + h * k3);
    return {angle + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4),
            rate + h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)};
  }
  static bool is_taut(double angle, double rate) {
    return rate * rate + kGravity * std::cos(angle) > 0.0;
  }
  void swing(double end) {
    double angle = std::atan2(x_, -z_), rate = u_ * std::cos(angle) + w_ * std::sin(angle);
    while (t_ < end && is_taut(angle, rate)) {
      double h = std::min(1e-4, end - t_);
      std::array<double, 2> next = turn(angle, rate, h);
      if (!is_taut(next[0], next[1])) {
        double low = 0.0;
        for (int i = 0; i < 60; ++i) {
          const double middle = 0.5 * (low + h);
          const auto looked = turn(angle, rate, middle);
          (is_taut(looked[0], looked[1]) ? low : h) = middle;
        }
        next = turn(angle, rate, h);
      }
      angle = next[0];
      rate = next[1];
      t_ += h;
    }
    x_ = std::sin(angle);
    z_ = -std::cos(angle);
    u_ = rate * std::cos(angle);
    w_ = rate * std::sin(angle);
  }

  double t_{0.0};
  double x_, z_, u_, w_;
};

// independent: see Bob
TEST(EventTruth, ABobOnASlackStringFliesAndSwings) {
  base::Random random(18);
  for (int trial = 0; trial < 20; ++trial) {
    const double radius = random.uniform(0.1, 0.99), at = random.uniform(0.0, 6.28);
    const double speed = random.uniform(0.0, 5.0), to = random.uniform(0.0, 6.28);
    const double x = radius * std::cos(at), z = radius * std::sin(at);
    const double u = speed * std::cos(to), w = speed * std::sin(to);
    const Motion motion = run_text(fmt::format(
        "[system]\ncoordinates = [\"x\", \"z\"]\nmass = [1, 1]\npotential = \"9.81*z\"\n"
        "[contact.string]\nkeep = \"hypot(x, z) <= 1\"\n[start]\nposition = {{ x = {:.17g}, z = "
        "{:.17g} }}\nvelocity = {{ x = {:.17g}, z = {:.17g} }}\n[run]\nscheme = "
        "\"event-driven\"\nstep = 0.1\nuntil = 2\nrecord = 0\n",
        x, z, u, w));
    const Certificate& c = motion.outcome.certificate;
    ASSERT_TRUE(c.ok()) << trial << " " << certify::describe_failure(c);
    const std::array<double, 2> truth = Bob(x, z, u, w).at(2.0);
    EXPECT_NEAR(motion.rows.back().q[0], truth[0], 1e-6) << trial;
    EXPECT_NEAR(motion.rows.back().q[1], truth[1], 1e-6) << trial;
  }
}

// exact: without forces the bead keeps its speed along the circle
TEST(EventTruth, ABeadRunsAlongAWallOfAnyRadius) {
  for (const double radius : {1e-3, 1.0, 1e3}) {
    const double speed = 3.0 * radius, until = 2.0;
    const Motion motion = run_text(fmt::format(
        "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n[contact.wall]\nkeep = \"hypot(x - "
        "7, y) <= {0:.17g}\"\n[start]\nposition = {{ x = 7, y = \"-{0:.17g}\" }}\nvelocity = {{ x "
        "= {1:.17g}, y = 0 }}\n[run]\nscheme = \"event-driven\"\nstep = 0.5\nuntil = 2\n",
        radius, speed));
    const Certificate& c = motion.outcome.certificate;
    ASSERT_TRUE(c.ok()) << radius << " " << certify::describe_failure(c);
    const double angle = speed / radius * until;
    EXPECT_NEAR(motion.rows.back().q[0], 7.0 + radius * std::sin(angle), 1e-8 * radius + 1e-12);
    EXPECT_NEAR(motion.rows.back().q[1], -radius * std::cos(angle), 1e-8 * radius + 1e-12);
  }
}

// exact: units that are powers of two change no digit
TEST(EventTruth, UnitsDoNotMatter) {
  const auto run = [](double L, double T, double M) {
    return run_text(fmt::format(
        "[system]\ncoordinates = [\"x\", \"y\"]\nparameters = {{ L = {:.17g}, T = {:.17g}, M = "
        "{:.17g} }}\nkinetic = \"0.5*M*(x'^2 + y'^2)\"\npotential = \"M*9.81*L/T^2*y\"\nforce = {{ "
        "x = \"-0.1*M/T*x'\" }}\n[contact.bowl]\nkeep = \"hypot(x, y) <= 2*L\"\nrestitution = "
        "0.7\n[contact.side]\nkeep = \"x <= 1.3*L\"\nrestitution = 0.7\n[start]\nposition = {{ x = "
        "\"0.3*L\", y = \"0.2*L\" }}\nvelocity = {{ x = \"1.7*L/T\", y = 0 }}\n[run]\nscheme = "
        "\"event-driven\"\nstep = \"0.125*T\"\nuntil = \"3*T\"\nzeno = \"contact\"\n",
        L, T, M));
  };
  const Motion one = run(1.0, 1.0, 1.0);
  ASSERT_TRUE(one.outcome.certificate.ok());
  for (const auto& [L, T, M] : {std::array{1.0, 0x1p30, 1.0}, std::array{0x1p20, 0x1p-10, 0x1p6},
                                std::array{0x1p-20, 1.0, 0x1p-30}}) {
    const Motion other = run(L, T, M);
    ASSERT_TRUE(other.outcome.certificate.ok()) << L << " " << T << " " << M;
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
      EXPECT_NEAR(other.rows[i].q[0] / L, one.rows[i].q[0], 1e-9) << L << " " << T << " " << M;
      EXPECT_NEAR(other.rows[i].q[1] / L, one.rows[i].q[1], 1e-9) << L << " " << T << " " << M;
    }
  }
}

// exact: x'' = -sign(x) from x = 0 with speed v comes back every 2 v
TEST(EventTruth, ForcesMayJump) {
  for (const char* force : {"-sign(x)", "if(x > 0, -1, 1)", "-x/max(abs(x), 1e-300)"}) {
    const Motion motion = run_text(fmt::format(
        "[system]\ncoordinates = [\"x\"]\nmass = [1]\nforce = {{ x = \"{}\" "
        "}}\n[contact.wall]\nkeep = \"x <= 10\"\n[start]\nposition = {{ x = 0.5 }}\n[run]\nscheme "
        "= \"event-driven\"\nstep = 1\nuntil = 10\n",
        force));
    const Certificate& c = motion.outcome.certificate;
    ASSERT_TRUE(c.ok()) << force << " " << certify::describe_failure(c);
    // From 0.5 to -0.5 in 2; at t = 10 it has turned five times.
    EXPECT_NEAR(motion.rows.back().q[0], -0.5, 1e-7) << force;
    EXPECT_NEAR(motion.rows.back().u[0], 0.0, 1e-6) << force;
  }
}

// A force that holds the motion where it jumps leaves no arc; the run ends, and says why.
TEST(EventTruth, EndlessEventsEndTheRun) {
  const Motion motion = run_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\nforce = { x = \"-sign(x + x')\" "
      "}\n[contact.wall]\nkeep = \"x <= 10\"\n[start]\nposition = { x = 0.5 }\n[run]\nscheme = "
      "\"event-driven\"\nstep = 10\nuntil = 10\n");
  const Failure failure = motion.outcome.certificate.failure;
  EXPECT_TRUE(failure == Failure::TooManyEvents || failure == Failure::NoConvergence)
      << certify::describe(failure).name;
}

// A run hears that it is to stop within a row.
TEST(EventTruth, StopsWithinARow) {
  const scene::Scene scene = testing::read_text(ball(10.0, "1", 1e-4, 1e4, 1e4));
  model::State<model::kDynamic> state = scene.start;
  step::Monitor monitor;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    monitor.stop = true;
  });
  const step::Outcome outcome = step::run_formula(
      *scene.system().model, scene.scheme, scene.run, state, [](const step::Sample&) {}, &monitor);
  stopper.join();
  EXPECT_TRUE(outcome.certificate.ok());
  EXPECT_GT(state.t, 0.0);
  EXPECT_LT(state.t, 1e4);
  EXPECT_TRUE(outcome.interrupted);
}

}  // namespace
}  // namespace ricochet::study::event_truth_test
