// What the judge must not hold against a run that is right.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "ricochet/scene/scene.h"
#include "ricochet/study/motion.h"

namespace ricochet::testing::false_alarms_test {
namespace {

study::Motion run(const std::string& text) {
  return study::run_scene(scene::read_scene("scene.toml", text), true);
}

/// A particle on a table whose top is y = 0, written as (y + 0.5) - 0.5: the gap is rounding of
/// 0.5, far more than y.
TEST(FalseAlarms, RoundingOfWhatAGapIsMadeOf) {
  for (const double top : {0.5, 1e3}) {
    const study::Motion slides = run(fmt::format(R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "9.81*y"
[contact.top]
keep        = "(y + {0}) - {0} >= 0"
restitution = 0
[start]
position = {{ x = -0.3, y = 0 }}
velocity = {{ x = 3 }}
[run]
step  = 0.001
until = 0.2
)toml",
                                                 top));
    EXPECT_EQ(slides.outcome.certificate.failure, certify::Failure::None) << top;
    EXPECT_NEAR(slides.final_state.q[0], 0.3, 1e-12);
    EXPECT_NEAR(slides.final_state.q[1], 0.0, 1e-9 * top);
  }
}

/// The same table as a shape: the particle slides at 3 for a tenth of a second, then falls for
/// another.
TEST(FalseAlarms, APointOnABox) {
  const study::Motion leaves = run(R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
potential   = "9.81*y"
[world]
dimension = 2
[pair]
default = { restitution = 0 }
[frame.p]
position = ["x", "y"]
point    = [0, 0]
[body.table]
fixed = true
box   = [2, 1]
at    = [-1, -0.5]
[start]
position = { x = -0.3, y = 0 }
velocity = { x = 3 }
[run]
step  = 0.001
until = 0.2
)toml");
  EXPECT_EQ(leaves.outcome.certificate.failure, certify::Failure::None);
  EXPECT_NEAR(leaves.final_state.q[0], 0.3, 1e-12);
  EXPECT_NEAR(leaves.final_state.q[1], -0.5 * 9.81 * 0.01, 2.0 * 9.81 * 0.1 * 1e-3);
}

/// A wall that is written twice is one wall: one of the two pushes, and nothing is stepped over.
TEST(FalseAlarms, AWallThatIsWrittenTwice) {
  const auto text = [](const std::string& again) {
    return fmt::format(R"toml(
[system]
coordinates = ["y"]
mass        = [1]
potential   = "9.81*y"
[contact.one]
keep        = "y >= 0"
restitution = 0.5
{}
[start]
position = {{ y = 1 }}
[run]
step  = 0.001
until = 1.5
)toml",
                       again);
  };
  const study::Motion once = run(text(""));
  const study::Motion twice = run(text("[contact.two]\nkeep = \"y >= 0\"\nrestitution = 0.5\n"));
  EXPECT_EQ(twice.outcome.certificate.failure, certify::Failure::None);
  EXPECT_EQ(twice.outcome.certificate.undecided_crossings, 0);
  EXPECT_NEAR(twice.final_state.q[0], once.final_state.q[0], 1e-12);
}

}  // namespace
}  // namespace ricochet::testing::false_alarms_test
