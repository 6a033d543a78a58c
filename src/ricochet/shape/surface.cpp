#include "ricochet/shape/surface.h"

#include <cmath>

namespace ricochet::shape {

template <int D>
SurfacePair<D>::SurfacePair(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b,
                            const Pose<D>& pb)
    : is_turned_(a.kind == Kind::Surface),
      body_{is_turned_ ? b : a, is_turned_ ? pb.R : pa.R,
            is_turned_ ? Vec<D>(pb.x - pa.x) : Vec<D>(pa.x - pb.x)},
      ground_{is_turned_ ? a : b, is_turned_ ? pa.R : pb.R, Vec<D>::Zero()},
      origin_(is_turned_ ? pa.x : pb.x),
      rounds_(a.round + b.round) {
  const double far = pa.x.cwiseAbs().maxCoeff() + pb.x.cwiseAbs().maxCoeff();
  slip_ = kSlip * (a.extent + b.extent) + 4.0 * std::numeric_limits<double>::epsilon() * far;
  flush_ = std::max(kFlush * body_.shape.extent, 4.0 * slip_);
}

/// Whether `visit` is true for all faces within a distance of p; further ones may be among them.
template <int D>
template <class Visit>
bool SurfacePair<D>::all_near(const Vec<D>& p, double within, Visit&& visit) const {
  const Vec<D> at = ground_.R.transpose() * (p - ground_.x);
  for (const Group<D>& group : ground_.shape.groups) {
    const double far = within + group.extent + slip_;
    if ((at - group.centre).squaredNorm() > far * far) continue;
    const double near = within + group.longest + slip_;
    for (int f = group.begin; f < group.end; ++f) {
      if ((at - first_corner(f)).squaredNorm() > near * near) continue;
      if (!visit(f)) return false;
    }
  }
  return true;
}

/// Of face f, in the frame of the ground.
template <int D>
const Vec<D>& SurfacePair<D>::first_corner(int f) const {
  const int corner = ground_.around(ground_.face(f).begin);
  return ground_.shape.corners[static_cast<std::size_t>(corner)];
}

/// From p to the nearest first corner of a face.
template <int D>
double SurfacePair<D>::nearest(const Vec<D>& p) const {
  const Vec<D> at = ground_.R.transpose() * (p - ground_.x);
  double least = std::numeric_limits<double>::infinity();
  for (const Group<D>& group : ground_.shape.groups) {
    least = std::min(least, (at - group.centre).norm() + group.extent);
  }
  all_near(p, least, [&](int f) {
    least = std::min(least, (at - first_corner(f)).norm());
    return true;
  });
  return least;
}

/// How far p is before face f.
template <int D>
double SurfacePair<D>::height(int f, const Vec<D>& p) const {
  return ground_.normal(f).dot(p - ground_.corner(ground_.around(ground_.face(f).begin)));
}

/// How far the foot of p on face f lies outside, across border k of the face.
template <int D>
double SurfacePair<D>::outside(int f, int k, const Vec<D>& p) const {
  const Face<D>& face = ground_.face(f);
  const int next = k + 1 < face.end ? k + 1 : face.begin;
  const Vec<D> from = ground_.corner(ground_.around(k));
  const Vec<D> along = ground_.corner(ground_.around(next)) - from;
  if constexpr (D == 2) {
    return along.dot(from - p) / along.norm();
  } else {
    const Vec<D> out = along.cross(ground_.normal(f));
    return out.dot(p - from) / out.norm();
  }
}

/// The face across border k of face f; -1 where there is none or they are not hollow.
template <int D>
int SurfacePair<D>::neighbour(int f, int k) const {
  const Edge& edge = ground_.edge(ground_.shape.beside[static_cast<std::size_t>(k)]);
  if (edge.turn >= 0) return -1;
  return edge.left == f ? edge.right : edge.left;
}

/// Whether p is behind face f and not outside, but for hollow borders.
template <int D>
bool SurfacePair<D>::is_under(int f, const Vec<D>& p) const {
  if (height(f, p) > slip_) return false;
  for (int k = ground_.face(f).begin; k < ground_.face(f).end; ++k) {
    if (outside(f, k, p) > slip_ && neighbour(f, k) < 0) return false;
  }
  return true;
}

/// Whether p is over face f: its foot inside, or outside where p is in the solid under a hollow
/// edge.
template <int D>
bool SurfacePair<D>::is_over(int f, const Vec<D>& p) const {
  const double before = height(f, p);
  for (int k = ground_.face(f).begin; k < ground_.face(f).end; ++k) {
    if (outside(f, k, p) <= slip_) continue;
    const int other = before > 0.0 ? -1 : neighbour(f, k);
    if (other < 0 || !is_under(other, p)) return false;
  }
  return true;
}

/// From p to the nearest point of face f.
template <int D>
double SurfacePair<D>::distance(int f, const Vec<D>& p) const {
  if (foot_inside(ground_, f, p, 0.0)) return std::abs(height(f, p));
  const Face<D>& face = ground_.face(f);
  double least = std::numeric_limits<double>::infinity();
  for (int k = face.begin; k < face.end; ++k) {
    const Vec<D> from = ground_.corner(ground_.around(k));
    const Vec<D> along =
        ground_.corner(ground_.around(k + 1 < face.end ? k + 1 : face.begin)) - from;
    const double share = std::clamp(along.dot(p - from) / along.squaredNorm(), 0.0, 1.0);
    least = std::min(least, (from + share * along - p).norm());
  }
  return least;
}

/// Whether no face is nearer to p, but for those at hollow edges of this one that p is behind too,
/// and those that other corners of the body are far behind: they do not hold it.
template <int D>
bool SurfacePair<D>::is_shallowest(int f, const Vec<D>& p) const {
  const double depth = distance(f, p);
  return all_near(p, depth, [&](int g) {
    if (g == f || distance(g, p) >= depth - slip_) return true;
    bool is_same_hollow = false;
    for (int k = ground_.face(f).begin; k < ground_.face(f).end; ++k) {
      is_same_hollow = is_same_hollow || neighbour(f, k) == g;
    }
    const double before = height(g, p);
    if (before > 0.0) return false;
    return is_same_hollow || !body_is_before(g, before - depth - slip_);
  });
}

/// Whether a way from edge e leads off both of its faces, on the free side.
template <int D>
bool SurfacePair<D>::is_beyond(int e, const Vec<D>& way) const {
  const Edge& edge = ground_.edge(e);
  if (edge.turn <= 0) return false;
  bool is_before = false;
  for (const int f : {edge.left, edge.right}) {
    if (f < 0) continue;
    const Vec<D> p = ground_.corner(edge.from) + way;
    for (int k = ground_.face(f).begin; k < ground_.face(f).end; ++k) {
      if (ground_.shape.beside[static_cast<std::size_t>(k)] != e) continue;
      if (outside(f, k, p) < slip_) return false;
    }
    is_before = is_before || ground_.normal(f).dot(way) > 0.0;
  }
  return is_before;
}

/// Whether a way from corner j leads off all its edges, on the free side of one of its faces.
template <int D>
bool SurfacePair<D>::is_outside_corner(int j, const Vec<D>& way) const {
  const Vec<D> from = ground_.corner(j);
  const auto at = static_cast<std::size_t>(j);
  const std::vector<int>& fans = ground_.shape.fans;
  bool is_before = false;
  for (int k = fans[at]; k < fans[at + 1]; ++k) {
    const Edge& edge = ground_.edge(ground_.shape.fan[static_cast<std::size_t>(k)]);
    const Vec<D> along = ground_.corner(edge.from == j ? edge.to : edge.from) - from;
    if (along.dot(way) > slip_ * along.norm()) return false;
    is_before = is_before || ground_.normal(edge.left).dot(way) > 0.0;
  }
  return is_before;
}

/// Whether no point of the body is nearer to where `way` comes from than its corner i.
template <int D>
bool SurfacePair<D>::is_nearest_of_body(int i, const Vec<D>& way) const {
  for (int k = 0; k < body_.corners(); ++k) {
    const Vec<D> along = body_.corner(k) - body_.corner(i);
    if (way.dot(along) < -slip_ * along.norm()) return false;
  }
  return true;
}

/// From foot b to point a.
template <int D>
static bool join(Facing<D>& at) {
  at.n = at.a - at.b;
  at.gap = at.n.norm();
  if (!(at.gap > 0.0)) return false;
  at.n /= at.gap;
  return true;
}

template <int D>
bool SurfacePair<D>::corner_face(int i, int f, Facing<D>& at) const {
  at.a = body_.corner(i);
  at.n = ground_.normal(f);
  at.gap = height(f, at.a);
  at.b = at.a - at.gap * at.n;
  return is_over(f, at.a) && (at.gap > 0.0 || is_shallowest(f, at.a));
}

template <int D>
bool SurfacePair<D>::corner_joint(int i, int e, Facing<D>& at) const {
  const Edge& edge = ground_.edge(e);
  const Vec<D> from = ground_.corner(edge.from);
  const Vec<D> along = ground_.corner(edge.to) - from;
  const double length = along.norm();
  at.a = body_.corner(i);
  at.b = from;
  if (D == 3) {
    const double share = along.dot(at.a - from) / length;
    if (!(share > slip_) || !(share < length - slip_)) return false;
    at.b += share / length * along;
  }
  return join(at) && is_beyond(e, at.a - at.b) && is_nearest_of_body(i, at.a - at.b);
}

/// In space.
template <int D>
bool SurfacePair<D>::corner_corner(int i, int j, Facing<D>& at) const {
  at.a = body_.corner(i);
  at.b = ground_.corner(j);
  return join(at) && is_outside_corner(j, at.a - at.b) && is_nearest_of_body(i, at.a - at.b);
}

/// In the plane: a corner of the ground that sticks out before an edge of the body.
template <int D>
bool SurfacePair<D>::face_joint(int f, int e, Facing<D>& at) const {
  const Edge& edge = ground_.edge(e);
  at.b = ground_.corner(edge.from);
  at.n = -body_.normal(f);
  const auto before = [&](int g) {
    return body_.normal(g).dot(at.b - body_.corner(body_.around(body_.face(g).begin)));
  };
  at.gap = before(f);
  at.a = at.b + at.gap * at.n;
  Vec<D> out = Vec<D>::Zero();
  for (const int g : {edge.left, edge.right}) {
    if (g >= 0) out += ground_.normal(g);
  }
  if (edge.turn <= 0 || at.n.dot(out) <= 0.0 || !foot_inside(body_, f, at.b, slip_)) return false;
  for (int g = 0; g < body_.faces() && at.gap <= 0.0; ++g) {
    const bool may_hold = body_.normal(g).dot(out) < 0.0;
    if (before(g) > (may_hold ? at.gap : 0.0) + slip_) return false;
  }
  return true;
}

/// In space: a segment across an edge of the ground that sticks out.
template <int D>
bool SurfacePair<D>::edge_joint(int i, int e, Facing<D>& at) const {
  if constexpr (D == 3) {
    const Edge& edge = ground_.edge(e);
    const Vec<D> p = body_.corner(body_.edge(i).from);
    const Vec<D> q = ground_.corner(edge.from);
    const Vec<D> u = body_.corner(body_.edge(i).to) - p;
    const Vec<D> v = ground_.corner(edge.to) - q;
    const Vec<D> c = u.cross(v);
    if (edge.turn <= 0 || !(c.norm() > kParallel * u.norm() * v.norm())) return false;
    const double s = (q - p).cross(v).dot(c) / c.squaredNorm();
    const double t = (q - p).cross(u).dot(c) / c.squaredNorm();
    at.a = p + s * u;
    at.b = q + t * v;
    if (s < 0.0 || s > 1.0 || t < 0.0 || t > 1.0 || !join(at)) return false;
    return is_beyond(e, at.a - at.b);
  } else {
    return false;
  }
}

/// In space: a corner of the ground beside a segment.
template <int D>
bool SurfacePair<D>::edge_corner(int i, int j, Facing<D>& at) const {
  const Vec<D> p = body_.corner(body_.edge(i).from);
  const Vec<D> along = body_.corner(body_.edge(i).to) - p;
  at.b = ground_.corner(j);
  const double share = along.dot(at.b - p) / along.squaredNorm();
  at.a = p + share * along;
  if (!(share > 0.0) || !(share < 1.0) || !join(at)) return false;
  return is_outside_corner(j, at.a - at.b);
}

template <int D>
Row<D> SurfacePair<D>::made(Feature feature, int i, int j, const Facing<D>& at) const {
  const Vec<D> on_body = origin_ + at.a - body_.shape.round * at.n;
  const Vec<D> on_ground = origin_ + at.b + ground_.shape.round * at.n;
  const double gap = at.gap - rounds_;
  if (!is_turned_) return {key_of(feature, i, j), gap, at.n, on_body, on_ground};
  return {key_of(turned(feature), j, i), gap, -at.n, on_ground, on_body};
}

/// Feature i of the body, j of the ground. An edge in the plane is a corner.
template <int D>
bool SurfacePair<D>::measure(Feature feature, int i, int j, Facing<D>& at) const {
  const bool has_corner = i < body_.corners();
  const bool has_joint = j < ground_.edges();
  switch (feature) {
    case Feature::CornerFace: return has_corner && j < ground_.faces() && corner_face(i, j, at);
    case Feature::CornerEdge: return has_corner && has_joint && corner_joint(i, j, at);
    case Feature::CornerCorner:
      return D == 3 && has_corner && j < ground_.corners() && corner_corner(i, j, at);
    case Feature::FaceCorner:
      return D == 2 && i < body_.faces() && has_joint && face_joint(i, j, at);
    case Feature::EdgeEdge: return i < body_.edges() && has_joint && edge_joint(i, j, at);
    case Feature::EdgeCorner:
      return i < body_.edges() && j < ground_.corners() && edge_corner(i, j, at);
    default: return false;
  }
}

/// Whether the body lies before face f, or would do so once it has moved by what is within reach:
/// see CorePair::separates.
template <int D>
bool SurfacePair<D>::body_is_before(int f, double least) const {
  for (int i = 0; i < body_.corners(); ++i) {
    if (height(f, body_.corner(i)) < least) return false;
  }
  return true;
}

/// In the plane: the same of the ground on both sides of its corner e, as far as the body reaches,
/// before edge f of the body. Beyond a hollow the ground is another hill.
template <int D>
bool SurfacePair<D>::ground_is_before(int f, int e, double least) const {
  const Vec<D> from = body_.corner(body_.around(body_.face(f).begin));
  for (const bool goes_left : {true, false}) {
    int at = e;
    double way = 2.0 * body_.shape.extent;
    for (int count = 0; count < ground_.faces() && way > 0.0; ++count) {
      const int g = goes_left ? ground_.edge(at).left : ground_.edge(at).right;
      if (g < 0) break;
      const Vec<D> here = ground_.corner(at);
      const int next = ground_.around(ground_.face(g).begin + (goes_left ? 1 : 0));
      const Vec<D> along = ground_.corner(next) - here;
      const Vec<D> there = here + std::min(1.0, way / along.norm()) * along;
      if (body_.normal(f).dot(there - from) < least) return false;
      way -= along.norm();
      at = next;
      if (ground_.edge(at).turn < 0) break;
    }
  }
  return true;
}

/// Whether p, before face f, is at a border that sticks out and beyond which all of the body lies:
/// see CorePair::is_flush.
template <int D>
bool SurfacePair<D>::body_passes(int f, const Vec<D>& p) const {
  for (int k = ground_.face(f).begin; k < ground_.face(f).end; ++k) {
    if (ground_.edge(ground_.shape.beside[static_cast<std::size_t>(k)]).turn <= 0) continue;
    if (outside(f, k, p) < -flush_) continue;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < body_.corners(); ++i) {
      least = std::min(least, outside(f, k, body_.corner(i)));
    }
    if (least >= -flush_) return true;
  }
  return false;
}

