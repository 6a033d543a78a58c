// What a new user met in the first week: messages that mislead, crashes, folders that mix.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"
#include "support.h"

namespace ricochet::testing::first_week_test {
namespace {

/// A ball that falls on a floor, in pieces to be changed.
const std::string kSystem = R"toml(
[system]
coordinates = ["z"]
mass        = [1]
potential   = "9.81*z"
[contact.floor]
keep = "z >= 0"
[start]
position = { z = 1 }
)toml";
const std::string kRun = "[run]\nstep = 0.001\nuntil = 1\n";

struct Tried : Finished {
  Tried(const std::string& text, std::vector<std::string> words, const std::string& name = "s.toml")
      : Finished(in(folder(), text, words, name)) {}
  static const Folder& folder() {
    static const Folder one;
    return one;
  }
  static Finished in(const Folder& folder, const std::string& text, std::vector<std::string> words,
                     const std::string& name) {
    write_file(folder / name, text);
    words.insert(words.begin() + 1, name);
    return run_program(words, folder.path());
  }
};

bool has(const std::string& text, const std::string& words) {
  std::string flat;  // without the breaks of lines
  for (const char c : text) {
    if (c == '\n') flat += ' ';
    if (c != '\n' && !(c == ' ' && !flat.empty() && flat.back() == ' ')) flat += c;
  }
  return flat.find(words) != std::string::npos;
}

TEST(FirstWeek, SchemeMayBeLeftOut) {
  const Tried run(kSystem + kRun, {"run", "--error-bar", "none"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "moreau (the scene names no scheme), step 0.001")) << run.out;
  const Tried stated(kSystem + kRun + "scheme = \"moreau\"\n", {"run", "--error-bar", "none"});
  EXPECT_TRUE(has(stated.out, "moreau, step 0.001")) << stated.out;
  const Tried typo(kSystem + kRun + "sheme = \"inel\"\n", {"run"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_TRUE(has(typo.err, "did you mean 'sheme' to be 'scheme'?")) << typo.err;
  const Tried tube(R"toml(
[structure]
length = 1
young = 2e11
density = 7800
section = { tube = [0.02, 0.001] }
nodes = 10
ends = ["clamped", "free"]
[run]
step = 1e-4
until = 0.01
)toml",
                   {"check"});
  EXPECT_EQ(tube.err.find("run.scheme"), std::string::npos) << tube.err;
}

TEST(FirstWeek, ConvergeBringsItsOwnSteps) {
  const Tried run(kSystem + "[run]\nuntil = 0.4\n", {"converge", "--steps", "0.01,0.005,0.0025"});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST(FirstWeek, AStepIsNotLongerThanTheRun) {
  const Tried run(kSystem + "[run]\nstep = 10\nuntil = 1\n", {"run"});
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.err, "10 is longer than the run, from t = 0 to 1")) << run.err;
}

TEST(FirstWeek, NamesThatDoNotExistHaveASuggestion) {
  const Tried contact(kSystem + kRun, {"run", "--set", "contact.flor.friction=1"});
  EXPECT_EQ(contact.code, 2);
  EXPECT_TRUE(has(contact.err, "did you mean 'floor'?")) << contact.err;
  const Tried option(kSystem + kRun, {"run", "--stp", "1"});
  EXPECT_EQ(option.code, 2);
  EXPECT_TRUE(has(option.err, "did you mean --step?")) << option.err;
  const Tried added(kSystem + kRun,
                    {"run", "--error-bar", "none", "--set", "contact.roof.keep=z <= 2"});
  EXPECT_EQ(added.code, 0) << added.err;  // a contact of one's own is none of these
}

TEST(FirstWeek, ASettingThatIsLeftOutIsTold) {
  const std::string text = kSystem + kRun + "scheme = \"moreau\"\ncorrection = \"project\"\n";
  const Tried run(text, {"run", "--error-bar", "none", "--scheme", "moreau-jean"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "the scheme moreau-jean has no setting correction")) << run.out;
}

TEST(FirstWeek, NoCorrectionIsWhatEverySchemeCanDo) {
  for (const std::string& scheme : step::scheme_names()) {
    scene::Scene scene = read_text(kSystem + kRun, {"run.scheme=" + scheme, "run.correction=none"});
    EXPECT_EQ(scene.scheme.value("correction"), 0.0) << scheme;
  }
}

TEST(FirstWeek, NotFiniteNamesTheFormula) {
  std::string text = kSystem;
  text.replace(text.find("potential"), 9, "force = { z = \"sqrt(1 - 2*t)\" }\npotential");
  const Tried run(text + kRun, {"run", "--error-bar", "none"});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(has(run.out, "the force on 'z'")) << run.out;
}

TEST(FirstWeek, AMillionfoldFrictionIsNoInput) {
  std::string text = kSystem;
  text.replace(text.find("[\"z\"]"), 5, "[\"z\", \"x\"]").replace(text.find("[1]"), 3, "[1, 1]");
  text.replace(text.find("z = 1"), 5, "z = 1, x = 0");
  text.replace(text.find("keep"), 4, "friction = 1e8\nslip = [\"x'\"]\nkeep");
  const Tried run(text + kRun, {"run"});
  EXPECT_EQ(run.code, 2);
  EXPECT_TRUE(has(run.err, "must be at most 1e+06")) << run.err;
}

TEST(FirstWeek, TheListOfTheGalleryHasColumns) {
  const Folder folder;
  std::istringstream lines(run_program({"gallery"}, folder.path()).out);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    EXPECT_EQ(line.substr(0, 2), "  ") << line;
    EXPECT_EQ(line[13], ' ') << line;  // before the title
    EXPECT_NE(line[14], ' ') << line;
    EXPECT_EQ(line[57], ' ') << line;  // before the source
    EXPECT_NE(line[58], ' ') << line;
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(FirstWeek, DeepKeysAndLongChainsAreNoCrash) {
  std::string key = "a";
  for (int k = 0; k < 30'000; ++k) key += ".a";
  EXPECT_EQ(Tried("[" + key + "]\nb = 1\n", {"check"}).code, 2);
  EXPECT_EQ(Tried(key + " = 1\n", {"check"}).code, 2);
  EXPECT_EQ(Tried("x = { " + key + " = 1 }\n", {"check"}).code, 2);
  EXPECT_EQ(Tried(kSystem + kRun, {"check", "--set", key + "=1"}).code, 2);
  std::string chain = "define = { d0 = \"z\"";
  for (int k = 1; k < 50'000; ++k) {
    chain += ", d" + std::to_string(k) + " = \"d" + std::to_string(k - 1) + " + 1\"";
  }
  std::string text = kSystem;
  text.replace(text.find("9.81*z\""), 7, "9.81*d49999\"\n" + chain + " }\n");
  const Tried run(text + kRun, {"check"});
  EXPECT_EQ(run.code, 0) << run.err.substr(0, 1000);
  EXPECT_LT(run.cpu_seconds, 20.0);
}

TEST(FirstWeek, AMillionCoordinatesAreRefused) {
  const Tried run(
      "[system]\ncoordinates = [\"z[1..1000000]\"]\nmass = { z = 1 }\n[contact.f]\n"
      "keep = \"z[1] >= 0\"\n[start]\nposition = { z = 1 }\n" +
          kRun,
      {"check"});
  EXPECT_EQ(run.code, 2) << run.err;
}

TEST(FirstWeek, DamagedProblemsAreRefusedAndTheOthersSolved) {
  const Folder folder;
  // Two dimensions, one contact, W = I, q = (-1, 0), mu = 0.5.
  write_file(folder / "good.dat", "2\n1\n0\n2\n2\n2 2\n1 0\n0 1\n-1 0\n0.5\n");
  // Storage by blocks: one block, one block row, no block column.
  write_file(folder / "blocks.dat",
             "2\n1\n1\n2\n2\n1\n1\n0\n2\n2\n1\n0 1\n0\n0\n1 0 0 1\n-1 0\n0.5\n");
  write_file(
      folder / "printed.dat",
      "2\n1\n2\n2\n0\n1\nCSparse Version 2\n2-by-0, nzmax: 1 nnz: 1, x\n 0 : 1\n-1 0\n0.5\n");
  // An .npy whose shape overflows 64 bits.
  const std::string header =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000, 1000000000), }\n";
  const auto little = [](std::size_t value, int size) {
    std::string bytes;
    for (int k = 0; k < size; ++k, value >>= 8U) bytes += static_cast<char>(value & 255U);
    return bytes;
  };
  const std::string npy = std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') +
                          little(header.size(), 2) + header + std::string(64, '\0');
  const std::string common = little(20, 2) + little(0, 8) + little(0, 4) + little(npy.size(), 4) +
                             little(npy.size(), 4) + little(5, 2) + little(0, 2);
  const std::string local = "PK\x03\x04" + common + "G.npy" + npy;
  const std::string entry = "PK\x01\x02" + little(20, 2) + common + little(0, 14) + "G.npy";
  write_file(folder / "shape.npz", local + entry + "PK\x05\x06" + little(0, 4) + little(1, 2) +
                                       little(1, 2) + little(entry.size(), 4) +
                                       little(local.size(), 4) + little(0, 2));
  const Finished run = run_program(
      {"solve", "blocks.dat", "printed.dat", "shape.npz", "good.dat", "--json"}, folder.path());
  EXPECT_EQ(run.code, 2) << run.err;
  const nlohmann::json all = nlohmann::json::parse(run.out);
  ASSERT_EQ(all.size(), 4U) << run.out << run.err;
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(all[k]["status"], "bad input") << all[k];
  EXPECT_EQ(all[3]["status"], "solved");
}

TEST(FirstWeek, ClosedOutputsAreNoCrash) {
  const Folder folder;
  write_file(folder / "s.toml", kSystem + kRun);
  for (const std::string arguments : {"run s.toml", "run none.toml", "gallery", "check s.toml"}) {
    const std::string command = std::string(testing::kProgram) + " " + arguments + " >&- 2>&-";
    EXPECT_LT(run_command({"sh", "-c", command}, folder.path()).code, 128) << arguments;
  }
}

TEST(FirstWeek, NamesOfFoldersStayBelowOut) {
  for (const std::string name : {"...toml", "..toml", "....toml"}) {
    const Folder folder;
    write_file(folder / name, kSystem + kRun);
    EXPECT_EQ(run_program({"run", name, "--error-bar", "none"}, folder.path()).code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder / "out/scene/summary.json")) << name;
  }
}

