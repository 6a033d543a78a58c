// Pages: reports that need nothing else, a gallery whose links and pictures are there, and both in
// a browser without complaint.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "browser.h"
#include "program.h"

namespace ricochet::testing::page_test {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = testing::kSourceFolder;

#ifdef RICOCHET_SANITIZED
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

std::string scene(const std::string& name) {
  return (kSource / "scenes" / (name + ".toml")).string();
}

/// What the k-th animation of a page moves by.
nlohmann::json animation_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\">";
  const std::size_t begin = page.find(open);
  if (begin == std::string::npos) return {};
  const std::size_t end = page.find("</script>", begin);
  return nlohmann::json::parse(page.substr(begin + open.size(), end - begin - open.size()));
}

/// Addresses of a page: href and src.
std::set<std::string> addresses_of(const std::string& page) {
  std::set<std::string> addresses;
  const std::regex pattern("(href|src)=\"([^\"]*)\"");
  for (std::sregex_iterator at(page.begin(), page.end(), pattern), end; at != end; ++at) {
    addresses.insert((*at)[2]);
  }
  return addresses;
}

void expect_nothing_from_elsewhere(const std::string& page) {
  for (const std::string& address : addresses_of(page)) {
    if (address.starts_with("data:")) continue;
    EXPECT_EQ(address.find("//"), std::string::npos) << address;
  }
  EXPECT_EQ(page.find("@import"), std::string::npos);
  EXPECT_EQ(count(page, "http"), count(page, "http://www.w3.org/2000/svg"));
}

TEST(Report, HasEverythingInIt) {
  const Folder folder;
  const Finished run =
      run_program({"run", scene("essai-01"), "--out", "o", "--report"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("report.html"), std::string::npos);
  const std::string page = read_file(folder / "o/report.html");
  expect_nothing_from_elsewhere(page);
  EXPECT_EQ(count(page, "<figure class=\"picture\">"), 3);
  EXPECT_EQ(count(page, "class=\"player\""), 1);
  EXPECT_NE(page.find("All 2000 steps were recomputed"), std::string::npos);
  EXPECT_NE(page.find("<th scope=\"row\">work of forces</th>"), std::string::npos);
  EXPECT_NE(page.find("keep = &quot;y &gt;= depth*sin(2*pi*x/wavelength)&quot;"),
            std::string::npos);
  EXPECT_NE(page.find("class=\"verdict agrees\""), std::string::npos);
  EXPECT_NE(page.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(page.find("<noscript>"), std::string::npos);
  EXPECT_NE(page.find("steps a second"), std::string::npos);
}

TEST(Report, TheAnimationIsTheRun) {
  const Folder folder;
  run_program({"run", scene("essai-01"), "--out", "o", "--report"}, folder.path());
  const nlohmann::json data = animation_of(read_file(folder / "o/report.html"));
  const auto summary = nlohmann::json::parse(read_file(folder / "o/summary.json"));
  const std::size_t frames = data.at("t").size();
  EXPECT_GT(frames, 500U);
  EXPECT_LE(frames, 1801U);
  EXPECT_EQ(data.at("p").size(), frames);
  EXPECT_EQ(data.at("a").size(), frames);
  EXPECT_EQ(data.at("t").front(), 0.0);
  EXPECT_NEAR(data.at("t").back(), 2.0, 1e-9);
  EXPECT_EQ(data.at("shocks").size(), summary.at("shocks").at("instants").size());
  const auto& box = data.at("box");
  std::size_t pushing = 0;
  for (std::size_t k = 0; k < frames; ++k) {
    const auto& p = data.at("p").at(k);
    EXPECT_GE(p.at(0).get<double>(), box.at(0).get<double>());
    EXPECT_LE(p.at(0).get<double>(), box.at(0).get<double>() + box.at(2).get<double>());
    const auto& push = data.at("a").at(k);
    pushing += push.empty() ? 0 : 1;
    if (push.empty()) continue;
    ASSERT_EQ(push.size(), 4U);
    EXPECT_LT(push.at(3).get<double>(), push.at(1).get<double>()) << "the wall pushes upwards";
  }
  EXPECT_EQ(pushing, data.at("shocks").size()) << "each bounce is one push";
}

TEST(Report, BodiesAndMovingWallsMove) {
  const Folder folder;
  run_program({"run", scene("essai-08"), "--out", "rod", "--report"}, folder.path());
  const nlohmann::json rod = animation_of(read_file(folder / "rod/report.html"));
  ASSERT_EQ(rod.at("b").size(), rod.at("t").size());
  EXPECT_EQ(rod.at("parts").at(0).at("kind"), "line");
  for (const auto& ends : rod.at("b")) EXPECT_EQ(ends.size(), 4U);
  EXPECT_TRUE(rod.at("w").empty());
  run_program({"run", scene("moving-box"), "--out", "box", "--report"}, folder.path());
  const nlohmann::json box = animation_of(read_file(folder / "box/report.html"));
  ASSERT_EQ(box.at("w").size(), box.at("t").size());
  EXPECT_NE(box.at("w").at(0), box.at("w").at(40));
}

TEST(Report, SaysWhenARunFailedAndWhenThereIsNothingToShow) {
  const Folder folder;
  const Finished run = run_program(
      {"run", scene("essai-05"), "--out", "o", "--report", "--set", "run.violation_limit=1e-6"},
      folder.path());
  EXPECT_EQ(run.code, 1);
  const std::string page = read_file(folder / "o/report.html");
  EXPECT_NE(page.find("The run was stopped at t = "), std::string::npos);
  EXPECT_NE(page.find("class=\"status differs\""), std::string::npos);
  run_program({"run", scene("essai-04"), "--out", "n", "--report", "--set", "run.record=0"},
              folder.path());
  EXPECT_EQ(count(read_file(folder / "n/report.html"), "class=\"picture\""), 3);
}

TEST(Report, OfAFamilyHasItsMembersAndTheirEnds) {
  const Folder folder;
  const Finished run = run_program(
      {"run", scene("essai-04"), "--out", "o", "--report", "--set", "family.R=[30, 35, 40]"},
      folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const std::string page = read_file(folder / "o/report.html");
  expect_nothing_from_elsewhere(page);
  for (const char* file : {"trajectory-001.csv", "trajectory-003.csv"}) {
    EXPECT_NE(page.find(std::string("href=\"") + file), std::string::npos);
    EXPECT_TRUE(fs::exists(folder / "o" / file));
  }
  // A dot for each member, in the panels of x and of y at the end.
  const std::regex dots("<path class=\"curve dots few s0\" d=\"([^\"]*)\"");
  int panels = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), dots), end; at != end; ++at, ++panels) {
    EXPECT_EQ(count((*at)[1], "M"), 3);
  }
  EXPECT_EQ(panels, 2);
}

