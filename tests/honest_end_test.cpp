// How runs end: what cannot be computed, what discretisation made up, what rounding swallowed and
// what a model says wrongly of itself never ends as "ok".

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/record/summary.h"
#include "ricochet/step/inel.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/simulate.h"
#include "support.h"

namespace ricochet::honest_end_test {
namespace {

using certify::Failure;

std::string run_of(const std::string& scheme, double h, double until) {
  return fmt::format("[run]\nscheme = \"{}\"\nstep = {:.17g}\nuntil = {:.17g}\nrecord = 0\n",
                     scheme, h, until);
}

/// A ball that falls from x = 1 with gravity 10 on a floor that is written in this way.
study::Motion fall_on(const std::string& contact, const std::string& scheme, double h = 0.001,
                      double until = 0.7) {
  return testing::run_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"10*x\"\n[contact.floor]\n" +
      contact + "\n[start]\nposition = { x = 1 }\n" + run_of(scheme, h, until));
}

/// One coordinate with a force.
study::Motion drive(const std::string& force, double x, double v, const std::string& scheme,
                    double h, double until) {
  return testing::run_text(
      fmt::format("[system]\ncoordinates = [\"x\"]\nmass = [1]\n"
                  "force = {{ x = \"{}\" }}\n[start]\nposition = {{ x = {:.17g} "
                  "}}\nvelocity = {{ x = {:.17g} }}\n",
                  force, x, v) +
      run_of(scheme, h, until));
}

Failure failure_of(const study::Motion& motion) { return motion.outcome.certificate.failure; }
double end_of(const study::Motion& motion) { return motion.final_state.q[0]; }
std::string word_of(const study::Motion& motion) {
  return record::status_word(motion.outcome, motion.scene.run.limits, {});
}

/// Whichever check sees it first.
bool has_no_wall(const study::Motion& motion) {
  const Failure failure = failure_of(motion);
  return failure == Failure::Derivative || failure == Failure::Degenerate ||
         failure == Failure::SteppedOver;
}

TEST(HonestEnd, WhereThatIsNoNumberIsRefusedByEveryScheme) {
  for (const std::string& scheme : step::scheme_names()) {
    const study::Motion motion = fall_on("keep = \"x >= 0\"\nwhere = \"sqrt(x) < 2\"", scheme);
    EXPECT_EQ(failure_of(motion), Failure::NotFinite) << scheme;
    EXPECT_EQ(motion.outcome.certificate.failure_contact, 0) << scheme;
  }
}

TEST(HonestEnd, AConditionThatIsNoNumberIsNeitherTrueNorFalse) {
  const study::Motion motion = fall_on("keep = \"if(log(x) < 5, x, 2*x) >= 0\"", "moreau");
  EXPECT_EQ(failure_of(motion), Failure::NotFinite);
  // Unless the rest decides: the floor is there where x < 0, whatever sqrt says.
  for (const char* where : {"x < 0 or sqrt(x) < 2", "not (x >= 0 and sqrt(x) >= 2)"}) {
    const study::Motion decided =
        fall_on("keep = \"x >= 0\"\nwhere = \"" + std::string(where) + "\"", "moreau");
    EXPECT_EQ(failure_of(decided), Failure::None) << where;
    EXPECT_NEAR(end_of(decided), 0.0, 0.01) << where;
  }
}

TEST(HonestEnd, GapsWithoutAUsableGradientAreRefused) {
  for (const char* scheme : {"moreau", "elast", "mabrouk", "moreau-jean", "penalty", "billiard"}) {
    const study::Motion flat = fall_on("keep = \"if(x > 0, 1, -1) >= 0\"\nrestitution = 1", scheme);
    EXPECT_TRUE(has_no_wall(flat)) << scheme;
    const study::Motion steep = fall_on("keep = \"1e200*x >= 0\"\nrestitution = 1", scheme);
    EXPECT_EQ(failure_of(steep), Failure::NotFinite) << scheme;
  }
}

TEST(HonestEnd, GapsWhoseSquaresLoseTheirDigitsAreRefused) {
  for (const char* scheme : {"event-driven", "moreau", "mabrouk", "moreau-jean"}) {
    for (const double scale : {1e-150, 1e-156, 5.2e-161, 1e-162}) {
      const auto motion =
          fall_on(fmt::format("keep = \"{:.17g}*x >= 0\"\nrestitution = 0.46", scale), scheme);
      EXPECT_NE(word_of(motion), "ok") << scheme << ' ' << scale;
    }
    const auto motion = fall_on("keep = \"1e-120*x >= 0\"\nrestitution = 0.46", scheme);
    EXPECT_TRUE(motion.outcome.certificate.ok()) << scheme;
  }
}

/// A particle that meets a post far thinner than its step, in the middle: it turns back, or the run
/// says that it did not.
TEST(HonestEnd, SpringsOfThinPostsAreNotGoneThrough) {
  for (int k = 0; k < 40; ++k) {
    const double radius = 0.01 * (1.0 + 0.37 * k);
    const auto motion = testing::run_text(
        fmt::format("[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n[contact.post]\n"
                    "keep = \"hypot(x - {:.17g}, y) >= {:.17g}\"\nrestitution = 1\n[start]\n"
                    "position = {{ x = 0, y = 0 }}\nvelocity = {{ x = 1 }}\n",
                    7.0 + 0.011 * k, radius) +
        run_of("penalty", 0.1, 14.0));
    EXPECT_TRUE(word_of(motion) != "ok" || end_of(motion) < 1.0) << radius;
  }
}

/// From 1/x - 1 = +oo to -oo within a step, opening on both sides; from 0.5 to -6.5.
TEST(HonestEnd, AGapThatJumpsIsNoWall) {
  for (const char* scheme : {"moreau", "mabrouk", "moreau-jean"}) {
    EXPECT_TRUE(has_no_wall(fall_on("keep = \"1 - 1/x <= 0\"", scheme))) << scheme;
    EXPECT_TRUE(has_no_wall(fall_on("keep = \"if(x > 0.5, x, x - 7) >= 0\"", scheme))) << scheme;
  }
}

TEST(HonestEnd, WhatWasNotJudgedIsUncertified) {
  scene::Scene scene = testing::read_text(testing::kFloor);
  scene.run.certify = false;
  const study::Motion motion = study::run_scene(scene, false);
  EXPECT_EQ(word_of(motion), "uncertified");
  scene.run.certify = true;
  EXPECT_EQ(word_of(study::run_scene(scene, false)), "ok");
}

// The midpoint schemes are unstable beyond h omega = 2.

TEST(HonestEnd, StiffForcesAreRefusedBeyondTheirLimitOnly) {
  base::Random random(5);
  for (int trial = 0; trial < 40; ++trial) {
    const double omega = std::pow(10.0, random.uniform(-1.0, 4.0));
    const double x = std::pow(10.0, random.uniform(-3.0, 3.0));
    const char* scheme = trial % 2 == 0 ? "moreau" : "penalty";
    const std::string force = fmt::format("-{:.17g}*x", omega * omega);
    const double fast = random.uniform(2.1, 5.0) / omega;
    EXPECT_EQ(failure_of(drive(force, x, 0.0, scheme, fast, 200.0 * fast)), Failure::Diverged);
    const double slow = random.uniform(0.02, 1.5) / omega;
    EXPECT_EQ(failure_of(drive(force, x, 0.0, scheme, slow, 2000.0 * slow)), Failure::None);
  }
}

TEST(HonestEnd, GrowthThatForcesGiveIsNotRefused) {
  for (const char* scheme : {"moreau", "mabrouk", "moreau-jean", "paoli-schatzman", "penalty"}) {
    // x'' + x = cos t from rest: x = t sin(t) / 2.
    const study::Motion resonance = drive("cos(t) - x", 0.0, 0.0, scheme, 0.01, 200.0);
    EXPECT_EQ(failure_of(resonance), Failure::None) << scheme;
    // x'' = x from x = 1e-9, v = x: x = 1e-9 exp(t).
    const study::Motion fleeing = drive("x", 1e-9, 1e-9, scheme, 0.01, 20.0);
    EXPECT_EQ(failure_of(fleeing), Failure::None) << scheme;
    EXPECT_NEAR(end_of(fleeing) / (1e-9 * std::exp(20.0)), 1.0, 0.15) << scheme;
    // Negative damping.
    EXPECT_EQ(failure_of(drive("0.3*x' - x", 1.0, 0.0, scheme, 0.01, 100.0)), Failure::None);
    // Forces that begin from next to nothing.
    EXPECT_EQ(failure_of(drive("100*exp(-((t-1)/0.05)^2)", 0.0, 0.0, scheme, 0.01, 3.0)),
              Failure::None)
        << scheme;
    EXPECT_EQ(failure_of(drive("sin(t^2)", 0.0, 0.0, scheme, 0.01, 20.0)), Failure::None) << scheme;
    EXPECT_EQ(failure_of(drive("sign(sin(7*t))", 0.0, 1e-6, scheme, 0.01, 30.0)), Failure::None);
    // A force that begins, a long run in balance of feeding and damping.
    EXPECT_EQ(failure_of(drive("if(t > 1, 1, 0)", 0.0, 0.0, scheme, 0.01, 5.0)), Failure::None);
    EXPECT_EQ(failure_of(drive("cos(t) - x - x'", 0.0, 0.0, scheme, 0.05, 2000.0)), Failure::None);
  }
}

TEST(HonestEnd, GrowthThatNobodyGivesIsRefused) {
  for (const char* scheme : {"moreau", "inel", "elast", "billiard", "penalty"}) {
    const std::string magnet =
        "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n"
        "force = { x = \"10*y'\", y = \"-10*x'\" }\n[start]\nposition = { x = 0, y = 0 }\n"
        "velocity = { x = 1, y = 0 }\n";
    EXPECT_EQ(failure_of(testing::run_text(magnet + run_of(scheme, 0.01, 10.0))), Failure::Diverged)
        << scheme;
    // Seen only in its troughs, whatever their number.
    for (const int rate : {100, 200, 300}) {
      const std::string force = fmt::format("100*cos(2*pi*{}*t)", rate);
      EXPECT_EQ(failure_of(drive(force, 0.0, 0.0, scheme, 0.01, 10.0)), Failure::Diverged)
          << scheme << rate;
    }
  }
  EXPECT_NE(failure_of(fall_on("keep = \"1 - 1/x <= 0\"\nrestitution = 1", "penalty")),
            Failure::None);
}

/// Two particles over a floor, one of them heavy.
struct Pair {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 2;
  convex::DiagonalMetric<2> metric{Eigen::Vector2d(1e11, 1.0)};
  double gap(int contact, double, const Eigen::Vector2d& q) const { return q[contact]; }
  Eigen::Vector2d gap_gradient(int contact, double, const Eigen::Vector2d&) const {
    return Eigen::Vector2d::Unit(contact);
  }
  Eigen::Vector2d force(double, const Eigen::Vector2d&, const Eigen::Vector2d&) const {
    return {-10.0 * 1e11, -10.0};
  }
  const convex::DiagonalMetric<2>& mass() const { return metric; }
};

TEST(HonestEnd, ALightBodyIsNotWeighedByItsNeighbour) {
  using Model = model::InlineModel<Pair>;
  const Model model{Pair{}};
  const model::State<2> before{0.0, {0.0, 0.0}, {0.0, 0.0}};
  model::State<2> after{0.01, {0.0, 0.0}, {0.0, 0.0}};
  step::Workspace<Model> workspace{model, before.q};
  ASSERT_EQ(step::make_step(step::Inel{}, model, before, 0.01, after, workspace).status,
            problem::Status::Solved);
  const auto judge = [&](const model::State<2>& told, const certify::Claim<2, 2>& claim) {
    certify::Judge<Model> one(model, step::Inel{}.method(), {}, before);
    (void)one.check<certify::Integrator::MiddleAhead>(before, told, 0.01, claim);
    return one.finish();
  };
  EXPECT_EQ(judge(after, workspace.claim).failure, Failure::None);
  // The light one falls freely for the step: an error of 1e-11 beside the heavy one's impulse.
  model::State<2> fallen = after;
  certify::Claim<2, 2> claim = workspace.claim;
  ASSERT_EQ(claim.active.size(), 2);
  claim.impulses[1] = 0.0;
  fallen.u[1] = -0.1;
  fallen.q[1] = 0.005 * fallen.u[1];
  const certify::Certificate found = judge(fallen, claim);
  EXPECT_EQ(found.failure, Failure::Residual);
  EXPECT_NEAR(found.failure_value, 1.0, 1e-9);
}

TEST(HonestEnd, WayThatRoundingSwallowsIsUnresolved) {
  const auto run = [](double x, double v, double h) {
    return testing::run_text(
        fmt::format("[system]\ncoordinates = [\"x\"]\nmass = [1]\n[start]\nposition = {{ x = "
                    "{:.17g} }}\nvelocity = {{ x = {:.17g} }}\n",
                    x, v) +
        run_of("moreau", h, 20000.0 * h));
  };
  const study::Motion frozen = run(6378137.0, 1.0 / 3000.0, 1e-6);
  EXPECT_EQ(failure_of(frozen), Failure::None);
  EXPECT_EQ(word_of(frozen), "unresolved");
  EXPECT_NEAR(frozen.outcome.certificate.lost_displacement, 1.0, 1e-6);
  EXPECT_EQ(word_of(run(6378137.0, 2e-3, 1e-6)), "unresolved");  // two units in the last place
  EXPECT_EQ(word_of(run(0.0, 1.0 / 3000.0, 1e-6)), "ok");
  EXPECT_EQ(word_of(run(6378137.0, 10.0, 1e-2)), "ok");
  EXPECT_EQ(word_of(testing::run_text(testing::kFloor, {"start.position.x=1e9"})), "ok");
}

// Beside 2^30, where an ulp is 2e-7: after fast steps slow ones of 5e-8, or motion that stands
// still once in 1021 steps and moves by at most 5e-8 in between.
TEST(HonestEnd, WayThatRoundingSwallowsLaterIsUnresolvedToo) {
  const std::string late =
      "[system]\ncoordinates = [\"x\"]\nparameters = { V = 1000, v = 5e-5, t1 = 4.096 }\nmass = "
      "[1]\nforce = [\"if(t < t1, -V*128/(35*t1)*sin(pi*t/t1)^8, 0)\"]\n[start]\nposition = { x = "
      "1073741824 }\nvelocity = { x = \"V + v\" }\n";
  EXPECT_EQ(word_of(testing::run_text(late + run_of("moreau", 1e-3, 200.0))), "unresolved");
  const std::string waves =
      "[system]\ncoordinates = [\"x\", \"y\"]\nparameters = { v = 5e-5, t0 = 4.3315, w = "
      "\"2*pi/1.021\" }\nmass = [1, 1]\nforce = { x = \"if(t < t0, 0, v*w*sin(w*(t - t0)))\" }\n"
      "[start]\nposition = { x = 1073741824, y = 0 }\nvelocity = { y = 1 }\n";
  EXPECT_EQ(word_of(testing::run_text(waves + run_of("moreau", 1e-3, 310.6315))), "unresolved");
}

// Without forces the change of momentum is that of the mass alone, and rounding is all there is.
TEST(HonestEnd, FreeMotionWithAMassThatVariesIsNotRefused) {
  for (const std::string scheme : {"moreau", "inel", "elast"}) {
    for (const double h : {0.01, 0.0101, 0.001}) {
      for (const char* start : {"x = 2 }\nvelocity = { x = -1", "x = 0.5 }\nvelocity = { x = 1"}) {
        const study::Motion one = testing::run_text(
            fmt::format("[system]\ncoordinates = [\"x\"]\nkinetic = \"0.5*(1 + x^2)*x'^2\"\n[start]"
                        "\nposition = {{ {} }}\n",
                        start) +
            run_of(scheme, h, 3.0));
        EXPECT_EQ(failure_of(one), Failure::None) << scheme << " " << h << " " << start;
      }
    }
    const study::Motion two = testing::run_text(
        "[system]\ncoordinates = [\"a\", \"b\"]\nkinetic = \"0.5*(2*a'^2 + b'^2 + "
        "2*a'*b'*cos(a - b))\"\n[start]\nposition = { a = 0, b = 1 }\nvelocity = { a = 1, b = 2 "
        "}\n" +
        run_of(scheme, 1e-3, 3.0));
    EXPECT_EQ(failure_of(two), Failure::None) << scheme;
  }
}

/// A rising floor whose derivatives are wrong by factors.
struct Liar {
  static constexpr int kDofs = 1;
  static constexpr int kContacts = 1;
  double slope{1.0};
  double rate{1.0};
  using Vec = Eigen::Matrix<double, 1, 1>;
  double gap(int, double t, const Vec& q) const { return std::sin(q[0]) - 0.1 * t; }
  Vec gap_gradient(int, double, const Vec& q) const { return Vec(slope * std::cos(q[0])); }
  double gap_rate(int, double, const Vec&) const { return -0.1 * rate; }
  Vec force(double, const Vec&, const Vec&) const { return Vec(-1.0); }
};

TEST(HonestEnd, DerivativesAreHeldAgainstDifferences) {
  const auto run = [](double slope, double rate) {
    const model::InlineModel<Liar> model{Liar{slope, rate}};
    model::State<1> state{0.0, Liar::Vec(1.0), Liar::Vec(0.0)};
    const step::RunSettings settings{.step = 0.01, .steps = 200, .record_every = 0};
    return step::simulate(model, step::Moreau{}, settings, state, [](const step::Sample&) {})
        .certificate.failure;
  };
  EXPECT_EQ(run(1.0, 1.0), Failure::None);
  EXPECT_EQ(run(1.01, 1.0), Failure::Derivative);
  EXPECT_EQ(run(-1.0, 1.0), Failure::Derivative);
  EXPECT_EQ(run(1.0, 0.0), Failure::Derivative);
  EXPECT_EQ(run(1.0, -1.0), Failure::Derivative);
}

TEST(HonestEnd, SlipIsAlongTheWall) {
  const auto read = [](const std::string& slip) {
    return testing::read_text(
        "[system]\ncoordinates = [\"x\", \"y\", \"z\"]\nmass = [1, 1, 2]\n[contact.w]\n"
        "keep = \"y >= 0\"\nslip = [" +
        slip + "]\nfriction = 0.3\n[start]\nposition = { x = 0, y = 0, z = 0 }\n" +
        run_of("moreau", 0.01, 1.0));
  };
  EXPECT_NO_THROW(read("\"x'\""));
  EXPECT_NO_THROW(read("\"x' + 0.5*z'\""));  // a body: nothing can be told
  for (const char* wrong : {"\"y'\"", "\"-3*y'\"", "\"2*x'\"", "\"x' + 0.1*y'\""}) {
    EXPECT_THROW(read(wrong), base::InputError) << wrong;
  }
}

// Backwards a ball that left the floor at v had arrived at v/e.

TEST(HonestEnd, ThePastThroughAnImpactIsUnique) {
  base::Random random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const double e = random.uniform(0.2, 0.95), x = random.uniform(0.2, 1.0);
    const double v = random.uniform(-1.0, 1.0), g = 10.0;
    scene::Scene scene = testing::read_text(
        fmt::format("[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"10*x\"\n"
                    "[contact.f]\nkeep = \"x >= 0\"\nrestitution = {:.17g}\n[start]\n"
                    "position = {{ x = {:.17g} }}\nvelocity = {{ x = {:.17g} }}\n",
                    e, x, v) +
        run_of("moreau", 1e-5, 1.0));
    scene.run.backward = true;
    const study::Motion motion = study::run_scene(scene, false);
    ASSERT_EQ(failure_of(motion), Failure::None);
    // x + v s - g s^2/2 = 0 at s < 0, then at v/e from below, and so on.
    double s = 0.0, height = x, speed = v;
    for (int bounce = 0; bounce < 100; ++bounce) {
      const double left = std::sqrt(speed * speed + 2.0 * g * height);  // of the floor, upwards
      const double flight = (left - speed) / g;
      if (s - flight < -1.0) break;
      s -= flight;
      height = 0.0;
      speed = -left / e;
    }
    const double rest = 1.0 + s;
    EXPECT_NEAR(end_of(motion), height - speed * rest - 0.5 * g * rest * rest, 2e-3) << e;
    EXPECT_TRUE(motion.scene.warnings.empty());
  }
}