TEST(FirstWeek, RunsWithSetHaveFoldersOfTheirOwn) {
  const Folder folder;
  write_file(folder / "s.toml", kSystem + kRun);
  for (const std::string set : {"", "start.position.z=2", "contact.floor.keep=z >= 1/2"}) {
    std::vector<std::string> words = {"run", "s.toml", "--error-bar", "none"};
    if (!set.empty()) words.insert(words.end(), {"--set", set});
    const Finished run = run_program(words, folder.path());
    EXPECT_EQ(run.code, 0) << run.err;
  }
  for (const std::string name : {"s", "s,start.position.z=2", "s,contact.floor.keep=z__=_1_2"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / ("out/" + name + "/summary.json"))) << name;
  }
}

TEST(FirstWeek, ControlCharactersReachNobody) {
  for (const std::string what : {"title = \"a\\u001b[31mb\"\n", "title = \"a\\u009b31mb\"\n",
                                 "source = \"bell \\u0007\"\n", "\"a\\u001bb\" = 1\n"}) {
    const Tried run(what + kSystem + kRun, {"run"});
    EXPECT_EQ(run.code, 2) << what;
    EXPECT_TRUE(has(run.err, "control characters")) << run.err;
    EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
  }
  const Tried set(kSystem + kRun, {"run", "--set", "title=a\x1b[31mb"});
  EXPECT_EQ(set.code, 2);
  EXPECT_EQ((set.out + set.err).find('\x1b'), std::string::npos);
  const Tried lines("title = \"one\\ntwo\"\n" + kSystem + kRun, {"run", "--error-bar", "none"});
  EXPECT_EQ(lines.out.substr(0, 8), "one two\n") << lines.out;
}