TEST(Report, ShowsAParticleInSpaceAndOneOnALine) {
  const Folder folder;
  run_program({"run", scene("essai-06"), "--out", "o", "--report", "--quiet"}, folder.path());
  const std::string space = read_file(folder / "o/report.html");
  ASSERT_NE(space.find("<div class=\"space\""), std::string::npos);
  const auto data = animation_of(space.substr(space.find("<div class=\"space\"")));
  EXPECT_EQ(data["q"].size(), 3 * data["t"].size());
  EXPECT_GE(data["walls"].size(), 3U);
  run_program({"run", scene("dropped-ball"), "--out", "b", "--report", "--quiet"}, folder.path());
  const auto ball = animation_of(read_file(folder / "b/report.html"));
  EXPECT_EQ(ball["trail"], false);
  double left = 1e9;
  double right = -1e9;
  double top = 1e9;
  double bottom = -1e9;
  for (const auto& p : ball["p"]) {
    left = std::min<double>(left, p[0]);
    right = std::max<double>(right, p[0]);
    top = std::min<double>(top, p[1]);
    bottom = std::max<double>(bottom, p[1]);
  }
  // Its coordinate is x: it lies, and nothing moves across it.
  EXPECT_GT(right - left, 100.0);
  EXPECT_EQ(bottom - top, 0.0);
}

