// What the law of bodies leaves open is told: blows do not go on through a gap within a step, who
// lies in another where it has no side is told, so are forces that are one of many, the depth at
// which bodies rest, and conditions that hold between two steps.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "barred.h"
#include "ricochet/study/run_world.h"

namespace ricochet::study::body_open_test {
namespace {

constexpr double kG = 9.81;

using testing::Barred;
using testing::describe;
using testing::run_barred;
std::string world(double g, double restitution, double friction, const std::string& bodies,
                  double step, double until, const std::string& rest = "") {
  return fmt::format(
      "[world]\ndimension = 2\ngravity = [0, {}]\n[pair]\ndefault = {{ friction = {}, restitution "
      "= {} }}\n{}\n[run]\nstep = {:.17g}\nuntil = {:.17g}\nrecord = 10\n{}\n",
      -g, friction, restitution, bodies, step, until, rest);
}

const std::string kDisc = "disc = 0.1\ninertia = 0.005\n";
const std::string kFloor =
    "[body.floor]\nfixed = true\nhalf_plane = { point = [0, 0], normal = [0, 1] }\n";

/// Elastic balls of one mass, the first of which flies to the others; the others have gaps.
Barred strike(int count, double gap, double step) {
  std::string balls;
  for (int i = 0; i < count; ++i) {
    balls += fmt::format("[body.b{}]\n{}mass = 1\nat = [{:.17g}, 1]\n{}", i, kDisc,
                         i == 0 ? -0.5 : (0.2 + gap) * i, i == 0 ? "velocity = [1, 0]\n" : "");
  }
  return run_barred(world(0.0, 1.0, 0.0, balls, step, 1.0));
}

// Exact: of elastic balls of one mass with gaps each hands its velocity on to the next, whatever
// part of a step the gap is. Where they touch Moreau's impact has another answer. Of more than
// three, some come to touch where places are put back: that is told.
TEST(BodyOpen, ABlowDoesNotPassAGapWithinAStep) {
  for (const double gap : {5e-2, 1e-3, 1e-5, 1e-7}) {
    for (const double step : {2e-3, 3.7e-4}) {
      const Barred three = strike(3, gap, step);
      ASSERT_TRUE(three.motion.outcome.certificate.ok());
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(three.rate(3 * i), i == 2 ? 1.0 : 0.0, 1e-12) << gap;
      for (const int count : {4, 5}) {
        const Barred more = strike(count, gap, step);
        if (!more.bar.is_resolved()) continue;
        for (int i = 0; i < count; ++i) {
          const auto at = static_cast<std::size_t>(3 * i);
          EXPECT_LE(std::abs(more.rate(3 * i) - (i == count - 1 ? 1.0 : 0.0)),
                    more.bar.velocity[at])
              << gap << ", " << step << ", " << count;
        }
      }
    }
  }
}

// Exact: of three elastic balls that touch the first is thrown back with a third of its velocity.
TEST(BodyOpen, ABlowPassesWhatTouches) {
  std::string balls;
  for (int i = 0; i < 3; ++i) {
    balls += fmt::format("[body.b{}]\n{}mass = 1\nat = [{}, 1]\n{}", i, kDisc,
                         i == 0 ? -0.5 : 0.2 * i, i == 0 ? "velocity = [1, 0]\n" : "");
  }
  const Barred barred = run_barred(world(0.0, 1.0, 0.0, balls, 1e-3, 1.0));
  const std::array<double, 3> exact = {-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0};
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(barred.rate(3 * i), exact[static_cast<std::size_t>(i)], 1e-12);
}

// A box flies under the end of a chain, into ground that has no side there.
TEST(BodyOpen, WhoComesInBeyondTheEndOfAChainIsTold) {
  const std::string chain = "[body.hill]\nfixed = true\nchain = [[-1, 0], [0, 0]]\n";
  const auto box = [](double x, double y, double vx, double vy, double angle) {
    return fmt::format(
        "[body.box]\nbox = [0.4, 0.4]\nmass = 1\ninertia = 0.0267\nat = [{}, {}]\nvelocity = [{}, "
        "{}]\nangle = {}\n",
        x, y, vx, vy, angle);
  };
  for (const double angle : {-0.3, 0.0, 0.3}) {
    for (const double y : {-0.3, -0.15, -0.05}) {
      const Barred barred =
          run_barred(world(0.0, 0.0, 0.0, chain + box(0.4, y, -1.5, 0.0, angle), 1e-3, 1.0));
      if (!barred.motion.outcome.certificate.ok()) continue;
      EXPECT_GT(barred.motion.world->told.sunk, 0.01) << angle << ", " << y;
      EXPECT_NE(doubt_of_world(barred.motion).find("beyond the end of a chain"), std::string::npos);
    }
  }
  const Barred over =
      run_barred(world(kG, 0.0, 0.3, chain + box(-0.3, 0.2, 1.5, 0.0, 0.0), 1e-3, 1.0));
  EXPECT_EQ(over.motion.world->told.sunk, 0.0);
  EXPECT_EQ(doubt_of_world(over.motion), "");
}

// A point that falls on the origin: it comes back to e^2 of its height.
TEST(BodyOpen, APointLandsAtTheOrigin) {
  constexpr double kE = 0.5;
  const Barred barred = run_barred(world(
      kG, kE, 0.3, "[body.tip]\npoint = [0, 0]\nmass = 1\ninertia = 0.01\nat = [0, 1]\n" + kFloor,
      1e-3, 0.6));
  ASSERT_TRUE(barred.motion.outcome.certificate.ok());
  const double falls = std::sqrt(2.0 / kG);
  const double t = 0.6 - falls;
  const double v = kE * kG * falls;
  EXPECT_LE(std::abs(barred.place(1) - (v * t - 0.5 * kG * t * t)), barred.bar.position[1]);
  EXPECT_LE(std::abs(barred.rate(1) - (v - kG * t)), barred.bar.velocity[1]);
  EXPECT_LT(barred.bar.position[1], 0.02);
}

// What rests may lie as deep as counts as touching, and the bar holds that.
TEST(BodyOpen, BarsHoldTheDepthOfWhatRests) {
  for (const double step : {1e-3, 7e-4, 3.1e-4}) {
    const std::string ball = fmt::format("[body.ball]\n{}mass = 1\nat = [0, 1.1]\n", kDisc);
    const Barred slider = run_barred(world(
        kG, 0.8, 0.0, ball + kFloor, step, 0.8,
        "[joint.rail]\nkind = \"slider\"\nbetween = [\"ground\", \"ball\"]\nat = [0, 1.1]\naxis = "
        "[0, 1]\nlimits = { low = -0.999999 }\nrestitution = 0\n"));
    ASSERT_TRUE(slider.bar.is_resolved()) << slider.bar.unresolved;
    EXPECT_LE(std::abs(slider.place(1) - 0.100001), slider.bar.position[1]) << step;
    EXPECT_LT(slider.bar.position[1], 1e-8);
    for (const double e : {0.0, 0.3}) {
      const Barred box =
          run_barred(world(kG, e, 0.5,
                           "[body.box]\nbox = [0.4, 0.2]\nmass = 1\ninertia = 0.02\nat = "
                           "[0, 0.101]\n" +
                               kFloor,
                           step, 0.8, "[watch.high]\nheight = \"box\"\n"));
      ASSERT_TRUE(box.bar.is_resolved()) << box.bar.unresolved;
      EXPECT_LE(std::abs(box.place(1) - 0.1), box.bar.position[1]) << step << ", " << e;
      EXPECT_LE(std::abs(box.place(2)), box.bar.position[2]) << step << ", " << e;
      EXPECT_LE(std::abs(box.motion.world->watches[0].second - 0.1), box.bar.watches[0].width);
      if (e == 0.0) {
        EXPECT_LT(box.bar.position[1], 1e-8);
      }
    }
  }
}

std::string plank(int supports, const std::string& watches) {
  std::string text = "[body.plank]\nbox = [2, 0.1]\nmass = 1\ninertia = 0.33\nat = [0, 0.25]\n";
  const std::array<double, 3> at = {-0.9, 0.8, 0.1};
  for (int k = 0; k < supports; ++k) {
    text += fmt::format("[body.post{}]\nfixed = true\nbox = [0.1, 0.2]\nat = [{}, 0.1]\n", k,
                        at[static_cast<std::size_t>(k)]);
  }
  return world(kG, 0.0, 0.3, text + watches, 1e-3, 0.5);
}

// A plank on two posts has one pair of upright forces, but as many shares of what friction may take
// as one likes; on three posts upright forces are one of many too. Their sums are the weight.
TEST(BodyOpen, ForcesThatAreOneOfManyAreTold) {
  const std::string one = "[watch.first]\nforce_on = \"post0\"\n";
  const Barred two = run_barred(plank(2, one));
  ASSERT_EQ(two.bar.watches.size(), 2U);
  EXPECT_TRUE(two.bar.watches[0].is_left_open);
  EXPECT_TRUE(two.bar.is_resolved()) << two.bar.unresolved;
  const Barred three = run_barred(plank(3, one + "[watch.all]\nforce_on = [\"post0\", \"post1\", "
                                                 "\"post2\"]\n"));
  ASSERT_EQ(three.bar.watches.size(), 4U);
  EXPECT_TRUE(three.bar.watches[0].is_left_open);
  EXPECT_TRUE(three.bar.watches[1].is_left_open);
  EXPECT_FALSE(three.bar.watches[2].is_left_open);
  EXPECT_FALSE(three.bar.watches[3].is_left_open);
  EXPECT_NEAR(three.motion.world->watches[3].second, -kG, 1e-9);
  EXPECT_TRUE(three.bar.is_resolved()) << three.bar.unresolved;
  EXPECT_NE(describe(three).find("(one of many)"), std::string::npos);
  const Barred ball = run_barred(
      world(kG, 0.0, 0.3, fmt::format("[body.ball]\n{}mass = 1\nat = [0, 0.1]\n", kDisc) + kFloor,
            1e-3, 0.5, "[watch.load]\nforce_on = \"floor\"\n"));
  for (const auto& watch : ball.bar.watches) EXPECT_FALSE(watch.is_left_open) << watch.name;
}

// What two hinges push at each other along a beam is open, and each carries half of the weight.
TEST(BodyOpen, AHingedBeamHasForcesThatAreOneOfMany) {
  const std::string beam = "[body.beam]\nbox = [2, 0.1]\nmass = 1\nat = [0, 1]\n";
  const auto hinge = [](const std::string& name, double x) {
    return fmt::format(
        "[joint.{0}]\nkind = \"hinge\"\nbetween = [\"ground\", \"beam\"]\nat = [{1}, 1]\n"
        "[watch.{0}_force]\njoint = \"{0}\"\n",
        name, x);
  };
  const Barred two =
      run_barred(world(kG, 0.0, 0.0, beam, 1e-3, 0.5, hinge("l", -1) + hinge("r", 1)));
  ASSERT_EQ(two.bar.watches.size(), 6U);
  EXPECT_TRUE(two.bar.watches[0].is_left_open);   // along the beam: any pair that is opposite
  EXPECT_FALSE(two.bar.watches[1].is_left_open);  // half of the weight each
  EXPECT_NEAR(two.motion.world->watches[1].second, 0.5 * kG, 1e-9);
}

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

bool is_open(const Barred& barred, const std::string& name) {
  for (const auto& watch : barred.bar.watches) {
    if (watch.name == name) return watch.is_left_open;
  }
  ADD_FAILURE() << name;
  return false;
}

double value_of(const Barred& barred, const std::string& name) {
  for (const auto& [one, value] : barred.motion.world->watches) {
    if (one == name) return value;
  }
  ADD_FAILURE() << name;
  return 0.0;
}

std::string plane(const std::string& name, double x, double y, double nx, double ny) {
  return fmt::format(
      "[body.{}]\nfixed = true\nhalf_plane = {{ point = [{:.17g}, {:.17g}], normal = [{}, {}] "
      "}}\n",
      name, x, y, nx, ny);
}

// Exact: in a groove of a right angle normal forces N and frictions T hold a disc wherever their
// sum along the vertical is m g / sqrt(2) on either side, and the cones allow it; a solver's choice
// may lie at their edge. Half of the weight each, and without friction as much to the side.
TEST(BodyOpen, ADiscInAGrooveHasForcesThatAreOneOfMany) {
  for (const double friction : {0.0, 0.05, 0.5, 1.0, 1.2}) {
    const std::string disc =
        fmt::format("[body.disc]\n{}mass = 1\nat = [0, {:.17g}]\n", kDisc, 0.1 * std::sqrt(2.0));
    const Barred groove =
        run_barred(world(kG, 0.0, friction,
                         disc + plane("left", 0, 0, 1, 1) + plane("right", 0, 0, -1, 1), 1e-3, 0.3,
                         "[watch.one]\nforce_on = \"left\"\n[watch.all]\nforce_on = [\"left\", "
                         "\"right\"]\n"));
    EXPECT_EQ(is_open(groove, "one.x"), friction > 0.0) << friction;
    EXPECT_FALSE(is_open(groove, "one.y")) << friction;
    EXPECT_NEAR(value_of(groove, "one.y"), -0.5 * kG, 1e-9);
    EXPECT_FALSE(is_open(groove, "all.x")) << friction;
    EXPECT_FALSE(is_open(groove, "all.y")) << friction;
    EXPECT_NEAR(value_of(groove, "all.y"), -kG, 1e-9);
    if (friction == 0.0) {
      EXPECT_NEAR(value_of(groove, "one.x"), -0.5 * kG, 1e-9);
    }
    EXPECT_TRUE(groove.bar.is_resolved()) << groove.bar.unresolved;
  }
}

// The same of discs that fall in: they slip to rest, and their last share is at the cone's edge.
TEST(BodyOpen, ADiscThatFellIntoAGrooveHasForcesThatAreOneOfMany) {
  for (const double from : {0.71, 0.8, 1.0}) {
    const std::string disc =
        fmt::format("[body.disc]\ndisc = 0.5\nmass = 1\ninertia = 0.125\nat = [0, {}]\n", from);
    const Barred groove = run_barred(
        world(kG, 0.0, 0.5, disc + plane("left", 0, 0, 1, 1) + plane("right", 0, 0, -1, 1), 1e-3,
              2.0, "[watch.one]\nforce_on = \"left\"\n"));
    EXPECT_TRUE(is_open(groove, "one.x")) << from;
    EXPECT_FALSE(is_open(groove, "one.y")) << from;
    EXPECT_NEAR(value_of(groove, "one.y"), -0.5 * kG, 1e-9);
    EXPECT_TRUE(groove.bar.is_resolved()) << groove.bar.unresolved;
  }
}

// Exact: what slips is held by friction of one direction.
TEST(BodyOpen, WhatSlipsIsDetermined) {
  const Barred slides = run_barred(
      world(kG, 0.0, 0.2,
            "[body.box]\nbox = [0.2, 0.2]\nmass = 1\ninertia = 0.01\nat = [0, 0.1]\nvelocity = "
            "[3, 0]\n" +
                kFloor,
            1e-3, 0.3, "[watch.load]\nforce_on = \"floor\"\n"));
  EXPECT_FALSE(is_open(slides, "load.x"));
  EXPECT_FALSE(is_open(slides, "load.y"));
  EXPECT_NEAR(value_of(slides, "load.x"), 0.2 * kG, 1e-9);
}

// Exact: between two walls any pair of forces will do, and the run's pair of none lies at the end
// of them. A disc at rest beside one wall can be held against it by the floor's friction alone,
// with friction as large at the wall: that takes a coefficient of 1.
TEST(BodyOpen, WhatTouchesAndDoesNotPushMayPush) {
  const std::string disc = fmt::format("[body.disc]\n{}mass = 1\nat = [0, 0.1]\n", kDisc);
  const std::string left = plane("left", -0.1, 0, 1, 0);
  const std::string load = "[watch.load]\nforce_on = \"left\"\n[watch.all]\nforce_on = \"floor\"\n";
  for (const double friction : {0.0, 0.5}) {
    const Barred two = run_barred(world(
        kG, 0.0, friction, disc + kFloor + left + plane("right", 0.1, 0, -1, 0), 1e-3, 0.2, load));
    EXPECT_TRUE(is_open(two, "load.x")) << friction;
    EXPECT_EQ(is_open(two, "all.y"), friction > 0.0) << friction;
    EXPECT_TRUE(two.bar.is_resolved()) << two.bar.unresolved;
  }
  for (const double friction : {0.0, 0.5, 0.9, 1.1, 2.0}) {
    const Barred one = run_barred(world(kG, 0.0, friction, disc + kFloor + left, 1e-3, 0.2, load));
    EXPECT_EQ(is_open(one, "load.x"), friction > 1.0) << friction;
    EXPECT_EQ(is_open(one, "all.x"), friction > 1.0) << friction;
    if (friction < 1.0) {
      EXPECT_NEAR(value_of(one, "all.y"), -kG, 1e-9);
    }
    EXPECT_TRUE(one.bar.is_resolved()) << one.bar.unresolved;
  }
}

// The same of two discs one above the other that fell between walls, with rolling friction: either
// wall may push as the other does.
TEST(BodyOpen, BothWallsOfAShaftMayPush) {
  std::string text =
      world(kG, 0.0, 0.3,
            "[body.a]\ndisc = 0.5\nmass = 2.5\nat = [0, 0.5005]\n[body.b]\ndisc = "
            "0.5\nmass = 2.5\nat = [0, 1.501]\n" +
                kFloor + plane("left", -0.5, 0, 1, 0) + plane("right", 0.5, 0, -1, 0),
            1e-3, 0.4,
            "[watch.one]\nforce_on = \"left\"\n[watch.other]\nforce_on = "
            "\"right\"\n");
  const Barred shaft = run_barred(with(text, "restitution = 0", "restitution = 0, rolling = 0.02"));
  EXPECT_TRUE(is_open(shaft, "one.x"));
  EXPECT_TRUE(is_open(shaft, "other.x"));
  EXPECT_TRUE(shaft.bar.is_resolved()) << shaft.bar.unresolved;
}

// The same of spheres, with a cone in space: the wall holds where its coefficient is 1.
TEST(BodyOpen, WhatTouchesAndDoesNotPushMayPushInSpace) {
  for (const double friction : {0.5, 1.2}) {
    const Barred ball = run_barred(fmt::format(
        "[world]\ndimension = 3\ngravity = [0, 0, -9.81]\n[pair]\ndefault = {{ friction = {}, "
        "restitution = 0 }}\n[body.ball]\nsphere = 0.1\nmass = 1\nat = [0, 0, 0.1]\n[body.floor]\n"
        "fixed = true\nhalf_space = {{ point = [0, 0, 0], normal = [0, 0, 1] "
        "}}\n[body.wall]\nfixed "
        "= true\nhalf_space = {{ point = [-0.1, 0, 0], normal = [1, 0, 0] }}\n[watch.load]\n"
        "force_on = \"wall\"\n[run]\nstep = 1e-3\nuntil = 0.2\nrecord = 10\n",
        friction));
    EXPECT_EQ(is_open(ball, "load.x"), friction > 1.0) << friction;
    EXPECT_TRUE(ball.bar.is_resolved()) << ball.bar.unresolved;
  }
}

/// A plank that lies on discs, each of which it touches at one point.
std::string plank_on_discs(int count, double friction, const std::string& watches) {
  std::string text = "[body.plank]\nbox = [2, 0.1]\nmass = 1\ninertia = 0.33\nat = [0, 0.25]\n";
  const std::array<std::string, 3> at = {
      "fixed = true\nat = [-0.9, 0.1]\n", "fixed = true\nat = [0.8, 0.1]\n",
      "driven = { position = [0.1, \"0.1 - max(0, t - 0.1)\"] }\n"};
  for (int k = 0; k < count; ++k) {
    text += fmt::format("[body.post{}]\ndisc = 0.1\n{}", k, at[static_cast<std::size_t>(k)]);
  }
  return world(kG, 0.0, friction, text + watches, 1e-3, 0.5);
}
constexpr double kLever = kG * 0.8 / 1.7;  // what the first of two carries

// A plank on three posts until one goes away: a mean over all of it is open, one over the end, on
// two posts without friction, is not. Exact: that of the lever.
TEST(BodyOpen, AMeanIsOpenWhereAnyOfItsStepsIs) {
  const std::string text = plank_on_discs(3, 0.0, "[watch.first]\nforce_on = \"post0\"\n");
  const Barred late = run_barred(text);
  EXPECT_FALSE(is_open(late, "first.y"));
  EXPECT_NEAR(value_of(late, "first.y"), -kLever, 1e-9);
  const Barred whole = run_barred(with(text, "record = 10", "record = 500"));
  EXPECT_TRUE(is_open(whole, "first.y"));
}

// Formulas of open forces are open but where they are sums of all that share the load.
TEST(BodyOpen, FormulasOfOpenForcesAreOpen) {
  const Barred three = run_barred(plank(
      3,
      "[watch.a]\nforce_on = \"post0\"\n[watch.b]\nforce_on = \"post1\"\n[watch.c]\nforce_on = "
      "\"post2\"\n[watch.twice]\nformula = \"2e-6*a.y\"\n[watch.total]\nformula = \"(a.y + b.y + "
      "c.y)/9.81\"\n[watch.of_it]\nformula = \"sqrt(twice^2)\"\n[watch.other]\nformula = "
      "\"plank.y\"\n"));
  EXPECT_TRUE(is_open(three, "twice"));
  EXPECT_TRUE(is_open(three, "of_it"));
  EXPECT_FALSE(is_open(three, "total"));
  EXPECT_FALSE(is_open(three, "other"));
  EXPECT_NEAR(value_of(three, "total"), -1.0, 1e-9);
}

// Exact: a bar on a hinge presses on a disc by the lever; a hinge that holds it by friction, or by
// a motor, takes any part of that.
TEST(BodyOpen, DryFrictionOfJointsSharesLoads) {
  for (const std::string hold : {"", "friction = 3\n", "motor = { speed = 0, most = 3 }\n"}) {
    const std::string bar =
        "[body.bar]\nbox = [2, 0.1]\nmass = 1\nat = [0, 1]\n[body.post]\nfixed = true\ndisc = "
        "0.1\nat "
        "= [0.9, 0.85]\n";
    const Barred barred = run_barred(
        world(kG, 0.0, 0.0, bar, 1e-3, 0.3,
              "[joint.pin]\nkind = \"hinge\"\nbetween = [\"ground\", \"bar\"]\nat = [-1, 1]\n" +
                  hold + "[watch.load]\nforce_on = \"post\"\n[watch.pin]\njoint = \"pin\"\n"));
    EXPECT_EQ(is_open(barred, "load.y"), !hold.empty()) << hold;
    EXPECT_EQ(is_open(barred, "pin.y"), !hold.empty()) << hold;
    EXPECT_FALSE(is_open(barred, "pin.x")) << hold;
    if (hold.empty()) {
      EXPECT_NEAR(value_of(barred, "load.y"), -kG / 1.9, 1e-9);
    }
    EXPECT_TRUE(barred.bar.is_resolved()) << barred.bar.unresolved;
  }
}

// Exact: a plank on two discs presses on each by the lever; moments of rolling friction take part
// of that.
TEST(BodyOpen, RollingFrictionSharesLoads) {
  const std::string text = plank_on_discs(2, 0.0, "[watch.first]\nforce_on = \"post0\"\n");
  const Barred smooth = run_barred(text);
  EXPECT_FALSE(is_open(smooth, "first.y"));
  EXPECT_NEAR(value_of(smooth, "first.y"), -kLever, 1e-9);
  const Barred rolls = run_barred(with(text, "restitution = 0", "restitution = 0, rolling = 0.1"));
  EXPECT_TRUE(is_open(rolls, "first.y"));
  EXPECT_FALSE(is_open(rolls, "first.x"));
  EXPECT_TRUE(rolls.bar.is_resolved()) << rolls.bar.unresolved;
}

// What hinges do to a beam at rest is rounding, of which nobody is warned.
TEST(BodyOpen, RoundingOfJointsIsNoWork) {
  for (const double step : {2e-3, 1e-3, 4.1e-4}) {
    std::string rest;
    for (const int x : {-1, 1}) {
      rest += fmt::format(
          "[joint.j{}]\nkind = \"hinge\"\nbetween = [\"ground\", \"beam\"]\nat = [{}, 1]\n", x + 1,
          x);
    }
    const Barred barred = run_barred(world(
        kG, 0.0, 0.0, "[body.beam]\nbox = [2, 0.1]\nmass = 1\nat = [0, 1]\n", step, 0.5, rest));
    std::vector<std::string> warnings;
    warn_of_world(barred.motion, warnings);
    EXPECT_TRUE(warnings.empty()) << warnings[0];
  }
}

// Exact: a body at 3 m/s is at 0.5 m after 1/6 s, and one on a spring at cos t; neither is within a
// thousandth of there at the end of a step, and no gravity says what a smooth step is.
TEST(BodyOpen, AConditionBetweenStepsStopsWithoutGravity) {
  const auto body = [](double x, double v) {
    return fmt::format("[body.a]\n{}mass = 1\nat = [{}, 0]\nvelocity = [{}, 0]\n", kDisc, x, v);
  };
  const Barred flies = run_barred(world(0.0, 0.0, 0.0, body(0, 3), 1e-2, 1.0) +
                                  "stop = \"abs(a.x - 0.5) < 0.0005\"\n");
  ASSERT_TRUE(flies.bar.end_time.has_value()) << flies.bar.unresolved;
  EXPECT_LE(std::abs(flies.motion.final_state.t - 1.0 / 6.0), *flies.bar.end_time);
  const std::string spring =
      "[joint.rail]\nkind = \"slider\"\nbetween = [\"ground\", \"a\"]\nat = [1, 0]\naxis = [1, 0]\n"
      "spring = { stiffness = 1, rest = -1 }\n";
  std::string swings = world(0.0, 0.0, 0.0, body(1, 0) + spring, 1e-2, 2.0);
  const Barred swing = run_barred(swings + "stop = \"abs(a.x - 0.5) < 0.0003\"\n");
  ASSERT_TRUE(swing.bar.end_time.has_value()) << swing.bar.unresolved;
  EXPECT_LE(std::abs(swing.motion.final_state.t - std::acos(0.5)), *swing.bar.end_time);
}

// Exact: an elastic ball touches the floor for an instant, and one that is thrown up stands still
// for one; steps see neither.
TEST(BodyOpen, AConditionBetweenStepsStops) {
  for (const double step : {2e-3, 1.3e-3, 7e-4}) {
    const std::string ball = fmt::format("[body.ball]\n{}mass = 1\nat = [0, 1.1]\n", kDisc);
    const Barred low = run_barred(world(kG, 1.0, 0.0, ball + kFloor, step, 2.0, "") +
                                  "stop = \"ball.y < "
                                  "0.1005\"\n");
    ASSERT_TRUE(low.motion.outcome.certificate.ok());
    ASSERT_TRUE(low.bar.end_time.has_value()) << low.bar.unresolved;
    EXPECT_LE(std::abs(low.motion.final_state.t - std::sqrt(2.0 / kG)), *low.bar.end_time + step);
    const std::string up =
        fmt::format("[body.ball]\n{}mass = 1\nat = [0, 1]\nvelocity = [0, 5]\n", kDisc);
    const Barred slow =
        run_barred(world(kG, 0.0, 0.0, up, step, 0.8) + "stop = \"ball.speed < 0.01\"\n");
    ASSERT_TRUE(slow.bar.end_time.has_value()) << slow.bar.unresolved;
    EXPECT_LE(std::abs(slow.motion.final_state.t - 4.99 / kG), *slow.bar.end_time);
    EXPECT_TRUE(slow.bar.is_resolved()) << slow.bar.unresolved;
  }
  // What never holds: the ball is as low as its centre at 0.1, and no step says less.
  const std::string ball = fmt::format("[body.ball]\n{}mass = 1\nat = [0, 1.1]\n", kDisc);
  const Barred never =
      run_barred(world(kG, 1.0, 0.0, ball + kFloor, 1e-3, 1.0) + "stop = \"ball.y < -0.1\"\n");
  EXPECT_FALSE(never.bar.end_time.has_value());
}

}  // namespace
}  // namespace ricochet::study::body_open_test
