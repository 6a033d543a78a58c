// Shocks of bodies against closed forms and an exact sequence of impacts: slow ones are thrown back
// by e as fast ones are, and where several follow each other within a step, also the first, at
// limits of joints, or among many others, the run says so or its bars hold what they make.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "barred.h"
#include "body_step.h"
#include "ricochet/base/random.h"

namespace ricochet::study::body_shocks_test {
namespace {

using testing::Barred;
using testing::run_barred;
std::string world(double g, double restitution, const std::string& bodies, double step,
                  double until) {
  return fmt::format(
      "[world]\ndimension = 2\ngravity = [0, {}]\n[pair]\ndefault = {{ restitution = {} }}\n"
      "{}\n[run]\nstep = {:.17g}\nuntil = {:.17g}\nrecord = 10\n",
      -g, restitution, bodies, step, until);
}

std::string disc(const std::string& name, double x, double y, double vx, double vy) {
  return fmt::format(
      "[body.{}]\ndisc = 0.1\nmass = 1\ninertia = 0.005\nat = [{:.17g}, {:.17g}]\nvelocity = "
      "[{:.17g}, {:.17g}]\n",
      name, x, y, vx, vy);
}
const std::string kFloor =
    "[body.floor]\nfixed = true\nhalf_plane = { point = [0, 0], normal = [0, 1] }\n";

// Exact: after an impact of equal discs v (1 - e)/2 and v (1 + e)/2, at any speed: what gravity
// makes in a step has nothing to do with it where it does not bring them together. On a floor, in
// free flight, and side by side with nothing below.
TEST(BodyShocks, SlowOnesAreThrownBack) {
  constexpr double kE = 0.9;
  for (const double v : {0.015, 0.004, 0.3}) {
    const double until = 0.01 / v + 0.2;
    for (const double g : {9.81, 0.0}) {
      for (const bool lies : {true, false}) {
        const double y = lies ? 0.1 : 5.0;
        const Barred barred = run_barred(
            world(g, kE, kFloor + disc("a", 0.0, y, v, 0.0) + disc("b", 0.205, y, 0.0, 0.0), 1e-3,
                  until));
        const std::string which = fmt::format("{} m/s, g = {}, {}", v, g, lies ? "lies" : "flies");
        ASSERT_TRUE(barred.motion.outcome.certificate.ok()) << which;
        EXPECT_NEAR(barred.rate(0), 0.5 * (1.0 - kE) * v, 1e-9 * v) << which;
        EXPECT_NEAR(barred.rate(3), 0.5 * (1.0 + kE) * v, 1e-9 * v) << which;
      }
    }
  }
}

// Exact: a carriage that comes to the limit of its slider is thrown back by e, gravity across or
// not; upright it falls to its limit and comes to rest there, as a ball on a floor does.
TEST(BodyShocks, SlowOnesAtLimitsAreThrownBack) {
  constexpr double kE = 0.8;
  const auto slide = [&](const std::string& axis, const std::string& velocity, double until) {
    return run_barred(
        world(9.81, 0.0, "", 1e-3, until) +
        fmt::format("[body.a]\nbox = [0.2, 0.2]\nmass = 1\nat = [0, 0]\nvelocity = {}\n"
                    "[joint.rail]\nkind = \"slider\"\nbetween = [\"ground\", \"a\"]\nat = "
                    "[0, 0]\naxis = {}\nlimits = {{ low = -0.004, high = 1 }}\n"
                    "restitution = {}\n",
                    velocity, axis, kE));
  };
  for (const double v : {0.01, 0.002, 1.0}) {
    const Barred across = slide("[1, 0]", fmt::format("[{}, 0]", -v), 0.008 / v);
    ASSERT_TRUE(across.motion.outcome.certificate.ok());
    EXPECT_NEAR(across.rate(0), kE * v, 1e-9 * v) << v;
  }
  const Barred upright = slide("[0, 1]", "[0, 0]", 3.0);
  ASSERT_TRUE(upright.motion.outcome.certificate.ok());
  EXPECT_NEAR(upright.rate(1), 0.0, 1e-12);
  EXPECT_NEAR(upright.place(1), -0.004, 1e-9);
}

// What velocities gained is checked by the judge: a step that tells something else, or nothing, is
// refused.
TEST(BodyShocks, WrongGainsAreRefused) {
  const std::string text =
      world(9.81, 0.5, disc("a", 0.0, 1.0, 1.0, 0.0) + disc("b", 1.0, 1.0, 0.0, 0.0), 1e-3, 0.1);
  EXPECT_EQ(testing::BodyStep<2>(text).verdict(), certify::Failure::None);
  testing::BodyStep<2> off(text);
  off.after.gains[1].v[0] += 1e-6;
  EXPECT_EQ(off.verdict(), certify::Failure::Kinematics);
  testing::BodyStep<2> turned(text);
  turned.after.gains[0].spin += 1e-6;
  EXPECT_EQ(turned.verdict(), certify::Failure::Kinematics);
  testing::BodyStep<2> none(text);
  none.after.gains.clear();
  EXPECT_EQ(none.verdict(), certify::Failure::Kinematics);
}

// A ball that bounces on one that lies on a floor comes to rest there: hops of few steps have an
// end, also where the lower one is pressed down by them.
TEST(BodyShocks, AStackComesToRest) {
  for (const double e : {0.2, 0.5, 0.8}) {
    const Barred barred = run_barred(
        world(9.81, e, kFloor + disc("low", 0.0, 0.1, 0.0, 0.0) + disc("high", 0.0, 0.35, 0.0, 0.0),
              1e-3, 6.0));
    ASSERT_TRUE(barred.motion.outcome.certificate.ok()) << e;
    EXPECT_NEAR(barred.rate(4), 0.0, 1e-11) << e;
    EXPECT_NEAR(barred.place(4), 0.3, 1e-8) << e;
  }
}

/// Whether a run told that its digits do not hold, or its bars hold what they should be.
bool is_told(const Barred& barred, const std::vector<double>& q, const std::vector<double>& u) {
  if (!barred.bar.unresolved.empty()) return true;
  for (std::size_t i = 0; i < u.size(); i += 3) {
    for (std::size_t k = i; k < i + 2; ++k) {
      if (std::abs(barred.rate(k) - u[k]) > barred.bar.velocity[k]) return false;
      if (!q.empty() && std::abs(barred.place(k) - q[k]) > barred.bar.position[k]) return false;
    }
  }
  return true;
}

// Exact, of equal discs with e = 1/2: the first strikes the second, that one the third, then the
// first the second again. All within the first step, which has none before it to be held against;
// and beside ten harder shocks that have nothing to do with them.
TEST(BodyShocks, ThoseOfTheFirstStepAreTold) {
  const std::string three = disc("a", -0.20001, 0.0, 2.0, 0.0) + disc("b", 0.0, 0.0, 0.0, 0.0) +
                            disc("c", 0.20002, 0.0, -1.0, 0.0);
  const std::vector<double> ends = {-0.15625, 0.0, 0.0, 0.28125, 0.0, 0.0, 0.875, 0.0, 0.0};
  EXPECT_TRUE(is_told(run_barred(world(0.0, 0.5, three, 1e-3, 0.5)), {}, ends));
  std::string many = three;
  for (int i = 0; i < 10; ++i) many += disc(fmt::format("d{}", i), i, 3.0, 0.0, 20.0 + i);
  many += "[body.wall]\nfixed = true\nhalf_plane = { point = [0, 3.6], normal = [0, -1] }\n";
  EXPECT_TRUE(is_told(run_barred(world(0.0, 0.5, many, 1e-3, 0.5)), {}, ends));
}

// Exact: a slow ball hands its blow on to one that hands it on in the next step. What a blow gives
// is no sign of hops.
TEST(BodyShocks, SlowOnesAreHandedOn) {
  for (const double gap : {2e-6, 5e-6, 1e-5}) {
    const std::string row = disc("a", 0.0, 5.0, 0.01, 0.0) + disc("b", 0.2005, 5.0, 0.0, 0.0) +
                            disc("c", 0.4005 + gap, 5.0, 0.0, 0.0);
    const Barred barred = run_barred(world(9.81, 0.8, row, 1e-3, 0.2));
    EXPECT_NEAR(barred.rate(6), 0.0081, 1e-9) << gap;
  }
}

// Two rods that fall on the limits of their hinges come to rest there, as hops grow shorter for
// ever: what one of them gains by a blow to the other has an end too.
TEST(BodyShocks, ChainsComeToRestOnTheirLimits) {
  const auto rod = [](const std::string& name, double x) {
    return fmt::format("[body.{}]\nbox = [1, 0.05]\nmass = 1\ninertia = \"1/12\"\nat = [{}, 0]\n",
                       name, x);
  };
  const auto hinge = [](const std::string& a, const std::string& b, double x) {
    return fmt::format(
        "[joint.{1}]\nkind = \"hinge\"\nbetween = [\"{0}\", \"{1}\"]\nat = [{2}, 0]\nlimits = "
        "[-0.24, "
        "0.19]\nrestitution = 0.8\n",
        a, b, x);
  };
  const Barred barred = run_barred(world(9.81, 0.0, rod("r1", 0.5) + rod("r2", 1.5), 1e-3, 10.0) +
                                   hinge("ground", "r1", 0.0) + hinge("r1", "r2", 1.0));
  ASSERT_TRUE(barred.motion.outcome.certificate.ok());
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_NEAR(barred.rate(k), 0.0, 1e-12) << k;
  }
}

// Exact: a disc on a slider comes back from its limit at e v and meets another one, which a step
// that takes both shocks for one does not see.
TEST(BodyShocks, ThoseAtLimitsAreTold) {
  const std::string text =
      world(0.0, 0.5, disc("a", 0.0, 0.0, -1.0, 0.0) + disc("b", 0.29992, 0.0, -2.0, 0.0), 1e-3,
            0.2) +
      "[joint.rail]\nkind = \"slider\"\nbetween = [\"ground\", \"a\"]\nat = [0, 0]\naxis = [1, 0]\n"
      "limits = { low = -0.1, high = 10 }\nrestitution = 0.5\n";
  EXPECT_TRUE(is_told(run_barred(text), {}, {0.34765625, 0.0, 0.0, 0.35546875, 0.0, 0.0}));
}

/// Discs without friction, moved from impact to impact.
struct Disc {
  double x[2];
  double v[2];
};

double meets(const Disc& a, const Disc& b) {
  const double d[2] = {b.x[0] - a.x[0], b.x[1] - a.x[1]};
  const double w[2] = {b.v[0] - a.v[0], b.v[1] - a.v[1]};
  const double closes = -(d[0] * w[0] + d[1] * w[1]);
  if (closes <= 0.0) return std::numeric_limits<double>::infinity();
  const double ww = w[0] * w[0] + w[1] * w[1];
  const double root = closes * closes - ww * (d[0] * d[0] + d[1] * d[1] - 0.04);
  if (root < 0.0) return std::numeric_limits<double>::infinity();
  return std::max(0.0, (closes - std::sqrt(root)) / ww);
}

void move_exactly(std::vector<Disc>& discs, double e, double until) {
  for (double t = 0.0; t < until;) {
    double next = until - t;
    std::size_t one = 0;
    std::size_t other = 0;
    for (std::size_t i = 0; i < discs.size(); ++i) {
      for (std::size_t j = i + 1; j < discs.size(); ++j) {
        const double at = meets(discs[i], discs[j]);
        if (at < next) next = at, one = i, other = j;
      }
    }
    for (Disc& disc : discs) {
      for (int k = 0; k < 2; ++k) disc.x[k] += next * disc.v[k];
    }
    t += next;
    if (one == other) return;
    Disc& a = discs[one];
    Disc& b = discs[other];
    const double n[2] = {(b.x[0] - a.x[0]) / 0.2, (b.x[1] - a.x[1]) / 0.2};
    const double closes = (a.v[0] - b.v[0]) * n[0] + (a.v[1] - b.v[1]) * n[1];
    for (int k = 0; k < 2; ++k) {
      a.v[k] -= 0.5 * (1.0 + e) * closes * n[k];
      b.v[k] += 0.5 * (1.0 + e) * closes * n[k];
    }
  }
}

/// A disc that flies into others, which stand in rows with gaps of a part of a step to some.
std::vector<Disc> random_break(base::Random& random, int rows) {
  const double gap = std::exp(random.uniform(std::log(1e-3), std::log(0.2)));
  std::vector<Disc> discs = {{{-0.6, random.uniform(-0.06, 0.06)}, {2.0, 0.0}}};
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i <= row; ++i) {
      const double x = 0.1 + 0.5 * std::sqrt(3.0) * (0.2 + gap) * row;
      const double y = (0.2 + gap) * (i - 0.5 * row);
      const double off = random.uniform(0.0, 0.5 * gap);
      discs.push_back({{x + off, y + random.uniform(0.0, 0.5 * gap)}, {0.0, 0.0}});
    }
  }
  return discs;
}

