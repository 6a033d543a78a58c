// Families by numbers: that a member whose parameters are set is the one that is read, that lanes
// and threads change no bit of a motion or of its certificate, and that the scene is read once.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/host/threads.h"
#include "ricochet/scene/members.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/study/sweep.h"

namespace ricochet::testing::lanes_test {
namespace {

using State = model::State<model::kDynamic>;

const std::string kOscillator = R"toml(
[system]
coordinates = ["x"]
parameters  = { w = 2.8, A = 1, e = 0.8, m = 1, d = 0 }
kinetic     = "0.5*m*x'^2"
potential   = "0.5*x^2"
force       = ["A*cos(w*t)"]
period      = "2*pi/w"
[contact.stop]
keep        = "x <= d"
restitution = "e"
[start]
position = { x = "d - 0.1*A" }
velocity = { x = 0.1 }
[run]
scheme = "moreau"
step   = 0.01
steps  = 1500
)toml";

const std::string kBox = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { g = 9.81, e = 0.7, b = 1, n = 2.5 }
define      = { k = "b^n + exp(-b)/3" }
kinetic     = "0.5*(x'^2 + y'^2)"
potential   = "g*y + 0.1*k*x^2"
[contact.floor]
keep        = "y >= 0.1*b"
restitution = "e"
[contact.sides]
keep        = "-b <= x <= b"
restitution = 0.9
[start]
position = { x = 0.3, y = "1 + b" }
velocity = { x = 1.7, y = 0 }
[run]
scheme = "moreau"
step   = 0.001
steps  = 3000
)toml";

const std::string kBowl = R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { R = 2, g = 9.81 }
kinetic     = "0.5*(x'^2 + y'^2)"
potential   = "g*y"
[contact.bowl]
keep = "x^2 + y^2 <= R^2"
[start]
position = { x = 1, y = 0 }
[run]
scheme = "moreau"
step = 0.001
steps = 900
)toml";

/// A scene with a family, "A = { from = 0.5, to = 1.5, count = 7 }".
scene::Scene with_family(const std::string& text, const std::string& keys) {
  return scene::read_scene("scene.toml", text + "[family]\n" + keys + "\n");
}

struct Ended {
  step::Outcome outcome;
  State end;
};

Ended run_alone(const scene::Scene& scene) {
  Ended run{{}, scene.start};
  step::RunSettings settings = scene.run;
  settings.record_every = 0;
  run.outcome =
      step::run_formula(*scene.formulas(), scene.scheme, settings, run.end, [](const auto&) {});
  return run;
}

/// Members as they were before: each read from the document.
std::vector<Ended> read_and_run(const scene::Scene& scene) {
  std::vector<Ended> runs;
  for (std::size_t k = 0; k < scene.family.size(); ++k) {
    runs.push_back(run_alone(scene::read_member(scene, {}, k)));
  }
  return runs;
}

void expect_same(const Ended& expected, const step::Outcome& outcome, const State& end,
                 std::size_t member) {
  EXPECT_EQ(outcome.steps, expected.outcome.steps) << member;
  EXPECT_EQ(end.t, expected.end.t) << member;
  for (Eigen::Index i = 0; i < end.q.size(); ++i) {
    EXPECT_EQ(end.q[i], expected.end.q[i]) << member;
    EXPECT_EQ(end.u[i], expected.end.u[i]) << member;
  }
  EXPECT_TRUE(outcome.certificate == expected.outcome.certificate)
      << "member " << member << ": shocks " << outcome.certificate.shocks.size() << " "
      << expected.outcome.certificate.shocks.size() << ", defect "
      << outcome.certificate.ledger.defect.value() << " "
      << expected.outcome.certificate.ledger.defect.value();
  EXPECT_EQ(outcome.gaps, expected.outcome.gaps) << member;
}

