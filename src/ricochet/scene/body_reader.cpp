#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/body/finder.h"
#include "ricochet/scene/world_reader.h"

namespace ricochet::scene {
namespace {

using base::index;

/// A box of a list of shapes may stand aside, and turned.
shape::Shape<2> box_at(const body::Vec<2>& sides, double round, const body::Vec<2>& at,
                       double angle) {
  if (at.isZero(0.0) && angle == 0.0) return shape::box<2>(sides, round);
  const shape::Pose<2> pose = shape::pose(at, angle);
  std::vector<body::Vec<2>> corners = shape::box<2>(sides, round).corners;
  for (body::Vec<2>& corner : corners) corner = pose.place(corner);
  return shape::polygon(corners, round);
}

/// How far the body reaches from its mass centre, and a length of it.
void measure(const std::vector<shape::Shape<2>>& shapes, body::Body<2>& body) {
  body.size = 0.0;
  for (const shape::Shape<2>& shape : shapes) {
    body.size = std::max(body.size, shape.extent);
    if (!std::isfinite(shape.extent)) continue;
    body.reach = std::max(body.reach, (shape.centre - body.centre).norm() + shape.extent);
  }
}

constexpr std::array kShapeKeys = {"disc",       "capsule", "polygon", "box",
                                   "half_plane", "chain",   "point"};

}  // namespace

formula::Locals WorldReader::with_definitions(TableReader& table, Locals locals) {
  const Value* with = table.table("with");
  if (with == nullptr) return locals;
  for (const auto& [name, value] : with->entries) {
    const std::string key = table.full("with") + "." + name;
    formulas_.check_new_name(name, key, value);
    locals.emplace_back(name, formulas_.number(value, key, locals));
  }
  return locals;
}

void WorldReader::read_family(const std::string& name, const Value& value, World& world,
                              WorldPart& part) {
  const std::string path = "body." + name;
  if (value.kind != Value::Kind::Table) {
    throw base::InputError(path, "must be a table", "write [body.ball] and its keys below",
                           document_.spot_of_key(value));
  }
  formulas_.check_new_name(name, path, value);
  for (const char* taken : {"energy", "violation", "residual", "steps"}) {
    if (name != taken) continue;
    throw base::InputError(path, fmt::format("'{}' is a word of facts", name),
                           "choose another name", document_.spot_of_key(value));
  }
  BodyFamily family{name, world.count(), 0};
  TableReader table(document_, value, path);
  if (const Value* all = table.find("for")) {
    for (const Locals& locals : formulas_.index_values(*all, path + ".for")) {
      std::string member = name;
      for (const auto& [unused, i] : locals) member += fmt::format("[{}]", i);
      read_body(table, member, locals, world);
    }
  } else {
    read_body(table, name, {}, world);
  }
  table.finish();
  family.count = world.count() - family.begin;
  part.families.push_back(family);
}

int WorldReader::material_of(TableReader& table, const World& world) {
  const auto name = table.text("material");
  if (!name) return 0;
  const auto at = std::find(world.materials.begin() + 1, world.materials.end(), *name);
  if (at != world.materials.end()) return static_cast<int>(at - world.materials.begin());
  const std::vector<std::string> known(world.materials.begin() + 1, world.materials.end());
  table.fail(*table.find("material"), "material", fmt::format("'{}' is not known", *name),
             fmt::format("write [material.{}]; known: {}", *name,
                         known.empty() ? "none" : base::list_names(known)));
}

shape::Shape<2> WorldReader::read_polygon(const Value& value, const std::string& key, double round,
                                          const Locals& locals) {
  if (value.kind != Value::Kind::Array) {
    throw base::InputError(key, "must be a list of corners",
                           "write polygon = [[0, 0], [1, 0], [0, 1]]", document_.spot_of(value));
  }
  std::vector<Vec> corners;
  for (const Value& corner : value.items) corners.push_back(vector(corner, key, locals));
  return shape::polygon(corners, round);
}

/// A half-plane, a capsule or a chain.
shape::Shape<2> WorldReader::read_line_shape(TableReader& table, const Value& value,
                                             const std::string& key, double round,
                                             const Locals& locals) {
  const std::string full = table.full(key);
  if (key == "half_plane") {
    TableReader plane(document_, value, full);
    const Vec point = vector(plane.require("point", "write point = [0, 0]"), full, locals);
    const Vec normal = vector(plane.require("normal", "write normal = [0, 1]"), full, locals);
    plane.finish();
    return shape::half_space<2>(point, normal);
  }
  const bool is_capsule = key == "capsule";
  const std::size_t least = is_capsule ? 3 : 2;
  if (value.kind != Value::Kind::Array || value.items.size() < least ||
      (is_capsule && value.items.size() > least)) {
    table.fail(value, key, "does not say where it is",
               is_capsule ? "write capsule = [[0, 0], [1, 0], 0.1]: two ends and the radius"
                          : "write chain = [[0, 0], [1, 0], [2, 1]]");
  }
  if (is_capsule) {
    return shape::capsule<2>(vector(value.items[0], full, locals),
                             vector(value.items[1], full, locals),
                             formulas_.number(value.items[2], full, locals));
  }
  std::vector<Vec> points;
  for (const Value& point : value.items) points.push_back(vector(point, full, locals));
  return shape::chain(points, false, round);
}

/// The shape of a table that has one; its own errors are shown at its line.
std::optional<shape::Shape<2>> WorldReader::read_shape(TableReader& table, const Locals& locals) {
  const char* key = nullptr;
  for (const char* known : kShapeKeys) {
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
  const std::string full = table.full(key);
  const bool is_member = table.path().find(".shapes") != std::string::npos;
  const Value* at_value = is_member ? table.find("at") : nullptr;
  const Value* angle_value = is_member ? table.find("angle") : nullptr;
  const Vec at = at_value == nullptr ? Vec::Zero() : vector(*at_value, table.full("at"), locals);
  const double angle = angle_value == nullptr ? 0.0 : number(table, *angle_value, "angle", locals);
  const std::string kind = key;
  try {
    if (kind == "disc") return shape::ball<2>(number(table, value, key, locals), at);
    if (kind == "point") return shape::ball<2>(0.0, vector(value, full, locals));
    if (kind == "box") return box_at(vector(value, full, locals), round, at, angle);
    if (kind == "polygon") return read_polygon(value, full, round, locals);
    return read_line_shape(table, value, key, round, locals);
  } catch (const base::InputError& error) {
    if (error.spot().line > 0) throw;
    throw base::InputError(full, error.message(), error.remedy(), document_.spot_of(value));
  }
}

std::vector<shape::Shape<2>> WorldReader::read_shapes(TableReader& table, const Locals& locals) {
  std::vector<shape::Shape<2>> shapes;
  const std::optional<shape::Shape<2>> own = read_shape(table, locals);
  const Value* list = table.find("shapes");
  if (list != nullptr && (own || list->kind != Value::Kind::Array || list->items.empty())) {
    table.fail(*list, "shapes", own ? "stands beside a shape" : "must be a list of shapes",
               "write shapes = [{ disc = 0.1 }, { box = [1, 2], at = [0, 1] }]");
  }
  if (own) shapes.push_back(*own);
  for (std::size_t k = 0; list != nullptr && k < list->items.size(); ++k) {
    const std::string path = fmt::format("{}.shapes[{}]", table.path(), k + 1);
    if (list->items[k].kind != Value::Kind::Table) {
      table.fail(list->items[k], "shapes", "must be a list of tables", "write { disc = 0.1 }");
    }
    TableReader one(document_, list->items[k], path);
    const std::optional<shape::Shape<2>> shape = read_shape(one, locals);
    one.finish();
    if (!shape) table.fail(list->items[k], "shapes", "has no shape", "write { disc = 0.1 }");
    shapes.push_back(*shape);
  }
  if (shapes.empty()) {
    throw base::InputError(table.path(), "has no shape",
                           "write disc = 0.1, box = [1, 2], polygon, capsule, half_plane or shapes",
                           document_.spot_of_key(table.value()));
  }
  return shapes;
}

void WorldReader::read_kind(TableReader& table, const Locals& locals, Body& body) {
  const bool is_fixed = boolean(table, "fixed");
  const Value* driven = table.table("driven");
  if (is_fixed && driven != nullptr) {
    table.fail(*driven, "driven", "stands beside fixed", "remove one of them");
  }
  if (is_fixed) body.kind = body::Kind::Fixed;
  if (driven == nullptr) return;
  body.kind = body::Kind::Driven;
  TableReader one(document_, *driven, table.full("driven"));
  std::vector<formula::NodeId> nodes(3, formulas_.graph().constant(0.0));
  const Value* position = one.find("position");
  const Value* angle = one.find("angle");
  if (position == nullptr && angle == nullptr) {
    (void)one.require("position", "write driven = { position = [\"t\", 0] }, or angle");
  }
  if (position != nullptr) {
    if (position->kind != Value::Kind::Array || position->items.size() != 2) {
      one.fail(*position, "position", "must be a list of two formulas of t", "write [\"t\", 0]");
    }
    for (std::size_t k = 0; k < 2; ++k) {
      nodes[k] =
          formulas_.formula(position->items[k], one.full("position"), Speaks::Position, locals);
    }
  }
  if (angle != nullptr) {
    nodes[2] = formulas_.formula(*angle, one.full("angle"), Speaks::Position, locals);
  }
  one.finish();
  body.drive = drive_of(formulas_.graph(), nodes);
}

void WorldReader::read_mass(TableReader& table, const std::vector<shape::Shape<2>>& shapes,
                            const Locals& locals, Body& body) {
  const Value* mass = table.find("mass");
  const Value* inertia = table.find("inertia");
  const Value* centre = table.find("centre");
  if (!body.is_free()) return;
  const double density = densities_[index(body.material)];
  double area = 0.0;
  double turning = 0.0;
  Vec first = Vec::Zero();
  std::vector<shape::MassProperties<2>> parts;
  for (const shape::Shape<2>& shape : shapes) {
    if (shape.kind != shape::Kind::Core) {
      throw base::InputError(table.path(), "has a shape without end, and is free to move",
                             "write fixed = true, or driven = { position = [...] }",
                             document_.spot_of_key(table.value()));
    }
    parts.push_back(shape::mass_of(shape, 1.0));
    area += parts.back().mass;
    first += parts.back().mass * parts.back().centre;
  }
  if (area > 0.0) body.centre = first / area;
  for (const shape::MassProperties<2>& one : parts) {
    turning += one.inertia(0, 0) + one.mass * (one.centre - body.centre).squaredNorm();
  }
  const auto positive = [&](const Value& value, const char* key) {
    const double found = number(table, value, key, locals);
    if (found > 0.0) return found;
    table.fail(value, key, fmt::format("must be positive, not {}", found), "write a number > 0");
  };
  if (mass == nullptr && !(density > 0.0)) {
    throw base::InputError(table.full("mass"), "is missing, and its material has no density",
                           "write mass = 1, or a material with density",
                           document_.spot_of_key(table.value()));
  }
  body.mass = mass != nullptr ? positive(*mass, "mass") : density * area;
  if (inertia != nullptr) {
    body.inertia = positive(*inertia, "inertia");
  } else if (area > 0.0) {
    body.inertia = turning * body.mass / area;
  }
  if (centre != nullptr) {
    if (mass == nullptr || inertia == nullptr) {
      table.fail(*centre, "centre", "needs mass and inertia beside it",
                 "write mass, and inertia about that centre");
    }
    body.centre = vector(*centre, table.full("centre"), locals);
  }
  if (body.mass > 0.0 && body.inertia > 0.0) return;
  throw base::InputError(table.path(), "has no area, so that its mass and inertia do not follow",
                         "write mass = 1 and inertia = 0.1", document_.spot_of_key(table.value()));
}

void WorldReader::read_place(TableReader& table, const Locals& locals, bool in_place, Body& body) {
  const Value* at = table.find("at");
  const Value* angle = table.find("angle");
  const Value* velocity = table.find("velocity");
  const Value* spin = table.find("spin");
  const Value* born = table.find("born");
  if (in_place && (at != nullptr || angle != nullptr)) {
    table.fail(at != nullptr ? *at : *angle, at != nullptr ? "at" : "angle",
               "stands beside vertices = \"world\", which say where it is", "remove it");
  }
  if (body.kind == body::Kind::Driven && (at != nullptr || angle != nullptr)) {
    table.fail(at != nullptr ? *at : *angle, at != nullptr ? "at" : "angle",
               "stands beside driven, which says where it is", "write it into driven");
  }
  if (!body.is_free() && (velocity != nullptr || spin != nullptr)) {
    table.fail(velocity != nullptr ? *velocity : *spin, velocity != nullptr ? "velocity" : "spin",
               "of a body that is not free", "remove it, or write driven = { position = [...] }");
  }
  if (angle != nullptr) body.start.angle = number(table, *angle, "angle", locals);
  if (at != nullptr) body.start.x = vector(*at, table.full("at"), locals);
  body.start.x += shape::pose(Vec::Zero(), body.start.angle).R * body.centre;
  if (velocity != nullptr) body.start.v = vector(*velocity, table.full("velocity"), locals);
  if (spin != nullptr) body.start.spin = number(table, *spin, "spin", locals);
  if (born != nullptr) body.born = number(table, *born, "born", locals);
}

void WorldReader::read_body(TableReader& table, const std::string& name, Locals locals,
                            World& world) {
  locals = with_definitions(table, std::move(locals));
  Body body;
  body.name = name;
  body.material = material_of(table, world);
  read_kind(table, locals, body);
  std::vector<shape::Shape<2>> shapes = read_shapes(table, locals);
  bool in_place = false;
  if (const auto vertices = table.text("vertices")) {
    in_place = *vertices == "world";
    if (!in_place || table.find("polygon") == nullptr) {
      table.fail(*table.find("vertices"), "vertices", "is for a polygon whose corners are in place",
                 "write vertices = \"world\" beside polygon");
    }
  }
  read_mass(table, shapes, locals, body);
  if (in_place && body.is_free()) {  // the frame goes to the mass centre
    std::vector<Vec> corners = shapes[0].corners;
    for (Vec& corner : corners) corner -= body.centre;
    body.start.x = body.centre;
    body.centre.setZero();
    shapes[0] = shape::polygon(corners, shapes[0].round);
  }
  read_place(table, locals, in_place, body);
  measure(shapes, body);
  body.first_shape = static_cast<int>(world.solids.size());
  body.shapes = static_cast<int>(shapes.size());
  for (shape::Shape<2>& shape : shapes) world.solids.push_back({world.count(), std::move(shape)});
  world.bodies.push_back(std::move(body));
}

void WorldReader::check_start(const Value* start, double t, const WorldPart& part) {
  const World& world = *part.plane;
  double tolerance = 0.0;
  if (start != nullptr) {
    TableReader table(document_, *start, "start");
    if (const Value* stated = table.find("tolerance")) {
      tolerance = at_least(table, *stated, "tolerance", 0.0);
    }
    table.finish();
  }
  std::vector<body::Motion<2>> places;
  std::vector<char> exists;
  for (const Body& body : world.bodies) {
    places.push_back(body.start);
    if (body.kind == body::Kind::Driven) body.drive(t, places.back());
    exists.push_back(body.born <= t ? 1 : 0);
  }
  std::vector<body::Row<2>> rows;
  body::Finder<2>(world).find(places, exists, std::vector<double>(exists.size(), 0.0), rows);
  const body::Row<2>* worst = nullptr;
  for (const body::Row<2>& row : rows) {
    if (row.gap >= -std::max(row.slack, tolerance)) continue;
    if (worst == nullptr || row.gap < worst->gap) worst = &row;
  }
  if (worst == nullptr) return;
  throw base::InputError(
      "body",
      fmt::format("'{}' and '{}' overlap by {:.3g} at the start", world.body(worst->body_a).name,
                  world.body(worst->body_b).name, -worst->gap),
      fmt::format("move them apart, or write [start] with tolerance = {:.1g}, and they are",
                  -1.5 * worst->gap),
      document_.spot_of_key(*bodies_));
}

}  // namespace ricochet::scene
