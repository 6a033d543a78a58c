// The language of scenes: definitions with indices, two indices, letters, units.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/formula/dimension.h"
#include "ricochet/formula/letters.h"
#include "support.h"

namespace ricochet::language_test {
namespace {

using testing::read_text;
using testing::run_text;

std::string error_of(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    (void)read_text(text, settings);
  } catch (const base::InputError& error) {
    return fmt::format("{} ({}): {}; {}", error.key(), error.spot().line, error.message(),
                       error.remedy());
  }
  return "";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

const std::string kChain = R"toml(
[system]
coordinates = ["x[1..N]"]
parameters  = { N = 4 }
define      = { "d[i]" = "x[i+1] - x[i] - 1", "e[i][j]" = "0.5*d[i]*d[j]" }
kinetic     = "0.5*sum(i, 1, N, x[i]'^2)"
potential   = "sum(i, 1, N-1, e[i, i])"
[start]
position = { x = "1.1*i" }
velocity = { x = "0.1*i^2" }
[run]
scheme = "moreau"
step   = 1e-2
until  = 1
)toml";

TEST(Language, DefinitionsMayHaveIndices) {
  std::string written = kChain;
  const std::string part = "e[i, i]";
  written.replace(written.find("e[i, i]"), part.size(),
                  "0.5*(x[i+1] - x[i] - 1)*(x[i+1] - x[i] - 1)");
  const study::Motion one = run_text(kChain);
  const study::Motion other = run_text(written);
  EXPECT_EQ(one.final_state.q, other.final_state.q);
  EXPECT_EQ(one.final_state.u, other.final_state.u);
}

TEST(Language, FactsMayUseThem) {
  const study::Motion motion = run_text(
      kChain,
      {"expect.one=\"abs(d[2] - (x[3] - x[2] - 1)) < 1e-15\"", "expect.two=\"e[1][1] >= 0\""});
  EXPECT_EQ(motion.scene.expectations.size(), 2U);
}

TEST(Language, SaysWhatIsWrongWithDefinitions) {
  expect_part(error_of(kChain, {"system.potential=\"d[4]\""}),
              "in d[4]: the index 5 is outside x[1..4]");
  expect_part(error_of(kChain, {"system.potential=\"d\""}), "'d' needs an index");
  expect_part(error_of(kChain, {"system.potential=\"d[1][2]\""}), "'d' has 1 indices, not 2");
  expect_part(error_of(kChain, {"system.potential=\"e[1]\""}), "'e' has 2 indices, not 1");
  expect_part(error_of(kChain, {"system.define={ \"d[i]\" = \"y + i\" }"}), "unknown name 'y'");
  expect_part(error_of(kChain, {"system.define={ \"d[N]\" = \"x[N]\" }"}), "'N' is used twice");
  expect_part(error_of(kChain, {"system.define={ \"d[i]\" = \"c[i]\", \"c[i]\" = \"d[i]\" }"}),
              "depends on itself");
}

/// Every pair of four discs in a line is a contact; their gaps are distances less 1.
TEST(Language, ContactsMayHaveTwoIndices) {
  const std::string text = R"toml(
[system]
coordinates = ["x[1..N]", "y[1..N]"]
parameters  = { N = 4 }
define      = { "d[i,j]" = "hypot(x[i] - x[j], y[i] - y[j])" }
mass        = [1, 1]
[contact.pair]
for         = "i in 1..N-1, j in i+1..N"
keep        = "d[i,j] >= 1"
restitution = 1
[start]
position = { x = "3*i", y = 0 }
velocity = { x = [1, 0, 0, 0] }
[run]
scheme = "moreau"
step   = 1e-3
until  = 9
[expect]
last = "abs(pair[3][4].gap - (x[4] - x[3] - 1)) < 1e-12 and pair[1][4].gap > 0"
)toml";
  const study::Motion motion = run_text(text);
  ASSERT_EQ(motion.outcome.certificate.failure, certify::Failure::None);
  const std::vector<std::string> names = {"pair[1][2]", "pair[1][3]", "pair[1][4]",
                                          "pair[2][3]", "pair[2][4]", "pair[3][4]"};
  EXPECT_EQ(motion.scene.columns.contacts, names);
  // Equal masses hand the velocity on, as in a cradle.
  EXPECT_NEAR(motion.final_state.u[3], 1.0, 1e-9);
  for (const int i : {0, 1, 2}) EXPECT_NEAR(motion.final_state.u[i], 0.0, 1e-9);
  expect_part(error_of(text, {"contact.pair.for=\"i in 1..N-1, i in 2..N\""}), "used twice");
  expect_part(error_of(text, {"contact.pair.for=\"i in 1..N-1, j\""}), "which index takes which");
  expect_part(error_of(text, {"contact.pair.for=\"i in 1..2, j in i+2..i\""}), "leaves no values");
  expect_part(error_of(text, {"contact.pair.for=\"i in 1..N, j in 1..N\""}), "contact.pair");
}

