#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "ricochet/shape/gaps.h"

namespace ricochet::shape {

namespace {

/// Largest n . x over the shape, n a unit vector; x relative to `origin`.
template <int D>
double support(const Shape<D>& shape, const Pose<D>& pose, const Vec<D>& origin, const Vec<D>& n) {
  const Vec<D> m = pose.R.transpose() * n;
  double most = 0.0;
  if (shape.kind == Kind::Ellipsoid) {
    most = shape.axes.cwiseProduct(m).norm();
  } else if (shape.kind == Kind::Cylinder) {
    most = shape.axes[0] * m.template head<2>().norm() + shape.axes[D - 1] * std::abs(m[D - 1]);
  } else {
    most = m.dot(shape.corners[0]);
    for (const Vec<D>& corner : shape.corners) most = std::max(most, m.dot(corner));
    most += shape.round;
  }
  return n.dot(pose.x - origin) + most;
}

/// The best bound so far, over the directions that are tried.
template <int D>
struct Search {
  const Shape<D>& a;
  const Pose<D>& pa;
  const Shape<D>& b;
  const Pose<D>& pb;
  double enough;
  double best{-std::numeric_limits<double>::infinity()};

  bool is_done() const { return best > enough; }
  void attempt(const Vec<D>& way) {
    const double length = way.norm();
    if (!(length > 0.0) || is_done()) return;
    const Vec<D> n = way / length;
    const double bound = -support<D>(a, pa, pb.x, -n) - support<D>(b, pb, pb.x, n);
    best = std::max(best, bound);
  }
  void attempt_both(const Vec<D>& way) {
    attempt(way);
    attempt(-way);
  }
};

/// Two shapes whose nearest points may be inside of an edge: the ways across each.
template <int D>
std::vector<std::pair<Vec<D>, Vec<D>>> segments(const Shape<D>& shape, const Pose<D>& pose,
                                                const Vec<D>& origin) {
  std::vector<std::pair<Vec<D>, Vec<D>>> made;
  const auto add = [&](int i, int j) {
    const Vec<D> from = pose.R * shape.corners[static_cast<std::size_t>(i)] + pose.x - origin;
    const Vec<D> to = pose.R * shape.corners[static_cast<std::size_t>(j)] + pose.x - origin;
    made.push_back({from, to - from});
  };
  if constexpr (D == 3) {
    for (const Edge& edge : shape.edges) add(edge.from, edge.to);
  } else {
    for (const Face<D>& face : shape.faces) {
      add(shape.around[static_cast<std::size_t>(face.begin)],
          shape.around[static_cast<std::size_t>(face.begin + 1)]);
    }
  }
  return made;
}

/// Normals of faces, then ways across two edges.
template <int D>
void try_flat(Search<D>& search) {
  for (const Face<D>& face : search.b.faces) search.attempt(search.pb.R * face.normal);
  for (const Face<D>& face : search.a.faces) search.attempt(-(search.pa.R * face.normal));
  if constexpr (D == 3) {
    if (search.is_done()) return;
    const auto of_a = segments(search.a, search.pa, search.pb.x);
    const auto of_b = segments(search.b, search.pb, search.pb.x);
    for (const auto& [p, u] : of_a) {
      for (const auto& [q, v] : of_b) {
        Vec<D> way = u.cross(v);
        for (const Vec<D>& along : {u, v}) way -= along * (along.dot(way) / along.squaredNorm());
        search.attempt_both(way);  // square to both to rounding also when they are nearly parallel
      }
    }
  }
}

/// From corners to corners, and from corners square to edges.
template <int D>
void try_round(Search<D>& search) {
  const Vec<D>& origin = search.pb.x;
  const auto of_a = segments(search.a, search.pa, origin);
  const auto of_b = segments(search.b, search.pb, origin);
  const auto across = [&](const Vec<D>& p, const auto& edges, double sign) {
    for (const auto& [q, v] : edges) {
      Vec<D> way = p - q;
      for (int pass = 0; pass < 2; ++pass) {  // square to it to rounding also when short
        way -= v * (v.dot(way) / v.squaredNorm());
      }
      search.attempt(sign * way);
    }
  };
  for (const Vec<D>& corner : search.a.corners) {
    const Vec<D> p = search.pa.R * corner + (search.pa.x - origin);
    across(p, of_b, 1.0);
    for (const Vec<D>& other : search.b.corners) search.attempt(p - search.pb.R * other);
  }
  for (const Vec<D>& corner : search.b.corners) across(search.pb.R * corner, of_a, -1.0);
}

/// Face f of a surface, thin, with both its sides.
template <int D>
void cut_piece(const Shape<D>& ground, const Face<D>& face, Shape<D>& piece) {
  piece.corners.clear();
  piece.edges.clear();
  const int count = face.end - face.begin;
  for (int k = 0; k < count; ++k) {
    piece.corners.push_back(ground.corners[static_cast<std::size_t>(
        ground.around[static_cast<std::size_t>(face.begin + k)])]);
    if (D == 3) piece.edges.push_back({k, (k + 1) % count});
  }
  piece.around = {0, 1};
  piece.faces = {{face.normal, 0, 2}, {-face.normal, 0, 2}};
  piece.round = ground.round;
  piece.centre = piece.corners[0];
  piece.extent = 0.0;
  for (const Vec<D>& corner : piece.corners) {
    piece.extent = std::max(piece.extent, (corner - piece.centre).norm());
  }
}

/// From the nearest face, beginning with the group of faces whose ball is nearest; groups and faces
/// whose balls are further away than what was found are left out.
template <int D>
double from_surface(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& ground,
                    const Pose<D>& below, double enough) {
  const auto apart = [&](const Vec<D>& centre, double extent) {
    const Vec<D> between = pa.x - below.x + pa.R * a.centre - below.R * centre;
    return between.norm() - a.extent - extent - ground.round;
  };
  double least = std::numeric_limits<double>::infinity();
  Shape<D> piece;
  const auto look_at = [&](const Group<D>& group) {
    if (apart(group.centre, group.extent) > least) return;
    for (int f = group.begin; f < group.end; ++f) {
      cut_piece(ground, ground.faces[static_cast<std::size_t>(f)], piece);
      if (apart(piece.centre, piece.extent) > least) continue;
      least = std::min(least, separation<D>(a, pa, piece, below, std::min(enough, least)));
    }
  };
  const auto first = std::min_element(
      ground.groups.begin(), ground.groups.end(), [&](const Group<D>& g, const Group<D>& h) {
        return apart(g.centre, g.extent) < apart(h.centre, h.extent);
      });
  if (first == ground.groups.end()) return least;
  look_at(*first);
  for (const Group<D>& group : ground.groups) {
    if (&group != &*first) look_at(group);
  }
  return least;
}

}  // namespace

template <int D>
double separation(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb,
                  double enough) {
  if (a.kind == Kind::HalfSpace) return separation(b, pb, a, pa, enough);
  if (b.kind == Kind::HalfSpace) {
    const Vec<D> n = pb.R * b.faces[0].normal;
    return -support<D>(a, pa, pb.x, -n) - b.faces[0].normal.dot(b.corners[0]);
  }
  if (a.kind == Kind::Surface) return separation(b, pb, a, pa, enough);
  if (b.kind == Kind::Surface) return from_surface(a, pa, b, pb, enough);
  Search<D> search{a, pa, b, pb, enough};
  search.attempt(pa.x - pb.x + pa.R * a.centre - pb.R * b.centre);
  if (!search.is_done()) try_flat(search);
  if (!search.is_done()) try_round(search);
  return search.best;
}

template double separation(const Shape<2>&, const Pose<2>&, const Shape<2>&, const Pose<2>&,
                           double);
template double separation(const Shape<3>&, const Pose<3>&, const Shape<3>&, const Pose<3>&,
                           double);

}  // namespace ricochet::shape
