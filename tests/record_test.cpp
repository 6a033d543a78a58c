// Rows of numbers that read back the same.

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "ricochet/base/random.h"
#include "ricochet/record/rows.h"
#include "support.h"

namespace ricochet::record::record_test {
namespace {

TEST(Rows, ReadBackTheSameNumbers) {
  const Columns columns{{"x"}, {"wall"}, false};
  const std::vector<double> q = {0.1};
  const std::vector<double> u = {-1.0 / 3.0};
  const std::vector<double> gap = {std::numeric_limits<double>::denorm_min()};
  const std::vector<double> impulse = {1e300};
  std::string text;
  append_header(columns, text);
  append_row(columns, {0, 2.5, q, u, gap, impulse, 7.0, 0.0}, text);
  EXPECT_EQ(text.substr(0, text.find('\n')), "t,x,d_x,wall.gap,wall.impulse_n,energy.kinetic");
  const char* at = text.c_str() + text.find('\n') + 1;
  for (const double expected : {2.5, q[0], u[0], gap[0], impulse[0], 7.0}) {
    char* end = nullptr;
    EXPECT_EQ(std::strtod(at, &end), expected);
    at = end + 1;
  }
}

TEST(Rows, AreAsManyAsExpected) {
  for (const std::string steps : {"0", "1", "10", "12"}) {
    for (const std::string every : {"0", "1", "3", "10", "20"}) {
      const study::Motion motion =
          testing::run_text(testing::kFloor, {"run.steps=" + steps, "run.record=" + every});
      EXPECT_EQ(static_cast<double>(motion.rows.size()), expected_rows(motion.scene.run))
          << steps << " steps, every " << every;
    }
  }
}

TEST(Rows, EstimateIsNearTheTruth) {
  const Columns columns{{"x", "y"}, {"wall"}, true};
  base::Random random(1);
  std::string text;
  append_header(columns, text);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<double> a = {random.normal(), random.normal()};
    const std::vector<double> g = {random.normal()};
    append_row(columns, {i, 0.001 * i, a, a, g, g, random.normal(), random.normal()}, text);
  }
  EXPECT_NEAR(estimate_bytes(columns, 1000.0) / static_cast<double>(text.size()), 1.0, 0.25);
}

}  // namespace
}  // namespace ricochet::record::record_test
