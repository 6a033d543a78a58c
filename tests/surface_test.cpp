// Chains, meshes and heightfields against the convex pieces of the solid below them.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <sstream>

#include "edge_distance.h"
#include "ricochet/base/error.h"
#include "ricochet/base/random.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::shape::surface_test {
namespace {

constexpr double kDeep = 20.0;  // how far the pieces go down

template <int D>
struct Ground {
  Shape<D> surface;
  std::vector<Shape<D>> pieces;  // below each face, down to -kDeep
};

Ground<2> random_ground(base::Random& random, Pose<2>) {
  std::vector<Vec<2>> points;
  for (int k = -5; k <= 5; ++k) {
    points.push_back(
        {k + random.uniform(-0.45, 0.45), random.below(3) * random.uniform(-0.7, 0.7)});
  }
  Ground<2> made{chain(points), {}};
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    made.pieces.push_back(
        polygon({points[k], points[k + 1], {points[k + 1][0], -kDeep}, {points[k][0], -kDeep}}));
  }
  return made;
}

Ground<3> random_ground(base::Random& random, Pose<3>) {
  std::vector<double> heights;
  for (int k = 0; k < 25; ++k) {
    heights.push_back(random.below(3) == 0 ? 0.0 : random.uniform(-0.7, 0.7));
  }
  Ground<3> made{heightfield(5, 5, 1.0, 1.2, heights), {}};
  for (const Face<3>& face : made.surface.faces) {
    std::vector<Vec<3>> corners;
    for (int k = face.begin; k < face.end; ++k) {
      const Vec<3> top =
          made.surface
              .corners[static_cast<std::size_t>(made.surface.around[static_cast<std::size_t>(k)])];
      corners.push_back(top);
      corners.push_back({top[0], top[1], -kDeep});
    }
    made.pieces.push_back(polytope(corners));
  }
  return made;
}

Shape<2> random_body(base::Random& random, Pose<2>) {
  const double round = random.below(2) * random.uniform(0.0, 0.3);
  switch (random.below(4)) {
    case 0: return ball<2>(random.uniform(0.05, 1.0));
    case 1: return capsule<2>({-0.5, 0.0}, {0.6, 0.1}, random.uniform(0.05, 0.3));
    case 2: return box<2>({1.0, random.uniform(0.1, 1.0)}, round);
    default: return polygon({{0.7, 0.0}, {0.0, 0.5}, {-0.6, 0.1}, {-0.1, -0.6}}, round);
  }
}

Shape<3> random_body(base::Random& random, Pose<3>) {
  if (random.below(2) == 0) return ball<3>(random.uniform(0.05, 1.0));
  return capsule<3>({-0.5, 0.0, 0.1}, {0.6, 0.1, random.uniform(-1, 1)}, random.uniform(0.05, 0.3));
}

Pose<2> random_pose(base::Random& random, Vec<2>) {
  return pose({random.uniform(-2.5, 2.0), random.uniform(-0.2, 2.0)}, random.uniform(-3, 3));
}

Pose<3> random_pose(base::Random& random, Vec<3>) {
  const Vec<3> axis = Vec<3>(random.normal(), random.normal(), random.normal()).normalized();
  return {{random.uniform(0.5, 3.5), random.uniform(0.5, 4.0), random.uniform(-0.2, 2.0)},
          Eigen::AngleAxisd(random.uniform(-3, 3), axis).toRotationMatrix()};
}

template <int D>
std::string text_of(const std::vector<Row<D>>& rows) {
  std::ostringstream text;
  for (const Row<D>& row : rows) {
    text << "; " << (row.feature >> 60U) << ":" << ((row.feature >> 30U) & 0x3FFFFFFFU) << ","
         << (row.feature & 0x3FFFFFFFU) << "=" << row.gap << " (" << row.normal.transpose()
         << ") at " << row.on_b.transpose();
  }
  return text.str();
}

/// Whether a row has to have the distance `known`: the body is round, or where it is nearest to the
/// chain a corner of one is before a face of the other. Sharp corners alone have none.
bool must_have_row(const Shape<2>& body, const Pose<2>& at, const Shape<2>& chain, double known) {
  if (body.round + chain.round > 0.0) return true;
  const std::vector<Vec<2>> corners = testing::corners_at(body, at);
  return std::min(testing::least_to_edges(corners, chain.corners, false),
                  testing::least_to_edges(chain.corners, corners, true)) <= known + 1e-11;
}
bool must_have_row(const Shape<3>& body, const Pose<3>&, const Shape<3>&, double) {
  return body.round > 0.0;  // balls and capsules
}

