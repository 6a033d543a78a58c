#include "ricochet/scene/friction_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ricochet/base/random.h"
#include "ricochet/base/text.h"
#include "ricochet/formula/derivative.h"
#include "ricochet/formula/range.h"
#include "ricochet/formula/substitute.h"
#include "ricochet/scene/vector_formulas.h"

namespace ricochet::scene {
namespace {

using formula::NodeId;
using formula::Op;
using model::FrictionKind;

constexpr const char* kSlipRemedy =
    "write the velocity of the contact particle along the wall, as slip = [\"x'\"] on y >= 0; if "
    "the "
    "coordinates are no lengths, say so with normal = \"...\", the velocity along the normal";
constexpr const char* kSlipExample = "write for example \"x'\", linear in the velocities";

}  // namespace

model::Slip FrictionReader::read(TableReader& contact, NodeId gap, const formula::Locals& locals,
                                 bool is_function) {
  model::Slip slip;
  const Value* friction = contact.find("friction");
  const Value* body = contact.find("body");
  const Value* given = contact.find("slip");
  const Value* normal = contact.find("normal");
  if (friction == nullptr) {
    for (const auto& [key, value] :
         {std::pair{"slip", given}, std::pair{"body", body}, std::pair{"normal", normal}}) {
      if (value == nullptr) continue;
      contact.fail(*value, key, "is given, but no friction",
                   "add friction = 0.3 (or friction = 0, to have the slip reported)");
    }
    return slip;
  }
  if (body == nullptr && given == nullptr) {
    contact.fail(*friction, "friction", "needs the slip velocity of the contact",
                 "add slip = [\"...\"], the tangential velocity of the contact particle, or body");
  }
  if (body != nullptr && given != nullptr) {
    contact.fail(*body, "body", "gives the slip velocity, and so does slip", "remove one of them");
  }
  if (body != nullptr) {
    read_body(contact, *body, gap, locals, slip);
  } else {
    read_slip(contact, gap, locals, slip, is_function);
  }
  slip.friction = read_law(contact, *friction, slip, locals);
  return slip;
}

model::Slip FrictionReader::read_alone(TableReader& friction, const formula::Locals& locals) {
  model::Slip slip;
  read_velocities(friction, locals, slip);
  const Value* bound = friction.find("bound");
  const Value* hold = friction.find("hold");
  if ((bound == nullptr) == (hold == nullptr)) {
    friction.fail(
        bound == nullptr ? *friction.find("slip") : *bound, bound == nullptr ? "bound" : "hold",
        bound == nullptr ? "is missing" : "is given beside bound",
        "write bound = \"mu*m*g\", the largest force, or hold = \"wire\", the joint whose "
        "reaction presses");
  }
  if (bound != nullptr) {
    const std::string key = friction.full("bound");
    const Value* given = friction.find("slip");
    const Value& first = given->kind == Value::Kind::Array ? given->items[0] : *given;
    if (formulas_.has_units()) {
      const formula::Dimension velocity = formulas_.dimension_of(first, friction.full("slip"));
      formulas_.expect(*bound, key, formula::Dimension{{2, 1, -3}}.times(velocity, -1.0),
                       "a force against this slip");
    }
    slip.load = formulas_.formula_of(*bound, key, locals, "slip", speed_of(slip));
    if (formula::range_of(formulas_.graph(), slip.load).high < 0.0) {
      friction.fail(*bound, "bound", "is negative", "write the largest force, 0 or more");
    }
  }
  slip.friction.kind = FrictionKind::Isotropic;
  slip.friction.coefficients[0] = formulas_.graph().constant(1.0);
  const Value* coefficient = friction.find("friction");
  if (coefficient != nullptr) {
    slip.friction = read_law(friction, *coefficient, slip, locals);
  } else if (hold != nullptr) {
    friction.fail(*hold, "friction", "is missing", "write friction = 0.3, of the joint's reaction");
  }
  return slip;
}

void FrictionReader::check_reactions(const std::vector<NodeId>& gaps, const std::string& key,
                                     const Value& value) const {
  const bool is_particle = system_.dofs() <= 3 && system_.kinetic < 0 && system_.mass.is_scalar();
  if (!is_particle) return;
  formula::Graph& graph = formulas_.graph();
  for (const NodeId gap : gaps) {
    const std::vector<NodeId> slopes = formula::gradient(graph, gap, system_.position_slots());
    for (const std::vector<double>& at : touching_places(gap, {})) {
      double square = 0.0;
      for (const NodeId slope : slopes) square += std::pow(graph.evaluate(slope, at), 2);
      if (!std::isfinite(square) || std::abs(square - 1.0) <= 1e-6) continue;
      throw base::InputError(
          key,
          fmt::format("the joint's `zero` is no length, which friction needs: it changes by {:.6g} "
                      "per unit of distance",
                      std::sqrt(square)),
          "write a distance, as sqrt(x^2 + y^2) - R", document_.spot_of(value));
    }
  }
}

/// The formulas of `slip`, one or two.
void FrictionReader::read_velocities(TableReader& contact, const formula::Locals& locals,
                                     model::Slip& slip) {
  const Value& value = *contact.find("slip");
  std::vector<const Value*> items;
  if (value.kind == Value::Kind::Array) {
    for (const Value& item : value.items) items.push_back(&item);
  } else {
    items.push_back(&value);
  }
  if (items.empty() || items.size() > 2) {
    contact.fail(value, "slip", "needs one formula in the plane, or two in space", kSlipExample);
  }
  for (const Value* item : items) {
    slip.velocities.push_back(read_velocity(contact, *item, "slip", locals));
  }
}

NodeId FrictionReader::read_velocity(TableReader& table, const Value& value, const std::string& key,
                                     const formula::Locals& locals) {
  const NodeId velocity = formulas_.formula(value, table.full(key), Speaks::Velocity, locals);
  check_linear(table, value, key, velocity);
  return velocity;
}

void FrictionReader::read_slip(TableReader& contact, NodeId gap, const formula::Locals& locals,
                               model::Slip& slip, bool is_function) {
  const Value& value = *contact.find("slip");
  read_velocities(contact, locals, slip);
  if (is_function) return;
  if (const Value* normal = contact.find("normal")) {
    slip.normal = read_velocity(contact, *normal, "normal", locals);
    check_normal(contact, gap, slip, *normal, "normal");
  } else {
    check_is_length(contact, gap, slip);
  }
  constexpr int kMost = 16;  // of a family they are all alike
  if (++slips_read_ <= kMost) check_slip(contact, gap, slip, value);
}

/// Whether the contact is that of a particle: with one coordinate more than slips, all of the same
/// mass, so that lengths and angles in its coordinates are those of the place it is in.
bool FrictionReader::is_of_particle(NodeId gap, const model::Slip& slip) const {
  if (system_.kinetic >= 0 || slip.normal >= 0) return false;
  const double* inverse = system_.mass.inverse_diagonal();
  if (inverse == nullptr) return false;
  const std::vector<int> used = coordinates_of(gap, slip.velocities);
  if (used.size() != slip.velocities.size() + 1) return false;
  return std::all_of(used.begin(), used.end(),
                     [&](int i) { return inverse[i] == inverse[used.front()]; });
}

/// The coordinates whose places the gap, and whose velocities the others are made of. Of many a
/// contact has few: all else costs time for each of them.
std::vector<int> FrictionReader::coordinates_of(NodeId gap,
                                                const std::vector<NodeId>& velocities) const {
  const formula::Graph& graph = formulas_.graph();
  std::set<int> found;
  const auto add = [&](NodeId node, int first) {
    for (const int slot : graph.inputs_of(node)) {
      if (slot >= first && slot < first + system_.dofs()) found.insert(slot - first);
    }
  };
  add(gap, system_.position_slot(0));
  for (const NodeId velocity : velocities) add(velocity, system_.velocity_slot(0));
  return {found.begin(), found.end()};
}

/// Slip is along the wall: no direction is the normal's, nor the other's; of a particle all are of
/// length 1 and at right angles.
void FrictionReader::check_slip(TableReader& contact, NodeId gap, const model::Slip& slip,
                                const Value& value) const {
  formula::Graph& graph = formulas_.graph();
  std::vector<int> places;
  std::vector<int> rates;
  for (const int i : coordinates_of(gap, slip.velocities)) {
    places.push_back(system_.position_slot(i));
    rates.push_back(system_.velocity_slot(i));
  }
  std::vector<std::vector<NodeId>> rows = {formula::gradient(graph, gap, places)};
  for (const NodeId velocity : slip.velocities) {
    rows.push_back(formula::gradient(graph, velocity, rates));
  }
  const bool is_particle = is_of_particle(gap, slip);
  for (const std::vector<double>& at : touching_places(gap, slip.velocities)) {
    const auto product = [&](std::size_t i, std::size_t j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < rows[i].size(); ++k) {
        sum += graph.evaluate(rows[i][k], at) * graph.evaluate(rows[j][k], at);
      }
      return sum;
    };
    for (std::size_t j = 1; j < rows.size(); ++j) {
      const double size = product(j, j);
      if (!std::isfinite(size) || !(size > 0.0)) continue;
      for (std::size_t i = 0; i < j; ++i) {
        const double cosine = product(i, j) / std::sqrt(size * product(i, i));
        const std::string other = i == 0 ? "the normal of the gap" : "the other direction of slip";
        if (1.0 - std::abs(cosine) < 1e-12) {
          contact.fail(value, "slip", "is along " + other, kSlipRemedy);
        }
        if (is_particle && std::abs(cosine) > 1e-6) {
          contact.fail(value, "slip", "is not at right angles to " + other, kSlipRemedy);
        }
      }
      if (is_particle && std::abs(size - 1.0) > 1e-6) {
        contact.fail(value, "slip",
                     fmt::format("is {:.6g} times the velocity along the wall", std::sqrt(size)),
                     kSlipRemedy);
      }
    }
  }
}

