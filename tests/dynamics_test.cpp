// Exponents, sections, diagrams and basins against closed forms and independent computations.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/dynamics/basin.h"
#include "ricochet/dynamics/bifurcate.h"
#include "ricochet/dynamics/lyapunov.h"
#include "ricochet/dynamics/picture.h"
#include "support.h"

namespace ricochet::dynamics::dynamics_test {
namespace {

using testing::read_text;

constexpr double kPi = std::numbers::pi;
#if defined(RICOCHET_SANITIZED)
constexpr double kLess = 0.02;  // of the time
#else
constexpr double kLess = 1.0;
#endif

/// x'' + 2 z x' + x = A cos wt, x <= s, with restitution e.
std::string oscillator(double w, double e, const std::string& more = "", double s = 0.0,
                       double z = 0.0, double A = 1.0) {
  return fmt::format(
      "[system]\ncoordinates = [\"x\"]\nparameters = {{ w = {:.17g}, A = {:.17g} }}\nmass = [1]\n"
      "potential = \"0.5*x^2\"\ndamping = \"{:.17g}*x'^2\"\nforce = [\"A*cos(w*t)\"]\n"
      "period = \"2*pi/w\"\n"
      "[contact.stop]\nkeep = \"x <= {:.17g}\"\nrestitution = {:.17g}\n"
      "[start]\nposition = {{ x = {:.17g} }}\nvelocity = {{ x = 0.1 }}\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n{}\n",
      w, A, z, s, e, s - 0.1, more);
}

/// A ball of gravity 1 on the table z >= G sin t, thrown off at the phase of the motion with one
/// impact a period, cos phi = pi (1-e)/((1+e) G); other starts come to rest on the table.
std::string table(double G, double e, const std::string& more = "", double speed = kPi) {
  const double phase = std::acos(kPi * (1.0 - e) / ((1.0 + e) * G));
  return fmt::format(
      "[system]\ncoordinates = [\"z\"]\nparameters = {{ G = {:.17g}, s = {:.17g} }}\nmass = [1]\n"
      "potential = \"z\"\nperiod = \"2*pi\"\n"
      "[contact.table]\nkeep = \"z >= G*sin(t)\"\nrestitution = {:.17g}\n"
      "[start]\nposition = {{ z = \"G*sin(s)\" }}\nvelocity = {{ z = {:.17g} }}\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 10\nstart_time = \"s\"\n{}\n",
      G, phase, e, speed, more);
}

const std::string kAtStop =
    "[section]\nat = \"impact of stop\"\nkeep = [\"phase\", \"stop.approach\"]\n";

// independent computation with closed arcs, 4e7 impacts: 0.14189 +- 0.00005, 1.05742 a period. The
// run is so long that four of its own errors are 0.001 a period.
TEST(Dynamics, ChaosOfTheImpactOscillator) {
  const scene::Scene scene = read_text(oscillator(2.8, 0.8));
  constexpr double kPeriod = 2.0 * kPi / 2.8;
  const Lyapunov found = lyapunov(scene, {.until = kLess * 2e6});
  ASSERT_EQ(found.exponents.size(), 2U);
  EXPECT_NEAR(found.exponents[0], 0.14189, 4.0 * std::hypot(found.errors[0], 0.00005));
  EXPECT_NEAR(found.exponents[1], -0.35219, 4.0 * std::hypot(found.errors[1], 0.00005));
  EXPECT_LT(found.errors[0] * std::sqrt(kLess), 0.0005);
  EXPECT_NEAR(found.rate * kPeriod, 1.05742, 4.0 * found.rate_error * kPeriod);
  EXPECT_LT(4.0 * found.rate_error * kPeriod * std::sqrt(kLess), 0.0015);
  EXPECT_LT(std::abs(found.sum_residual), 1e-10);
  EXPECT_NEAR(found.sum(), 2.0 * found.rate * std::log(0.8), 1e-10);  // 2 f ln e
  EXPECT_NEAR(found.dimension, 1.0 + 0.14189 / 0.35219, 0.01 / std::sqrt(kLess));
  const auto json = nlohmann::json::parse(to_json(found, scene));
  EXPECT_EQ(json["exponents"].size(), 2U);
  EXPECT_EQ(json["errors"].size(), 2U);
  EXPECT_LT(std::abs(json["sum_residual"].get<double>()), 1e-10);
  EXPECT_NEAR(json["rate"].get<double>(), found.rate, 1e-12);
}

// theorem: sum of exponents = <tr f_y> + sum of ln |det S| / t, whatever the system
TEST(Dynamics, TheSumOfExponentsIsAnIdentity) {
  const auto residual = [](const std::string& text) {
    const Lyapunov found = lyapunov(read_text(text), {.until = 300.0, .settle = 10.0});
    EXPECT_TRUE(found.has_sum) << found.failure << found.broken;
    EXPECT_GT(found.impacts, 5);
    return std::abs(found.sum_residual);
  };
  EXPECT_LT(residual(oscillator(2.5, 0.5, "", 0.0, 0.1)), 1e-10);
  EXPECT_LT(residual(table(1.2, 0.5, "", 3.2)), 1e-10);
  const std::string run = "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n";
  // a double pendulum that swings against a wall: M(q)
  EXPECT_LT(residual("[system]\ncoordinates = [\"a\", \"b\"]\n"
                     "kinetic = \"0.5*(2*a'^2 + b'^2 + 2*a'*b'*cos(a - b))\"\n"
                     "potential = \"-9.81*(2*cos(a) + cos(b))\"\ndamping = \"0.05*(a'^2 + b'^2)\"\n"
                     "force = [\"6*cos(3*t)\", \"0\"]\nperiod = \"2*pi/3\"\n"
                     "[contact.wall]\nkeep = \"sin(a) + sin(b) <= 0.3\"\nrestitution = 0.8\n"
                     "[start]\nposition = { a = 0.1, b = 0.1 }\nvelocity = { a = 0, b = 1 }\n" +
                     run),
            1e-10);
  // e depends on the approach speed: det S = e (e + v e')
  EXPECT_LT(residual("[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
                     "force = [\"cos(2.8*t)\"]\nperiod = \"2*pi/2.8\"\n"
                     "[contact.stop]\nkeep = \"x <= 0\"\nrestitution = \"0.95 - 0.2*approach\"\n"
                     "[start]\nposition = { x = -0.1 }\n" +
                     run),
            1e-10);
  // two masses between two walls
  EXPECT_LT(residual("[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\n"
                     "potential = \"0.5*x^2 + 0.5*(y - x)^2\"\ndamping = \"0.02*(x'^2 + y'^2)\"\n"
                     "force = [\"cos(1.3*t)\", \"0\"]\nperiod = \"2*pi/1.3\"\n"
                     "[contact.left]\nkeep = \"x >= -0.2\"\nrestitution = 0.9\n"
                     "[contact.right]\nkeep = \"y <= 0.3\"\nrestitution = 0.7\n"
                     "[start]\nposition = { x = 0, y = 0 }\n" +
                     run),
            1e-10);
}

// exact: one impact a period; cos phi = G_b/G, G_b = pi (1-e)/(1+e), relative speed before it
// 2 pi/(1+e)
TEST(Dynamics, TheBallOnATableLocks) {
  const scene::Scene scene = read_text(table(
      1.2, 0.5, "[section]\nat = \"impact of table\"\nkeep = [\"phase\", \"table.approach\"]\n"));
  const SectionResult found = take_section(scene, {.settle = 200, .show = 20});
  EXPECT_EQ(found.period, 1);
  EXPECT_NEAR(found.rows.back()[0], 0.5101636085, 1e-8);
  EXPECT_NEAR(found.rows.back()[1], 2.0 * kPi / 1.5, 1e-8);
  EXPECT_NE(draw(found, scene), "");
}

// exact: windows of period adding [case 10]: one impact in n periods, at these speeds
TEST(Dynamics, PeriodAdding) {
  constexpr double kGrazing = 5.8309518948453;
  const double speeds[] = {1.31970874, 0.74616326, 0.16397449, 0.03243673};
  const double parts[] = {0.5, 0.1, 0.005, 2e-4};
  for (int n = 1; n <= 4; ++n) {
    const std::string text =
        oscillator(2.0, 0.7, kAtStop, 1.0, 1.25, kGrazing * (1.0 + parts[n - 1]));
    const SectionResult found = take_section(read_text(text), {.settle = 300, .show = 50});
    EXPECT_EQ(found.period, 1) << n;
    EXPECT_NEAR(found.rows.back()[1], speeds[n - 1], 1e-7) << n;
    EXPECT_NEAR(found.rate * kPi, 1.0 / n, 1e-9) << n;
  }
}

// exact: e = 1, accelerator mode: the speed grows by pi each bounce [case 5]
TEST(Dynamics, TheAcceleratorModeGainsPiABounce) {
  // Gains of wall speed 2 G cos phi = pi at G = 1.7, phi = 0.3923898157
  const scene::Scene scene = read_text(
      table(1.7, 1.0, "[section]\nat = \"after impact of table\"\nkeep = [\"z'\"]\n", 5.0 * kPi),
      {fmt::format("s={:.17g}", std::acos(0.5 * kPi / 1.7))});
  const SectionResult found = take_section(scene, {.settle = 0, .show = 30});
  ASSERT_EQ(found.rows.size(), 30U);
  for (std::size_t k = 0; k < 30; ++k) {
    const double gain = found.rows[k][0] - (k > 0 ? found.rows[k - 1][0] : 5.0 * kPi);
    EXPECT_NEAR(gain, kPi, 1e-9) << k;
  }
}

// exact: the unit oscillator with a wall at d, e = 1: frequency pi/(pi - acos(d/a)): a = 2 d -> 1.5
TEST(Dynamics, BackboneOfTheImpactOscillator) {
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.5*x^2\"\n"
      "[contact.stop]\nkeep = \"x <= 0.5\"\nrestitution = 1\n"
      "[section]\nat = \"impact of stop\"\n"
      "[start]\nposition = { x = -1 }\nvelocity = { x = 0 }\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n");
  const SectionResult found = take_section(scene, {.settle = 0, .show = 20});
  for (std::size_t k = 1; k < found.times.size(); ++k) {
    EXPECT_NEAR(found.times[k] - found.times[k - 1], 2.0 * kPi / 1.5, 1e-9);
  }
}

// Zeros of a formula are sections too: a pendulum's turning points are half a period apart.
TEST(Dynamics, SectionsWhereAFormulaVanishes) {
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"2*x^2\"\n"
      "[section]\nwhen = \"x'\"\ndirection = \"down\"\nkeep = [\"x\"]\n"
      "[start]\nposition = { x = 0.3 }\nvelocity = { x = 0.4 }\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n");
  const SectionResult found = take_section(scene, {.settle = 0, .show = 10});
  ASSERT_EQ(found.rows.size(), 10U);
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_NEAR(found.rows[k][0], std::hypot(0.3, 0.2), 1e-12);
    if (k > 0) {
      EXPECT_NEAR(found.times[k] - found.times[k - 1], kPi, 1e-12);
    }
  }
}

