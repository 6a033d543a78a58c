// The program as its user meets it: files, exit codes, messages, interruptions.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "program.h"
#include "small_disk.h"

namespace ricochet::testing::program_test {
namespace {

const std::filesystem::path kSource = testing::kSourceFolder;

std::string scene(const std::string& name) {
  return (kSource / "scenes" / (name + ".toml")).string();
}

/// Rows of a CSV file by column name.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;

  explicit Table(const std::filesystem::path& file) {
    std::istringstream stream(read_file(file));
    std::string line;
    std::getline(stream, line);
    for (std::istringstream header(line); std::getline(header, line, ',');) names.push_back(line);
    while (std::getline(stream, line)) {
      std::vector<double>& row = rows.emplace_back();
      std::string cell;
      for (std::istringstream cells(line); std::getline(cells, cell, ',');) {
        row.push_back(std::stod(cell));
      }
    }
  }
  double at(std::size_t row, const std::string& name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    return rows.at(row).at(static_cast<std::size_t>(found - names.begin()));
  }
};

std::set<std::string> files_below(const std::filesystem::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(entry.path().filename().string());
  }
  return files;
}

TEST(Program, WritesTheFilesOfTheContract) {
  const Folder folder;
  const Finished run = run_program({"run", scene("essai-04")}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const std::filesystem::path out = folder / "out/essai-04";
  EXPECT_EQ(files_below(folder.path()),
            (std::set<std::string>{"events.csv", "plot.svg", "summary.json", "trajectory.csv"}));

  const Table table(out / "trajectory.csv");
  EXPECT_EQ(table.names,
            (std::vector<std::string>{"t", "x", "y", "d_x", "d_y", "wall.gap", "wall.impulse_n",
                                      "energy.kinetic", "energy.potential"}));
  ASSERT_EQ(table.rows.size(), 201U);
  EXPECT_EQ(table.at(0, "t"), 0.0);
  EXPECT_EQ(table.at(0, "y"), -40.0);
  EXPECT_EQ(table.at(0, "d_x"), std::sqrt(200.0) * 40.0);
  EXPECT_EQ(table.at(0, "wall.impulse_n"), 0.0);
  EXPECT_EQ(table.at(200, "t"), 1.0);
  for (std::size_t i = 0; i < 201; ++i) {  // every row is what its numbers say
    const double x = table.at(i, "x");
    const double y = table.at(i, "y");
    EXPECT_DOUBLE_EQ(table.at(i, "wall.gap"), 1600.0 - (x * x + y * y));
    EXPECT_DOUBLE_EQ(table.at(i, "energy.potential"), 1000.0 * y);
  }

  const auto json = nlohmann::json::parse(read_file(out / "summary.json"));
  EXPECT_EQ(json["status"], "ok");
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["scheme"], "elast");
  EXPECT_EQ(json["step"], 0.005);
  EXPECT_EQ(json["steps"], 200);
  EXPECT_EQ(json["final"]["t"], 1.0);
  EXPECT_EQ(json["final"]["x"], table.at(200, "x"));
  EXPECT_EQ(json["final"]["d_y"], table.at(200, "d_y"));
  for (const char* key : {"max", "mean", "rms"}) EXPECT_TRUE(json["violation"].contains(key));
  for (const char* key : {"max", "mean"}) EXPECT_TRUE(json["residual"].contains(key));
  EXPECT_EQ(json["shocks"]["count"]["wall"], 0);  // it begins on the wall, and stays
  EXPECT_TRUE(json["energy"].contains("work_forces"));
  EXPECT_GT(json["steps_per_second"], 0.0);
  EXPECT_TRUE(json.contains("wall_seconds"));
  for (const char* key : {"residual_limit", "balance_limit", "correction_limit", "growth_limit",
                          "shock_fraction", "restitution"}) {
    EXPECT_GT(json["settings"][key], 0.0) << key;  // every threshold of the certificate
  }
  EXPECT_EQ(json["version"], RICOCHET_VERSION);
}

