// The error bars of random scenes with known ends hold the true errors, and are not much larger.

#include <gtest/gtest.h>

#include <cmath>

#include "error_bar_table.h"
#include "support.h"

namespace ricochet::testing::error_bar_calibration_test {
namespace {

#if defined(RICOCHET_SANITIZED)
constexpr int kCount = 3;
#else
constexpr int kCount = kTableCount;
#endif

// closed forms, and integrations far finer than the runs
TEST(ErrorBarCalibration, HoldsTheTrueErrorOfScenesWithKnownEnds) {
  const std::vector<BarRow> rows = try_known_scenes(kTableSeed, kCount);
  const BarRow& all = rows.back();
  EXPECT_LE(all.refused, all.tried / 100);
  EXPECT_LE(all.unresolved, all.tried / 10);
  EXPECT_GE(all.within, std::ceil(0.95 * all.given())) << markdown_of(rows);
  EXPECT_LE(all.median(), 10.0) << markdown_of(rows);
  for (const BarRow& row : rows) {
    if (kCount < kTableCount) break;  // of a few scenes a median says nothing
    EXPECT_GE(row.within, std::floor(0.8 * row.given())) << row.kind;
    EXPECT_LE(row.median(), 30.0) << row.kind;
  }
}

}  // namespace
}  // namespace ricochet::testing::error_bar_calibration_test
