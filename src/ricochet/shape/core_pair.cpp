#include "ricochet/shape/core_pair.h"

#include <cmath>

namespace ricochet::shape {

template <int D>
bool CorePair<D>::corner_face(const Side<D>& p, int i, const Side<D>& q, int f,
                              Facing<D>& at) const {
  at.a = p.corner(i);
  at.n = q.normal(f);
  at.gap = at.n.dot(at.a - q.corner(q.around(q.face(f).begin)));
  at.b = at.a - at.gap * at.n;
  return foot_inside(q, f, at.a, slip_);
}

template <int D>
bool CorePair<D>::corner_corner(int i, int j, Facing<D>& at) const {
  at.a = a_.corner(i);
  at.b = b_.corner(j);
  at.n = at.a - at.b;
  at.gap = at.n.norm();
  at.n = at.gap > 0.0 ? Vec<D>(at.n / at.gap) : Vec<D>(Vec<D>::Unit(0));
  return true;
}

template <int D>
bool CorePair<D>::corner_edge(const Side<D>& p, int i, const Side<D>& q, int e,
                              Facing<D>& at) const {
  const Vec<D> from = q.corner(q.edge(e).from);
  const Vec<D> along = q.corner(q.edge(e).to) - from;
  const double length = along.norm();
  at.a = p.corner(i);
  const double share = along.dot(at.a - from) / (length * length);
  if (!(share * length > slip_) || !(share * length < length - slip_)) return false;
  at.b = from + share * along;
  at.n = at.a - at.b;
  at.n -=
      along * (along.dot(at.n) / (length * length));  // square to it to rounding also when short
  at.gap = at.n.norm();
  if (at.gap > 0.0) {
    at.n /= at.gap;
  } else {
    at.n = along.unitOrthogonal();
  }
  return true;
}

/// Sum of the normals beside an edge: outwards; zero of a segment.
template <int D>
static Vec<D> outwards(const Side<D>& side, const Edge& edge) {
  if (edge.left < 0) return Vec<D>::Zero();
  return side.normal(edge.left) + side.normal(edge.right);
}

/// Two lines; false where they are parallel, or have the solids of A and B on the wrong sides.
template <int D>
bool CorePair<D>::edge_edge(int i, int j, Facing<D>& at, bool& is_inside) const {
  if constexpr (D == 3) {
    const Vec<D> p = a_.corner(a_.edge(i).from);
    const Vec<D> q = b_.corner(b_.edge(j).from);
    const Vec<D> u = a_.corner(a_.edge(i).to) - p;
    const Vec<D> v = b_.corner(b_.edge(j).to) - q;
    const Vec<D> c = u.cross(v);
    const double sine = c.norm() / (u.norm() * v.norm());
    if (!(sine > kParallel)) return false;
    at.is_sure = sine > kNearly;
    at.n = c.normalized();
    for (const Vec<D>& along :
         {u, v}) {  // square to both to rounding, where they are nearly parallel
      at.n -= along * (along.dot(at.n) / along.squaredNorm());
    }
    at.n.normalize();
    const Vec<D> out_a = outwards(a_, a_.edge(i));
    const Vec<D> out_b = outwards(b_, b_.edge(j));
    const bool is_free = is_bare(a_, i) && is_bare(b_, j);  // then as they lie
    if (at.n.dot(is_free ? Vec<D>(q - p) : Vec<D>(out_a - out_b)) > 0.0) at.n = -at.n;
    at.gap = at.n.dot(p - q);
    const double s = (q - p).cross(v).dot(c) / c.squaredNorm();
    const double t = (q - p).cross(u).dot(c) / c.squaredNorm();
    const double slip_s = slip_ / (sine * u.norm());  // the crossing is as uncertain
    const double slip_t = slip_ / (sine * v.norm());
    is_inside = s >= -slip_s && s <= 1.0 + slip_s && t >= -slip_t && t <= 1.0 + slip_t;
    at.a = p + std::clamp(s, 0.0, 1.0) * u;
    at.b = q + std::clamp(t, 0.0, 1.0) * v;
    return at.n.dot(out_a) <= 0.0 && at.n.dot(out_b) >= 0.0;
  } else {
    return false;
  }
}

/// Measures a pair of features by its key; false where feet lie outside.
template <int D>
bool CorePair<D>::measure(Key key, Facing<D>& at) const {
  const int i = first_of(key);
  const int j = second_of(key);
  bool is_inside = false;
  switch (feature_of(key)) {
    case Feature::CornerCorner:
      return i < a_.corners() && j < b_.corners() && corner_corner(i, j, at);
    case Feature::CornerFace:
      return i < a_.corners() && j < b_.faces() && corner_face(a_, i, b_, j, at);
    case Feature::FaceCorner:
      is_inside = i < a_.faces() && j < b_.corners() && corner_face(b_, j, a_, i, at);
      break;
    case Feature::EdgeEdge:
      return i < a_.edges() && j < b_.edges() && edge_edge(i, j, at, is_inside) && is_inside;
    case Feature::CornerEdge:
      return i < a_.corners() && j < b_.edges() && corner_edge(a_, i, b_, j, at);
    case Feature::EdgeCorner:
      is_inside = i < a_.edges() && j < b_.corners() && corner_edge(b_, j, a_, i, at);
      break;
    default: return false;
  }
  turn_over(at);
  return is_inside;
}

/// Faces of q as separating axes: how far the nearest corner of p is before each.
template <int D>
void CorePair<D>::try_faces(const Side<D>& p, const Side<D>& q, bool a_has_corner, double reach) {
  for (int f = 0; f < q.faces(); ++f) {
    const Vec<D> n = q.normal(f);
    const double height = n.dot(q.corner(q.around(q.face(f).begin)));
    double least = kInfinity;
    int nearest = 0;
    for (int i = 0; i < p.corners(); ++i) {
      const double gap = n.dot(p.corner(i)) - height;
      if (gap < least) {
        least = gap;
        nearest = i;
      }
    }
    if (has_axis_ && least <= axis_.gap) continue;
    has_axis_ = true;
    axis_.gap = least;
    axis_.n = n;
    axis_key_ = key_of(Feature::CornerFace, nearest, f);
    if (!a_has_corner) {
      axis_.n = -n;
      axis_key_ = key_of(Feature::FaceCorner, f, nearest);
    }
    if (least > reach) return;
  }
}

/// Whether n, across the edge, lies between the normals of its two faces.
template <int D>
bool CorePair<D>::crosses_outside(const Side<D>& side, const Edge& edge, const Vec<D>& n) const {
  if constexpr (D == 3) {
    if (edge.left < 0) return true;
    const Vec<D> along = side.corner(edge.to) - side.corner(edge.from);
    const Vec<D> left = side.normal(edge.left);
    const Vec<D> right = side.normal(edge.right);
    const double turn = along.dot(left.cross(right));
    return along.dot(n.cross(right)) * turn >= 0.0 && along.dot(left.cross(n)) * turn >= 0.0 &&
           n.dot(left + right) > 0.0;
  } else {
    return false;
  }
}

template <int D>
typename CorePair<D>::Line CorePair<D>::line_of(const Side<D>& side, int e) {
  const Edge& edge = side.edge(e);
  Line line{side.corner(edge.from), side.corner(edge.to), {}, {}, {}, edge.left < 0};
  line.along = line.to - line.from;
  line.left = line.is_bare ? Vec<D>(Vec<D>::Zero()) : side.normal(edge.left);
  line.right = line.is_bare ? Vec<D>(Vec<D>::Zero()) : side.normal(edge.right);
  return line;
}

/// All pairs of edges; those of B are put in place once, if they are few.
template <int D>
template <class Visit>
void CorePair<D>::visit_lines(Visit&& visit) const {
  constexpr int kFew = 16;
  std::array<Line, kFew> kept;
  const int count = b_.edges();
  for (int j = 0; j < std::min(count, kFew) && a_.edges() > 0; ++j) {
    kept[static_cast<std::size_t>(j)] = line_of(b_, j);
  }
  for (int i = 0; i < a_.edges(); ++i) {
    const Line a = line_of(a_, i);
    for (int j = 0; j < count; ++j) {
      if (j < kFew) {
        visit(i, a, j, kept[static_cast<std::size_t>(j)]);
      } else {
        visit(i, a, j, line_of(b_, j));
      }
    }
  }
}

/// The ends of a segment p as axes along it: two segments on one line are apart, or not.
template <int D>
void CorePair<D>::try_ends(const Side<D>& p, const Side<D>& q, double way) {
  for (int end = 0; end < 2 && p.corners() == 2 && q.corners() <= 2; ++end) {
    const Vec<D> n = (p.corner(end) - p.corner(1 - end)).normalized();
    double least = kInfinity;
    for (int j = 0; j < q.corners(); ++j) {
      least = std::min(least, n.dot(q.corner(j) - p.corner(end)));
    }
    if (least <= slip_ || least <= axis_.gap) continue;
    axis_.gap = least;
    axis_.n = way * n;
  }
}

/// Crossings of edges as separating axes: those whose normals may lie between those of the faces of
/// either edge, which then lie on both sides of the other edge.
template <int D>
void CorePair<D>::try_crossings() {
  const auto may_lie_between = [](const Line& of, const Vec<D>& along) {
    return of.is_bare || of.left.dot(along) * of.right.dot(along) < -kEndOn * along.squaredNorm();
  };
  visit_lines([&](int i, const Line& a, int j, const Line& b) {
    if (!may_lie_between(a, b.along) || !may_lie_between(b, a.along)) return;
    Facing<D> at;
    bool is_inside = false;
    if (!edge_edge(i, j, at, is_inside) || (has_axis_ && at.gap <= axis_.gap)) return;
    if (!crosses_outside(a_, a_.edge(i), -at.n) || !crosses_outside(b_, b_.edge(j), at.n)) return;
    has_axis_ = true;
    axis_ = at;
    axis_key_ = key_of(Feature::EdgeEdge, i, j);
  });
}

/// The shallowest separating axis. Where one is longer than `reach` any such one will do.
template <int D>
void CorePair<D>::find_axis(double reach) {
  try_faces(a_, b_, true, reach);
  if (!has_axis_ || axis_.gap <= reach) try_faces(b_, a_, false, reach);
  if (!has_axis_ || axis_.gap > slip_) return;
  try_crossings();
  if (D == 2) try_ends(a_, b_, -1.0);
  if (D == 2) try_ends(b_, a_, 1.0);
}

/// Along the axis, A below `slab_high_` and B above `slab_low_` are within reach of each other.
template <int D>
void CorePair<D>::find_slab(double reach) {
  within_ = reach + slip_;
  if (!has_axis_) return;
  const double wide = std::max(reach, std::abs(axis_.gap)) + slip_;
  slab_low_ = kInfinity;
  slab_high_ = -kInfinity;
  for (int i = 0; i < a_.corners(); ++i) slab_low_ = std::min(slab_low_, axis_.n.dot(a_.corner(i)));
  for (int j = 0; j < b_.corners(); ++j)
    slab_high_ = std::max(slab_high_, axis_.n.dot(b_.corner(j)));
  slab_low_ -= wide;
  slab_high_ += wide;
}

/// Whether p lies before a plane, or would do so once it has moved by what is within reach: if not,
/// then whatever holds p and q apart, it is not this plane, and a corner that is about to pass the
/// end of a face would stumble over it.
template <int D>
bool CorePair<D>::separates(const Side<D>& p, const Vec<D>& n, double height) const {
  const double least = std::min(0.0, has_axis_ ? axis_.gap : 0.0) - within_;
  for (int i = 0; i < p.corners(); ++i) {
    if (n.dot(p.corner(i)) - height < least) return false;
  }
  return true;
}

/// The same of the normal of two edges, for both.
template <int D>
bool CorePair<D>::are_apart_along(const Facing<D>& at) const {
  return separates(a_, at.n, at.n.dot(at.b)) && separates(b_, -at.n, -at.n.dot(at.a));
}

/// Whether the shadows of A and B on a line overlap by more than what lies flush.
template <int D>
bool CorePair<D>::overlap_along(const Vec<D>& w) const {
  const auto shadow = [&](const Side<D>& side) {
    std::array<double, 2> found = {kInfinity, -kInfinity};
    for (int i = 0; i < side.corners(); ++i) {
      const double at = w.dot(side.corner(i));
      found = {std::min(found[0], at), std::max(found[1], at)};
    }
    return found;
  };
  const std::array<double, 2> a = shadow(a_);
  const std::array<double, 2> b = shadow(b_);
  return std::min(a[1], b[1]) - std::max(a[0], b[0]) > flush_;
}

/// Whether p, before face f of q, is at a border of it beyond which all of the other shape lies.
template <int D>
bool CorePair<D>::passes_border(const Side<D>& q, int f, const Vec<D>& p) const {
  const Face<D>& face = q.face(f);
  Vec<D> from = q.corner(q.around(face.end - 1));
  for (int k = face.begin; k < face.end; ++k) {
    const Vec<D> to = q.corner(q.around(k));
    Vec<D> out = to - from;
    if constexpr (D == 3) out = out.cross(q.normal(f));
    out.normalize();
    if (out.dot(p - (D == 2 ? to : from)) > -flush_ && !overlap_along(out)) return true;
    from = to;
  }
  return false;
}

/// Whether edge i of p ends at edge j of q, and all of p lies beyond that.
template <int D>
bool CorePair<D>::passes_end(const Side<D>& p, int i, const Side<D>& q, int j,
                             const Facing<D>& at) const {
  if constexpr (D == 3) {
    const Vec<D> along = q.corner(q.edge(j).to) - q.corner(q.edge(j).from);
    const Vec<D> across = at.n.cross(along).normalized();
    for (const int end : {p.edge(i).from, p.edge(i).to}) {
      if (std::abs(across.dot(p.corner(end) - at.b)) > flush_) continue;
      if (!overlap_along(across)) return true;
    }
  }
  return false;
}

/// Whether a row of sharp shapes would hold apart what only slides past: as seen along its normal
/// they meet in a border, not in an area. So a box does not run into the side of the next block of
/// a flat floor. What has no face has no area either, and is held at borders too.
template <int D>
bool CorePair<D>::is_flush(Key key, const Facing<D>& at) const {
  if (!is_sharp() || a_.faces() == 0 || b_.faces() == 0) return false;
  switch (feature_of(key)) {
    case Feature::CornerFace: return passes_border(b_, second_of(key), at.a);
    case Feature::FaceCorner: return passes_border(a_, first_of(key), at.b);
    case Feature::EdgeEdge:
      return passes_end(a_, first_of(key), b_, second_of(key), at) ||
             passes_end(b_, second_of(key), a_, first_of(key), at);
    default: return false;
  }
}

/// Corners of p before faces of q, `way` the axis as seen from q: all that hold, within reach.
template <int D>
template <class Offer>
void CorePair<D>::visit_sides(const Side<D>& p, const Side<D>& q, double way, Offer&& offer) const {
  for (int f = 0; f < q.faces(); ++f) {
    const Vec<D> n = q.normal(f);
    if (!is_apart() && way * n.dot(axis_.n) < kSameWay) continue;
    const double height = n.dot(q.corner(q.around(q.face(f).begin)));
    if (!separates(p, n, height)) continue;
    for (int i = 0; i < p.corners(); ++i) {
      const double gap = n.dot(p.corner(i)) - height;
      if (gap <= within_ && (gap > -slip_ || !is_apart())) offer(i, f);
    }
  }
}

/// Corners before faces, crossing edges, corners beside segments: all that hold, within reach.
template <int D>
template <class Visit>
void CorePair<D>::visit_faces(Visit&& visit) const {
  const auto offer = [&](Key key) {
    Facing<D> at;
    if (!measure(key, at) || !holds(at)) return;
    if (feature_of(key) == Feature::EdgeEdge && !are_apart_along(at)) return;
    if (is_flush(key, at)) return;
    visit(key, at);
  };
  visit_sides(a_, b_, 1.0, [&](int i, int f) { offer(key_of(Feature::CornerFace, i, f)); });
  visit_sides(b_, a_, -1.0, [&](int j, int f) { offer(key_of(Feature::FaceCorner, f, j)); });
  if constexpr (D == 3) {
    for (int i = 0; i < a_.corners(); ++i) {
      for (int e = 0; e < b_.edges() && is_bare(b_, e); ++e)
        offer(key_of(Feature::CornerEdge, i, e));
    }
    for (int j = 0; j < b_.corners(); ++j) {
      for (int e = 0; e < a_.edges() && is_bare(a_, e); ++e)
        offer(key_of(Feature::EdgeCorner, e, j));
    }
    visit_lines([&](int i, const Line& a, int j, const Line& b) {
      if (!near_a(a.from) && !near_a(a.to)) return;
      if (!near_b(b.from) && !near_b(b.to)) return;
      const Vec<D> c = a.along.cross(b.along);
      if (c.dot(a.left + a.right) * c.dot(b.left + b.right) > 0.0) return;  // solids on one side
      const double along = has_axis_ ? c.dot(axis_.n) : 0.0;
      if (!is_apart() && along * along < 0.99 * kSameWay * kSameWay * c.squaredNorm()) return;
      offer(key_of(Feature::EdgeEdge, i, j));
    });
  }
}

/// Corners beside edges and beside corners, of cores that are apart: all, near or not.
template <int D>
template <class Visit>
void CorePair<D>::visit_joints(Visit&& visit) const {
  const auto offer = [&](Key key) {
    Facing<D> at;
    if (measure(key, at)) visit(key, at);
  };
  for (int i = 0; i < a_.corners(); ++i) {
    if (!near_a(a_.corner(i))) continue;
    for (int e = 0; e < b_.edges() && !is_bare(b_, e); ++e)
      offer(key_of(Feature::CornerEdge, i, e));
    for (int j = 0; j < b_.corners(); ++j) {
      if (near_b(b_.corner(j))) offer(key_of(Feature::CornerCorner, i, j));
    }
  }
  for (int j = 0; j < b_.corners(); ++j) {
    if (!near_b(b_.corner(j))) continue;
    for (int e = 0; e < a_.edges() && !is_bare(a_, e); ++e)
      offer(key_of(Feature::EdgeCorner, e, j));
  }
}

template <int D>
void CorePair<D>::rows(double reach, std::vector<Row<D>>& out) {
  const double within = reach + rounds_;
  find_axis(within);
  if (has_axis_ && axis_.gap > within) return;
  find_slab(within);
  double least = kInfinity;  // core gap of the nearest row so far
  visit_faces([&](Key key, const Facing<D>& at) {
    least = std::min(least, at.gap);
    if (at.gap <= within) out.push_back(made(key, at));
  });
  if (has_axis_ && least <= axis_.gap + slip_) return;
  if (!is_apart()) {  // edges so nearly parallel that no foot is inside
    Facing<D> at;
    measure(axis_key_, at);
    if (!is_flush(axis_key_, at)) out.push_back(made(axis_key_, at));
    return;
  }
  if (is_sharp()) return;
  const std::size_t first = out.size();
  double nearest = kInfinity;
  visit_joints([&](Key key, const Facing<D>& at) {
    nearest = std::min(nearest, at.gap);
    if (at.gap <= within && at.gap <= nearest + slip_) out.push_back(made(key, at));
  });
  const double most = nearest < least - slip_ ? nearest + slip_ - rounds_ : -kInfinity;
  out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                           [&](const Row<D>& row) { return !(row.gap <= most); }),
            out.end());
}