TEST(Program, NumbersSurviveTheFile) {
  const Folder folder;
  run_program({"run", scene("essai-04"), "--out", "a"}, folder.path());
  const Table table(folder / "a/trajectory.csv");
  // Row 100, read back, continues the motion bit for bit.
  std::ostringstream text;
  text.precision(17);
  text << "run.start_time=" << table.at(100, "t");
  std::vector<std::string> arguments = {"run", scene("essai-04"), "--out",
                                        "b",   "--set",           text.str()};
  for (const char* name : {"x", "y"}) {
    text.str("");
    text << "start.position." << name << "=" << table.at(100, name);
    arguments.insert(arguments.end(), {"--set", text.str()});
    text.str("");
    text << "start.velocity." << name << "=" << table.at(100, std::string("d_") + name);
    arguments.insert(arguments.end(), {"--set", text.str()});
  }
  arguments.insert(arguments.end(), {"--set", "start.tolerance=10"});
  EXPECT_EQ(run_program(arguments, folder.path()).code, 0);
  const Table rest(folder / "b/trajectory.csv");
  EXPECT_EQ(rest.at(100, "x"), table.at(200, "x"));
  EXPECT_EQ(rest.at(100, "d_y"), table.at(200, "d_y"));
}

TEST(Program, RefusesEveryBadSceneWithLineAndRemedyAndWritesNothing) {
  int scenes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "tests/bad_scenes")) {
    ++scenes;
    const std::string file = entry.path().string();
    std::istringstream head(read_file(entry.path()));
    std::string says;
    std::string line;
    std::getline(head, says);
    std::getline(head, line);
    says.erase(0, std::string("# says: ").size());
    line.erase(0, std::string("# line: ").size());
    const Folder folder;
    const Finished run = run_program({"run", file}, folder.path());
    EXPECT_EQ(run.code, 2) << file << "\n" << run.err;
    const std::string said = std::regex_replace(run.err, std::regex("\n {8}"), " ");
    EXPECT_NE(said.find(says), std::string::npos) << file << "\n" << run.err;
    EXPECT_NE(run.err.find("remedy: "), std::string::npos) << file << "\n" << run.err;
    if (line != "any") {
      EXPECT_EQ(run.err.rfind(file + ":" + line + ":", 0), 0U) << file << "\n" << run.err;
    }
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(files_below(folder.path()).empty()) << file;
    EXPECT_LT(run.cpu_seconds, 20.0) << file;
  }
  EXPECT_GE(scenes, 30);
}

TEST(Program, RefusesBadArguments) {
  const Folder folder;
  const std::vector<std::vector<std::string>> calls = {
      {},
      {"frobnicate"},
      {"run"},
      {"run", "nosuch.toml"},
      {"run", "."},
      {"run", scene("essai-04"), "--frob"},
      {"run", scene("essai-04"), "--set", "R"},
      {"run", scene("essai-04"), "--set", "nosuch=3"},
      {"run", scene("essai-04"), "--set", "run.nosuch=3"},
      {"run", scene("essai-04"), "--step", "fast"},
      {"run", scene("essai-04"), "--scheme", "euler"},
      {"run", scene("essai-04"), "--step", "-1"},
      {"run", scene("essai-04"), "--steps", "1.5"},
      {"run", scene("essai-04"), "--steps", "3", "--until", "1"},
      {"run", scene("essai-04"), "--out", ""},
      {"run", scene("essai-04"), "--set", "R=2", "g=3"},
      {"gallery", "essai-99"},
      {"gallery", "essai-01", "--all"},
      {"gallery", "--all", "--out", ""},
      {"new", "nosuch/foo.toml"},
  };
  for (const std::vector<std::string>& call : calls) {
    const Finished run = run_program(call, folder.path());
    EXPECT_EQ(run.code, 2) << (call.empty() ? "" : call.back());
    EXPECT_NE(run.err, "");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Program, BlamesTheArgumentThatIsWrong) {
  const Folder folder;
  const auto error = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", scene("essai-04")});
    return run_program(more, folder.path()).err;
  };
  EXPECT_EQ(error({"--step", "-1"}).rfind("--step -1: error: run.step", 0), 0U);
  EXPECT_EQ(error({"--set", "run.recrd=3"}).rfind("--set run.recrd=3: error: run.recrd", 0), 0U);
  EXPECT_NE(run_program({"runn", "a.toml"}, folder.path()).err.find("did you mean 'run'?"),
            std::string::npos);
  const std::string help = run_program({"run", "--help"}, folder.path()).out;
  EXPECT_NE(help.find("--set NAME=VALUE  "), std::string::npos) << help;
}

