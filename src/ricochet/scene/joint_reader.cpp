#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/body/joints.h"
#include "ricochet/scene/world_reader.h"

namespace ricochet::scene {
namespace {

using base::index;
using body::JointKind;

constexpr std::array<std::pair<const char*, JointKind>, 5> kJoints = {
    {{"hinge", JointKind::Hinge},
     {"ball", JointKind::Ball},
     {"slider", JointKind::Slider},
     {"weld", JointKind::Weld},
     {"distance", JointKind::Distance}}};

bool has_coordinate(JointKind kind) { return kind != JointKind::Ball && kind != JointKind::Weld; }

/// A point of space in the frame of a body, from its mass centre; and a point of the body in space.
body::Vec<2> into_body(const body::Motion<2>& at, const body::Vec<2>& point) {
  return Eigen::Rotation2Dd(-at.angle) * (point - at.x);
}
body::Vec<3> into_body(const body::Motion<3>& at, const body::Vec<3>& point) {
  return at.turn.conjugate() * (point - at.x);
}

/// Axes of the joint in a body, the first one along `axis` in space.
double axes_in(const body::Motion<2>& at, const body::Vec<2>& axis) {
  return std::atan2(axis[1], axis[0]) - at.angle;
}
shape::Mat<3> axes_in(const body::Motion<3>& at, const body::Vec<3>& axis) {
  int least = 0;
  axis.cwiseAbs().minCoeff(&least);
  shape::Mat<3> axes;
  axes.col(0) = axis;
  axes.col(1) = axis.cross(body::Vec<3>::Unit(least)).normalized();
  axes.col(2) = axis.cross(axes.col(1));
  return at.turn.toRotationMatrix().transpose() * axes;
}

}  // namespace

/// One body by its name, `stone`, or `stone[i + 1]`, or the ground.
template <int D>
int WorldReader<D>::body_called(const Value& value, const std::string& key, const Locals& locals,
                                World& world) {
  std::string name = value.kind == Value::Kind::Text ? value.text : "";
  std::string made;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t open = name.find('[', at);
    const std::size_t close = open == std::string::npos ? open : name.find(']', open);
    made += name.substr(at, open == std::string::npos ? open : open - at);
    if (close == std::string::npos) break;
    Value number = value;
    number.text = name.substr(open + 1, close - open - 1);
    made += fmt::format("[{}]", formulas_.number(number, key, locals));
    at = close + 1;
  }
  std::vector<std::string> known;
  for (int i = 0; i < world.count(); ++i) {
    if (world.body(i).name == made) return i;
    if (known.size() < 12) known.push_back(world.body(i).name);
  }
  if (made == "ground") {  // where nobody is called so: a frame that never moves
    Body ground;
    ground.name = made;
    ground.kind = body::Kind::Fixed;
    ground.first_shape = static_cast<int>(world.solids.size());
    world.bodies.push_back(ground);
    return world.count() - 1;
  }
  if (std::find(known.begin(), known.end(), "ground") == known.end()) known.emplace_back("ground");
  const auto near = base::nearest_name(made, known);
  throw base::InputError(
      key, fmt::format("'{}' is no body", made),
      fmt::format("{}known: {}", near ? fmt::format("did you mean '{}'? ", *near) : "",
                  base::list_names(known)),
      document_.spot_of(value));
}