/// Bodies whose cores are before the ground: the nearest row has the distance from the solid, no
/// row is below it, and the thin faces are as far away.
template <int D>
void expect_distances(int count, std::uint64_t seed) {
  base::Random random(seed);
  int seen = 0;
  int touching = 0;
  int without = 0;  // between sharp corners
  for (int k = 0; k < count; ++k) {
    const Ground<D> ground = random_ground(random, Pose<D>());
    const Shape<D> body = random_body(random, Pose<D>());
    Pose<D> at = random_pose(random, Vec<D>());
    const auto distance = [&] {
      double least = 1e9;
      for (const Shape<D>& piece : ground.pieces) {
        least = std::min(least, separation<D>(body, at, piece, {}));
      }
      return least;
    };
    if (random.below(2) == 0) at.x[D - 1] -= distance() + random.uniform(0.0, 1e-9);
    const double known = distance();
    if (known + body.round < 1e-9) continue;  // cores overlap
    const bool has_row = must_have_row(body, at, ground.surface, known);
    without += has_row ? 0 : 1;
    for (const bool is_turned : {false, true}) {
      std::vector<Row<D>> rows;
      if (is_turned) {
        gaps<D>(ground.surface, {}, body, at, 5.0, rows);
      } else {
        gaps<D>(body, at, ground.surface, {}, 5.0, rows);
      }
      double least = 1e9;
      for (const Row<D>& row : rows) {
        least = std::min(least, row.gap);
        EXPECT_NEAR((row.on_a - row.on_b - row.gap * row.normal).norm(), 0.0, 1e-13);
        const double again = is_turned ? gap_of<D>(ground.surface, {}, body, at, row.feature)
                                       : gap_of<D>(body, at, ground.surface, {}, row.feature);
        EXPECT_EQ(again, row.gap);
      }
      ASSERT_GE(least, known - 1e-11) << "case " << k << text_of(rows);
      if (!has_row) continue;
      ASSERT_LE(least, known + 1e-11)
          << "case " << k << (is_turned ? " turned" : "") << text_of(rows);
    }
    ASSERT_NEAR(separation<D>(body, at, ground.surface, {}), known, 1e-11) << "case " << k;
    ++seen;
    touching += known < 1e-6 ? 1 : 0;
  }
  EXPECT_GT(seen, count / 2);
  EXPECT_GT(touching, count / 10);
  EXPECT_LT(without, count / 20);
}

TEST(Surface, ChainsAreAsFarAsTheSolidBelowThem) { expect_distances<2>(3000, 1); }
TEST(Surface, HeightfieldsAreAsFarAsTheSolidBelowThem) { expect_distances<3>(300, 2); }

/// A box that slides along a flat chain with seams has the rows of its two corners, and no other.
TEST(Surface, NothingStumblesOverASeam) {
  const Shape<2> ground = chain({{-3, 0}, {-1, 0}, {0, 0}, {0.7, 0}, {5, 0}});
  const Shape<2> body = box<2>({1.0, 0.5});
  for (double x = -1.0; x < 1.5; x += 0.01) {
    for (const double deep : {0.0, 1e-12, -1e-9, 1e-9}) {
      std::vector<Row<2>> rows;
      gaps<2>(body, pose({x, 0.25 - deep}, 0.0), ground, {}, 0.1, rows);
      ASSERT_GE(rows.size(), 2U);
      for (const auto& row : rows) {
        EXPECT_NEAR(row.gap, -deep, 1e-15);
        EXPECT_EQ(row.normal, Vec<2>(0, 1));
      }
    }
  }
}

/// A corner in a valley is held by both slopes, also a little too deep.
TEST(Surface, CornersRestInValleys) {
  const Shape<2> valley = chain({{-3, 2}, {0, 0}, {3, 1}});
  const Shape<2> body = box<2>({1.0, 1.0});
  for (const double deep : {0.0, 1e-13, 1e-9, 1e-3}) {
    const double half = std::sqrt(0.5);
    std::vector<Row<2>> rows;
    gaps<2>(body, pose({0, half - deep}, 0.25 * std::numbers::pi), valley, {}, 0.01, rows);
    ASSERT_EQ(rows.size(), 2U) << deep << text_of(rows);
    EXPECT_NEAR(rows[0].gap, -deep * 3.0 / std::sqrt(13.0), 1e-14);
    EXPECT_NEAR(rows.back().gap, -deep * 3.0 / std::sqrt(10.0), 1e-14);
  }
}

