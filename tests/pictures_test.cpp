// Pictures that do not mislead: what is drawn lies within its axes and is as large as they are,
// lines stay lines, times are times, letters can be read.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <regex>

#include "program.h"
#include "ricochet/plot/states.h"
#include "ricochet/plot/trail.h"
#include "support.h"

namespace ricochet::testing::pictures_test {
namespace {

namespace fs = std::filesystem;

struct Box {
  double left{0.0};
  double top{0.0};
  double right{0.0};
  double bottom{0.0};
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

double attribute(const std::string& element, const std::string& name) {
  const std::size_t at = element.find(" " + name + "=\"");
  return at == std::string::npos ? std::nan("") : std::stod(element.substr(at + name.size() + 3));
}

std::vector<std::string> elements(const std::string& svg, const std::string& opening) {
  std::vector<std::string> found;
  for (std::size_t at = svg.find(opening); at != std::string::npos;
       at = svg.find(opening, at + 1)) {
    found.push_back(svg.substr(at, svg.find('>', at) - at));
  }
  return found;
}

std::vector<Box> boxes(const std::string& svg, const std::string& css_class) {
  std::vector<Box> found;
  for (const std::string& one : elements(svg, "<rect class=\"" + css_class + "\"")) {
    const double x = attribute(one, "x");
    const double y = attribute(one, "y");
    found.push_back({x, y, x + attribute(one, "width"), y + attribute(one, "height")});
  }
  return found;
}

/// What the points of a path span.
Box extent_of(const std::string& path) {
  Box box{1e9, 1e9, -1e9, -1e9};
  const std::string d = path.substr(path.find(" d=\"") + 4);
  const std::regex pair("(-?[0-9.e-]+) (-?[0-9.e-]+)");
  for (std::sregex_iterator at(d.begin(), d.end(), pair), end; at != end; ++at) {
    const double x = std::stod((*at)[1]);
    const double y = std::stod((*at)[2]);
    box = {std::min(box.left, x), std::min(box.top, y), std::max(box.right, x),
           std::max(box.bottom, y)};
  }
  return box;
}

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

std::string picture_of(const std::string& scene, const Folder& folder,
                       const std::vector<std::string>& more = {}) {
  write_file(folder / "s.toml", scene);
  std::vector<std::string> words = {"run", "s.toml", "--out", "o", "--quiet"};
  words.insert(words.end(), more.begin(), more.end());
  const Finished run = run_program(words, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  return read_file(folder / "o/plot.svg");
}

const std::string kDoublePendulum = R"toml(
[system]
coordinates = ["p", "q"]
parameters  = { m1 = 1, m2 = 0.5, l1 = 1, l2 = 0.7, g = 9.81, W = 0.3 }
define = { x1 = "l1*sin(p)", y1 = "-l1*cos(p)", x2 = "l1*sin(p) + l2*sin(q)", y2 = "-l1*cos(p) - l2*cos(q)" }
kinetic     = "0.5*m1*l1^2*p'^2 + 0.5*m2*(l1^2*p'^2 + l2^2*q'^2 + 2*l1*l2*p'*q'*cos(p - q))"
potential   = "m1*g*y1 + m2*g*y2"
[contact.tip]
keep     = "x2 <= W"
restitution = 0.5
[start]
position = { p = -1.2, q = -0.5 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 3
[plot]
body = [{ line = [["0", "0"], ["x1", "y1"], ["x2", "y2"]] }, { circle = ["x2", "y2", "0.2"] }]
[[plot.panel]]
x = "x2"
y = "y2"
snapshots = { every = 100 }
)toml";

TEST(Pictures, TheBodyLiesWithinItsAxes) {
  const Folder folder;
  const std::string svg = picture_of(kDoublePendulum, folder, {"--report"});
  const std::vector<Box> frames = boxes(svg, "frame");
  ASSERT_EQ(frames.size(), 1U);
  const std::vector<std::string> bodies = elements(svg, "<path class=\"body\"");
  ASSERT_GE(bodies.size(), 30U);
  for (const std::string& body : bodies) {
    const Box box = extent_of(body);
    EXPECT_GE(box.left, frames[0].left);
    EXPECT_LE(box.right, frames[0].right);
    EXPECT_GE(box.top, frames[0].top);
    EXPECT_LE(box.bottom, frames[0].bottom);
  }
  for (const std::string& circle : elements(svg, "<circle class=\"body\"")) {
    EXPECT_GE(attribute(circle, "cx") - attribute(circle, "r"), frames[0].left);
    EXPECT_LE(attribute(circle, "cy") + attribute(circle, "r"), frames[0].bottom);
  }
  // The one that plays has its body within its box, too.
  const std::string page = read_file(folder / "o/report.html");
  std::smatch box;
  ASSERT_TRUE(
      std::regex_search(page, box, std::regex("\"box\":\\[([0-9.]+),([0-9.]+),([0-9.]+),")));
  const std::string moves =
      page.substr(page.find("\"b\":[["), page.find("\"a\":[") - page.find("\"b\":[["));
  const std::regex frame("\\[([0-9.-]+),([0-9.-]+),");  // the point that holds the pendulum
  int seen = 0;
  for (std::sregex_iterator at(moves.begin(), moves.end(), frame), end; at != end; ++at, ++seen) {
    EXPECT_GE(std::stod((*at)[2]), std::stod(box[2]));
  }
  EXPECT_GE(seen, 100);
}

double distance(plot::Point p, plot::Point a, plot::Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double square = dx * dx + dy * dy;
  const double s =
      square > 0.0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / square, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - a.x - s * dx, p.y - a.y - s * dy);
}

/// Circles of radius 0.3 + 0.013 k: between two of them nothing is drawn, and each is.
TEST(Pictures, FiftyLoopsStayLoops) {
  plot::Trail trail;
  constexpr int kLoops = 53;
  constexpr int kPoints = 2000;
  const auto radius = [](double loop) { return 0.3 + 0.013 * loop; };
  for (int k = 0; k < kLoops; ++k) {
    trail.add({std::nan(""), 0.0});  // the pen is lifted
    for (int i = 0; i <= kPoints; ++i) {
      const double a = 2.0 * M_PI * i / kPoints;
      trail.add({radius(k) * std::cos(a), radius(k) * std::sin(a)});
    }
  }
  trail.close();
  EXPECT_FALSE(trail.fills_an_area());
  std::size_t points = 0;
  for (const auto& piece : trail.pieces()) points += piece.size();
  EXPECT_LE(points, 12'500U);
  const auto nearest = [&](plot::Point p) {
    double least = 1e9;
    for (const auto& piece : trail.pieces()) {
      for (std::size_t k = 1; k < piece.size(); ++k) {
        least = std::min(least, distance(p, piece[k - 1], piece[k]));
      }
    }
    return least;
  };
  for (int k = 0; k + 1 < kLoops; k += 4) {
    for (int i = 0; i < 24; ++i) {
      const double a = 0.1 + 2.0 * M_PI * i / 24.0;
      const auto at = [&](double r) { return plot::Point{r * std::cos(a), r * std::sin(a)}; };
      EXPECT_LT(nearest(at(radius(k))), 0.002);
      EXPECT_GT(nearest(at(radius(k + 0.5))), 0.004);
    }
  }
}

/// A mass on a belt moves along x alone: the picture shows how, not a plane with two dots.
TEST(Pictures, AMotionAlongAnAxisIsShownOverTime) {
  const Folder folder;
  const std::string svg = picture_of(R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { m = 1, k = 100, g = 9.81, v = 0.1 }
kinetic     = "0.5*m*(x'^2 + y'^2)"
potential   = "m*g*y + 0.5*k*x^2"
[contact.belt]
keep     = "y >= 0"
slip     = ["x' - v"]
friction = { static = 0.6, dynamic = 0.4 }
[start]
position = { x = 0, y = 0 }
[run]
scheme = "moreau"
step   = 1e-3
until  = 5
)toml",
                                     folder);
  const std::vector<Box> frames = boxes(svg, "frame");
  const std::vector<std::string> curves = elements(svg, "<path class=\"curve s0\"");
  ASSERT_EQ(frames.size(), 2U);  // over time, and the phase portrait
  ASSERT_EQ(curves.size(), 2U);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const Box drawn = extent_of(curves[k]);
    EXPECT_GT(drawn.width(), 0.8 * frames[k].width());
    EXPECT_GT(drawn.height(), 0.8 * frames[k].height());
  }
}

/// The same where the picture is asked for as a plane: its axes are as short as the motion.
TEST(Pictures, AThinPlaneHasNoAxesOfItsOwnInvention) {
  const Folder folder;
  const std::string svg = picture_of(kFloor + R"toml(
[plot]
x = "x"
y = "y"
)toml",
                                     folder, {"--set", "start.velocity={x=0.01,y=0}"});
  const std::vector<Box> frames = boxes(svg, "frame");
  const std::vector<std::string> curves = elements(svg, "<path class=\"curve s0\"");
  ASSERT_EQ(frames.size(), 1U);
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_GT(extent_of(curves[0]).width(), 0.8 * frames[0].width());
}

/// x'' = -x over a stop that is struck once in a period: of 500 steps that a row sums up, one
/// pushes.
TEST(Pictures, RowsOfManyStepsDoNotShowLastingContact) {
  const Folder folder;
  const std::string svg = picture_of(R"toml(
[system]
coordinates = ["x"]
mass = [1]
potential = "0.5*x^2"
[contact.stop]
keep = "x <= 0.5"
restitution = 1
[start]
position = { x = -1 }
[run]
scheme = "moreau"
step   = 0.01
until  = 100
record = 500
)toml",
                                     folder);
  const auto area = [&](const std::string& css_class) {
    double sum = 0.0;
    for (const Box& box : boxes(svg, css_class)) sum += box.width() * box.height();
    return sum - 20.0 * 11.0;  // without the rectangle of the legend
  };
  const double contact = area("state1");
  const double free = area("state0");
  EXPECT_GT(contact, 0.0);
  EXPECT_GT(free, 0.0);
  EXPECT_LT(contact, 0.01 * free);  // qualitative: one step in some 470
  EXPECT_GT(elements(svg, "<path class=\"shock\"").size(), 0U);
}