TEST(HonestEnd, WhatRestsHasAlwaysRestedAndIsWarnedOf) {
  for (const auto& [e, words] : {std::pair{"0.5", "bounces"}, std::pair{"0", "a fall"}}) {
    scene::Scene scene = testing::read_text(
        testing::kFloor, {"run.scheme=moreau", fmt::format("contact.floor.restitution={}", e)});
    scene.run.backward = true;
    const study::Motion motion = study::run_scene(scene, false);
    EXPECT_EQ(failure_of(motion), Failure::None);
    EXPECT_NEAR(motion.final_state.q[1], 0.0, 1e-12);
    ASSERT_EQ(motion.scene.warnings.size(), 1U);
    EXPECT_NE(motion.scene.warnings[0].find("ambiguous"), std::string::npos);
    EXPECT_NE(motion.scene.warnings[0].find(words), std::string::npos);
  }
}

/// A rod of length 4 slides down between a smooth wall and a smooth floor: T + V is conserved.
TEST(HonestEnd, CorrectionsKeepContactsAndFeedNothing) {
  for (const char* scheme : {"moreau", "inel"}) {
    const study::Motion motion = testing::run_text(
        "[system]\ncoordinates = [\"x\", \"y\", \"phi\"]\n"
        "define = { xB = \"x - 2*cos(phi)\", yA = \"y - 2*sin(phi)\" }\n"
        "kinetic = \"0.5*(x'^2 + y'^2 + 4/3*phi'^2)\"\npotential = \"9.81*y\"\n"
        "[contact.floor]\nkeep = \"yA >= 0\"\n[contact.wall]\nkeep = \"xB >= 0\"\n[start]\n"
        "position = { x = \"2*cos(pi/3)\", y = \"2*sin(pi/3)\", phi = \"pi/3\" }\n"
        "[run]\nscheme = \"" +
        std::string(scheme) + "\"\nstep = 0.001\nuntil = 0.8\ncorrection = \"project\"\n");
    EXPECT_EQ(failure_of(motion), Failure::None) << scheme;
    const certify::Ledger& ledger = motion.outcome.certificate.ledger;
    const double start = ledger.kinetic_start + ledger.potential_start;
    EXPECT_NEAR((ledger.kinetic_end + ledger.potential_end) / start, 1.0, 0.01) << scheme;
    EXPECT_LT(motion.outcome.certificate.violation_max, 1e-3) << scheme;
  }
}

}  // namespace
}  // namespace ricochet::honest_end_test