// Exact: a disc that slides on a rough floor until it rolls, and is thrown back by a rough wall:
// friction of the wall lifts it, so that the floor has no part in the blow, and by its angular
// momentum about the floor it rolls on. With steps in which the floor's friction makes as much as
// the blow, or more, runs say so or their bars hold it.
TEST(BodyShocks, WhatAFloorMakesOfASlowBlowIsInTheBars) {
  constexpr double kG = 9.81;
  constexpr double kR = 0.1;
  constexpr double kInertia = 0.005;  // of mass 1
  constexpr int kTried = 60;
  base::Random random(3);
  int resolved = 0;
  for (int which = 0; which < kTried; ++which) {
    const double v = 2e-4 * std::pow(100.0, random.uniform());
    const double friction = 0.05 * std::pow(16.0, random.uniform());
    const double e = random.uniform(0.1, 0.95);
    const double rolls = v / (1.0 + kInertia / (kR * kR));
    const double gap = v * v / (kG * friction) + rolls * random.uniform(0.05, 0.2);
    const double until = gap / rolls + 0.2;
    const double blow = (1.0 + e) * rolls;
    const double sticks = rolls / (1.0 + kR * kR / kInertia);
    const double after = (v - blow - std::min(friction * blow, sticks)) * rolls / v;
    if (!(after < 0.0)) continue;  // comes back to the wall
    const Barred barred = run_barred(fmt::format(
        "[world]\ndimension = 2\ngravity = [0, {}]\n[pair]\ndefault = {{ friction = {}, "
        "restitution = {} }}\n{}{}[body.wall]\nfixed = true\nhalf_plane = {{ point = [{}, 0], "
        "normal = [-1, 0] }}\n[run]\nstep = 1e-3\nuntil = {}\nrecord = 10\n",
        -kG, friction, e, kFloor, disc("a", 0.0, kR, v, 0.0), kR + gap, until));
    ASSERT_TRUE(barred.motion.outcome.certificate.ok());
    if (!barred.bar.unresolved.empty()) continue;
    ++resolved;
    EXPECT_NEAR(barred.rate(0), after, barred.bar.velocity[0])
        << v << ", " << friction << ", " << e;
  }
  EXPECT_GE(resolved, kTried / 8);
}

