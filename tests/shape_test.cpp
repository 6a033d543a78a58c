// Shapes: gaps and masses with closed forms, rows that persist, gradients, bad input.

#include "ricochet/shape/shape.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "allocations.h"
#include "ricochet/base/error.h"
#include "ricochet/base/random.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::shape::shape_test {
namespace {

constexpr double kPi = std::numbers::pi;

template <int D>
std::vector<Row<D>> rows_of(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b,
                            const Pose<D>& pb, double reach) {
  std::vector<Row<D>> rows;
  gaps(a, pa, b, pb, reach, rows);
  return rows;
}

template <int D>
std::set<Key> keys_of(const std::vector<Row<D>>& rows) {
  std::set<Key> keys;
  for (const Row<D>& row : rows) keys.insert(row.feature);
  return keys;
}

Pose<3> at(const Vec<3>& x, const Vec<3>& turn = Vec<3>::Zero()) {
  const double angle = turn.norm();
  if (angle == 0.0) return {x, Mat<3>::Identity()};
  return {x, Eigen::AngleAxisd(angle, turn / angle).toRotationMatrix()};
}

Vec<3> random_vec(base::Random& random, double size) {
  return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
}

TEST(Shape, RoundShapesHaveClosedForms) {
  const auto discs = rows_of(ball<2>(1.0), pose({3.0, 4.0}, 0.3), ball<2>(0.5), pose({0, 0}, 1), 9);
  ASSERT_EQ(discs.size(), 1U);
  EXPECT_NEAR(discs[0].gap, 3.5, 1e-15);  // exact
  EXPECT_NEAR((discs[0].normal - Vec<2>(0.6, 0.8)).norm(), 0.0, 1e-15);
  EXPECT_NEAR((discs[0].on_a - Vec<2>(2.4, 3.2)).norm(), 0.0, 1e-15);
  EXPECT_NEAR((discs[0].on_b - Vec<2>(0.3, 0.4)).norm(), 0.0, 1e-15);
  // A sphere beside a corner of a box: from (1, 1, 1) / 2 to (2.5, 2.5, 1.5).
  const auto corner =
      rows_of(ball<3>(1.0), at({2.5, 2.5, 1.5}), box<3>({1, 1, 1}), at({0, 0, 0}), 9);
  ASSERT_EQ(corner.size(), 1U);
  EXPECT_NEAR(corner[0].gap, 3.0 - 1.0, 1e-15);
  // Over its face, inside: the face nearest.
  const auto inside =
      rows_of(ball<3>(0.1), at({0.1, 0.45, 0.2}), box<3>({1, 1, 1}), at({0, 0, 0}), 0);
  ASSERT_GE(inside.size(), 1U);
  for (const auto& row : inside) {
    EXPECT_NEAR(row.gap, -0.15, 1e-15);
    EXPECT_NEAR((row.normal - Vec<3>::UnitY()).norm(), 0.0, 1e-15);
  }
  // Crossed capsules touch between their middles, parallel ones at both ends.
  const Shape<3> rod = capsule<3>({-1, 0, 0}, {1, 0, 0}, 0.25);
  const auto crossed = rows_of(rod, at({0, 0, 2}, {0, 0, kPi / 2}), rod, at({0.5, 0, 0}), 9);
  double least = 9.0;
  for (const auto& row : crossed) least = std::min(least, row.gap);
  EXPECT_NEAR(least, 1.5, 1e-15);
  const auto parallel = rows_of(rod, at({0.5, 0, 2}), rod, at({0, 0, 0}), 1.6);
  ASSERT_EQ(parallel.size(), 2U);
  for (const auto& row : parallel) EXPECT_NEAR(row.gap, 1.5, 1e-15);
}

TEST(Shape, CornersStandOnHalfSpaces) {
  const Shape<2> ground = half_space<2>({0.0, 1.0}, {0.0, 2.0});
  const auto low = rows_of(box<2>({2.0, 1.0}), pose({0.3, 2.0}, 0.0), ground, pose({0, 0}, 0), 0.9);
  ASSERT_EQ(low.size(), 2U);  // the two lower corners
  for (const auto& row : low) EXPECT_NEAR(row.gap, 0.5, 1e-15);
  // On a slope of 30 degrees: gap = height cos 30 of each corner.
  const auto slope = rows_of(ground, pose({0, 0}, kPi / 6), ball<2>(0.1), pose({0.0, 3.0}, 0), 9);
  ASSERT_EQ(slope.size(), 1U);
  EXPECT_NEAR(slope[0].gap, 3.0 * std::cos(kPi / 6) - 1.0 - 0.1, 1e-15);
  EXPECT_NEAR((slope[0].normal - Vec<2>(0.5, -std::cos(kPi / 6))).norm(), 0.0, 1e-15);
}

TEST(Shape, EllipsoidsAndCylindersStandOnHalfSpaces) {
  const Shape<3> ground = half_space<3>({0, 0, 0}, {0, 0, 1});
  const Vec<3> axes(3.0, 2.0, 1.0);
  const double tilt = 0.4;
  const auto egg = rows_of(ellipsoid(axes), at({0, 0, 5}, {0, tilt, 0}), ground, at({0, 0, 0}), 9);
  ASSERT_EQ(egg.size(), 1U);
  const double support = std::hypot(3.0 * std::sin(tilt), std::cos(tilt));
  EXPECT_NEAR(egg[0].gap, 5.0 - support, 1e-14);
  EXPECT_NEAR(egg[0].on_a[2], 5.0 - support, 1e-14);
  EXPECT_EQ(egg[0].on_b[2], 0.0);
  // A coin of radius 2 and thickness 0.2 on its rim: centre at 2 sin(tilt) + 0.1 cos(tilt).
  const double height = 2.0 * std::sin(tilt) + 0.1 * std::cos(tilt);
  const auto rim =
      rows_of(cylinder(2.0, 0.2), at({0, 0, height}, {tilt, 0, 0}), ground, at({0, 0, 0}), 1e-3);
  ASSERT_GE(rim.size(), 1U);
  EXPECT_NEAR(rim[0].gap, 0.0, 1e-15);
  // Flat it stands on its rim, all round: the points it stands on surround its middle.
  const auto flat = rows_of(cylinder(2.0, 0.2), at({0, 0, 0.1}), ground, at({0, 0, 0}), 1e-3);
  Vec<3> low = flat[0].on_a, high = low;
  for (const auto& row : flat) {
    EXPECT_NEAR(row.gap, 0.0, 1e-16);
    low = low.cwiseMin(row.on_a);
    high = high.cwiseMax(row.on_a);
  }
  EXPECT_EQ(low.head<2>(), Eigen::Vector2d(-2, -2));
  EXPECT_EQ(high.head<2>(), Eigen::Vector2d(2, 2));
  EXPECT_FALSE(can_meet(cylinder(1, 1), ball<3>(1)));
}

/// A box of width 2 on a plank of width 3, shifted: one corner of each lies over the other's side.
TEST(Shape, FlushBoxesKeepTheirTwoRows) {
  const Shape<2> a = box<2>({2.0, 1.0});
  const Shape<2> b = box<2>({3.0, 0.5});
  const Pose<2> pb = pose({0.2, -0.1}, 0.7);
  base::Random random(1);
  for (const double shift : {1.0, -0.3, -0.5, 0.5}) {  // the last two: ends flush
    std::set<Key> keys;
    for (int k = 0; k < 1000; ++k) {
      const double little = k == 0 ? 0.0 : std::pow(10.0, random.uniform(-17.0, -8.0));
      const Vec<2> x = {shift + (std::abs(shift) == 0.5 ? 0.0 : random.uniform(-little, little)),
                        0.75 + random.uniform(-little, little)};
      const Pose<2> pa{pb.place(x), pose({0, 0}, 0.7 + random.uniform(-little, little)).R};
      std::set<Key> now;
      for (const auto& row : rows_of(a, pa, b, pb, 0.1)) {
        EXPECT_NEAR(row.gap, 0.0, 3.0 * little + 1e-15);
        EXPECT_NEAR((row.normal - pb.R.col(1)).norm(), 0.0, little + 1e-15);
        now.insert(row.feature);
      }
      if (k == 0) keys = now;
      if (std::abs(shift) == 0.5) {
        EXPECT_GE(now.size(), 2U);
      } else {
        ASSERT_EQ(now, keys) << "shift " << shift << " case " << k;
        EXPECT_EQ(now.size(), 2U);
      }
    }
  }
}

/// A box on a larger one stands on its four corners; turned by 45 degrees on one as large, on eight
/// crossings of edges. Whatever the small motion, the rows stay.
TEST(Shape, BoxesOnBoxesKeepTheirRows) {
  const Shape<3> a = box<3>({2.0, 2.0, 1.0});
  const Shape<3> large = box<3>({5.0, 4.0, 1.0});
  base::Random random(2);
  for (int part = 0; part < 2; ++part) {
    const Shape<3>& b = part == 0 ? large : a;
    const Vec<3> turn(0.0, 0.0, part == 0 ? 0.3 : kPi / 4);
    std::set<Key> keys;
    for (int k = 0; k < 300; ++k) {
      const double little = k == 0 ? 0.0 : std::pow(10.0, random.uniform(-17.0, -8.0));
      const Vec<3> x = Vec<3>(0, 0, 1) + random_vec(random, little);
      const Pose<3> pa{x, at(x, random_vec(random, little)).R * at(x, turn).R};
      const auto rows = rows_of(a, pa, b, at({0, 0, 0}), 0.1);
      for (const auto& row : rows) {
        EXPECT_NEAR(row.gap, 0.0, 6.0 * little + 1e-15);
        EXPECT_NEAR((row.normal - Vec<3>::UnitZ()).norm(), 0.0, 6.0 * little + 1e-15);
      }
      if (k == 0) keys = keys_of(rows);
      EXPECT_EQ(keys_of(rows), keys) << "part " << part << " case " << k << " " << little;
    }
    EXPECT_EQ(keys.size(), part == 0 ? 4U : 8U);
  }
}

/// Two stones with a common joint, one turned about the joint's end: what holds there is its
/// normal, not that of the sides that meet at the corner.
TEST(Shape, HingesAtCornersHoldAlongTheJoint) {
  const Shape<2> stone = box<2>({1.0, 2.0});
  for (const double angle : {0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.3}) {
    const Vec<2> hinge(0.5, 1.0);  // upper right corner of B
    const Pose<2> turned = pose({0, 0}, angle);
    const Pose<2> pa{hinge - turned.R * Vec<2>(-0.5, 1.0), turned.R};
    const auto rows = rows_of(stone, pa, stone, pose({0, 0}, 0), 1e-9);
    ASSERT_GE(rows.size(), 1U) << angle;
    for (const auto& row : rows) {
      EXPECT_GE(row.normal[0], std::cos(angle) - 1e-12) << angle;
      EXPECT_NEAR(row.gap, 0.0, 1e-11);
    }
  }
}

template <int D>
Shape<D> some_shape(base::Random& random, int kind);

template <>
Shape<2> some_shape(base::Random& random, int kind) {
  const double round = random.below(2) * random.uniform(0.0, 0.4);
  if (kind == 0) return ball<2>(random.uniform(0.1, 1.0), {0.2, -0.1});
  if (kind == 1) return capsule<2>({-0.5, 0.1}, {0.7, random.uniform(0.0, 1.0)}, round);
  if (kind == 2) return box<2>({1.0, random.uniform(0.2, 1.0)}, round);
  if (kind == 3) return half_space<2>({0.1, 0.2}, {random.uniform(-1, 1), 1.0});
  return polygon({{1.0, 0.0}, {0.3, 0.9}, {-0.8, 0.4}, {-0.6, -0.7}, {0.2, -0.9}}, round);
}

template <>
Shape<3> some_shape(base::Random& random, int kind) {
  const double round = random.below(2) * random.uniform(0.0, 0.4);
  if (kind == 0) return ball<3>(random.uniform(0.1, 1.0), {0.2, -0.1, 0.3});
  if (kind == 1) return capsule<3>({-0.5, 0.1, 0}, {0.7, random.uniform(0.0, 1.0), 0.2}, round);
  if (kind == 2) return box<3>({1.0, random.uniform(0.2, 1.0), 0.7}, round);
  if (kind == 3) return half_space<3>({0.1, 0.2, 0.3}, {random.uniform(-1, 1), 1.0, 0.3});
  if (kind == 4) return cylinder(random.uniform(0.1, 1.0), random.uniform(0.1, 1.0));
  if (kind == 5) return ellipsoid({random.uniform(0.3, 1), random.uniform(0.3, 1), 0.5});
  return polytope({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, -1, 0}, {0.2, -0.3, -1}, {-0.5, 0.6, 0.1}},
                  round);
}

