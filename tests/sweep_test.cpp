// The command `sweep`: what it leaves, and what it says of what cannot be one.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "program.h"

namespace ricochet::testing::sweep_test {
namespace {

const std::string kOscillator = R"toml(
[system]
coordinates = ["x"]
parameters  = { w = 2.8, A = 1, steps = 1 }
mass        = [1]
force       = ["A*cos(w*t) - steps*x"]
[contact.stop]
keep        = "x <= 0"
restitution = 0.8
[start]
position = { x = -0.1 }
[run]
scheme = "moreau"
step   = 0.01
steps  = 300
)toml";

/// Refused: exit code 2, a message with all these words, and a remedy.
void expect_refused(const Finished& run, const std::vector<std::string>& words) {
  EXPECT_EQ(run.code, 2) << run.out << run.err;
  for (const std::string& word : words) {
    EXPECT_NE(run.err.find(word), std::string::npos) << word << " is not in:\n" << run.err;
  }
  EXPECT_NE(run.err.find("remedy"), std::string::npos) << run.err;
}

class Sweep : public ::testing::Test {
 protected:
  Sweep() { write_file(folder_ / "s.toml", kOscillator); }
  Finished sweep(std::vector<std::string> arguments, double interrupt_after = 0.0) const {
    arguments.insert(arguments.begin(), {"sweep", "s.toml", "--out", "o"});
    return run_program(arguments, folder_.path(), interrupt_after);
  }
  std::string table() const { return read_file(folder_ / "o/sweep.csv"); }
  long long lines() const {
    const std::string text = table();
    return std::count(text.begin(), text.end(), '\n');
  }