TEST(Report, CanBeLightOrDark) {
  const Folder folder;
  run_program({"run", scene("corner"), "--out", "o", "--report", "--quiet"}, folder.path());
  const std::string page = read_file(folder / "o/report.html");
  EXPECT_NE(page.find("class=\"theme\""), std::string::npos);
  EXPECT_NE(page.find(":root[data-theme=\"dark\"] .rico .s0 { stroke: #5eb5ec }"),
            std::string::npos);
  EXPECT_NE(page.find(":root[data-theme=\"light\"] .rico .s0 { stroke: #0072b2 }"),
            std::string::npos);
}

TEST(Report, ALaterRunWithoutOneRemovesIt) {
  const Folder folder;
  run_program({"run", scene("corner"), "--out", "o", "--report"}, folder.path());
  EXPECT_TRUE(fs::exists(folder / "o/report.html"));
  run_program({"run", scene("corner"), "--out", "o"}, folder.path());
  EXPECT_FALSE(fs::exists(folder / "o/report.html"));
}

class GalleryPages : public ::testing::Test {
 protected:
  static const Finished& made() { return shared_gallery().made; }
  static const fs::path& root() { return shared_gallery().folder; }
};

void expect_plates(const fs::path& root);

TEST_F(GalleryPages, EveryLinkPictureAndPlateIsThere) {
  EXPECT_EQ(made().code, 0) << made().err;
  if (!kSlow) {
    EXPECT_NE(made().out.find("Open g/index.html in a browser."), std::string::npos);
  }
  int pages = 0;
  int pictures = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root())) {
    if (entry.path().extension() != ".html") continue;
    ++pages;
    const std::string page = read_file(entry.path());
    expect_nothing_from_elsewhere(page);
    for (const std::string& address : addresses_of(page)) {
      if (address.empty() || address[0] == '#' || address.rfind("data:", 0) == 0) continue;
      if (kSlow && address == "../index.html") continue;
      const fs::path target = entry.path().parent_path() / address;
      EXPECT_TRUE(fs::exists(target)) << entry.path() << ": " << address;
      if (target.extension() != ".svg") continue;
      ++pictures;
      const std::string svg = read_file(target);
      EXPECT_EQ(svg.rfind("<svg", 0), 0U) << target;
      const bool is_chart = svg.find("class=\"frame\"") != std::string::npos;  // of a structure
      EXPECT_TRUE(is_chart || svg.find("class=\"panel\"") != std::string::npos) << target;
      EXPECT_EQ(svg.find("nan"), std::string::npos) << target;
    }
  }
  EXPECT_GE(pages, kSlow ? 2 : 40);
  EXPECT_GE(pictures, kSlow ? 1 : 40);
  if (!kSlow) expect_plates(root());
}

/// Ten plates, with facts beside them.
void expect_plates(const fs::path& root) {
  const std::map<int, std::pair<std::string, int>> panels = {
      {1, {"essai-01", 2}}, {2, {"essai-01", 1}}, {3, {"essai-02", 2}}, {4, {"essai-03", 2}},
      {5, {"essai-04", 0}}, {6, {"essai-05", 0}}, {7, {"essai-06", 2}}, {8, {"essai-07", 2}},
      {9, {"essai-07", 2}}, {10, {"essai-08", 2}}};
  for (const auto& [number, expected] : panels) {
    const std::string name =
        "plate-" + std::string(number < 10 ? "0" : "") + std::to_string(number);
    const std::string svg = read_file(root / "plates" / (name + ".svg"));
    EXPECT_EQ(count(svg, "class=\"panel\""), expected.second) << name;
    EXPECT_NE(svg.find("Plate " + std::to_string(number) + ":"), std::string::npos);
    const std::string page = read_file(root / expected.first / "index.html");
    const std::size_t at = page.find("id=\"" + name + "\"");
    ASSERT_NE(at, std::string::npos) << name;
    const std::size_t next = page.find("<h2", at);
    EXPECT_GE(count(page.substr(at, next - at), "class=\"verdict agrees\""), 1) << name;
  }
  const std::string table = read_file(root / "plates/plate-05.svg");
  EXPECT_NE(table.find(">11.88134 =<"), std::string::npos);  // A_V = 0 at t = 1, as printed
}