/// A velocity field x' = v + w (x - x_0), w antisymmetric.
template <int D>
struct Twist {
  Vec<D> v;
  Mat<D> w;
};

template <int D>
Twist<D> some_twist(base::Random& random) {
  Twist<D> made{Vec<D>::Zero(), Mat<D>::Zero()};
  for (int i = 0; i < D; ++i) {
    made.v[i] = random.uniform(-1, 1);
    for (int j = 0; j < i; ++j) made.w(j, i) = -(made.w(i, j) = random.uniform(-1, 1));
  }
  return made;
}

/// Moved for a time h by a twist, exactly a rotation to rounding (Cayley's map).
template <int D>
Pose<D> moved(const Pose<D>& pose, const Twist<D>& twist, double h) {
  const Mat<D> one = Mat<D>::Identity();
  const Mat<D> turn = (one - 0.5 * h * twist.w).inverse() * (one + 0.5 * h * twist.w);
  return {pose.x + h * twist.v, turn * pose.R};
}

template <int D>
void expect_gradients(int kinds) {
  base::Random random(5);
  int seen = 0;
  for (int k = 0; k < 4000; ++k) {
    const Shape<D> a = some_shape<D>(random, random.below(kinds));
    const Shape<D> b = some_shape<D>(random, random.below(kinds));
    if (!can_meet(a, b)) continue;
    const Twist<D> of_a = some_twist<D>(random);
    const Twist<D> of_b = some_twist<D>(random);
    const Pose<D> pa = moved<D>({}, some_twist<D>(random), 2.5);
    const Pose<D> pb = moved<D>({}, some_twist<D>(random), 1.5);
    for (const Row<D>& row : rows_of(a, pa, b, pb, 0.5)) {
      const double cores = row.gap + a.round + b.round;
      if (cores < 0.05 && cores > -1e-3) continue;  // normals turn fast there
      const double h = 1e-5;
      const double after = gap_of(a, moved(pa, of_a, h), b, moved(pb, of_b, h), row.feature);
      const double before = gap_of(a, moved(pa, of_a, -h), b, moved(pb, of_b, -h), row.feature);
      if (std::isnan(after) || std::isnan(before)) continue;  // over an edge
      const Vec<D> va = of_a.v + of_a.w * (row.on_a - pa.x);
      const Vec<D> vb = of_b.v + of_b.w * (row.on_b - pb.x);
      EXPECT_NEAR((after - before) / (2.0 * h), row.normal.dot(va - vb), 2e-7)
          << (row.feature >> 60U) << " gap " << row.gap;
      ++seen;
    }
  }
  EXPECT_GT(seen, 1000);
}