TEST(Pictures, ATimeInContactIsThatTime) {
  plot::States states;
  states.add(0.0, 0.0);
  states.add(1.0, 1.0, 0.25);  // a quarter of the steps of this row
  states.add(2.0, 0.0, 0.5);   // free in the end, touched before
  states.add(3.0, 0.0, 0.0);
  std::array<double, plot::States::kCount> time{};
  for (const plot::States::Run& run : states.runs()) {
    for (std::size_t s = 0; s < time.size(); ++s) time[s] += run.time[s];
  }
  EXPECT_DOUBLE_EQ(time[plot::States::kContact], 0.25);
  EXPECT_DOUBLE_EQ(time[plot::States::kTouched], 0.5);
  EXPECT_DOUBLE_EQ(time[plot::States::kFree], 2.25);
  plot::States of_sums(true);  // nobody says in how many steps
  of_sums.add(0.0, 0.0);
  of_sums.add(1.0, 1.0);
  EXPECT_EQ(of_sums.runs()[0].time[plot::States::kTouched], 1.0);
}

TEST(Pictures, ALegendSaysShockOnce) {
  const Folder folder;
  const std::string svg = picture_of(R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "9.81*y"
[contact.floor]
keep = "y >= 0"
slip = ["x'"]
friction = 0.3
restitution = 0.6
[start]
position = { x = 0, y = 1 }
velocity = { x = 1 }
[run]
scheme = "moreau"
step = 0.001
until = 3
)toml",
                                     folder);
  EXPECT_EQ(count(svg, ">shock</text>"), 1);
}