TEST(Program, RefusesABinaryFileWithoutShowingIt) {
  const Folder folder;
  for (const std::string& bytes :
       {std::string("\x7f"
                    "ELF\x02\x01\0\0",
                    8),
        std::string("title = \"\x1b[2J\"\n"), std::string("title = \"caf\xe9\"\n")}) {
    write_file(folder / "binary.toml", bytes);
    const Finished run = run_program({"check", "binary.toml"}, folder.path());
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.err.find("binary.toml:1:1: error: has characters that are no text"),
              std::string::npos)
        << run.err;
    for (const char c : run.err) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
  }
}

TEST(Program, AnOutputThatCannotBeWrittenIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  for (const std::string arguments : {"gallery", "--help", "gallery essai-04"}) {
    const std::string call =
        std::string(testing::kProgram) + " " + arguments + " > /dev/full 2> /dev/null";
    const int status = std::system(call.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << arguments;
  }
}

TEST(Program, TheSummaryTellsWhatWasRun) {
  const Folder folder;
  const Finished run = run_program(
      {"run", scene("essai-04"), "--out", "o", "--set", "R=20", "--steps", "3"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(read_file(folder / "o/summary.json"));
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["parameters"]["R"], 20.0);
  EXPECT_EQ(json["overrides"], (std::vector<std::string>{"R=20", "run.steps=3"}));
  EXPECT_EQ(json["start"]["position"]["y"], -20.0);
  EXPECT_EQ(json["start"]["velocity"]["x"], std::sqrt(200.0) * 20.0);
  EXPECT_EQ(json["energy"]["explicit_gain"], 0.0);
  EXPECT_EQ(json["energy"]["joints"], 0.0);
  EXPECT_EQ(json["facts_not_checked"], "the scene was changed by --steps, --set");
  EXPECT_NE(run.out.find("facts       not checked: the scene was changed by --steps, --set"),
            std::string::npos)
      << run.out;
  run_program({"run", scene("essai-04"), "--out", "p"}, folder.path());
  const auto plain = nlohmann::json::parse(read_file(folder / "p/summary.json"));
  EXPECT_TRUE(plain["overrides"].empty());
  EXPECT_FALSE(plain.contains("facts_not_checked"));
  run_program({"gallery", "essai-01", "--out", "g"}, folder.path());
  const auto shown = nlohmann::json::parse(read_file(folder / "g/essai-01/inel/summary.json"));
  EXPECT_EQ(shown["overrides"], (std::vector<std::string>{"run.scheme=inel"}));
}

/// A scene of one coordinate with these forces, floor and settings.
std::string falling(const std::string& force, const std::string& run) {
  return "[system]\ncoordinates = [\"y\"]\nmass = [1]\nforce = [\"" + force +
         "\"]\n[contact.floor]\nkeep = \"y >= 0\"\n[start]\nposition = { y = 1 }\n"
         "velocity = { y = 1 }\n[run]\n" +
         run;
}

TEST(Program, WarnsOfForcesOfVelocitiesThatFeedTheMotion) {
  const Folder folder;
  // u+ = (1 - h c) u with h c = 2.5: it should lose, it gains
  write_file(folder / "fed.toml", falling("-25*y'", "scheme = \"inel\"\nstep = 0.1\nsteps = 1\n"));
  const Finished run = run_program({"run", "fed.toml"}, folder.path());
  EXPECT_NE(run.out.find("forces of the velocities fed the motion"), std::string::npos) << run.out;
  const auto json = nlohmann::json::parse(read_file(folder / "out/fed/summary.json"));
  EXPECT_GT(json["energy"]["explicit_gain"], 0.0);
  EXPECT_EQ(run.out.find("inf"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(", 1 step, "), std::string::npos) << run.out;
}

TEST(Program, AFailureTellsValueAndLimitAndAllStepsAsked) {
  const Folder folder;
  write_file(folder / "deep.toml", falling("-9.81",
                                           "scheme = \"elast\"\nstep = 0.013\nsteps = 500\n"
                                           "violation_limit = 1e-6\n"));
  const Finished run = run_program({"run", "deep.toml"}, folder.path());
  EXPECT_EQ(run.code, 1);
  const std::string said = std::regex_replace(run.out, std::regex("\n {12}"), " ");
  EXPECT_TRUE(std::regex_search(
      said, std::regex("run.violation_limit: [0-9.]+ deep, the limit is 1e-06; [0-9]+ of 500 "
                       "steps done")))
      << run.out;
  EXPECT_NE(run.out.find("remedy      try"), std::string::npos) << run.out;
  // one line on the other stream
  EXPECT_EQ(run.err.rfind("error: violation at t = ", 0), 0U) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1);
}

TEST(Program, RecommendsACorrectionOnlyToSchemesThatGainByIt) {
  const Folder folder;
  const auto remedy = [&](const std::string& scheme, const std::string& correction) {
    write_file(folder / "deep.toml",
               falling("-9.81", "scheme = \"" + scheme + "\"\ncorrection = \"" + correction +
                                    "\"\nanticipation = 0\nstep = 0.0129\nsteps = 500\n"
                                    "violation_limit = 1e-6\n"));
    const Finished run = run_program({"run", "deep.toml"}, folder.path());
    const auto json = nlohmann::json::parse(read_file(folder / "out/deep/summary.json"));
    EXPECT_EQ(json["status"], "violation");
    const std::string words = json["failure"]["try"];
    EXPECT_NE(run.out.find("remedy      " + words), std::string::npos) << run.out;
    return words;
  };
  EXPECT_EQ(remedy("inel", "none"), "try a smaller step or correction = \"project\"");
  EXPECT_EQ(remedy("inel", "project"), "try a smaller step");
  EXPECT_EQ(remedy("elast", "none"), "try a smaller step");
}

TEST(Program, UnderStepControlNobodyCountsStepsBeforehand) {
  const Folder folder;
  const std::string control =
      "scheme = \"elast\"\nstep = { max = 0.1, min = 0.01, tolerance = 1e-7 }\nuntil = 2\n";
  write_file(folder / "c.toml", falling("-9.81", control));
  const Finished run = run_program({"run", "c.toml"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("elast, steps of 0.01 to 0.1, "), std::string::npos) << run.out;
  const auto json = nlohmann::json::parse(read_file(folder / "out/c/summary.json"));
  EXPECT_GT(json["forced"], 0);  // the shock is not met to 1e-7 with steps of 0.01
  EXPECT_NE(json["warnings"].dump().find("did not hold the tolerance"), std::string::npos);
  EXPECT_FALSE(json["settings"].contains("steps_asked"));
  EXPECT_EQ(json["settings"]["until"], 2.0);
  EXPECT_NE(read_file(folder / "out/c/plot.svg").find("steps of 0.01 to 0.1"), std::string::npos);
  const std::string check = run_program({"check", "c.toml"}, folder.path()).out;
  EXPECT_NE(check.find("elast, steps of 0.01 to 0.1, t = 0 to 2\n"), std::string::npos) << check;
  EXPECT_NE(check.find("at least 21 rows"), std::string::npos) << check;
  write_file(folder / "d.toml", falling("-9.81", control + "violation_limit = 1e-6\n"));
  const Finished deep = run_program({"run", "d.toml", "--set", "run.step.min=0.04"}, folder.path());
  EXPECT_EQ(deep.code, 1);
  EXPECT_TRUE(std::regex_search(deep.out, std::regex("; [0-9]+\\s+steps\\s+done"))) << deep.out;
}

TEST(Program, BackwardRunsSayWhereThePastIsAmbiguous) {
  // y(t) = 1 + t - 5 t^2 leaves the floor at t = (1 - sqrt(21))/10.
  const Folder folder;
  write_file(folder / "b.toml", falling("-10", "scheme = \"inel\"\nstep = 0.001\nuntil = 1\n"));
  const Finished run = run_program({"run", "b.toml", "--backward"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(read_file(folder / "out/b/summary.json"));
  ASSERT_EQ(json["warnings"].size(), 1U);
  EXPECT_NE(json["warnings"][0].get<std::string>().find("ambiguous"), std::string::npos);
  EXPECT_NEAR(json["shocks"]["instants"][0]["t"], 0.1 * (1.0 - std::sqrt(21.0)), 0.0011);
  EXPECT_NE(run.out.find("warning     the past is ambiguous"), std::string::npos) << run.out;
}

TEST(Program, OverridesParametersAndKeys) {
  const Folder folder;
  const Finished run = run_program({"run", scene("essai-04"), "--out", "o", "--set", "R=20",
                                    "--set", "run.record=50", "--step", "0.01", "--until", "0.5"},
                                   folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const Table table(folder / "o/trajectory.csv");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.at(0, "y"), -20.0);
  EXPECT_EQ(table.at(1, "t"), 0.5);
}

TEST(Program, ExpectationsThatAreNotMetFail) {
  const Folder folder;
  std::string text = read_file(scene("essai-04"));
  text.replace(text.find("11.88134"), 8, "11.88200");
  write_file(folder / "wrong.toml", text);
  const Finished run = run_program({"run", "wrong.toml"}, folder.path());
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.out.find("NOT MET"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("not met"), std::string::npos) << run.err;
  // with changes on the command line they are not about this run
  EXPECT_EQ(run_program({"run", "wrong.toml", "--until", "0.5"}, folder.path()).code, 0);
}

TEST(Program, ACertificateThatFailsSaysWhenAndWhatToTryAndKeepsTheRest) {
  const Folder folder;
  write_file(folder / "stiff.toml", R"toml(
[system]
coordinates = ["x"]
mass = [1]
potential = "5e5*x^2"
[start]
position = { x = 1 }
[run]
scheme = "elast"
step = 0.00201
until = 10
)toml");
  const Finished run = run_program({"run", "stiff.toml"}, folder.path());
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.out.find("diverged at t = "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("try "), std::string::npos) << run.out;
  const auto json = nlohmann::json::parse(read_file(folder / "out/stiff/summary.json"));
  EXPECT_EQ(json["status"], "diverged");
  EXPECT_GT(json["failure"]["time"], 0.0);
  const Table table(folder / "out/stiff/trajectory.csv");
  EXPECT_EQ(table.rows.size(), json["steps"].get<std::size_t>() + 1);
  EXPECT_EQ(table.rows.back()[0], json["final"]["t"].get<double>());
}

TEST(Program, InterruptedRunsLeaveWholeFilesAndExit130) {
  for (const int signal : {2, 15}) {
    const Folder folder;
    const Finished run = run_program({"run", scene("essai-04"), "--steps", "1000000000"},
                                     folder.path(), 0.3, signal);
    EXPECT_EQ(run.code, 130) << run.err;
    const auto json = nlohmann::json::parse(read_file(folder / "out/essai-04/summary.json"));
    EXPECT_EQ(json["status"], "interrupted");
    const Table table(folder / "out/essai-04/trajectory.csv");
    EXPECT_EQ(table.rows.size(), json["steps"].get<std::size_t>() + 1);
    EXPECT_EQ(table.rows.back().size(), table.names.size());
    EXPECT_EQ(files_below(folder.path()),
              (std::set<std::string>{"events.csv", "plot.svg", "summary.json", "trajectory.csv"}));
    EXPECT_NE(run.err.find("GB"), std::string::npos) << "a run this long announces its size";
    EXPECT_NE(run.out.find(" of 1000000000 steps"), std::string::npos) << run.out;
  }
}

TEST(Program, SaysWhereItCannotWrite) {
  const Folder folder;
  write_file(folder / "taken", "a file where a folder should be");
  const Finished run = run_program({"run", scene("essai-04"), "--out", "taken"}, folder.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("cannot write"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("remedy"), std::string::npos);
  // a full disk: /dev/full refuses every byte
  if (std::filesystem::exists("/dev/full")) {
    std::filesystem::create_directories(folder / "full");
    std::filesystem::create_symlink("/dev/full", folder / "full/trajectory.csv");
    // the temporary file is written beside, so only the rename replaces the link
    EXPECT_EQ(run_program({"run", scene("essai-04"), "--out", "full"}, folder.path()).code, 0);
    EXPECT_TRUE(std::filesystem::is_regular_file(
        std::filesystem::symlink_status(folder / "full/trajectory.csv")));
  }
}

TEST(Program, AFullDiskKeepsTheRowsBeforeAndSaysSo) {
  const Folder folder;
  ASSERT_EQ(run_program({"run", scene("essai-04"), "--out", "o"}, folder.path()).code, 0);
  const auto run = [&] {
    const SmallDisk disk(600'000);  // the rows need 3 MB
    return run_program({"run", scene("essai-04"), "--out", "o", "--set", "run.steps=20000"},
                       folder.path());
  }();
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("cannot write"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("remedy"), std::string::npos) << run.err;
  EXPECT_EQ(files_below(folder.path()),
            (std::set<std::string>{"events.csv", "summary.json", "trajectory.csv"}));
  const Table table(folder / "o/trajectory.csv");  // whole rows, of this run
  ASSERT_GT(table.rows.size(), 1000U);
  EXPECT_LT(table.rows.size(), 20001U);
  const double last = table.at(table.rows.size() - 1, "t");
  EXPECT_DOUBLE_EQ(last, 0.005 * static_cast<double>(table.rows.size() - 1));
  EXPECT_NE(run.err.find("first " + std::to_string(table.rows.size()) + " rows"), std::string::npos)
      << run.err;
  const auto json = nlohmann::json::parse(read_file(folder / "o/summary.json"));
  EXPECT_EQ(json["status"], "output_error");
  EXPECT_NE(json["output_error"].get<std::string>().find("trajectory.csv"), std::string::npos);
  EXPECT_EQ(json["settings"]["steps_asked"], 20000);
  EXPECT_LT(json["steps"], 20000);  // it stopped there
}

TEST(Program, ATrajectoryThatCannotBeRenamedIsKeptAndNamed) {
  const Folder folder;
  std::filesystem::create_directories(folder / "o/trajectory.csv/in the way");
  const Finished run = run_program({"run", scene("essai-04"), "--out", "o"}, folder.path());
  EXPECT_EQ(run.code, 2);
  const auto json = nlohmann::json::parse(read_file(folder / "o/summary.json"));
  EXPECT_EQ(json["status"], "output_error");
  for (const std::string& name : files_below(folder.path())) {
    if (name == "summary.json" || name == "events.csv") continue;
    EXPECT_NE(run.err.find(name), std::string::npos) << name << " is not named in: " << run.err;
    EXPECT_EQ(Table(folder / ("o/" + name)).rows.size(), 201U);
  }
  EXPECT_EQ(files_below(folder.path()).size(), 3U);
}

#ifdef RICOCHET_SANITIZED
#define TAKES_THE_GALLERY() GTEST_SKIP() << "make sanitize shows experiments by itself"
#else
#define TAKES_THE_GALLERY() (void)0
#endif

TEST(Program, AnInterruptedGalleryStopsAtOnceAndExits130) {
  TAKES_THE_GALLERY();
  const double whole = shared_gallery().made.seconds;
  bool stopped = false;
  for (int trial = 0; trial < 40 && !stopped; ++trial) {  // until a signal comes while it runs
    const Folder folder;
    const Finished run = run_program({"gallery", "--all", "--out", "g"}, folder.path(),
                                     whole * (0.1 + 0.02 * (trial * 7 % 40)));
    ASSERT_TRUE(run.code == 130 || run.code == 0) << run.code << "\n" << run.err;
    if (run.code == 0) continue;
    EXPECT_EQ(run.out.find("experiments agree"), std::string::npos);
    for (const std::string& name : files_below(folder.path())) {
      EXPECT_FALSE(name.ends_with(".tmp") || name == "index.html") << name;  // whole ones of runs
    }
    stopped = run.err.find("interrupted") != std::string::npos;
  }
  EXPECT_TRUE(stopped);
}

TEST(Program, NewWritesASceneThatRunsAndNeverOverwrites) {
  const Folder folder;
  EXPECT_EQ(run_program({"new", "mine.toml"}, folder.path()).code, 0);
  const std::string text = read_file(folder / "mine.toml");
  EXPECT_EQ(run_program({"new", "mine.toml"}, folder.path()).code, 2);
  EXPECT_EQ(read_file(folder / "mine.toml"), text);
  EXPECT_EQ(run_program({"check", "mine.toml"}, folder.path()).code, 0);
  EXPECT_EQ(run_program({"run", "mine.toml"}, folder.path()).code, 0);
}

TEST(Program, CheckRunsNothing) {
  const Folder folder;
  const Finished run = run_program({"check", scene("essai-04")}, folder.path());
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.out.find("2 coordinates, 1 contact"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("d/dx = x * (-2)"), std::string::npos) << run.out;
  EXPECT_TRUE(files_below(folder.path()).empty());
  EXPECT_EQ(run_program({"check", (kSource / "tests/bad_scenes/unknown_name.toml").string()},
                        folder.path())
                .code,
            2);
}

TEST(Program, QuietPrintsNothingWhenAllIsWell) {
  const Folder folder;
  const Finished run = run_program({"run", scene("essai-04"), "--quiet"}, folder.path());
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out + run.err, "");
  // not even the size of a large one
  const Finished large = run_program(
      {"run", scene("essai-04"), "--quiet", "--set", "run.steps=1000000000"}, folder.path(), 0.3);
  EXPECT_EQ(large.code, 130);
  EXPECT_EQ(large.out + large.err, "");
}

TEST(Program, OutputFitsATerminalOf80Columns) {
  const Folder folder;
  for (const std::vector<std::string>& call :
       std::vector<std::vector<std::string>>{{"run", scene("essai-01")},
                                             {"run", scene("wedge")},
                                             {"gallery"},
                                             {"gallery", "essai-04"},
                                             {"gallery", "essai-05"},
                                             {"--help"},
                                             {"run", "--help"},
                                             {"check", scene("wedge")}}) {
    const Finished run = run_program(call, folder.path());
    EXPECT_EQ(run.code, 0);
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
    EXPECT_EQ(run.out.find('\r'), std::string::npos) << "a progress bar in a pipe";
  }
}

TEST(Program, KnowsItsVersion) {
  const Folder folder;
  EXPECT_EQ(run_program({"--version"}, folder.path()).out,
            std::string("ricochet ") + RICOCHET_VERSION + "\n");
}

TEST(Program, GalleryAgreesWithItsSources) {
  TAKES_THE_GALLERY();
  const Finished& run = shared_gallery().made;
  EXPECT_EQ(run.code, 0) << run.out;
  EXPECT_EQ(run.out.find("DIFFERS"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("110 within one unit"), std::string::npos) << run.out;
  EXPECT_TRUE(std::filesystem::exists(shared_gallery().folder / "essai-01/billiard/plot.svg"));
}

}  // namespace
}  // namespace ricochet::testing::program_test