TEST(Shape, NormalIsTheGradientOfTheGapInThePlane) { expect_gradients<2>(5); }
TEST(Shape, NormalIsTheGradientOfTheGapInSpace) { expect_gradients<3>(7); }

TEST(Shape, MassesHaveClosedForms) {
  const auto disc = mass_of(ball<2>(2.0, {1.0, 3.0}), 0.5);
  EXPECT_NEAR(disc.mass, 2.0 * kPi, 1e-14);
  EXPECT_NEAR((disc.centre - Vec<2>(1, 3)).norm(), 0.0, 1e-15);
  EXPECT_NEAR(disc.inertia(0, 0), disc.mass * 2.0, 1e-13);  // m r^2 / 2
  const auto brick = mass_of(box<2>({3.0, 2.0}), 1.5);
  EXPECT_NEAR(brick.inertia(0, 0), 9.0 * 13.0 / 12.0, 1e-13);
  const auto track = mass_of(capsule<2>({-1, 0}, {1, 0}, 0.5), 1.0);  // a square and two half discs
  const double half = kPi / 8.0, off = 4.0 * 0.5 / (3.0 * kPi);
  EXPECT_NEAR(track.mass, 2.0 + kPi / 4.0, 1e-15);
  EXPECT_NEAR(
      track.inertia(0, 0),
      2.0 * 5.0 / 12.0 + 2.0 * (half * 0.125 - half * off * off + half * (1 + off) * (1 + off)),
      1e-14);
  const auto sphere = mass_of(ball<3>(0.5), 2.0);
  EXPECT_NEAR(sphere.mass, kPi / 3.0, 1e-15);
  EXPECT_NEAR((sphere.inertia - sphere.mass * 0.1 * Mat<3>::Identity()).norm(), 0.0, 1e-16);
  const auto block = mass_of(box<3>({1.0, 2.0, 3.0}), 1.0);
  EXPECT_NEAR((block.inertia - Mat<3>(Vec<3>(6.5, 5.0, 2.5).asDiagonal())).norm(), 0.0, 1e-14);
  const auto coin = mass_of(cylinder(2.0, 0.6), 1.0);
  EXPECT_NEAR(coin.inertia(2, 2), coin.mass * 2.0, 1e-13);
  EXPECT_NEAR(coin.inertia(0, 0), coin.mass * (1.0 + 0.36 / 12.0), 1e-13);
  const auto egg = mass_of(ellipsoid({1, 2, 3}), 1.0);
  EXPECT_NEAR(egg.inertia(0, 0), egg.mass * 13.0 / 5.0, 1e-13);
  // Steiner's formula for a rounded box.
  const double r = 0.3;
  EXPECT_NEAR(mass_of(box<3>({1, 2, 3}, r), 1.0).mass,
              6.0 + 22.0 * r + 6.0 * kPi * r * r + 4.0 / 3.0 * kPi * r * r * r, 1e-13);
  const auto pill = mass_of(capsule<3>({0, 0, -1}, {0, 0, 1}, r), 1.0);
  const double tube = 2.0 * kPi * r * r, cap = 2.0 / 3.0 * kPi * r * r * r;
  EXPECT_NEAR(pill.inertia(2, 2), tube * r * r / 2 + 2.0 * cap * 0.4 * r * r, 1e-15);
  EXPECT_NEAR(pill.inertia(0, 0),
              tube * (r * r / 4 + 4.0 / 12) + 2 * cap * (0.4 * r * r + 2 * 0.375 * r + 1.0), 1e-14);
}