/// Affine, in fact: walls and belts may move.
void FrictionReader::check_linear(TableReader& contact, const Value& value, const std::string& key,
                                  NodeId velocity) const {
  formula::Graph& graph = formulas_.graph();
  const int first = system_.velocity_slot(0);
  const int last = first + system_.dofs();
  if (!graph.depends_on(velocity, first, last)) {
    contact.fail(value, key, "does not depend on any velocity", kSlipExample);
  }
  for (const int slot : graph.inputs_of(velocity)) {
    if (slot < first || slot >= last) continue;
    const NodeId slope = formula::gradient(graph, velocity, {slot})[0];
    if (!graph.depends_on(slope, first, last)) continue;
    const int i = slot - first;
    contact.fail(value, key,
                 fmt::format("is not linear in the velocities: its part in {}' is not",
                             system_.coordinates[static_cast<std::size_t>(i)]),
                 kSlipExample);
  }
}

std::vector<std::vector<double>> FrictionReader::touching_places(
    NodeId gap, const std::vector<NodeId>& others) const {
  formula::Graph& graph = formulas_.graph();
  const std::vector<int> slots = graph.inputs_of(gap);
  const std::vector<NodeId> slopes = formula::gradient(graph, gap, slots);
  std::set<int> used(slots.begin(), slots.end());
  for (const NodeId other : others) {
    for (const int slot : graph.inputs_of(other)) {
      if (slot < system_.velocity_slot(0)) used.insert(slot);
    }
  }
  base::Random random(7);
  std::vector<std::vector<double>> places;
  constexpr int kTrials = 12;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double reach = trial % 3 == 0 ? 1.0 : trial % 3 == 1 ? 10.0 : 100.0;
    std::vector<double> at(static_cast<std::size_t>(system_.inputs()), 0.0);
    for (const int slot : used) {
      at[static_cast<std::size_t>(slot)] = random.uniform(-reach, reach);
    }
    at[model::FormulaSystem::kTimeSlot] = random.uniform();
    for (int round = 0; round < 40; ++round) {  // q - g J / |J|^2
      const double g = graph.evaluate(gap, at);
      std::vector<double> J;
      double square = 0.0;
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const bool is_time = slots[i] == model::FormulaSystem::kTimeSlot;
        J.push_back(is_time ? 0.0 : graph.evaluate(slopes[i], at));
        square += J.back() * J.back();
      }
      if (!std::isfinite(g) || !std::isfinite(square) || !(square > 0.0)) break;
      if (g * g <= 1e-24 * square * reach * reach) {
        places.push_back(at);
        break;
      }
      for (std::size_t i = 0; i < J.size(); ++i) {
        at[static_cast<std::size_t>(slots[i])] -= g * J[i] / square;
      }
    }
  }
  return places;
}