/// In the plane: whether corner e of the ground is at an end of edge f of the body, and both faces
/// beside it lie beyond that.
template <int D>
bool SurfacePair<D>::ground_passes(int f, int e) const {
  const Vec<D> begin = body_.corner(body_.around(body_.face(f).begin));
  const Vec<D> end = body_.corner(body_.around(body_.face(f).begin + 1));
  const Vec<D> along = (end - begin).normalized();
  const auto inside = [&](const Vec<D>& p, bool of_begin) {
    return of_begin ? along.dot(p - begin) : along.dot(end - p);
  };
  for (const bool of_begin : {true, false}) {
    double farthest = inside(ground_.corner(e), of_begin);
    for (const int g : {ground_.edge(e).left, ground_.edge(e).right}) {
      for (int k = 0; g >= 0 && k < 2; ++k) {
        const Vec<D> p = ground_.corner(ground_.around(ground_.face(g).begin + k));
        farthest = std::max(farthest, inside(p, of_begin));
      }
    }
    if (farthest <= flush_) return true;
  }
  return false;
}

/// Whether a row's plane is what holds the body and the ground apart, and nothing stumbles over it
/// that passes: as between convex shapes. What touches a bend is held by it, as nobody else is
/// there to do so.
template <int D>
bool SurfacePair<D>::is_held(Feature feature, int i, int j, const Facing<D>& at,
                             double within) const {
  const bool is_sharp = rounds_ == 0.0;
  const bool may_pass = is_sharp && at.gap > flush_;
  const double least = std::min(0.0, at.gap) - within;
  switch (feature) {
    case Feature::CornerEdge:
    case Feature::CornerCorner: return !is_sharp;
    case Feature::CornerFace:
      if (may_pass && body_passes(j, at.a)) return false;
      return body_is_before(j, least);
    case Feature::FaceCorner:
      if (may_pass && ground_passes(i, j)) return false;
      return ground_is_before(i, j, least);
    default: return true;
  }
}