/// How far the shape reaches from its centre along u: from outside, by steps as long as the
/// distance.
template <int D>
double radius_along(const Shape<D>& shape, const Vec<D>& u) {
  double far = 2.0 * shape.extent;
  for (int k = 0; k < 200; ++k) {
    const Pose<D> at{shape.centre + far * u, Mat<D>::Identity()};
    const double apart = separation<D>(ball<D>(0.0), at, shape, {});
    if (apart < 1e-12) break;
    far -= apart;
  }
  return far;
}

/// Directions and their weights: equal parts of the circle, or of height and length on the sphere.
template <class Visit>
void for_directions(int count, Vec<2>, Visit&& visit) {
  for (int k = 0; k < count * count; ++k) {
    const double angle = 2.0 * kPi * k / (count * count);
    visit(Vec<2>(std::cos(angle), std::sin(angle)), 2.0 * kPi / (count * count));
  }
}
template <class Visit>
void for_directions(int count, Vec<3>, Visit&& visit) {
  for (int k = 0; k < 2 * count * count; ++k) {
    const double z = 2.0 * (k / (2 * count) + 0.5) / count - 1.0;
    const double angle = kPi * (k % (2 * count)) / count;
    const double flat = std::sqrt(1.0 - z * z);
    visit(Vec<3>(flat * std::cos(angle), flat * std::sin(angle), z), 2.0 * kPi / (count * count));
  }
}

