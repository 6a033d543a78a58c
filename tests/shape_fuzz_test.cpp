// Rows of random pairs of every kind against distances found by other methods in long double: in
// the plane from the convex hull of all differences of corners, in space by Wolfe's method for the
// shortest vector of a hull, and where cores overlap by all separating axes of corners.
// RICOCHET_PAIRS sets the number of pairs,
// RICOCHET_SEED which.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <sstream>

#include "edge_distance.h"
#include "ricochet/base/random.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::shape::shape_fuzz_test {
namespace {

constexpr double kMissed = 1e-12;  // of the size

/// The signed distance of two cores lies between these.
struct Known {
  double low{0.0};
  double high{0.0};
};

/// The other methods, with numbers of type Real.
template <class Real>
struct Oracle {
  template <int D>
  using RealVec = Eigen::Matrix<Real, D, 1>;
  template <int D>
  using Cloud = std::vector<RealVec<D>>;
  static constexpr Real kRounding = 8 * std::numeric_limits<Real>::epsilon();
  struct Bracket {
    Real low;
    Real high;
  };

  /// Corners in the world, from the points a shape was made of.
  template <int D>
  static Cloud<D> cloud_of(const std::vector<Vec<D>>& points, const Pose<D>& pose,
                           const Vec<D>& origin) {
    Cloud<D> made;
    for (const Vec<D>& p : points) {
      made.push_back(pose.x.template cast<Real>() - origin.template cast<Real>() +
                     pose.R.template cast<Real>() * p.template cast<Real>());
    }
    return made;
  }

  template <int D>
  static Cloud<D> differences(const Cloud<D>& a, const Cloud<D>& b) {
    Cloud<D> made;
    for (const RealVec<D>& p : a) {
      for (const RealVec<D>& q : b) made.push_back(p - q);
    }
    return made;
  }

  static Real cross(const RealVec<2>& u, const RealVec<2>& v) { return u[0] * v[1] - u[1] * v[0]; }

  static Real distance_to_segment(const RealVec<2>& p, const RealVec<2>& q) {
    const RealVec<2> u = q - p;
    const Real square = u.squaredNorm();
    const Real t =
        square > Real(0.0) ? std::clamp<Real>(-u.dot(p) / square, Real(0.0), Real(1.0)) : Real(0.0);
    return (p + t * u).norm();
  }

  /// Signed distance of 0 from the hull of all differences (Andrew's chain).
  static Bracket signed_distance(const Cloud<2>& a, const Cloud<2>& b, double size) {
    Cloud<2> points = differences<2>(a, b);
    std::sort(points.begin(), points.end(), [](const RealVec<2>& p, const RealVec<2>& q) {
      return p[0] < q[0] || (p[0] == q[0] && p[1] < q[1]);
    });
    Cloud<2> hull;
    for (int pass = 0; pass < 2; ++pass) {
      const std::size_t start = hull.size();
      for (const RealVec<2>& p : points) {
        while (hull.size() >= start + 2 &&
               cross(hull.back() - hull[hull.size() - 2], p - hull.back()) <= Real(0.0)) {
          hull.pop_back();
        }
        hull.push_back(p);
      }
      hull.pop_back();
      std::reverse(points.begin(), points.end());
    }
    if (hull.empty()) hull.push_back(points[0]);
    Real distance = Real(1e30);
    Real depth = Real(1e30);
    for (std::size_t k = 0; k < hull.size(); ++k) {
      const RealVec<2>& p = hull[k];
      const RealVec<2>& q = hull[(k + 1) % hull.size()];
      distance = std::min(distance, distance_to_segment(p, q));
      if ((q - p).norm() > kRounding * size) depth = std::min(depth, cross(p, q) / (q - p).norm());
    }
    const bool is_inside = hull.size() > 2 && depth > Real(0.0) && depth < Real(1e29);
    const Real found = is_inside ? -depth : distance;
    return {found, found};
  }

