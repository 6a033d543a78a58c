#include <fmt/format.h>

#include <algorithm>

#include "ricochet/base/index.h"
#include "ricochet/scene/world_reader.h"

namespace ricochet::scene {
namespace {

template <int D>
constexpr auto kShapeKeys =
    std::array{"disc", "capsule", "polygon", "box", "half_plane", "chain", "point", "hollow"};
template <>
constexpr auto kShapeKeys<3> =
    std::array{"sphere",    "capsule",    "polytope", "box",         "cylinder", "hollow",
               "ellipsoid", "half_space", "mesh",     "heightfield", "point"};

/// A box of a list of shapes may stand aside, and turned.
shape::Shape<2> box_at(const body::Vec<2>& sides, double round, const body::Motion<2>& at) {
  if (at.x.isZero(0.0) && at.angle == 0.0) return shape::box<2>(sides, round);
  const shape::Pose<2> pose = shape::pose(at.x, at.angle);
  std::vector<body::Vec<2>> corners = shape::box<2>(sides, round).corners;
  for (body::Vec<2>& corner : corners) corner = pose.place(corner);
  return shape::polygon(corners, round);
}
shape::Shape<3> box_at(const body::Vec<3>& sides, double round, const body::Motion<3>& at) {
  shape::Shape<3> box = shape::box<3>(sides, round);
  if (at.x.isZero(0.0) && at.turn.w() == 1.0) return box;
  for (body::Vec<3>& corner : box.corners) corner = at.x + at.turn * corner;
  return shape::polytope(box.corners, round);
}

}  // namespace

/// The wall about a disc or ball: a ball of negative radius, that only formulas know.
template <int D>
shape::Shape<D> WorldReader<D>::make_hollow(TableReader& table, const Value& value, const Vec& at,
                                            const Locals& locals) {
  if (!beside_system_) {
    table.fail(
        value, "hollow", "is a shape of scenes with [system]",
        D == 2 ? "write a chain or several half-planes" : "write a mesh or several half-spaces");
  }
  Shape made = shape::ball<D>(number(table, value, "hollow", locals), at);
  if (!(made.round > 0.0)) {
    table.fail(value, "hollow", "must have a radius", "write hollow = 1: what is inside stays so");
  }
  made.round = -made.round;
  return made;
}

template <int D>
std::vector<typename WorldReader<D>::Vec> WorldReader<D>::read_points(TableReader& table,
                                                                      const Value& value,
                                                                      const std::string& key,
                                                                      const Locals& locals) {
  if (value.kind != Value::Kind::Array) {
    const char* points =
        D == 2 ? "[[0, 0], [1, 0], [0, 1]]" : "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]";
    table.fail(value, key, "must be a list of points", fmt::format("write {} = {}", key, points));
  }
  std::vector<Vec> points;
  for (const Value& point : value.items) points.push_back(vector(point, table.full(key), locals));
  return points;
}

template <int D>
shape::Shape<D> WorldReader<D>::read_half_space(TableReader& table, const Value& value,
                                                const std::string& key, const Locals& locals) {
  const std::string full = table.full(key);
  TableReader plane(document_, value, full);
  const char* at = D == 2 ? "write point = [0, 0]" : "write point = [0, 0, 0]";
  const char* up = D == 2 ? "write normal = [0, 1]" : "write normal = [0, 0, 1]";
  const Vec point = vector(plane.require("point", at), full, locals);
  const Vec normal = vector(plane.require("normal", up), full, locals);
  plane.finish();
  return shape::half_space<D>(point, normal);
}

template <int D>
shape::Shape<D> WorldReader<D>::read_capsule(TableReader& table, const Value& value,
                                             const Locals& locals) {
  const std::string full = table.full("capsule");
  if (value.kind != Value::Kind::Array || value.items.size() != 3) {
    table.fail(value, "capsule", "does not say where it is",
               D == 2 ? "write capsule = [[0, 0], [1, 0], 0.1]: two ends and the radius"
                      : "write capsule = [[0, 0, 0], [1, 0, 0], 0.1]: two ends and the radius");
  }
  const Vec from = vector(value.items[0], full, locals);
  const Vec to = vector(value.items[1], full, locals);
  expect_unit(value.items[2], full, locals);
  return shape::capsule<D>(from, to, formulas_.number(value.items[2], full, locals));
}

template <>
shape::Shape<3> WorldReader<3>::read_mesh(TableReader& table, const Value& value,
                                          const Locals& locals) {
  TableReader mesh(document_, value, table.full("mesh"));
  const std::vector<Vec> points = read_points(
      mesh, mesh.require("points", "write points = [[0, 0, 0], ...]"), "points", locals);
  const Value& list = mesh.require("triangles", "write triangles = [[1, 2, 3], ...]");
  mesh.finish();
  std::vector<std::array<int, 3>> triangles;
  for (const Value& item : list.items) {
    if (item.items.size() != 3) {
      mesh.fail(item, "triangles", "must be three numbers of points", "write [1, 2, 3]");
    }
    std::array<int, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double number = formulas_.number(item.items[k], mesh.full("triangles"), locals);
      if (!(number >= 1.0 && number <= static_cast<double>(points.size()))) {
        mesh.fail(item, "triangles", fmt::format("there is no point {}", number),
                  fmt::format("points are counted from 1 to {}", points.size()));
      }
      corners[k] = static_cast<int>(number) - 1;
    }
    triangles.push_back(corners);
  }
  return shape::mesh(points, triangles);
}