// Against the exact sequence of impacts: the first disc may strike two at almost one time, what
// these make of it goes on to others, and discs that come together a little later do so from
// another side.
TEST(BodyShocks, WhatABreakHandsOnIsInTheBars) {
#if defined(RICOCHET_SANITIZED)
  constexpr int kTried = 4;
#else
  constexpr int kTried = 80;
#endif
  base::Random random(7);
  int told = 0;
  int resolved = 0;
  for (int which = 0; which < kTried; ++which) {
    const double e = random.uniform(0.5, 1.0);
    const double step = 0.5 / std::round(0.5 / random.uniform(5e-4, 2e-3));
    std::vector<Disc> discs = random_break(random, which % 2 == 0 ? 2 : 3);
    std::string bodies;
    for (std::size_t i = 0; i < discs.size(); ++i) {
      bodies += disc(fmt::format("b{}", i), discs[i].x[0], discs[i].x[1], discs[i].v[0], 0.0);
    }
    const Barred barred = run_barred(world(0.0, e, bodies, step, 0.5));
    ASSERT_TRUE(barred.motion.outcome.certificate.ok());
    move_exactly(discs, e, barred.motion.final_state.t);
    std::vector<double> q;
    std::vector<double> u;
    for (const Disc& one : discs) {
      q.insert(q.end(), {one.x[0], one.x[1], 0.0});
      u.insert(u.end(), {one.v[0], one.v[1], 0.0});
    }
    resolved += barred.bar.unresolved.empty() ? 1 : 0;
    told += is_told(barred, q, u) ? 1 : 0;
  }
  EXPECT_GE(told, kTried - kTried / 20 - 1);
  EXPECT_GE(resolved, kTried / 4);
  RecordProperty("resolved", resolved);
  RecordProperty("told", told);
}

// A body that hangs from another at the mass centre, each on a slider: the impulses of joints act
// at arms that are 0 but for rounding.
TEST(BodyShocks, SlidersAtTheMassCentreHold) {
  for (const double g : {9.81, 0.0}) {
    for (const std::string kind : {"slider", "weld"}) {
      const Barred barred = run_barred(
          world(
              g, 0.5,
              disc("a", 0.3, 0.7, kind == "weld" ? 1.0 : 0.0, 0.0) + disc("b", 0.6, 0.7, 1.0, 0.0),
              1e-3, 0.5) +
          "[joint.one]\nkind = \"slider\"\nbetween = [\"ground\", \"a\"]\nat = [0.3, 0.7]\naxis = "
          "[1, 0]\n[joint.two]\nkind = \"" +
          kind + "\"\nbetween = [\"a\", \"b\"]\nat = [0.6, 0.7]\n" +
          (kind == "slider" ? "axis = [1, 0]\n" : ""));
      EXPECT_TRUE(barred.motion.outcome.certificate.ok()) << kind << ", g = " << g;
      EXPECT_NEAR(barred.rate(3), 1.0, 1e-12) << kind << ", g = " << g;
    }
  }
}

}  // namespace
}  // namespace ricochet::study::body_shocks_test