const std::string kGreek = R"toml(
[system]
coordinates = ["θ₁"]
parameters  = { "ω" = 2, "µ" = 0.1 }
kinetic     = "0.5*θ₁'^2"
potential   = "ω^2*(1 - cos(θ₁))"
damping     = "0.5*μ*θ₁'^2"
[contact.stop]
keep = "θ₁ <= π/4"
restitution = 0.5
[start]
position = { "θ₁" = 0 }
velocity = { "θ₁" = 2 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 1
)toml";

TEST(Language, NamesMayBeGreek) {
  std::string latin = kGreek;
  const std::vector<std::pair<std::string, std::string>> letters = {
      {"θ₁", "theta_1"}, {"ω", "omega"}, {"µ", "mu"}, {"μ", "mu"}, {"π", "pi"}};
  for (const auto& [from, to] : letters) {
    for (std::size_t at = latin.find(from); at != std::string::npos; at = latin.find(from)) {
      latin.replace(at, from.size(), to);
    }
  }
  const study::Motion one = run_text(kGreek);
  const study::Motion other = run_text(latin);
  EXPECT_EQ(one.final_state.q, other.final_state.q);
  EXPECT_EQ(one.final_state.u, other.final_state.u);
  EXPECT_EQ(one.scene.columns.coordinates[0], "θ₁");
  expect_part(error_of(kGreek, {"system.potential=\"Ω^2\""}), "unknown name 'Ω'");
  expect_part(error_of(kGreek, {"system.potential=\"ω²\""}), "write ^2");
}

TEST(Language, PicturesShowLettersAndIndices) {
  EXPECT_EQ(formula::typeset("theta_1"), "θ₁");
  EXPECT_EQ(formula::typeset("omega'"), "ω'");
  EXPECT_EQ(formula::typeset("phi2"), "φ₂");
  EXPECT_EQ(formula::typeset("x_n"), "xₙ");
  EXPECT_EQ(formula::typeset("R*sin(theta) - 1e3"), "R*sin(θ) - 1e3");
  EXPECT_EQ(formula::typeset("gamma(t)"), "gamma(t)");
  for (const char* same : {"x", "x_left", "wall.gap", "z[3]", "side", "beam_1", "1.5e-3", "θ₁"}) {
    EXPECT_EQ(formula::typeset(same), same);
  }
}

TEST(Units, AreReadAndConverted) {
  const auto size = [](const char* text) {
    const auto unit = formula::parse_unit(text);
    return unit ? unit->size : -1.0;
  };
  EXPECT_EQ(size("m/s^2"), 1.0);
  EXPECT_EQ(size("kg"), 1.0);
  EXPECT_NEAR(size("km/h"), 1.0 / 3.6, 1e-16);
  EXPECT_NEAR(size("N/mm"), 1000.0, 1e-12);
  EXPECT_NEAR(size("deg"), std::numbers::pi / 180.0, 1e-18);
  EXPECT_NEAR(size("rpm"), std::numbers::pi / 30.0, 1e-17);
  EXPECT_EQ(size("furlong"), -1.0);
  EXPECT_EQ(formula::parse_unit("N m")->dimension.text(), "kg m^2/s^2");
  EXPECT_EQ(formula::parse_unit("kg m^2/s^2")->dimension.powers,
            formula::parse_unit("J")->dimension.powers);
  EXPECT_FALSE(formula::split_quantity("2 * R"));
  EXPECT_FALSE(formula::split_quantity("2*R"));
  EXPECT_TRUE(formula::split_quantity("9.81 m/s^2"));
}

