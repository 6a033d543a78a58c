// Walls are where the inequalities say, to a pixel, and nowhere else.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ricochet/plot/walls.h"
#include "ricochet/scene/scene.h"

namespace ricochet::plot::walls_test {
namespace {

constexpr double kWidth = 640.0;  // of the windows [px]
constexpr double kHeight = 400.0;

/// A scene of free masses with these coordinates, contacts and [plot].
std::string scene_of(const std::string& coordinates, const std::string& position,
                     const std::string& contacts, const std::string& plot) {
  std::string mass = "1";
  for (const char c : coordinates) mass += c == ',' ? ", 1" : "";
  return "[system]\ncoordinates = [" + coordinates + "]\nmass = [" + mass + "]\n" + contacts +
         "\n[start]\nposition = { " + position +
         " }\n[run]\nscheme = \"inel\"\nstep = 0.1\nsteps = 1\n" + plot;
}

double distance_to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double square = dx * dx + dy * dy;
  const double s = square > 0.0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / square : 0.0;
  const double part = std::min(1.0, std::max(0.0, s));
  return std::hypot(p.x - a.x - part * dx, p.y - a.y - part * dy);
}

double distance_to_curve(Point p, const std::vector<Point>& curve) {
  double least = 1e300;
  for (std::size_t k = 1; k < curve.size(); ++k) {
    least = std::min(least, distance_to_segment(p, curve[k - 1], curve[k]));
  }
  return least;
}

/// The walls of a scene's first panel and a known curve cover each other to a pixel within the
/// window; `known` is densely sampled, pieces of its own.
void expect_wall(const std::string& text, const Range& x, const Range& y,
                 const std::vector<std::vector<Point>>& known, double t = 0.0) {
  const scene::Scene scene = scene::read_scene("w.toml", text);
  const Window window{x, y, kWidth, kHeight};
  std::vector<double> row(scene.plot.columns.size(), 0.0);
  row[0] = t;
  for (Eigen::Index i = 0; i < scene.start.q.size(); ++i) {
    row[static_cast<std::size_t>(i) + 1] = scene.start.q[i];
  }
  const auto pixels = [&](const std::vector<Point>& curve) {
    std::vector<Point> points;
    for (const Point& p : curve) {
      points.push_back(
          {(p.x - x.low) / x.size() * kWidth, kHeight - (p.y - y.low) / y.size() * kHeight});
    }
    return points;
  };
  const std::vector<WallCurve> walls =
      find_walls(*scene.system().model, scene.plot, scene.plot.panels[0], window, row);
  ASSERT_FALSE(walls.empty());
  std::vector<std::vector<Point>> expected;
  for (const std::vector<Point>& piece : known) expected.push_back(pixels(piece));
  std::vector<std::vector<Point>> drawn;
  for (const WallCurve& wall : walls) drawn.push_back(pixels(wall.points));
  const auto off = [](Point p, const std::vector<std::vector<Point>>& curves) {
    double least = 1e300;
    for (const auto& curve : curves) least = std::min(least, distance_to_curve(p, curve));
    return least;
  };
  for (const auto& curve : drawn) {
    for (const Point& p : curve) EXPECT_LT(off(p, expected), 1.0) << p.x << ", " << p.y;
  }
  int inside = 0;
  for (const auto& piece : expected) {
    for (const Point& p : piece) {
      const bool is_inside = p.x > 0.0 && p.x < kWidth && p.y > 0.0 && p.y < kHeight;
      if (!is_inside) continue;
      ++inside;
      EXPECT_LT(off(p, drawn), 1.0) << "no wall at " << p.x << ", " << p.y;
    }
  }
  EXPECT_GT(inside, 50);
}

std::vector<Point> sampled(const std::function<Point(double)>& curve, double begin, double end) {
  std::vector<Point> points;
  for (int k = 0; k <= 2000; ++k) points.push_back(curve(begin + (end - begin) * k / 2000.0));
  return points;
}

constexpr const char* kPlane = "[plot]\nx = \"x\"\ny = \"y\"\n";

TEST(Walls, ACircle) {
  expect_wall(
      scene_of("\"x\", \"y\"", "x = 0, y = 0", "[contact.c]\nkeep = \"x^2 + y^2 <= 4\"\n", kPlane),
      {-3.0, 3.0}, {-2.5, 2.5},
      {sampled(
          [](double a) {
            return Point{2.0 * std::cos(a), 2.0 * std::sin(a)};
          },
          0.0, 2.0 * M_PI)});
}

TEST(Walls, ASinusoid) {
  expect_wall(scene_of("\"x\", \"y\"", "x = 0, y = 5",
                       "[contact.c]\nkeep = \"y >= 3*sin(2*pi*x/40)\"\n", kPlane),
              {-20.0, 100.0}, {-6.0, 30.0},
              {sampled(
                  [](double x) {
                    return Point{x, 3.0 * std::sin(2.0 * M_PI * x / 40.0)};
                  },
                  -20.0, 100.0)});
}

TEST(Walls, ASectionOfAConeWithARim) {
  expect_wall(scene_of("\"x\", \"y\", \"z\"", "x = 0, y = 0, z = 10",
                       "[contact.cone]\nkeep = \"9*x^2 + 9*y^2 <= 4*z^2\"\n"
                       "where = \"z > 0 and x^2 + y^2 < 900\"\n",
                       "[plot]\nx = \"x\"\ny = \"z\"\nat = { y = 0 }\n"),
              {-50.0, 50.0}, {-10.0, 75.0},
              {sampled(
                  [](double x) {
                    return Point{x, 1.5 * std::abs(x)};
                  },
                  -30.0, 30.0)});
  expect_wall(scene_of("\"x\", \"y\", \"z\"", "x = 0, y = 0, z = 10",
                       "[contact.cone]\nkeep = \"9*x^2 + 9*y^2 <= 4*z^2\"\n",
                       "[plot]\nx = \"x\"\ny = \"y\"\nat = { z = 30 }\n"),
              {-40.0, 40.0}, {-25.0, 25.0},
              {sampled(
                  [](double a) {
                    return Point{20.0 * std::cos(a), 20.0 * std::sin(a)};
                  },
                  0.0, 2.0 * M_PI)});
}

TEST(Walls, AHyperbola) {  // the same cone cut beside its axis
  expect_wall(scene_of("\"x\", \"y\", \"z\"", "x = 0, y = 0, z = 10",
                       "[contact.cone]\nkeep = \"9*x^2 + 9*y^2 <= 4*z^2\"\n",
                       "[plot]\nx = \"x\"\ny = \"z\"\nat = { y = 8 }\n"),
              {-50.0, 50.0}, {2.0, 75.0},
              {sampled(
                  [](double x) {
                    return Point{x, 1.5 * std::hypot(x, 8.0)};
                  },
                  -50.0, 50.0)});
}

TEST(Walls, AClearanceOfTwoSides) {
  expect_wall(scene_of("\"x\", \"y\"", "x = 0, y = 0",
                       "[contact.c]\nkeep = \"-0.01 <= y <= 0.01\"\n", kPlane),
              {0.0, 1.0}, {-0.015, 0.012},
              {sampled(
                   [](double x) {
                     return Point{x, -0.01};
                   },
                   0.0, 1.0),
               sampled(
                   [](double x) {
                     return Point{x, 0.01};
                   },
                   0.0, 1.0)});
}

TEST(Walls, AMovingWallAtTheTimeDrawn) {
  for (const double t : {0.0, 0.7, 2.4}) {
    const double at = 1.0 + 0.5 * std::sin(t);
    expect_wall(scene_of("\"x\", \"y\"", "x = 0, y = 0",
                         "[contact.c]\nkeep = \"x <= 1 + 0.5*sin(t)\"\n", kPlane),
                {-1.0, 2.0}, {-1.0, 1.0},
                {sampled(
                    [&](double y) {
                      return Point{at, y};
                    },
                    -1.0, 1.0)},
                t);
  }
  const std::string at = "[plot]\nx = \"x\"\ny = \"y\"\nat = { t = 0.7 }\n";
  expect_wall(
      scene_of("\"x\", \"y\"", "x = 0, y = 0", "[contact.c]\nkeep = \"x <= 1 + 0.5*sin(t)\"\n", at),
      {-1.0, 2.0}, {-1.0, 1.0},
      {sampled(
          [&](double y) {
            return Point{1.0 + 0.5 * std::sin(0.7), y};
          },
          -1.0, 1.0)},
      2.4);
}

TEST(Walls, AMovingWallOverTime) {
  expect_wall(scene_of("\"x\"", "x = 0", "[contact.c]\nkeep = \"x <= 1 + 0.5*sin(t)\"\n",
                       "[plot]\ny = \"x\"\n"),
              {0.0, 9.0}, {-0.5, 2.0},
              {sampled(
                  [](double t) {
                    return Point{t, 1.0 + 0.5 * std::sin(t)};
                  },
                  0.0, 9.0)});
}

/// Seen from the particle that a contact keeps, the wall is where the particle may be.
TEST(Walls, OfAPointOfABody) {
  const std::string contact =
      "[contact.A]\nkeep = \"hypot(x - 3*cos(phi), y - 3*sin(phi)) <= 5\"\n";
  const std::string plot =
      "[plot]\nx = \"x\"\ny = \"y\"\nwalls = { A = [\"x - 3*cos(phi)\", \"y - 3*sin(phi)\"] }\n";
  for (const char* start : {"x = 0, y = 0, phi = 0", "x = 1, y = 1, phi = 2"}) {
    expect_wall(scene_of("\"x\", \"y\", \"phi\"", start, contact, plot), {-8.0, 8.0}, {-6.0, 6.0},
                {sampled(
                    [](double a) {
                      return Point{5.0 * std::cos(a), 5.0 * std::sin(a)};
                    },
                    0.0, 2.0 * M_PI)});
  }
}

TEST(Walls, ThoseThatDependOnMoreThanTheAxesAreNotDrawn) {
  const scene::Scene scene = scene::read_scene(
      "w.toml",
      scene_of("\"x\", \"y\", \"z\"", "x = 0, y = 0, z = 1",
               "[contact.s]\nkeep = \"x^2 + y^2 + z^2 <= 4\"\n[contact.f]\nkeep = \"y >= -1\"\n",
               kPlane));
  const auto walls = walls_of(*scene.system().model, scene.plot, scene.plot.panels[0]);
  ASSERT_EQ(walls.size(), 1U);
  EXPECT_EQ(walls[0].contact, 1);
}

TEST(Walls, APoleIsNoWall) {
  const scene::Scene scene = scene::read_scene(
      "w.toml",
      scene_of("\"x\", \"y\"", "x = 1, y = 0", "[contact.c]\nkeep = \"1/x >= y - 9\"\n", kPlane));
  const Window window{{-1.0, 1.3}, {-1.0, 1.0}, kWidth, kHeight};
  const std::vector<double> row(scene.plot.columns.size(), 0.0);
  for (const WallCurve& wall :
       find_walls(*scene.system().model, scene.plot, scene.plot.panels[0], window, row)) {
    for (const Point& p : wall.points) EXPECT_LT(p.x, -0.05) << "x = 0 is a pole";
  }
}

TEST(Pushes, AreAlongTheNormalOfTheWall) {
  const scene::Scene scene = scene::read_scene(
      "w.toml",
      scene_of("\"x\", \"y\"", "x = 0, y = 0", "[contact.c]\nkeep = \"x^2 + y^2 <= 4\"\n", kPlane));
  Pushes pushes(*scene.system().model, scene.plot, scene.plot.panels[0]);
  std::vector<double> row(scene.plot.columns.size(), 0.0);
  row[1] = 1.2;
  row[2] = -1.6;
  EXPECT_TRUE(pushes.at(row).empty());
  row[6] = 0.5;  // t x y d_x d_y gap impulse
  const std::vector<Push> found = pushes.at(row);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].at.x, 1.2);
  EXPECT_DOUBLE_EQ(found[0].impulse.x, -0.5 * 2.0 * 1.2);  // p dg/dx
  EXPECT_DOUBLE_EQ(found[0].impulse.y, 0.5 * 2.0 * 1.6);
}

}  // namespace
}  // namespace ricochet::plot::walls_test