/// In polar coordinates about the centre of the shape.
template <int D>
MassProperties<D> by_rays(const Shape<D>& shape, int count) {
  double mass = 0.0;
  Vec<D> first = Vec<D>::Zero();
  Mat<D> second = Mat<D>::Zero();
  for_directions(count, Vec<D>(), [&](const Vec<D>& u, double weight) {
    const double far = radius_along<D>(shape, u);
    mass += weight * std::pow(far, D) / D;
    first += weight * std::pow(far, D + 1) / (D + 1) * u;
    second += weight * std::pow(far, D + 2) / (D + 2) * u * u.transpose();
  });
  MassProperties<D> made{mass, first / mass, {}};
  second -= mass * made.centre * made.centre.transpose();
  made.centre += shape.centre;
  if constexpr (D == 2) {
    made.inertia(0, 0) = second.trace();
  } else {
    made.inertia = second.trace() * Mat<D>::Identity() - second;
  }
  return made;
}

template <int D>
void expect_same(const MassProperties<D>& x, const MassProperties<D>& y, double tolerance) {
  EXPECT_NEAR(x.mass, y.mass, tolerance * y.mass);
  EXPECT_NEAR((x.centre - y.centre).norm(), 0.0, tolerance);
  EXPECT_NEAR((x.inertia - y.inertia).norm(), 0.0, tolerance * y.inertia.norm());
}