template <int D>
bool CorePair<D>::row(Key key, Row<D>& row) {
  Facing<D> at;
  const bool is_inside = measure(key, at);
  const Feature feature = feature_of(key);
  const bool is_joint =
      feature == Feature::CornerCorner ||
      (feature == Feature::CornerEdge && is_inside && !is_bare(b_, second_of(key))) ||
      (feature == Feature::EdgeCorner && is_inside && !is_bare(a_, first_of(key)));
  row = made(key, at);
  if (is_joint && is_inside && a_.corners() * b_.corners() == 1) return true;
  find_axis(kInfinity);
  if (!is_joint && is_inside && at.is_sure) return holds(at);
  if (is_joint ? !is_inside || !is_apart() : is_apart() || key != axis_key_) return false;
  if (is_joint && is_sharp()) return false;
  find_slab(at.gap);
  double least = kInfinity;
  double nearest = kInfinity;
  visit_faces([&](Key, const Facing<D>& other) { least = std::min(least, other.gap); });
  if (!is_joint) return least > axis_.gap + slip_;
  visit_joints([&](Key, const Facing<D>& other) { nearest = std::min(nearest, other.gap); });
  return nearest < least - slip_ && at.gap <= nearest + slip_;
}

template class CorePair<2>;
template class CorePair<3>;

}  // namespace ricochet::shape