// exact: the period-one motion of the ball flips at sqrt(G_b^2 + (2 (1+e^2)/(1+e)^2)^2) = 1.52682
TEST(Dynamics, ADiagramShowsWhereTheBallFlips) {
  const scene::Scene scene = read_text(
      table(1.5, 0.5,
            "[section]\nat = \"impact of table\"\nkeep = [\"table.approach\"]\n"
            "[sweep]\nover = { G = { from = 1.45, to = 1.6, count = 16 } }\nfollow = \"both\"\n"
            "settle = 600\nshow = 40\n"));
  const Diagram found = bifurcate(scene, {}, true, {});
  ASSERT_EQ(found.forward.size(), 16U);
  for (const auto* part : {&found.forward, &found.backward}) {
    for (const Branch& branch : *part) {
      const double G = found.values[branch.value];
      if (std::abs(G - 1.5268237005) < 0.012) continue;
      EXPECT_EQ(branch.period, G < 1.5268237005 ? 1 : 2) << G;
      EXPECT_TRUE(branch.settled) << G;
      EXPECT_LT(branch.exponent, 0.0) << G;
    }
  }
  EXPECT_TRUE(found.jumps.empty());
  const std::string csv = diagram_csv(found);
  EXPECT_TRUE(csv.starts_with("G,direction,seed,attractor,table.approach\n"));
  EXPECT_NE(draw(found, scene), "");
  // the same on threads, in any order
  const Diagram other = bifurcate(
      scene, {}, true, [](std::size_t count, const std::function<void(std::size_t)>& work) {
        for (std::size_t k = count; k-- > 0;) work(k);
      });
  EXPECT_EQ(diagram_csv(other), csv);
}