/// Whether edge e, or a corner, is to be tried with face f, and not with another beside it.
template <int D>
bool SurfacePair<D>::owns_edge(int f, int e) const {
  const Edge& edge = ground_.edge(e);
  return f == (edge.left >= 0 ? edge.left : edge.right);
}

template <int D>
bool SurfacePair<D>::owns_corner(int f, int j) const {
  const Shape<D>& ground = ground_.shape;
  const int first = ground.fans[static_cast<std::size_t>(j)];
  return owns_edge(f, ground.fan[static_cast<std::size_t>(first)]);
}

/// All features of the body with the edges and corners of face f.
template <int D>
template <class Try>
void SurfacePair<D>::try_borders(int f, const Try& attempt) const {
  const auto try_all = [&](Feature feature, int of_body, int j) {
    for (int i = 0; i < of_body; ++i) attempt(feature, i, j);
  };
  for (int k = ground_.face(f).begin; k < ground_.face(f).end; ++k) {
    const int e = ground_.shape.beside[static_cast<std::size_t>(k)];
    if (owns_edge(f, e)) {
      try_all(Feature::CornerEdge, body_.corners(), e);
      try_all(D == 2 ? Feature::FaceCorner : Feature::EdgeEdge,
              D == 2 ? body_.faces() : body_.edges(), e);
    }
    if (D == 2 || !owns_corner(f, ground_.around(k))) continue;
    try_all(Feature::CornerCorner, body_.corners(), ground_.around(k));
    try_all(Feature::EdgeCorner, body_.edges(), ground_.around(k));
  }
}