/// Runs the family of a scene in lanes, and holds every member against the one that is read.
study::SweepOutcome sweep_and_compare(const scene::Scene& scene, const std::vector<Ended>& expected,
                                      std::size_t lanes, int threads,
                                      base::Width width = base::widest()) {
  study::SweepSettings settings{.lanes = lanes, .width = width};
  std::mutex mutex;
  std::size_t seen = 0;
  settings.look = [&](std::size_t member, const step::Outcome& outcome, const State& end) {
    const std::lock_guard lock(mutex);
    ++seen;
    expect_same(expected[member], outcome, end, member);
  };
  const std::atomic<bool> stop{false};
  std::size_t told = 0;
  const study::SweepOutcome found = study::sweep(
      scene, {}, scene.family, host::make_executor(threads, stop),
      [&](std::size_t member, const study::MemberEnd&) { EXPECT_EQ(member, told++); }, settings);
  EXPECT_EQ(seen, scene.family.size());
  EXPECT_EQ(told, scene.family.size());
  return found;
}

TEST(Slots, ConstantsMadeOfThemFollow) {
  const auto build = [](formula::Graph& graph, formula::NodeId p) {
    const formula::NodeId x = graph.input(0);
    const formula::NodeId c = graph.divide(graph.add(p, graph.constant(3.0)), graph.constant(7.0));
    const formula::NodeId d = graph.multiply(graph.constant(-0.3), graph.multiply(p, x));
    return graph.add(graph.multiply(c, graph.make(formula::Op::Sin, d)), graph.power(x, c));
  };
  formula::Graph graph;
  const formula::NodeId root = build(graph, graph.slot(0, 0.6180339887));
  formula::Tape tape(graph, 1, {{root}});
  for (const double p : {0.25, 1.7, -2.3, 41.0}) {
    ASSERT_TRUE(graph.refill(std::vector<double>{p})) << p;
    tape.refill(graph);
    formula::Graph fresh;
    const formula::NodeId same = build(fresh, fresh.constant(p));
    EXPECT_EQ(graph.evaluate(root, {1.3}), fresh.evaluate(same, {1.3})) << p;
    std::vector<double> registers = tape.registers();
    registers[0] = 1.3;
    tape.run(0, registers.data());
    EXPECT_EQ(registers[tape.outputs(0)[0]], fresh.evaluate(same, {1.3})) << p;
  }
}

TEST(Slots, NumbersThatMakeAnotherGraphAreRefused) {
  formula::Graph graph;
  const formula::NodeId p = graph.slot(0, 0.6180339887);
  const formula::NodeId x = graph.input(0);
  (void)graph.power(graph.add(x, graph.constant(5.0)), graph.add(p, graph.constant(2.0)));
  // 0 and 1 drop terms; 5 is there already; 3 makes the exponent 5, and 1.5 is plain.
  for (const double special : {0.0, 1.0, -1.0, 5.0, 3.0, 4.0, std::nan("")}) {
    EXPECT_FALSE(graph.refill(std::vector<double>{special})) << special;
  }
  EXPECT_TRUE(graph.refill(std::vector<double>{1.5}));
  graph.pin(p);
  EXPECT_TRUE(graph.refill(std::vector<double>{1.5}));
  EXPECT_FALSE(graph.refill(std::vector<double>{1.6}));
}

/// A family, and the values at which the formulas are others, so that the member is read.
struct Slotted {
  const std::string& text;
  std::string keys;
  std::vector<std::pair<std::string, double>> special{};
};

