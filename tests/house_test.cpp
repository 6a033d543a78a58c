// The house itself: which way includes point, that citations exist, that rooms explain themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "program.h"
#include "ricochet/step/scheme.h"

namespace ricochet::testing::house_test {
namespace {

const std::filesystem::path kSource = testing::kSourceFolder;

/// What each room may include. `solve` knows no mechanics, `certify` no solver, `problem`
/// no model. No room knows `host`, which touches the machine.
const std::map<std::string, std::set<std::string>> kAllowed = {
    {"base", {}},
    {"convex", {"base"}},
    {"formula", {"base"}},
    {"shape", {"base"}},
    {"find", {"base", "shape"}},
    {"body", {"base", "convex", "shape", "find"}},
    {"model", {"base", "convex", "formula", "problem"}},
    {"structure", {"base", "convex", "formula", "problem", "model"}},
    {"problem", {"base", "convex", "formula"}},
    {"solve", {"base", "convex", "formula", "problem"}},
    {"certify", {"base", "convex", "formula", "shape", "body", "model", "problem"}},
    {"step",
     {"base", "convex", "formula", "body", "model", "structure", "problem", "solve", "certify"}},
    {"scene",
     {"base", "convex", "formula", "shape", "body", "model", "structure", "problem", "solve",
      "certify", "step"}},
    {"foreign", {"base", "convex", "formula", "shape"}},
    {"record",
     {"base", "convex", "formula", "body", "model", "structure", "problem", "solve", "certify",
      "step"}},
    {"plot",
     {"base", "convex", "formula", "shape", "body", "model", "structure", "problem", "solve",
      "certify", "step", "scene", "record"}},
    {"study",
     {"base", "convex", "formula", "body", "model", "structure", "problem", "solve", "certify",
      "step", "scene", "record"}},
    {"flow", {"base", "convex", "formula", "model"}},
    {"dynamics",
     {"base", "convex", "formula", "model", "structure", "problem", "solve", "certify", "step",
      "scene", "record", "plot", "flow"}},
    {"host",
     {"base", "convex", "formula", "model", "structure", "problem", "solve", "certify", "step",
      "scene", "record", "plot", "study"}},
};

std::vector<std::filesystem::path> files_of(const std::vector<std::string>& folders,
                                            const std::set<std::string>& endings) {
  std::vector<std::filesystem::path> files;
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / folder)) {
      if (endings.contains(entry.path().extension().string())) files.push_back(entry.path());
    }
  }
  return files;
}

std::vector<std::smatch> all_matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

/// Every `#include "ricochet/room/header.h"` of a text, as room and header.
std::vector<std::pair<std::string, std::string>> includes_of(const std::string& text) {
  static const std::regex include("#include \"ricochet/([a-z]+)/([a-z0-9_]+\\.h)\"");
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::smatch& match : all_matches(text, include)) {
    found.emplace_back(match[1].str(), match[2].str());
  }
  return found;
}

TEST(House, IncludesPointOneWay) {
  int seen = 0;
  for (const std::filesystem::path& file : files_of({"src/ricochet"}, {".h", ".cpp"})) {
    const std::string room = file.parent_path().filename().string();
    ASSERT_TRUE(kAllowed.contains(room)) << "a room without a place in the table: " << room;
    for (const auto& [other, header] : includes_of(read_file(file))) {
      ++seen;
      EXPECT_TRUE(other == room || kAllowed.at(room).contains(other))
          << file << " includes " << other;
      EXPECT_TRUE(std::filesystem::exists(kSource / "src/ricochet" / other / header))
          << other << "/" << header;
    }
  }
  EXPECT_GT(seen, 100);
}

/// Which headers include which, as "room/header.h".
using Includes = std::map<std::string, std::set<std::string>>;

/// A way from `name` back to itself, as "a b a"; empty when there is none. `done` collects what is
/// on no such way.
std::string circle_from(const std::string& name, const Includes& includes,
                        std::vector<std::string>& way, std::set<std::string>& done) {
  if (done.contains(name)) return "";
  const auto before = std::find(way.begin(), way.end(), name);
  if (before != way.end()) {
    std::string circle;
    for (auto at = before; at != way.end(); ++at) circle += *at + " ";
    return circle + name;
  }
  way.push_back(name);
  if (const auto found = includes.find(name); found != includes.end()) {
    for (const std::string& next : found->second) {
      const std::string circle = circle_from(next, includes, way, done);
      if (!circle.empty()) return circle;
    }
  }
  way.pop_back();
  done.insert(name);
  return "";
}