  Folder folder_;
};

TEST_F(Sweep, HasALineForEachMember) {
  EXPECT_EQ(sweep({"--over", "w=2.1..3.3:3", "--over", "A=0.5..1.5:2"}).code, 0);
  EXPECT_EQ(table().substr(0, table().find('\n')),
            "member,w,A,status,steps,t,x,d_x,energy,residual,violation,stop.shocks");
  EXPECT_EQ(lines(), 7);
  EXPECT_NE(table().find("\n2,2.1,1.5,ok,300,3,"), std::string::npos) << table();
  EXPECT_NE(table().find("\n6,3.3,1.5,ok,300,3,"), std::string::npos) << table();
}

TEST_F(Sweep, WhatVariesIsNotSetToo) {
  expect_refused(sweep({"--over", "w=2.1..3.3:3", "--set", "w=4"}), {"--set w=4", "'w'", "varies"});
  expect_refused(sweep({"--over", "w=2.1..3.3:3", "--set", "system.parameters.w=4"}),
                 {"--set system.parameters.w=4", "varies"});
  expect_refused(sweep({"--over", "run.step=0.01..0.02:2", "--set", "run.step=0.03"}),
                 {"--set run.step=0.03", "varies"});
  write_file(folder_ / "s.toml", kOscillator + "[sweep.over]\nw = [2.5, 2.6]\n");
  expect_refused(sweep({"--set", "w=4"}), {"--set w=4", "varies"});
  EXPECT_EQ(sweep({"--set", "A=1.3"}).code, 0);
  EXPECT_EQ(lines(), 3);
  // of the file and of the command line, the latter holds
  EXPECT_EQ(sweep({"--over", "w=2.1..3.3:4"}).code, 0);
  EXPECT_EQ(lines(), 5);
  for (const char* command : {"bifurcate", "basin"}) {
    expect_refused(run_program({command, "s.toml", "--set", "w=4"}, folder_.path()),
                   {"--set w=4", "varies"});
  }
}

TEST_F(Sweep, NothingVariesTwice) {
  expect_refused(sweep({"--over", "w=2.1..3.3:3", "--over", "w=1..2:3"}),
                 {"--over w=1..2:3", "'w'", "varies already", "w=2.1..3.3:3"});
  expect_refused(sweep({"--over", "w=2.1..3.3:3", "--over", "system.parameters.w=1..2:3"}),
                 {"varies already"});
}

TEST_F(Sweep, ColumnsHaveNamesOfTheirOwn) {
  expect_refused(sweep({"--over", "steps=1..2:3"}), {"sweep.over.steps", "another column"});
  std::string text = kOscillator;
  for (std::size_t at = text.find("w "); at != std::string::npos; at = text.find("w ", at + 1)) {
    text.replace(at, 2, "d_x ");
  }
  text.replace(text.find("w*t"), 3, "d_x*t");
  write_file(folder_ / "s.toml", text);
  expect_refused(sweep({"--over", "d_x=2.1..3.3:3"}), {"d_x", "another column"});
}

TEST_F(Sweep, ARefusedOneLeavesNoFileThatLooksLikeItsOwn) {
  EXPECT_EQ(sweep({"--over", "w=2.1..3.3:3"}).code, 0);
  const std::string before = table();
  const Finished refused = sweep({"--over", "v=2.1..3.3:3"});
  expect_refused(refused, {"v", "no parameter"});
  EXPECT_NE(refused.err.find("o/sweep.csv is that of an earlier sweep"), std::string::npos)
      << refused.err;
  EXPECT_EQ(table(), before);
  // one that begins takes the old file away; then a member is none: beyond the wall
  expect_refused(sweep({"--over", "start.position.x=-0.5..0.5:3"}), {"start"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "o/sweep.csv"));
  const Folder fresh;
  write_file(fresh / "s.toml", kOscillator);
  EXPECT_EQ(run_program({"sweep", "s.toml", "--over", "v=1..2:2"}, fresh.path())
                .err.find("earlier sweep"),
            std::string::npos);
}

TEST_F(Sweep, OptionsThatAreNoneAreNamed) {
  expect_refused(sweep({}), {"sweep.over", "nothing varies"});
  expect_refused(sweep({"--over", "w=1..2"}), {"--over", "w=1..2", "A=0.3..1.2:900"});
  expect_refused(sweep({"--over", "w=1..2:0"}), {"w"});
  expect_refused(sweep({"--over", "w=1..2:2.5"}), {"w"});
  expect_refused(sweep({"--over", "v=1..2:3"}), {"--over v=1..2:3", "'v'", "no parameter", "w"});
  expect_refused(run_program({"sweep", "none.toml", "--over", "w=1..2:3"}, folder_.path()),
                 {"none.toml"});
}

TEST_F(Sweep, ScenesOfOtherKindsAreSentToFamilies) {
  write_file(folder_ / "s.toml",
             "[world]\ngravity = [0, -9.81]\n[body.ball]\nshape = { disc = 0.1 }\nmass = 1\n"
             "position = [0, 1]\n[run]\nscheme = \"moreau\"\nstep = 0.01\nuntil = 0.1\n");
  expect_refused(sweep({"--over", "run.step=0.01..0.02:2"}), {"sweep", "[world]", "[family]"});
  const std::string bar = std::string(testing::kSourceFolder) + "/scenes/bar-wall.toml";
  expect_refused(run_program({"sweep", bar, "--over", "run.step=0.1..0.2:2"}, folder_.path()),
                 {"sweep", "[structure]", "[family]"});
}

TEST_F(Sweep, AnInterruptedOneKeepsWhatIsThere) {
  bool stopped = false;
  for (int trial = 0; trial < 5 && !stopped; ++trial) {  // until a signal comes while it runs
    const Finished run = sweep({"--over", "w=2.1..3.3:1000", "--over", "A=0.4..1.7:1000"}, 0.5);
    ASSERT_TRUE(run.code == 130 || run.code == 0) << run.err;
    stopped = run.code == 130;
    if (!stopped) continue;
    EXPECT_NE(run.err.find("interrupted"), std::string::npos) << run.err;
    EXPECT_EQ(table().back(), '\n');
    EXPECT_LT(lines(), 1'000'001);
  }
  EXPECT_TRUE(stopped);
}

TEST_F(Sweep, AFullDiskKeepsTheLinesBefore) {
  struct SmallDisk {  // no file can grow beyond this, as on a full disk; programs inherit it
    rlimit old{};
    void (*handler)(int){std::signal(SIGXFSZ, SIG_IGN)};
    SmallDisk() {
      ::getrlimit(RLIMIT_FSIZE, &old);
      const rlimit small{900'000, old.rlim_max};
      ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallDisk() {
      ::setrlimit(RLIMIT_FSIZE, &old);
      std::signal(SIGXFSZ, handler);
    }
  };
  const Finished run = [&] {
    const SmallDisk disk;
    return sweep({"--over", "w=2.1..3.3:200", "--over", "A=0.4..1.7:200", "--set", "run.steps=3"});
  }();
  expect_refused(run, {"cannot write", "o/sweep.csv", "kept: the first"});
  EXPECT_EQ(table().back(), '\n');
  EXPECT_NE(run.err.find(fmt::format("first {} rows", lines() - 1)), std::string::npos) << run.err;
  EXPECT_GT(lines(), 1000);
  EXPECT_LT(lines(), 40'000);
}

}  // namespace
}  // namespace ricochet::testing::sweep_test