TEST(Slots, MembersByNumbersAreThoseThatAreRead) {
  for (const auto& [text, keys, special] :
       std::vector<Slotted>{{kOscillator, "w = { from = 2.1, to = 3.3, count = 5 }"},
                            {kOscillator,  // 0.5*m = 1; 0.1 is a constant of the start
                             "e = [0.31, 0.9]\nm = [1.2, 0.7, 2]\nd = [0.1, 0.23]",
                             {{"m", 2.0}, {"d", 0.1}}},
                            {kOscillator,  // 0 and 1 drop terms; 2 is a constant of the period
                             "A = [0, 1, 1.1, 2]\nstart.position.x = [-0.2, -0.37]",
                             {{"A", 0.0}, {"A", 1.0}, {"A", 2.0}}},
                            {kBox,  // whole powers are products
                             "b = { from = 0.8, to = 1.6, count = 4 }\nn = [2, 2.2, 3]",
                             {{"n", 2.0}, {"n", 3.0}}},
                            {kBowl, "R = { from = 1.7, to = 2.6, count = 5 }"}}) {
    const scene::Scene scene = with_family(text, keys);
    const scene::Members members(scene, {}, scene.family);
    ASSERT_NE(members.pattern(), nullptr) << keys;
    scene::Members::Place place = members.make_place();
    long long read_ones = 0;
    for (std::size_t k = 0; k < members.size(); ++k) {
      members.load(k, place);
      bool is_special = false;
      for (std::size_t key = 0; key < scene.family.keys.size(); ++key) {
        const std::pair one(scene.family.keys[key].name, scene.family.value(k, key).number);
        is_special = is_special || std::find(special.begin(), special.end(), one) != special.end();
      }
      EXPECT_EQ(place.is_alike(), !is_special) << scene.family.describe(k);
      read_ones += is_special ? 1 : 0;
      const scene::Scene read = scene::read_member(scene, {}, k);
      EXPECT_EQ(place.model().slack(), read.formulas()->slack()) << keys << k;
      Ended run{{}, place.start()};
      step::RunSettings settings = place.run();
      settings.record_every = 0;
      run.outcome =
          step::run_formula(place.model(), place.scheme(), settings, run.end, [](const auto&) {});
      expect_same(run_alone(read), run.outcome, run.end, k);
    }
    EXPECT_EQ(members.documents(), 1 + read_ones) << keys;
  }
}

TEST(Slots, WhatNumbersDoNotMakeIsRead) {
  const scene::Scene scene = with_family(kOscillator, "run.step = [0.01, 0.02]");
  const scene::Members members(scene, {}, scene.family);
  EXPECT_EQ(members.pattern(), nullptr);
  scene::Members::Place place = members.make_place();
  members.load(1, place);
  EXPECT_EQ(place.run().step, 0.02);
  // A size that varies, and a start beyond the wall: as they are read.
  const scene::Scene beyond = with_family(kOscillator, "start.position.x = [-0.1, 0.5]");
  const scene::Members starts(beyond, {}, beyond.family);
  scene::Members::Place other = starts.make_place();
  starts.load(0, other);
  EXPECT_TRUE(other.is_alike());
  EXPECT_THROW(starts.load(1, other), base::InputError);
}

TEST(Lanes, HaveTheBitsAndCertificatesOfSingleRuns) {
  for (const auto& [text, keys] : std::multimap<std::string, std::string>{
           {kOscillator, "w = { from = 2.1, to = 3.3, count = 67 }"},
           {kOscillator,
            "A = { from = 0.3, to = 1.4, count = 9 }\ne = { from = 0.1, to = 0.95, "
            "count = 8 }"},
           {kOscillator, "start.velocity.x = { from = -1, to = 1, count = 5 }"},
           {kBox, "b = { from = 0.8, to = 1.6, count = 10 }\ne = [0.3, 0.8]"},
           {kBowl, "R = { from = 1.7, to = 2.6, count = 5 }"}}) {
    const scene::Scene scene = with_family(text, keys);
    const std::vector<Ended> expected = read_and_run(scene);
    long long shocks = 0;
    for (const Ended& run : expected)
      shocks += static_cast<long long>(run.outcome.certificate.shocks.size());
    EXPECT_GT(shocks, 0) << keys;
    for (const std::size_t lanes : {1U, 3U, 64U}) {
      SCOPED_TRACE(fmt::format("{} in {} lanes", keys, lanes));
      (void)sweep_and_compare(scene, expected, lanes, lanes == 3 ? 3 : 1);
    }
    for (const base::Width width : {base::Width::Two, base::Width::Four}) {  // where there are more
      SCOPED_TRACE(fmt::format("{} by {}", keys, static_cast<int>(width)));
      (void)sweep_and_compare(scene, expected, 64, 1, width);
    }
  }
}

