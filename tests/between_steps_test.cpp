// What no step looks at, since it is narrower than one: no such run may be told as resolved.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ricochet/study/companions.h"
#include "ricochet/study/family.h"
#include "support.h"

namespace ricochet::study::between_steps_test {
namespace {

using testing::read_text;

std::string reason(const std::string& text) {
  Companions companions(read_text(text), BarChoice::Auto);
  const Motion motion = companions.run(false, {}, nullptr);
  const ErrorBar bar = companions.compare(motion, run_in_order, nullptr);
  EXPECT_TRUE(bar.made) << bar.not_made;
  return bar.unresolved;
}

const std::string kPlane = "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n";

/// A block at unit speed on a floor whose friction takes half of its energy at x = 0.5 + `at` over
/// 4e-5: steps of 1e-3 pass it.
std::string patch(double at, const std::string& scheme) {
  return kPlane +
         fmt::format(
             "potential = \"10*y\"\n[contact.floor]\nkeep = \"y >= 0\"\nslip = [\"x'\"]\n"
             "friction = \"if(abs(x - {}) < 2e-5, 625, 0)\"\n[start]\nposition = {{ x = 0, y = 0 "
             "}}\nvelocity = {{ x = 1 }}\n[run]\nscheme = \"{}\"\nstep = 1e-3\nuntil = 1\n",
             0.5 + at, scheme);
}

// Where the patch lies within the step does not matter: also at its ends and in its middle.
TEST(BetweenSteps, APatchOfFrictionIsNotPassedUnseen) {
  for (const char* scheme : {"moreau", "moreau-jean"}) {
    for (const double at : {0.0, 1.7e-4, 2.5e-4, 5e-4, 7.3e-4}) {
      EXPECT_NE(reason(patch(at, scheme)), "") << scheme << " " << at;
    }
  }
}

// A block on a spring passes a patch twenty times, and loses 0.6 % of its energy each time.
TEST(BetweenSteps, WhatIsMissedAddsUp) {
  EXPECT_NE(
      reason(kPlane + "potential = \"0.5*x^2 + y\"\n[contact.floor]\nkeep = \"y >= 0\"\n"
                      "slip = [\"x'\"]\nfriction = \"if(abs(x + 0.23) < 1e-4, 15, 0)\"\n[start]\n"
                      "position = { x = 1, y = 0 }\n[run]\nstep = 0.02\nuntil = 63\n"),
      "");
}

TEST(BetweenSteps, ABrakeWithoutAContactIsLookedAtToo) {
  EXPECT_NE(reason("[system]\ncoordinates = [\"x\"]\nmass = [1]\n[friction.brake]\nslip = \"x'\"\n"
                   "bound = \"if(abs(x - 0.50031) < 2e-5, 6250, 0)\"\n[start]\nposition = { x = 0 "
                   "}\nvelocity = { x = 1 }\n[run]\nstep = 1e-3\nuntil = 1\n"),
            "");
}

// A wire with a bump that is too high for the bead, at the end of a step.
TEST(BetweenSteps, ABumpAtTheEndOfAStepIsSeen) {
  for (const double at : {0.0, 1e-3, 2.5e-3, 5e-3}) {
    const std::string text =
        kPlane + fmt::format(
                     "potential = \"10*y\"\n[hold.wire]\nzero = \"y - 0.1*exp(-((x - "
                     "{})/1e-4)^2)\"\n[start]\nposition = {{ x = 0, y = 0 }}\nvelocity = "
                     "{{ x = 1 }}\n[run]\nstep = 0.01\nuntil = 1\n",
                     0.5 + at);
    EXPECT_NE(reason(text), "") << at;
  }
}

// A push of 1 along x while the ball is struck, 1e-5 long.
TEST(BetweenSteps, APulseInTheStepOfAnImpactIsSeen) {
  for (const double later : {-3e-4, 0.0, 2e-4, 1.1e-3}) {
    const std::string text =
        kPlane +
        fmt::format(
            "potential = \"10*y\"\nforce = {{ x = \"56418.96*exp(-((t - {})/1e-5)^2)\" "
            "}}\n[contact.floor]\nkeep = \"y >= 0\"\nrestitution = 0.6\n[start]\nposition "
            "= {{ x = 0, y = 1 }}\n[run]\nscheme = \"mabrouk\"\nstep = 1e-3\nuntil = 0.7\n",
            std::sqrt(0.2) + later);
    EXPECT_NE(reason(text), "") << later;
  }
}

// Banks of twice the energy, and pulses, between rows and between the steps of step control.
TEST(BetweenSteps, NarrowForcesAreLookedForWhereStepsAreChosen) {
  const std::string start = "[start]\nposition = { x = 0 }\nvelocity = { x = 1 }\n[run]\n";
  const std::string bank =
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"exp(-((x - 0.503)/1e-5)^2)\"\n";
  const std::string pulse =
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\nforce = { x = \"5641.896*exp(-((t - "
      "0.503)/1e-4)^2)\" }\n";
  for (const std::string& system : {bank, pulse}) {
    for (const char* run : {"scheme = \"event-driven\"\nstep = 1\nuntil = 1\n",
                            "scheme = \"event-driven\"\nstep = 0.02\nuntil = 1\n",
                            "step = { max = 0.05, min = 1e-9, tolerance = 1e-6 }\nuntil = 1\n"}) {
      EXPECT_NE(reason(system + start + run), "") << run;
    }
  }
}

// What is as wide as many steps is resolved: a bank that is too low.
TEST(BetweenSteps, WideForcesAreResolved) {
  const std::string text =
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.1*exp(-((x - 0.5)/0.1)^2)\"\n"
      "[start]\nposition = { x = 0 }\nvelocity = { x = 1 }\n[run]\n";
  for (const char* run :
       {"step = 1e-3\nuntil = 1\n", "scheme = \"event-driven\"\nstep = 0.1\nuntil = 1\n",
        "step = { max = 0.05, min = 1e-9, tolerance = 1e-8 }\nuntil = 1\n"}) {
    EXPECT_EQ(reason(text + run), "") << run;
  }
}

// A floor that exists for less than a step around the impact, which is at the end of a step.
TEST(BetweenSteps, AFloorThatExistsForAMomentIsNotPassedUnseen) {
  const double falls = std::sqrt(0.2);
  EXPECT_NE(reason(kPlane + fmt::format("potential = \"10*y\"\n[contact.floor]\nkeep = \"y >= 0\"\n"
                                        "where = \"abs(t - {}) < 1e-4\"\nrestitution = 1\n[start]\n"
                                        "position = {{ x = 0, y = 1 }}\n[run]\nscheme = \"elast\"\n"
                                        "step = {}\nsteps = 600\n",
                                        falls, falls / 400)),
            "");
}

// Under a table and then where the table is: nobody knows what follows.
TEST(BetweenSteps, AContactThatBeginsBeyondItsWallIsDoubted) {
  EXPECT_NE(
      reason(kPlane +
             "potential = \"10*y\"\n[contact.table]\nkeep = \"y >= 0\"\nwhere = \"x > 0.46\"\n"
             "restitution = 0.5\n[start]\nposition = { x = 0, y = 1 }\nvelocity = { x = 1 }\n"
             "[run]\nscheme = \"mabrouk\"\nstep = 1e-3\nuntil = 0.6\n"),
      "");
}

// Springs have their restitution where gaps are lengths; of x^3 they have another.
TEST(BetweenSteps, SpringsOfUnevenGapsAreDoubted) {
  const auto ball = [](const std::string& gap) {
    return "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"10*x\"\n[contact.floor]\n"
           "keep = \"" +
           gap +
           " >= 0\"\nrestitution = 0.5\n[start]\nposition = { x = 1 }\n[run]\nscheme = "
           "\"penalty\"\nstep = 1e-4\nuntil = 0.7\n";
  };
  EXPECT_NE(reason(ball("x^3")), "");
  EXPECT_EQ(reason(ball("x + 0.01*x^2")), "");
}

// Turns in a magnetic field that the scheme damps away, beside a heavy oscillator: |u| = 1.7.
TEST(BetweenSteps, ASchemeThatStopsATurnIsFoundOut) {
  EXPECT_NE(reason("[system]\ncoordinates = [\"x\", \"y\", \"z\"]\nmass = [1, 1, 5]\npotential = "
                   "\"0.1*z^2\"\nforce = { x = \"7*y'\", y = \"-7*x'\" }\n[start]\nposition = { x "
                   "= 0, y = 0, z = 1 }\nvelocity = { x = 1.7 }\n[run]\nscheme = \"mabrouk\"\nstep "
                   "= 0.0029\nsteps = 13500\n"),
            "");
}

// 5e-7 in a step beside an ulp of 2e-6: arcs do not move.
TEST(BetweenSteps, ArcsThatRoundingStopsAreToldSo) {
  const Motion motion = run_scene(
      read_text("[system]\ncoordinates = [\"x\"]\nmass = [1]\n[start]\nposition = { x = 1e10 }\n"
                "velocity = { x = 5e-4 }\n[run]\nscheme = \"event-driven\"\nstep = 1e-3\nsteps = "
                "20000\n"),
      false);
  EXPECT_GT(motion.outcome.certificate.lost_displacement, 0.5);
}

}  // namespace
}  // namespace ricochet::study::between_steps_test
