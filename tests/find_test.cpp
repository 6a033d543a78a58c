// The grid against all pairs.

#include "ricochet/find/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "allocations.h"
#include "ricochet/base/random.h"
#include "ricochet/find/near_list.h"

namespace ricochet::find::find_test {
namespace {

template <int D>
using Boxes = std::vector<shape::Bounds<D>>;
using Pairs = std::vector<std::pair<int, int>>;

/// Sizes over a factor of 100; some points, some at the same place, some without end.
template <int D>
Boxes<D> random_boxes(base::Random& random, int count) {
  Boxes<D> boxes;
  const double room = 2.0 * std::pow(count, 1.0 / D);
  const double far = random.below(2) == 0 ? 0.0 : 1e4;
  for (int i = 0; i < count; ++i) {
    shape::Vec<D> middle, half;
    for (int k = 0; k < D; ++k) middle[k] = far + random.uniform(-room, room);
    for (int k = 0; k < D; ++k) half[k] = std::pow(10.0, random.uniform(-2.0, 0.0));
    if (random.below(20) == 0) half.setZero();
    if (random.below(30) == 0) half.setConstant(std::numeric_limits<double>::infinity());
    if (random.below(10) == 0 && i > 0) {
      const auto& other = boxes[static_cast<std::size_t>(random.below(i))];
      if (other.low.allFinite()) middle = other.high + half;  // corner to corner
    }
    if (random.below(10) == 0) middle = middle.array().round();
    boxes.push_back({middle - half, middle + half});
  }
  return boxes;
}

template <int D>
Pairs all_pairs(const Boxes<D>& boxes, double skin) {
  Pairs pairs;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      bool meet = true;
      for (int k = 0; k < D; ++k) {
        meet = meet && boxes[i].low[k] - skin <= boxes[j].high[k] + skin &&
               boxes[j].low[k] - skin <= boxes[i].high[k] + skin;
      }
      if (meet) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

template <int D>
void expect_all(std::uint64_t seed) {
  base::Random random(seed);
  Grid<D> grid;
  std::size_t seen = 0;
  for (int round = 0; round < 60; ++round) {
    const Boxes<D> boxes = random_boxes<D>(random, 1 + random.below(300));
    const double skin = random.below(3) == 0 ? 0.0 : random.uniform(0.0, 0.1);
    const Pairs expected = all_pairs<D>(boxes, skin);
    ASSERT_EQ(grid.search(boxes, skin), expected) << round;
    seen += expected.size();
  }
  EXPECT_GT(seen, 1000U);
}

TEST(Find, GridFindsAllPairsInThePlane) { expect_all<2>(1); }
TEST(Find, GridFindsAllPairsInSpace) { expect_all<3>(2); }

TEST(Find, OrderOfBoxesDoesNotMatter) {
  base::Random random(3);
  const Boxes<3> boxes = random_boxes<3>(random, 400);
  std::vector<int> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<int>(i) + 1))]);
  }
  Boxes<3> shuffled;
  for (const int i : order) shuffled.push_back(boxes[static_cast<std::size_t>(i)]);
  Grid<3> grid;
  Pairs back;
  for (const auto& [i, j] : grid.search(shuffled, 0.05)) {
    const int p = order[static_cast<std::size_t>(i)];
    const int q = order[static_cast<std::size_t>(j)];
    back.emplace_back(std::min(p, q), std::max(p, q));
  }
  std::sort(back.begin(), back.end());
  EXPECT_EQ(Grid<3>().search(boxes, 0.05), back);
}

TEST(Find, SearchingAgainDoesNotAllocate) {
  base::Random random(4);
  const Boxes<2> boxes = random_boxes<2>(random, 500);
  Grid<2> grid;
  grid.search(boxes, 0.1);
  const long long before = testing::allocations();
  EXPECT_GT(grid.search(boxes, 0.1).size(), 100U);
  EXPECT_EQ(testing::allocations(), before);
}

/// Boxes that fall together, beside that each on its way, some by leaps; a half-space below them.
template <int D>
void expect_near(std::uint64_t seed) {
  base::Random random(seed);
  using Vec = shape::Vec<D>;
  for (int round = 0; round < 20; ++round) {
    Boxes<D> boxes = random_boxes<D>(random, 2 + random.below(200));
    const int count = static_cast<int>(boxes.size());
    typename NearList<D>::Plane plane;
    plane.box = random.below(count);
    plane.normal = Vec::Unit(D - 1);
    NearList<D> list({plane});
    std::vector<Vec> ways(boxes.size());
    const double fast = std::pow(10.0, random.uniform(-4.0, -0.5));
    for (Vec& way : ways) way = fast * Vec::NullaryExpr([&] { return random.normal(); });
    Vec fall = Vec::Zero();
    for (int step = 0; step < 50; ++step) {
      fall[D - 1] -= 0.01 * random.uniform();
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        const Vec way = random.below(2000) == 0 ? Vec(1e3 * ways[i]) : Vec(ways[i] + fall);
        boxes[i] = {boxes[i].low + way, boxes[i].high + way};
      }
      list.planes()[0].level = -1.0 + 0.1 * random.uniform();
      const Pairs near = list.search(boxes);
      ASSERT_TRUE(std::is_sorted(near.begin(), near.end()));
      for (const auto& [i, j] : all_pairs<D>(boxes, 0.0)) {
        const int other = i == plane.box ? j : i;
        const bool is_high =
            boxes[static_cast<std::size_t>(other)].low[D - 1] > list.planes()[0].level;
        if ((i == plane.box || j == plane.box) && is_high) continue;
        ASSERT_TRUE(std::binary_search(near.begin(), near.end(), std::pair(i, j)));
      }
      for (int i = 0; i < count; ++i) {
        if (i == plane.box) continue;
        const bool is_low = boxes[static_cast<std::size_t>(i)].low[D - 1] <= list.planes()[0].level;
        const std::pair pair(std::min(i, plane.box), std::max(i, plane.box));
        ASSERT_TRUE(!is_low || std::binary_search(near.begin(), near.end(), pair));
      }
    }
  }
}

TEST(Find, ListsHoldAllPairsInThePlane) { expect_near<2>(5); }
TEST(Find, ListsHoldAllPairsInSpace) { expect_near<3>(6); }

TEST(Find, WhatFallsTogetherIsSearchedOnce) {
  base::Random random(7);
  Boxes<3> boxes;
  for (int i = 0; i < 300; ++i) {
    const shape::Vec<3> at = shape::Vec<3>::NullaryExpr([&] { return random.uniform(0.0, 20.0); });
    boxes.push_back({at, at.array() + 1.0});
  }
  NearList<3> list;
  int searches = 0;
  for (int step = 0; step < 500; ++step) {
    for (auto& box : boxes) {
      box.low[2] -= 1e-4 * step;
      box.high[2] -= 1e-4 * step;
    }
    (void)list.search(boxes);
    searches += list.is_new() ? 1 : 0;
  }
  EXPECT_EQ(searches, 1);
}

}  // namespace
}  // namespace ricochet::find::find_test