  /// mu with sum 1 and |sum mu p| least, over the affine hull of up to four points.
  static std::vector<Real> affine_least(const Cloud<3>& p) {
    const auto count = static_cast<Eigen::Index>(p.size());
    Eigen::Matrix<Real, 3, Eigen::Dynamic, 0, 3, 3> sides(3, count - 1);
    for (Eigen::Index k = 1; k < count; ++k)
      sides.col(k - 1) = p[static_cast<std::size_t>(k)] - p[0];
    std::vector<Real> mu(p.size(), Real(1.0));
    if (count == 1) return mu;
    const auto decomposed = sides.colPivHouseholderQr();
    if (decomposed.rank() < count - 1) return {};
    const auto rest = decomposed.solve(-p[0]).eval();
    for (std::size_t k = 1; k < p.size(); ++k) mu[k] = rest[static_cast<Eigen::Index>(k) - 1];
    for (std::size_t k = 1; k < p.size(); ++k) mu[0] -= mu[k];
    return mu;
  }

  /// One stretch of Wolfe's method: drops points until the least point of the affine hull is
  /// inside.
  static void settle(Cloud<3>& active, std::vector<Real>& weight, RealVec<3>& x) {
    while (true) {
      const std::vector<Real> mu = affine_least(active);
      if (mu.empty()) return;
      Real step = Real(1.0);
      for (std::size_t k = 0; k < mu.size(); ++k) {
        if (mu[k] <= Real(0.0)) step = std::min(step, weight[k] / (weight[k] - mu[k]));
      }
      for (std::size_t k = 0; k < mu.size(); ++k) weight[k] += step * (mu[k] - weight[k]);
      if (step < Real(1.0)) {
        const auto least = std::min_element(weight.begin(), weight.end()) - weight.begin();
        active.erase(active.begin() + least);
        weight.erase(weight.begin() + least);
        continue;
      }
      x.setZero();
      for (std::size_t k = 0; k < mu.size(); ++k) x += mu[k] * active[k];
      return;
    }
  }

  /// The shortest vector of a hull, with the bound that proves it [Wolfe's method].
  static Bracket shortest(const Cloud<3>& points, double size) {
    RealVec<3> x = points[0];
    Cloud<3> active = {x};
    std::vector<Real> weight = {Real(1.0)};
    Bracket known{Real(0.0), x.norm()};
    for (int round = 0; round < 100 && x.norm() > kRounding * size; ++round) {
      RealVec<3> least = points[0];
      for (const RealVec<3>& p : points) least = p.dot(x) < least.dot(x) ? p : least;
      known.high = std::min(known.high, x.norm());
      known.low = std::max(known.low, least.dot(x) / x.norm());
      if (known.high - known.low <= kRounding * size || active.size() == 4) break;
      active.push_back(least);
      weight.push_back(Real(0.0));
      settle(active, weight, x);
    }
    known.high = std::min(known.high, x.norm());
    return known;
  }

  /// All separating axes: planes of three corners, and across two pairs of corners.
  static Real deepest_axis(const Cloud<3>& a, const Cloud<3>& b, double size) {
    Real best = Real(-1e30);
    const auto attempt = [&](const RealVec<3>& way) {
      const Real length = way.norm();
      if (length < Real(1e-13) * size * size) return;
      const RealVec<3> n = way / length;
      Real low_a = Real(1e30), high_a = Real(-1e30), low_b = Real(1e30), high_b = Real(-1e30);
      for (const auto& p : a) {
        const Real height = n.dot(p);
        low_a = std::min(low_a, height);
        high_a = std::max(high_a, height);
      }
      for (const auto& p : b) {
        const Real height = n.dot(p);
        low_b = std::min(low_b, height);
        high_b = std::max(high_b, height);
        if (low_a - high_b <= best && low_b - high_a <= best) return;
      }
      best = std::max({best, low_a - high_b, low_b - high_a});
    };
    const auto sides = [&](const Cloud<3>& c) {
      Cloud<3> made;
      for (std::size_t i = 0; i < c.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) made.push_back(c[i] - c[j]);
      }
      return made;
    };
    const Cloud<3> of_a = sides(a);
    const Cloud<3> of_b = sides(b);
    for (const Cloud<3>* c : {&a, &b}) {
      for (std::size_t i = 0; i < c->size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          for (std::size_t k = 0; k < j; ++k) {
            attempt(((*c)[i] - (*c)[k]).cross((*c)[j] - (*c)[k]));
          }
        }
      }
    }
    for (const RealVec<3>& u : of_a) {
      for (const RealVec<3>& v : of_b) attempt(u.cross(v));
    }
    return best;
  }

  static Bracket signed_distance(const Cloud<3>& a, const Cloud<3>& b, double size) {
    Bracket known = shortest(differences<3>(a, b), size);
    const bool is_flat = a.size() <= 2 && b.size() <= 2;
    if (known.high - known.low <= Real(1e-14) * size && (known.low > Real(0.0) || is_flat)) {
      return known;
    }
    const Real deepest = deepest_axis(a, b, size);
    if (known.high <= Real(1e-15) * size && !is_flat) return {deepest, deepest};
    known.low = known.low > Real(0.0) || is_flat ? std::max(known.low, deepest) : deepest;
    return known;
  }
};