/// normal = c (J u + dg/dt) with c > 0, wherever the gap vanishes.
void FrictionReader::check_normal(TableReader& contact, NodeId gap, const model::Slip& slip,
                                  const Value& value, const std::string& key) const {
  formula::Graph& graph = formulas_.graph();
  const int first = system_.velocity_slot(0);
  std::vector<int> slots;    // of the places that the gap or the velocity is made of, and of time
  std::vector<int> of_rate;  // their velocities
  for (const NodeId node : {gap, slip.normal}) {
    for (const int slot : graph.inputs_of(node)) {
      if (slot >= first) slots.push_back(slot - first + system_.position_slot(0));
      if (slot < first && slot != model::FormulaSystem::kTimeSlot) slots.push_back(slot);
    }
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  for (const int slot : slots) of_rate.push_back(slot - system_.position_slot(0) + first);
  slots.push_back(model::FormulaSystem::kTimeSlot);
  const std::vector<NodeId> gap_slopes = formula::gradient(graph, gap, slots);
  std::vector<NodeId> row = formula::gradient(graph, slip.normal, of_rate);
  row.push_back(formula::substitute(graph, slip.normal, first, first + system_.dofs(), 0.0));
  for (const std::vector<double>& at : touching_places(gap, {slip.normal})) {
    double product = 0.0;
    double square = 0.0;
    double size = 0.0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double n = graph.evaluate(row[i], at);
      const double J = graph.evaluate(gap_slopes[i], at);
      product += n * J;
      square += J * J;
      size += n * n;
    }
    if (!std::isfinite(product) || !(square > 0.0)) continue;
    constexpr double kTolerance = 1e-6;
    const double off = size - product * product / square;  // of n from the direction of J
    if (product > 0.0 && off <= kTolerance * size) continue;
    const bool inward = product < 0.0 && off <= kTolerance * size;
    if (key == "body") {
      contact.fail(value, key,
                   "does not fit the gap: turning the body changes the gap otherwise "
                   "than the velocity of the contact point says",
                   "check body.point, where the body touches, and the signs in keep: the angle "
                   "grows anticlockwise, from x to y");
    }
    contact.fail(value, key,
                 inward ? "points into the wall" : "is not proportional to the rate of the gap",
                 "write the velocity of the contact particle along the normal, positive when the "
                 "gap opens");
  }
}

