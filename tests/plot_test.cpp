// Pictures: walls where the inequalities say, round ticks, structure of the file.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ricochet/plot/contour.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/plot/ticks.h"
#include "ricochet/record/rows.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::plot::plot_test {
namespace {

Grid sample(double (*f)(double, double)) {
  Grid grid{241, 201, {-3.0, -2.5}, {3.0, 2.5}, {}};
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const Point p = grid.point(column, row);
      grid.values.push_back(f(p.x, p.y));
    }
  }
  return grid;
}

double length_of(const std::vector<Point>& curve) {
  double length = 0.0;
  for (std::size_t k = 1; k < curve.size(); ++k) {
    length += std::hypot(curve[k].x - curve[k - 1].x, curve[k].y - curve[k - 1].y);
  }
  return length;
}

TEST(Contour, ACircleIsOneClosedCurveOfItsLength) {
  const auto curves = zero_curves(sample([](double x, double y) { return 4.0 - x * x - y * y; }));
  ASSERT_EQ(curves.size(), 1U);
  for (const Point& p : curves[0]) EXPECT_NEAR(std::hypot(p.x, p.y), 2.0, 1e-3);
  EXPECT_NEAR(length_of(curves[0]), 4.0 * M_PI, 0.01);
  EXPECT_NEAR(curves[0].front().x, curves[0].back().x, 1e-12);
  EXPECT_NEAR(curves[0].front().y, curves[0].back().y, 1e-12);
}

TEST(Contour, TheForbiddenSideIsOnTheRight) {
  const auto below = zero_curves(sample([](double, double y) { return y - 0.3; }));
  const auto above = zero_curves(sample([](double, double y) { return 0.3 - y; }));
  ASSERT_EQ(below.size(), 1U);
  ASSERT_EQ(above.size(), 1U);
  ASSERT_GT(std::min(below[0].size(), above[0].size()), 100U);
  for (std::size_t k = 1; k < below[0].size(); ++k) EXPECT_GT(below[0][k].x, below[0][k - 1].x);
  for (std::size_t k = 1; k < above[0].size(); ++k) EXPECT_LT(above[0][k].x, above[0][k - 1].x);
}

TEST(Contour, SeveralCurvesAndSaddles) {
  EXPECT_EQ(zero_curves(sample([](double x, double) { return x * x - 1.0; })).size(), 2U);
  EXPECT_EQ(zero_curves(sample([](double x, double y) { return x * y - 0.01; })).size(), 2U);
  EXPECT_TRUE(zero_curves(sample([](double, double) { return 1.0; })).empty());
  EXPECT_TRUE(zero_curves(sample([](double, double) { return std::nan(""); })).empty());
}

TEST(Ticks, AreRoundAndFew) {
  EXPECT_EQ(ticks({0.0, 10.0}, 5), (std::vector<double>{0.0, 2.0, 4.0, 6.0, 8.0, 10.0}));
  EXPECT_EQ(ticks({-0.13, 0.12}, 5).size(), 5U);
  EXPECT_EQ(tick_text(0.30000000000000004, 0.1), "0.3");
  EXPECT_EQ(tick_text(0.0, 20.0), "0");
  EXPECT_EQ(tick_text(2e7, 1e7), "2e+07");
}

TEST(Ticks, EndWhereTheSpacingIsBelowTheDigitsOfTheNumbers) {
  const double next = 1.0 + 4.4e-16;
  for (const Range& range :
       {Range{1.0, next}, Range{-next, -1.0}, Range{1e16, 1e16 + 2.0}, Range{1e300, 1.0001e300}}) {
    const std::vector<double> all = ticks(range, 5);
    EXPECT_LE(all.size(), 11U);
    for (std::size_t k = 1; k < all.size(); ++k) EXPECT_GT(all[k], all[k - 1]);
  }
}

TEST(Ticks, AMarginIsSeen) {
  const Range close = widened({1.0, 1.0 + 4.4e-16}, 0.08);
  EXPECT_NEAR(close.low, 1.0 - 1e-9, 1e-12);
  EXPECT_NEAR(close.high, 1.0 + 1e-9, 1e-12);
  EXPECT_EQ(widened({0.0, 10.0}, 0.1).high, 11.0);
  EXPECT_GT(widened({3.0, 3.0}, 0.1).size(), 0.1);
  EXPECT_EQ(widened({0.0, 0.0}, 0.1).size(), 2.0);
}

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