// A ball in a double well 0.25 x^4 - 0.5 x^2 with damping: two rests, by symmetry half the cells
// each
TEST(Dynamics, ABasinOfTwoRests) {
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"0.25*x^4 - 0.5*x^2\"\n"
      "damping = \"0.2*x'^2\"\n[section]\nevery = 1\n"
      "[sweep.over]\nstart.position.x = { from = -1.9, to = 1.9, count = 20 }\n"
      "start.velocity.x = { from = -1, to = 1, count = 20 }\n"
      "[start]\nposition = { x = 0.5 }\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 1\n");
  const Basin found = find_basin(scene, {}, {});
  ASSERT_EQ(found.attractors.size(), 2U);
  EXPECT_EQ(found.fraction(0), 0.5);
  EXPECT_EQ(found.fraction(1), 0.5);
  EXPECT_EQ(found.fraction(Basin::kUndecided), 0.0);
  for (std::size_t k = 0; k < found.labels.size(); ++k) {  // the mirror image
    EXPECT_NE(found.labels[k], found.labels[found.labels.size() - 1 - k]);
  }
  const auto json = nlohmann::json::parse(to_json(found, scene));
  EXPECT_EQ(json["fractions"].size(), 2U);
  EXPECT_EQ(json["undecided"], 0.0);
  EXPECT_NE(draw(found, scene), "");
}

