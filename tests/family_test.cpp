// Families: which members there are, that each is the scene with its values, that the number of
// threads changes nothing, and what is left when a member fails or the user stops them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "program.h"
#include "ricochet/base/error.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/family.h"
#include "support.h"

namespace ricochet::testing::family_test {
namespace {

using Json = nlohmann::json;

const std::string kBowl = R"toml(
[system]
coordinates = ["x", "y"]
parameters = { R = 2, g = 9.81 }
kinetic = "0.5*(x'^2 + y'^2)"
potential = "g*y"
[contact.bowl]
keep = "x^2 + y^2 <= R^2"
[start]
position = { x = 1, y = 0 }
[run]
scheme = "elast"
step = 0.01
until = 1
)toml";

std::vector<std::string> described(const scene::Family& family) {
  std::vector<std::string> words;
  for (std::size_t k = 0; k < family.size(); ++k) words.push_back(family.describe(k));
  return words;
}

std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.insert(entry.path().filename().string());
  }
  return files;
}

Json summary_in(const std::filesystem::path& folder) {
  return Json::parse(read_file(folder / "summary.json"));
}

std::size_t lines_of(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Family, IsTheProductOfItsKeysInTheOrderOfTheFileTheLastVaryingFastest) {
  const scene::Scene scene = read_text(kBowl + R"toml(
[family]
start.velocity.x = [1, "R"]
R = [3, 4]
"start.velocity.y" = { from = -1, to = 1, count = 3 }
)toml");
  EXPECT_EQ(scene.family.size(), 12U);
  const std::vector<std::string> words = described(scene.family);
  EXPECT_EQ(words[0], "start.velocity.x = 1, R = 3, start.velocity.y = -1");
  EXPECT_EQ(words[1], "start.velocity.x = 1, R = 3, start.velocity.y = 0");
  EXPECT_EQ(words[2], "start.velocity.x = 1, R = 3, start.velocity.y = 1");
  EXPECT_EQ(words[3], "start.velocity.x = 1, R = 4, start.velocity.y = -1");
  EXPECT_EQ(words[11], "start.velocity.x = R, R = 4, start.velocity.y = 1");
  EXPECT_EQ(scene.start.u[1], -1.0);  // the scene itself is the first member
  const scene::Scene last = scene::read_member(scene, {}, 11);
  EXPECT_TRUE(last.family.empty());
  EXPECT_EQ(last.start.u[0], 4.0);  // a formula of the member's own parameters
  EXPECT_EQ(last.start.u[1], 1.0);
}

TEST(Family, ASceneWithoutOneHasNoMembers) {
  EXPECT_TRUE(read_text(kBowl).family.empty());
  EXPECT_EQ(read_text(kBowl).family.size(), 0U);
}

TEST(Family, RangesHaveBothEnds) {
  const auto numbers = [](const std::string& range) {
    std::vector<double> found;
    const scene::Scene scene = read_text(kBowl + "[family]\ng = " + range);
    for (const scene::Value& value : scene.family.keys[0].values) found.push_back(value.number);
    return found;
  };
  EXPECT_EQ(numbers("{ from = 0, to = 1, count = 11 }"),
            (std::vector<double>{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}));
  EXPECT_EQ(numbers("{ from = 3, to = -1, count = 3 }"), (std::vector<double>{3.0, 1.0, -1.0}));
  EXPECT_EQ(numbers("{ from = 7, to = 9, count = 1 }"), (std::vector<double>{7.0}));
  EXPECT_EQ(numbers("{ from = 0.1, to = \"pi\", count = 7 }").back(), 3.141592653589793);
}

TEST(Family, ACoordinateMayBeCalledTo) {
  const scene::Scene scene = read_text(R"toml(
[system]
coordinates = ["to"]
mass = [1]
[start]
position = { to = 0 }
[run]
scheme = "elast"
step = 1
steps = 1
[family]
start.velocity = { to = [1, 2] }
start.position.to = { from = 0, to = 1, count = 2 }
)toml");
  EXPECT_EQ(described(scene.family)[3], "start.velocity.to = 2, start.position.to = 1");
}