TEST(Shape, MassesAgreeWithQuadrature) {
  const Shape<2> five =
      polygon({{1.0, 0.0}, {0.3, 0.9}, {-0.8, 0.4}, {-0.6, -0.7}, {0.2, -0.9}}, 0.3);
  expect_same(mass_of(five, 1.0), by_rays(five, 60), 1e-5);
  const Shape<3> gem = polytope(
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, -1, 0}, {0.2, -0.3, -1}, {-0.5, 0.6, 0.1}}, 0.4);
  expect_same(mass_of(gem, 1.0), by_rays(gem, 50), 3e-3);
}

/// Shifted and turned corners: the same mass, the centre moved, the inertia turned.
TEST(Shape, MassesMoveWithTheirShapes) {
  base::Random random(7);
  for (int k = 0; k < 100; ++k) {
    std::vector<Vec<3>> points, other;
    for (int i = 0; i < 12; ++i) points.push_back(random_vec(random, 1.0));
    const Pose<3> place = at(random_vec(random, 5.0), random_vec(random, 3.0));
    for (const Vec<3>& p : points) other.push_back(place.place(p));
    MassProperties<3> here = mass_of(polytope(points, 0.2), 1.0);
    here.centre = place.place(here.centre);
    here.inertia = place.R * here.inertia * place.R.transpose();
    expect_same(mass_of(polytope(other, 0.2), 1.0), here, 1e-11);
  }
}