template <int D>
void WorldReader<D>::read_joints(const Value* table, const Value* run, World& world,
                                 WorldPart& part) {
  if (table == nullptr) return;
  const int count = world.count();
  const Value* start = run == nullptr ? nullptr : run->find("start_time");
  start_time_ = start == nullptr ? 0.0 : formulas_.number(*start, "run.start_time");
  for (const auto& [name, value] : table->entries) {
    const std::string path = "joint." + name;
    if (value.kind != Value::Kind::Table) {
      throw base::InputError(path, "must be a table",
                             "write [joint.pivot] with kind = \"hinge\", between = [\"ground\", "
                             "\"rod\"], at = [0, 1]",
                             document_.spot_of_key(value));
    }
    formulas_.check_new_name(name, path, value);
    TableReader one(document_, value, path);
    if (const Value* all = one.find("for")) {
      for (const Locals& locals : formulas_.index_values(*all, path + ".for")) {
        std::string member = name;
        for (const auto& [unused, i] : locals) member += fmt::format("[{}]", i);
        read_joint(one, member, locals, world);
      }
    } else {
      read_joint(one, name, {}, world);
    }
    one.finish();
  }
  std::sort(world.apart.begin(), world.apart.end());
  if (world.count() > count) part.families.push_back({"ground", count, 1});
}

template <int D>
JointKind WorldReader<D>::read_joint_kind(TableReader& table) {
  const Value& value = table.require("kind", "write kind = \"hinge\"");
  std::vector<std::string> known;
  for (const auto& [word, kind] : kJoints) {
    if (D == 2 && kind == JointKind::Ball) continue;
    known.emplace_back(word);
    if (value.kind == Value::Kind::Text && value.text == word) return kind;
  }
  const bool is_ball = value.kind == Value::Kind::Text && value.text == "ball";
  table.fail(value, "kind",
             fmt::format("'{}' is no kind of joint{}", value.text, D == 2 ? " in the plane" : ""),
             is_ball ? "in the plane it is a hinge: write kind = \"hinge\""
                     : fmt::format("known: {}", base::list_names(known)));
}

/// Who is joined, and where they are at the start.
template <int D>
void WorldReader<D>::read_joined(TableReader& table, const Locals& locals, World& world,
                                 Joint& joint, std::array<Motion, 2>& at) {
  const Value& between = table.require("between", "write between = [\"ground\", \"rod\"]");
  if (between.kind != Value::Kind::Array || between.items.size() != 2) {
    table.fail(between, "between", "must name two bodies", "write between = [\"ground\", \"rod\"]");
  }
  joint.a = body_called(between.items[0], table.full("between"), locals, world);
  joint.b = body_called(between.items[1], table.full("between"), locals, world);
  const Body& a = world.body(joint.a);
  const Body& b = world.body(joint.b);
  if (joint.a == joint.b) {
    table.fail(between, "between", fmt::format("joins '{}' to itself", a.name),
               "name two bodies, or \"ground\"");
  }
  if (!a.is_free() && !b.is_free()) {
    table.fail(between, "between",
               fmt::format("neither '{}' nor '{}' is free to move", a.name, b.name),
               "one of the two must be neither fixed nor driven");
  }
  for (const Body* body : {&a, &b}) {
    if (!std::isfinite(body->born)) continue;
    table.fail(between, "between", fmt::format("'{}' is not there from the beginning", body->name),
               "remove its `born`: joints are made at the start");
  }
  for (std::size_t k = 0; k < 2; ++k) {
    const Body& body = k == 0 ? a : b;
    at[k] = body.start;
    if (body.kind == body::Kind::Driven) {
      Motion back = body.start;
      body::drive(body, start_time_, kDriveStep, at[k]);
      body::drive(body, start_time_, -kDriveStep, back);
      at[k].v = 0.5 * (at[k].v + back.v);
      at[k].spin = 0.5 * (at[k].spin + back.spin);
    }
  }
  for (const Body* body : {&a, &b}) {
    if (!body->is_free()) continue;
    // The radius of inertia, for bodies that are points.
    joint.size =
        std::max({joint.size, body->reach, std::sqrt(body::size_of_inertia(*body) / body->mass)});
  }
  if (!boolean(table, "touching")) {
    world.apart.emplace_back(std::min(joint.a, joint.b), std::max(joint.a, joint.b));
  }
}