TEST(Family, WhatTheCommandLineSetsDoesNotVary) {
  const std::string text = kBowl + "[family]\nR = [2, 3]\nrun.until = [1, 2]\n";
  EXPECT_EQ(read_text(text, {"R=5"}).family.size(), 2U);
  EXPECT_EQ(read_text(text, {"system.parameters.R=5"}).family.size(), 2U);
  EXPECT_EQ(read_text(text, {"run.steps=5"}).family.size(), 2U);
  const scene::Scene single = read_text(text, {"R=5", "run.steps=7"});
  EXPECT_TRUE(single.family.empty());
  EXPECT_EQ(single.run.steps, 7);
  // and what it says of the family replaces what the file says
  const scene::Scene other = read_text(text, {"family.R=[4, 5, 6]"});
  EXPECT_EQ(other.family.size(), 6U);
  const std::string dotted = kBowl + "[family]\n\"start.velocity.x\" = [2, 3]\n";
  EXPECT_EQ(described(read_text(dotted, {"family.start.velocity.x=[4]"}).family),
            (std::vector<std::string>{"start.velocity.x = 4"}));
}

TEST(Family, SchemesAndFormulasMayVary) {
  const scene::Scene scene = read_text(kBowl + R"toml(
[family]
run.scheme = ["elast", "inel"]
system.potential = ["g*y", "0.5*x^2 + \"\"*0"]
)toml");
  EXPECT_EQ(step::name_of(scene::read_member(scene, {}, 2).scheme), "inel");
  try {
    (void)scene::read_member(scene, {}, 1);
    ADD_FAILURE() << "the quotes are no formula";
  } catch (const base::InputError& error) {
    EXPECT_EQ(error.spot().line, 18) << error.what();  // and came through as they are
  }
}

TEST(Family, TheFirstFaultyMemberIsBlamedInWhateverOrderTheyAreRead) {
  const scene::Scene scene =
      read_text(kBowl + "[family]\nrun.step = [0.1, 0.01, -2, 0.1, -4, 0.1]\n");
  const study::Executor backwards = [](std::size_t count, const auto& work) {
    for (std::size_t k = count; k-- > 0;) work(k);
  };
  for (const study::Executor& executor : {study::Executor(study::run_in_order), backwards}) {
    try {
      (void)study::plan_family(scene, {}, executor);
      ADD_FAILURE() << "no error";
    } catch (const base::InputError& error) {
      EXPECT_NE(error.message().find("not -2"), std::string::npos) << error.what();
      EXPECT_EQ(error.spot().line_text.substr(static_cast<std::size_t>(error.spot().column) - 1, 2),
                "-2");
    }
  }
}

TEST(Family, ThePlanCountsStepsAndRows) {
  const scene::Scene scene =
      read_text(kBowl + "[family]\nrun.steps = [100, 20]\nrun.record = [1, 10, 0]\n");
  const study::FamilyPlan plan = study::plan_family(scene, {}, study::run_in_order);
  EXPECT_EQ(plan.steps, 360.0);
  EXPECT_EQ(plan.rows, 101.0 + 11.0 + 2.0 + 21.0 + 3.0 + 2.0);
  EXPECT_TRUE(plan.common.scheme && plan.common.step && !plan.common.settings);
}

