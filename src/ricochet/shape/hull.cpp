#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "ricochet/shape/build.h"

namespace ricochet::shape {

namespace {

constexpr double kCoplanar = 1e-10;  // distance from a plane, in sizes, that counts as none

using Points = std::vector<Vec<3>>;
using Loop = std::vector<int>;

const Vec<3>& point(const Points& points, int i) { return points[static_cast<std::size_t>(i)]; }

/// By the first coordinate, then by the next.
template <int D>
bool is_before(const Vec<D>& a, const Vec<D>& b) {
  return std::lexicographical_compare(a.data(), a.data() + D, b.data(), b.data() + D);
}

/// Turns a plane with outward normal n, all points behind it, about the line through `from` along
/// `axis` until it meets the next point, on the side of n x axis last. Returns the new normal.
Vec<3> pivot(const Points& points, const Vec<3>& from, const Vec<3>& axis, const Vec<3>& n,
             double slip) {
  const Vec<3> inwards = n.cross(axis);
  double most = -1.0;
  Vec<3> best = n;
  for (const Vec<3>& p : points) {
    const Vec<3> way = (p - from) - axis * axis.dot(p - from);
    if (way.norm() <= slip) continue;
    const double angle = std::atan2(std::max(0.0, -n.dot(way)), inwards.dot(way));
    if (angle <= most) continue;
    most = angle;
    best = way.cross(axis).normalized();
  }
  return best;
}

/// The corners of a plane face, counterclockwise seen against its normal n, without those on its
/// sides.
Loop face_loop(const Points& points, const Vec<3>& on, const Vec<3>& n, double slip) {
  const Vec<3> u = n.unitOrthogonal();
  const Vec<3> v = n.cross(u);
  std::vector<std::pair<Vec<2>, int>> flat;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec<3> way = points[i] - on;
    if (std::abs(n.dot(way)) <= slip)
      flat.push_back({{u.dot(way), v.dot(way)}, static_cast<int>(i)});
  }
  std::sort(flat.begin(), flat.end(),
            [](const auto& a, const auto& b) { return is_before<2>(a.first, b.first); });
  std::vector<std::pair<Vec<2>, int>> hull;
  for (int pass = 0; pass < 2; ++pass) {  // lower side, then upper side
    const std::size_t start = hull.size();
    for (const auto& next : flat) {
      while (hull.size() >= start + 2) {
        const Vec<2> a = hull.back().first - hull[hull.size() - 2].first;
        const Vec<2> b = next.first - hull[hull.size() - 2].first;
        if (a[0] * b[1] - a[1] * b[0] > slip * (a.norm() + b.norm())) break;
        hull.pop_back();
      }
      hull.push_back(next);
    }
    hull.pop_back();
    std::reverse(flat.begin(), flat.end());
  }
  Loop loop;
  for (const auto& corner : hull) loop.push_back(corner.second);
  return loop;
}

/// Faces of the hull: from each the neighbours over its edges, until every edge has two.
std::vector<std::pair<Loop, Vec<3>>> wrap(const Points& points, double slip) {
  const auto lowest = std::min_element(points.begin(), points.end(), is_before<3>);
  // The plane x = least, turned about y until it meets a point, then about the line of both.
  const Vec<3> along = Vec<3>(0.0, 1.0, 0.0);
  Vec<3> n = pivot(points, *lowest, along, Vec<3>(-1.0, 0.0, 0.0), slip);
  Vec<3> second = *lowest;
  for (const Vec<3>& p : points) {
    const bool is_on = std::abs(n.dot(p - *lowest)) <= slip;
    if (is_on && (p - *lowest).norm() > (second - *lowest).norm()) second = p;
  }
  n = pivot(points, *lowest, (second - *lowest).normalized(), n, slip);
  std::vector<std::pair<Loop, Vec<3>>> faces{{face_loop(points, *lowest, n, slip), n}};
  std::map<std::pair<int, int>, bool> edges;
  for (std::size_t f = 0; f < faces.size() && f <= 2 * points.size(); ++f) {
    const Loop loop = faces[f].first;
    for (std::size_t k = 0; k < loop.size(); ++k)
      edges[{loop[k], loop[(k + 1) % loop.size()]}] = true;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const int i = loop[k];
      const int j = loop[(k + 1) % loop.size()];
      if (edges.contains({j, i})) continue;
      const Vec<3> axis = (point(points, j) - point(points, i)).normalized();
      const Vec<3> next = pivot(points, point(points, i), axis, faces[f].second, slip);
      faces.push_back({face_loop(points, point(points, i), next, slip), next});
      const Loop& added = faces.back().first;
      for (std::size_t l = 0; l < added.size(); ++l) {
        edges[{added[l], added[(l + 1) % added.size()]}] = true;
      }
    }
  }
  return faces;
}