/// A shape, and the points of which its core is the hull.
template <int D>
struct Made {
  Shape<D> shape;
  std::vector<Vec<D>> points;
};

double random_size(base::Random& random) { return std::pow(10.0, random.uniform(-1.0, 1.0)); }
double random_round(base::Random& random, double size) {
  return random.below(2) == 0 ? 0.0 : size * std::pow(10.0, random.uniform(-3.0, 0.0));
}

Made<2> random_shape(base::Random& random, Pose<2>) {
  const double s = random_size(random);
  const double round = random_round(random, s);
  std::vector<Vec<2>> points;
  switch (random.below(5)) {
    case 0: return {ball<2>(s), {Vec<2>::Zero()}};
    case 1: points = {{0.0, 0.0}, {s * random.uniform(-1, 1), s}}; break;
    case 2: {
      const Vec<2> sides(s, s * random.uniform(0.01, 1.0));
      return {box<2>(sides, round), box<2>(sides).corners};
    }
    case 3: {  // regular
      const int count = 3 + random.below(8);
      for (int k = 0; k < count; ++k) {
        const double angle = 2.0 * std::numbers::pi * k / count;
        points.push_back({s * std::cos(angle), s * std::sin(angle)});
      }
      break;
    }
    default: {  // on an ellipse, angles apart
      const double flat = random.uniform(0.05, 1.0);
      double angle = 0.0;
      while (angle < 2.0 * std::numbers::pi - 0.2 && points.size() < 8) {
        points.push_back({s * std::cos(angle), s * flat * std::sin(angle)});
        angle += random.uniform(0.1, 2.0);
      }
      if (points.size() < 3) points = {{0.0, 0.0}, {s, 0.0}, {0.0, s}};
    }
  }
  if (points.size() == 2) return {capsule<2>(points[0], points[1], round), points};
  return {polygon(points, round), points};
}

Vec<3> random_way(base::Random& random) {
  return Vec<3>(random.normal(), random.normal(), random.normal()).normalized();
}

Made<3> random_shape(base::Random& random, Pose<3>) {
  const double s = random_size(random);
  const double round = random_round(random, s);
  switch (random.below(5)) {
    case 0: return {ball<3>(s), {Vec<3>::Zero()}};
    case 1: {
      const std::vector<Vec<3>> ends = {{0.0, 0.0, 0.0}, s * random_way(random)};
      return {capsule<3>(ends[0], ends[1], round), ends};
    }
    case 2: {  // a tetrahedron, or a wedge
      std::vector<Vec<3>> p = {{0, 0, 0}, {s, 0, 0}, {0, s, 0}, {0, 0, s * random.uniform(0.1, 1)}};
      if (random.below(2) == 0) p.insert(p.end(), {p[3] + p[1], {s, s, 0.0}});
      return {polytope(p, round), p};
    }
    case 3: {
      std::vector<Vec<3>> p;
      const int count = 4 + random.below(5);
      for (int k = 0; k < count; ++k) p.push_back(s * random_way(random));
      for (int k = 0; k < 3; ++k) p.push_back(1.1 * s * Vec<3>::Unit(k));
      p.push_back(-1.1 * s * Vec<3>(0.6, 0.6, 0.5));
      return {polytope(p, round), p};
    }
    default: {
      const Vec<3> sides(s, s * random.uniform(0.01, 1.0), s * random.uniform(0.1, 1.0));
      return {box<3>(sides, round), box<3>(sides).corners};
    }
  }
}