TEST(Family, FilesAreNumberedWithAtLeastThreeDigits) {
  EXPECT_EQ(study::member_file(7, 12), "trajectory-007.csv");
  EXPECT_EQ(study::member_file(999, 999), "trajectory-999.csv");
  EXPECT_EQ(study::member_file(7, 100'000), "trajectory-000007.csv");
}

// Exact: constant forces are integrated without error, y = v t - g t^2/2.
TEST(Family, EachMemberFallsAsItsValuesSay) {
  const Folder folder;
  write_file(folder / "fall.toml", R"toml(
[system]
coordinates = ["y"]
parameters = { g = 1 }
mass = [1]
potential = "g*y"
[start]
position = { y = 0 }
[run]
scheme = "elast"
step = 0.01
until = 2
[family]
g = { from = 1, to = 10, count = 4 }
start.velocity.y = [0, 3]
)toml");
  const Finished run = run_program({"run", "fall.toml"}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = summary_in(folder / "out/fall");
  EXPECT_EQ(json["status"], "ok");
  EXPECT_EQ(json["family"]["keys"], (std::vector<std::string>{"g", "start.velocity.y"}));
  EXPECT_EQ(json["steps"], 8 * 200);
  ASSERT_EQ(json["members"].size(), 8U);
  for (std::size_t k = 0; k < 8; ++k) {
    const Json& member = json["members"][k];
    const double g = 1.0 + 3.0 * static_cast<double>(k / 2);
    const double v = k % 2 == 0 ? 0.0 : 3.0;
    EXPECT_EQ(member["number"], k + 1);
    EXPECT_EQ(member["values"]["g"], g);
    EXPECT_EQ(member["values"]["start.velocity.y"], v);
    EXPECT_EQ(member["status"], "ok");
    EXPECT_EQ(member["steps"], 200);
    EXPECT_NEAR(member["final"]["y"], 2.0 * v - 2.0 * g, 1e-12);
    EXPECT_NEAR(member["final"]["d_y"], v - 2.0 * g, 1e-12);
    EXPECT_EQ(member["energy"]["kinetic_start"], 0.5 * v * v);
    EXPECT_NEAR(member["energy"]["total_end"], 0.5 * v * v, 1e-11);
    EXPECT_EQ(member["file"], fmt::format("trajectory-{:03}.csv", k + 1));
    EXPECT_EQ(lines_of(folder / "out/fall" / member["file"].get<std::string>()), 202U);
  }
}

// A family is nothing but its members: each trajectory is that of a run of its own.
TEST(Family, AMemberIsTheRunWithItsValuesSetBitForBit) {
  const Folder folder;
  write_file(folder / "f.toml",
             kBowl + "[family]\nstart.velocity.x = [\"-R/3\", 0.1]\nR = [1.5, 2]\n");
  write_file(folder / "s.toml", kBowl);
  ASSERT_EQ(run_program({"run", "f.toml", "--out", "f"}, folder.path()).code, 0);
  const Json json = summary_in(folder / "f");
  int number = 0;
  for (const std::string x : {"-R/3", "0.1"}) {
    for (const std::string radius : {"1.5", "2"}) {
      ASSERT_EQ(run_program({"run", "s.toml", "--out", "s", "--set", "R=" + radius, "--set",
                             "start.velocity.x=" + x},
                            folder.path())
                    .code,
                0);
      const Json& member = json["members"][static_cast<std::size_t>(number++)];
      EXPECT_EQ(read_file(folder / fmt::format("f/trajectory-{:03}.csv", number)),
                read_file(folder / "s/trajectory.csv"));
      const Json alone = summary_in(folder / "s");
      for (const char* key : {"final", "violation", "residual", "steps", "status"}) {
        EXPECT_EQ(member[key], alone[key]) << key;
      }
      EXPECT_EQ(member["shocks"], alone["shocks"]["count"]);
    }
  }
}

TEST(Family, TheNumberOfThreadsChangesNothing) {
  const Folder folder;
  write_file(folder / "f.toml", kBowl + R"toml(
[family]
R = { from = 1.2, to = 2, count = 5 }
start.velocity.x = [0, 1, 2]
run.until = [1, 0.1, 3]
)toml");
  for (const char* threads : {"1", "2", "5"}) {
    const Finished run =
        run_program({"run", "f.toml", "--threads", threads, "--out", std::string("o") + threads},
                    folder.path());
    ASSERT_EQ(run.code, 0) << run.err;
  }
  const std::set<std::string> files = files_in(folder / "o1");
  EXPECT_EQ(files.size(), 45U + 2U);
  const auto without_times = [](const std::string& text) {
    std::istringstream lines(text);
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      const bool is_time =
          line.starts_with("  \"wall_seconds\"") || line.starts_with("  \"steps_per_second\"");
      if (!is_time) kept += line + "\n";
    }
    return kept;
  };
  for (const char* other : {"o2", "o5"}) {
    EXPECT_EQ(files_in(folder / other), files);
    for (const std::string& name : files) {
      const std::string first = read_file(folder / ("o1/" + name));
      const std::string second = read_file(folder / (std::string(other) + "/" + name));
      const bool has_times = name == "summary.json";
      EXPECT_TRUE(has_times ? without_times(first) == without_times(second) : first == second)
          << other << "/" << name;
    }
  }
}

TEST(Family, WhatVariesIsSaidByEachMember) {
  const Folder folder;
  write_file(folder / "f.toml", kBowl + "[family]\nrun.scheme = [\"elast\", \"inel\"]\n");
  ASSERT_EQ(run_program({"run", "f.toml", "--out", "o"}, folder.path()).code, 0);
  const Json json = summary_in(folder / "o");
  EXPECT_FALSE(json.contains("scheme"));
  EXPECT_EQ(json["step"], 0.01);
  EXPECT_EQ(json["members"][0]["scheme"], "elast");
  EXPECT_EQ(json["members"][1]["scheme"], "inel");
  EXPECT_EQ(json["members"][1]["values"]["run.scheme"], "inel");
}

TEST(Family, MembersMayDifferInTheNumberOfCoordinates) {
  const Folder folder;
  write_file(folder / "f.toml", R"toml(
[system]
coordinates = ["z[1..N]"]
parameters = { N = 1 }
kinetic = "0.5*sum(i, 1, N, z[i]'^2)"
[start]
position = { z = "i" }
velocity = { z = 1 }
[run]
scheme = "elast"
step = 0.5
until = 1
[family]
N = [1, 4, 2]
)toml");
  const Finished run = run_program({"run", "f.toml", "--out", "o"}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = summary_in(folder / "o");
  EXPECT_EQ(json["members"][1]["final"]["z[4]"], 5.0);
  EXPECT_FALSE(json["members"][2]["final"].contains("z[4]"));
  EXPECT_NE(read_file(folder / "o/plot.svg").find("member 1 of 3"), std::string::npos);
}

TEST(Family, PathsOfAFewMembersAreDrawnTogether) {
  const Folder folder;
  write_file(folder / "f.toml",
             kBowl + "[family]\nstart.velocity.x = { from = 0, to = 1, count = 7 }\n");
  const auto count = [&](const std::string& what) {
    const std::string text = read_file(folder / "o/plot.svg");
    int found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  ASSERT_EQ(run_program({"run", "f.toml", "--out", "o"}, folder.path()).code, 0);
  EXPECT_EQ(count("<path class=\"curve s"), 7);
  EXPECT_EQ(count("class=\"start\""), 7);
  ASSERT_EQ(run_program({"run", "f.toml", "--out", "o", "--set",
                         "family.start.velocity.x={from=0, to=1, count=60}"},
                        folder.path())
                .code,
            0);
  EXPECT_EQ(count("<path class=\"curve s"), 1);
}

const std::string kSprings = R"toml(
[system]
coordinates = ["x"]
parameters = { k = 1 }
mass = [1]
potential = "0.5*k*x^2"
[start]
position = { x = 1 }
[run]
scheme = "elast"
step = 0.00201
until = 10
[family]
k = [1, 1e6, 4, 2e6]
)toml";

TEST(Family, AMemberThatFailsIsNamedAndTheOthersAreRun) {
  const Folder folder;
  write_file(folder / "f.toml", kSprings);
  const Finished run = run_program({"run", "f.toml", "--out", "o", "--quiet"}, folder.path());
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("k = 1000000: diverged at t = "), std::string::npos) << run.err;
  const Json json = summary_in(folder / "o");
  EXPECT_EQ(json["status"], "diverged");
  const std::vector<std::string> statuses = {"ok", "diverged", "ok", "diverged"};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(json["members"][k]["status"], statuses[k]);
  EXPECT_EQ(json["members"][1]["failure"]["kind"], "diverged");
  EXPECT_EQ(lines_of(folder / "o/trajectory-002.csv"),
            json["members"][1]["steps"].get<std::size_t>() + 2);
}

TEST(Family, FactsMustHoldForEveryMember) {
  const Folder folder;
  write_file(folder / "f.toml",
             kBowl + "[family]\ng = [1, 20]\n[expect]\nhigh = \"energy.kinetic_max < 10\"\n");
  const Finished run = run_program({"run", "f.toml"}, folder.path());
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.out.find("NOT MET"), std::string::npos) << run.out;
  const Json json = summary_in(folder / "out/f");
  EXPECT_EQ(json["status"], "ok");  // the certificates hold
  EXPECT_EQ(json["members"][0]["facts"][0]["holds"], true);
  EXPECT_EQ(json["members"][1]["facts"][0]["holds"], false);
  EXPECT_FALSE(json.contains("facts_not_checked"));
  EXPECT_TRUE(json["overrides"].empty());
  // about the scene as written only
  const Finished changed = run_program({"run", "f.toml", "--step", "0.001"}, folder.path());
  EXPECT_EQ(changed.code, 0);
  const std::string why = "the scene was changed by --step";
  EXPECT_NE(changed.out.find("facts       not checked: " + why), std::string::npos) << changed.out;
  const Json other = summary_in(folder / "out/f");
  EXPECT_EQ(other["facts_not_checked"], why);
  EXPECT_EQ(other["overrides"], (std::vector<std::string>{"run.step=0.001"}));
  EXPECT_FALSE(other["members"][0].contains("facts_not_checked"));  // it is said once
  EXPECT_EQ(run_program({"run", "f.toml", "--set", "g=20"}, folder.path()).code, 0);
}

// Exact: under constant forces y = v t - g t^2/2 for t < 0 too.
TEST(Family, BackwardIsForEveryMember) {
  const Folder folder;
  write_file(folder / "f.toml", R"toml(
[system]
coordinates = ["y"]
mass = [1]
force = ["-10"]
[start]
position = { y = 0 }
[run]
scheme = "inel"
step = 0.01
until = 1
[family]
start.velocity.y = [1, 2]
[expect]
later = "t > 0"
)toml");
  const Finished run = run_program({"run", "f.toml", "--out", "o", "--backward"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const Json json = summary_in(folder / "o");
  EXPECT_EQ(json["settings"]["backward"], true);
  EXPECT_EQ(json["facts_not_checked"], "the scene was changed by --backward");
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(json["members"][k]["final"]["t"], -1.0, 1e-12);
    EXPECT_NEAR(json["members"][k]["final"]["y"], -static_cast<double>(k + 1) - 5.0, 1e-12);
    EXPECT_FALSE(json["members"][k].contains("facts"));
  }
}

TEST(Family, AnInterruptedFamilyClosesWhatItRan) {
  const Folder folder;
  write_file(folder / "f.toml", kBowl +
                                    "[family]\nrun.steps = [10, 1000000000, 1000000000, "
                                    "1000000000, 1000000000, 10]\n");
  const Finished run =
      run_program({"run", "f.toml", "--out", "o", "--threads", "2", "--set", "run.record=1000"},
                  folder.path(), 0.6);
  EXPECT_EQ(run.code, 130) << run.err;
  const Json json = summary_in(folder / "o");
  EXPECT_EQ(json["status"], "interrupted");
  EXPECT_EQ(json["family"]["members"], 6);
  EXPECT_EQ(json["family"]["run"], 3);
  ASSERT_EQ(json["members"].size(), 3U);
  EXPECT_EQ(json["members"][0]["status"], "ok");
  EXPECT_EQ(json["members"][1]["status"], "interrupted");
  EXPECT_EQ(json["members"][2]["status"], "interrupted");
  EXPECT_EQ(files_in(folder / "o"),
            (std::set<std::string>{"plot.svg", "summary.json", "trajectory-001.csv",
                                   "trajectory-002.csv", "trajectory-003.csv"}));
}

TEST(Family, AFolderNeverHoldsPartsOfTwoRuns) {
  const Folder folder;
  write_file(folder / "f.toml", kBowl + "[family]\nR = [1.5, 2, 2.5]\n");
  write_file(folder / "s.toml", kBowl);
  const auto run = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"run", "--out", "o"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(run_program(all, folder.path()).code, 0);
    return files_in(folder / "o");
  };
  EXPECT_EQ(run({"f.toml"}).size(), 5U);
  write_file(folder / "o/trajectory-mine.csv", "kept");
  EXPECT_EQ(run({"f.toml", "--set", "family.R=[3, 4]"}),
            (std::set<std::string>{"plot.svg", "summary.json", "trajectory-001.csv",
                                   "trajectory-002.csv", "trajectory-mine.csv"}));
  EXPECT_EQ(run({"s.toml"}), (std::set<std::string>{"events.csv", "plot.svg", "summary.json",
                                                    "trajectory.csv", "trajectory-mine.csv"}));
  EXPECT_FALSE(run({"f.toml"}).contains("trajectory.csv"));
}

TEST(Family, AFileThatCannotBeWrittenEndsItAndTheSummarySaysWhy) {
  const Folder folder;
  write_file(folder / "f.toml", kBowl + "[family]\nR = [1.5, 2, 2.5]\n");
  std::filesystem::create_directories(folder / "o/trajectory-002.csv/in the way");
  const Finished run =
      run_program({"run", "f.toml", "--out", "o", "--threads", "1"}, folder.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("trajectory-002.csv"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("remedy"), std::string::npos) << run.err;
  const Json json = summary_in(folder / "o");
  EXPECT_EQ(json["status"], "output_error");
  EXPECT_EQ(json["members"][1]["status"], "output_error");
  EXPECT_EQ(json["family"]["run"], 2);
  write_file(folder / "taken", "a file where a folder should be");
  EXPECT_EQ(run_program({"run", "f.toml", "--out", "taken"}, folder.path()).code, 2);
}

TEST(Family, CheckCountsMembersAndOutputAndRunsNothing) {
  const Folder folder;
  write_file(folder / "f.toml", kBowl + "[family]\nR = [1.5, 2]\ng = [1, 2, 3]\n");
  const Finished run = run_program({"check", "f.toml"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("6 members: R (2 values), g (3 values)"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("6 runs, 600 steps, about 606 rows"), std::string::npos) << run.out;
  EXPECT_EQ(files_in(folder.path()), (std::set<std::string>{"f.toml"}));
}

TEST(Family, OutputFitsATerminalOf80ColumnsAndBadNumbersOfThreadsAreRefused) {
  const Folder folder;
  write_file(
      folder / "f.toml",
      kBowl + "[family]\nR = [1.5, 2]\nstart.velocity.x = { from = 0, to = 1, count = 9 }\n");
  for (const char* command : {"run", "check"}) {
    const Finished run = run_program({command, "f.toml"}, folder.path());
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
  EXPECT_EQ(run_program({"run", "f.toml", "--quiet"}, folder.path()).out, "");
  for (const char* threads : {"0", "-1", "two", "1.5"}) {
    EXPECT_EQ(run_program({"run", "f.toml", "--threads", threads}, folder.path()).code, 2);
  }
}

}  // namespace
}  // namespace ricochet::testing::family_test