TEST(Pictures, ValuesStandBesideTheirFrame) {
  const Folder folder;
  write_file(folder / "s.toml", kFloor);
  const Finished run = run_program({"compare", "s.toml", "--schemes", "moreau,inel", "--out", "o",
                                    "--set", "start.position={x=0,y=1}"},
                                   folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const std::string svg = read_file(folder / "o/compare.svg");
  const std::vector<Box> frames = boxes(svg, "frame");
  const std::vector<std::string> values = elements(svg, "<text class=\"number\"");
  ASSERT_GE(values.size(), 2U);
  for (const std::string& value : values) EXPECT_GT(attribute(value, "x"), frames[0].right);
}

/// Letters of 12 px on a card that may be as narrow as 17 rem with its borders.
TEST(Pictures, LettersOfThumbnailsCanBeRead) {
  const Folder folder;
  const Finished run =
      run_program({"gallery", "friction", "--report", "--out", "g"}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "g")) {
    if (entry.path().extension() != ".html") continue;
    const std::string page = read_file(entry.path());
    const std::regex card("class=\"card\" href=\"[^\"]*\"><img src=\"([^\"]*)\"");
    for (std::sregex_iterator at(page.begin(), page.end(), card), end; at != end; ++at, ++seen) {
      const std::string svg = read_file(entry.path().parent_path() / (*at)[1].str());
      EXPECT_GE(12.0 * 250.0 / attribute(svg.substr(0, svg.find('>')), "width"), 9.0);
      EXPECT_GE(count(svg, "<text class=\"label\""), 3);
    }
  }
  EXPECT_GE(seen, 1);
}