/// Of a particle the engine can tell whether the gap is a length: its gradient is of length 1.
void FrictionReader::check_is_length(TableReader& contact, NodeId gap,
                                     const model::Slip& slip) const {
  const int dofs = system_.dofs();
  const bool is_particle = dofs == static_cast<int>(slip.velocities.size()) + 1 &&
                           system_.kinetic < 0 && system_.mass.is_scalar();
  if (!is_particle) return;
  formula::Graph& graph = formulas_.graph();
  const std::vector<NodeId> slopes = formula::gradient(graph, gap, system_.position_slots());
  for (const std::vector<double>& at : touching_places(gap, {})) {
    double square = 0.0;
    for (const NodeId slope : slopes) {
      const double J = graph.evaluate(slope, at);
      square += J * J;
    }
    if (!std::isfinite(square) || std::abs(square - 1.0) <= 1e-6) continue;
    contact.fail(*contact.find("keep"), "keep",
                 fmt::format("is no length, which friction needs: the gap changes by {:.6g} per "
                             "unit of distance",
                             std::sqrt(square)),
                 "write a distance, as sqrt(x^2 + y^2) <= R, or add normal = \"...\", the normal "
                 "velocity");
  }
}

std::vector<NodeId> FrictionReader::read_list(TableReader& table, const std::string& key,
                                              Speaks speaks, const formula::Locals& locals) {
  const Value& value = table.require(key, fmt::format("write {} = [\"...\", \"...\"]", key));
  if (value.kind != Value::Kind::Array || value.items.size() < 2 || value.items.size() > 3) {
    table.fail(value, key, "must be a list of two (plane) or three (space)",
               fmt::format("write {} = [\"...\", \"...\"]", key));
  }
  std::vector<NodeId> nodes;
  for (const Value& item : value.items) {
    nodes.push_back(formulas_.formula(item, table.full(key), speaks, locals));
  }
  return nodes;
}