const std::string kUnits = R"toml(
[system]
coordinates = ["x", "y"]
units       = { x = "m", y = "m" }
parameters  = { m = "200 g", g = "9.81 m/s^2", R = "50 cm", k = "2 N/cm", c = "0.1 kg/s", mu = 0.3, T = "2*pi*sqrt(R/g)" }
kinetic     = "0.5*m*(x'^2 + y'^2)"
potential   = "m*g*y + 0.5*k*(hypot(x, y) - R)^2"
damping     = "0.5*c*x'^2"
force       = { x = "-m*g*sin(t/T)" }
[contact.floor]
keep     = "y >= -R"
slip     = "x'"
friction = "mu*exp(-slip*T/R)"
[start]
position = { x = "R", y = "0 mm" }
velocity = { x = 0.5 }
[run]
step  = "1 ms"
until = "2*T"
)toml";

TEST(Units, AreCheckedWhereTheyAreStated) {
  const scene::Scene scene = read_text(kUnits);
  EXPECT_EQ(scene.run.step, 1e-3);
  EXPECT_EQ(scene.start.q[0], 0.5);
  EXPECT_NEAR(scene.run.end_time, 4.0 * std::numbers::pi * std::sqrt(0.5 / 9.81), 1e-12);
  for (const auto& [name, value] : scene.parameters) {
    if (name == "m") {
      EXPECT_NEAR(value, 0.2, 1e-17);
    }
    if (name == "k") {
      EXPECT_NEAR(value, 200.0, 1e-12);
    }
  }
  // The same numbers without units are the same motion.
  std::string plain = kUnits;
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"units       = { x = \"m\", y = \"m\" }\n", ""},
      {"\"200 g\"", "0.2"},
      {"\"9.81 m/s^2\"", "9.81"},
      {"\"50 cm\"", "0.5"},
      {"\"2 N/cm\"", "200"},
      {"\"0.1 kg/s\"", "0.1"},
      {"\"0 mm\"", "0"},
      {"\"1 ms\"", "0.001"}};
  for (const auto& [from, to] : changes) plain.replace(plain.find(from), from.size(), to);
  EXPECT_EQ(run_text(kUnits).final_state.q, run_text(plain).final_state.q);
}

TEST(Units, NumbersThatAreSetKeepTheUnit) {
  const scene::Scene scene = read_text(kUnits, {"system.parameters.R=25", "run.step=0.002"});
  EXPECT_EQ(scene.start.q[0], 0.25);
  EXPECT_EQ(scene.run.step, 0.002);
}

TEST(Units, WrongOnesAreErrorsWithTheirPlace) {
  expect_part(error_of(kUnits, {"system.potential=\"m*g\""}),
              "is kg m/s^2, and an energy is kg m^2/s^2");
  expect_part(error_of(kUnits, {"system.potential=\"m*g*y + k*x\""}),
              "kg m^2/s^2 and kg m/s^2 cannot be added");
  expect_part(error_of(kUnits, {"system.kinetic=\"0.5*(x'^2 + y'^2)\""}), "system.kinetic (");
  expect_part(error_of(kUnits, {"contact.floor.keep=\"y >= -g\""}), "cannot be compared");
  expect_part(error_of(kUnits, {"contact.floor.keep=\"y >= -0.5\""}), "cannot be compared");
  expect_part(error_of(kUnits, {"system.force.x=\"m*x'\""}), "a force on this coordinate");
  expect_part(error_of(kUnits, {"system.potential=\"m*g*y*sin(x)\""}), "what sin is taken of");
  expect_part(error_of(kUnits, {"start.position.x=\"T\""}), "start.position.x");
  expect_part(error_of(kUnits, {"run.step=\"1 mm\""}), "a time is s");
  expect_part(error_of(kUnits, {"system.parameters.g=\"9.81 m/q\""}), "no unit that is known");
  expect_part(error_of(kUnits, {"system.units.x=\"cm\""}),
              "not the unit that the program counts in");
  expect_part(error_of(kUnits, {"system.units.z=\"m\""}), "is no coordinate");
  // The place: the sum itself, not the whole formula.
  try {
    (void)read_text(kUnits, {});
    std::string wrong = kUnits;
    const std::string energy = "m*g*y + 0.5";
    wrong.replace(wrong.find(energy), energy.size(), "m*g + 0.5");
    (void)read_text(wrong);
    FAIL();
  } catch (const base::InputError& error) {
    EXPECT_EQ(error.spot().line, 7);
  }
}

}  // namespace
}  // namespace ricochet::language_test