/// What a page is asked in the browser: pictures that did not load, whether it scrolls sideways,
/// whether playing and keys move the animation.
constexpr const char* kProbe = R"js((async function () {
  const images = Array.from(document.images);
  images.forEach(function (i) { i.loading = "eager"; });
  await Promise.all(images.map(function (i) { return i.decode().catch(function () {}); }));
  const found = { images: images.length, players: 0,
    broken: images.filter(function (i) { return !i.naturalWidth; }).map(function (i) { return i.src; }),
    pictures: Array.from(document.querySelectorAll("svg.rico")).filter(function (s) {
      return s.getBoundingClientRect().width > 100; }).length,
    wide: document.documentElement.scrollWidth > innerWidth + 1 };
  const canvas = document.querySelector(".bodies canvas, .solids canvas");
  if (canvas) {
    const blank = document.createElement("canvas");
    blank.width = canvas.width; blank.height = canvas.height;
    const first = canvas.toDataURL();
    found.drawn = canvas.width > 100 && first !== blank.toDataURL();
    const scrub = document.querySelector(".bodies .scrub, .solids .scrub");
    scrub.value = scrub.max; scrub.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise(function (go) { setTimeout(go, 200); });
    found.moved = canvas.toDataURL() !== first;
  }
  const player = document.querySelector(".player");
  if (!player) return found;
  found.players = 1;
  const dot = player.querySelector(".dot");
  const place = function () { return dot.getAttribute("cx") + "," + dot.getAttribute("cy"); };
  const start = place();
  const key = function (k) { player.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true })); };
  key("End"); found.end = Number(player.dataset.time); found.key_moved = place() !== start;
  key("Home"); found.home = Number(player.dataset.time); found.back = place() === start;
  player.querySelector(".play").click();
  for (let waited = 0; waited < 100 && place() === start; ++waited) {
    await new Promise(function (go) { setTimeout(go, 100); });
  }
  found.played = Number(player.dataset.time) - found.home;
  found.moved = place() !== start;
  key(" ");
  found.paused = player.querySelector(".play").getAttribute("aria-label") === "Play";
  return found;
})())js";

#define NEEDS_BROWSER()                                             \
  if (kSlow) GTEST_SKIP() << "pages are opened without sanitizers"; \
  if (!Chromium::is_installed())                                    \
  GTEST_SKIP() << "no chromium here: pages were not opened in a browser"

void expect_fine(Chromium& browser, const fs::path& page, int players, int width = 1200) {
  const Seen seen = browser.open(page, width, 900, kProbe);
  ASSERT_FALSE(seen.answer.is_null()) << page << ": the browser did not finish";
  for (const std::string& words : seen.complaints) ADD_FAILURE() << page << ": " << words;
  EXPECT_TRUE(seen.answer.at("broken").empty()) << page << ": " << seen.answer;
  EXPECT_FALSE(seen.answer.at("wide").get<bool>()) << page << " scrolls sideways at " << width;
  EXPECT_GE(seen.answer.at("pictures").get<int>() + seen.answer.at("images").get<int>(), 2) << page;
  ASSERT_EQ(seen.answer.at("players"), players) << page;
  constexpr double kOneStep = 1e-9;  // of a shock alone: there is nothing to play
  if (players == 0 || seen.answer.at("end").get<double>() < kOneStep) return;
  EXPECT_TRUE(seen.answer.at("moved").get<bool>()) << page << ": " << seen.answer;
  EXPECT_GT(seen.answer.at("played").get<double>(), 0.0) << page;
  EXPECT_TRUE(seen.answer.at("key_moved").get<bool>()) << page << ": " << seen.answer;
  EXPECT_TRUE(seen.answer.at("back").get<bool>()) << page;
  EXPECT_TRUE(seen.answer.at("paused").get<bool>()) << page;
  EXPECT_GT(seen.answer.at("end").get<double>(), seen.answer.at("home").get<double>());
}

/// All reports but those of objects that rest and, of many alike, all but a few.
bool is_opened(const fs::path& report) {
  const std::string run = report.parent_path().filename().string();
  const auto starts = [&](const char* beginning) { return run.rfind(beginning, 0) == 0; };
  if (run == "rests") return false;
  if (starts("plate12-start-")) return run == "plate12-start-01";
  if (starts("plate13-")) return run == "plate13-upper-01";
  if (starts("angle")) return run == "angle1.0-slip+1.5";
  return true;
}

