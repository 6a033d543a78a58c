// Contacts that last, slips that turn round, and walls that are not stepped over: against closed
// forms, at step lengths that have nothing to do with each other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "support.h"

namespace ricochet::lasting_test {
namespace {

using certify::Failure;

constexpr double kLengths[] = {1e-3, 7.3e-4, 5e-4, 3.1e-4, 2.5e-4, 1.7e-4, 1e-4, 6.1e-5};

double end_of(const study::Motion& motion, int i = 0) { return motion.final_state.q[i]; }
Failure failure_of(const study::Motion& motion) { return motion.outcome.certificate.failure; }

/// A block on a floor, drawn by a spring: m = 1, m g = 10, k = 100.
std::string spring_block(double start, double rest, double slip, const std::string& scheme,
                         double h) {
  return fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"10*y + 50*x^2\"\n"
      "[contact.floor]\nkeep = \"y >= 0\"\nslip = [\"x'\"]\n"
      "friction = {{ static = {}, dynamic = {} }}\n[start]\nposition = {{ x = {}, y = 0 }}\n"
      "[run]\nscheme = \"{}\"\nstep = {}\nuntil = 3\nrecord = 0\n",
      rest, slip, start, scheme, h);
}

/// From x0 it slides if k x0 > mu_s m g, by half periods: each ends at -(|x| - 2 mu_d m g / k),
/// until the spring there is held by the coefficient of rest.
double where_it_stays(double x, double rest, double slip) {
  while (100.0 * std::abs(x) > 10.0 * rest) {
    const double next = std::abs(x) - 2.0 * slip * 10.0 / 100.0;
    x = x > 0.0 ? -next : next;
  }
  return x;
}

TEST(Lasting, ASlipThatTurnsRoundIsHeldByTheCoefficientOfRest) {
  for (const char* scheme : {"moreau", "moreau-jean"}) {
    for (const double h : kLengths) {
      for (const double start : {0.084, 0.131, -0.097, 0.2}) {
        const auto motion = testing::run_text(spring_block(start, 0.5, 0.2, scheme, h));
        EXPECT_NEAR(end_of(motion), where_it_stays(start, 0.5, 0.2), 2.0 * h) << scheme << h;
      }
    }
  }
}

TEST(Lasting, TheSameInSpace) {
  for (const double h : kLengths) {
    const double c = std::cos(0.7), s = std::sin(0.7);
    const auto motion = testing::run_text(
        fmt::format("[system]\ncoordinates = [\"x\", \"z\", \"y\"]\nmass = [1, 1, 1]\n"
                    "potential = \"10*y + 50*(x^2 + z^2)\"\n[contact.floor]\nkeep = \"y >= 0\"\n"
                    "slip = [\"x'\", \"z'\"]\nfriction = {{ static = 0.5, dynamic = 0.2 }}\n"
                    "[start]\nposition = {{ x = {}, z = {}, y = 0 }}\n"
                    "[run]\nscheme = \"moreau\"\nstep = {}\nuntil = 3\nrecord = 0\n",
                    0.084 * c, 0.084 * s, h));
    EXPECT_EQ(failure_of(motion), Failure::None);
    EXPECT_NEAR(end_of(motion, 0), -0.044 * c, 2.0 * h) << h;
    EXPECT_NEAR(end_of(motion, 1), -0.044 * s, 2.0 * h) << h;
  }
}

/// A block on a slope that sinks with an acceleration: gravity is less by it, and the slope as
/// steep, so that rest friction above tan holds it for ever.
TEST(Lasting, ASinkingSlopeHoldsItsBlock) {
  for (const char* scheme : {"moreau", "moreau-jean"}) {
    for (const double sinks : {0.1, 1.0, 5.0}) {
      for (const double h : {1e-3, 3.7e-4}) {
        const auto motion = testing::run_text(fmt::format(
            "[system]\ncoordinates = [\"x\", \"y\"]\nparameters = {{ a = 0.3, b = {} }}\n"
            "define = {{ Y = \"-0.5*b*t^2\" }}\nkinetic = \"0.5*(x'^2+y'^2)\"\n"
            "potential = \"9.81*y\"\n[contact.slope]\n"
            "keep = \"-x*sin(a)+(y-Y)*cos(a) >= 0\"\n"
            "slip = [\"x'*cos(a)+(y'+b*t)*sin(a)\"]\n"
            "friction = {{ static = \"1.2*tan(a)\", dynamic = \"0.5*tan(a)\" }}\n"
            "[start]\nposition = {{ x = 0, y = 0 }}\n"
            "[run]\nscheme = \"{}\"\nstep = {}\nuntil = 2\nrecord = 0\n",
            sinks, scheme, h));
        EXPECT_EQ(failure_of(motion), Failure::None) << scheme;
        EXPECT_NEAR(end_of(motion), 0.0, 2.0 * h) << scheme << " " << sinks;
      }
    }
  }
}

/// Painleve's rod slides into the point where W_NN - mu W_NT and the free acceleration of its tip
/// vanish together, at 45 degrees for mu = 5/3: there sin(phi) phi'^2 = g. Its reaction grows
/// without bound up to there, and what follows is an impact that ends the slip.  [Leine 2002]
TEST(Lasting, PainlevesRodJamsAtEveryStepLength) {
  for (const double h : {1e-3, 5e-4, 2e-4, 1e-4, 7e-5, 5e-5, 3e-5, 2e-5}) {
    const auto motion = testing::run_text(fmt::format(
        "[system]\ncoordinates = [\"x\", \"y\", \"phi\"]\n"
        "kinetic = \"0.5*(x'^2 + y'^2) + phi'^2/6\"\npotential = \"10*y\"\n"
        "[contact.tip]\nkeep = \"y - sin(phi) >= 0\"\nfriction = \"5/3\"\n"
        "body = {{ position = [\"x\", \"y\"], angle = \"phi\", point = [\"x - cos(phi)\", "
        "\"y - sin(phi)\"] }}\n"
        "[start]\nposition = {{ x = 0, y = \"sin(31*pi/180)\", phi = \"31*pi/180\" }}\n"
        "velocity = {{ x = -30 }}\n[run]\nscheme = \"moreau\"\nstep = {}\nuntil = 0.82\n",
        h));
    ASSERT_EQ(failure_of(motion), Failure::None);
    const auto& shocks = motion.outcome.certificate.shocks;
    ASSERT_FALSE(shocks.empty()) << h;
    EXPECT_NEAR(shocks.back().t, 0.81455, 0.002 + 2.0 * h) << h;
    // The velocities after it: those of the impact that stops tip and slip from the singular point.
    EXPECT_NEAR(motion.final_state.u[2], 8.71, 0.03 + 300.0 * h) << h;
  }
}

/// A semicircular arch of voussoirs stands where it is thicker than 0.10748 R [Milankovitch 1907].
TEST(Lasting, AnArchAtRestStays) {
  const auto motion = testing::run_text(R"scene(
[system]
coordinates = ["x[1..N]", "y[1..N]", "p[1..N]"]
parameters = { N = 12, tR = 0.13, g = 9.81, h = "pi/(2*N)", o = "1 + tR/2", q = "1 - tR/2", A = "(o^2 - q^2)*h", c = "2/3*(o^3 - q^3)/(o^2 - q^2)*sin(h)/h", J = "0.5*(o^4 - q^4)*h - A*c^2" }
kinetic = "sum(i, 1, N, 0.5*A*(x[i]'^2 + y[i]'^2) + 0.5*J*p[i]'^2)"
potential = "sum(i, 1, N, A*g*y[i])"
[contact.in]
for = "i in 1..N-1"
keep = "cos(p[i]+h)*(y[i+1] + q*sin(p[i+1]-h) - c*sin(p[i+1]) - y[i]) - sin(p[i]+h)*(x[i+1] + q*cos(p[i+1]-h) - c*cos(p[i+1]) - x[i]) >= c*sin(h)"
friction = 0.7
body = { position = ["x[i+1]", "y[i+1]"], angle = "p[i+1]", point = ["x[i+1] + q*cos(p[i+1]-h) - c*cos(p[i+1])", "y[i+1] + q*sin(p[i+1]-h) - c*sin(p[i+1])"], against = { position = ["x[i]", "y[i]"], angle = "p[i]" } }
[contact.out]
for = "i in 1..N-1"
keep = "cos(p[i]+h)*(y[i+1] + o*sin(p[i+1]-h) - c*sin(p[i+1]) - y[i]) - sin(p[i]+h)*(x[i+1] + o*cos(p[i+1]-h) - c*cos(p[i+1]) - x[i]) >= c*sin(h)"
friction = 0.7
body = { position = ["x[i+1]", "y[i+1]"], angle = "p[i+1]", point = ["x[i+1] + o*cos(p[i+1]-h) - c*cos(p[i+1])", "y[i+1] + o*sin(p[i+1]-h) - c*sin(p[i+1])"], against = { position = ["x[i]", "y[i]"], angle = "p[i]" } }
[contact.rin]
keep = "y[1] + q*sin(p[1]-h) - c*sin(p[1]) >= 0"
friction = 0.7
body = { position = ["x[1]", "y[1]"], angle = "p[1]", point = ["x[1] + q*cos(p[1]-h) - c*cos(p[1])", "y[1] + q*sin(p[1]-h) - c*sin(p[1])"] }
[contact.rout]
keep = "y[1] + o*sin(p[1]-h) - c*sin(p[1]) >= 0"
friction = 0.7
body = { position = ["x[1]", "y[1]"], angle = "p[1]", point = ["x[1] + o*cos(p[1]-h) - c*cos(p[1])", "y[1] + o*sin(p[1]-h) - c*sin(p[1])"] }
[contact.lin]
keep = "y[N] + q*sin(p[N]+h) - c*sin(p[N]) >= 0"
friction = 0.7
body = { position = ["x[N]", "y[N]"], angle = "p[N]", point = ["x[N] + q*cos(p[N]+h) - c*cos(p[N])", "y[N] + q*sin(p[N]+h) - c*sin(p[N])"] }
[contact.lout]
keep = "y[N] + o*sin(p[N]+h) - c*sin(p[N]) >= 0"
friction = 0.7
body = { position = ["x[N]", "y[N]"], angle = "p[N]", point = ["x[N] + o*cos(p[N]+h) - c*cos(p[N])", "y[N] + o*sin(p[N]+h) - c*sin(p[N])"] }
[start]
position = { x = "c*cos(pi*(i - 0.5)/N)", y = "c*sin(pi*(i - 0.5)/N)", p = "pi*(i - 0.5)/N" }
[run]
scheme = "moreau"
step = 1e-3
until = 0.5
record = 0
)scene");
  ASSERT_EQ(failure_of(motion), Failure::None);
  const double moved = (motion.final_state.q - motion.scene.start.q).cwiseAbs().maxCoeff();
  // Joints that rounding opened at the start by more than their slack close once, by g h^2.
  EXPECT_LT(moved, 2.0 * 9.81 * 1e-3 * 1e-3);
  EXPECT_LT(motion.final_state.u.cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Lasting, NothingFallsIntoAWedgeAtZero) {
  const auto motion = testing::run_text(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\npotential = \"10*y\"\n"
      "[contact.l]\nkeep = \"y - 0.3*x >= 0\"\n[contact.r]\nkeep = \"y + 0.7*x >= 0\"\n"
      "[start]\nposition = { x = 0, y = 0 }\n[run]\nscheme = \"moreau\"\nstep = 0.01\nuntil = 1\n");
  EXPECT_EQ(failure_of(motion), Failure::None);
  EXPECT_LT(motion.final_state.q.norm(), 1e-14);
}

/// The touching line is the rounding of the gap where the motion is: at the start, e^33 (x = 33),
/// it would be 6 in the gap.
TEST(Lasting, RoundingIsTakenWhereTheMotionIs) {
  for (const char* scheme : {"moreau", "elast", "mabrouk", "moreau-jean"}) {
    const auto motion = testing::run_text(fmt::format(
        "[system]\ncoordinates = [\"x\"]\nmass = [1]\n[contact.floor]\nkeep = \"exp(x) >= 1\"\n"
        "restitution = 1\n[start]\nposition = {{ x = 33 }}\nvelocity = {{ x = -1 }}\n"
        "[run]\nscheme = \"{}\"\nstep = 0.001\nuntil = 36\nrecord = 0\n",
        scheme));
    EXPECT_NEAR(end_of(motion), 3.0, 0.003) << scheme;
  }
}

/// A particle flies at a post of radius r, off its centre by b, and leaves it at twice the angle
/// whose sine is b/r.
std::string post(double r, double b, const std::string& scheme, const std::string& step) {
  return fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n[contact.post]\n"
      "keep = \"hypot(x - 10.5, y) >= {:.17g}\"\nrestitution = 1\n[start]\n"
      "position = {{ x = 0, y = {:.17g} }}\nvelocity = {{ x = 1, y = 0 }}\n"
      "[run]\nscheme = \"{}\"\nstep = {}\nuntil = 20\nrecord = 0\n",
      r, b, scheme, step);
}

TEST(Crossing, StepControlMeetsPostsOfAnySize) {
  for (const double r : {0.3, 0.05, 0.01, 1e-3}) {
    for (const double part : {0.0, 0.3, -0.6}) {
      const double b = part * r;
      const auto motion =
          testing::run_text(post(r, b, "moreau", "{ max = 1, min = 1e-7, tolerance = 1e-6 }"));
      ASSERT_EQ(failure_of(motion), Failure::None) << r << " " << b;
      const double hit = 10.5 - std::sqrt(r * r - b * b);
      const double angle = std::numbers::pi - 2.0 * std::asin(b / r);
      const double left = 20.0 - hit;
      EXPECT_NEAR(end_of(motion, 0), hit + left * std::cos(angle), 2e-3) << r << " " << b;
      EXPECT_NEAR(end_of(motion, 1), b + left * std::sin(angle), 2e-3) << r << " " << b;
    }
  }
}

TEST(Crossing, StepsOfOneLengthDoNotPassOverAPostUnseen) {
  for (const char* scheme :
       {"moreau", "elast", "billiard", "mabrouk", "moreau-jean", "paoli-schatzman"}) {
    for (const double h : {0.37, 0.73, 1.0, 0.211}) {
      const auto motion = testing::run_text(post(0.01, 0.003, scheme, fmt::format("{}", h)));
      const bool passed = failure_of(motion) == Failure::None && end_of(motion, 0) > 11.0;
      EXPECT_FALSE(passed) << scheme << " " << h;
    }
  }
}

TEST(Crossing, AWallThatLeapsIntoTheWayIsNotMissed) {
  for (const double width : {0.02, 0.003}) {
    const auto motion = testing::run_text(fmt::format(
        "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n[contact.wall]\n"
        "keep = \"y >= 2*exp(-((t - 5.7)/{})^2)\"\n[start]\nposition = {{ x = 0, y = 1 }}\n"
        "velocity = {{ x = 1 }}\n[run]\nscheme = \"moreau\"\nstep = 0.0196\nuntil = 7\nrecord = "
        "0\n",
        width));
    // It is thrown up, or the run says that it did not see how.
    EXPECT_TRUE(failure_of(motion) != Failure::None || end_of(motion, 1) > 2.0) << width;
  }
}

/// Grazing a large disc is a step's own error, and no crossing.
TEST(Crossing, AGrazeIsNoCrossing) {
  for (const double b : {0.9999, 0.999, 0.99, 1.0001}) {
    const auto motion = testing::run_text(fmt::format(
        "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n[contact.disc]\n"
        "keep = \"hypot(x, y) >= 1\"\n[start]\nposition = {{ x = -3, y = {} }}\n"
        "velocity = {{ x = 1 }}\n[run]\nscheme = \"moreau\"\nstep = 0.01\nuntil = 6\nrecord = 0\n",
        b));
    EXPECT_EQ(failure_of(motion), Failure::None) << b;
  }
}

}  // namespace
}  // namespace ricochet::lasting_test
