// The way from a start, or a birth, to the first middle is looked at: nobody is through a wall
// under a green status. What formulas of t do within a step, where steps do not see it, is told.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ricochet/scene/scene.h"
#include "ricochet/study/motion.h"

namespace ricochet::testing::first_half_step_test {
namespace {

constexpr double kSpeed = 60.0;

study::Motion run(const std::string& text) {
  return study::run_scene(scene::read_scene("scene.toml", text), true);
}

/// Bodies without gravity and friction; the bodies are made by the caller.
std::string world(int dimension, double restitution, double h, const std::string& bodies) {
  return fmt::format(
      "[world]\ndimension = {}\n[pair]\ndefault = {{ restitution = {} }}\n{}"
      "[run]\nstep = {}\nuntil = {}\n",
      dimension, restitution, bodies, h, 30 * h);
}

/// A bullet that is `gap` before a wall 2 mm thick.
std::string bullet(double gap, const std::string& more = "") {
  return fmt::format(
      "[body.p]\ndisc = 0.005\nmass = 1\nat = [{}, 0.1]\nvelocity = [{}, 0]\n{}"
      "[body.wall]\nfixed = true\nbox = [0.002, 1]\n",
      -0.006 - gap, kSpeed, more);
}

/// What is true is vx = -e v; a run says so or fails, at any distance from the wall.
void expect_truth(const study::Motion& motion, double restitution, int& held, int& failed) {
  const certify::Failure failure = motion.outcome.certificate.failure;
  if (failure == certify::Failure::PassedThrough) {
    ++failed;
    return;
  }
  ASSERT_EQ(failure, certify::Failure::None);
  ASSERT_NEAR(motion.world->last.bodies[0].v[0], -restitution * kSpeed, 1e-9);
  ++held;
}

TEST(FirstHalfStep, ABulletIsStoppedOrTold) {
  for (const double restitution : {0.0, 0.5}) {
    for (const char* born : {"", "born = 0.0051\n"}) {
      int held = 0;
      int failed = 0;
      for (int k = 0; k < 40; ++k) {
        SCOPED_TRACE(fmt::format("e = {}, {}, {}", restitution, born, k));
        const std::string text = world(2, restitution, 1e-3, bullet(1e-3 * k + 1.7e-4, born));
        expect_truth(run(text), restitution, held, failed);
      }
      // The first middle is 30 mm away. From a gap of 24 mm on the disc is not beyond the middle of
      // the wall there, 6 mm farther, and is put back to where it came from.
      // With e > 0 it is through at the second middle where the gap is more than 30 mm.
      EXPECT_EQ(failed, restitution == 0.0 ? 24 : 34);
      EXPECT_EQ(held + failed, 40);
    }
  }
}

/// The step that is named does it.
TEST(FirstHalfStep, NamesTheStepThatIsNeeded) {
  const study::Motion through = run(world(2, 0.0, 1e-3, bullet(0.014)));
  ASSERT_EQ(through.outcome.certificate.failure, certify::Failure::PassedThrough);
  EXPECT_EQ(through.outcome.certificate.failure_time, 0.0);
  const std::string& words = through.world->told.broken;
  EXPECT_NE(words.find("'p' is through 'wall'"), std::string::npos) << words;
  const double named = std::stod(words.substr(words.rfind(' ') + 1));
  EXPECT_NEAR(named, 2 * 0.014 / kSpeed, 0.03 * named);
  const study::Motion met = run(world(2, 0.0, named, bullet(0.014)));
  ASSERT_TRUE(met.outcome.certificate.ok());
  EXPECT_NEAR(met.world->last.bodies[0].v[0], 0.0, 1e-9);
}

/// A piston that moves from the start pushes what is in its way.
TEST(FirstHalfStep, ADrivenBodyBeginsToo) {
  int held = 0;
  int failed = 0;
  for (int k = 0; k < 40; ++k) {
    const std::string text = fmt::format(
        "[body.p]\ndisc = 0.005\nmass = 1\nat = [{}, 0.1]\n"
        "[body.piston]\ndriven = {{ position = [\"60*t\", 0] }}\nbox = [0.002, 1]\n",
        0.006 + 1e-3 * k + 1.7e-4);
    const study::Motion motion = run(world(2, 0.0, 1e-3, text));
    if (motion.outcome.certificate.failure == certify::Failure::PassedThrough) {
      ++failed;
      continue;
    }
    ASSERT_TRUE(motion.outcome.certificate.ok());
    ASSERT_NEAR(motion.world->last.bodies[0].v[0], kSpeed, 1e-9) << k;
    ++held;
  }
  EXPECT_EQ(failed, 24);
  EXPECT_EQ(held, 16);
}

/// In space, and two that fly at each other; who passes far from the other is left alone.
TEST(FirstHalfStep, InSpaceAndBetweenFreeBodies) {
  const auto pair = [](double aside, double h) {
    return world(3, 0.0, h,
                 fmt::format("[body.a]\nbox = [0.002, 1, 1]\nmass = 1\ninertia = [1, 1, 1]\n"
                             "velocity = [-30, 0, 0]\nat = [0.02, 0, 0]\n"
                             "[body.b]\nsphere = 0.005\nmass = 1\nvelocity = [30, 0, 0]\n"
                             "at = [0, {}, 0]\n",
                             aside));
  };
  EXPECT_EQ(run(pair(0.0, 1e-3)).outcome.certificate.failure, certify::Failure::PassedThrough);
  EXPECT_TRUE(run(pair(0.51, 1e-3)).outcome.certificate.ok());
  const study::Motion met = run(pair(0.0, 4e-4));
  ASSERT_TRUE(met.outcome.certificate.ok());
  for (const auto& one : met.world->last_in_space.bodies) EXPECT_NEAR(one.v[0], 0.0, 1e-9);
}

/// What is told of a floor that follows a formula, under a disc that lies on it.
std::string told_of_floor(const std::string& position, const std::string& angle, double h) {
  return run(fmt::format("[world]\ndimension = 2\ngravity = [0, -10]\n"
                         "[pair]\ndefault = {{ restitution = 0 }}\n"
                         "[body.floor]\ndriven = {{ position = [0, \"{}\"], angle = \"{}\" }}\n"
                         "box = [4, 1]\n[body.p]\ndisc = 0.1\nmass = 1\nat = [0, 0.7]\n"
                         "[run]\nstep = {}\nuntil = {}\n",
                         position, angle, h, 200 * h))
      .world->told.unseen;
}

/// Once a step, at the places where steps look, a sine is 0; so is its double.
TEST(FormulasWithinSteps, ASineThatLooksLikeRestIsTold) {
  for (const int k : {1, 2, 3, 8, 9, 40}) {
    const std::string sine = fmt::format("0.01*sin({}*2*pi*1000*t)", k);
    EXPECT_NE(told_of_floor(sine, "0", 1e-3).find("the formula of 'floor'"), std::string::npos)
        << k;
    EXPECT_NE(told_of_floor("0", sine, 1e-3), "") << k;
  }
  EXPECT_EQ(told_of_floor("0.01*sin(2*pi*1000*t)", "0", 2e-5), "");  // 50 steps in a period
  EXPECT_EQ(told_of_floor("0.01*sin(2*pi*10*t)", "0.1*sin(20*t)", 1e-3), "");
}

TEST(FormulasWithinSteps, AJumpIsTold) {
  for (const double h : {1e-3, 1e-4}) {
    for (int k = 0; k < 8; ++k) {
      const double at = h * (20.0 + 0.13 * k);
      const std::string jump = fmt::format("if(t < {}, 0, 0.01)", at);
      EXPECT_NE(told_of_floor(jump, "0", h).find("jumps"), std::string::npos) << at;
      EXPECT_NE(told_of_floor("0", jump, h).find("jumps"), std::string::npos) << at;
      EXPECT_NE(told_of_floor("0.1*t + " + jump, "0", h).find("jumps"), std::string::npos) << at;
    }
  }
}

/// Motions that begin, end or turn within a step are seen by the next one.
TEST(FormulasWithinSteps, KinksAreSeen) {
  for (int k = 0; k < 8; ++k) {
    const double at = 1e-3 * (20.0 + 0.13 * k);
    for (const std::string form :
         {"if(t < {0}, 0, -5*(t - {0}))", "-abs(t - {0})", "if(t < {0}, 0, -0.5*(t - {0})^2)",
          "max(-1, -0.1*(t/{0})^2)", "if(t < {0}, 0, -0.01*sin(30*(t - {0})))"}) {
      const std::string formula = fmt::format(fmt::runtime(form), at);
      EXPECT_EQ(told_of_floor(formula, "0", 1e-3), "") << formula;
      EXPECT_EQ(told_of_floor("0", formula, 1e-3), "") << formula;
    }
  }
}

/// Steps take h g(t_M): of a cosine, 10 in each of them, and its integral is 0.
TEST(FormulasWithinSteps, GravityThatSwingsOnceAStepIsTold) {
  const auto told = [](const std::string& gravity, double h) {
    return run(fmt::format("[world]\ndimension = 2\ngravity = [0, \"{}\"]\n"
                           "[pair]\ndefault = \"none\"\n[body.p]\ndisc = 0.1\nmass = 1\n"
                           "[run]\nstep = {}\nuntil = {}\n",
                           gravity, h, 200 * h))
        .world->told.unseen;
  };
  for (const int k : {1, 2, 3, 8, 9, 18}) {
    const std::string cosine = fmt::format("10*cos({}*2*pi*1000*(t - 0.0005))", k);
    EXPECT_NE(told(cosine, 1e-3).find("gravity"), std::string::npos) << k;
    EXPECT_NE(told("-10 + " + cosine, 1e-3), "") << k;
  }
  EXPECT_EQ(told("10*cos(2*pi*1000*t)", 1e-4), "");
  EXPECT_EQ(told("10*cos(2*pi*20*t)", 1e-3), "");
  EXPECT_EQ(told("if(t < 0.0503, 0, -10)", 1e-3), "");  // it misses less than h 10/2 of 1.5
  EXPECT_EQ(told("-10", 1e-3), "");
}

}  // namespace
}  // namespace ricochet::testing::first_half_step_test