std::string picture_of(const std::string& scene_text,
                       const std::vector<std::string>& settings = {}) {
  const scene::Scene scene = testing::read_text(scene_text, settings);
  RunPicture picture(scene);
  std::vector<double> row;
  const study::Motion motion = study::run_scene(scene, false, [&](const step::Sample& sample) {
    record::fill_row(scene.columns, sample, row);
    picture.add(row);
  });
  picture.close();
  return draw_run(scene, picture, motion.outcome.certificate, std::nullopt, "a < b & c").svg;
}

TEST(RunPlot, DrawsThePathAndTheWall) {
  const std::string svg = picture_of(study::builtin_scene("essai-04"));
  EXPECT_EQ(svg.rfind("<svg", 0), 0U);
  EXPECT_EQ(count(svg, "class=\"curve s0\""), 1);
  EXPECT_EQ(count(svg, "class=\"wall\""), 1);
  EXPECT_EQ(count(svg, "class=\"start\""), 1);
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_EQ(count(svg, "<svg"), count(svg, "</svg>"));
  EXPECT_EQ(count(svg, "<g "), count(svg, "</g>"));
  EXPECT_EQ(count(svg, "class=\"panel\""), 1);
}

TEST(RunPlot, DrawsAMotionBelowTheDigitsOfItsNumbers) {
  for (const std::string names : {"\"x\"", "\"x\", \"y\""}) {
    const bool plane = names.size() > 3;
    const std::string svg =
        picture_of("[system]\ncoordinates = [" + names + "]\nmass = " + (plane ? "[1, 1]" : "[1]") +
                   "\n[start]\nposition = { x = 1" + (plane ? ", y = 1" : "") +
                   " }\nvelocity = { x = 4.4e-16" + (plane ? ", y = 0" : "") +
                   " }\n[run]\nscheme = \"inel\"\nstep = 1\nuntil = 1\n");
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
  }
}

/// A free particle or more; `contact` is an inequality, `names` as in the scene.
std::string moving(const std::string& names, const std::string& start, const std::string& contact,
                   const std::string& title = "m") {
  std::string mass = "1";
  for (const char c : names) mass += c == ',' ? ", 1" : "";
  return "title = \"" + title + "\"\n[system]\ncoordinates = [" + names + "]\nmass = [" + mass +
         "]\n[contact.wall]\nkeep = \"" + contact + "\"\n[start]\nposition = { " + start +
         " }\n[run]\nscheme = \"elast\"\nstep = 0.01\nuntil = 9\n";
}

TEST(RunPlot, DrawsWallsWhereTheAxesShowThem) {
  // one coordinate: the wall over time; x = 1 + sin(t)/2 is met between 0.5 and 1.5
  const std::string line = picture_of(moving("\"x\"", "x = 0.5", "x <= 1 + 0.5*sin(t)"));
  EXPECT_GE(count(line, "class=\"wall\""), 1);
  EXPECT_EQ(line.find("moving walls"), std::string::npos);
  // a plane: at the end, and said so
  const std::string plane =
      picture_of(moving("\"x\", \"y\"", "x = 0.5, y = 0", "x <= 1 + 0.5*sin(t)"));
  EXPECT_GE(count(plane, "class=\"wall\""), 1);
  EXPECT_NE(plane.find("moving walls as at t = 9"), std::string::npos);
  // space: only what depends on nothing else
  EXPECT_EQ(
      count(picture_of(moving("\"x\", \"y\", \"z\"",
                              "x = 0, y = 0, z = 0.5 }\nvelocity = { x = 1, z = 1", "z <= 0.55")),
            "class=\"wall\""),
      1);
  EXPECT_EQ(count(picture_of(moving("\"x\", \"y\", \"z\"", "x = 0, y = 0, z = 0.5",
                                    "x^2 + y^2 + z^2 <= 0.3")),
                  "class=\"wall\""),
            0);
}

TEST(RunPlot, SaysWhenFewRowsWereRecorded) {
  const std::string scene = moving("\"x\"", "x = 0.5", "x <= 1");
  EXPECT_NE(picture_of(scene, {"run.record=0"}).find("; 2 recorded rows"), std::string::npos);
  EXPECT_EQ(picture_of(scene).find("recorded row"), std::string::npos);
}

