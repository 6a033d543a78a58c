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
#include "ricochet/step/structure_scheme.h"

namespace ricochet::testing {
namespace {

const std::filesystem::path kSource = RICOCHET_SOURCE_DIR;

/// What each room may include. `solve` knows no mechanics, `certify` no solver, and `problem`
/// no model.
const std::map<std::string, std::set<std::string>> kAllowed = {
    {"base", {}},
    {"convex", {"base"}},
    {"formula", {"base"}},
    {"model", {"base", "convex", "formula", "problem"}},
    {"structure", {"base", "convex", "formula"}},
    {"problem", {"base", "convex", "formula"}},
    {"solve", {"base", "convex", "formula", "problem"}},
    {"certify", {"base", "convex", "formula", "model", "structure", "problem"}},
    {"step", {"base", "convex", "formula", "model", "structure", "problem", "solve", "certify"}},
    {"scene",
     {"base", "convex", "formula", "model", "structure", "problem", "solve", "certify", "step"}},
    {"record",
     {"base", "convex", "formula", "model", "structure", "problem", "solve", "certify", "step"}},
    {"plot",
     {"base", "convex", "formula", "model", "structure", "problem", "solve", "certify", "step",
      "scene", "record"}},
    {"study",
     {"base", "convex", "formula", "model", "structure", "problem", "solve", "certify", "step",
      "scene", "record"}},
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

TEST(House, IncludesPointOneWay) {
  const std::regex include("#include \"ricochet/([a-z]+)/([a-z0-9_]+\\.h)\"");
  int seen = 0;
  for (const std::filesystem::path& file : files_of({"src/ricochet"}, {".h", ".cpp"})) {
    const std::string room = file.parent_path().filename().string();
    ASSERT_TRUE(kAllowed.contains(room)) << "a room without a place in the table: " << room;
    const std::string text = read_file(file);
    for (const std::smatch& match : all_matches(text, include)) {
      ++seen;
      const std::string other = match[1];
      EXPECT_TRUE(other == room || kAllowed.at(room).contains(other))
          << file << " includes " << other;
      EXPECT_TRUE(std::filesystem::exists(kSource / "src/ricochet" / other / std::string(match[2])))
          << match[0];
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(House, EveryRoomHasAReadmeAndAPlaceInTheMap) {
  const std::string map = read_file(kSource / "README.md");
  for (const auto& [room, others] : kAllowed) {
    EXPECT_TRUE(std::filesystem::exists(kSource / "src/ricochet" / room / "README.md")) << room;
    EXPECT_NE(map.find("src/ricochet/" + room + "/README.md"), std::string::npos) << room;
  }
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "src/ricochet")) {
    EXPECT_TRUE(kAllowed.contains(entry.path().filename().string())) << entry.path();
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
  names.emplace_back(step::kNewmark.name);
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
        if (own == "newmark") own = "structure_scheme";
        EXPECT_EQ(stem, own) << file << ": " << line;
        ++seen[name];
      }
    }
  }
  for (const std::string& name : names) EXPECT_EQ(seen[name], 1) << name;
}

TEST(House, TheLibraryDoesNotPrintAndAvoidsWhatTheWebBuildLacks) {
  const std::regex forbidden(
      "std::cout|std::cerr|fmt::print|\\bprintf|std::views|std::format|std::expected|"
      "<source_location>|<thread>|<ranges>");
  for (const std::filesystem::path& file : files_of({"src/ricochet"}, {".h", ".cpp"})) {
    const std::string text = read_file(file);
    for (const std::smatch& match : all_matches(text, forbidden)) {
      ADD_FAILURE() << file << ": " << match[0];
    }
    const bool touches_files = text.find("<filesystem>") != std::string::npos ||
                               text.find("<fstream>") != std::string::npos;
    const std::string name = file.filename().string();
    EXPECT_TRUE(!touches_files || name == "output_file.h" || name.ends_with("_file.cpp")) << file;
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

TEST(House, FunctionsStayShort) {
  Function longest;
  std::size_t seen = 0;
  for (const std::filesystem::path& file : files_of({"src", "apps", "python"}, {".h", ".cpp"})) {
    const std::vector<Function> functions = functions_of(read_file(file));
    seen += functions.size();
    for (const Function& function : functions) {
      if (function.lines > longest.lines) {
        longest = {file.string() + ": " + function.name, function.lines};
      }
    }
  }
  EXPECT_LE(longest.lines, 80) << longest.name;
  EXPECT_GT(seen, 300U);
}

}  // namespace
}  // namespace ricochet::testing