/// Two wells, forced: which one a motion ends in depends on when and how it starts.
std::string forced_wells(const std::string& over) {
  return "[system]\ncoordinates = [\"x\"]\nparameters = { p = 0 }\nmass = [1]\n"
         "potential = \"0.25*x^4 - 0.5*x^2\"\ndamping = \"0.2*x'^2\"\n"
         "force = [\"0.1*cos(t + p)\"]\n"
         "[section]\nwhen = \"x'\"\ndirection = \"down\"\nkeep = [\"x\"]\n"
         "[sweep.over]\n" +
         over +
         "[start]\nposition = { x = 0.5 }\nvelocity = { x = 0 }\n"
         "[run]\nscheme = \"event-driven\"\nstep = 0.01\nsteps = 1\n";
}

/// The last point of what each cell leads to.
std::vector<double> ends_of(const Basin& found) {
  std::vector<double> ends;
  for (const int label : found.labels) {
    const bool is_known = label >= 0;
    ends.push_back(is_known ? found.attractors[static_cast<std::size_t>(label)].rows.back()[0]
                            : static_cast<double>(label));
  }
  return ends;
}

// To start later is to start at another phase of the force: by the same cells, whether what varies
// is the time of the start or a parameter, and whichever of the two keys varies first.
TEST(Dynamics, ABasinOverTheTimeOfTheStart) {
  const std::string velocity = "start.velocity.x = { from = -1.2, to = 1, count = 7 }\n";
  const std::string values = " = { from = 0, to = 6, count = 9 }\n";
  const auto basin_over = [](const std::string& over) {
    return find_basin(read_text(forced_wells(over)), {}, {});
  };
  const Basin by_time = basin_over("run.start_time" + values + velocity);
  ASSERT_EQ(by_time.attractors.size(), 2U);
  EXPECT_GT(by_time.fraction(0), 0.2);
  EXPECT_GT(by_time.fraction(1), 0.2);
  const Basin by_phase = basin_over("p" + values + velocity);
  EXPECT_EQ(by_phase.labels, by_time.labels);
  const std::vector<double> ends = ends_of(by_time);
  for (const char* key : {"run.start_time", "p"}) {
    const std::vector<double> other = ends_of(basin_over(velocity + key + values));
    for (std::size_t i = 0; i < 9; ++i) {
      for (std::size_t j = 0; j < 7; ++j) {
        EXPECT_NEAR(other[j * 9 + i], ends[i * 7 + j], 1e-6) << key << ' ' << i << ' ' << j;
      }
    }
  }
}