FrictionReader::Body FrictionReader::read_one_body(TableReader& table,
                                                   const formula::Locals& locals) {
  formula::Graph& graph = formulas_.graph();
  Body body;
  body.position = read_list(table, "position", Speaks::Position, locals);
  const auto slot_of = [&](NodeId node, const Value& value, const std::string& key) {
    const int slot = graph[node].op == Op::Input ? graph[node].input : -1;
    if (slot >= system_.position_slot(0)) return slot;
    table.fail(value, key, "must name coordinates of the body",
               key == "angle" ? "write for example angle = \"phi\", a coordinate that grows "
                                "anticlockwise, from x to y"
                              : "write for example [\"x\", \"y\"]");
  };
  const Value& position = *table.find("position");
  for (const NodeId node : body.position) {
    body.slots.push_back(slot_of(node, position, "position"));
    body.velocity.push_back(graph.input(body.slots.back() + system_.dofs()));
  }
  const Value* angle = table.find("angle");
  const Value* spin = table.find("spin");
  const bool plane = body.position.size() == 2;
  if (angle != nullptr) {
    if (!plane) {
      table.fail(*angle, "angle", "turns a body in the plane only",
                 "in space write spin = [\"...\", \"...\", \"...\"], its angular velocity");
    }
    const NodeId node = formulas_.formula(*angle, table.full("angle"), Speaks::Position, locals);
    const int slot = slot_of(node, *angle, "angle");
    body.spin.push_back(graph.input(slot + system_.dofs()));
  } else if (spin != nullptr && plane) {
    body.spin.push_back(formulas_.formula(*spin, table.full("spin"), Speaks::Velocity, locals));
  } else if (spin != nullptr) {
    body.spin = read_list(table, "spin", Speaks::Velocity, locals);
    if (body.spin.size() != 3) {
      table.fail(*spin, "spin", "needs three formulas in space",
                 "write the angular velocity along x, y and z");
    }
  }
  return body;
}

/// v + spin x (point - position).
std::vector<NodeId> FrictionReader::velocity_at(const Body& body,
                                                const std::vector<NodeId>& point) {
  formula::Graph& graph = formulas_.graph();
  std::vector<NodeId> v = body.velocity;
  if (body.spin.empty()) return v;
  std::vector<NodeId> arm;
  for (std::size_t i = 0; i < v.size(); ++i) {
    arm.push_back(graph.subtract(point[i], body.position[i]));
  }
  const auto times = [&](std::size_t i, std::size_t j) {
    return graph.multiply(body.spin[i], arm[j]);
  };
  if (v.size() == 2) {
    return {graph.subtract(v[0], times(0, 1)), graph.add(v[1], times(0, 0))};
  }
  return {graph.add(v[0], graph.subtract(times(1, 2), times(2, 1))),
          graph.add(v[1], graph.subtract(times(2, 0), times(0, 2))),
          graph.add(v[2], graph.subtract(times(0, 1), times(1, 0)))};
}

/// What the body touches moves too: as a second body, or as it is driven.
void FrictionReader::subtract_other(TableReader& body, const Value& other,
                                    const std::vector<NodeId>& point, const formula::Locals& locals,
                                    std::vector<NodeId>& velocity) {
  TableReader against(document_, other, body.full("against"));
  const bool is_driven = against.find("velocity") != nullptr;
  const std::vector<NodeId> theirs = is_driven
                                         ? read_list(against, "velocity", Speaks::Velocity, locals)
                                         : velocity_at(read_one_body(against, locals), point);
  if (theirs.size() != velocity.size()) {
    body.fail(other, "against", "needs as many components as position",
              "write against = { velocity = [\"v\", \"0\"] }, with one for each coordinate");
  }
  against.finish();
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    velocity[i] = formulas_.graph().subtract(velocity[i], theirs[i]);
  }
}

