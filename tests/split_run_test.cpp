// A run that is split at any step and continued has the same bits as the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ricochet/base/random.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::step::split_run_test {
namespace {

using State = model::State<model::kDynamic>;
using Rows = std::vector<std::vector<std::uint64_t>>;

/// All numbers of a row but its step, as bits.
std::vector<std::uint64_t> bits_of(const Sample& sample) {
  std::vector<std::uint64_t> bits;
  const auto add = [&](std::span<const double> values) {
    for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  };
  add({&sample.t, 1});
  for (const auto& values : {sample.q, sample.u, sample.gaps, sample.impulses, sample.tangential,
                             sample.slips, sample.states}) {
    add(values);
  }
  return bits;
}

struct Case {
  std::string name;
  std::string scene;
  std::vector<std::string> settings;
  long long steps{300};
  bool backward{false};
  double tolerance{0.0};  // of step control; 0: none
};

struct Part {
  Rows rows;  // without the first, at which it began
  Outcome outcome;
};

/// `steps` steps from `state`, or under step control to the end of the run, or to about row `stop`.
Part run_part(const scene::Scene& scene, long long steps, State& state, long long stop = -1) {
  Part part;
  RunSettings run = scene.run;
  run.steps = steps;
  run.record_every = 1;
  Monitor monitor;
  const auto see = [&](const Sample& sample) {
    if (sample.step > 0) part.rows.push_back(bits_of(sample));
    if (stop >= 0 && sample.step >= stop) monitor.stop = true;
  };
  if (const scene::StructurePart* line = scene.structure()) {
    part.outcome = run_structure(*line->model, scene.scheme, run, state, see, &monitor);
  } else {
    part.outcome = run_formula(*scene.system().model, scene.scheme, run, state, see, &monitor);
  }
  return part;
}

class SplitRun : public ::testing::TestWithParam<Case> {};

TEST_P(SplitRun, HasTheBitsOfTheWhole) {
  const Case& c = GetParam();
  scene::Scene scene = testing::read_text(study::builtin_scene(c.scene), c.settings);
  scene.run.backward = c.backward;
  const bool controlled = c.tolerance > 0.0;
  if (controlled) {
    scene.run.step = 0.02;
    scene.run.control = {.smallest = 1e-6, .tolerance = c.tolerance};
  }
  const long long steps = controlled ? scene.run.steps : std::min(scene.run.steps, c.steps);
  const State start = scene.structure() != nullptr ? scene.structure()->start : scene.start;
  State end = start;
  const Part whole = run_part(scene, steps, end);
  ASSERT_TRUE(whole.outcome.certificate.ok())
      << certify::describe(whole.outcome.certificate.failure).name;
  const auto rows = static_cast<long long>(whole.rows.size());
  ASSERT_GT(rows, 20);
  base::Random random(14);
  for (int split = 0; split < 20; ++split) {
    const long long at = random.below(static_cast<int>(rows));
    State state = start;
    Part first = run_part(scene, controlled ? steps : at, state, controlled ? at : -1);
    const State middle = state;  // a value: nothing is left behind in the run that made it
    state = middle;
    const Part second = run_part(scene, steps - at, state);
    ASSERT_TRUE(second.outcome.certificate.ok())
        << "split at " << at << ": " << certify::describe(second.outcome.certificate.failure).name;
    first.rows.insert(first.rows.end(), second.rows.begin(), second.rows.end());
    ASSERT_EQ(first.rows.size(), whole.rows.size()) << "split at " << at;
    for (std::size_t i = 0; i < whole.rows.size(); ++i) {
      ASSERT_EQ(first.rows[i], whole.rows[i]) << "split at " << at << ", row " << i + 1;
    }
    EXPECT_EQ(state.q, end.q);
    EXPECT_EQ(state.u, end.u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SplitRun,
    ::testing::Values(
        Case{"billiard", "essai-04", {"run.scheme=billiard"}}, Case{"elast", "essai-04", {}},
        Case{"inel", "essai-05", {}}, Case{"moreau", "dropped-ball", {}, 2000},
        Case{"ahead", "essai-10", {"run.contact=ahead", "run.correction=unilateral"}, 2000},
        Case{"mabrouk", "dropped-ball", {"run.scheme=mabrouk"}, 2000},
        Case{"paoli_schatzman", "dropped-ball", {"run.scheme=paoli-schatzman"}, 2000},
        Case{"moreau_jean", "dropped-ball", {"run.scheme=moreau-jean"}, 2000},
        Case{"penalty", "dropped-ball", {"run.scheme=penalty"}, 2000},
        Case{"event_driven", "dropped-ball", {"run.scheme=event-driven"}, 2000},
        Case{"event_driven_contact", "zeno", {"run.scheme=event-driven", "run.zeno=contact"}, 3000},
        Case{"affine", "zeno", {"run.scheme=affine", "run.step=0.002"}, 3000},
        Case{"affine_joints", "slider-crank", {"run.scheme=affine"}, 500},
        Case{"conserving", "anharmonic-ball", {}, 600},
        Case{"conserving_contact", "essai-04", {"run.scheme=conserving"}, 300},
        Case{"conserving_inertia", "pendulum-wall", {}, 300}, Case{"roll", "sleigh", {}},
        Case{"roll_located", "sleigh", {"run.scheme=event-driven"}},
        Case{"impulse_time", "struck-rod", {}},
        Case{"impulse_time_located", "struck-rod", {"run.scheme=event-driven"}},
        Case{"static_and_dynamic", "essai-09", {}, 2000},
        Case{"static_and_dynamic_belt", "belt", {}, 2000},
        Case{"moreau_jean_with_friction", "belt", {"run.scheme=moreau-jean"}, 2000},
        Case{"rolling_disc", "rolling-disc", {}, 2000}, Case{"logs", "logs", {}, 200},
        Case{"coupled_contacts", "pile", {"mu=0.2", "floor=0.2"}, 60},
        Case{"shared_loads", "three-feet", {}}, Case{"many_contacts", "column", {}, 100},
        Case{"joints", "slider-crank", {}, 500}, Case{"inertia", "double-pendulum", {}, 500},
        Case{"inertia_impacts", "arm", {}, 1500}, Case{"newmark", "tube-20", {}, 3000},
        Case{"newmark_supports", "tube-three-supports", {}, 3000},
        Case{"newmark_string", "string-obstacle", {}, 3000},
        Case{"structure_moreau", "tube-10", {"run.scheme=moreau"}, 3000},
        Case{"structure_passive", "tube-10", {"run.scheme=passive"}, 3000},
        Case{"structure_mabrouk", "bar-wall", {"run.scheme=mabrouk"}, 3000},
        Case{"structure_penalty", "tube-10", {"run.scheme=penalty"}, 3000},
        Case{"restitution", "cradle", {}, 500}, Case{"backward", "essai-04", {}, 300, true},
        Case{"controlled", "dropped-ball", {}, 0, false, 1e-4},
        Case{"controlled_backward", "essai-04", {}, 0, true, 1e-4},
        Case{"controlled_friction", "belt", {}, 0, false, 1e-4},
        Case{"controlled_contacts", "logs", {}, 0, false, 1e-4}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ricochet::step::split_run_test
