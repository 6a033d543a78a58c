// The experiments of Moreau 1986, with his numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/gallery.h"
#include "ricochet/study/plate5.h"
#include "support.h"

namespace ricochet::study::study_test {
namespace {

using testing::run_text;

// printed
TEST(Plate5, AllPrintedNumbersAreReproducedWithinOneUnitOfTheLastDigit) {
  const std::vector<Plate5Line> lines = recompute_plate5(run_in_memory);
  ASSERT_EQ(lines.size(), 6U);
  int numbers = 0;
  int exact = 0;
  for (const Plate5Line& line : lines) {
    ASSERT_EQ(line.angles.size(), 10U);
    for (const auto* digits : {&line.angles, &line.violations, &line.means}) {
      for (const Digit& digit : *digits) {
        EXPECT_LE(digit.off(), 1) << line.label << ": " << digit.printed << " " << digit.ours;
        exact += digit.off() == 0 ? 1 : 0;
        ++numbers;
      }
    }
  }
  EXPECT_EQ(numbers, 120);  // 100 of elast, 10 of the one-dimensional line, 10 means
  EXPECT_GE(exact, 115);
}

// converged: the reference column is the exact angle, here by the classical Runge-Kutta method
TEST(Plate5, TheReferenceColumnIsTheExactMotion) {
  double theta = 0.0;
  double omega = std::sqrt(200.0);
  constexpr int kSteps = 2000;  // between printed times
  constexpr double h = 0.1 / kSteps;
  const auto force = [](double angle) { return -25.0 * std::sin(angle); };
  for (std::size_t j = 0; j < Plate5::kReference.size(); ++j) {
    for (int i = 0; i < kSteps; ++i) {
      const double k1 = omega;
      const double l1 = force(theta);
      const double k2 = omega + 0.5 * h * l1;
      const double l2 = force(theta + 0.5 * h * k1);
      const double k3 = omega + 0.5 * h * l2;
      const double l3 = force(theta + 0.5 * h * k2);
      const double k4 = omega + h * l3;
      const double l4 = force(theta + h * k3);
      theta += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
      omega += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    EXPECT_NEAR(theta, Plate5::kReference[j] + 0.5e-5, 1.5e-5);
  }
}

// printed
TEST(Essai5, ThetaAtHalfAndTheBestAnticipation) {
  const auto angle_at_half = [](double anticipation) {
    const Motion motion =
        run_text(builtin_scene("essai-05"), {"run.anticipation=" + std::to_string(anticipation)});
    return std::atan2(motion.final_state.q[0], -motion.final_state.q[1]) + 2.0 * std::numbers::pi;
  };
  EXPECT_NEAR(angle_at_half(0.5), 5.275, 0.0005);
  for (const double other : {0.3, 0.4, 0.6, 0.7})
    EXPECT_LT(angle_at_half(other), angle_at_half(0.5));
}

// qualitative, with the numbers that the statements imply
TEST(Essai1, BilliardGainsAtEachBounceElastConservesInelFollowsTheWall) {
  const Motion billiard = run_text(builtin_scene("essai-01"), {"run.scheme=billiard"});
  int bounces = 0;
  for (std::size_t i = 1; i < billiard.rows.size(); ++i) {
    if (billiard.rows[i].impulses[0] == 0.0) continue;
    ++bounces;
    // the reflection of u' leaves h g |p| / 2 too much, for the vertical part of the normal
    EXPECT_GT(billiard.rows[i].energy(), billiard.rows[i - 1].energy());
  }
  EXPECT_GE(bounces, 4);
  const Motion inel = run_text(builtin_scene("essai-01"), {"run.scheme=inel"});
  ASSERT_EQ(inel.outcome.certificate.shock_counts[0], 1);
  const double landed = inel.outcome.certificate.shocks[0].t;
  EXPECT_NEAR(landed, std::sqrt(2.0 * 27.0 / 981.0), 0.01);  // about 27 above the wall there
  for (const Row& row : inel.rows) {
    if (row.t <= landed + 0.001) continue;
    EXPECT_LT(std::abs(row.gaps[0]), 0.05) << row.t;
  }
}

TEST(Essai2, ElastIsThePendulumAndBilliardDiverges) {
  const Motion elast = run_text(builtin_scene("essai-02"));
  // energy: at most x = 60 sin(theta_max), cos(theta_max) = 1 - 25^2/(2*8*60)
  const double reach = 60.0 * std::sqrt(1.0 - std::pow(1.0 - 625.0 / 960.0, 2));
  double farthest = 0.0;
  double closest = 60.0;
  for (const Row& row : elast.rows) {
    farthest = std::max(farthest, row.q[0]);
    closest = std::min(closest, std::hypot(row.q[0], row.q[1] + 60.0));
  }
  EXPECT_NEAR(farthest, reach, 0.05);
  EXPECT_GT(closest, 59.9);  // contact is never lost
  const Motion billiard = run_text(builtin_scene("essai-02"), {"run.scheme=billiard"});
  EXPECT_GT(billiard.rows.back().energy(), billiard.rows.front().energy() + 10.0);
  EXPECT_TRUE(billiard.outcome.certificate.ok());  // it does what it claims; its claim is poor
}

TEST(Essai3, WrongAnticipationsGoWrongWithBalancedEnergy) {
  const Motion minus = run_text(builtin_scene("essai-03"), {"run.anticipation=-0.5"});
  double before = 0.0;
  for (std::size_t i = 10; i < minus.rows.size(); i += 10) {
    const double outside = std::hypot(minus.rows[i].q[0], minus.rows[i].q[1] + 60.0) - 60.0;
    EXPECT_GT(outside, before);
    before = outside;
  }
  const Motion plus = run_text(builtin_scene("essai-03"), {"run.anticipation=0.5"});
  double deepest = 0.0;
  for (const Row& row : plus.rows) {
    deepest = std::max(deepest, 60.0 - std::hypot(row.q[0], row.q[1] + 60.0));
  }
  EXPECT_GT(deepest, 1.0);
  for (const Motion* motion : {&minus, &plus}) {
    const certify::Ledger& ledger = motion->outcome.certificate.ledger;
    EXPECT_LT(ledger.highest - ledger.lowest, 1e-12 * ledger.kinetic_max);
  }
}

// exact: (w sin^2, -w sin cos) for theta < 0, rest otherwise
TEST(Wedge, FollowsTheWallOrStops) {
  base::Random random(8);
  for (int trial = 0; trial < 100; ++trial) {
    const double theta = random.uniform(-1.5, 1.5);
    const double w = random.uniform(0.5, 3.0);
    const Motion motion =
        run_text(builtin_scene("wedge"),
                 {"theta=" + std::to_string(theta), "w=" + std::to_string(w), "run.until=3"});
    const double t = std::stod(std::to_string(theta));
    const double v = std::stod(std::to_string(w));
    const double x = t < 0.0 ? v * std::sin(t) * std::sin(t) : 0.0;
    const double y = t < 0.0 ? -v * std::sin(t) * std::cos(t) : 0.0;
    const double rounding = 4e-15 * v / std::cos(t);  // the walls are nearly parallel near pi/2
    EXPECT_NEAR(motion.final_state.u[0], x, rounding) << theta;
    EXPECT_NEAR(motion.final_state.u[1], y, rounding) << theta;
    EXPECT_TRUE(motion.outcome.certificate.ok())
        << certify::describe(motion.outcome.certificate.failure).name;
  }
}

/// The experiments, but with sanitizers those that take minutes: their scenes have other tests.
std::vector<GalleryEntry> shown() {
  std::vector<GalleryEntry> entries = gallery();
#ifdef RICOCHET_SANITIZED
  std::erase_if(entries, [](const GalleryEntry& entry) {
    return entry.name == "impacts" || entry.name == "oscillator" || entry.name == "structures" ||
           entry.name == "bodies" || entry.name == "attractors";
  });
#endif
  return entries;
}

bool all_hold(const Exhibit& exhibit) {
  return std::all_of(exhibit.facts.begin(), exhibit.facts.end(),
                     [](const Fact& fact) { return fact.holds; });
}

TEST(Gallery, RunsThatAreInterruptedDoNotAgree) {
  for (const long long steps : {0LL, 1LL, 30LL, 99LL}) {
    int interrupted = 0;
    const Runner cut = [&](const std::string&, const scene::Scene& scene,
                           const std::vector<std::string>&) {
      step::Monitor monitor;
      const auto stop = [&](const step::Sample& sample) { monitor.stop = sample.step >= steps; };
      Motion motion = run_scene(scene, true, stop, &monitor);
      if (motion.outcome.interrupted) ++interrupted;
      return motion;
    };
    for (const GalleryEntry& entry : shown()) {
      if (entry.name == "attractors" && steps > 0) continue;  // studies, but for one run
      interrupted = 0;
      const bool agrees = all_hold(entry.show(cut));
      EXPECT_TRUE(interrupted > 0 || steps >= 30) << entry.name;  // the ball has 29 steps
      EXPECT_FALSE(agrees && interrupted > 0) << entry.name << ", " << steps << " steps";
    }
  }
}

TEST(Gallery, EveryFactHoldsUnlessACertificateFails) {
  for (const GalleryEntry& entry : shown()) {
    std::vector<Motion> good;
    const Exhibit right = entry.show([&](const std::string& label, const scene::Scene& scene,
                                         const std::vector<std::string>& settings) {
      return good.emplace_back(run_in_memory(label, scene, settings));
    });
    EXPECT_FALSE(right.facts.empty());
    for (const Fact& fact : right.facts) {
      EXPECT_TRUE(fact.holds) << entry.name << ": " << fact.statement << ": " << fact.found;
    }
    // Whole rows and the right numbers, but one of the runs is not certified.
    const std::size_t stride = 1 + good.size() / 6;  // the first of many, and some of the others
    for (std::size_t bad = 0; bad < good.size(); bad += stride) {
      std::size_t run = 0;
      const Exhibit exhibit =
          entry.show([&](const std::string&, const scene::Scene&, const std::vector<std::string>&) {
            Motion motion = good[run];
            if (run++ == bad) motion.outcome.certificate.failure = certify::Failure::Residual;
            return motion;
          });
      EXPECT_FALSE(all_hold(exhibit)) << entry.name << ", run " << bad;
    }
  }
}

TEST(Facts, AreEvaluatedOnTheRun) {
  std::string text = builtin_scene("wedge");
  text = text.substr(0, text.find("[expect]"));
  text +=
      "[expect]\ntrue_one = \"abs(x') < 1e9 and steps == 100\"\nfalse_one = \"wall.shocks > 5\"\n"
      "undefined = \"sqrt(x - 1e9) > 0\"\n";
  const std::vector<Fact> facts = check_expectations(run_text(text));
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_TRUE(facts[0].holds);
  EXPECT_FALSE(facts[1].holds);
  EXPECT_NE(facts[1].found.find("wall.shocks = 1"), std::string::npos) << facts[1].found;
  EXPECT_FALSE(facts[2].holds);
}

TEST(Facts, MayUseDefinitions) {
  // exact: free motion from (3, 0) with velocity (0, 2) for 2 s ends at (3, 4)
  const std::vector<Fact> facts = check_expectations(run_text(R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 1]
[system.define]
twice = "2*radius"
radius = "hypot(x, y)"
speed = "hypot(x', y')"
four = 4
nowhere = "sqrt(3.5 - y)"
later = "t"
[start]
position = { x = 3, y = 0 }
velocity = { x = 0, y = 2 }
[run]
scheme = "inel"
step = 0.25
until = 2
[expect]
radius = "radius == 5 and twice == 10"
speed = "speed == 2 and four == 4 and later == 2"
wrong = "radius < 1"
undefined = "nowhere > 0"
)toml"));
  ASSERT_EQ(facts.size(), 4U);
  EXPECT_TRUE(facts[0].holds) << facts[0].found;
  EXPECT_TRUE(facts[1].holds) << facts[1].found;
  EXPECT_FALSE(facts[2].holds);
  EXPECT_EQ(facts[2].found, "radius = 5");
  EXPECT_FALSE(facts[3].holds);
  EXPECT_NE(facts[3].found.find("no value at the end"), std::string::npos) << facts[3].found;
}

TEST(Facts, MayNameContactsOfAFamily) {
  // exact: nothing moves; gaps of the heights 0, 1, 3.5, 7.5 less the size 1
  const std::vector<Fact> facts = check_expectations(run_text(R"toml(
[system]
coordinates = ["z[1..4]"]
mass = [1]
[contact.stack]
for = "i in 2..4"
keep = "z[i] >= z[i-1] + 1"
[contact.room]
for = "i in 1..4"
keep = "0 <= z[i] <= 100"
[hold.pin]
for = "i in 4..4"
zero = "z[i] - 7.5"
[start]
position = { z = [0, 1, 3.5, 7.5] }
[run]
scheme = "inel"
step = 0.25
until = 1
[expect]
gap = "stack[2].gap == 0 and stack[3].gap == 1.5 and stack[4].gap == 3"
side = "room[3].upper.gap == 96.5 and room[1].lower.shocks == 0"
sum = "sum(i, 2, 4, stack[i].gap) == 4.5 and pin[4].gap == 0"
wrong = "stack[4].gap < z[3]'"
)toml"));
  ASSERT_EQ(facts.size(), 4U);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(facts[k].holds) << facts[k].found;
  EXPECT_FALSE(facts[3].holds);
  EXPECT_EQ(facts[3].found, "stack[4].gap = 3, z[3]' = 0");
}

/// The parts that the summary tells are all there is.
void expect_adds_up(const certify::Certificate& c, const std::string& name) {
  const certify::Ledger& ledger = c.ledger;
  const double change = ledger.kinetic_end - ledger.kinetic_start;
  const double size = std::max({ledger.kinetic_max, std::abs(ledger.potential_start),
                                std::abs(ledger.potential_end), 1e-300});
  const double works = ledger.forces.value() + ledger.contacts.value() + ledger.joints.value() +
                       ledger.defect.value();
  EXPECT_NEAR(works / size, change / size, 1e-9) << name;
  if (c.shocks_cut) return;
  double shocks = 0.0, rubbed = 0.0;
  std::vector<long long> counts(c.shock_counts.size(), 0);
  std::vector<long long> through = counts;
  for (const certify::Shock& shock : c.shocks) {
    shocks += shock.work;
    rubbed += shock.friction;
    const auto a = static_cast<std::size_t>(shock.contact);
    ++(shock.transmitted ? through : counts)[a];
  }
  for (std::size_t a = 0; a < counts.size(); ++a) {  // what pushes already is not struck anew
    EXPECT_GE(c.shock_counts[a], counts[a]) << name;
    EXPECT_LE(c.shock_counts[a], counts[a] + through[a]) << name;
  }
  EXPECT_NEAR(shocks / size, ledger.shocks.value() / size, 1e-9) << name;
  EXPECT_NEAR((rubbed + ledger.friction.value()) / size, ledger.tangential.value() / size, 1e-9)
      << name;
}

// One run of each: certified, with the facts that it states, and a ledger that adds up.
TEST(Expectations, OfAllBuiltinScenesHold) {
  std::size_t facts = 0;
  for (const BuiltinScene& builtin : builtin_scenes()) {
    const Motion motion = run_text(builtin.text);
    EXPECT_TRUE(motion.outcome.certificate.ok()) << builtin.name;
    expect_adds_up(motion.outcome.certificate, builtin.name);
    for (const Fact& fact : check_expectations(motion)) {
      EXPECT_TRUE(fact.holds) << builtin.name << ": " << fact.statement << ": " << fact.found;
      ++facts;
    }
  }
  EXPECT_GE(facts, builtin_scenes().size());
}

}  // namespace
}  // namespace ricochet::study::study_test
