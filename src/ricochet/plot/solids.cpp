#include "ricochet/plot/solids.h"

#include <cmath>
#include <numbers>

#include "ricochet/base/index.h"

namespace ricochet::plot {
namespace {

using base::index;
using Vec3 = body::Vec<3>;

/// Rings of points, one above the other, closed by a face at either end.
void add_rings(const std::vector<std::vector<Vec3>>& rings, Solid& solid) {
  const std::size_t n = rings[0].size();
  for (std::size_t r = 0; r + 1 < rings.size(); ++r) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t next = (k + 1) % n;
      solid.faces.push_back({rings[r][k], rings[r][next], rings[r + 1][next], rings[r + 1][k]});
    }
  }
  solid.faces.emplace_back(rings[0].rbegin(), rings[0].rend());
  solid.faces.push_back(rings.back());
}

/// A ring about the third of three axes, at a height on it.
std::vector<Vec3> ring(const Vec3& middle, const shape::Mat<3>& axes, double radius, int count) {
  std::vector<Vec3> points;
  for (int k = 0; k < count; ++k) {
    const double a = 2.0 * std::numbers::pi * k / count;
    points.push_back(middle + radius * (std::cos(a) * axes.col(0) + std::sin(a) * axes.col(1)));
  }
  return points;
}

/// Two half-balls with what is between them.
void add_capsule(const shape::Shape<3>& shape, Solid& solid) {
  constexpr int kAround = 16;
  constexpr int kCap = 4;
  const Vec3 along = (shape.corners[1] - shape.corners[0]).normalized();
  shape::Mat<3> axes;
  axes << along.unitOrthogonal(), along.cross(along.unitOrthogonal()), along;
  std::vector<std::vector<Vec3>> rings;
  for (const std::size_t end : {0U, 1U}) {
    for (int k = 0; k <= kCap; ++k) {
      const double a = 0.5 * std::numbers::pi * (end == 0 ? k - kCap : k) / (kCap + 0.2);
      const Vec3 middle = shape.corners[end] + shape.round * std::sin(a) * along;
      rings.push_back(ring(middle, axes, shape.round * std::cos(a), kAround));
    }
  }
  add_rings(rings, solid);
}

void add_ellipsoid(const shape::Shape<3>& shape, Solid& solid) {
  constexpr int kAround = 24;
  constexpr int kLevels = 12;
  std::vector<std::vector<Vec3>> rings;
  for (int k = 1; k < kLevels; ++k) {
    const double a = std::numbers::pi * k / kLevels;
    rings.push_back(
        ring(-std::cos(a) * Vec3::UnitZ(), shape::Mat<3>::Identity(), std::sin(a), kAround));
    for (Vec3& p : rings.back()) p = p.cwiseProduct(shape.axes);
  }
  add_rings(rings, solid);
}

void add_faces(const shape::Shape<3>& shape, Solid& solid) {
  for (const shape::Face<3>& face : shape.faces) {
    auto& points = solid.faces.emplace_back();
    for (int k = face.begin; k < face.end; ++k) {
      points.push_back(shape.corners[index(shape.around[index(k)])] + shape.round * face.normal);
    }
  }
}

void add_half_space(const shape::Shape<3>& shape, const Vec3& middle, double reach, Solid& solid) {
  const Vec3& n = shape.faces[0].normal;
  const Vec3 foot = middle - n.dot(middle - shape.corners[0]) * n;
  shape::Mat<3> axes;
  axes << n.unitOrthogonal(), n.cross(n.unitOrthogonal()), n;
  solid.faces.push_back(ring(foot, axes, std::sqrt(2.0) * reach, 4));
}

}  // namespace

std::vector<Solid> solids_of(const body::World<3>& world, const Vec3& middle, double reach) {
  std::vector<Solid> solids(world.bodies.size());
  for (const body::Solid<3>& part : world.solids) {
    const shape::Shape<3>& shape = part.shape;
    const body::Body<3>& body = world.body(part.body);
    Solid made;
    switch (shape.kind) {
      case shape::Kind::HalfSpace: {
        const shape::Pose<3> pose = body::pose_of(body, body.start);
        add_half_space(shape, pose.R.transpose() * (middle - pose.x), reach, made);
        break;
      }
      case shape::Kind::Cylinder: {
        const auto at = [&](double z) {
          return ring(z * Vec3::UnitZ(), shape::Mat<3>::Identity(), shape.axes[0], 32);
        };
        add_rings({at(-shape.axes[2]), at(shape.axes[2])}, made);
        break;
      }
      case shape::Kind::Ellipsoid: add_ellipsoid(shape, made); break;
      default:
        if (shape.corners.size() == 1) made.balls.emplace_back(shape.corners[0], shape.round);
        if (shape.corners.size() == 2) add_capsule(shape, made);
        if (shape.corners.size() > 2) add_faces(shape, made);
    }
    Solid& solid = solids[index(part.body)];
    for (auto& [centre, radius] : made.balls)
      solid.balls.emplace_back(centre - body.centre, radius);
    for (std::vector<Vec3>& face : made.faces) {
      for (Vec3& p : face) p -= body.centre;
      solid.faces.push_back(std::move(face));
    }
  }
  return solids;
}

body::Motion<3> motion_of(const record::BodyFrame& frame, std::size_t body) {
  const double* at = frame.places.data() + 7 * body;
  body::Motion<3> place;
  place.x = {at[0], at[1], at[2]};
  place.turn = {at[3], at[4], at[5], at[6]};
  return place;
}

Surroundings surroundings_of(const body::World<3>& world,
                             const std::vector<record::BodyFrame>& frames) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  Vec3 low = Vec3::Constant(kFar);
  Vec3 high = Vec3::Constant(-kFar);
  for (const record::BodyFrame& frame : frames) {
    for (std::size_t i = 0; i < world.bodies.size(); ++i) {
      if (!world.bodies[i].moves()) continue;
      const Vec3 x = motion_of(frame, i).x;
      low = low.cwiseMin(x - Vec3::Constant(world.bodies[i].reach));
      high = high.cwiseMax(x + Vec3::Constant(world.bodies[i].reach));
    }
  }
  if (!(high[0] >= low[0])) return {};
  return {0.5 * (low + high), 0.5 * (high - low).norm() + 1e-12};
}

}  // namespace ricochet::plot