/// A world of bodies is drawn on a canvas, and its end looks otherwise.
void expect_bodies(Chromium& browser, const fs::path& page) {
  const Seen seen = browser.open(page, 1200, 900, kProbe);
  ASSERT_FALSE(seen.answer.is_null()) << page << ": the browser did not finish";
  for (const std::string& words : seen.complaints) ADD_FAILURE() << page << ": " << words;
  EXPECT_TRUE(seen.answer.value("drawn", false)) << page << ": " << seen.answer;
  EXPECT_TRUE(seen.answer.value("moved", false)) << page << ": " << seen.answer;
}

/// Opens every second page below `root` in the browser, from the first or from the second on.
void expect_pages(const fs::path& root, std::size_t first) {
  std::vector<fs::path> pages;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    const bool is_body = entry.path().string().find("/body-") != std::string::npos;
    const bool is_report = name == "report.html" && (is_body || is_opened(entry.path()));
    if (is_report || name == "index.html") pages.push_back(entry.path());
  }
  std::sort(pages.begin(), pages.end());
  ASSERT_GE(pages.size(), 40U);
  Chromium browser;
  for (std::size_t k = first; k < pages.size(); k += 2) {
    const fs::path& page = pages[k];
    const bool is_index = page.filename() == "index.html";
    if (!is_index && page.string().find("/body-") != std::string::npos) {
      expect_bodies(browser, page);
    } else {
      expect_fine(browser, page, is_index && page.parent_path() != root ? 0 : 1);
    }
  }
}

/// Every page of the gallery: the index, the experiments, the reports; some as on a phone. In two
/// halves, side by side.
TEST_F(GalleryPages, InABrowserShowTheirPicturesAndMove) {
  NEEDS_BROWSER();
  expect_pages(root(), 0);
}

TEST_F(GalleryPages, InABrowserShowTheirPicturesAndMoveToo) {
  NEEDS_BROWSER();
  expect_pages(root(), 1);
  Chromium browser;
  expect_fine(browser, root() / "index.html", 1, 390);
  expect_fine(browser, root() / "essai-07/index.html", 0, 390);
  expect_fine(browser, root() / "moving-box/run/report.html", 1, 390);
}

/// A test that sees nothing would pass on anything.
TEST(Browser, TheProbeSeesWhatIsWrong) {
  NEEDS_BROWSER();
  const Folder folder;
  write_file(
      folder / "bad.html",
      "<!DOCTYPE html><html><body><img src=\"nowhere.svg\"><div style=\"width:3000px\">x</div>"
      "<script>nothing();</script></body></html>");
  Chromium browser;
  const Seen seen = browser.open(folder / "bad.html", 1200, 900, kProbe);
  ASSERT_FALSE(seen.answer.is_null());
  EXPECT_EQ(seen.answer.at("broken").size(), 1U);
  EXPECT_TRUE(seen.answer.at("wide").get<bool>());
  EXPECT_EQ(seen.complaints.size(), 2U) << "the picture, the function";
}