/// The gap's gradient by the position of the body is along the normal, whatever its units.
void FrictionReader::read_body(TableReader& contact, const Value& value, NodeId gap,
                               const formula::Locals& locals, model::Slip& slip) {
  constexpr const char* kExample =
      "write body = { position = [\"x\", \"y\"], angle = \"phi\", point = [\"...\", \"...\"] }";
  if (value.kind != Value::Kind::Table) {
    contact.fail(value, "body", fmt::format("must be a table, not {}", value.kind_name()),
                 kExample);
  }
  if (const Value* normal = contact.find("normal")) {
    contact.fail(*normal, "normal", "follows from body", "remove it");
  }
  formula::Graph& graph = formulas_.graph();
  TableReader table(document_, value, contact.full("body"));
  const Body body = read_one_body(table, locals);
  std::vector<NodeId> point = body.position;
  if (!body.spin.empty() || table.find("point") != nullptr) {
    point = read_list(table, "point", Speaks::Position, locals);
  }
  if (point.size() != body.position.size()) {
    table.fail(*table.find("point"), "point", "needs as many formulas as position", kExample);
  }
  std::vector<NodeId> velocity = velocity_at(body, point);
  if (const Value* other = table.find("against")) {
    subtract_other(table, *other, point, locals, velocity);
  }
  table.finish();
  const std::vector<NodeId> normal = normalized(graph, formula::gradient(graph, gap, body.slots));
  slip.normal = dot(graph, normal, velocity);
  for (const std::vector<NodeId>& tangent : tangents_of(graph, normal)) {
    slip.velocities.push_back(dot(graph, tangent, velocity));
  }
  check_normal(contact, gap, slip, value, "body");
}

model::Slip FrictionReader::read_on(TableReader& law, std::vector<NodeId> velocities) {
  model::Slip slip;
  slip.velocities = std::move(velocities);
  slip.friction = read_law(law, *law.find("friction"), slip, {});
  return slip;
}

NodeId FrictionReader::speed_of(const model::Slip& slip) {
  formula::Graph& graph = formulas_.graph();
  return slip.velocities.size() == 1
             ? graph.make(Op::Abs, slip.velocities[0])
             : graph.make(Op::Hypot, slip.velocities[0], slip.velocities[1]);
}

/// A coefficient may be a formula of t, q and `slip`, the speed of sliding.
NodeId FrictionReader::coefficient(const Value& value, const std::string& key,
                                   const model::Slip& slip, const formula::Locals& locals) {
  formula::Graph& graph = formulas_.graph();
  const NodeId node = formulas_.formula_of(value, key, locals, "slip", speed_of(slip));
  const formula::Range range = formula::range_of(graph, node);
  if (range.high < 0.0) {
    throw base::InputError(
        key,
        graph.is_constant(node) ? fmt::format("must not be negative, as {} is", graph[node].value)
                                : "is always negative",
        "friction opposes slip for a coefficient of 0 or more", document_.spot_of(value));
  }
  constexpr double kMost = 1e6;  // above, sticking and slipping differ by rounding
  if (range.low > kMost) {
    throw base::InputError(key, fmt::format("must be at most {:g}", kMost),
                           "a coefficient of 100 never slips in practice; what cannot move is a "
                           "joint, [hold]",
                           document_.spot_of(value));
  }
  graph.pin_all();  // what it may be was looked at
  return node;
}

model::FrictionLaw FrictionReader::read_law(TableReader& contact, const Value& value,
                                            const model::Slip& slip,
                                            const formula::Locals& locals) {
  if (value.kind == Value::Kind::Table) return read_law_table(contact, value, slip, locals);
  model::FrictionLaw law;
  law.kind = FrictionKind::Isotropic;
  law.coefficients[0] = coefficient(value, contact.full("friction"), slip, locals);
  return law;
}