/// Zero or a small number, of any size.
double small(base::Random& random) {
  if (random.below(3) == 0) return 0.0;
  return random.uniform(-1.0, 1.0) * std::pow(10.0, random.uniform(-17.0, -1.0));
}

/// Turned by any angle, or by eighths of a turn and very little more.
double random_angle(base::Random& random) {
  if (random.below(3) == 0) return random.uniform(-4.0, 4.0);
  return random.below(8) * 0.25 * std::numbers::pi + small(random);
}

Pose<2> random_pose(base::Random& random, Vec<2> x) { return pose(x, random_angle(random)); }

Pose<3> random_pose(base::Random& random, Vec<3> x) {
  Mat<3> R = Mat<3>::Identity();
  for (int k = 0; k < 3; ++k) {
    const Pose<2> turn = pose(Vec<2>::Zero(), random_angle(random));
    Mat<3> about = Mat<3>::Identity();
    const int i = (k + 1) % 3;
    const int j = (k + 2) % 3;
    about(i, i) = turn.R(0, 0), about(i, j) = turn.R(0, 1);
    about(j, i) = turn.R(1, 0), about(j, j) = turn.R(1, 1);
    R = R * about;
  }
  return {x, R};
}

template <int D>
Vec<D> random_vector(base::Random& random, double size) {
  Vec<D> made;
  for (int k = 0; k < D; ++k) made[k] = size * random.uniform(-1.0, 1.0);
  return made;
}

struct Tally {
  long pairs{0};
  long finely{0};    // in long double
  long touching{0};  // to 1e-6
  long overlapping{0};
  long borders{0};    // touch in a border, and have no row
  double worst{0.0};  // | nearest row - distance | / size
};

template <int D>
std::string text_of(const std::vector<Row<D>>& rows, Known known, double rounds, double reach) {
  std::ostringstream text;
  text << "distance " << known.low << " .. " << known.high << " rounds " << rounds << " reach "
       << reach << " rows:";
  for (const Row<D>& row : rows) {
    text << " " << (row.feature >> 60U) << ":" << ((row.feature >> 30U) & 0x3FFFFFFFU) << ","
         << (row.feature & 0x3FFFFFFFU) << "=" << row.gap << " (" << row.normal.transpose() << ")";
  }
  return text.str();
}

/// What must hold of the rows of a pair whatever its distance.
template <int D>
void expect_sound(const Made<D>& a, const Pose<D>& pa, const Made<D>& b, const Pose<D>& pb,
                  const std::vector<Row<D>>& rows, double size) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Row<D>& row = rows[k];
    ASSERT_NEAR(row.normal.norm(), 1.0, 1e-14);
    const double far = pa.x.norm() + pb.x.norm();
    const bool is_face = (row.feature >> 60U) == 1 || (row.feature >> 60U) == 2;
    if (is_face) {
      ASSERT_LE((row.on_a - row.on_b - row.gap * row.normal).norm(), 1e-14 * (size + far));
    }
    if (k > 0) {
      ASSERT_LT(rows[k - 1].feature, row.feature);
    }
    Vec<D> n, on_a, on_b;
    const double again = gap_of(a.shape, pa, b.shape, pb, row.feature, &n, &on_a, &on_b);
    ASSERT_EQ(again, row.gap) << "feature " << row.feature;
    ASSERT_EQ(n, row.normal);
    ASSERT_EQ(on_a, row.on_a);
    ASSERT_EQ(on_b, row.on_b);
  }
}

template <class Real, int D>
Known distance(const Made<D>& a, const Pose<D>& pa, const Made<D>& b, const Pose<D>& pb) {
  using O = Oracle<Real>;
  const auto found = O::signed_distance(O::template cloud_of<D>(a.points, pa, pb.x),
                                        O::template cloud_of<D>(b.points, pb, pb.x),
                                        a.shape.extent + b.shape.extent);
  return {static_cast<double>(found.low), static_cast<double>(found.high)};
}