Points without_copies(const Points& points, double slip) {
  Points made;
  for (const Vec<3>& p : points) {
    const auto is_near = [&](const Vec<3>& other) { return (p - other).norm() <= slip; };
    if (std::none_of(made.begin(), made.end(), is_near)) made.push_back(p);
  }
  return made;
}

/// Whether the points span a volume, by the largest of some tetrahedra.
bool have_volume(const Points& points, double size) {
  const Vec<3>& first = points[0];
  Vec<3> far = first;
  Vec<3> wide = Vec<3>::Zero();
  double volume = 0.0;
  for (const Vec<3>& p : points) {
    if ((p - first).norm() > (far - first).norm()) far = p;
  }
  for (const Vec<3>& p : points) {
    const Vec<3> area = (far - first).cross(p - first);
    if (area.norm() > wide.norm()) wide = area;
  }
  for (const Vec<3>& p : points) volume = std::max(volume, std::abs(wide.dot(p - first)));
  return volume > kCoplanar * size * size * size;
}

}  // namespace

/// How an edge between two faces turns: by the corner of one that is furthest from the other.
static int turn_of(const Shape<3>& shape, const Edge& edge) {
  if (edge.right < 0) return 1;
  const Vec<3>& n = shape.faces[static_cast<std::size_t>(edge.left)].normal;
  const Face<3>& other = shape.faces[static_cast<std::size_t>(edge.right)];
  double most = 0.0;  // sine of the angle
  for (int k = other.begin; k < other.end; ++k) {
    const Vec<3> way = point(shape.corners, shape.around[static_cast<std::size_t>(k)]) -
                       point(shape.corners, edge.from);
    const double sine = n.dot(way) / std::max(way.norm(), kFlat);
    if (std::abs(sine) > std::abs(most)) most = sine;
  }
  if (std::abs(most) <= kSmooth && n.dot(other.normal) > 0.0) return 0;
  return most > 0.0 ? -1 : 1;
}

void add_edges(Shape<3>& shape) {
  std::map<std::pair<int, int>, int> border_of;  // of a directed edge: where it begins in `around`
  std::vector<int> face_of;
  for (std::size_t f = 0; f < shape.faces.size(); ++f) {
    const Face<3>& face = shape.faces[f];
    for (int k = face.begin; k < face.end; ++k) {
      const int next = k + 1 < face.end ? k + 1 : face.begin;
      const std::pair ends(shape.around[static_cast<std::size_t>(k)],
                           shape.around[static_cast<std::size_t>(next)]);
      demand(border_of.emplace(ends, k).second, "mesh",
             "two triangles have an edge in the same direction", "turn one of them over");
      face_of.push_back(static_cast<int>(f));
    }
  }
  shape.beside.resize(shape.around.size());
  for (const auto& [ends, border] : border_of) {
    const auto other = border_of.find({ends.second, ends.first});
    if (other != border_of.end() && ends.first > ends.second) continue;
    const int number = static_cast<int>(shape.edges.size());
    Edge edge{ends.first, ends.second, face_of[static_cast<std::size_t>(border)], -1, 1};
    shape.beside[static_cast<std::size_t>(border)] = number;
    if (other != border_of.end()) {
      edge.right = face_of[static_cast<std::size_t>(other->second)];
      shape.beside[static_cast<std::size_t>(other->second)] = number;
    }
    edge.turn = turn_of(shape, edge);
    shape.edges.push_back(edge);
  }
}

Shape<3> polytope(const Points& given, double round) {
  demand_round(round, "polytope");
  demand_finite<3>(given, "polytope");
  double size = 0.0;
  for (const Vec<3>& p : given) size = std::max(size, (p - given[0]).norm());
  const Points points = without_copies(given, kCoplanar * size);
  demand(points.size() >= 4, "polytope", "a polytope has four corners or more",
         "use a capsule or a sphere");
  demand(have_volume(points, size), "polytope", "the corners lie in one plane",
         "a polytope needs a volume");
  Shape<3> made;
  made.round = round;
  std::vector<int> number(points.size(), -1);  // of those that are corners of the hull
  const auto faces = wrap(points, kCoplanar * size);
  for (const auto& [loop, n] : faces) {
    for (const int i : loop) number[static_cast<std::size_t>(i)] = 0;
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (number[i] < 0) continue;
    number[i] = static_cast<int>(made.corners.size());
    made.corners.push_back(points[i]);
  }
  for (const auto& [loop, n] : faces) {
    const int begin = static_cast<int>(made.around.size());
    for (const int i : loop) made.around.push_back(number[static_cast<std::size_t>(i)]);
    made.faces.push_back({n, begin, static_cast<int>(made.around.size())});
  }
  add_edges(made);
  enclose(made);
  return made;
}

}  // namespace ricochet::shape
