#include "ricochet/plot/space_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"

namespace ricochet::plot {
namespace {

using base::index;
using Vec3 = body::Vec<3>;

/// Right, up, towards the eye: as the page begins.
shape::Mat<3> eye() {
  constexpr double kYaw = -0.6;
  constexpr double kPitch = 0.45;
  const double c = std::cos(kYaw);
  const double s = std::sin(kYaw);
  const double cp = std::cos(kPitch);
  const double sp = std::sin(kPitch);
  shape::Mat<3> rows;
  rows << c, s, 0.0, -s * sp, c * sp, cp, s * cp, -c * cp, sp;
  return rows;
}

void append_rounded(double value, std::string& text) {
  text += fmt::format("{}{:.5g}", text.ends_with('[') ? "" : ",", value);
}

std::string solid_json(const Solid& solid) {
  std::string balls = "[";
  std::string faces = "[";
  for (const auto& [centre, radius] : solid.balls) {
    for (int k = 0; k < 3; ++k) append_rounded(centre[k], balls);
    append_rounded(radius, balls);
  }
  for (const std::vector<Vec3>& face : solid.faces) {
    faces += faces.ends_with('[') ? "[" : ",[";
    for (const Vec3& p : face) {
      for (int k = 0; k < 3; ++k) append_rounded(p[k], faces);
    }
    faces += ']';
  }
  return fmt::format("\"s\":{}],\"f\":{}]", balls, faces);
}

}  // namespace

std::array<Vec3, 2> ends_of(const body::World<3>& world, const record::BodyFrame& at,
                            const record::ForceLine& force) {
  std::array<Vec3, 2> ends;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::size_t i = index(k == 0 ? force.a : force.b);
    ends[k] = world.bodies[i].moves() ? motion_of(at, i).x : Vec3::Map(force.at.data()).eval();
  }
  return ends;
}

SpacePicture::SpacePicture(const body::World<3>& world,
                           const std::vector<record::BodyFrame>& frames)
    : world_(world),
      around_(surroundings_of(world, frames)),
      solids_(solids_of(world, around_.middle, 1.2 * around_.reach)) {}

std::vector<SpacePicture::Item> SpacePicture::items_of(const Frame& frame,
                                                       const record::BodyFrame& at) const {
  const shape::Mat<3> view = eye();
  std::vector<Item> items;
  const auto see = [&](const Vec3& p) { return Vec3(view * (p - around_.middle)); };
  const double scale = std::abs(frame.at(Point{1.0, 0.0}).x - frame.at(Point{0.0, 0.0}).x);
  for (std::size_t i = 0; i < solids_.size(); ++i) {
    if (world_.bodies[i].born > at.t) continue;
    const body::Motion<3> place = motion_of(at, i);
    const bool moves = world_.bodies[i].moves();
    for (const auto& [centre, radius] : solids_[i].balls) {
      const Vec3 p = see(place.x + place.turn * centre);
      items.push_back({p[2], moves, std::max(0.6, radius * scale), {frame.at(Point{p[0], p[1]})}});
    }
    for (const std::vector<Vec3>& face : solids_[i].faces) {
      Item item;
      item.moves = moves;
      std::vector<Vec3> seen;
      for (const Vec3& corner : face) {
        seen.push_back(see(place.x + place.turn * corner));
        item.outline.push_back(frame.at(Point{seen.back()[0], seen.back()[1]}));
        item.depth += seen.back()[2] / static_cast<double>(face.size());
      }
      const Vec3 normal = (seen[1] - seen[0]).cross(seen[2] - seen[0]);
      if (normal[2] > 0.0 || !moves) items.push_back(std::move(item));
    }
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.moves != b.moves ? b.moves : a.depth < b.depth;
  });
  return items;
}

void SpacePicture::draw(Svg& svg, const Frame& frame, const record::BodyFrame& at,
                        bool with_forces) const {
  for (const Item& item : items_of(frame, at)) {
    const char* kind = item.moves ? "solid" : "ground";
    if (item.radius > 0.0) {
      svg.circle(item.outline[0], item.radius, kind);
    } else {
      svg.polygon(item.outline, kind);
    }
  }
  constexpr double kWidest = 6.0;  // [px]
  double largest = 0.0;
  for (const record::ForceLine& force : at.forces) {
    largest = std::max(largest, Vec3::Map(force.impulse.data()).norm());
  }
  for (const record::ForceLine& force : at.forces) {
    const double part = Vec3::Map(force.impulse.data()).norm() / largest;
    if (!with_forces || !(part > 0.02)) continue;
    std::array<Point, 2> ends;
    for (std::size_t k = 0; k < 2; ++k) {
      const Vec3 p = eye() * (ends_of(world_, at, force)[k] - around_.middle);
      ends[k] = frame.at(Point{p[0], p[1]});
    }
    svg.begin_group(fmt::format("stroke-width=\"{:.2f}\" stroke-opacity=\"0.6\"", kWidest * part));
    svg.line(ends[0], ends[1], "s1");
    svg.end_group();
  }
}

std::string SpacePicture::json() const {
  std::string bodies;
  for (std::size_t i = 0; i < solids_.size(); ++i) {
    const double born = world_.bodies[i].born;
    bodies += fmt::format("{}{{\"m\":{},\"b\":{},{}}}", i == 0 ? "" : ",\n",
                          world_.bodies[i].moves() ? 1 : 0, std::isfinite(born) ? born : -1e300,
                          solid_json(solids_[i]));
  }
  return fmt::format("\"middle\":[{:.6g},{:.6g},{:.6g}],\"reach\":{:.6g},\n\"bodies\":[{}]",
                     around_.middle[0], around_.middle[1], around_.middle[2], around_.reach,
                     bodies);
}

}  // namespace ricochet::plot
