// Long runs in bounded memory: what pictures keep of them, and that nothing to be seen is lost.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/random.h"
#include "ricochet/plot/frames.h"
#include "ricochet/plot/panel.h"
#include "ricochet/plot/series.h"
#include "ricochet/plot/states.h"
#include "ricochet/plot/svg.h"
#include "ricochet/plot/trail.h"

namespace ricochet::plot::thinning_test {
namespace {

template <class Pieces>
std::vector<Point> all_points(const Pieces& pieces) {
  std::vector<Point> all;
  for (const std::vector<Point>& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

TEST(Series, KeepsEveryExtremeOfAMillionValues) {
  Series series;
  for (int k = 0; k < 1'000'000; ++k) {
    double value = std::sin(0.37 * k);
    if (k == 123'457) value = 40.0;  // one value out of a million
    if (k == 777'777) value = -30.0;
    series.add(k, value);
  }
  const std::vector<Point> points = all_points(series.pieces());
  EXPECT_LE(points.size(), 4U * 1024U);
  EXPECT_EQ(series.values().high, 40.0);
  const auto has = [&](double x, double y) {
    return std::any_of(points.begin(), points.end(),
                       [&](const Point& p) { return p.x == x && p.y == y; });
  };
  EXPECT_TRUE(has(123'457.0, 40.0));
  EXPECT_TRUE(has(777'777.0, -30.0));
  EXPECT_TRUE(has(0.0, 0.0));
  EXPECT_EQ(points.back().x, 999'999.0);
  for (std::size_t k = 1; k < points.size(); ++k) EXPECT_GE(points[k].x, points[k - 1].x);
  // The envelope: in each two hundredth of the time the curve goes from -1 to 1.
  for (int part = 0; part < 200; ++part) {
    double low = 1.0;
    double high = -1.0;
    for (const Point& p : points) {
      if (p.x < 5000.0 * part || p.x >= 5000.0 * (part + 1)) continue;
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
    EXPECT_LT(low, -0.999);
    EXPECT_GT(high, 0.999);
  }
}

TEST(Series, AFewValuesAreKeptAsTheyAre) {
  Series series;
  for (int k = 0; k < 500; ++k) series.add(k, k % 7);
  const std::vector<Point> points = all_points(series.pieces());
  ASSERT_EQ(points.size(), 500U);
  for (int k = 0; k < 500; ++k) EXPECT_EQ(points[static_cast<std::size_t>(k)].y, k % 7);
}

TEST(Series, IsBrokenWhereThereIsNoValue) {
  Series series;
  for (int k = 0; k < 100; ++k) series.add(k, k == 50 ? std::nan("") : 1.0);
  ASSERT_EQ(series.pieces().size(), 2U);
  EXPECT_EQ(series.pieces()[0].back().x, 49.0);
  EXPECT_EQ(series.pieces()[1].front().x, 51.0);
}

double distance_to(const std::vector<std::vector<Point>>& pieces, Point p) {
  double least = 1e300;
  for (const std::vector<Point>& piece : pieces) {
    for (std::size_t k = 1; k < piece.size(); ++k) {
      const Point a = piece[k - 1];
      const Point b = piece[k];
      const double dx = b.x - a.x;
      const double dy = b.y - a.y;
      const double s = ((p.x - a.x) * dx + (p.y - a.y) * dy) / std::max(dx * dx + dy * dy, 1e-300);
      const double part = std::clamp(s, 0.0, 1.0);
      least = std::min(least, std::hypot(p.x - a.x - part * dx, p.y - a.y - part * dy));
    }
  }
  return least;
}

TEST(Trail, AMillionStepsOnACircleAreThatCircle) {
  for (const double step : {0.0003, 0.013, 0.0598}) {
    Trail trail;
    for (int k = 0; k < 1'000'000; ++k) trail.add({std::cos(step * k), 5.0 + std::sin(step * k)});
    trail.close();
    EXPECT_LE(all_points(trail.pieces()).size(), 2U * 12'001U);
    EXPECT_FALSE(trail.fills_an_area());
    const double sagitta = 1.0 - std::cos(0.5 * step);  // of the chords that the steps are
    for (const Point& p : all_points(trail.pieces())) {
      EXPECT_NEAR(std::hypot(p.x, p.y - 5.0), 1.0, 1e-12) << "kept points are points of the run";
    }
    for (int k = 0; k < 360; ++k) {
      const Point p = {std::cos(k * M_PI / 180.0), 5.0 + std::sin(k * M_PI / 180.0)};
      EXPECT_LT(distance_to(trail.pieces(), p), 2.0 / 400.0 + sagitta) << "a pixel of 400";
    }
  }
}

TEST(Trail, ASingleExcursionIsSeen) {
  Trail trail;
  for (int k = 0; k < 300'000; ++k) {
    const double size = k == 150'001 ? 3.0 : 1.0;
    trail.add({size * std::cos(0.01 * k), size * std::sin(0.01 * k)});
  }
  trail.close();
  const double angle = 0.01 * 150'001;
  EXPECT_LT(distance_to(trail.pieces(), {3.0 * std::cos(angle), 3.0 * std::sin(angle)}), 1e-9);
}

TEST(Trail, AWayThatFillsAnAreaIsThatArea) {
  base::Random random(5);
  Trail trail;
  Point p{0.0, 0.0};
  for (int k = 0; k < 400'000; ++k) {  // jumps over all of a square of side 2
    p = {random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)};
    trail.add(p);
  }
  trail.close();
  EXPECT_TRUE(trail.fills_an_area());
  EXPECT_LE(trail.pieces().size(), 12'000U);
  for (const Point& q : all_points(trail.pieces())) {
    EXPECT_LE(std::abs(q.x), 1.01);
    EXPECT_LE(std::abs(q.y), 1.01);
  }
  for (int i = -9; i <= 9; ++i) {
    EXPECT_LT(distance_to(trail.pieces(), {0.1 * i, -0.07 * i}), 0.01);
  }
}

TEST(States, RunsCoverTheTime) {
  States states;
  for (int k = 0; k <= 100; ++k) states.add(0.1 * k, k > 30 && k <= 60 ? 1.0 : 0.0);
  ASSERT_EQ(states.runs().size(), 3U);
  EXPECT_TRUE(states.runs()[1].is_pure());
  EXPECT_NEAR(states.runs()[1].time[States::kContact], 3.0, 1e-12);
  EXPECT_NEAR(states.runs()[1].begin, 3.0, 1e-12);
  EXPECT_NEAR(states.runs()[1].end, 6.0, 1e-12);
}

TEST(States, ManyShortRunsAreJoinedWithAllTheirStates) {
  States states;
  for (int k = 0; k <= 200'000; ++k) states.add(k, k % 2 == 0 ? 0.0 : (k < 100'000 ? 1.0 : 2.0));
  EXPECT_LE(states.runs().size(), 4097U);
  double end = states.runs().front().begin;
  for (const States::Run& run : states.runs()) {
    EXPECT_EQ(run.begin, end);
    end = run.end;
  }
  EXPECT_EQ(end, 200'000.0);
  const States::Run& first = states.runs().front();  // half free, half in contact, but for an end
  const double length = first.end - first.begin;
  EXPECT_NEAR(first.time[States::kFree], 0.5 * length, 1.0);
  EXPECT_NEAR(first.time[States::kContact], 0.5 * length, 1.0);
  EXPECT_GT(states.runs().back().time[2], 0.0);
}

TEST(Frames, AreEvenAndLoseNoImpulse) {
  for (const int last : {5, 199, 200, 201, 1234, 99'999}) {
    Frames frames({"t", "y", "w.impulse_n"}, 100);
    for (int k = 0; k <= last; ++k) {
      const std::vector<double> row = {0.5 * k, 2.0 * k, k == 0 ? 0.0 : 1.0};
      frames.add(row);
    }
    ASSERT_GE(frames.size(), 2U);
    EXPECT_LE(frames.size(), 201U);
    EXPECT_EQ(frames.row(0)[0], 0.0);
    EXPECT_EQ(frames.row(frames.size() - 1)[0], 0.5 * last);
    const double period = frames.row(1)[0];
    double impulses = 0.0;
    for (std::size_t k = 0; k < frames.size(); ++k) {
      EXPECT_EQ(frames.row(k)[1], 4.0 * frames.row(k)[0]);
      impulses += frames.row(k)[2];
      if (k == 0) continue;
      const double gap = frames.row(k)[0] - frames.row(k - 1)[0];
      EXPECT_EQ(frames.row(k)[2], gap / 0.5) << "impulses since the frame before";
      EXPECT_TRUE(gap == period || (k + 1 == frames.size() && gap > 0.0 && gap < period));
    }
    EXPECT_EQ(impulses, last);
  }
}

TEST(Simplified, StaysWithinTheTolerance) {
  std::vector<Point> curve;
  for (int k = 0; k <= 3000; ++k) {
    const double x = 0.2 * k;
    curve.push_back({x, 100.0 * std::sin(0.02 * x) + (k == 1500 ? 30.0 : 0.0)});
  }
  const std::vector<Point> fewer = simplified(curve, 0.15);
  EXPECT_LT(fewer.size(), 400U);
  for (const Point& p : curve) EXPECT_LE(distance_to({fewer}, p), 0.1501);
}

TEST(PowerLaw, IsFoundExactly) {
  std::vector<Point> points;
  for (const double h : {0.1, 0.05, 0.01, 0.002}) points.push_back({h, 3.5 * std::pow(h, 1.5)});
  const PowerLaw law = fit_power_law(points);
  EXPECT_NEAR(law.exponent, 1.5, 1e-12);
  EXPECT_NEAR(law.factor, 3.5, 1e-10);
  points.push_back({1.0, -1.0});  // has no logarithm, and no say
  EXPECT_NEAR(fit_power_law(points).exponent, 1.5, 1e-12);
}

}  // namespace
}  // namespace ricochet::plot::thinning_test
