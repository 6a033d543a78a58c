// The defect of a run as an error bar: honest over scenes with known ends.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "error_bar_scenes.h"
#include "ricochet/dynamics/defect.h"
#include "ricochet/study/motion.h"
#include "support.h"

namespace ricochet::dynamics::defect_test {
namespace {

using testing::read_text;

struct Barred {
  study::Motion motion;
  record::ErrorBar bar;
};

Barred run_barred(const scene::Scene& scene) {
  DefectBar defect(scene, true);
  Barred barred;
  barred.motion = study::run_scene(
      scene, false, [&](const step::Sample& sample) { defect.add(sample); }, nullptr);
  barred.bar = defect.take(barred.motion.outcome);
  return barred;
}

// closed forms: every coordinate and velocity within its bar, in 95 % of what is resolved
TEST(DefectBar, IsHonestOverScenesWithKnownEnds) {
  base::Random random(20261);
  int made = 0, within = 0, resolved = 0;
  for (int kind = 0; kind < testing::kKnownKinds; ++kind) {
    int kind_made = 0, kind_resolved = 0, kind_within = 0;
    std::string name;
    for (int trial = 0; trial < 8; ++trial) {
      const testing::KnownScene known = testing::random_known_scene(kind, random);
      const Barred found = run_barred(scene::read_scene("known.toml", known.text));
      name = known.kind;
      if (!found.bar.made) continue;
      ++kind_made;
      if (!found.bar.unresolved.empty()) continue;
      ++kind_resolved;
      bool holds = true;
      for (std::size_t i = 0; i < known.q.size(); ++i) {
        const auto at = static_cast<Eigen::Index>(i);
        holds = holds &&
                std::abs(found.motion.final_state.q[at] - known.q[i]) <= found.bar.position[i] &&
                std::abs(found.motion.final_state.u[at] - known.u[i]) <= found.bar.velocity[i];
      }
      if (holds) ++kind_within;
    }
    RecordProperty(name, fmt::format("{} made, {} resolved, {} within", kind_made, kind_resolved,
                                     kind_within));
    made += kind_made;
    resolved += kind_resolved;
    within += kind_within;
    EXPECT_GE(kind_within + 1, kind_resolved) << name;
  }
  EXPECT_GE(within, 0.95 * resolved);
  EXPECT_GE(resolved, 0.6 * made);
  EXPECT_GE(made, 60);
}

}  // namespace
}  // namespace ricochet::dynamics::defect_test