/// What is wrong with rows and separation of a pair whose core distance is known; empty if nothing.
template <int D>
std::string fault(const std::vector<Row<D>>& rows, double apart, Known known, double rounds,
                  double reach, double size, bool may_have_none, Tally& tally,
                  bool is_finest = false) {
  const double low = known.low - rounds;
  const double high = known.high - rounds;
  // A processor whose longest numbers have 64 bits knows a few pairs less sharply.
  constexpr double kSure = std::numeric_limits<long double>::digits > 64 ? 1e-14 : 1e-8;
  const double slip = kMissed * size + (is_finest ? high - low : 0.0);
  double least = 1e300;
  double nearest = 1e300;  // to the known distance
  for (const Row<D>& row : rows) {
    least = std::min(least, row.gap);
    nearest = std::min(nearest, std::max({0.0, low - row.gap, row.gap - high}));
  }
  if (high - low > (is_finest ? kSure : 1e-14) * size) return "not sure";
  if (high < reach - slip && nearest > slip && !may_have_none) return "no row has the distance";
  if (high < reach - slip && nearest <= slip) tally.worst = std::max(tally.worst, nearest / size);
  if (low > reach + slip && !rows.empty()) return "out of reach";
  if (known.low > 0.0 && least < low - slip) return "a row below the distance";
  if (apart < low - slip) return "separation too small";
  if (apart > high + slip) return "separation too large";
  return "";
}

/// Whether sharp shapes touch in a corner or an edge of their difference: planes of two faces that
/// are not parallel hold them apart, and along neither do they overlap.
template <int D>
bool meets_in_border(const Made<D>& a, const Pose<D>& pa, const Made<D>& b, const Pose<D>& pb) {
  std::vector<Vec<D>> normals;
  const auto apart = [&](const Vec<D>& n) {
    double least = 1e300;
    for (const Vec<D>& p : a.shape.corners) {
      for (const Vec<D>& q : b.shape.corners)
        least = std::min(least, n.dot(pa.place(p) - pb.place(q)));
    }
    return least;
  };
  const double flush = 2e-9 * std::min(a.shape.extent, b.shape.extent);
  [[maybe_unused]] const double size = a.shape.extent * b.shape.extent;
  for (const auto& face : a.shape.faces) normals.push_back(-(pa.R * face.normal));
  for (const auto& face : b.shape.faces) normals.push_back(pb.R * face.normal);
  if constexpr (D == 3) {
    const auto along = [](const auto& made, const Pose<D>& at, const Edge& edge) {
      const auto corner = [&](int k) { return made.shape.corners[static_cast<std::size_t>(k)]; };
      return Vec<D>(at.R * (corner(edge.to) - corner(edge.from)));
    };
    for (const Edge& one : a.shape.edges) {
      for (const Edge& other : b.shape.edges) {
        const Vec<D> n = along(a, pa, one).cross(along(b, pb, other));
        if (n.norm() > 1e-6 * size)
          normals.insert(normals.end(), {n.normalized(), -n.normalized()});
      }
    }
  }
  std::erase_if(normals, [&](const Vec<D>& n) { return apart(n) < -flush; });
  return std::any_of(normals.begin(), normals.end(), [&](const Vec<D>& n) {
    return std::any_of(normals.begin(), normals.end(),
                       [&](const Vec<D>& m) { return n.dot(m) < 1.0 - 1e-6; });
  });
}

/// Whether a corner of one sharp shape is before an edge of the other where they are nearest.
bool is_before_edge(const Made<2>& a, const Pose<2>& pa, const Made<2>& b, const Pose<2>& pb,
                    double distance) {
  const auto at_a = testing::corners_at(a.shape, pa);
  const auto at_b = testing::corners_at(b.shape, pb);
  double least = 1e9;
  if (!b.shape.faces.empty()) least = std::min(least, testing::least_to_edges(at_a, at_b, true));
  if (!a.shape.faces.empty()) least = std::min(least, testing::least_to_edges(at_b, at_a, true));
  return least <= distance + 1e-12 * (a.shape.extent + b.shape.extent);
}
bool is_before_edge(const Made<3>&, const Pose<3>&, const Made<3>&, const Pose<3>&, double) {
  return false;
}

