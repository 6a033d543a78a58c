// Files: whole or not at all, and numbers that read back the same.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <limits>

#include "program.h"
#include "ricochet/base/random.h"
#include "ricochet/record/output_file.h"
#include "ricochet/record/rows.h"
#include "support.h"

namespace ricochet::record {
namespace {

using testing::Folder;
using testing::read_file;

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

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const Folder folder;
  const std::filesystem::path path = folder / "deep/er/file.txt";
  {
    OutputFile file(path);
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "deep/er")) << "no temporary file is left";
  {
    OutputFile file(path);
    file.write("whole");
    file.commit();
  }
  EXPECT_EQ(read_file(path), "whole");
}

TEST(OutputFile, KeepsTheOldFileUntilTheNewOneIsWhole) {
  const Folder folder;
  write_file(folder / "f", "old");
  {
    OutputFile file(folder / "f");
    file.write("new");
  }
  EXPECT_EQ(read_file(folder / "f"), "old");
  write_file(folder / "f", "new");
  EXPECT_EQ(read_file(folder / "f"), "new");
}

TEST(OutputFile, AFullDiskIsAnErrorAndLeavesNothing) {
  const Folder folder;
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = old;
  small.rlim_cur = 1000;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  bool refused = false;
  try {
    OutputFile file(folder / "f");
    for (int i = 0; i < 100; ++i) file.write(std::string(1000, 'x'));
    file.commit();
  } catch (const OutputError& error) {
    refused = true;
    EXPECT_NE(std::string(error.what()).find("remedy"), std::string::npos);
  }
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(refused);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OutputFile, AFileThatCannotBeRenamedIsKeptAndNamed) {
  const Folder folder;
  std::filesystem::create_directories(folder / "f/in the way");
  std::string message;
  try {
    OutputFile file(folder / "f");
    file.write("hours of work");
    file.commit();
  } catch (const OutputError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("directory"), std::string::npos) << message;  // the reason of the renaming
  std::filesystem::path kept;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.is_regular_file()) kept = entry.path();
  }
  EXPECT_EQ(read_file(kept), "hours of work");
  ASSERT_FALSE(kept.empty());
  EXPECT_NE(message.find(kept.string()), std::string::npos) << message;
}

}  // namespace
}  // namespace ricochet::record