/// The points of both bodies: a place in space, or a point of each.
template <int D>
void WorldReader<D>::read_seats(TableReader& table, const Locals& locals, const World& world,
                                const std::array<Motion, 2>& at, Joint& joint) {
  const bool is_distance = joint.kind == JointKind::Distance;
  const Value* place = table.find("at");
  const Value* on = table.find("on");
  if (place != nullptr && on != nullptr) {
    table.fail(*on, "on", "stands beside at", "remove one: at is in space, on in the two bodies");
  }
  const auto two = [&](const Value& value, const char* key) {
    if (value.kind == Value::Kind::Array && value.items.size() == 2 &&
        value.items[0].kind == Value::Kind::Array) {
      return;
    }
    table.fail(value, key, "must be two points, of the first and of the second body",
               D == 2 ? "write [[0, 0], [0, 1]]" : "write [[0, 0, 0], [0, 0, 1]]");
  };
  if (on != nullptr) {
    two(*on, "on");
    const std::string full = table.full("on");
    joint.on_a = vector(on->items[0], full, locals) - world.body(joint.a).centre;
    joint.on_b = vector(on->items[1], full, locals) - world.body(joint.b).centre;
    return;
  }
  if (place == nullptr) {
    (void)table.require("at", is_distance ? "write at, two places of space, or on, a point of each"
                                          : "write at, a place in space, or on, a point of each");
  }
  const std::string full = table.full("at");
  if (is_distance) two(*place, "at");
  joint.on_a = into_body(at[0], vector(is_distance ? place->items[0] : *place, full, locals));
  joint.on_b = into_body(at[1], vector(is_distance ? place->items[1] : *place, full, locals));
}

template <int D>
void WorldReader<D>::read_axis(TableReader& table, const Locals& locals,
                               const std::array<Motion, 2>& at, Joint& joint) {
  const bool needs = joint.kind == JointKind::Slider || (D == 3 && joint.kind == JointKind::Hinge);
  Vec axis = Vec::Unit(0);
  if (const Value* value = table.find("axis")) {
    if (!needs) {
      table.fail(*value, "axis", "is nothing of this kind of joint",
                 "remove it; sliders have one, and hinges in space");
    }
    axis = vector(*value, table.full("axis"), locals);
    if (!(axis.norm() > 0.0)) table.fail(*value, "axis", "is zero", "write a direction");
    axis.normalize();
  } else if (needs) {
    (void)table.require("axis", D == 2 ? "write axis = [1, 0]" : "write axis = [0, 0, 1]");
  }
  joint.frame_a = axes_in(at[0], axis);
  joint.frame_b = axes_in(at[1], axis);
}

/// What acts along the coordinate of a joint.
template <int D>
void WorldReader<D>::read_coordinate(TableReader& table, const Locals& locals, Joint& joint) {
  for (const char* key : {"limits", "restitution", "friction", "motor", "spring", "start"}) {
    const Value* value = table.find(key);
    if (value == nullptr || has_coordinate(joint.kind)) continue;
    table.fail(*value, key, "needs a coordinate, which this kind of joint has not",
               "remove it; hinges, sliders and distances have one");
  }
  if (const Value* value = table.find("start")) {
    if (joint.kind == JointKind::Distance) {
      table.fail(*value, "start", "is nothing of a distance", "remove it: its length is known");
    }
    joint.start = number(table, *value, "start", locals);
  }
  if (const Value* limits = table.find("limits")) read_limits(table, *limits, locals, joint);
  if (const Value* e = table.find("restitution")) {
    joint.restitution = at_least(table, *e, "restitution", 0.0, locals);
    if (!joint.has_limits) {
      table.fail(*e, "restitution", "is one of limits, and there are none", "write limits too");
    }
    if (joint.restitution > 1.0) {
      table.fail(*e, "restitution", fmt::format("must lie in [0, 1], not {}", joint.restitution),
                 "0: no rebound, 1: no loss");
    }
  }
  if (const Value* friction = table.find("friction")) {
    joint.friction = at_least(table, *friction, "friction", 0.0, locals);
  }
  if (const Value* motor = table.table("motor")) {
    TableReader one(document_, *motor, table.full("motor"));
    const char* force = joint.kind == JointKind::Hinge ? "torque" : "force";
    if (const Value* drive = one.find(force)) {
      joint.drive = number(one, *drive, force, locals);
    } else {
      const std::string remedy =
          fmt::format("write {{ speed = 1, most = 10 }}, or {{ {} = 1 }}", force);
      joint.motor_speed = number(one, one.require("speed", remedy), "speed", locals);
      joint.motor_most = at_least(one, one.require("most", remedy), "most", 0.0, locals);
    }
    one.finish();
  }
}