TEST(RunPlot, LongTitlesAreBrokenAndCut) {
  std::string title;
  for (int i = 0; i < 60; ++i) title += "word" + std::to_string(i) + " ";
  const std::string svg = picture_of(moving("\"x\"", "x = 0.5", "x <= 1", title));
  EXPECT_EQ(count(svg, "class=\"title\""), 2);
  EXPECT_NE(svg.find("…</text>"), std::string::npos);
  EXPECT_EQ(fit_lines("a b", 700.0, 12.0, 2), std::vector<std::string>{"a b"});
  EXPECT_EQ(fit_lines("", 700.0, 12.0, 2).size(), 0U);
  const std::vector<std::string> one = fit_lines(std::string(500, 'x'), 700.0, 12.0, 3);
  ASSERT_EQ(one.size(), 1U);  // a word is not broken
  EXPECT_LE(text_width(one[0], 12.0), 700.0);
}

/// The x of the first text with this anchor and turn, and whether it comes after `from`.
double x_of(const std::string& svg, const std::string& what) {
  const std::size_t at = svg.rfind("x=\"", svg.find(what));
  return std::stod(svg.substr(at + 3));
}

TEST(RunPlot, WideNumbersHaveRoom) {
  // y from 1234567.0 to 1234567.2: texts of nine letters
  const std::string svg = picture_of(
      "[system]\ncoordinates = [\"y\"]\nmass = [1]\n[start]\nposition = { y = 123456.1 }\n"
      "velocity = { y = 0.001 }\n[run]\nscheme = \"inel\"\nstep = 0.1\nuntil = 5\n");
  const double name = x_of(svg, "\" text-anchor=\"middle\" transform");
  const double number = x_of(svg, "\" text-anchor=\"end\">123456.1");
  EXPECT_GT(name, 6.0);
  EXPECT_GT(number - text_width("123456.101", 12.0), name);
}

TEST(RunPlot, StaysSmallForLongRuns) {
  const std::string svg = picture_of(study::builtin_scene("essai-04"), {"run.steps=300000"});
  EXPECT_LT(svg.size(), 1'000'000U);
}

TEST(RunPlot, SuitsAnyNumberOfCoordinates) {
  EXPECT_EQ(count(picture_of(study::builtin_scene("essai-04-angle")), "class=\"frame\""), 2);
  for (const int n : {3, 5}) {
    std::string names;
    std::string masses;
    std::string position;
    for (int i = 0; i < n; ++i) {
      const std::string comma = i == 0 ? "" : ", ";
      names += comma + "\"q" + std::to_string(i) + "\"";
      masses += comma + "1";
      position += comma + "q" + std::to_string(i) + " = " + std::to_string(i);
    }
    const std::string svg =
        picture_of("[system]\ncoordinates = [" + names + "]\nmass = [" + masses +
                   "]\npotential = \"0.5*q0^2\"\n[start]\nposition = {" + position +
                   "}\n[run]\nscheme = \"inel\"\nstep = 0.1\nuntil = 5\n");
    // one coordinate moves: three with their velocities, or five alone
    EXPECT_EQ(count(svg, "class=\"frame\""), n == 3 ? 6 : 5);
  }
}

/// A picture with what it was drawn from.
struct Drawn {
  scene::Scene scene;
  Sheet sheet;
};

Drawn draw(const std::string& text) {
  Drawn drawn{scene::read_scene("p.toml", text), {}};
  const scene::Scene& scene = drawn.scene;
  RunPicture picture(scene);
  std::vector<double> row;
  const study::Motion motion = study::run_scene(scene, false, [&](const step::Sample& sample) {
    record::fill_row(scene.columns, sample, row);
    picture.add(row);
  });
  picture.close();
  drawn.sheet = draw_run(scene, picture, motion.outcome.certificate, std::nullopt, "");
  return drawn;
}

struct Bounds {
  double left{1e300};
  double right{-1e300};
  double top{1e300};
  double bottom{-1e300};
};

/// The extent of the k-th path of a class, from the numbers of its data.
Bounds bounds_of(const std::string& svg, const std::string& css_class, int k = 0) {
  std::size_t at = 0;
  for (int found = 0; found <= k; ++found) {
    at = svg.find("<path class=\"" + css_class + "\" d=\"", at);
    if (at == std::string::npos) return {};
    ++at;
  }
  at = svg.find(" d=\"", at) + 4;
  Bounds bounds;
  bool is_x = true;
  const char* text = svg.c_str() + at;
  while (*text != '"') {
    char* end = nullptr;
    const double number = std::strtod(text, &end);
    if (end == text) {
      ++text;
      continue;
    }
    text = end;
    if (is_x) {
      bounds.left = std::min(bounds.left, number);
      bounds.right = std::max(bounds.right, number);
    } else {
      bounds.top = std::min(bounds.top, number);
      bounds.bottom = std::max(bounds.bottom, number);
    }
    is_x = !is_x;
  }
  return bounds;
}