template <>
shape::Shape<3> WorldReader<3>::read_heights(TableReader& table, const Value& value,
                                             const Locals& locals) {
  TableReader field(document_, value, table.full("heightfield"));
  const Value& spacing = field.require("spacing", "write spacing = [0.1, 0.1]");
  const Value& rows = field.require("heights", "write heights = [[0, 0], [0, 1]], rows along x");
  field.finish();
  if (spacing.items.size() != 2 || rows.items.empty()) {
    field.fail(spacing, "spacing", "must be two lengths, beside rows of heights",
               "write spacing = [0.1, 0.1]");
  }
  std::vector<double> heights;
  for (const Value& row : rows.items) {
    if (row.items.size() != rows.items[0].items.size()) {
      field.fail(row, "heights", "has another length than the first row", "write as many numbers");
    }
    for (const Value& item : row.items) {
      heights.push_back(formulas_.number(item, field.full("heights"), locals));
    }
  }
  const auto length = [&](std::size_t k) {
    return formulas_.number(spacing.items[k], field.full("spacing"), locals);
  };
  return shape::heightfield(static_cast<int>(rows.items[0].items.size()),
                            static_cast<int>(rows.items.size()), length(0), length(1), heights);
}

template <>
shape::Shape<2> WorldReader<2>::make_shape(TableReader& table, const Value& value,
                                           const std::string& kind, double round,
                                           const Locals& locals) {
  Motion at;
  if (table.path().find(".shapes") != std::string::npos) {
    if (const Value* there = table.find("at")) at.x = vector(*there, table.full("at"), locals);
    (void)read_turn(table, locals, at);
  }
  if (kind == "disc") return shape::ball<2>(number(table, value, kind, locals), at.x);
  if (kind == "hollow") return make_hollow(table, value, at.x, locals);
  if (kind == "point") return shape::ball<2>(0.0, vector(value, table.full(kind), locals));
  if (kind == "box") return box_at(vector(value, table.full(kind), locals), round, at);
  if (kind == "capsule") return read_capsule(table, value, locals);
  if (kind == "half_plane") return read_half_space(table, value, kind, locals);
  const std::vector<Vec> points = read_points(table, value, kind, locals);
  return kind == "polygon" ? shape::polygon(points, round) : shape::chain(points, false, round);
}

template <>
shape::Shape<3> WorldReader<3>::make_shape(TableReader& table, const Value& value,
                                           const std::string& kind, double round,
                                           const Locals& locals) {
  Motion at;
  if (table.path().find(".shapes") != std::string::npos) {
    const Value* there = table.find("at");
    if (there != nullptr) at.x = vector(*there, table.full("at"), locals);
    const bool turns = read_turn(table, locals, at);
    if ((there != nullptr || turns) && kind != "sphere" && kind != "box" && kind != "hollow") {
      table.fail(there != nullptr ? *there : value, "at",
                 fmt::format("is for boxes and spheres, not {}", kind),
                 "write its points in place, or a body of its own");
    }
  }
  if (kind == "sphere") return shape::ball<3>(number(table, value, kind, locals), at.x);
  if (kind == "hollow") return make_hollow(table, value, at.x, locals);
  if (kind == "point") return shape::ball<3>(0.0, vector(value, table.full(kind), locals));
  if (kind == "box") return box_at(vector(value, table.full(kind), locals), round, at);
  if (kind == "ellipsoid") return shape::ellipsoid(vector(value, table.full(kind), locals));
  if (kind == "capsule") return read_capsule(table, value, locals);
  if (kind == "half_space") return read_half_space(table, value, kind, locals);
  if (kind == "mesh") return read_mesh(table, value, locals);
  if (kind == "heightfield") return read_heights(table, value, locals);
  if (kind == "polytope") return shape::polytope(read_points(table, value, kind, locals), round);
  if (value.kind != Value::Kind::Array || value.items.size() != 2) {
    table.fail(value, kind, "must be its radius and its height",
               "write cylinder = [0.1, 0.3]: it stands along the third axis of its frame");
  }
  return shape::cylinder(formulas_.number(value.items[0], table.full(kind), locals),
                         formulas_.number(value.items[1], table.full(kind), locals));
}

