#pragma once

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <limits>

#include "ricochet/shape/gaps.h"

namespace ricochet::shape {

/// What the numbers of a key count; its highest bits.
enum class Feature {
  CornerCorner,
  CornerFace,  // a corner of A, a face of B
  FaceCorner,
  EdgeEdge,
  CornerEdge,
  EdgeCorner,
  Rim,   // of a cylinder: 5 c + k, of cap c the lowest point (k = 0), or one of four fixed ones
  Pole,  // the lowest point of an ellipsoid
};

inline Key key_of(Feature feature, int i, int j) {
  return (static_cast<Key>(feature) << 60U) | (static_cast<Key>(i) << 30U) | static_cast<Key>(j);
}
inline Feature feature_of(Key key) { return static_cast<Feature>(key >> 60U); }
inline int first_of(Key key) { return static_cast<int>((key >> 30U) & 0x3FFFFFFFU); }
inline int second_of(Key key) { return static_cast<int>(key & 0x3FFFFFFFU); }

/// The same pair with A and B exchanged.
inline Feature turned(Feature feature) {
  switch (feature) {
    case Feature::CornerFace: return Feature::FaceCorner;
    case Feature::FaceCorner: return Feature::CornerFace;
    case Feature::CornerEdge: return Feature::EdgeCorner;
    case Feature::EdgeCorner: return Feature::CornerEdge;
    default: return feature;
  }
}

constexpr double kSlip = 1e-13;      // "inside" and "nearest", in sizes of the shapes
constexpr double kParallel = 1e-12;  // sine of the angle below which edges cross nowhere
constexpr double kNearly = 1e-5;     // and below which rounding would decide about their normal
constexpr double kEndOn = 1e-14;     // crossings nearer than this to a face's normal are its own
constexpr double kSameWay =
    0.7071;  // cosine between normals that hold two overlapping shapes apart
// What sharp shapes overlap by, as seen along a normal, where they lie flush and pass each other:
// as deep as places of bodies that touch may be, in sizes of the smaller one.
constexpr double kFlush = 1e-9;

/// Two points of two cores and the normal between them.
template <int D>
struct Facing {
  Vec<D> n;            // from B to A
  Vec<D> a;            // on the core of A
  Vec<D> b;            // on the core of B
  double gap{0.0};     // n . (a - b)
  bool is_sure{true};  // of edges: their angle is not so small that rounding decides about n
};

/// A shape in the axes of the world, relative to the frame of B.
template <int D>
struct Side {
  const Shape<D>& shape;
  const Mat<D>& R;
  Vec<D> x;

  int corners() const { return static_cast<int>(shape.corners.size()); }
  int faces() const { return static_cast<int>(shape.faces.size()); }
  int edges() const { return static_cast<int>(shape.edges.size()); }
  Vec<D> corner(int i) const { return x + R * shape.corners[static_cast<std::size_t>(i)]; }
  Vec<D> normal(int f) const { return R * shape.faces[static_cast<std::size_t>(f)].normal; }
  const Face<D>& face(int f) const { return shape.faces[static_cast<std::size_t>(f)]; }
  const Edge& edge(int e) const { return shape.edges[static_cast<std::size_t>(e)]; }
  int around(int k) const { return shape.around[static_cast<std::size_t>(k)]; }
};

/// Whether the foot of p on the plane of a face lies in the face, or outside by `slip` at most.
template <int D>
bool foot_inside(const Side<D>& side, int f, const Vec<D>& p, double slip) {
  const Face<D>& face = side.face(f);
  if constexpr (D == 2) {
    const Vec<D> from = side.corner(side.around(face.begin));
    const Vec<D> along = side.corner(side.around(face.begin + 1)) - from;
    const double length = along.norm();
    const double at = along.dot(p - from);
    return at >= -slip * length && at <= (length + slip) * length;
  } else {
    const Vec<D> n = side.normal(f);
    Vec<D> from = side.corner(side.around(face.end - 1));
    for (int k = face.begin; k < face.end; ++k) {
      const Vec<D> to = side.corner(side.around(k));
      const Vec<D> out = (to - from).cross(n);
      if (out.dot(p - from) > slip * out.norm()) return false;
      from = to;
    }
    return true;
  }
}

/// The rows of two cores: see README.
template <int D>
class CorePair {
 public:
  CorePair(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb)
      : a_{a, pa.R, pa.x - pb.x}, b_{b, pb.R, Vec<D>::Zero()}, origin_(pb.x) {
    const double far = pa.x.cwiseAbs().maxCoeff() + pb.x.cwiseAbs().maxCoeff();
    slip_ = kSlip * (a.extent + b.extent) + 4.0 * std::numeric_limits<double>::epsilon() * far;
    rounds_ = a.round + b.round;
    flush_ = std::max(kFlush * std::min(a.extent, b.extent), 4.0 * slip_);
  }