template <int D>
void WorldReader<D>::read_limits(TableReader& table, const Value& limits, const Locals& locals,
                                 Joint& joint) {
  joint.has_limits = true;
  joint.low = -std::numeric_limits<double>::infinity();
  joint.high = std::numeric_limits<double>::infinity();
  if (limits.kind == Value::Kind::Table) {
    TableReader one(document_, limits, table.full("limits"));
    if (const Value* low = one.find("low")) joint.low = number(one, *low, "low", locals);
    if (const Value* high = one.find("high")) joint.high = number(one, *high, "high", locals);
    one.finish();
  } else if (limits.kind == Value::Kind::Array && limits.items.size() == 2) {
    joint.low = formulas_.number(limits.items[0], table.full("limits"), locals);
    joint.high = formulas_.number(limits.items[1], table.full("limits"), locals);
  } else {
    table.fail(limits, "limits", "must be two numbers, or { low } or { high }",
               "write limits = [-1, 1]");
  }
  if (!(joint.low < joint.high)) {
    table.fail(limits, "limits", fmt::format("{} is not below {}", joint.low, joint.high),
               "write the lower one first");
  }
  if (!std::isfinite(joint.low) && !std::isfinite(joint.high)) {
    table.fail(limits, "limits", "has neither `low` nor `high`", "write limits = [-1, 1]");
  }
  constexpr double kWidest = 5.28;  // a radian less than a turn
  const bool is_angle = D == 3 && joint.kind == JointKind::Hinge;
  if (is_angle && !(joint.high - joint.low <= kWidest)) {
    table.fail(limits, "limits",
               "of a hinge in space are two, at most 5.28 apart: its angle is known up to turns",
               "write limits = [low, high], a radian less than a turn apart");
  }
}

template <int D>
void WorldReader<D>::read_spring(TableReader& table, const Locals& locals, double value,
                                 Joint& joint) {
  const Value* spring = table.table("spring");
  if (spring == nullptr) return;
  TableReader one(document_, *spring, table.full("spring"));
  joint.rest = value;
  if (const Value* k = one.find("stiffness")) {
    joint.stiffness = at_least(one, *k, "stiffness", 0.0, locals);
  }
  if (const Value* d = one.find("damping")) {
    joint.damping = at_least(one, *d, "damping", 0.0, locals);
  }
  if (const Value* rest = one.find("rest")) joint.rest = number(one, *rest, "rest", locals);
  const bool is_angle = D == 3 && joint.kind == JointKind::Hinge;
  if (is_angle && joint.stiffness > 0.0 && !joint.has_limits) {
    table.fail(*spring, "spring",
               "of a hinge in space needs limits: without, its angle is known up to turns",
               "write limits = [-2.6, 2.6], or wherever it stays");
  }
  if (joint.stiffness == 0.0 && joint.damping == 0.0) {
    (void)one.require("stiffness", "write spring = { stiffness = 100, damping = 1 }");
  }
  one.finish();
}