void expect_bounds(const Bounds& found, const Frame& frame, Point low, Point high, double off) {
  const Point a = frame.at(low);
  const Point b = frame.at(high);
  EXPECT_NEAR(found.left, a.x, off);
  EXPECT_NEAR(found.right, b.x, off);
  EXPECT_NEAR(found.bottom, a.y, off);
  EXPECT_NEAR(found.top, b.y, off);
}

TEST(Golden, ARevolvingPendulumIsACircle) {
  const Drawn drawn = draw(study::builtin_scene("essai-04"));
  ASSERT_EQ(drawn.sheet.panels.size(), 1U);
  const Frame& frame = drawn.sheet.panels[0].frame;
  const std::string& svg = drawn.sheet.svg;
  EXPECT_NEAR(frame.width / frame.x.range.size(), frame.height / frame.y.range.size(), 1e-9)
      << "a unit is as long in both directions";
  // The violation is below 0.02 of 40: a tenth of a pixel.
  expect_bounds(bounds_of(svg, "curve s0"), frame, {-40.0, -40.0}, {40.0, 40.0}, 1.0);
  expect_bounds(bounds_of(svg, "wall"), frame, {-40.0, -40.0}, {40.0, 40.0}, 0.5);
  EXPECT_EQ(count(svg, "class=\"mark\""), 11);  // t = 0, 0.1 ... 1
  EXPECT_EQ(count(svg, "class=\"number\""), 11);
  EXPECT_EQ(count(svg, "class=\"start\""), 1);
  EXPECT_EQ(count(svg, "class=\"end\""), 1);
}

TEST(Golden, TheRodIsDrawnEveryFifthStep) {
  const Drawn drawn = draw(study::builtin_scene("essai-08"));
  const std::string& svg = drawn.sheet.svg;
  ASSERT_EQ(drawn.sheet.panels.size(), 2U);
  EXPECT_EQ(count(svg, "class=\"body\""), 23);  // 110 steps
  EXPECT_EQ(count(svg, "class=\"number\""), 23);
  EXPECT_EQ(count(svg, "class=\"mark\""), 2 * 23);  // + and x
  EXPECT_EQ(count(svg, "class=\"curve s0\""), 0);   // not the way of G
  const Frame& frame = drawn.sheet.panels[0].frame;
  EXPECT_NEAR(frame.x.range.low, -62.0, 1e-9);
  EXPECT_NEAR(frame.y.range.high, 49.0, 1e-9);
  expect_bounds(bounds_of(svg, "wall"), frame, {-45.0, -45.0}, {45.0, 45.0}, 0.5);
  for (int k = 0; k < 23; ++k) {  // AB is 50 long
    const Bounds rod = bounds_of(svg, "body", k);
    EXPECT_NEAR(std::hypot(rod.right - rod.left, rod.bottom - rod.top),
                50.0 * frame.width / frame.x.range.size(), 0.05);
  }
  EXPECT_GE(count(svg, "class=\"state1\""), 4);  // A and B touch, leave and touch again
}

TEST(Golden, TwoProjectionsShareTheirScale) {
  const Drawn drawn = draw(study::builtin_scene("essai-07"));
  ASSERT_EQ(drawn.sheet.panels.size(), 2U);
  const Frame& a = drawn.sheet.panels[0].frame;
  const Frame& b = drawn.sheet.panels[1].frame;
  EXPECT_NEAR(a.width / a.x.range.size(), b.width / b.x.range.size(), 1e-9);
  EXPECT_NEAR(a.corner.x, b.corner.x, 1e-9);
  EXPECT_LT(a.bottom(), b.corner.y);
  for (const int k : {0, 1}) {
    const Frame& frame = k == 0 ? a : b;
    expect_bounds(bounds_of(drawn.sheet.svg, "wall", k), frame, {-45.0, -45.0}, {45.0, 45.0}, 0.5);
  }
  EXPECT_EQ(count(drawn.sheet.svg, "class=\"mark\""), 2 * 26);  // t = 0 ... 2.5
}

constexpr const char* kFalling = R"toml(
[system]
coordinates = ["y", "phi"]
mass        = [1, 1]
potential   = "10*y + 0.5*sin(phi)"
[contact.floor]
keep = "y >= 0"
[start]
position = { y = 5, phi = 0 }
velocity = { y = 0, phi = 1 }
[run]
scheme = "inel"
step   = 0.001
until  = 2
)toml";

