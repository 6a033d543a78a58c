#include "ricochet/plot/body_files.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ricochet/base/index.h"
#include "ricochet/plot/outlines.h"
#include "ricochet/plot/solids.h"
#include "ricochet/plot/vtp_text.h"

namespace ricochet::plot {
namespace {

using Point3 = body::Vec<3>;

Point3 in_plane(const body::Vec<2>& p) { return {p[0], p[1], 0.0}; }

/// How far from the origin anything comes that moves.
double way_out(const body::World<2>& world, const std::vector<record::BodyFrame>& frames) {
  double out = 0.0;
  for (const record::BodyFrame& frame : frames) {
    for (std::size_t i = 0; i < world.bodies.size(); ++i) {
      if (!world.bodies[i].moves() || !std::isfinite(world.bodies[i].reach)) continue;
      out = std::max(
          out, std::hypot(frame.places[3 * i], frame.places[3 * i + 1]) + world.bodies[i].reach);
    }
  }
  return out > 0.0 ? out : 1.0;
}

/// A half-plane as a strip behind its boundary.
std::vector<Point3> strip_of(const Outline& boundary, double depth) {
  const body::Vec<2> along = (boundary.points[1] - boundary.points[0]).normalized();
  const body::Vec<2> behind = depth * body::Vec<2>(-along[1], along[0]);
  return {in_plane(boundary.points[0]), in_plane(boundary.points[1]),
          in_plane(boundary.points[1] + behind), in_plane(boundary.points[0] + behind)};
}

std::vector<Point3> circle_of(const Outline& circle) {
  constexpr int kCorners = 24;
  std::vector<Point3> corners;
  for (int k = 0; k < kCorners; ++k) {
    const double a = 2.0 * std::numbers::pi * k / kCorners;
    corners.push_back(
        in_plane(circle.points[0] + circle.radius * body::Vec<2>(std::cos(a), std::sin(a))));
  }
  return corners;
}

std::vector<BodySurface> flat_surfaces(const body::World<2>& world,
                                       const std::vector<record::BodyFrame>& frames) {
  const double reach = 1.2 * way_out(world, frames);
  std::vector<BodySurface> surfaces(world.bodies.size());
  const auto outlines = outlines_of(world, reach);
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    for (std::size_t k = 0; k < outlines[i].size(); ++k) {
      const Outline& outline = outlines[i][k];
      const auto& shape = world.solid(world.bodies[i].first_shape + static_cast<int>(k)).shape;
      std::vector<Point3> points;
      for (const body::Vec<2>& p : outline.points) points.push_back(in_plane(p));
      if (shape.kind == shape::Kind::HalfSpace) {
        surfaces[i].faces.push_back(strip_of(outline, 0.05 * reach));
      } else if (outline.is_circle && outline.radius == 0.0) {
        surfaces[i].balls.emplace_back(points[0], 0.0);
      } else if (outline.is_circle) {
        surfaces[i].faces.push_back(circle_of(outline));
      } else if (outline.is_closed && points.size() > 2) {
        surfaces[i].faces.push_back(std::move(points));
      } else {
        surfaces[i].lines.push_back(std::move(points));
      }
    }
  }
  return surfaces;
}

std::vector<BodySurface> solid_surfaces(const body::World<3>& world,
                                        const std::vector<record::BodyFrame>& frames) {
  const Surroundings around = surroundings_of(world, frames);
  std::vector<BodySurface> surfaces(world.bodies.size());
  std::vector<Solid> solids = solids_of(world, around.middle, around.reach);
  for (std::size_t i = 0; i < solids.size(); ++i) {
    surfaces[i].balls = std::move(solids[i].balls);
    surfaces[i].faces = std::move(solids[i].faces);
  }
  return surfaces;
}

/// Where bodies of a snapshot are and how they move, in the plane as in space.
struct Placed {
  shape::Pose<3> pose;
  Point3 velocity = Point3::Zero();
  Point3 spin = Point3::Zero();
};
Placed placed(const record::BodySnapshot& shot, std::size_t i, bool is_plane) {
  Placed made;
  const double* at = shot.places.data() + (is_plane ? 3 : 7) * i;
  const double* rate = shot.rates.data() + (is_plane ? 3 : 6) * i;
  if (is_plane) {
    made.pose.x = {at[0], at[1], 0.0};
    made.pose.R.topLeftCorner<2, 2>() = shape::pose({at[0], at[1]}, at[2]).R;
    made.velocity = {rate[0], rate[1], 0.0};
    made.spin = {0.0, 0.0, rate[2]};
  } else {
    made.pose.x = {at[0], at[1], at[2]};
    made.pose.R = Eigen::Quaterniond(at[3], at[4], at[5], at[6]).toRotationMatrix();
    made.velocity = {rate[0], rate[1], rate[2]};
    made.spin = {rate[3], rate[4], rate[5]};
  }
  return made;
}

/// Numbers of points or cells, in their order.
struct Values {
  std::vector<std::int32_t> body;
  std::vector<std::int32_t> family;
  std::vector<double> velocity;
  std::vector<double> spin;
  std::vector<double> radius;
};

/// Points and cells of all bodies.
class BodyMesh {
 public:
  BodyMesh(const scene::WorldPart& part, std::size_t bodies) : family_(bodies, -1) {
    for (const scene::BodyFamily& one : part.families) {
      std::fill_n(family_.begin() + one.begin, one.count, static_cast<std::int32_t>(names_.size()));
      names_.push_back(one.name);
    }
  }