// A parameter that says where motions start, and on which side of an `if` their equations are:
// every cell ends at a rest of its own equations, x^3 - x + 0.3 = 0 or x^3 - x - 0.3 = 0.
TEST(Dynamics, ABasinKeepsWhatAParameterDecides) {
  for (const char* tilt :
       {"if(p > 3, 0.3, -0.3)", "0.3*sign(p - 3)", "max(-0.3, min(0.3, p - 3))"}) {
    const scene::Scene scene = read_text(fmt::format(
        "[system]\ncoordinates = [\"x\"]\nparameters = {{ p = 0.7 }}\nmass = [1]\n"
        "potential = \"0.25*x^4 - 0.5*x^2 + {}*x\"\ndamping = \"0.3*x'^2\"\n[section]\nevery = 1\n"
        "[sweep.over]\np = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]\nstart.velocity.x = [-1, 0.5, 2]\n"
        "[start]\nposition = {{ x = \"0.2*p\" }}\n"
        "[run]\nscheme = \"event-driven\"\nstep = 0.01\nsteps = 1\n",
        tilt));
    const std::vector<double> ends = ends_of(find_basin(scene, {}, {}));
    for (std::size_t k = 0; k < ends.size(); ++k) {
      const double slope = k / 3 > 2 ? 0.3 : -0.3, x = ends[k];
      EXPECT_NEAR(x * x * x - x + slope, 0.0, 1e-5) << tilt << ' ' << k;
    }
  }
}

// The same where `keep` decides.
TEST(Dynamics, ABasinKeepsWhatAParameterDecidesOfItsSection) {
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nparameters = { p = 0.7 }\nmass = [1]\n"
      "potential = \"0.5*(x - 2)^2\"\ndamping = \"0.3*x'^2\"\n"
      "[section]\nevery = 1\nkeep = [\"if(p > 3, 10, 1)*x\"]\n"
      "[sweep.over]\np = [3.2, 0.5]\nstart.velocity.x = [-1, 2]\n"
      "[start]\nposition = { x = \"0.2*p\" }\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nsteps = 1\n");
  const Basin found = find_basin(scene, {}, {});  // one attractor, shown as the first cell shows it
  EXPECT_EQ(found.labels, (std::vector<int>{0, 0, 0, 0}));
  EXPECT_NEAR(found.attractors[0].rows.back()[0], 20.0, 1e-4);
}

// A parameter and a start: cells that begin beyond the wall are outside, whatever was read before.
TEST(Dynamics, CellsBeyondAWallAreOutside) {
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nparameters = { w = 0 }\nmass = [1]\n"
      "potential = \"0.5*x^2\"\ndamping = \"0.5*x'^2\"\n[contact.wall]\nkeep = \"x >= w\"\n"
      "[section]\nevery = 1\n[sweep.over]\nw = [-3, -1, 1]\n"
      "start.position.x = [-2, 0.5, 2]\n[start]\nposition = { x = 5 }\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nsteps = 1\n");
  const Basin found = find_basin(scene, {}, {});
  constexpr int kOut = Basin::kOutside;  // the others rest at 0, or on the wall
  EXPECT_EQ(found.labels, (std::vector<int>{0, 0, 0, kOut, 0, 0, kOut, kOut, 1}));
}

// exact: a ball thrown up at pi -+ 1e-9 lands at 2 pi -+ 2e-9, where phases begin anew: next to
// each other, as orbits that strike there before and after.
TEST(Dynamics, PhasesBeforeAndAfterAPeriodAreNeighbours) {
  std::vector<Eigen::VectorXd> states;
  for (const double v : {kPi - 1e-9, kPi + 1e-9}) {
    const scene::Scene scene = read_text(fmt::format(
        "[system]\ncoordinates = [\"z\"]\nmass = [1]\npotential = \"z\"\nperiod = \"2*pi\"\n"
        "[contact.floor]\nkeep = \"z >= 0\"\nrestitution = 0.5\n"
        "[section]\nat = \"impact of floor\"\n[start]\nposition = {{ z = 0 }}\n"
        "velocity = {{ z = {:.17g} }}\n"
        "[run]\nscheme = \"event-driven\"\nstep = 0.01\nsteps = 1\n",
        v));
    SectionFlow motion(scene);
    motion.start({0.0, scene.start.q, scene.start.u});
    ASSERT_TRUE(motion.next());
    states.push_back(motion.state());
  }
  EXPECT_LT((states[0] - states[1]).cwiseAbs().maxCoeff(), 1e-8);
}