/// A disc that rolls: no sine tells that phi is an angle, but its name does.
TEST(Pictures, ALengthAndAnAngleDoNotShareAScale) {
  const std::string disc = R"toml(
[system]
coordinates = ["x", "phi"]
mass = [1, 0.5]
[start]
position = { x = 0, phi = 0 }
velocity = { x = 1, phi = 3 }
[run]
scheme = "moreau"
step = 0.01
until = 1
)toml";
  EXPECT_FALSE(read_text(disc).plot.panels[0].equal);
  EXPECT_FALSE(read_text(disc + "[plot]\nx = \"x\"\ny = \"phi\"\n").plot.panels[0].equal);
  EXPECT_TRUE(read_text(disc + "[plot]\nx = \"x\"\ny = \"2*x\"\n").plot.panels[0].equal);
  std::string plane = disc;
  plane.replace(plane.find("\"phi\""), 5, "\"y\"");
  for (std::size_t at = 0; (at = plane.find("phi =")) != std::string::npos;)
    plane.replace(at, 3, "y");
  EXPECT_TRUE(read_text(plane).plot.panels[0].equal);
}

TEST(Pictures, AreWrittenAsTheirEndingSays) {
  const Folder folder;
  write_file(folder / "s.toml", kFloor);
  ASSERT_EQ(run_program({"run", "s.toml", "--out", "o"}, folder.path()).code, 0);
  const auto plot = [&](const std::string& place) {
    return run_program({"plot", "o/trajectory.csv", "--out", place}, folder.path());
  };
  EXPECT_EQ(plot("a/x.svg").code, 0);
  EXPECT_EQ(read_file(folder / "a/x.svg").rfind("<svg", 0), 0U);
  for (const char* place : {"x.jpg", "x", "x.png.txt"}) {
    const Finished refused = plot(place);
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find(".svg, .png or .pdf"), std::string::npos) << refused.err;
    EXPECT_FALSE(fs::exists(folder / place));
  }
  if (std::system("command -v rsvg-convert >/dev/null 2>&1") == 0) {
    EXPECT_EQ(plot("b/x.png").code, 0);
    EXPECT_EQ(read_file(folder / "b/x.png").substr(0, 4), "\x89PNG");
    EXPECT_EQ(plot("x.pdf").code, 0);
    EXPECT_EQ(read_file(folder / "x.pdf").substr(0, 4), "%PDF");
  }
  const Finished alone = run_command({"/usr/bin/env", "PATH=/nowhere", testing::kProgram, "plot",
                                      "o/trajectory.csv", "--out", "y.png"},
                                     folder.path());
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.err.find("librsvg2-bin"), std::string::npos) << alone.err;
  EXPECT_FALSE(fs::exists(folder / "y.png"));
}

