#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/body/finder.h"
#include "ricochet/convex/dense.h"
#include "ricochet/scene/world_reader.h"

namespace ricochet::scene {
namespace {

using base::index;
constexpr int kTimeOnly = 1;  // the first slot after that of t

/// How far the body reaches from its mass centre, and a length of it: of points that are free
/// their radius of gyration.
template <int D>
void measure(const std::vector<shape::Shape<D>>& shapes, body::Body<D>& body) {
  body.size = 0.0;
  for (const shape::Shape<D>& shape : shapes) {
    body.size = std::max(body.size, shape.extent);
    if (!std::isfinite(shape.extent)) continue;
    body.reach = std::max(body.reach, (shape.centre - body.centre).norm() + shape.extent);
  }
  if (body.size > 0.0 || shapes.empty() || !body.is_free()) return;
  body.size = std::sqrt(body::size_of_inertia(body) / body.mass);
}

/// Moments about another point than the mass centre, of a mass 1.
double aside(const body::Vec<2>& way) { return way.squaredNorm(); }
shape::Mat<3> aside(const body::Vec<3>& way) {
  return way.squaredNorm() * shape::Mat<3>::Identity() - way * way.transpose();
}

}  // namespace

template <int D>
formula::Locals WorldReader<D>::with_definitions(TableReader& table, Locals locals) {
  const Value* with = table.table("with");
  if (with == nullptr) return locals;
  for (const auto& [name, value] : with->entries) {
    const std::string key = table.full("with") + "." + name;
    formulas_.check_new_name(name, key, value);
    locals.emplace_back(name, formulas_.number(value, key, locals));
  }
  return locals;
}

template <int D>
void WorldReader<D>::read_family(const std::string& name, const Value& value, World& world,
                                 WorldPart& part) {
  const std::string path = "body." + name;
  if (value.kind != Value::Kind::Table) {
    throw base::InputError(path, "must be a table", "write [body.ball] and its keys below",
                           document_.spot_of_key(value));
  }
  formulas_.check_new_name(name, path, value);
  for (const char* taken : {"energy", "violation", "residual", "steps", "joint"}) {
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

template <int D>
int WorldReader<D>::material_of(TableReader& table, const World& world) {
  const auto name = table.text("material");
  if (!name) return 0;
  const auto at = std::find(world.materials.begin() + 1, world.materials.end(), *name);
  if (at != world.materials.end()) return static_cast<int>(at - world.materials.begin());
  const std::vector<std::string> known(world.materials.begin() + 1, world.materials.end());
  table.fail(*table.find("material"), "material", fmt::format("'{}' is not known", *name),
             fmt::format("write [material.{}]; known: {}", *name,
                         known.empty() ? "none" : base::list_names(known)));
}

template <>
bool WorldReader<2>::read_turn(TableReader& table, const Locals& locals, Motion& place) {
  const Value* angle = table.find("angle");
  if (angle != nullptr) place.angle = number(table, *angle, "angle", locals);
  return angle != nullptr;
}

template <>
bool WorldReader<3>::read_turn(TableReader& table, const Locals& locals, Motion& place) {
  const Value* found = nullptr;
  for (const char* key : {"angle", "axis_angle", "quaternion"}) {
    const Value* value = table.find(key);
    if (value == nullptr) continue;
    if (found != nullptr) table.fail(*value, key, "says again how it is turned", "remove one");
    found = value;
    const std::string kind = key;
    const std::string full = table.full(key);
    if (kind == "angle") {
      place.turn = body::rotation(number(table, *value, key, locals) * Vec::UnitZ());
    } else if (kind == "axis_angle") {
      if (value->kind != Value::Kind::Array || value->items.size() != 2) {
        table.fail(*value, key, "must be an axis and an angle", "write [[1, 0, 0], \"pi/6\"]");
      }
      const Vec axis = vector(value->items[0], full, locals);
      if (!(axis.norm() > 0.0)) table.fail(*value, key, "has no axis", "write [[1, 0, 0], 0.1]");
      place.turn =
          body::rotation(formulas_.number(value->items[1], full, locals) * axis.normalized());
    } else {
      if (value->kind != Value::Kind::Array || value->items.size() != 4) {
        table.fail(*value, key, "must be four numbers", "write [1, 0, 0, 0]: w, x, y, z");
      }
      std::array<double, 4> q{};
      for (std::size_t k = 0; k < 4; ++k) q[k] = formulas_.number(value->items[k], full, locals);
      place.turn = Eigen::Quaterniond(q[0], q[1], q[2], q[3]);
      if (!(place.turn.norm() > 0.0)) table.fail(*value, key, "is zero", "write [1, 0, 0, 0]");
    }
    place.turn.normalize();
  }
  return found != nullptr;
}

template <int D>
void WorldReader<D>::read_kind(TableReader& table, const Locals& locals, Body& body) {
  drive_.clear();
  const bool is_fixed = boolean(table, "fixed");
  const Value* driven = table.table("driven");
  if (is_fixed && driven != nullptr) {
    table.fail(*driven, "driven", "stands beside fixed", "remove one of them");
  }
  if (is_fixed) body.kind = body::Kind::Fixed;
  if (driven == nullptr) return;
  body.kind = body::Kind::Driven;
  TableReader one(document_, *driven, table.full("driven"));
  constexpr std::size_t kNodes = D == 2 ? 3 : 7;
  std::vector<formula::NodeId> nodes(kNodes, formulas_.graph().constant(0.0));
  if (D == 3) nodes[5] = formulas_.graph().constant(1.0);
  const Value* position = one.find("position");
  const Value* angle = one.find("angle");
  const Value* about = D == 3 ? one.find("axis") : nullptr;
  if (position == nullptr && angle == nullptr) {
    (void)one.require("position", "write driven = { position = [\"t\", 0] }, or angle");
  }
  const auto read_list = [&](const Value& list, const char* key, std::size_t at) {
    if (list.kind != Value::Kind::Array || list.items.size() != D) {
      one.fail(list, key,
               fmt::format("must be a list of {} formulas of t", D == 2 ? "two" : "three"),
               D == 2 ? "write [\"t\", 0]" : "write [\"t\", 0, 0]");
    }
    for (std::size_t k = 0; k < D; ++k) {
      expect_unit(list.items[k], one.full(key), locals);
      nodes[at + k] = formulas_.formula(list.items[k], one.full(key), Speaks::Position, locals);
    }
  };
  if (position != nullptr) read_list(*position, "position", 0);
  if (about != nullptr) read_list(*about, "axis", D);
  if (angle != nullptr) {
    expect_unit(*angle, one.full("angle"), locals);
    nodes.back() = formulas_.formula(*angle, one.full("angle"), Speaks::Position, locals);
  }
  one.finish();
  for (const formula::NodeId node : nodes) {
    if (!formulas_.graph().depends_on(node, kTimeOnly, std::numeric_limits<int>::max())) continue;
    table.fail(*driven, "driven", "depends on a coordinate of [system]",
               "write [frame.NAME] with position and angle: a driven body follows t alone");
  }
  drive_ = nodes;
  body.drive = drive_of<D>(formulas_.graph(), nodes);
}

template <>
double WorldReader<2>::read_inertia(TableReader& table, const Value& value, const Locals& locals) {
  const double found = number(table, value, "inertia", locals);
  if (found > 0.0) return found;
  table.fail(value, "inertia", fmt::format("must be positive, not {}", found),
             "write a number > 0");
}

/// Three moments along the axes of the frame, or a symmetric matrix in it.
template <>
shape::Mat<3> WorldReader<3>::read_inertia(TableReader& table, const Value& value,
                                           const Locals& locals) {
  const std::string full = table.full("inertia");
  shape::Mat<3> made = shape::Mat<3>::Zero();
  const bool is_list = value.kind == Value::Kind::Array && value.items.size() == 3;
  if (!is_list) {
    table.fail(value, "inertia", "must be three moments, or three rows of a matrix",
               "write inertia = [1, 2, 3], along the axes of the frame");
  }
  if (value.items[0].kind == Value::Kind::Array) {
    for (int k = 0; k < 3; ++k) made.row(k) = vector(value.items[base::index(k)], full, locals);
  } else {
    made.diagonal() = vector(value, full, locals);
  }
  if (!(made - made.transpose()).isZero(1e-12 * made.norm())) {
    table.fail(value, "inertia", "is not symmetric", "write the same number on both sides");
  }
  made = 0.5 * (made + made.transpose()).eval();
  const Vec moments = convex::symmetric_eigenvalues(made);
  if (!(moments[0] > 0.0)) {
    table.fail(value, "inertia", fmt::format("must be positive, not {:.6g}", moments[0]),
               "write moments > 0; products of inertia must leave them so");
  }
  if (moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-12)) {
    table.fail(value, "inertia",
               fmt::format("belongs to no body: {:.6g} is more than {:.6g} and {:.6g} together",
                           moments[2], moments[1], moments[0]),
               "each moment is at most the sum of the two others");
  }
  return made;
}

template <int D>
void WorldReader<D>::read_mass(TableReader& table, const std::vector<Shape>& shapes,
                               const Locals& locals, Body& body) {
  const Value* mass = table.find("mass");
  const Value* inertia = table.find("inertia");
  const Value* centre = table.find("centre");
  if (!body.is_free()) return;
  const double density = densities_[index(body.material)];
  double area = 0.0;
  body::Inertia<D> turning = body::no_inertia<D>();
  Vec first = Vec::Zero();
  std::vector<shape::MassProperties<D>> parts;
  for (const Shape& shape : shapes) {
    if (shape.kind == shape::Kind::HalfSpace || shape.kind == shape::Kind::Surface ||
        shape.round < 0.0) {
      throw base::InputError(table.path(), "has a shape without end, and is free to move",
                             "write fixed = true, or driven = { position = [...] }",
                             document_.spot_of_key(table.value()));
    }
    parts.push_back(shape::mass_of(shape, 1.0));
    area += parts.back().mass;
    first += parts.back().mass * parts.back().centre;
  }
  if (area > 0.0) body.centre = first / area;
  for (const shape::MassProperties<D>& one : parts) {
    const body::Inertia<D> far = one.mass * aside(Vec(one.centre - body.centre));
    if constexpr (D == 2) turning += one.inertia(0, 0) + far;
    if constexpr (D == 3) turning += one.inertia + far;
  }
  if (mass == nullptr && !(density > 0.0)) {
    throw base::InputError(table.full("mass"), "is missing, and no material gives it a density",
                           "write mass = 1, or a material with density",
                           document_.spot_of_key(table.value()));
  }
  body.mass = mass != nullptr ? number(table, *mass, "mass", locals) : density * area;
  if (mass != nullptr && !(body.mass > 0.0)) {
    table.fail(*mass, "mass", fmt::format("must be positive, not {}", body.mass),
               "write a number > 0");
  }
  if (inertia != nullptr) {
    body.inertia = read_inertia(table, *inertia, locals);
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
  body::settle_inertia(body);
  if (body.mass > 0.0 && body::size_of_inertia(body) > 0.0) return;
  throw base::InputError(
      table.path(),
      fmt::format("has no {}, so that its mass and inertia do not follow",
                  D == 2 ? "area" : "volume"),
      D == 2 ? "write mass = 1 and inertia = 0.1" : "write mass = 1 and inertia = [0.1, 0.1, 0.1]",
      document_.spot_of_key(table.value()));
}

template <>
void WorldReader<2>::read_spin(TableReader& table, const Locals& locals, Motion& start) {
  const Value* spin = table.find("spin");
  if (spin != nullptr) start.spin = number(table, *spin, "spin", locals);
}

/// In space, or as `rates` along the axes of the body.
template <>
void WorldReader<3>::read_spin(TableReader& table, const Locals& locals, Motion& start) {
  const Value* spin = table.find("spin");
  const Value* rates = table.find("rates");
  if (spin != nullptr && rates != nullptr) {
    table.fail(*rates, "rates", "stands beside spin",
               "remove one: spin is in space, rates along "
               "the axes of the body");
  }
  if (spin != nullptr) start.spin = vector(*spin, table.full("spin"), locals);
  if (rates != nullptr) start.spin = start.turn * vector(*rates, table.full("rates"), locals);
  start.rates = rates != nullptr ? vector(*rates, table.full("rates"), locals)
                                 : Vec(start.turn.conjugate() * start.spin);
}

template <int D>
void WorldReader<D>::read_place(TableReader& table, const Locals& locals, bool in_place,
                                Body& body) {
  const Value* at = table.find("at");
  const Value* velocity = table.find("velocity");
  const Value* spin = table.find("spin");
  const Value* born = table.find("born");
  const bool turns = read_turn(table, locals, body.start);
  const char* key = at != nullptr ? "at" : "angle";
  const Value& shown = at != nullptr ? *at : table.value();
  if (in_place && (at != nullptr || turns)) {
    table.fail(shown, key, "stands beside vertices = \"world\", which say where it is",
               "remove it");
  }
  if (body.kind == body::Kind::Driven && (at != nullptr || turns)) {
    table.fail(shown, key, "stands beside driven, which says where it is", "write it into driven");
  }
  if (!body.is_free() && (velocity != nullptr || spin != nullptr)) {
    table.fail(velocity != nullptr ? *velocity : *spin, velocity != nullptr ? "velocity" : "spin",
               "of a body that is not free", "remove it, or write driven = { position = [...] }");
  }
  if (at != nullptr) body.start.x = vector(*at, table.full("at"), locals);
  Motion turned = body.start;
  turned.x.setZero();
  body.start.x -= body::pose_of(body, turned).x;
  if (velocity != nullptr) body.start.v = vector(*velocity, table.full("velocity"), locals);
  read_spin(table, locals, body.start);
  if (born != nullptr) body.born = number(table, *born, "born", locals);
}

template <int D>
void WorldReader<D>::read_body(TableReader& table, const std::string& name, Locals locals,
                               World& world) {
  locals = with_definitions(table, std::move(locals));
  Body body;
  body.name = name;
  body.material = material_of(table, world);
  read_kind(table, locals, body);
  std::vector<Shape> shapes = read_shapes(table, locals);
  bool in_place = false;
  if (const auto vertices = table.text("vertices")) {
    in_place = *vertices == "world";
    const std::string kind = D == 2 ? "polygon" : "polytope";
    if (!in_place || table.find(kind) == nullptr) {
      table.fail(*table.find("vertices"), "vertices",
                 fmt::format("is for a {} whose corners are in place", kind),
                 fmt::format("write vertices = \"world\" beside {}", kind));
    }
  }
  read_mass(table, shapes, locals, body);
  if (in_place && body.is_free()) {  // the frame goes to the mass centre
    std::vector<Vec> corners = shapes[0].corners;
    for (Vec& corner : corners) corner -= body.centre;
    body.start.x = body.centre;
    body.centre.setZero();
    if constexpr (D == 2) shapes[0] = shape::polygon(corners, shapes[0].round);
    if constexpr (D == 3) shapes[0] = shape::polytope(corners, shapes[0].round);
  }
  read_place(table, locals, in_place, body);
  measure(shapes, body);
  body.first_shape = static_cast<int>(world.solids.size());
  body.shapes = static_cast<int>(shapes.size());
  for (Shape& shape : shapes) world.solids.push_back({world.count(), std::move(shape)});
  world.bodies.push_back(std::move(body));
  drives_.push_back(drive_);
}

template <int D>
void WorldReader<D>::check_start(const Value* start, double t, const WorldPart& part) {
  const World& world = world_of(part);
  double tolerance = 0.0;
  if (start != nullptr) {
    TableReader table(document_, *start, "start");
    if (const Value* stated = table.find("tolerance")) {
      tolerance = at_least(table, *stated, "tolerance", 0.0);
    }
    table.finish();
  }
  std::vector<Motion> places;
  std::vector<char> exists;
  for (const Body& body : world.bodies) {
    places.push_back(body.start);
    if (body.kind == body::Kind::Driven) body.drive(t, places.back());
    exists.push_back(body.born <= t ? 1 : 0);
  }
  std::vector<body::Row<D>> rows;
  body::Finder<D>(world).find(places, exists, std::vector<double>(exists.size(), 0.0), rows);
  const body::Row<D>* worst = nullptr;
  for (const body::Row<D>& row : rows) {
    if (row.gap >= -std::max(row.slack, tolerance)) continue;
    if (worst == nullptr || row.gap < worst->gap) worst = &row;
  }
  if (worst == nullptr) return;
  const Body& mover =
      world.body(world.body(worst->body_b).is_free() ? worst->body_b : worst->body_a);
  const Value* table = bodies_->find(mover.name.substr(0, mover.name.find('[')));
  throw base::InputError(
      "body",
      fmt::format("'{}' and '{}' overlap by {:.3g} at the start", world.body(worst->body_a).name,
                  world.body(worst->body_b).name, -worst->gap),
      fmt::format(
          "move them apart, or write [start] with tolerance = {:.1g}, and they are put apart "
          "before the first step",
          -1.5 * worst->gap),
      document_.spot_of_key(table != nullptr ? *table : *bodies_));
}

template void WorldReader<2>::read_family(const std::string&, const Value&, World&, WorldPart&);
template int WorldReader<2>::material_of(TableReader&, const World&);
template formula::Locals WorldReader<2>::with_definitions(TableReader&, Locals);
template void WorldReader<2>::check_start(const Value*, double, const WorldPart&);
template void WorldReader<3>::read_family(const std::string&, const Value&, World&, WorldPart&);
template int WorldReader<3>::material_of(TableReader&, const World&);
template formula::Locals WorldReader<3>::with_definitions(TableReader&, Locals);
template void WorldReader<3>::check_start(const Value*, double, const WorldPart&);

}  // namespace ricochet::scene