std::string circle_in(const Includes& includes) {
  std::set<std::string> done;
  for (const auto& [name, others] : includes) {
    std::vector<std::string> way;
    const std::string circle = circle_from(name, includes, way, done);
    if (!circle.empty()) return circle;
  }
  return "";
}

TEST(House, NoIncludeCircle) {
  EXPECT_EQ(circle_in({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {"d"}}}), "");
  EXPECT_EQ(circle_in({{"a", {"b"}}, {"b", {"c", "d"}}, {"d", {"b"}}}), "b d b");
  Includes headers;
  Includes rooms;
  for (const std::filesystem::path& file : files_of({"src/ricochet"}, {".h", ".cpp"})) {
    const std::string room = file.parent_path().filename().string();
    for (const auto& [other, header] : includes_of(read_file(file))) {
      if (other != room) rooms[room].insert(other);
      if (file.extension() != ".h") continue;
      headers[room + "/" + file.filename().string()].insert(other + "/" + header);
    }
  }
  EXPECT_GT(headers.size(), 100U);
  EXPECT_EQ(circle_in(headers), "");
  EXPECT_EQ(circle_in(rooms), "");
}

/// README's table of rooms: a line `| [room](...) | what it knows | rooms it includes |` each.
std::vector<std::pair<std::string, std::set<std::string>>> rooms_of_readme() {
  const std::string readme = read_file(kSource / "README.md");
  const std::regex line(
      "\\| \\[([a-z]+)\\]\\(src/ricochet/([a-z]+)/README\\.md\\) \\| [^|\n]+ \\| ([a-z, ]*)\\|");
  const std::regex word("[a-z]+");
  std::vector<std::pair<std::string, std::set<std::string>>> rooms;
  for (const std::smatch& match : all_matches(readme, line)) {
    EXPECT_EQ(match[1], match[2]);
    const std::string list = match[3];
    std::set<std::string> others;
    for (const std::smatch& other : all_matches(list, word)) others.insert(other[0]);
    rooms.emplace_back(match[1], others);
  }
  return rooms;
}

TEST(House, TheTableInReadmeIsTheCode) {
  Includes includes;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "src/ricochet")) {
    includes[entry.path().filename().string()];
  }
  for (const std::filesystem::path& file : files_of({"src/ricochet"}, {".h", ".cpp"})) {
    const std::string room = file.parent_path().filename().string();
    for (const auto& [other, header] : includes_of(read_file(file))) {
      if (other != room) includes[room].insert(other);
    }
  }
  std::set<std::string> above;
  const auto table = rooms_of_readme();
  for (const auto& [room, others] : table) {
    ASSERT_TRUE(includes.contains(room)) << "README has a room that is not there: " << room;
    std::string list;
    for (const std::string& other : includes.at(room)) list += (list.empty() ? "" : ", ") + other;
    EXPECT_EQ(others, includes.at(room))
        << "the line of '" << room << "' in README should say: " << list;
    for (const std::string& other : others) {
      EXPECT_TRUE(above.contains(other)) << room << " includes " << other << ", which is below it";
    }
    EXPECT_TRUE(above.insert(room).second) << room << " has two lines";
  }
  EXPECT_EQ(table.size(), includes.size()) << "every room has a line";
}

TEST(House, EveryRoomHasAReadme) {
  for (const auto& [room, others] : kAllowed) {
    EXPECT_TRUE(std::filesystem::exists(kSource / "src/ricochet" / room / "README.md")) << room;
  }
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "src/ricochet")) {
    EXPECT_TRUE(kAllowed.contains(entry.path().filename().string())) << entry.path();
  }
}

/// Program, Python module, benchmarks and tests stand on the library, not on each other.
TEST(House, NobodyUsesTheSourcesOfTheProgram) {
  auto files = files_of({"src", "python", "bench", "tests", "examples"}, {".h", ".cpp", ".txt"});
  for (const std::filesystem::path& file : files) {
    if (file.filename() == "house_test.cpp") continue;
    EXPECT_EQ(read_file(file).find("apps/"), std::string::npos) << file;
  }
  for (const std::filesystem::path& file : files_of({"apps", "python"}, {".h", ".cpp"})) {
    const std::string text = read_file(file);
    for (const std::smatch& match : all_matches(text, std::regex("#include \"([^\"]+)\""))) {
      const std::string name = match[1];
      EXPECT_TRUE(name.starts_with("ricochet/") ||
                  std::filesystem::exists(file.parent_path() / name))
          << file << ": " << name;
      EXPECT_EQ(name.find(".."), std::string::npos) << file << ": " << name;
    }
  }
}