/// One pair; false where something is wrong.
template <int D>
bool try_pair(base::Random& random, Tally& tally) {
  const Made<D> a = random_shape(random, Pose<D>());
  const Made<D> b = random_shape(random, Pose<D>());
  const double size = a.shape.extent + b.shape.extent;
  const double rounds = a.shape.round + b.shape.round;
  const Pose<D> pb =
      random_pose(random, random_vector<D>(random, random.below(2) == 0 ? 0.0 : size));
  Pose<D> pa = random_pose(random, Vec<D>(pb.x + random_vector<D>(random, 1.5 * size)));
  if (random.below(3) != 0) pa.R = pb.R * random_pose(random, pa.x).R;
  std::vector<Row<D>> rows;
  gaps(a.shape, pa, b.shape, pb, 10.0 * size, rows);
  const int with_faces = (a.shape.faces.empty() ? 0 : 1) + (b.shape.faces.empty() ? 0 : 1);
  const bool is_sharp = rounds == 0.0 && with_faces >= D - 1;
  if (rows.empty() && !is_sharp) {
    ADD_FAILURE() << "no row within ten sizes";
    return false;
  }
  if (random.below(4) != 0 && !rows.empty()) {  // to touch, or nearly, along the normal of a row
    const Row<D>& row = rows[static_cast<std::size_t>(random.below(static_cast<int>(rows.size())))];
    pa.x += (small(random) * size - row.gap) * row.normal;
  }
  const double reach = size * std::pow(10.0, random.uniform(-3.0, 0.0));
  rows.clear();
  gaps(a.shape, pa, b.shape, pb, reach, rows);
  expect_sound(a, pa, b, pb, rows, size);
  const double apart = separation(a.shape, pa, b.shape, pb);
  Known known = distance<double>(a, pa, b, pb);
  const bool is_border = is_sharp && rows.empty() && meets_in_border(a, pa, b, pb);
  tally.borders += is_border && apart < 1e-8 * size ? 1 : 0;
  // Corners that are before no face, and that touch in a border.
  const bool is_corner = known.low > kMissed * size && !is_before_edge(a, pa, b, pb, known.high);
  const bool may_have_none = is_sharp && (is_corner || is_border);
  std::string wrong = fault(rows, apart, known, rounds, reach, size, may_have_none, tally);
  if (!wrong.empty()) {
    ++tally.finely;
    known = distance<long double>(a, pa, b, pb);
    wrong = fault(rows, apart, known, rounds, reach, size, may_have_none, tally, true);
    EXPECT_EQ(wrong, "") << text_of(rows, known, rounds, reach) << " corners "
                         << a.shape.corners.size() << ", " << b.shape.corners.size();
  }
  ++tally.pairs;
  if (std::abs(known.low - rounds) <= 1e-6 * size) ++tally.touching;
  if (known.high < 0.0) ++tally.overlapping;
  return !::testing::Test::HasFailure();
}

template <int D>
void fuzz(long few, double share, std::uint64_t seed) {
  const char* asked = std::getenv("RICOCHET_PAIRS");
  const long count = asked == nullptr ? few : std::lround(share * std::atof(asked));
  const char* offset = std::getenv("RICOCHET_SEED");
  base::Random random(seed + (offset == nullptr ? 0 : std::strtoull(offset, nullptr, 10)));
  Tally tally;
  for (long k = 0; k < count; ++k) {
    ASSERT_TRUE(try_pair<D>(random, tally)) << "pair " << k;
  }
  ::testing::Test::RecordProperty("pairs", static_cast<int>(tally.pairs));
  EXPECT_GT(tally.touching, count / 4);
  EXPECT_GT(tally.overlapping, count / 20);
  EXPECT_LT(tally.borders, count / 20);
  if (asked != nullptr) {
    std::printf("%ld pairs, %ld in long double, %ld touching, %ld overlapping, worst %.3g\n",
                tally.pairs, tally.finely, tally.touching, tally.overlapping, tally.worst);
  }
}

TEST(ShapeFuzz, NoTouchIsMissedInThePlane) { fuzz<2>(100'000, 0.9, 1); }
TEST(ShapeFuzz, NoTouchIsMissedInSpace) { fuzz<3>(8'000, 0.1, 2); }

}  // namespace
}  // namespace ricochet::shape::shape_fuzz_test