  /// Appends the rows within reach, not sorted.
  void rows(double reach, std::vector<Row<D>>& out);

  /// One row; false where it is not valid.
  bool row(Key key, Row<D>& row);

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Row<D> made(Key key, const Facing<D>& at) const {
    const Vec<D> on_a = origin_ + at.a - a_.shape.round * at.n;
    return {key, at.gap - rounds_, at.n, on_a, origin_ + at.b + b_.shape.round * at.n};
  }

  bool measure(Key key, Facing<D>& at) const;
  bool corner_face(const Side<D>& p, int i, const Side<D>& q, int f, Facing<D>& at) const;
  bool corner_edge(const Side<D>& p, int i, const Side<D>& q, int e, Facing<D>& at) const;
  bool corner_corner(int i, int j, Facing<D>& at) const;
  bool edge_edge(int i, int j, Facing<D>& at, bool& is_inside) const;
  static void turn_over(Facing<D>& at) {
    at.n = -at.n;
    std::swap(at.a, at.b);
  }

  void find_axis(double reach);
  void try_faces(const Side<D>& p, const Side<D>& q, bool a_has_corner, double reach);
  void try_crossings();
  void try_ends(const Side<D>& p, const Side<D>& q, double way);
  bool crosses_outside(const Side<D>& side, const Edge& edge, const Vec<D>& n) const;
  void find_slab(double reach);
  /// Corners without a radius, of shapes that have faces; in the plane one of the two may be a
  /// point. Such corners meet others in no motion but by chance, and have no normal: the way
  /// between two of them, apart, would stop what passes.
  bool is_sharp() const {
    const int with_faces = (a_.faces() > 0 ? 1 : 0) + (b_.faces() > 0 ? 1 : 0);
    return rounds_ == 0.0 && with_faces >= D - 1;
  }
  bool separates(const Side<D>& p, const Vec<D>& n, double height) const;
  bool are_apart_along(const Facing<D>& at) const;
  bool overlap_along(const Vec<D>& w) const;
  bool passes_border(const Side<D>& q, int f, const Vec<D>& p) const;
  bool passes_end(const Side<D>& p, int i, const Side<D>& q, int j, const Facing<D>& at) const;
  bool is_flush(Key key, const Facing<D>& at) const;
  bool near_a(const Vec<D>& p) const { return !has_axis_ || axis_.n.dot(p) <= slab_high_; }
  bool near_b(const Vec<D>& p) const { return !has_axis_ || axis_.n.dot(p) >= slab_low_; }
  bool is_apart() const { return !has_axis_ || axis_.gap > slip_; }
  /// Whether corners, faces and crossings with this gap and normal hold A and B apart. Of shapes
  /// that touch, only those the same way: a corner flush with the end of a face is not beside the
  /// next face.
  bool holds(const Facing<D>& at) const {
    if (!at.is_sure) return false;
    if (is_apart()) return at.gap > 0.0 || !has_axis_;
    return at.n.dot(axis_.n) >= kSameWay;
  }
  static bool is_bare(const Side<D>& side, int e) { return side.edge(e).left < 0; }

  /// An edge in place.
  struct Line {
    Vec<D> from;
    Vec<D> to;
    Vec<D> along;
    Vec<D> left;  // normals of its faces
    Vec<D> right;
    bool is_bare{true};
  };
  static Line line_of(const Side<D>& side, int e);

  template <class Visit>
  void visit_lines(Visit&& visit) const;
  template <class Offer>
  void visit_sides(const Side<D>& p, const Side<D>& q, double way, Offer&& offer) const;
  template <class Visit>
  void visit_faces(Visit&& visit) const;
  template <class Visit>
  void visit_joints(Visit&& visit) const;

  Side<D> a_;
  Side<D> b_;
  Vec<D> origin_;
  double slip_{0.0};
  double rounds_{0.0};
  double flush_{0.0};
  bool has_axis_{false};
  Facing<D> axis_;  // shallowest separating axis, with the features it belongs to
  Key axis_key_{0};
  double within_{0.0};    // largest core gap asked for
  double slab_low_{0.0};  // along it: where B and what is within reach of it lies
  double slab_high_{0.0};
};

}  // namespace ricochet::shape