TEST(House, EveryCitationHasAReference) {
  const std::string library = read_file(kSource / "docs/references.bib");
  const std::regex citation("\\[([A-Z][a-z]+) ([0-9]{4})[^\\]]*\\]");
  int seen = 0;
  auto files =
      files_of({"src", "docs", "apps", "bench", "examples", "python"}, {".h", ".cpp", ".md"});
  files.push_back(kSource / "README.md");
  for (const std::filesystem::path& file : files) {
    const std::string text = read_file(file);
    for (const std::smatch& match : all_matches(text, citation)) {
      std::string key = match[1].str() + match[2].str();
      if (key.rfind("Author", 0) == 0) continue;  // the form itself
      key[0] = static_cast<char>(std::tolower(key[0]));
      EXPECT_NE(library.find("{" + key + ","), std::string::npos) << file << ": " << match[0];
      ++seen;
    }
  }
  EXPECT_GT(seen, 20);
}

TEST(House, LinksOfTheDocumentsLeadSomewhere) {
  const std::regex link("\\]\\(([^)#: ]+)\\)");
  int seen = 0;
  auto files = files_of({"src", "docs"}, {".md"});
  for (const char* name : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"})
    files.push_back(kSource / name);
  for (const std::filesystem::path& file : files) {
    const std::string text = read_file(file);
    for (const std::smatch& match : all_matches(text, link)) {
      EXPECT_TRUE(std::filesystem::exists(file.parent_path() / match[1].str()))
          << file << ": " << match[1];
      ++seen;
    }
  }
  EXPECT_GT(seen, 30);
}

TEST(House, SchemesAreNamedInTheirOwnFilesOnly) {
  // The experiments of the gallery say by which scheme they are run, as scenes do; the examples in
  // Python's documentation too.
  std::vector<std::string> names = step::scheme_names();
  for (const std::string& name : step::scheme_names(true)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  auto files = files_of({"src/ricochet", "apps", "python/bindings"}, {".h", ".cpp"});
  for (const auto& file : files_of({"python/src"}, {".py"})) files.push_back(file);
  std::map<std::string, int> seen;
  for (const std::filesystem::path& file : files) {
    const std::string stem = file.stem().string();
    if (stem.starts_with("gallery")) continue;
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
      const bool is_comment = line.find("///") != std::string::npos;
      const bool is_example = line.find(">>>") != std::string::npos ||
                              line.find("    ...") != std::string::npos ||
                              line.find("``") != std::string::npos;
      if (is_comment || is_example) continue;
      for (const std::string& name : names) {
        if (line.find("\"" + name + "\"") == std::string::npos) continue;
        std::string own = name;
        std::replace(own.begin(), own.end(), '-', '_');
        EXPECT_EQ(stem, own) << file << ": " << line;
        ++seen[name];
      }
    }
  }
  for (const std::string& name : names) EXPECT_EQ(seen[name], 1) << name;
}

TEST(House, TheLibraryDoesNotPrintAndAvoidsWhatTheWebBuildLacks) {
  const std::regex printing("std::cout|std::cerr|fmt::print|\\bprintf");
  const std::regex missing(
      "std::views|std::format|std::expected|<source_location>|<ranges>|<thread>|<filesystem>|"
      "<fstream>|<csignal>|<signal.h>|<hdf5.h>");
  for (const std::filesystem::path& file : files_of({"src/ricochet"}, {".h", ".cpp"})) {
    const std::string text = read_file(file);
    for (const std::smatch& match : all_matches(text, printing)) {
      ADD_FAILURE() << file << ": " << match[0];
    }
    if (file.parent_path().filename() == "host") continue;  // not part of a web build
    for (const std::smatch& match : all_matches(text, missing)) {
      ADD_FAILURE() << file << ": " << match[0];
    }
  }
}

/// A function of a text, by the first line of its signature.
struct Function {
  std::string name;
  int lines{0};  // signature, initialisers and body
};

/// The functions of a formatted source. A declaration begins at the indentation of its scope and
/// goes on, over several lines maybe, to a line that ends in ';', '{' or '}'. With a bracket in it
/// and a '{' at its end it is a function, whose own '}' is the first one at its indentation.
std::vector<Function> functions_of(const std::string& text) {
  const std::regex passed_over("\\s*(//.*|#.*|(public|protected|private):|\\}.*)?");
  const std::regex scope("\\s*(template <.*> )?(namespace|struct|class|enum|union|extern)\\b.*");
  std::vector<Function> functions;
  std::istringstream lines(std::regex_replace(text, std::regex("\\\\\n"), " "));  // macros: a line
  std::string declaration;  // so far; empty between declarations
  std::string end;          // line that ends the function being read; empty outside functions
  Function now;
  for (std::string line; std::getline(lines, line);) {
    if (!end.empty()) {
      ++now.lines;
      if (line.compare(0, end.size(), end) != 0) continue;
      functions.push_back(now);
      end.clear();
      continue;
    }
    if (declaration.empty()) {
      if (std::regex_match(line, passed_over)) continue;
      now = {line, 0};
    }
    ++now.lines;
    line = std::regex_replace(line, std::regex("\\s*//.*$"), "");
    declaration += line + " ";
    const char last = line.empty() ? ' ' : line.back();
    if (last != ';' && last != '{' && last != '}') continue;
    const bool is_function = last == '{' && declaration.find('(') != std::string::npos &&
                             !std::regex_match(declaration, scope);
    if (is_function) end = now.name.substr(0, now.name.find_first_not_of(' ')) + "}";
    declaration.clear();
  }
  return functions;
}

TEST(House, FunctionsAreFoundAndMeasured) {
  const std::string text = R"source(
namespace house {
constexpr int kRooms = 3;
#define DOORS(X) \
  X(front)       \
  X(back)

struct Room : Part<int (*)(int)> {
  explicit Room(int doors, int windows)
      : doors_(doors),
        windows_(windows) {
    open();
  }
  int doors() const { return doors_; }
  void open();

 private:
  template <class Visitor>
  void visit(const std::vector<std::string>& names,  // a comment;

             Visitor&& visitor) const noexcept {
    for (const auto& name : names) {
      visitor(name);
    }
  }
  struct Wall {
    Wall(int height)
        : height_(height) {
      build();
    }
    int height_{0};
  };
  int doors_{0};
};

std::vector<int> count_everything(
    const Room& first,
    const Room& second) {
  return {};
}

}  // namespace house
)source";
  std::vector<int> lengths;
  for (const Function& function : functions_of(text)) lengths.push_back(function.lines);
  EXPECT_EQ(lengths, (std::vector<int>{5, 8, 4, 5}));
}