/// The shape of a table that has one; its own errors are shown at its line.
template <int D>
std::optional<shape::Shape<D>> WorldReader<D>::read_shape(TableReader& table,
                                                          const Locals& locals) {
  const char* key = nullptr;
  for (const char* known : kShapeKeys<D>) {
    const Value* there = table.find(known);
    if (there == nullptr) continue;
    if (key != nullptr) {
      table.fail(*there, known, fmt::format("stands beside {}", key),
                 "a body of several shapes has shapes = [{ ... }, { ... }]");
    }
    key = known;
  }
  const Value* rounded = table.find("round");
  const double round = rounded == nullptr ? 0.0 : at_least(table, *rounded, "round", 0.0, locals);
  if (key == nullptr) return std::nullopt;
  const Value& value = *table.find(key);
  try {
    return make_shape(table, value, key, round, locals);
  } catch (const base::InputError& error) {
    if (error.spot().line > 0) throw;
    throw base::InputError(table.full(key), error.message(), error.remedy(),
                           document_.spot_of(value));
  }
}

template <int D>
std::vector<shape::Shape<D>> WorldReader<D>::read_shapes(TableReader& table, const Locals& locals) {
  const std::string example = D == 2 ? "{ disc = 0.1 }" : "{ sphere = 0.1 }";
  std::vector<Shape> shapes;
  const std::optional<Shape> own = read_shape(table, locals);
  const Value* list = table.find("shapes");
  if (list != nullptr && (own || list->kind != Value::Kind::Array || list->items.empty())) {
    table.fail(*list, "shapes", own ? "stands beside a shape" : "must be a list of shapes",
               fmt::format("write shapes = [{}, {}]", example,
                           D == 2 ? "{ box = [1, 2], at = [0, 1] }"
                                  : "{ box = [1, 2, 3], at = [0, 0, 1] }"));
  }
  if (own) shapes.push_back(*own);
  for (std::size_t k = 0; list != nullptr && k < list->items.size(); ++k) {
    const std::string path = fmt::format("{}.shapes[{}]", table.path(), k + 1);
    if (list->items[k].kind != Value::Kind::Table) {
      table.fail(list->items[k], "shapes", "must be a list of tables", "write " + example);
    }
    TableReader one(document_, list->items[k], path);
    const std::optional<Shape> shape = read_shape(one, locals);
    one.finish();
    if (!shape) table.fail(list->items[k], "shapes", "has no shape", "write " + example);
    shapes.push_back(*shape);
  }
  if (shapes.empty()) {
    std::string what = "has no shape";
    for (const char* other : {"disc", "polygon", "half_plane", "chain", "sphere", "polytope",
                              "cylinder", "ellipsoid", "half_space", "mesh", "heightfield"}) {
      if (table.find(other) == nullptr) continue;
      what += fmt::format(" of {}: {} is none", D == 2 ? "the plane" : "space", other);
      break;
    }
    throw base::InputError(
        table.path(), what,
        D == 2 ? "write disc = 0.1, box = [1, 2], polygon, capsule, half_plane or shapes"
               : "write sphere = 0.1, box = [1, 2, 3], polytope, capsule, half_space or shapes",
        document_.spot_of_key(table.value()));
  }
  return shapes;
}

template std::vector<shape::Shape<2>> WorldReader<2>::read_shapes(TableReader&, const Locals&);
template std::vector<shape::Shape<3>> WorldReader<3>::read_shapes(TableReader&, const Locals&);

}  // namespace ricochet::scene