  void add(std::size_t i, const Placed& at, std::span<const Point3> corners, double radius,
           VtpText::Cells& cells) {
    auto& cell = cells.emplace_back();
    for (const Point3& corner : corners) {
      cell.push_back(static_cast<std::int64_t>(points_.size() / 3));
      const Point3 p = at.pose.place(corner);
      points_.insert(points_.end(), p.begin(), p.end());
      add(i, at, radius, of_points_);
    }
    add(i, at, radius, of_cells_);
  }

  std::string text(double t) {
    VtpText file(std::move(points_));
    file.set_time(t);
    file.add_words("families", names_);
    if (!vertices.empty()) {
      file.add_at_points("radius", 1, of_points_.radius);
      file.add_at_points("body", of_points_.body);
      file.add_at_points("velocity", 3, of_points_.velocity);
    }
    file.add_at_cells("body", of_cells_.body);
    file.add_at_cells("family", of_cells_.family);
    file.add_at_cells("velocity", 3, of_cells_.velocity);
    file.add_at_cells("spin", 3, of_cells_.spin);
    file.set_cells(std::move(vertices), std::move(lines), std::move(polygons));
    return file.text();
  }

  VtpText::Cells vertices;
  VtpText::Cells lines;
  VtpText::Cells polygons;

 private:
  void add(std::size_t i, const Placed& at, double radius, Values& to) const {
    to.body.push_back(static_cast<std::int32_t>(i));
    to.family.push_back(family_[i]);
    to.velocity.insert(to.velocity.end(), at.velocity.begin(), at.velocity.end());
    to.spin.insert(to.spin.end(), at.spin.begin(), at.spin.end());
    to.radius.push_back(radius);
  }

  std::vector<std::int32_t> family_;  // by body
  std::vector<std::string> names_;
  std::vector<double> points_;
  Values of_points_;
  Values of_cells_;
};

}  // namespace

std::vector<BodySurface> surfaces_of(const scene::WorldPart& part,
                                     const std::vector<record::BodyFrame>& frames) {
  return part.plane != nullptr ? flat_surfaces(*part.plane, frames)
                               : solid_surfaces(*part.space, frames);
}

std::string vtp_of(const scene::WorldPart& part, const std::vector<BodySurface>& surfaces,
                   const record::BodySnapshot& shot) {
  BodyMesh mesh(part, surfaces.size());
  const auto each = [&](auto&& work) {
    for (std::size_t i = 0; i < surfaces.size(); ++i) {
      if (shot.is_there[i] != 0) work(i, placed(shot, i, part.plane != nullptr));
    }
  };
  // Values of cells go by kind: vertices, lines, polygons.
  each([&](std::size_t i, const Placed& at) {
    for (const auto& [centre, r] : surfaces[i].balls)
      mesh.add(i, at, {&centre, 1}, r, mesh.vertices);
  });
  each([&](std::size_t i, const Placed& at) {
    for (const auto& line : surfaces[i].lines) mesh.add(i, at, line, 0.0, mesh.lines);
  });
  each([&](std::size_t i, const Placed& at) {
    for (const auto& face : surfaces[i].faces) mesh.add(i, at, face, 0.0, mesh.polygons);
  });
  return mesh.text(shot.t);
}

std::string vtp_of(const record::ContactSnapshot& shot) {
  using Contact = record::ContactSnapshot::Contact;
  std::vector<double> points;
  VtpText::Cells vertices;
  VtpText::Cells lines;
  for (const Contact& one : shot.contacts) {
    const auto first = static_cast<std::int64_t>(points.size() / 3);
    for (const auto* p : {&one.at, &one.from, &one.to}) {
      points.insert(points.end(), p->begin(), p->end());
    }
    vertices.push_back({first});
    lines.push_back({first + 1, first, first + 2});
  }
  VtpText file(std::move(points));
  file.set_time(shot.t);
  file.set_cells(std::move(vertices), std::move(lines), {});
  constexpr std::array<double, 3> kNone{};  // arrows stand at contacts, not at mass centres
  const auto vectors = [&](const char* name, std::array<double, 3> Contact::*what) {
    std::vector<double> values;
    for (const Contact& one : shot.contacts) {
      for (const auto* v : {&(one.*what), &kNone, &kNone}) {
        values.insert(values.end(), v->begin(), v->end());
      }
    }
    file.add_at_points(name, 3, values);
  };
  const auto numbers = [&](const char* name, auto Contact::*what) {
    std::vector<std::decay_t<decltype(Contact{}.*what)>> values;
    for (const Contact& one : shot.contacts) values.insert(values.end(), 3, one.*what);
    if constexpr (std::is_same_v<decltype(values), std::vector<double>>) {
      file.add_at_points(name, 1, values);
    } else {
      file.add_at_points(name, values);
    }
  };
  vectors("impulse", &Contact::impulse);
  vectors("normal", &Contact::normal);
  vectors("moment", &Contact::moment);
  numbers("impulse_n", &Contact::impulse_n);
  numbers("gap", &Contact::gap);
  numbers("state", &Contact::state);
  numbers("body_a", &Contact::a);
  numbers("body_b", &Contact::b);
  return file.text();
}

}  // namespace ricochet::plot