TEST(PlotCommand, DrawsWhatTheRunDrew) {
  const Folder folder;
  run_program({"run", scene("essai-08"), "--out", "o"}, folder.path());
  const std::string before = read_file(folder / "o/plot.svg");
  const Finished run =
      run_program({"plot", "o/trajectory.csv", "--scene", scene("essai-08"), "--out", "again.svg"},
                  folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const std::string after = read_file(folder / "again.svg");
  for (const char* element :
       {"class=\"body\"", "class=\"wall\"", "class=\"panel\"", "class=\"mark\"", "class=\"number\"",
        "class=\"frame\"", "class=\"state1\""}) {
    EXPECT_EQ(count(after, element), count(before, element)) << element;
  }
  // The same rods to the hundredth of a pixel.
  const auto bodies = [](const std::string& svg) {
    std::string all;
    for (std::size_t at = svg.find("<path class=\"body\""); at != std::string::npos;
         at = svg.find("<path class=\"body\"", at + 1)) {
      all += svg.substr(at, svg.find('\n', at) - at);
    }
    return all;
  };
  EXPECT_EQ(bodies(after), bodies(before));
}

TEST(PlotCommand, DrawsFormulasAndSeveralRuns) {
  const Folder folder;
  run_program({"run", scene("essai-01"), "--out", "a"}, folder.path());
  run_program({"run", scene("essai-01"), "--out", "b", "--scheme", "inel"}, folder.path());
  const Finished run = run_program({"plot", "a/trajectory.csv", "b/trajectory.csv", "--y",
                                    "energy.kinetic + energy.potential", "--out", "e.svg"},
                                   folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const std::string svg = read_file(folder / "e.svg");
  EXPECT_EQ(count(svg, "<path class=\"curve s"), 2);
  EXPECT_NE(svg.find(">a</text>"), std::string::npos);
  EXPECT_NE(svg.find(">b</text>"), std::string::npos);
  run_program({"plot", "a/trajectory.csv", "--quiet"}, folder.path());
  EXPECT_EQ(count(read_file(folder / "a/plot.svg"), "class=\"wall\""), 0) << "walls need a scene";
}

TEST(PlotCommand, RefusesWhatItCannotDraw) {
  const Folder folder;
  run_program({"run", scene("essai-01"), "--out", "a"}, folder.path());
  write_file(folder / "cut.csv", "t,x,d_x\n0,1,2\n1,2\n");
  write_file(folder / "empty.csv", "t,x,d_x\n");
  write_file(folder / "words.csv", "hello\n");
  const auto refused = [&](const std::vector<std::string>& words, const std::string& says) {
    const Finished run = run_program(words, folder.path());
    EXPECT_EQ(run.code, 2) << says;
    EXPECT_NE(run.err.find(says), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("remedy: "), std::string::npos) << run.err;
  };
  refused({"plot", "nowhere.csv"}, "cannot read nowhere.csv");
  refused({"plot", "cut.csv"}, "cut.csv:3:");
  refused({"plot", "empty.csv"}, "has no rows");
  refused({"plot", "words.csv"}, "is no trajectory");
  refused({"plot", "a/trajectory.csv", "--y", "z"}, "unknown name 'z'");
  refused({"plot", "a/trajectory.csv", "--x", "y"}, "without --y");
  refused({"plot", "a/trajectory.csv", "--scene", scene("essai-06")}, "has no column 'z'");
}

TEST(PlotCommand, MakesAPngWhereThereIsAConverter) {
  const Folder folder;
  run_program({"run", scene("corner"), "--out", "a"}, folder.path());
  const bool has = std::system("command -v rsvg-convert >/dev/null 2>&1") == 0;
  const Finished run = run_program({"plot", "a/trajectory.csv", "--png"}, folder.path());
  if (has) {
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(read_file(folder / "a/plot.png").substr(1, 3), "PNG");
  } else if (run.code != 0) {
    EXPECT_NE(run.err.find("librsvg2-bin"), std::string::npos) << run.err;
    EXPECT_TRUE(fs::exists(folder / "a/plot.svg"));
  }
}

/// A million rows, in a hundred megabytes of address space: what is kept does not grow with them.
/// Ten millions take ten times as long; the limit for them is 5 s on a free machine.
TEST(PlotCommand, LongTrajectoriesTakeLittleTimeAndMemory) {
  if (kSlow) GTEST_SKIP() << "sanitizers take memory and time of their own";
  const Folder folder;
  {
    std::ofstream file(folder / "long.csv");
    file.precision(17);
    file << "t,y,d_y,floor.gap,floor.impulse_n,energy.kinetic\n";
    for (int k = 0; k < 1'000'000; ++k) {
      const double phase = 0.0012345678901 * k;
      file << 0.001 * k << ',' << std::abs(std::sin(phase)) << ',' << std::cos(phase) << ','
           << std::abs(std::sin(phase)) << ",0," << 0.5 << '\n';
    }
  }
  const std::string command = "ulimit -v 100000; exec \"$0\" plot long.csv --out long.svg";
  const Finished run = run_command({"sh", "-c", command, testing::kProgram}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("1000000 rows"), std::string::npos);
  EXPECT_LT(run.cpu_seconds, 5.0) << "ten times what it takes on a free machine";
  EXPECT_LT(fs::file_size(folder / "long.svg"), 1'000'000U);
  const std::string svg = read_file(folder / "long.svg");
  EXPECT_EQ(count(svg, "class=\"panel\""), 3);
}

}  // namespace
}  // namespace ricochet::testing::page_test