model::FrictionLaw FrictionReader::read_law_table(TableReader& contact, const Value& value,
                                                  const model::Slip& slip,
                                                  const formula::Locals& locals) {
  constexpr const char* kLaws =
      "write a number, { static, dynamic }, { forward, backward }, { ellipse = [a, b] } or "
      "{ polygon = [[x, y], ...] }";
  TableReader table(document_, value, contact.full("friction"));
  const bool plane = slip.velocities.size() == 1;
  model::FrictionLaw law;
  const auto take_two = [&](FrictionKind kind, const char* first, const char* second) {
    law.kind = kind;
    const std::string remedy = fmt::format("give both {} and {}", first, second);
    law.coefficients[0] =
        coefficient(table.require(first, remedy), table.full(first), slip, locals);
    law.coefficients[1] =
        coefficient(table.require(second, remedy), table.full(second), slip, locals);
  };
  if (table.find("static") != nullptr || table.find("dynamic") != nullptr) {
    take_two(FrictionKind::StaticDynamic, "static", "dynamic");
  } else if (table.find("forward") != nullptr || table.find("backward") != nullptr) {
    if (!plane) {
      contact.fail(value, "friction", "has two ways, but the contact slips in a plane",
                   "give slip one formula, or use an ellipse or a polygon");
    }
    take_two(FrictionKind::TwoWay, "forward", "backward");
  } else if (const Value* ellipse = table.find("ellipse")) {
    read_ellipse(table, *ellipse, slip, locals, law);
  } else if (const Value* polygon = table.find("polygon")) {
    if (plane) {
      table.fail(*polygon, "polygon", "needs a slip of two components",
                 "in the plane write { forward = ..., backward = ... }");
    }
    law.kind = FrictionKind::Polygonal;
    law.corners = read_polygon(table, *polygon, locals);
  } else if (value.entries.empty()) {
    contact.fail(value, "friction", "is an empty table", kLaws);
  }
  table.finish();
  return law;
}

void FrictionReader::read_ellipse(TableReader& law_table, const Value& value,
                                  const model::Slip& slip, const formula::Locals& locals,
                                  model::FrictionLaw& law) {
  const bool plane = slip.velocities.size() == 1;
  if (plane || value.kind != Value::Kind::Array || value.items.size() != 2) {
    law_table.fail(value, "ellipse", "needs two coefficients, and a slip of two components",
                   "write ellipse = [0.3, 0.6] beside slip = [\"...\", \"...\"]");
  }
  law.kind = FrictionKind::Elliptic;
  for (std::size_t j = 0; j < 2; ++j) {
    const Value& axis = value.items[j];
    law.coefficients[j] = coefficient(axis, law_table.full("ellipse"), slip, locals);
    if (formula::range_of(formulas_.graph(), law.coefficients[j]).high > 0.0) continue;
    law_table.fail(axis, "ellipse", "must be positive along each axis",
                   "an axis without friction can be given a very small coefficient");
  }
}

std::vector<convex::Tangent> FrictionReader::read_polygon(TableReader& law, const Value& value,
                                                          const formula::Locals& locals) {
  constexpr const char* kExample =
      "list its corners in order, as [[0.4, 0], [0, 0.2], [-0.4, 0], [0, -0.2]]";
  const std::string key = law.full("polygon");
  if (value.kind != Value::Kind::Array) law.fail(value, "polygon", "must be a list", kExample);
  std::vector<convex::Tangent> corners;
  for (const Value& corner : value.items) {
    if (corner.kind != Value::Kind::Array || corner.items.size() != 2) {
      law.fail(corner, "polygon", "has a corner that is not a pair of numbers", kExample);
    }
    corners.emplace_back(formulas_.number(corner.items[0], key, locals),
                         formulas_.number(corner.items[1], key, locals));
  }
  bool is_clockwise = false;
  switch (convex::check_polygon(corners, is_clockwise)) {
    case convex::PolygonFault::None: break;
    case convex::PolygonFault::TooFew:
      law.fail(value, "polygon", "needs at least three corners", kExample);
    case convex::PolygonFault::NotConvex:
      law.fail(value, "polygon", "is not convex, or has a corner that is none", kExample);
    case convex::PolygonFault::NotAroundZero:
      law.fail(value, "polygon",
               "does not contain 0, so that the cone would not contain the normal",
               "move the corners round 0");
  }
  if (is_clockwise) std::reverse(corners.begin(), corners.end());
  return corners;
}

}  // namespace ricochet::scene
