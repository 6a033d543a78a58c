// Friction cones and their sections: projection, support and membership, each by its definition.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "ricochet/convex/friction_cone.h"
#include "ricochet/convex/section.h"
#include "support.h"

namespace ricochet::convex::friction_cone_test {
namespace {

/// A section with points that span it, found without any of its own functions.
struct Known {
  std::string name;
  Section section;
  std::vector<Tangent> points;  // of its boundary, and 0
  bool flat{false};             // has no interior
  double reach() const {
    double most = 0.0;
    for (const Tangent& point : points) most = std::max(most, point.norm());
    return most;
  }
};

std::vector<Tangent> round(double a, double b) {
  std::vector<Tangent> points{Tangent::Zero()};
  constexpr int kCount = 720;
  for (int k = 0; k < kCount; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / kCount;
    points.emplace_back(a * std::cos(angle), b * std::sin(angle));
  }
  return points;
}

std::vector<Tangent> with_zero(std::vector<Tangent> points) {
  points.emplace_back(Tangent::Zero());
  return points;
}

class Sections {
 public:
  Sections() {
    add("segment", Segment{-0.3, 0.7}, {{-0.3, 0.0}, {0.7, 0.0}}, true);
    add("segment one way", Segment{0.0, 0.5}, {{0.5, 0.0}}, true);
    add("segment of no length", Segment{0.0, 0.0}, {}, true);
    add("disc", Disc{0.4}, round(0.4, 0.4));
    add("large disc", Disc{50.0}, round(50.0, 50.0));
    add("disc of radius 0", Disc{0.0}, {}, true);
    add("ellipse", Ellipse{0.3, 0.6}, round(0.3, 0.6));
    add("flat ellipse", Ellipse{2.0, 1e-3}, round(2.0, 1e-3));
    add("ellipse that is a disc", Ellipse{0.5, 0.5}, round(0.5, 0.5));
    add("ellipse without width", Ellipse{0.0, 0.5}, {{0.0, 0.5}, {0.0, -0.5}}, true);
    add("ellipse without height", Ellipse{0.5, 0.0}, {{0.5, 0.0}, {-0.5, 0.0}}, true);
    add("ellipse of no size", Ellipse{0.0, 0.0}, {}, true);
    add("square", Polygon{square_}, square_);
    add("triangle", Polygon{triangle_}, triangle_);
    add("triangle with 0 on an edge", Polygon{edge_}, edge_);
    add("triangle with 0 at a corner", Polygon{corner_}, corner_);
    add("heptagon", Polygon{heptagon_}, heptagon_);
  }
  const std::vector<Known>& all() const { return all_; }