/// Files that are still over a limit, with the lines they may have: the sizes may only shrink, and
/// a file that keeps the limit leaves the list.
using Exceptions = std::map<std::string, int>;

/// Expects `lines` of each file to be within `limit`, but for the exceptions.
void expect_within(int limit, const std::map<std::string, int>& lines,
                   const Exceptions& exceptions) {
  for (const auto& [file, count] : lines) {
    const auto found = exceptions.find(file);
    EXPECT_LE(count, found == exceptions.end() ? limit : found->second) << file;
  }
  for (const auto& [file, allowed] : exceptions) {
    const auto found = lines.find(file);
    EXPECT_TRUE(found != lines.end() && found->second > limit)
        << file << " needs no exception any more: take it off the list";
  }
}

std::string place_in_house(const std::filesystem::path& file) {
  return std::filesystem::relative(file, kSource).string();
}

std::map<std::string, int> lines_of(const std::vector<std::filesystem::path>& files) {
  std::map<std::string, int> lines;
  for (const std::filesystem::path& file : files) {
    const std::string text = read_file(file);
    lines[place_in_house(file)] = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }
  return lines;
}

TEST(House, HeadersStayShort) {
  const Exceptions exceptions = {};
  const auto lines = lines_of(files_of({"src", "apps", "python", "bench", "tests"}, {".h"}));
  EXPECT_GT(lines.size(), 150U);
  expect_within(400, lines, exceptions);
}

TEST(House, SourcesStayShort) {
  const Exceptions exceptions = {};
  const auto lines = lines_of(files_of({"src/ricochet"}, {".h", ".cpp", ".in", ".js"}));
  EXPECT_GT(lines.size(), 300U);
  expect_within(700, lines, exceptions);
}

TEST(House, FunctionsStayShort) {
  const Exceptions exceptions = {};
  std::map<std::string, int> longest;
  std::size_t seen = 0;
  for (const std::filesystem::path& file : files_of({"src", "apps", "python"}, {".h", ".cpp"})) {
    int& most = longest[place_in_house(file)];
    for (const Function& function : functions_of(read_file(file))) {
      most = std::max(most, function.lines);
      ++seen;
    }
  }
  EXPECT_GT(seen, 1000U);
  expect_within(60, longest, exceptions);
}

}  // namespace
}  // namespace ricochet::testing::house_test