/// That it holds where bodies are at the start, and that their velocities keep it so.
template <int D>
void WorldReader<D>::check_joint(const TableReader& table, const std::array<Motion, 2>& at,
                                 const Joint& joint, const World& world) const {
  constexpr double kFit = 1e-9;
  const auto rows = body::rows_of(joint, at[0], at[1]);
  double off = 0.0;
  double rate = 0.0;
  double size = 0.0;
  for (std::size_t k = 0; k < index(joint.rows()); ++k) {
    off = std::max(off, std::abs(rows.held[k].gap));
    rate = std::max(rate, std::abs(body::rate_of(rows.held[k], at[0], at[1])));
    size = std::max(size, rows.held[k].size);
  }
  const base::Spot spot = document_.spot_of_key(table.value());
  if (off > kFit * size) {
    const bool is_distance = joint.kind == JointKind::Distance;
    throw base::InputError(
        table.path(),
        is_distance
            ? fmt::format("does not fit at the start: its points are {:.6g} apart, not {:.6g}",
                          rows.free.gap, joint.length)
            : fmt::format("does not fit at the start: it is off by {:.3g}", off),
        is_distance ? "leave `length` out, or move a body"
                    : "move a body, or write `at`, one place of space for both",
        spot);
  }
  const double speed = at[0].v.norm() + at[1].v.norm() +
                       size * (body::size_of(at[0].spin) + body::size_of(at[1].spin));
  const bool is_driven = world.body(joint.a).kind == body::Kind::Driven ||
                         world.body(joint.b).kind == body::Kind::Driven;
  constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon() / kDriveStep;
  if (rate > 1e-6 * speed + (is_driven ? kRounding * size : 0.0)) {
    throw base::InputError(
        table.path(),
        fmt::format("the velocities of '{}' and '{}' tear at it at the start, at {:.3g}",
                    world.body(joint.a).name, world.body(joint.b).name, rate),
        "give both the same velocity there: that of the mass centre is v + spin × arm", spot);
  }
  const double inside = std::min(rows.free.gap - joint.low, joint.high - rows.free.gap);
  if (joint.has_limits && inside < -body::limit_slack(rows.free)) {
    throw base::InputError(table.path(),
                           fmt::format("is at {:.6g} at the start, beyond its limits by {:.3g}",
                                       rows.free.gap, -inside),
                           "write wider limits, or `start`: what its coordinate is at the start",
                           spot);
  }
}

template <int D>
void WorldReader<D>::read_joint(TableReader& table, const std::string& name, Locals locals,
                                World& world) {
  locals = with_definitions(table, std::move(locals));
  Joint joint;
  joint.name = name;
  joint.kind = read_joint_kind(table);
  std::array<Motion, 2> at;
  read_joined(table, locals, world, joint, at);
  read_seats(table, locals, world, at, joint);
  read_axis(table, locals, at, joint);
  const auto rows = body::rows_of(joint, at[0], at[1]);
  const bool is_distance = joint.kind == JointKind::Distance;
  if (is_distance && !(rows.free.gap > 0.0)) {
    table.fail(table.value(), "at", "its two points are the same",
               "write a hinge, or other points");
  }
  read_coordinate(table, locals, joint);
  read_spring(table, locals, rows.free.gap + joint.start, joint);
  joint.length = rows.free.gap;
  const Value* length = table.find("length");
  joint.holds_length =
      !joint.has_limits && !joint.has_spring() && joint.motor_most == 0.0 && joint.friction == 0.0;
  if (length != nullptr && (!is_distance || !joint.holds_length)) {
    table.fail(*length, "length", "is for a distance that nothing else acts along", "remove it");
  }
  if (length != nullptr) joint.length = number(table, *length, "length", locals);
  check_joint(table, at, joint, world);
  world.joints.push_back(joint);
}

template void WorldReader<2>::read_joints(const Value*, const Value*, World&, WorldPart&);
template void WorldReader<3>::read_joints(const Value*, const Value*, World&, WorldPart&);

}  // namespace ricochet::scene