/// Euler's formula, and that every point is behind every face.
TEST(Shape, HullsAreHulls) {
  base::Random random(8);
  for (int k = 0; k < 200; ++k) {
    std::vector<Vec<3>> points;
    const int count = 4 + random.below(40);
    const bool on_lattice = random.below(2) == 0;  // many points in one plane, some twice
    for (int i = 0; i < count; ++i) {
      points.push_back(random_vec(random, 2.0));
      if (on_lattice) points.back() = points.back().array().round();
    }
    Shape<3> hull;
    try {
      hull = polytope(points);
    } catch (const base::InputError&) {
      continue;  // all in one plane
    }
    const auto n = [](const auto& list) { return static_cast<int>(list.size()); };
    EXPECT_EQ(n(hull.corners) - n(hull.edges) + n(hull.faces), 2);
    for (const Edge& edge : hull.edges) EXPECT_GE(edge.right, 0);
    for (const auto& face : hull.faces) {
      const Vec<3>& on =
          hull.corners[static_cast<std::size_t>(hull.around[static_cast<std::size_t>(face.begin)])];
      for (const Vec<3>& p : points) EXPECT_LE(face.normal.dot(p - on), 1e-9);
    }
  }
}

TEST(Shape, BoundsTouchTheShape) {
  base::Random random(9);
  for (int k = 0; k < 700; ++k) {
    const Shape<3> a = some_shape<3>(random, k % 7);
    if (a.kind == Kind::HalfSpace) continue;
    const Pose<3> pa = at(random_vec(random, 2.0), random_vec(random, 2.0));
    const Bounds<3> box = bounds(a, pa);
    for (int i = 0; i < 3; ++i) {
      const Shape<3> below = half_space<3>(box.low, Vec<3>::Unit(i));
      const Shape<3> above = half_space<3>(box.high, -Vec<3>::Unit(i));
      EXPECT_NEAR(separation<3>(a, pa, below, {}), 0.0, 1e-14);
      EXPECT_NEAR(separation<3>(a, pa, above, {}), 0.0, 1e-14);
    }
    EXPECT_LE((box.high - box.low).maxCoeff(), 2.0 * a.extent + 1e-14);
  }
}

TEST(Shape, BadShapesAreRefused) {
  const auto says = [](auto&& make, const std::string& part) {
    try {
      make();
      ADD_FAILURE() << "not refused: " << part;
    } catch (const base::InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      EXPECT_FALSE(error.remedy().empty());
    }
  };
  says([] { polygon({{0, 0}, {2, 0}, {0.5, 0.5}, {0, 2}}); }, "concave at corner 3");
  says([] { polygon({{0, 0}, {1, 0}, {2, 0}}); }, "no area");
  says([] { polygon({{0, 0}, {1, 0}, {1, 1}, {0, 0}}); }, "corners 1 and 4");
  says([] { polygon({{0, 0}, {1, 0}}); }, "three corners");
  std::vector<Vec<2>> star;
  for (int k = 0; k < 5; ++k) star.push_back({std::cos(0.8 * kPi * k), std::sin(0.8 * kPi * k)});
  says([&] { polygon(star); }, "more than once");
  says([] { ball<2>(-1.0); }, "radius");
  says([] { ball<3>(std::nan("")); }, "radius");
  says([] { capsule<3>({1, 1, 1}, {1, 1, 1}, 1.0); }, "same point");
  says([] { box<3>({1, 0, 1}); }, "sides");
  says([] { polytope({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}); }, "one plane");
  says([] { half_space<2>({0, 0}, {0, 0}); }, "normal");
  says([] { mass_of(half_space<2>({0, 0}, {0, 1}), 1.0); }, "no mass");
  EXPECT_NEAR(mass_of(polygon({{0, 0}, {0, 1}, {1, 1}, {1, 0}}), 1.0).mass, 1.0,
              1e-15);  // clockwise
}

TEST(Shape, RowsAreFoundWithoutAllocation) {
  const Shape<3> a = box<3>({2.0, 2.0, 1.0});
  std::vector<Row<3>> rows;
  rows.reserve(100);
  const long long before = testing::allocations();
  gaps(a, at({0, 0, 1}, {0, 0, 0.5}), a, at({0, 0, 0}), 0.1, rows);
  EXPECT_EQ(testing::allocations(), before);
  EXPECT_GT(rows.size(), 3U);
}

}  // namespace
}  // namespace ricochet::shape::shape_test