/// A corner far behind a face is held by it where no other face is nearer: what is further from the
/// body than the nearest face by twice its size holds nothing.
template <int D>
void SurfacePair<D>::rows(double reach, std::vector<Row<D>>& out) const {
  const double most = reach + rounds_;
  const auto attempt = [&](Feature feature, int i, int j) {
    Facing<D> at;
    if (!measure(feature, i, j, at) || at.gap > most) return;
    if (is_held(feature, i, j, at, most + slip_)) out.push_back(made(feature, i, j, at));
  };
  const Vec<D> middle = body_.x + body_.R * body_.shape.centre;
  const double size = body_.shape.extent;
  const double within = std::max(0.0, most) + 1.001 * size;
  all_near(middle, within + nearest(middle) + 3.0 * size, [&](int f) {
    for (int i = 0; i < body_.corners(); ++i) {
      if (height(f, body_.corner(i)) <= most) attempt(Feature::CornerFace, i, f);
    }
    return true;
  });
  all_near(middle, within, [&](int f) {
    try_borders(f, attempt);
    return true;
  });
}

template <int D>
bool SurfacePair<D>::row(Key key, Row<D>& row) const {
  const Feature feature = is_turned_ ? turned(feature_of(key)) : feature_of(key);
  const int i = is_turned_ ? second_of(key) : first_of(key);
  const int j = is_turned_ ? first_of(key) : second_of(key);
  Facing<D> at;
  if (!measure(feature, i, j, at)) return false;
  row = made(feature, i, j, at);
  return true;
}

template class SurfacePair<2>;
template class SurfacePair<3>;

}  // namespace ricochet::shape
