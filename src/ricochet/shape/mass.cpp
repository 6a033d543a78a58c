#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "ricochet/shape/build.h"

namespace ricochet::shape {

namespace {

constexpr double kPi = std::numbers::pi;

/// Integrals over a solid: of 1, of x and of x x^T.
template <int D>
struct Moments {
  double m{0.0};
  Vec<D> x = Vec<D>::Zero();
  Mat<D> xx = Mat<D>::Zero();
};

const auto square = [](const auto& v) { return (v * v.transpose()).eval(); };
const auto twice = [](const auto& u, const auto& v) {
  return (u * v.transpose() + v * u.transpose()).eval();
};

/// Adds what is y + z with y from one set and z from another: a product of two integrals.
template <int D>
void add_sum(Moments<D>& sum, const Moments<D>& y, const Moments<D>& z) {
  sum.m += y.m * z.m;
  sum.x += y.x * z.m + y.m * z.x;
  sum.xx += y.xx * z.m + twice(y.x, z.x) + y.m * z.xx;
}

/// A simplex of measure m: int x = m mean, int x x^T = m (s s^T + sum p p^T) / ((k + 1)(k + 2)).
template <int D>
Moments<D> simplex(double m, const std::vector<Vec<D>>& corners) {
  const auto count = static_cast<double>(corners.size());
  Vec<D> sum = Vec<D>::Zero();
  Mat<D> squares = Mat<D>::Zero();
  for (const Vec<D>& p : corners) {
    sum += p;
    squares += square(p);
  }
  return {m, m / count * sum, m / (count * (count + 1.0)) * (square(sum) + squares)};
}

template <int D>
Moments<D> at_point(const Vec<D>& p) {
  return {1.0, p, square(p)};
}

/// The part of a disc of radius r between unit vectors u and v at an angle theta in [0, pi]. Both
/// lie in the plane of u and `across`, at a right angle to it.
template <int D>
Moments<D> sector(double r, double theta, const Vec<D>& middle, const Vec<D>& across) {
  const double sine = std::sin(theta);
  const double fourth = r * r * r * r / 8.0;
  return {0.5 * theta * r * r, 2.0 / 3.0 * r * r * r * std::sin(0.5 * theta) * middle,
          fourth * ((theta + sine) * square(middle) + (theta - sine) * square(across))};
}

/// The polygon, a strip along each edge, a sector at each corner.
void integrate(const Shape<2>& shape, Moments<2>& sum) {
  const double r = shape.round;
  const std::vector<Vec<2>>& p = shape.corners;
  const std::size_t count = p.size();
  for (std::size_t k = 1; k + 1 < count; ++k) {
    const Vec<2> u = p[k] - p[0];
    const Vec<2> v = p[k + 1] - p[0];
    add_sum(sum, simplex<2>(0.5 * (u[0] * v[1] - u[1] * v[0]), {p[0], p[k], p[k + 1]}),
            at_point<2>(Vec<2>::Zero()));
  }
  if (count == 1) {
    add_sum(sum, at_point(p[0]),
            {kPi * r * r, Vec<2>::Zero(), kPi / 4.0 * r * r * r * r * Mat<2>::Identity()});
    return;
  }
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t next = (k + 1) % count;
    const Vec<2> n = shape.faces[k].normal;
    const Vec<2> m = shape.faces[next].normal;
    const double length = (p[next] - p[k]).norm();
    add_sum(sum, simplex<2>(length, {p[k], p[next]}), simplex<2>(r, {Vec<2>::Zero(), r * n}));
    const double theta = std::abs(std::atan2(n[0] * m[1] - n[1] * m[0], n.dot(m)));
    const Vec<2> middle = Eigen::Rotation2Dd(0.5 * theta) * n;
    add_sum(sum, at_point(p[next]), sector<2>(r, theta, middle, Vec<2>(-middle[1], middle[0])));
  }
}

const Vec<3>& corner(const Shape<3>& shape, int i) {
  return shape.corners[static_cast<std::size_t>(i)];
}

/// Solid core and prisms of height r on its faces.
void add_faces(const Shape<3>& shape, Moments<3>& sum) {
  for (const Face<3>& face : shape.faces) {
    const auto at = [&](int k) { return corner(shape, shape.around[static_cast<std::size_t>(k)]); };
    for (int k = face.begin + 1; k + 1 < face.end; ++k) {
      const std::vector<Vec<3>> p = {at(face.begin), at(k), at(k + 1)};
      const Vec<3> area = 0.5 * (p[1] - p[0]).cross(p[2] - p[0]);
      add_sum(sum, simplex<3>(area.dot(p[0]) / 3.0, {p[0], p[1], p[2], Vec<3>::Zero()}),
              at_point<3>(Vec<3>::Zero()));
      add_sum(sum, simplex<3>(area.norm(), p),
              simplex<3>(shape.round, {Vec<3>::Zero(), shape.round * face.normal}));
    }
  }
}

double angle_between(const Vec<3>& u, const Vec<3>& v) {
  return std::atan2(u.cross(v).norm(), u.dot(v));
}

/// Wedges of a cylinder along edges. What the edges give to the corners at their ends is a part of
/// a ball over a polygon on the sphere, whose sides are arcs with the edge e, away from the corner,
/// as outward normal. By the divergence theorem on the sphere, with arcs of angle theta about
/// `middle`,
///   int u = -1/2 sum theta e,   int u u^T = (Omega 1 - sum 2 sin(theta/2) middle e^T) / 3,
/// and Omega = 2 pi - the sum of the angles of faces at the corner.
void add_edges_and_corners(const Shape<3>& shape, Moments<3>& sum) {
  const double r = shape.round;
  std::vector<Moments<3>> sphere(shape.corners.size());  // int over the polygon of 1, u, u u^T
  for (Moments<3>& part : sphere) part = {2.0 * kPi, Vec<3>::Zero(), Mat<3>::Zero()};
  for (const Face<3>& face : shape.faces) {
    const int count = face.end - face.begin;
    for (int k = 0; k < count; ++k) {
      const auto at = [&](int l) {
        return shape.around[static_cast<std::size_t>(face.begin + (k + l) % count)];
      };
      const Vec<3> p = corner(shape, at(1));
      sphere[static_cast<std::size_t>(at(1))].m -=
          angle_between(corner(shape, at(0)) - p, corner(shape, at(2)) - p);
    }
  }
  for (const Edge& edge : shape.edges) {
    const Vec<3> e = (corner(shape, edge.to) - corner(shape, edge.from)).normalized();
    const Vec<3> n = shape.faces[static_cast<std::size_t>(edge.left)].normal;
    const Vec<3> m = shape.faces[static_cast<std::size_t>(edge.right)].normal;
    const double theta = angle_between(n, m);
    const Vec<3> middle = (n + m).normalized();
    const double length = (corner(shape, edge.to) - corner(shape, edge.from)).norm();
    add_sum(sum, simplex<3>(length, {corner(shape, edge.from), corner(shape, edge.to)}),
            sector<3>(r, theta, middle, e.cross(middle)));
    for (const int end : {edge.from, edge.to}) {
      const Vec<3> away = end == edge.from ? e : Vec<3>(-e);
      Moments<3>& part = sphere[static_cast<std::size_t>(end)];
      part.x -= 0.5 * theta * away;
      part.xx -= twice(middle, away) * std::sin(0.5 * theta);
    }
  }
  for (std::size_t k = 0; k < sphere.size(); ++k) {
    const Moments<3>& part = sphere[k];
    const Mat<3> second = (part.m * Mat<3>::Identity() + part.xx) / 3.0;
    add_sum(
        sum, at_point(shape.corners[k]),
        {r * r * r / 3.0 * part.m, std::pow(r, 4) / 4.0 * part.x, std::pow(r, 5) / 5.0 * second});
  }
}

/// A ball, or two half balls and a cylinder.
void add_capsule(const Shape<3>& shape, Moments<3>& sum) {
  const double r = shape.round;
  const double ball = 4.0 / 3.0 * kPi * r * r * r;
  const Mat<3> one = Mat<3>::Identity();
  if (shape.corners.size() == 1) {
    add_sum(sum, at_point(shape.corners[0]), {ball, Vec<3>::Zero(), ball * r * r / 5.0 * one});
    return;
  }
  const Vec<3> along = shape.corners[1] - shape.corners[0];
  const Vec<3> e = along.normalized();
  for (int end = 0; end < 2; ++end) {
    const Vec<3> out = end == 0 ? Vec<3>(-e) : e;
    add_sum(sum, at_point(shape.corners[static_cast<std::size_t>(end)]),
            {0.5 * ball, 3.0 / 16.0 * ball * r * out, 0.1 * ball * r * r * one});
  }
  const double disc = kPi * r * r;
  add_sum(sum, simplex<3>(along.norm(), shape.corners),
          {disc, Vec<3>::Zero(), 0.25 * disc * r * r * (one - square(e))});
}

void integrate(const Shape<3>& shape, Moments<3>& sum) {
  const Vec<3>& c = shape.axes;
  if (shape.kind == Kind::Ellipsoid) {
    sum.m = 4.0 / 3.0 * kPi * c.prod();
    sum.xx = (sum.m / 5.0 * c.cwiseAbs2()).asDiagonal();
  } else if (shape.kind == Kind::Cylinder) {
    sum.m = 2.0 * kPi * c[0] * c[0] * c[2];
    sum.xx = (sum.m * Vec<3>(c[0] * c[0] / 4.0, c[0] * c[0] / 4.0, c[2] * c[2] / 3.0)).asDiagonal();
  } else if (shape.faces.empty()) {
    add_capsule(shape, sum);
  } else {
    add_faces(shape, sum);
    add_edges_and_corners(shape, sum);
  }
}

}  // namespace

template <int D>
MassProperties<D> mass_of(const Shape<D>& shape, double density) {
  demand(shape.kind != Kind::HalfSpace && shape.kind != Kind::Surface, "density",
         "half-spaces, chains and meshes have no mass", "they belong to fixed or driven bodies");
  demand(density >= 0.0 && std::isfinite(density), "density", "must be a number >= 0", "");
  Moments<D> sum;
  integrate(shape, sum);
  MassProperties<D> made;
  made.mass = density * sum.m;
  if (sum.m > 0.0) made.centre = sum.x / sum.m;
  const Mat<D> about = density * (sum.xx - sum.m * square(made.centre));
  if constexpr (D == 2) {
    made.inertia(0, 0) = about.trace();
  } else {
    made.inertia = about.trace() * Mat<D>::Identity() - about;
  }
  return made;
}

template MassProperties<2> mass_of(const Shape<2>&, double);
template MassProperties<3> mass_of(const Shape<3>&, double);

}  // namespace ricochet::shape
