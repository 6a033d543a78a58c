// Error bars of runs of bodies hold the true errors of scenes with closed forms; chaos and steps
// that are too few are told, and rest stays as exact as it is.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "barred.h"
#include "program.h"

namespace ricochet::study::body_error_bar_test {
namespace {

using testing::read_text;

#if defined(RICOCHET_SANITIZED)
constexpr int kOfEach = 2;
#else
constexpr int kOfEach = 12;
#endif

using testing::Barred;
using testing::describe;
using testing::run_barred;
/// A world in the plane or in space, with a floor or without.
std::string world(int dimension, const std::string& gravity, const std::string& pair,
                  const std::string& bodies, double step, double until,
                  const std::string& rest = "") {
  const std::string floor = dimension == 2
                                ? "half_plane = { point = [0, 0], normal = [0, 1] }"
                                : "half_space = { point = [0, 0, 0], normal = [0, 0, 1] }";
  return fmt::format(
      "[world]\ndimension = {}\ngravity = {}\n[pair]\ndefault = {}\n{}\n[body.floor]\nfixed = "
      "true\n{}\n{}\n[run]\nstep = {:.17g}\nuntil = {:.17g}\nrecord = 10\n",
      dimension, gravity, pair, bodies, floor, rest, step, until);
}

/// A scene whose end is known: places and rates of rows, by their numbers.
struct Known {
  struct Number {
    std::size_t at{0};
    double value{0.0};
  };
  std::string kind;
  std::string text;
  std::vector<Number> q;
  std::vector<Number> u;
};

/// A number of steps, and what it makes of a time.
struct Steps {
  double step{0.0};
  double until{0.0};
};
Steps random_steps(base::Random& random, double until) {
  const double count = std::floor(std::exp(random.uniform(std::log(80.0), std::log(3000.0))));
  return {until / count, until};
}

constexpr double kG = 9.81;
const std::string kDown = "[0, -9.81]";
const std::string kDeep = "[0, 0, -9.81]";

/// A disc (rolls with k = 1/2) or a sphere (2/5) that slides until it rolls.
Known slide_to_roll(base::Random& random, int dimension) {
  const double k = dimension == 2 ? 0.5 : 0.4;
  const double r = random.uniform(0.05, 0.3);
  const double mu = random.uniform(0.1, 0.6);
  const double v = random.uniform(1.0, 6.0);
  const double rolls = v * k / ((1.0 + k) * mu * kG);
  const auto [step, until] = random_steps(random, random.uniform(0.5, 3.0) * rolls);
  const std::string shape = dimension == 2 ? "disc" : "sphere";
  const std::string zero = dimension == 2 ? "" : ", 0";
  const std::string body = fmt::format(
      "[body.ball]\n{} = {:.17g}\nmass = 1\ninertia = {}\nat = [0{}, {:.17g}]\nvelocity = "
      "[{:.17g}, 0{}]",
      shape, r,
      dimension == 2 ? fmt::format("{:.17g}", k * r * r)
                     : fmt::format("[{0:.17g}, {0:.17g}, {0:.17g}]", k * r * r),
      zero, r, v, zero);
  Known known;
  known.kind = dimension == 2 ? "disc that slides, then rolls" : "sphere that slides, then rolls";
  known.text = world(dimension, dimension == 2 ? kDown : kDeep,
                     fmt::format("{{ friction = {:.17g} }}", mu), body, step, until);
  const double slid = std::min(until, rolls);
  const double end = v - mu * kG * slid;
  known.q.push_back({0, v * slid - 0.5 * mu * kG * slid * slid + end * (until - slid)});
  known.u.push_back({0, end});
  return known;
}

/// A disc that falls, and bounces with e until one bounce before the hops of a few steps.
Known bounce(base::Random& random) {
  const double r = 0.1;
  const double e = random.uniform(0.4, 0.9);
  const double height = random.uniform(0.3, 1.5);
  const double along = random.uniform(-2.0, 2.0);
  const int bounces = random.below(4);
  double t = 0.0;
  double v = std::sqrt(2.0 * kG * height);
  t = v / kG;
  for (int k = 0; k < bounces; ++k) {
    v *= e;
    t += 2.0 * v / kG;
  }
  const double up = v * e;  // after the last one
  const double flies = random.uniform(0.1, 0.9) * 2.0 * up / kG;
  const auto [step, until] = random_steps(random, t + flies);
  Known known;
  known.kind = "bouncing disc";
  known.text = world(
      2, kDown, fmt::format("{{ friction = 0, restitution = {:.17g} }}", e),
      fmt::format("[body.ball]\ndisc = {}\nmass = 1\ninertia = 0.005\nat = [0, {:.17g}]\nvelocity "
                  "= [{:.17g}, 0]",
                  r, r + height, along),
      step, until);
  known.q = {{0, along * until}, {1, r + up * flies - 0.5 * kG * flies * flies}};
  known.u = {{0, along}, {1, up - kG * flies}};
  return known;
}

/// A disc that falls without restitution while it moves along, is braked at once, then slides.
Known landing(base::Random& random) {
  const double r = 0.1;
  const double mu = random.uniform(0.05, 0.2);
  const double height = random.uniform(0.05, 0.5);
  const double v = random.uniform(4.0, 8.0);
  const double falls = std::sqrt(2.0 * height / kG);
  const double after = v - mu * kG * falls;  // by mu times the impulse of the floor
  const double rolls = (after - 2.0 * (v - after)) / (3.0 * mu * kG);
  const double slides = random.uniform(0.2, 2.0) * std::max(rolls, 0.1);
  const auto [step, until] = random_steps(random, falls + slides);
  Known known;
  known.kind = "landing disc";
  known.text = world(2, kDown, fmt::format("{{ friction = {:.17g} }}", mu),
                     fmt::format("[body.ball]\ndisc = {0}\nmass = 1\ninertia = {1:.17g}\nat = [0, "
                                 "{2:.17g}]\nvelocity = [{3:.17g}, 0]",
                                 r, 0.5 * r * r, r + height, v),
                     step, until);
  const double slid = std::min(slides, rolls);
  const double end = after - mu * kG * slid;
  known.q = {{0, v * falls + after * slid - 0.5 * mu * kG * slid * slid + end * (slides - slid)},
             {1, r}};
  known.u = {{0, end}, {1, 0.0}};
  return known;
}

/// A box thrown up a slope, which is the floor under a turned gravity, until it slides back.
Known slope(base::Random& random) {
  const double angle = random.uniform(0.3, 0.8);
  const double mu = random.uniform(0.1, 0.9) * std::tan(angle);
  const double v = random.uniform(0.5, 3.0);
  const double up = kG * (std::sin(angle) + mu * std::cos(angle));
  const double down = kG * (std::sin(angle) - mu * std::cos(angle));
  const double turns = v / up;
  const auto [step, until] = random_steps(random, random.uniform(0.3, 3.0) * turns);
  Known known;
  known.kind = "box on a slope";
  known.text =
      world(2, fmt::format("[{:.17g}, {:.17g}]", -kG * std::sin(angle), -kG * std::cos(angle)),
            fmt::format("{{ friction = {:.17g} }}", mu),
            fmt::format("[body.box]\nbox = [0.6, 0.1]\nmass = 2\ninertia = 0.06\nat = [0, "
                        "0.05]\nvelocity = [{:.17g}, 0]",
                        v),
            step, until);
  const double back = std::max(0.0, until - turns);
  const double way = until < turns ? v * until - 0.5 * up * until * until
                                   : 0.5 * v * turns - 0.5 * down * back * back;
  known.q = {{0, way}, {1, 0.05}, {2, 0.0}};
  known.u = {{0, until < turns ? v - up * until : -down * back}};
  return known;
}

/// Two spheres that meet head on.
Known collision(base::Random& random) {
  const double e = random.uniform(0.2, 1.0);
  const double a = random.uniform(0.5, 3.0);  // masses
  const double b = random.uniform(0.5, 3.0);
  const double v = random.uniform(1.0, 3.0);
  const double w = random.uniform(-1.0, 0.5);
  const double gap = random.uniform(0.2, 1.0);
  const double meet = gap / (v - w);
  const auto [step, until] = random_steps(random, random.uniform(1.2, 3.0) * meet);
  const double p = (1.0 + e) * (v - w) * a * b / (a + b);
  const auto ball = [](const char* name, double mass, double x, double vx) {
    return fmt::format(
        "[body.{}]\nsphere = 0.1\nmass = {:.17g}\ninertia = [1, 1, 1]\nat = [{:.17g}, 0, "
        "5]\nvelocity = [{:.17g}, 0, 0]\n",
        name, mass, x, vx);
  };
  Known known;
  known.kind = "two spheres";
  known.text = world(3, "[0, 0, 0]", fmt::format("{{ friction = 0.3, restitution = {:.17g} }}", e),
                     ball("a", a, 0.0, v) + ball("b", b, 0.2 + gap, w), step, until);
  const double since = until - meet;
  known.u = {{0, v - p / a}, {7, w + p / b}};
  known.q = {{0, v * meet + known.u[0].value * since},
             {7, 0.2 + gap + w * meet + known.u[1].value * since}};
  return known;
}

/// Runge-Kutta of the fourth order in steps that leave rounding alone.
std::array<double, 2> swing(double omega2, double angle, double rate, double time) {
  constexpr int kSteps = 40000;
  const double h = time / kSteps;
  std::array<double, 2> y = {angle, rate};
  const auto slope = [&](const std::array<double, 2>& at) {
    return std::array<double, 2>{at[1], -omega2 * std::sin(at[0])};
  };
  const auto ahead = [](const std::array<double, 2>& at, double by, const auto& k) {
    return std::array<double, 2>{at[0] + by * k[0], at[1] + by * k[1]};
  };
  for (int i = 0; i < kSteps; ++i) {
    const auto k1 = slope(y);
    const auto k2 = slope(ahead(y, 0.5 * h, k1));
    const auto k3 = slope(ahead(y, 0.5 * h, k2));
    const auto k4 = slope(ahead(y, h, k3));
    for (std::size_t j = 0; j < 2; ++j) {
      y[j] += h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
    }
  }
  return y;
}

/// A rod on a hinge.
Known pendulum(base::Random& random) {
  const double l = random.uniform(0.2, 1.0);  // from the hinge to the middle
  const double inertia = random.uniform(0.01, 0.2);
  const double angle = random.uniform(0.3, 2.0);
  const double omega2 = kG * l / (inertia + l * l);
  const double period = 6.3 / std::sqrt(omega2);
  const auto [step, until] = random_steps(random, random.uniform(0.3, 1.5) * period);
  Known known;
  known.kind = "pendulum";
  known.text = fmt::format(
      "[world]\ndimension = 2\ngravity = [0, -9.81]\n[pair]\ndefault = \"none\"\n[body.rod]\nbox = "
      "[{0:.17g}, 0.05]\nmass = 1\ninertia = {1:.17g}\nat = [{2:.17g}, {3:.17g}]\nangle = "
      "{4:.17g}\n[joint.pivot]\nkind = \"hinge\"\nbetween = [\"ground\", \"rod\"]\nat = [0, "
      "0]\n[run]\nstep = {5:.17g}\nuntil = {6:.17g}\n",
      2.0 * l, inertia, l * std::sin(angle), -l * std::cos(angle), angle - 0.5 * std::acos(-1.0),
      step, until);
  const auto [end, rate] = swing(omega2, angle, 0.0, until);
  known.q = {{0, l * std::sin(end)}, {1, -l * std::cos(end)}, {2, end - 0.5 * std::acos(-1.0)}};
  known.u = {{2, rate}};
  return known;
}

Known random_known(int kind, base::Random& random) {
  switch (kind) {
    case 0: return slide_to_roll(random, 2);
    case 1: return slide_to_roll(random, 3);
    case 2: return bounce(random);
    case 3: return landing(random);
    case 4: return slope(random);
    case 5: return collision(random);
    default: return pendulum(random);
  }
}
constexpr int kKinds = 7;

struct Score {
  int tried{0};
  int unresolved{0};
  int within{0};
  std::vector<double> ratios;  // of bars to errors that are no rounding
  double median() const {
    std::vector<double> sorted = ratios;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0.0 : sorted[sorted.size() / 2];
  }
};

void try_one(const Known& known, Score& score) {
  const Barred barred = run_barred(known.text);
  if (!barred.motion.outcome.certificate.ok()) return;  // a body too deep after a step too long
  ASSERT_TRUE(barred.bar.made) << barred.bar.not_made;
  ++score.tried;
  if (!barred.bar.unresolved.empty()) {
    ++score.unresolved;
    return;
  }
  bool within = true;
  const auto hold = [&](double found, double exact, double width) {
    constexpr double kRounding = 1e-11;
    const double error = std::abs(found - exact);
    within = within && error <= width;
    if (error > kRounding) score.ratios.push_back(width / error);
  };
  for (const auto& [at, value] : known.q) {
    hold(barred.motion.final_state.q[static_cast<Eigen::Index>(at)], value,
         barred.bar.position[at]);
  }
  for (const auto& [at, value] : known.u) {
    hold(barred.motion.final_state.u[static_cast<Eigen::Index>(at)], value,
         barred.bar.velocity[at]);
  }
  score.within += within ? 1 : 0;
}

// closed forms, and for pendulums an integration that leaves rounding alone
TEST(BodyErrorBar, HoldsTheTrueErrorOfScenesWithKnownEnds) {
  base::Random random(5);
  Score all;
  for (int kind = 0; kind < kKinds; ++kind) {
    Score score;
    std::string name;
    for (int k = 0; k < kOfEach; ++k) {
      const Known known = random_known(kind, random);
      name = known.kind;
      try_one(known, score);
    }
    RecordProperty(name, fmt::format("{} tried, {} unresolved, {} within, ratio {:.2g}",
                                     score.tried, score.unresolved, score.within, score.median()));
    EXPECT_LE(score.unresolved, score.tried / 4 + 1) << name;
    if (score.tried >= 8) {  // a few have no median
      EXPECT_LE(score.median(), 30.0) << name;
    }
    EXPECT_GE(score.within, std::floor(0.8 * (score.tried - score.unresolved))) << name;
    EXPECT_GE(score.tried, kOfEach - 2) << name;
    all.tried += score.tried;
    all.unresolved += score.unresolved;
    all.within += score.within;
    all.ratios.insert(all.ratios.end(), score.ratios.begin(), score.ratios.end());
  }
  EXPECT_GE(all.within, std::ceil(0.95 * (all.tried - all.unresolved)));
  EXPECT_LE(all.unresolved, all.tried / 10);
  EXPECT_LE(all.median(), 30.0);
}

// A disc that strikes the floor in the last step of a run, at any part of it, sliding: e v upwards,
// mu (1 + e) v along the floor, and r times that over r^2/2 of spin. The run may not know of it
// yet.
TEST(BodyErrorBar, HoldsAShockThatIsYetToCome) {
  constexpr double kStep = 5e-4;
  constexpr double kEnd = 0.2;
  constexpr double kE = 0.6;
  constexpr double kMu = 0.1;
  for (const double part : {0.02, 0.2, 0.3, 0.49, 0.51, 0.7, 0.98}) {
    const double t = kEnd - part * kStep;
    const double height = 0.1 + 0.5 * kG * t * t;
    const Barred barred = run_barred(
        world(2, kDown, fmt::format("{{ friction = {}, restitution = {} }}", kMu, kE),
              fmt::format("[body.ball]\ndisc = 0.1\nmass = 1\ninertia = 0.005\nat = [0, {:.17g}]\n"
                          "velocity = [3, 0]",
                          height),
              kStep, kEnd));
    ASSERT_TRUE(barred.bar.made) << barred.bar.not_made;
    const double strikes = kG * t;
    const double slows = kMu * (1.0 + kE) * strikes;
    const double since = kEnd - t;
    const std::array<double, 3> q = {3.0 * kEnd - slows * since,
                                     0.1 + kE * strikes * since - 0.5 * kG * since * since,
                                     -slows * 0.1 / 0.005 * since};
    const std::array<double, 3> u = {3.0 - slows, kE * strikes - kG * since, -slows * 0.1 / 0.005};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      const auto& end = barred.motion.final_state;
      EXPECT_LE(std::abs(end.q[at] - q[k]), barred.bar.position[k]) << part << ", place " << k;
      EXPECT_LE(std::abs(end.u[at] - u[k]), barred.bar.velocity[k]) << part << ", rate " << k;
    }
  }
}

/// Whether a run told that its digits do not hold, or its bars hold the rates that it should have.
void expect_told(const Barred& barred, const std::vector<Known::Number>& rates,
                 const std::string& which) {
  ASSERT_TRUE(barred.bar.made) << barred.bar.not_made;
  if (!barred.bar.unresolved.empty()) return;
  for (const auto& [at, value] : rates) {
    const double found = barred.motion.final_state.u[static_cast<Eigen::Index>(at)];
    EXPECT_LE(std::abs(found - value), barred.bar.velocity[at]) << which << ", rate " << at;
  }
}

// Newton's cradle with a gap: equal elastic discs hand their velocity on, whereas of discs that
// touch Moreau's impact throws the first one back with a third of it. Gaps far below what a step
// covers are there all the same.
TEST(BodyErrorBar, TellsShocksThatFollowEachOther) {
  const std::string disc = "disc = 0.1\nmass = 1\ninertia = 0.005\n";
  for (const double gap : {5e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
    const Barred barred = run_barred(
        world(2, "[0, 0]", "{ restitution = 1 }",
              "[body.a]\n" + disc + "at = [-0.5, 1]\nvelocity = [1, 0]\n[body.b]\n" + disc +
                  "at = [0, 1]\n[body.c]\n" + disc + fmt::format("at = [{:.17g}, 1]\n", 0.2 + gap),
              2e-3, 1.0));
    expect_told(barred, {{0, 0.0}, {3, 0.0}, {6, 1.0}}, fmt::format("gap {:g}", gap));
    if (gap == 5e-2) {  // one shock after the other
      EXPECT_TRUE(barred.bar.is_resolved()) << barred.bar.unresolved;
    }
  }
}

// A small ball above a large one, both elastic: the large one comes back from the floor at v and
// meets the small one, which still falls. Then each goes on by the laws of two balls.
TEST(BodyErrorBar, TellsBallsThatFallTogether) {
  constexpr double kFall = 1.0;
  constexpr double kEnd = 0.6;
  constexpr double kLarge = 1.0;
  constexpr double kSmall = 0.05;
  for (const double gap : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    const double strikes = std::sqrt(2.0 * kFall / kG);
    const double v = kG * strikes;
    const double meets = gap / (2.0 * v);
    const double large = v - kG * meets;
    const double small = -v - kG * meets;
    const double mean = (kLarge * large + kSmall * small) / (kLarge + kSmall);
    const double left = kG * (kEnd - strikes - meets);
    const std::string disc = "disc = 0.1\ninertia = 0.005\n";
    const Barred barred = run_barred(world(
        2, kDown, "{ restitution = 1 }",
        fmt::format("[body.large]\n{}mass = {}\nat = [0, {:.17g}]\n[body.small]\n{}mass = {}\nat = "
                    "[0, {:.17g}]\n",
                    disc, kLarge, kFall + 0.1, disc, kSmall, kFall + 0.3 + gap),
        1e-3, kEnd));
    expect_told(barred, {{1, 2.0 * mean - large - left}, {4, 2.0 * mean - small - left}},
                fmt::format("gap {:g}", gap));
  }
}

// A rod that turns freely about its end and comes to a limit in the last step: it turns back at e
// times its rate.
TEST(BodyErrorBar, HoldsALimitThatIsYetToCome) {
  constexpr double kStep = 1e-3;
  constexpr double kEnd = 0.3;
  constexpr double kE = 0.5;
  for (const double part : {0.02, 0.3, 0.49, 0.51, 0.9}) {
    const double high = 2.0 * (kEnd - part * kStep);
    const Barred barred = run_barred(
        world(2, "[0, 0]", "{ friction = 0 }",
              "[body.rod]\nbox = [1, 0.1]\nmass = 1\nat = [0.5, 2]\nvelocity = [0, 1]\nspin = 2\n",
              kStep, kEnd,
              fmt::format(
                  "[joint.pivot]\nkind = \"hinge\"\nbetween = [\"ground\", \"rod\"]\nat = [0, 2]\n"
                  "limits = {{ high = {:.17g} }}\nrestitution = {}\n",
                  high, kE)));
    ASSERT_TRUE(barred.bar.made) << barred.bar.not_made;
    const double spin = -2.0 * kE;
    const double angle = high + spin * part * kStep;
    EXPECT_LE(std::abs(barred.motion.final_state.u[2] - spin), barred.bar.velocity[2]) << part;
    EXPECT_LE(std::abs(barred.motion.final_state.q[2] - angle), barred.bar.position[2]) << part;
  }
}

// A parabola is exact for the step, so that rounding is all there is.
TEST(BodyErrorBar, IsRoundingInFreeFlight) {
  const Barred barred = run_barred(world(
      3, kDeep, "{ friction = 0.3 }",
      "[body.ball]\nsphere = 0.1\nmass = 1\nat = [0, 0, 3]\nvelocity = [1, 2, 5]", 0.01, 1.0));
  ASSERT_TRUE(barred.bar.is_resolved()) << barred.bar.unresolved;
  const std::array<double, 3> exact = {1.0, 2.0, 3.0 + 5.0 - 0.5 * kG};
  for (std::size_t k = 0; k < 3; ++k) {
    const double found = barred.motion.final_state.q[static_cast<Eigen::Index>(k)];
    EXPECT_LE(std::abs(found - exact[k]), barred.bar.position[k]);
    EXPECT_LT(barred.bar.position[k], 1e-11);
  }
}

std::string stack(double step, double until, int count = 4) {
  return world(2, kDown, "{ friction = 0.5 }",
               fmt::format("[material.wood]\ndensity = 600\n[body.box]\nfor = \"i in "
                           "1..{}\"\nbox = [0.3, 0.2]\nat = [0, \"0.2*i - 0.1\"]\nmaterial = "
                           "\"wood\"",
                           count),
               step, until,
               "[watch.load]\nforce_on = \"floor\"\n[watch.drift]\ndisplacement = \"box\"");
}

// the weight of four boxes, and nothing that moves
TEST(BodyErrorBar, IsRoundingAtRest) {
  const Barred barred = run_barred(stack(0.01, 1.0));
  ASSERT_TRUE(barred.bar.is_resolved()) << barred.bar.unresolved;
  for (const double width : barred.bar.position) EXPECT_LT(width, 1e-10);
  for (const double width : barred.bar.velocity) EXPECT_LT(width, 1e-10);
  ASSERT_EQ(barred.bar.watches.size(), 3U);
  EXPECT_NEAR(barred.motion.world->watches[1].second, -4 * 600 * 0.06 * kG, 1e-8);
  EXPECT_LT(barred.bar.watches[1].width, 1e-6);
  EXPECT_TRUE(barred.bar.watches[1].holds);
  EXPECT_TRUE(barred.bar.watches[2].holds);
}

// What stands by symmetry alone does not stand: rounding grows by e^(t sqrt(m g l / I)), twelve
// powers of ten in three seconds.
TEST(BodyErrorBar, APencilOnItsTipIsUnresolved) {
  const std::string pencil = world(
      2, kDown, "{ friction = 0.8 }",
      "[material.wood]\ndensity = 600\n[body.pencil]\npolygon = [[0, 0], [0.01, 0.03], [0.01, "
      "0.2], [-0.01, 0.2], [-0.01, 0.03]]\nat = [0, 0]\nmaterial = \"wood\"",
      0.001, 6.0);
  const Barred barred = run_barred(pencil);
  ASSERT_TRUE(barred.motion.outcome.certificate.ok());
  EXPECT_FALSE(barred.bar.unresolved.empty());
  ASSERT_TRUE(barred.bar.horizon.has_value());
  EXPECT_GT(*barred.bar.horizon, 1.0);
  EXPECT_LT(*barred.bar.horizon, 6.0);
}

// A ball between two rows of round pegs (a Galton board): each peg multiplies what is not known.
std::string galton(double step) {
  return world(2, kDown, "{ friction = 0, restitution = 0.8 }",
               "[body.peg]\nfor = \"i in 0..8, j in 0..3\"\nfixed = true\ndisc = 0.06\nat = "
               "[\"0.3*(i - 4) + 0.15\", \"1 + 0.52*j\"]\n"
               "[body.pin]\nfor = \"i in 0..8, j in 0..2\"\nfixed = true\ndisc = 0.06\nat = "
               "[\"0.3*(i - 4)\", \"1.26 + 0.52*j\"]\n"
               "[body.ball]\ndisc = 0.03\nmass = 1\ninertia = 4.5e-4\nat = [0.01, 3.2]",
               step, 3.0, "[watch.load]\nformula = \"ball.speed^2/2 + 9.81*ball.y\"");
}

TEST(BodyErrorBar, AGaltonBoardIsUnresolved) {
  const Barred barred = run_barred(galton(0.001));
  ASSERT_TRUE(barred.motion.outcome.certificate.ok());
  EXPECT_FALSE(barred.bar.unresolved.empty());
  EXPECT_NE(describe(barred).find("the digits do not hold"), std::string::npos);
}

// Grains without friction in a funnel: nobody knows where each of them ends, but all weigh on it.
TEST(BodyErrorBar, AWatchHoldsWhereBodiesDoNot) {
  const Barred barred = run_barred(world(
      2, kDown, "{ friction = 0 }",
      "[fill.grain]\nshape = \"disc\"\nradius = { uniform = [0.02, 0.03] }\ncount = 14\ninside = { "
      "box = [[-0.2, 0.1], [0.2, 0.9]] }\npattern = \"random\"\nseed = 3\nmaterial = "
      "\"glass\"\n[material.glass]\ndensity = 1000\n[body.bowl]\nfixed = true\nshapes = [{ "
      "half_plane = { "
      "point = [0, 0.01], normal = [0.6, 0.8] } }, { half_plane = { point = [0, 0.01], normal = "
      "[-0.6, 0.8] } }]",
      0.002, 3.0, "[watch.load]\nforce_on = \"bowl\""));
  ASSERT_TRUE(barred.motion.outcome.certificate.ok());
  EXPECT_FALSE(barred.bar.unresolved.empty());
  ASSERT_EQ(barred.bar.watches.size(), 2U);
  EXPECT_TRUE(barred.bar.watches[1].holds);
  double weight = 0.0;
  for (const auto& body : barred.motion.scene.world()->plane->bodies) {
    if (body.is_free()) weight += kG * body.mass;
  }
  const double load = -barred.motion.world->watches[1].second;
  EXPECT_LE(std::abs(load - weight), barred.bar.watches[1].width);
  EXPECT_NE(describe(barred).find("load.y"), std::string::npos);
}

TEST(BodyErrorBar, TooFewStepsAreUnresolved) {
  const Barred barred = run_barred(stack(0.5, 1.5));
  EXPECT_FALSE(barred.bar.made);
  EXPECT_NE(barred.bar.unresolved.find("fewer than 4 steps"), std::string::npos)
      << barred.bar.unresolved;
  const Barred many =
      run_barred(stack(0.5, 1.5, 40));  // also where there are more bodies than are told
  EXPECT_NE(many.bar.unresolved.find("fewer than 4 steps"), std::string::npos)
      << many.bar.unresolved;
}

// A condition is met within a step; who falls by s takes sqrt(2 s/g).
TEST(BodyErrorBar, TheTimeOfAStopHasABar) {
  for (const double step : {0.01, 0.003, 0.0007}) {
    const std::string text =
        world(2, kDown, "{ friction = 0 }",
              "[body.ball]\ndisc = 0.1\nmass = 1\ninertia = 0.005\nat = [0, 3]", step, 2.0) +
        "stop = \"ball.y < 2\"\n";
    const Barred barred = run_barred(text);
    ASSERT_TRUE(barred.bar.is_resolved()) << barred.bar.unresolved;
    ASSERT_TRUE(barred.bar.end_time.has_value());
    const double late = barred.motion.final_state.t - std::sqrt(2.0 / kG);
    EXPECT_GE(late, 0.0);
    EXPECT_LE(late, *barred.bar.end_time);
    EXPECT_LE(std::abs(barred.motion.final_state.q[1] - 2.0), barred.bar.position[1]);
  }
}

TEST(BodyErrorBar, IsMadeForSmallWorldsOrWhereItIsAskedFor) {
  const Barred large = run_barred(stack(0.01, 0.1, kMostBarBodies + 1));
  EXPECT_FALSE(large.bar.made);
  EXPECT_TRUE(large.bar.unresolved.empty());
  EXPECT_NE(describe(large).find("the digits of single bodies are not"), std::string::npos);
  const Barred small = run_barred(stack(0.01, 0.1, kMostBarBodies));
  EXPECT_TRUE(small.bar.is_resolved()) << small.bar.unresolved;
  EXPECT_TRUE(small.bar.position.empty());  // rows tell no place of so many
  EXPECT_NE(describe(small).find("in places at most"), std::string::npos);
  const Barred asked = run_barred(stack(0.01, 0.1, kMostBarBodies + 1), BarChoice::Pair);
  EXPECT_TRUE(asked.bar.is_resolved()) << asked.bar.unresolved;
  const Barred none = run_barred(stack(0.01, 0.1), BarChoice::None);
  EXPECT_FALSE(none.bar.made);
  EXPECT_EQ(none.bar.not_made, "not asked for");
}

// Who asks for no bar has the same digits, and companions change nothing of the run.
TEST(BodyErrorBar, ChangesNoDigitOfTheRun) {
  const std::string text = galton(0.001);
  const Motion alone = run_scene(read_text(text), false);
  const Barred barred = run_barred(text);
  EXPECT_EQ(alone.final_state.q, barred.motion.final_state.q);
  EXPECT_EQ(alone.final_state.u, barred.motion.final_state.u);
  EXPECT_EQ(alone.world->watches, barred.motion.world->watches);
}

TEST(BodyErrorBar, StandsInTheSummaryByTheNamesOfFinal) {
  const testing::Folder folder;
  testing::write_file(folder / "scene.toml", stack(0.01, 0.5, 2));
  const testing::Finished done =
      testing::run_program({"run", "scene.toml", "--out", "run"}, folder.path());
  ASSERT_EQ(done.code, 0) << done.err;
  const auto summary = nlohmann::json::parse(testing::read_file(folder / "run/summary.json"));
  EXPECT_EQ(summary.at("status"), "ok");
  EXPECT_EQ(summary.at("error_bar").size() + 1, summary.at("final").size());
  EXPECT_LT(summary.at("resolution").at("watches").at("load.y").at("bar").get<double>(), 1e-6);
}

}  // namespace
}  // namespace ricochet::study::body_error_bar_test