 private:
  void add(std::string name, Section section, std::vector<Tangent> points, bool flat = false) {
    all_.push_back({std::move(name), section, with_zero(std::move(points)), flat});
  }
  static std::vector<Tangent> ring(int count, double radius, const Tangent& centre) {
    std::vector<Tangent> points;
    for (int k = 0; k < count; ++k) {
      const double angle = 0.2 + 2.0 * std::numbers::pi * k / count;
      points.push_back(centre + radius * Tangent(std::cos(angle), std::sin(angle)));
    }
    return points;
  }
  const std::vector<Tangent> square_{{0.4, 0.0}, {0.0, 0.4}, {-0.4, 0.0}, {0.0, -0.4}};
  const std::vector<Tangent> triangle_{{1.0, -0.2}, {-0.1, 0.5}, {-0.3, -0.4}};
  const std::vector<Tangent> edge_{{1.0, 0.0}, {0.0, 1.0}, {-1.0, 0.0}};
  const std::vector<Tangent> corner_{{0.0, 0.0}, {1.0, 0.0}, {0.5, 1.0}};
  const std::vector<Tangent> heptagon_ = ring(7, 0.5, {0.1, 0.2});
  std::vector<Known> all_;
};

/// Sizes from tiny to huge, now and then on an axis.
Tangent random_tangent(base::Random& random) {
  Tangent x(random.normal(), random.normal());
  x *= std::pow(10.0, random.uniform(-3.0, 2.0));
  const int kind = random.below(8);
  if (kind == 0) x.x() = 0.0;
  if (kind == 1) x.y() = 0.0;
  return x;
}

double random_radius(base::Random& random) {
  return random.below(10) == 0 ? 0.0 : std::pow(10.0, random.uniform(-2.0, 2.0));
}

TEST(Section, ProjectionIsTheNearestPoint) {
  // x - P ends in the normal cone at P: (x - P) . (y - P) <= 0 for all y in r D. That is the
  // definition, and the points do not come from the section's own functions.
  base::Random random(1);
  const Sections sections;
  for (const Known& known : sections.all()) {
    for (int trial = 0; trial < 2000; ++trial) {
      const Tangent x = random_tangent(random);
      const double r = random_radius(random);
      const Tangent p = project(known.section, x, r);
      const double size = x.norm() + r * known.reach();
      for (const Tangent& y : known.points) {
        ASSERT_LE((x - p).dot(r * y - p), 1e-13 * size * (size + r * y.norm()))
            << known.name << " " << x.transpose() << " r " << r;
      }
      // P is in r D: no direction separates it
      const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
      const Tangent d(std::cos(angle), std::sin(angle));
      for (const Tangent& along : {d, Tangent((x - p).normalized())}) {
        if (!along.allFinite()) continue;
        double most = 0.0;
        for (const Tangent& y : known.points) most = std::max(most, along.dot(y));
        const double between = 1e-5 * support(known.section, along);  // points are samples
        ASSERT_LE(along.dot(p), r * (most + between) + 1e-13 * size) << known.name;
      }
    }
  }
}

TEST(Section, ProjectionIsIdempotentNonexpansiveAndScales) {
  base::Random random(2);
  const Sections sections;
  for (const Known& known : sections.all()) {
    for (int trial = 0; trial < 2000; ++trial) {
      const Tangent x = random_tangent(random);
      const Tangent y = random_tangent(random);
      const double r = random_radius(random);
      const Tangent p = project(known.section, x, r);
      const Tangent q = project(known.section, y, r);
      const double size = x.norm() + y.norm() + r * known.reach();
      ASSERT_LE((project(known.section, p, r) - p).norm(), 1e-15 * size) << known.name;
      ASSERT_LE((p - q).norm(), (x - y).norm() + 1e-13 * size) << known.name;
      const double s = std::pow(10.0, random.uniform(-3.0, 3.0));
      ASSERT_LE((project(known.section, s * x, s * r) - s * p).norm(), 1e-14 * s * size)
          << known.name;
    }
  }
}

TEST(Section, SupportIsTheLargestProductOverItsPoints) {
  base::Random random(3);
  const Sections sections;
  for (const Known& known : sections.all()) {
    for (int trial = 0; trial < 1000; ++trial) {
      const Tangent d = random_tangent(random);
      double most = 0.0;
      for (const Tangent& y : known.points) most = std::max(most, d.dot(y));
      const double value = support(known.section, d);
      EXPECT_LE(most, value + 1e-14 * d.norm() * (1.0 + value)) << known.name;
      EXPECT_LE(value, most * (1.0 + 4e-5) + 1e-14) << known.name;  // half a degree between points
      EXPECT_NEAR(support(known.section, 3.0 * d), 3.0 * value,
                  5e-15 * d.norm() * known.reach() + 1e-300)
          << known.name;
    }
  }
}

TEST(Section, MembershipAgreesWithDistanceAndSupport) {
  base::Random random(4);
  const Sections sections;
  for (const Known& known : sections.all()) {
    EXPECT_TRUE(contains(known.section, Tangent::Zero(), 0.0)) << known.name;
    EXPECT_TRUE(contains(known.section, Tangent::Zero(), 1.0)) << known.name;
    int inside = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      const double r = random_radius(random);
      Tangent x = random_tangent(random);
      if (trial % 2 == 0) {  // a point between two of the section
        const auto pick = [&] {
          return known.points[static_cast<std::size_t>(
              random.below(static_cast<int>(known.points.size())))];
        };
        const double mix = random.uniform();
        x = 0.999 * r * (mix * pick() + (1.0 - mix) * pick());
        if (known.flat || !(r > 0.0)) continue;
        EXPECT_TRUE(contains(known.section, x, r) || x.norm() < 1e-3 * r)
            << known.name << " " << x.transpose() << " r " << r;
      }
      const Tangent p = project(known.section, x, r);
      if (contains(known.section, x, r)) {
        ++inside;
        EXPECT_EQ(p, x) << known.name;
        const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
        const Tangent d(std::cos(angle), std::sin(angle));
        EXPECT_LE(d.dot(x), r * support(known.section, d) + 1e-14 * x.norm()) << known.name;
      } else {
        EXPECT_LE((p - x).dot(p), 1e-14 * x.norm() * (x.norm() + r * known.reach())) << known.name;
        EXPECT_NE(p, x) << known.name;
      }
    }
    if (!known.flat) {
      EXPECT_GT(inside, 500) << known.name;
    }
  }
}

TEST(Section, FarAndFlatEllipsesKeepTheirDigits) {
  // On the axes of an ellipse the nearest point is known: (a, 0) from (x, 0), x >= a; and from a
  // point of the normal at (a cos, b sin) it is that point.
  base::Random random(5);
  for (int trial = 0; trial < 5000; ++trial) {
    const double a = std::pow(10.0, random.uniform(-6.0, 2.0));
    const double b = std::pow(10.0, random.uniform(-6.0, 2.0));
    const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
    const Tangent foot(a * std::cos(angle), b * std::sin(angle));
    const Tangent normal = Tangent(std::cos(angle) / a, std::sin(angle) / b).normalized();
    const double distance = std::pow(10.0, random.uniform(-3.0, 3.0)) * std::max(a, b);
    const Tangent x = foot + distance * normal;
    const Tangent p = Ellipse{a, b}.project(x, 1.0);
    EXPECT_LE((p - foot).norm(), 1e-13 * (a + b + x.norm())) << a << " " << b << " " << angle;
    EXPECT_LE((Ellipse{a, b}.project({2.0 * a, 0.0}, 1.0) - Tangent(a, 0.0)).norm(), 1e-14 * a);
    EXPECT_LE((Ellipse{a, b}.project({0.0, -5.0 * b}, 1.0) - Tangent(0.0, -b)).norm(), 1e-14 * b);
  }
}

ContactVector random_contact(base::Random& random) {
  const Tangent t = random_tangent(random);
  ContactVector R(random.normal() * std::pow(10.0, random.uniform(-3.0, 2.0)), t.x(), t.y());
  if (random.below(12) == 0) R.x() = 0.0;
  if (random.below(12) == 0) R.tail<2>().setZero();
  return R;
}

bool is_planar(const Known& known) { return std::holds_alternative<Segment>(known.section); }

TEST(FrictionCone, DecomposesVectorsIntoAnImpulseAndAPolarOne) {
  // Moreau: x = p + q with p in C, q in -C*, p . q = 0, and only then p is the nearest point.
  base::Random random(6);
  const Sections sections;
  for (const Known& known : sections.all()) {
    const FrictionCone cone{known.section};
    int apex = 0;
    int surface = 0;
    for (int trial = 0; trial < 5000; ++trial) {
      const ContactVector x = random_contact(random);
      const ContactVector p = cone.project(x);
      const ContactVector q = x - p;
      const double size = x.norm();
      ASSERT_TRUE(p.allFinite()) << known.name << " " << x.transpose();
      ASSERT_LE(std::abs(p.dot(q)), 1e-12 * size * size) << known.name << " " << x.transpose();
      ASSERT_GE(p.x(), 0.0) << known.name;
      const Tangent inside = project(known.section, p.tail<2>(), p.x());
      ASSERT_LE((inside - p.tail<2>()).norm(), 1e-12 * size) << known.name << " " << x.transpose();
      // q . R <= 0 for all rays R = (1, y) of the cone
      for (const Tangent& y : known.points) {
        const double product = q.x() + q.tail<2>().dot(y);
        ASSERT_LE(product, 1e-12 * size * (1.0 + y.norm())) << known.name << " " << x.transpose();
      }
      apex += p.norm() == 0.0 ? 1 : 0;
      surface += p.norm() > 0.0 && p != x ? 1 : 0;
      ASSERT_LE((cone.project(p) - p).norm(), 1e-13 * size) << known.name;
      const double s = std::pow(10.0, random.uniform(-6.0, 6.0));
      ASSERT_LE((cone.project(s * x) - s * p).norm(), 1e-12 * s * size) << known.name;
      const ContactVector y = random_contact(random);
      ASSERT_LE((cone.project(y) - p).norm(), (x - y).norm() + 1e-12 * (size + y.norm()));
      if (cone.contains(x)) {
        ASSERT_EQ(p, x) << known.name;
      }
    }
    EXPECT_GT(apex, 50) << known.name;
    EXPECT_GT(surface, 500) << known.name;
  }
}

TEST(FrictionCone, LiftPutsSlipInTheDual) {
  // (lift, U_T) is in C*: its product with every ray (1, y) is >= 0, and 0 with one.
  base::Random random(7);
  const Sections sections;
  for (const Known& known : sections.all()) {
    const FrictionCone cone{known.section};
    for (int trial = 0; trial < 500; ++trial) {
      Tangent slip = random_tangent(random);
      if (is_planar(known)) slip.y() = 0.0;
      const double lift = cone.lift(slip);
      double least = lift;
      for (const Tangent& y : known.points) least = std::min(least, lift + slip.dot(y));
      EXPECT_GE(least, -1e-14 * slip.norm() * (1.0 + lift)) << known.name;
      EXPECT_LE(least, 4e-5 * (lift + 1e-9)) << known.name;
    }
  }
  EXPECT_EQ((FrictionCone{Disc{0.5}}.lift({3.0, -4.0})), 2.5);  // mu |U_T|
}

TEST(FrictionCone, NoSectionMeansTheHalfLineOfTheNormal) {
  for (const Section& section : {Section{Disc{0.0}}, Section{Segment{}}, Section{Ellipse{}}}) {
    const FrictionCone cone{section};
    EXPECT_EQ(cone.project({2.0, 3.0, 0.0}), ContactVector(2.0, 0.0, 0.0));
    EXPECT_EQ(cone.project({-2.0, 3.0, 0.0}), ContactVector::Zero());
    EXPECT_TRUE(cone.contains({1.0, 0.0, 0.0}));
    EXPECT_FALSE(cone.contains({1.0, 1e-100, 0.0}));
  }
}

PolygonFault fault_of(const std::vector<Tangent>& corners, bool* clockwise = nullptr) {
  bool turned = false;
  const PolygonFault fault = check_polygon(corners, turned);
  if (clockwise != nullptr) *clockwise = turned;
  return fault;
}

TEST(Polygon, IsCheckedBeforeUse) {
  const std::vector<Tangent> square{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  bool clockwise = true;
  EXPECT_EQ(fault_of(square, &clockwise), PolygonFault::None);
  EXPECT_FALSE(clockwise);
  EXPECT_EQ(fault_of({square.rbegin(), square.rend()}, &clockwise), PolygonFault::None);
  EXPECT_TRUE(clockwise);
  EXPECT_EQ(fault_of({}), PolygonFault::TooFew);
  EXPECT_EQ(fault_of({{1, 0}, {-1, 0}}), PolygonFault::TooFew);
  EXPECT_EQ(fault_of({{1, 0}, {-1, 0}, {2, 0}}), PolygonFault::NotConvex);               // no area
  EXPECT_EQ(fault_of({{1, 0}, {1, 0}, {0, 1}, {-1, -1}}), PolygonFault::NotConvex);      // twice
  EXPECT_EQ(fault_of({{1, 0}, {0.1, 0.1}, {0, 1}, {-1, -1}}), PolygonFault::NotConvex);  // dent
  EXPECT_EQ(fault_of({{1, 0}, {0, 1}, {1, 1}, {-1, -1}}), PolygonFault::NotConvex);      // crosses
  EXPECT_EQ(fault_of({{1, 1}, {2, 1}, {1, 2}}), PolygonFault::NotAroundZero);
  EXPECT_EQ(fault_of({{1, 2}, {2, 1}, {1, 1}}), PolygonFault::NotAroundZero);  // clockwise too
  EXPECT_EQ(fault_of({{0, 0}, {1, 0}, {0, 1}}), PolygonFault::None);           // 0 is a corner
  EXPECT_EQ(fault_of({{-1, 0}, {1, 0}, {0, 1}}), PolygonFault::None);          // 0 on an edge
  for (const int step : {2, 3}) {  // stars of 5 and of 7 points: every turn is a left one
    std::vector<Tangent> star;
    const int count = 2 * step + 1;
    for (int k = 0; k < count; ++k) {
      const double angle = 2.0 * std::numbers::pi * step * k / count;
      star.emplace_back(std::cos(angle), std::sin(angle));
    }
    EXPECT_EQ(fault_of(star), PolygonFault::NotConvex) << count;
  }
  std::vector<Tangent> hundred;
  for (int k = 0; k < 100; ++k) {
    hundred.emplace_back(std::cos(0.02 * std::numbers::pi * k),
                         std::sin(0.02 * std::numbers::pi * k));
  }
  EXPECT_EQ(fault_of(hundred), PolygonFault::None);
  EXPECT_EQ(fault_of({{1, 0}, {std::nan(""), 1}, {-1, -1}}), PolygonFault::NotConvex);
  EXPECT_EQ(fault_of({{1, 0}, {INFINITY, 1}, {-1, -1}}), PolygonFault::NotConvex);
}

}  // namespace
}  // namespace ricochet::convex::friction_cone_test
