// The documents: their scenes run, their printed outputs are what the program prints, their code is
// the code that is compiled.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "program.h"

namespace ricochet::testing::docs_test {
namespace {

const std::filesystem::path kSource = testing::kSourceFolder;

/// Blocks of a document between ```language and ```.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> found;
  const std::string open = "```" + language + "\n";
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    const std::size_t end = text.find("```", at);
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

/// Without the line that tells the time, which is never the same.
std::string without_time(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("time ", 0) != 0) kept += line + "\n";
  }
  return kept;
}

TEST(Docs, TheReadmeShowsWhatTheProgramPrints) {
  const std::string readme = read_file(kSource / "README.md");
  const Folder folder;
  write_file(folder / "wave.toml", blocks(readme, "toml").at(0));
  std::string shown = blocks(readme, "text").at(0);
  shown.erase(0, shown.find('\n') + 1);  // the command line
  const Finished run = run_program({"run", "wave.toml"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(without_time(run.out), without_time(shown));
}

TEST(Docs, EverySceneInTheGuideRuns) {
  int scenes = 0;
  for (const char* part : {"docs/guide", "docs/theory"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kSource / part)) {
      for (const std::string& block : blocks(read_file(entry.path()), "toml")) {
        if (block.find("[run]") == std::string::npos) continue;
        ++scenes;
        const Folder folder;
        write_file(folder / "scene.toml", block);
        const Finished run = run_program({"run", "scene.toml"}, folder.path());
        EXPECT_EQ(run.code, 0) << entry.path() << "\n" << run.err;
      }
    }
  }
  EXPECT_GE(scenes, 3);
}

// Every statement of the sources has its tests and scenes, and the page is made of their names.
TEST(Docs, TheTableOfCoverageIsCompleteAndUpToDate) {
  const std::string page = read_file(kSource / "docs/theory/coverage.md");
  EXPECT_EQ(page.find("missing:"), std::string::npos);
  if (run_command({"python3", "--version"}, kSource).code != 0) GTEST_SKIP() << "no python3";
  const Finished check = run_command({"python3", "tools/coverage-table", "--check"}, kSource);
  EXPECT_EQ(check.code, 0) << "run tools/coverage-table";
}

TEST(Docs, TheCppExampleIsTheOneThatIsCompiled) {
  const std::string guide = read_file(kSource / "docs/guide/cpp.md");
  EXPECT_EQ(blocks(guide, "cpp").at(0), read_file(kSource / "examples/pendulum.cpp"));
}

TEST(Docs, ThePictureIsDrawnByTheProgram) {
  const Folder folder;
  run_program({"run", (kSource / "scenes/essai-01.toml").string(), "--out", "o"}, folder.path());
  const std::string fresh = read_file(folder / "o/plot.svg");
  const std::string kept = read_file(kSource / "docs/pictures/essai-01.svg");
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(kept), lines(fresh)) << "run make docs";
  EXPECT_EQ(kept.substr(0, kept.find("<line")), fresh.substr(0, fresh.find("<line")))
      << "run make docs";
}

TEST(Docs, TheTableOfSchemesIsTheProgramsOwn) {
  const std::string guide = read_file(kSource / "docs/guide/impacts.md");
  const Finished told = run_program({"schemes"}, kSource);
  ASSERT_EQ(told.code, 0);
  EXPECT_NE(guide.find(told.out), std::string::npos) << "run make docs; the program says\n"
                                                     << told.out;
}

TEST(Docs, TheGuideNamesEveryKeyOfTheScenes) {
  const std::string guide = read_file(kSource / "docs/guide/scenes.md");
  for (const char* key : {"title",
                          "source",
                          "notes",
                          "coordinates",
                          "parameters",
                          "define",
                          "kinetic",
                          "mass",
                          "potential",
                          "force",
                          "keep",
                          "restitution",
                          "position",
                          "velocity",
                          "tolerance",
                          "scheme",
                          "step",
                          "until",
                          "steps",
                          "start_time",
                          "anticipation",
                          "correction",
                          "record",
                          "shock_speed",
                          "residual_limit",
                          "violation_limit",
                          "caption",
                          "columns",
                          "units",
                          "body",
                          "labels",
                          "x_range",
                          "y_range",
                          "equal",
                          "log",
                          "walls",
                          "at",
                          "marks",
                          "snapshots",
                          "kind",
                          "x_label",
                          "y_label"}) {
    EXPECT_NE(guide.find(fmt::format("`{}`", key)), std::string::npos) << key;
  }
}

/// What stands between "<!-- mark -->" and "<!-- end of mark -->".
std::string marked(const std::string& text, const std::string& mark) {
  const std::string open = "<!-- " + mark + " -->\n";
  const std::size_t begin = text.find(open) + open.size();
  return text.substr(begin, text.find("<!-- end of " + mark + " -->") - begin);
}

TEST(Docs, TheTableOfOrdersIsWhatTheProgramMeasures) {
  const std::string guide = read_file(kSource / "docs/guide/convergence.md");
  const Finished table =
      run_command({(kSource / "tools/convergence-table").string(), testing::kProgram}, kSource);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_EQ(marked(guide, "measured orders"), table.out) << "run make docs";
  EXPECT_GT(std::count(table.out.begin(), table.out.end(), '\n'), 5);
}

TEST(Docs, TheExampleOfConvergeIsWhatTheProgramPrints) {
  std::string shown = blocks(read_file(kSource / "docs/guide/convergence.md"), "text").at(0);
  const std::string line = shown.substr(0, shown.find('\n'));
  shown.erase(0, line.size() + 1);
  std::istringstream rest(line.substr(std::string("$ ricochet ").size()));
  std::vector<std::string> words;
  for (std::string word; rest >> word;) words.push_back(word);
  const Finished run = run_program(words, kSource);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, shown) << "run make docs";
}

TEST(Docs, TheExampleProgramRuns) {
  EXPECT_EQ(std::system((testing::kExample + std::string(" > /dev/null")).c_str()), 0);
}

}  // namespace
}  // namespace ricochet::testing::docs_test