// A ball that bounces to rest and is thrown off again has many impacts in a period; the last of
// them are close to each other, and yet no impact comes back after one.
TEST(Dynamics, AChatterHasNoPeriodOfOneImpact) {
  const scene::Scene scene =
      read_text(table(1.2, 0.5, "[section]\nat = \"impact of table\"\n", 0.1));
  for (int show = 100; show < 130; ++show) {
    EXPECT_NE(take_section(scene, {.settle = 100, .show = show}).period, 1) << show;
  }
}

// By a closed map of impacts: x'' + x = cos 5 t, x <= 0, e = 0.8 has a motion of two impacts in
// three periods, and one that comes to rest once in three. Looked at where it strikes or at equal
// times, the same cells lead to each.
TEST(Dynamics, ABasinAtImpactsAndOneAtEqualTimesAreTheSame) {
  const std::string over =
      "[sweep.over]\nstart.position.x = { from = -2, to = -0.1, count = 6 }\n"
      "start.velocity.x = { from = -2, to = 2, count = 6 }\n";
  const Basin struck = find_basin(read_text(oscillator(5.0, 0.8, kAtStop + over)), {}, {});
  const Basin timed = find_basin(read_text(oscillator(5.0, 0.8, over)), {}, {});
  ASSERT_EQ(struck.attractors.size(), 2U);
  ASSERT_EQ(timed.attractors.size(), 2U);
  EXPECT_EQ(struck.labels, timed.labels);
  EXPECT_EQ(timed.attractors[0].period, 3);
  EXPECT_EQ(timed.attractors[1].period, 3);
  EXPECT_EQ(std::max(struck.attractors[0].period, struck.attractors[1].period), 2);
  EXPECT_NE(std::min(struck.attractors[0].period, struck.attractors[1].period), 1);
}

TEST(Dynamics, BadInputIsNamed) {
  const auto message = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string plain =
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"x\"\n"
      "[contact.floor]\nkeep = \"x >= 0\"\nrestitution = 0.5\n[start]\nposition = { x = 1 }\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.1\nuntil = 1\n";
  const auto expect = [&](const std::string& words, const std::string& text) {
    const std::string said = message([&] { (void)take_section(read_text(text), {}); });
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  expect("states no period", plain);
  expect("never meets it", plain + "[section]\nwhen = \"x - 5\"\n");
  expect("no contact 'wall'", plain + "[section]\nat = \"impact of wall\"\n");
  expect(
      "does not repeat after 1",
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"cos(t)\"]\nperiod = 1\n"
      "[start]\nposition = { x = 1 }\n[run]\nscheme = \"event-driven\"\nstep = 0.1\nuntil = 1\n");
  expect("is no parameter of the scene",
         plain + "[section]\nevery = 1\n[sweep.over]\nB = { from = 0, to = 1, count = 3 }\n");
  const std::string said =
      message([&] { (void)bifurcate(read_text(plain + "[section]\nevery = 1\n"), {}, false, {}); });
  EXPECT_NE(said.find("sweep.over"), std::string::npos) << said;
}

// A motion that grows beyond all bounds is an end of its own, not an error.
TEST(Dynamics, EscapeIsAClass) {
  const scene::Scene scene = read_text(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"-0.5*x^2\"\n[section]\nevery = "
      "1\n"
      "[start]\nposition = { x = 1 }\n[run]\nscheme = \"event-driven\"\nstep = 0.1\nuntil = 1\n");
  EXPECT_EQ(take_section(scene, {.settle = 0, .show = 1000}).ended, "escapes");
}

}  // namespace
}  // namespace ricochet::dynamics::dynamics_test