/// A box on a sharp hill: the hill's corner in its lower side.
TEST(Surface, HillsHoldSides) {
  const Shape<2> hill = chain({{-2, -1}, {0.1, 0}, {2, -1.5}});
  for (const double deep : {-1e-3, 0.0, 1e-9}) {
    std::vector<Row<2>> rows;
    gaps<2>(box<2>({1.0, 0.5}), pose({0, 0.25 - deep}, 0.0), hill, {}, 0.01, rows);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_NEAR(rows[0].gap, -deep, 1e-15);
    EXPECT_EQ(rows[0].normal, Vec<2>(0, 1));
  }
}

/// Gaps and normals of all rows, in an order of their own.
template <int D>
std::vector<std::array<double, D + 1>> figures_of(const Shape<D>& body, const Pose<D>& at,
                                                  const Shape<D>& ground) {
  std::vector<Row<D>> rows;
  gaps<D>(body, at, ground, {}, 0.2, rows);
  std::vector<std::array<double, D + 1>> figures;
  for (const Row<D>& row : rows) {
    std::array<double, D + 1>& one = figures.emplace_back();
    one[0] = row.gap;
    for (int k = 0; k < D; ++k) one[static_cast<std::size_t>(k) + 1] = row.normal[k];
  }
  std::sort(figures.begin(), figures.end());
  return figures;
}

/// Faces far away are passed over in groups of neighbours. Of a mesh whose triangles come in any
/// order the groups are as wide as the mesh, and all faces are tried.
TEST(Surface, RowsDoNotDependOnTheOrderOfTriangles) {
  constexpr int kSide = 24;
  base::Random random(11);
  std::vector<Vec<3>> points;
  std::vector<std::array<int, 3>> triangles;
  for (int j = 0; j < kSide; ++j) {
    for (int i = 0; i < kSide; ++i) {
      const int k = i + kSide * j;
      points.push_back({0.3 * i, 0.3 * j, random.uniform(-0.3, 0.3)});
      if (i + 1 == kSide || j + 1 == kSide) continue;
      triangles.push_back({k, k + 1, k + kSide + 1});
      triangles.push_back({k, k + kSide + 1, k + kSide});
    }
  }
  const Shape<3> ordered = mesh(points, triangles);
  for (std::size_t k = triangles.size() - 1; k > 0; --k) {
    std::swap(triangles[k], triangles[static_cast<std::size_t>(random.below(static_cast<int>(k)))]);
  }
  const Shape<3> shuffled = mesh(points, triangles);
  std::size_t seen = 0;
  for (int k = 0; k < 2000; ++k) {
    const Shape<3> body = random_body(random, Pose<3>());
    Pose<3> at = random_pose(random, Vec<3>());
    at.x[2] = random.uniform(-2.0, 1.0);  // below the ground too
    const auto figures = figures_of<3>(body, at, ordered);
    ASSERT_EQ(figures, figures_of<3>(body, at, shuffled)) << "case " << k;
    seen += figures.size();
    EXPECT_EQ(separation<3>(body, at, ordered, {}), separation<3>(body, at, shuffled, {}));
  }
  EXPECT_GT(seen, 1000U);
}

/// A long chain has the rows of the part of it that is near.
TEST(Surface, RowsOfLongChainsAreThoseOfTheirNearParts) {
  base::Random random(12);
  std::vector<Vec<2>> points;
  for (int k = 0; k < 400; ++k) points.push_back({0.3 * k, random.uniform(-0.3, 0.3)});
  const Shape<2> whole = chain(points);
  std::size_t seen = 0;
  for (int k = 0; k < 2000; ++k) {
    const Shape<2> body = random_body(random, Pose<2>());
    const int first = random.below(370);
    const Shape<2> part = chain({points.begin() + first, points.begin() + first + 30});
    const Pose<2> at =
        pose({0.3 * first + 4.5, random.uniform(-1.0, 1.0)}, random.uniform(-3.0, 3.0));
    const auto figures = figures_of<2>(body, at, whole);
    ASSERT_EQ(figures, figures_of<2>(body, at, part)) << "case " << k;
    seen += figures.size();
  }
  EXPECT_GT(seen, 1000U);
}

TEST(Surface, BadSurfacesAreRefused) {
  EXPECT_THROW(chain({{0, 0}}), base::InputError);
  EXPECT_THROW(chain({{0, 0}, {1, 0}, {1, 0}}), base::InputError);
  EXPECT_THROW(mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 3}}), base::InputError);
  EXPECT_THROW(mesh({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}), base::InputError);
  EXPECT_THROW(
      mesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}, {{0, 1, 2}, {1, 2, 3}, {0, 1, 3}}),
      base::InputError);
  EXPECT_THROW(heightfield(2, 2, 1, 1, {0, 0, 0}), base::InputError);
}

}  // namespace
}  // namespace ricochet::shape::surface_test