TEST(Plans, CurvesOfDifferentUnitsHavePanelsOfTheirOwn) {
  const Drawn drawn = draw(std::string(kFalling) + "[plot]\ny = [\"y\", \"phi\"]\n");
  ASSERT_EQ(drawn.scene.plot.panels.size(), 2U);
  EXPECT_EQ(drawn.scene.plot.panels[1].y[0].unit, "rad");
  EXPECT_NE(drawn.sheet.svg.find(">φ [rad]<"), std::string::npos);
  const Drawn alike = draw(std::string(kFalling) + "[plot]\ny = [\"y\", \"y + 1\"]\n");
  ASSERT_EQ(alike.scene.plot.panels.size(), 1U);
  EXPECT_EQ(count(alike.sheet.svg, "class=\"curve s1\""), 2);  // the curve, and the legend
}

TEST(Plans, AnAngleAndALengthDoNotShareAScale) {
  const Drawn drawn = draw(kFalling);
  ASSERT_GE(drawn.scene.plot.panels.size(), 1U);
  EXPECT_FALSE(drawn.scene.plot.panels[0].equal);
  EXPECT_EQ(drawn.scene.plot.angles, (std::vector<bool>{false, true}));
  // A wave over x makes no angle of x.
  const Drawn wave = draw(study::builtin_scene("essai-01"));
  EXPECT_FALSE(wave.scene.plot.angles[0]);
  EXPECT_TRUE(wave.scene.plot.panels[0].equal);
}

TEST(Plans, FormulasOfEverythingInARow) {
  const Drawn drawn = draw(std::string(kFalling) + R"toml(
[plot]
columns = 2
units   = { y = "m", t = "s" }
[[plot.panel]]
x = "y"
y = "y'"
[[plot.panel]]
y = "energy.kinetic + energy.potential"
[[plot.panel]]
y = "floor.gap - y"
[[plot.panel]]
kind = "energy"
[[plot.panel]]
kind = "events"
)toml");
  ASSERT_EQ(drawn.sheet.panels.size(), 5U);
  const auto& panels = drawn.sheet.panels;
  EXPECT_EQ(panels[0].frame.corner.y, panels[1].frame.corner.y);
  EXPECT_GT(panels[1].frame.corner.x, panels[0].frame.right());
  EXPECT_NE(drawn.sheet.svg.find(">y' [m/s]<"), std::string::npos);
  // T + V: 50.5 at the start, and about 0.5 after the inelastic shock
  EXPECT_NEAR(panels[1].frame.y.range.high, 50.5 + 0.06 * 50.0, 0.5);
  EXPECT_NEAR(panels[2].frame.y.range.size(), 2.0, 1e-9) << "0 all the time";
  // The energies stand on zero, and reach up to T + V - min V.
  EXPECT_EQ(panels[3].frame.y.range.low, 0.0);
  EXPECT_EQ(count(drawn.sheet.svg, "class=\"area-t\""), 2);  // area, legend
  EXPECT_EQ(count(drawn.sheet.svg, "class=\"area-lost\""), 2);
}

TEST(Plans, ALogLogPanelShowsTheSlopeOfItsFit) {
  const Drawn drawn = draw(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
force       = ["2"]
[start]
position = { x = 0 }
[run]
scheme = "inel"
step   = 0.01
until  = 10
[plot]
x   = "t"
y   = "x"
log = "xy"
)toml");
  EXPECT_NE(drawn.sheet.svg.find(">x: slope 2.00<"), std::string::npos);  // x = t^2
  EXPECT_NE(drawn.sheet.svg.find(">10⁻²<"), std::string::npos);
}

TEST(Svg, HasLightAndDarkColoursAndTextThatIsText) {
  const std::string svg = picture_of(study::builtin_scene("essai-04"));
  EXPECT_NE(svg.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_GT(count(svg, "<text "), 20);
  // Every class that is used has a rule.
  for (std::size_t at = svg.find("class=\""); at != std::string::npos;
       at = svg.find("class=\"", at + 1)) {
    std::string name = svg.substr(at + 7, svg.find('"', at + 7) - at - 7);
    if (name == "rico" || name == "panel" || name == "walls" || name == "label") continue;
    if (name.rfind("curve ", 0) == 0) name = name.substr(6);
    EXPECT_NE(svg.find(".rico ." + name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace ricochet::plot::plot_test