TEST(FirstWeek, TwoRunsDoNotShareAFolder) {
  const Folder folder;
  write_file(folder / "s.toml", kSystem + kRun);
  std::filesystem::create_directories(folder / "out/s");
  const int other = ::open((folder / "out/s").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  const Finished refused = run_program({"run", "s.toml", "--error-bar", "none"}, folder.path());
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(has(refused.err, "another run is writing to out/s")) << refused.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder / "out/s"));
  const Finished gallery = run_program({"gallery", "essai-01", "--out", "out/s"}, folder.path());
  EXPECT_EQ(gallery.code, 2);
  EXPECT_TRUE(has(gallery.err, "another run is writing to out/s")) << gallery.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder / "out/s"));
  ::close(other);
  EXPECT_EQ(run_program({"run", "s.toml", "--error-bar", "none"}, folder.path()).code, 0);
}

TEST(FirstWeek, ReadingContactsTakesTimeInProportion) {
  const auto seconds = [](int discs) {
    std::string text = "[system]\ncoordinates = [\"x[1..N]\", \"y[1..N]\"]\nparameters = { N = " +
                       std::to_string(discs) + " }\nmass = { x = 1, y = 1 }\n";
    for (int i = 1; i <= discs; ++i) {
      for (int j = i + 1; j <= discs; ++j) {
        const std::string a = std::to_string(i), b = std::to_string(j);
        text += "[contact.c" + a + "_" + b + "]\nkeep = \"hypot(x[" + a + "] - x[" + b + "], y[" +
                a + "] - y[" + b + "]) >= 1\"\n";
      }
    }
    double least = 1e9;  // of three, since others may be at work on the machine
    for (int trial = 0; trial < 3; ++trial) {
      const Tried run(text + "[start]\nposition = { x = \"2*i\", y = 0 }\n" + kRun, {"check"});
      EXPECT_EQ(run.code, 0) << run.err.substr(0, 500);
      least = std::min(least, run.seconds);
    }
    return least;
  };
  const double few = seconds(57);           // 1596 contacts
  const double many = seconds(114);         // 6441
  EXPECT_LT(many, 8.0 * few + 0.2) << few;  // four times as many; squares would be 16 times
}