// sin(-0) = -0, and atan2 tells the two apart.
TEST(Lanes, ZerosOfBothSignsAreTwoAngles) {
  const std::string text =
      "[system]\ncoordinates = [\"x\", \"y\"]\nparameters = { a = 2 }\nmass = [1, 1]\nforce = { x "
      "= "
      "\"atan2(sin(a*y), -1)\" }\n[contact.far]\nkeep = \"y >= -1\"\n[start]\nposition = { x = 0, "
      "y = "
      "0 }\nvelocity = { x = 100 }\n[run]\nscheme = \"moreau\"\nstep = 0.01\nuntil = 3\n";
  const scene::Scene scene = with_family(text, "a = [2, -2, 3]");
  const std::vector<Ended> expected = read_and_run(scene);
  EXPECT_NEAR(expected[1].end.q[0], 300.0 - 4.5 * std::numbers::pi, 1e-9);
  (void)sweep_and_compare(scene, expected, 64, 1);
}

TEST(Lanes, RunsThatFailEndAsAlone) {
  // The wall comes faster than steps of this length can follow, and the spring is too stiff.
  std::string text = kOscillator;
  text.replace(text.find("0.5*x^2"), 7, "0.5*A*x^2");
  text.replace(text.find("[\"A*cos(w*t)\"]"), 14, "[\"cos(w*t)\"]");
  const scene::Scene scene = with_family(text, "A = [1.1, 30, 39000, 41000, 2, 90000]");
  const std::vector<Ended> expected = read_and_run(scene);
  EXPECT_TRUE(std::any_of(expected.begin(), expected.end(),
                          [](const Ended& run) { return !run.outcome.certificate.ok(); }));
  (void)sweep_and_compare(scene, expected, 64, 1);
}

// More than a family may have, of one step each: what a member costs is its own beginning and end.
TEST(Lanes, AHundredThousandMembersReadTheSceneOnce) {
  std::string text = kOscillator;
  const std::string period = "period      = \"2*pi/w\"\n";
  text.erase(text.find(period), period.size());  // 2*pi/w meets other constants by chance
  const std::vector<scene::Override> changes = {
      scene::parse_override("run.steps=1"),
      scene::parse_override("sweep.over.w={ from = 2.11, to = 3.37, count = 1009 }"),
      scene::parse_override("sweep.over.A={ from = 0.31, to = 0.97, count = 100 }")};
  const scene::Scene scene = scene::read_scene("scene.toml", text, changes);
  const scene::Family& over = scene.dynamics.sweep.over;
  const std::atomic<bool> stop{false};
  double sum = 0.0;
  const study::SweepOutcome found =
      study::sweep(scene, changes, over, host::make_executor(2, stop),
                   [&](std::size_t, const study::MemberEnd& end) { sum += end.q[0]; });
  EXPECT_GT(found.members, scene::Family::kMostMembers);
  EXPECT_EQ(found.members, 100'900U);
  EXPECT_EQ(found.failed, 0U);
  EXPECT_EQ(found.steps, 100'900);
  EXPECT_EQ(found.documents, 1);
  // q+ = q + h u + h^2/2 (A cos(w h/2) - q_M) from q = -0.1 A, u = 0.1, in closed form
  double expected = 0.0;
  for (std::size_t member = 0; member < over.size(); ++member) {
    const double w = over.value(member, 0).number, A = over.value(member, 1).number;
    const double h = 0.01, q = -0.1 * A, u = 0.1, middle = q + 0.5 * h * u;
    expected += q + h * u + 0.5 * h * h * (A * std::cos(0.5 * w * h) - middle);
  }
  EXPECT_NEAR(sum, expected, 1e-9 * std::abs(expected));
}

}  // namespace
}  // namespace ricochet::testing::lanes_test
