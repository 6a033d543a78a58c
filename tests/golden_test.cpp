// Trajectories keep their bits: every golden run against its line (tests/golden).

#include "golden/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "program.h"
#include "ricochet/step/scheme.h"
#include "ricochet/study/builtin_scenes.h"

namespace ricochet::golden::golden_test {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(testing::kSourceFolder) / "tests/golden";

/// The golden file of this machine; where there is none, another one.
std::filesystem::path golden_file() {
  const std::filesystem::path own = kFolder / (platform() + ".txt");
  if (std::filesystem::exists(own)) return own;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".txt") files.insert(entry.path());
  }
  return files.empty() ? own : *files.begin();
}

Line a_line() { return {"run", "inel", "ok", 3, 0xabcULL, {1.0, 0.1, -2.0 / 3.0}}; }

// FNV-1a of "", "a" and "foobar", printed by its authors.
TEST(Golden, HashIsThatOfItsAuthors) {
  const auto hash_of = [](const std::string& text) {
    Hash hash;
    for (const char c : text) hash.add(static_cast<unsigned char>(c));
    return hash.value();
  };
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8ULL);
}

TEST(Golden, HashSeesTheLastBitAndTheSignOfZero) {
  const auto hash_of = [](double number) {
    Hash hash;
    hash.add(number);
    return hash.value();
  };
  EXPECT_NE(hash_of(1.0), hash_of(std::nextafter(1.0, 2.0)));
  EXPECT_NE(hash_of(0.0), hash_of(-0.0));
}

TEST(Golden, LinesAreReadAsTheyAreWritten) {
  const std::vector<Line> read = read_lines(to_text({a_line()}));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(compare({read[0], 1.0}, a_line(), Likeness::Bits), "");
  EXPECT_THROW(read_lines("run\tinel\tok\n"), std::runtime_error);
}

TEST(Golden, AnyDifferenceIsToldOfBits) {
  const Measured now{a_line(), 1.0};
  std::vector<Line> others(7, a_line());
  others[0].hash ^= 1;
  others[1].rows = 4;
  others[2].status = "zeno";
  others[3].scheme = "elast";
  others[4].last[2] = std::nextafter(others[4].last[2], 0.0);
  others[5].last.pop_back();
  others[6].last[0] = std::nextafter(others[6].last[0], 0.0);
  for (const Line& other : others) EXPECT_NE(compare(now, other, Likeness::Bits), "");
}

TEST(Golden, ElsewhereEndsMayDifferByNineDigits) {
  const Measured now{a_line(), 100.0};
  Line other = a_line();
  other.hash ^= 1;
  other.last[1] += 0.9e-7;
  EXPECT_EQ(compare(now, other, Likeness::Digits), "");
  other.last[1] += 0.2e-7;
  EXPECT_NE(compare(now, other, Likeness::Digits), "");
  other = a_line();
  other.last[0] += 1e-8;  // the time, whose size is its own
  EXPECT_NE(compare(now, other, Likeness::Digits), "");
  other = a_line();
  other.last[1] = std::nan("");
  EXPECT_NE(compare(now, other, Likeness::Digits), "");
}

TEST(Golden, RunsAndLinesMissingOnOneSideAreNamed) {
  EXPECT_TRUE(unmatched({{"run"}}, {a_line()}).empty());
  EXPECT_EQ(unmatched({{"run"}, {"other"}}, {a_line()}).size(), 1u);
  EXPECT_EQ(unmatched({}, {a_line()}).size(), 1u);
  EXPECT_EQ(unmatched({{"run"}, {"run"}}, {a_line()}).size(), 1u);
}

TEST(Golden, EverySceneAndEverySchemeIsAmongTheRuns) {
  std::set<std::string> names;
  for (const Line& line : read_lines(testing::read_file(golden_file()))) {
    names.insert(line.name.substr(0, line.name.find(' ')) + " " + line.scheme);
  }
  for (const study::BuiltinScene& scene : study::builtin_scenes()) {
    const std::size_t at = scene.text.find("\nscheme ");
    const std::size_t quote = scene.text.find('"', at) + 1;
    const std::string scheme = at == std::string::npos
                                   ? step::name_of(step::default_scheme(false))
                                   : scene.text.substr(quote, scene.text.find('"', quote) - quote);
    EXPECT_TRUE(names.contains(scene.name + " " + scheme)) << scene.name << " " << scheme;
  }
  for (const std::string& scheme : step::scheme_names()) {
    EXPECT_TRUE(names.contains("template " + scheme)) << scheme;
  }
  for (const std::string& scheme : step::scheme_names(true)) {
    EXPECT_TRUE(names.contains("tube-10 " + scheme)) << scheme;
  }
}

TEST(Golden, RunsAreWhatTheirLinesSay) {
  const std::filesystem::path file = golden_file();
  ASSERT_TRUE(std::filesystem::exists(file)) << file << ": write it with make golden";
  const std::vector<Line> lines = read_lines(testing::read_file(file));
  const std::vector<golden::Run> runs = golden_runs();
  for (const std::string& words : unmatched(runs, lines)) ADD_FAILURE() << file << ": " << words;
#ifdef RICOCHET_SANITIZED
  const bool same_code = false;  // compiled with other options
#else
  const bool same_code = true;
#endif
  const Likeness likeness =
      file.stem() == platform() && same_code ? Likeness::Bits : Likeness::Digits;
  std::map<std::string, Line> kept;
  for (const Line& line : lines) kept[line.name] = line;
  for (const golden::Run& run : runs) {
    const auto line = kept.find(run.name());
    if (line == kept.end()) continue;
    const std::string words = compare(measure(run), line->second, likeness);
    EXPECT_TRUE(words.empty()) << words;
  }
}

}  // namespace
}  // namespace ricochet::golden::golden_test