TEST(FirstWeek, TheReportBeginsWithWhatHappened) {
  const Tried lands(kSystem + kRun, {"run", "--error-bar", "none"});
  EXPECT_TRUE(has(lands.out, "Lands on 'floor' at t = 0.45")) << lands.out;
  // The k-th bounce is at sqrt(2/g) (1 + 2 e + 2 e^2 + ...), the last one at three times the first.
  std::string text = kSystem;
  text.replace(text.find("keep"), 4, "restitution = 0.5\nkeep");
  const Tried bounces(text + "[run]\nstep = 1e-3\nuntil = 2\n", {"run", "--error-bar", "none"});
  EXPECT_TRUE(has(bounces.out, "Lands on 'floor' at t = 0.45")) << bounces.out;
  EXPECT_TRUE(has(bounces.out, " times, rests from t = 1.3")) << bounces.out;
  const Tried short_run(kSystem + "[run]\nstep = 1e-3\nuntil = 0.1\n", {"run"});
  EXPECT_TRUE(has(short_run.out, "No contact is touched.")) << short_run.out;
}

/// A formatter of code had joined the lines of one.
TEST(FirstWeek, TablesOfRoomsAreTables) {
  int rows = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(testing::kSourceFolder) / "src/ricochet")) {
    if (entry.path().filename() != "README.md") continue;
    std::istringstream lines(read_file(entry.path()));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] != '|') continue;
      ++rows;
      EXPECT_EQ(line.back(), '|') << entry.path() << ": " << line;
      EXPECT_EQ(line.find("| |"), std::string::npos) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(rows, 100);
}

TEST(FirstWeek, NewWritesASceneWithFrictionAndRestitution) {
  const Folder folder;
  EXPECT_EQ(run_program({"new", "ball.toml"}, folder.path()).code, 0);
  const Finished again = run_program({"new", "ball.toml"}, folder.path());
  EXPECT_EQ(again.code, 2);
  EXPECT_EQ(again.err.find("--"), std::string::npos) << again.err;  // it has no options
  const Finished run = run_program({"run", "ball.toml", "--error-bar", "none"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(has(run.out, "Lands on 'floor' at t = 0.45")) << run.out;
  EXPECT_TRUE(has(run.out, "friction floor: stuck")) << run.out;
}

}  // namespace
}  // namespace ricochet::testing::first_week_test
