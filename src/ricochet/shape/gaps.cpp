#include "ricochet/shape/gaps.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ricochet/shape/core_pair.h"
#include "ricochet/shape/surface.h"

namespace ricochet::shape {

namespace {

/// A point of a body's core that may be lowest over a plane; the body reaches `round` below it.
template <int D>
struct LowPoint {
  Feature feature{Feature::CornerFace};
  Vec<D> at;  // in the world
};

template <int D>
int low_points(const Shape<D>& shape) {
  if (shape.kind == Kind::Cylinder) return 10;
  return shape.kind == Kind::Ellipsoid ? 1 : static_cast<int>(shape.corners.size());
}

/// Point k of a cylinder: on either rim the lowest and four fixed ones, on which it stands.
Vec<3> rim_point(const Shape<3>& shape, int k, const Vec<3>& down) {
  const double height = k < 5 ? -shape.axes[2] : shape.axes[2];
  const double steep = std::hypot(down[0], down[1]);
  constexpr double kFlat = 2e-10;  // below, rounding decides where it is lowest
  Vec<3> way(1.0, 0.0, 0.0);
  if (k % 5 == 0 && steep > kFlat) way = Vec<3>(down[0] / steep, down[1] / steep, 0.0);
  if (k % 5 == 2) way = Vec<3>(0.0, 1.0, 0.0);
  if (k % 5 == 3) way = Vec<3>(-1.0, 0.0, 0.0);
  if (k % 5 == 4) way = Vec<3>(0.0, -1.0, 0.0);
  return shape.axes[0] * way + Vec<3>(0.0, 0.0, height);
}

/// Point k of a body over a plane with this normal.
template <int D>
LowPoint<D> low_point(const Shape<D>& shape, const Pose<D>& pose, int k, const Vec<D>& normal) {
  if constexpr (D == 3) {
    const Vec<D> down = -(pose.R.transpose() * normal);
    if (shape.kind == Kind::Cylinder) {
      return {Feature::Rim, pose.place(rim_point(shape, k, down))};
    }
    if (shape.kind == Kind::Ellipsoid) {
      const Vec<D> scaled = shape.axes.cwiseProduct(down);
      return {Feature::Pole, pose.place(shape.axes.cwiseProduct(scaled) / scaled.norm())};
    }
  }
  return {Feature::CornerFace, pose.place(shape.corners[static_cast<std::size_t>(k)])};
}

/// Row k of a body and a half-space; the half-space is B, or A where `is_turned`.
template <int D>
Row<D> plane_row(const Shape<D>& body, const Pose<D>& at, const Shape<D>& ground,
                 const Pose<D>& below, int k, bool is_turned) {
  const Vec<D> n = below.R * ground.faces[0].normal;
  const LowPoint<D> low = low_point(body, at, k, n);
  const double height = n.dot(low.at - below.x) - ground.faces[0].normal.dot(ground.corners[0]);
  const double gap = height - body.round;
  const Vec<D> on_body = low.at - body.round * n;
  const Vec<D> on_ground = low.at - height * n;
  if (!is_turned) return {key_of(low.feature, k, 0), gap, n, on_body, on_ground};
  return {key_of(turned(low.feature), 0, k), gap, -n, on_ground, on_body};
}

/// The row of two balls: what CorePair makes of them, bit by bit.
template <int D>
void add_balls(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb,
               double reach, std::vector<Row<D>>& out) {
  const Vec<D> at_a = pa.x - pb.x + pa.R * a.corners[0];
  const Vec<D> at_b = pb.R * b.corners[0];
  Vec<D> n = at_a - at_b;
  const double rounds = a.round + b.round;
  const double most = rounds + reach;
  const double square = n.squaredNorm();
  if (most < 0.0 || square > most * most * (1.0 + 1e-12)) return;
  const double gap = std::sqrt(square);
  if (!(gap - rounds <= reach)) return;
  n = gap > 0.0 ? Vec<D>(n / gap) : Vec<D>(Vec<D>::Unit(0));
  out.push_back({key_of(Feature::CornerCorner, 0, 0), gap - rounds, n, pb.x + at_a - a.round * n,
                 pb.x + at_b + b.round * n});
}

template <int D>
bool far_apart(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb,
               double reach) {
  const double most = a.extent + b.extent + reach;
  const Vec<D> between = pa.x - pb.x + pa.R * a.centre - pb.R * b.centre;
  return most < 0.0 || between.squaredNorm() > most * most * (1.0 + 1e-12);
}

template <int D>
std::optional<Row<D>> row_of(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b,
                             const Pose<D>& pb, Key feature) {
  if (a.kind == Kind::HalfSpace || b.kind == Kind::HalfSpace) {
    const bool is_turned = a.kind == Kind::HalfSpace;
    const int k = is_turned ? second_of(feature) : first_of(feature);
    if (k >= low_points(is_turned ? b : a)) return {};
    const Row<D> row =
        is_turned ? plane_row(b, pb, a, pa, k, true) : plane_row(a, pa, b, pb, k, false);
    if (row.feature != feature) return {};
    return row;
  }
  Row<D> row;
  const bool is_ground = a.kind == Kind::Surface || b.kind == Kind::Surface;
  const bool is_valid = is_ground ? SurfacePair<D>(a, pa, b, pb).row(feature, row)
                                  : CorePair<D>(a, pa, b, pb).row(feature, row);
  if (!is_valid) return {};
  return row;
}

}  // namespace

bool is_on_rim(Key feature) { return feature_of(feature) == Feature::Rim; }

bool is_lowest_of_rim(Key feature) {
  return is_on_rim(feature) && std::max(first_of(feature), second_of(feature)) % 5 == 0;
}

template <int D>
bool can_meet(const Shape<D>& a, const Shape<D>& b) {
  const auto is_ground = [](const Shape<D>& s) {
    return s.kind == Kind::HalfSpace || s.kind == Kind::Surface;
  };
  if (is_ground(a) && is_ground(b)) return false;
  if (a.kind == Kind::HalfSpace || b.kind == Kind::HalfSpace) return true;
  if (a.kind == Kind::Surface) return b.kind == Kind::Core && (D == 2 || b.faces.empty());
  if (b.kind == Kind::Surface) return a.kind == Kind::Core && (D == 2 || a.faces.empty());
  return a.kind == Kind::Core && b.kind == Kind::Core;
}

template <int D>
void gaps(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb, double reach,
          std::vector<Row<D>>& out) {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  if (a.kind == Kind::HalfSpace || b.kind == Kind::HalfSpace) {
    const bool is_turned = a.kind == Kind::HalfSpace;
    for (int k = 0; k < low_points(is_turned ? b : a); ++k) {
      const Row<D> row =
          is_turned ? plane_row(b, pb, a, pa, k, true) : plane_row(a, pa, b, pb, k, false);
      if (row.gap <= reach) out.push_back(row);
    }
    return;
  }
  if (a.kind == Kind::Core && b.kind == Kind::Core && a.corners.size() * b.corners.size() == 1) {
    add_balls(a, pa, b, pb, reach, out);
    return;
  }
  if (far_apart(a, pa, b, pb, reach)) return;
  if (a.kind == Kind::Surface || b.kind == Kind::Surface) {
    SurfacePair<D>(a, pa, b, pb).rows(reach, out);
  } else {
    CorePair<D>(a, pa, b, pb).rows(reach, out);
  }
  std::sort(out.begin() + first, out.end(),
            [](const Row<D>& x, const Row<D>& y) { return x.feature < y.feature; });
}

template <int D>
double gap_of(const Shape<D>& a, const Pose<D>& pa, const Shape<D>& b, const Pose<D>& pb,
              Key feature, Vec<D>* normal, Vec<D>* on_a, Vec<D>* on_b) {
  const std::optional<Row<D>> row = row_of(a, pa, b, pb, feature);
  if (!row) return std::numeric_limits<double>::quiet_NaN();
  if (normal != nullptr) *normal = row->normal;
  if (on_a != nullptr) *on_a = row->on_a;
  if (on_b != nullptr) *on_b = row->on_b;
  return row->gap;
}

#define RICOCHET_GAPS(D)                                                                        \
  template bool can_meet(const Shape<D>&, const Shape<D>&);                                     \
  template void gaps(const Shape<D>&, const Pose<D>&, const Shape<D>&, const Pose<D>&, double,  \
                     std::vector<Row<D>>&);                                                     \
  template double gap_of(const Shape<D>&, const Pose<D>&, const Shape<D>&, const Pose<D>&, Key, \
                         Vec<D>*, Vec<D>*, Vec<D>*);
RICOCHET_GAPS(2)
RICOCHET_GAPS(3)
#undef RICOCHET_GAPS

}  // namespace ricochet::shape