/// x = a^2 at the end of each member, which is a dot over a: on a parabola. (exact)
TEST(Pictures, AFamilyIsDrawnAsDots) {
  const Folder folder;
  write_file(folder / "s.toml", R"toml(
[system]
coordinates = ["x"]
parameters = { a = 1 }
mass = [1]
[start]
position = { x = 0 }
velocity = { x = "a^2" }
[run]
scheme = "moreau"
step = 0.25
until = 1
[family]
a = { from = 0, to = 4, count = 9 }
)toml");
  ASSERT_EQ(run_program({"run", "s.toml", "--out", "o", "--quiet"}, folder.path()).code, 0);
  const auto dots = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"plot", "o", "--scene", "s.toml", "--out", "d.svg"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished plot = run_program(words, folder.path());
    EXPECT_EQ(plot.code, 0) << plot.err;
    return elements(read_file(folder / "d.svg"), "<path class=\"curve dots few s0\"").at(0);
  };
  const std::string ends = dots({"--x", "a", "--y", "x"});
  EXPECT_EQ(count(ends, "M"), 9);
  const std::regex pair("M([0-9.]+) ([0-9.]+)");
  std::vector<std::pair<double, double>> places;
  for (std::sregex_iterator at(ends.begin(), ends.end(), pair), end; at != end; ++at) {
    places.emplace_back(std::stod((*at)[1]), std::stod((*at)[2]));
  }
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double part = static_cast<double>(k) / 8.0;
    EXPECT_NEAR((places[k].first - places[0].first) / (places[8].first - places[0].first), part,
                1e-3);
    EXPECT_NEAR((places[k].second - places[0].second) / (places[8].second - places[0].second),
                part * part, 1e-3);
  }
  EXPECT_EQ(count(dots({"--y", "x/a^2", "--after", "0.5"}), "M"), 24);  // 3 rows of 8; 0/0 is none
  const Finished lost = run_program({"plot", "o"}, folder.path());
  EXPECT_EQ(lost.code, 2);
  EXPECT_NE(lost.err.find("--scene"), std::string::npos) << lost.err;
}

TEST(Pictures, TheStartIsDrawnBeforeItIsRun) {
  const Folder folder;
  write_file(folder / "s.toml", kDoublePendulum);
  const Finished check = run_program({"check", "s.toml", "--plot", "start.svg"}, folder.path());
  EXPECT_EQ(check.code, 0) << check.err;
  const std::string svg = read_file(folder / "start.svg");
  EXPECT_EQ(elements(svg, "<path class=\"body\"").size(), 1U);
  EXPECT_FALSE(fs::exists(folder / "out"));
  EXPECT_EQ(run_program({"check", "s.toml", "--plot", "start.doc"}, folder.path()).code, 2);
}

/// One film of a motion that is told in closed form; without ffmpeg the message names the package.
TEST(Pictures, AFilmIsMadeWhereItCanBe) {
  const Folder folder;
  write_file(folder / "s.toml", kFloor);
  ASSERT_EQ(
      run_program({"run", "s.toml", "--out", "o", "--quiet", "--set", "start.velocity={x=1,y=0}"},
                  folder.path())
          .code,
      0);
  const Finished alone = run_command({"/usr/bin/env", "PATH=/nowhere", testing::kProgram, "plot",
                                      "o/trajectory.csv", "--scene", "s.toml", "--out", "a.gif"},
                                     folder.path());
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.err.find("apt-get install ffmpeg"), std::string::npos) << alone.err;
  const bool can = std::system("command -v ffmpeg >/dev/null 2>&1") == 0 &&
                   std::system("command -v rsvg-convert >/dev/null 2>&1") == 0;
  if (!can) GTEST_SKIP() << "ffmpeg or rsvg-convert is not there";
  const Finished film = run_program(
      {"plot", "o/trajectory.csv", "--scene", "s.toml", "--out", "a.gif"}, folder.path());
  if (film.code >= 128) GTEST_SKIP() << "the machine is too busy to make one in a minute";
  ASSERT_EQ(film.code, 0) << film.err;
  EXPECT_EQ(read_file(folder / "a.gif").substr(0, 6), "GIF89a");
}

}  // namespace
}  // namespace ricochet::testing::pictures_test
