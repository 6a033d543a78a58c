#include "ricochet/scene/constraint_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ricochet/base/text.h"
#include "ricochet/formula/range.h"

namespace ricochet::scene {
namespace {

using formula::NodeId;

/// "pair[1][2]" for the indices 1 and 2.
std::string numbered(std::string name, const formula::Locals& indices) {
  for (const auto& [index, value] : indices) name += fmt::format("[{:.0f}]", value);
  return name;
}

}  // namespace

void ConstraintReader::read(TableReader& root, const std::vector<ShapeRow>& shapes) {
  if (const Value* contacts = root.table("contact")) {
    for (const auto& [name, contact] : contacts->entries) read_contact(name, contact);
  }
  for (const ShapeRow& row : shapes) add_shapes(row);
  if (const Value* frictions = root.table("friction")) {
    for (const auto& [name, friction] : frictions->entries) read_friction(name, friction);
  }
  if (const Value* holds = root.table("hold")) {
    for (const auto& [name, hold] : holds->entries) read_hold(name, hold);
  }
  if (const Value* rolls = root.table("roll")) {
    for (const auto& [name, roll] : rolls->entries) read_roll(name, roll);
  }
  find_holds();
}

void ConstraintReader::check_name(const std::string& kind, const std::string& name,
                                  const Value& table) {
  const std::string path = kind + "." + name;
  if (table.kind != Value::Kind::Table) {
    const std::string example = kind == "contact"    ? "keep = \"...\""
                                : kind == "friction" ? "slip = \"...\""
                                                     : "zero = \"...\"";
    throw base::InputError(path, fmt::format("must be a table, not {}", table.kind_name()),
                           fmt::format("write [{}.{}] and {} below", kind, name, example),
                           document_.spot_of(table));
  }
  const auto fail = [&](const std::string& message, const std::string& remedy) {
    throw base::InputError(path, message, remedy, document_.spot_of_key(table));
  };
  if (!formula::is_plain_name(name)) {
    fail(fmt::format("'{}' is not a name", name), "names are letters, digits and _");
  }
  constexpr std::array<std::string_view, 4> kTaken = {"energy", "violation", "residual", "steps"};
  if (std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end()) {
    fail(fmt::format("the name '{}' is taken by the results of a run", name),
         "choose another name");
  }
  if (!names_.insert(name).second) {
    fail(fmt::format("the name '{}' is used twice", name), "choose another name for one of them");
  }
}

std::vector<formula::Locals> ConstraintReader::read_indices(TableReader& table) {
  const Value* value = table.find("for");
  if (value == nullptr) return {{}};
  return formulas_.index_values(*value, table.full("for"));
}

void ConstraintReader::read_contact(const std::string& name, const Value& table) {
  check_name("contact", name, table);
  TableReader contact(document_, table, "contact." + name);
  if (!table.override_text.empty() && contact.find("keep") == nullptr) refuse_new(name, table);
  const Value& keep = contact.require("keep", "write keep = \"x >= 0\"");
  if (take_outside(name, contact, keep)) return;
  if (const Value* friction = contact.find("friction")) {
    frictions_.emplace_back(contact.full("friction"), friction);
  }
  for (const formula::Locals& locals : read_indices(contact)) {
    const NodeId where = read_where(contact, locals);
    const ImpactReader::Law law = impacts_.read(contact, locals);
    for (const Side& side : sides_of(contact, keep, locals)) {
      check_moves(contact, keep, "keep", side.gap);
      add_contact(contact, numbered(name, locals) + side.suffix, side.gap, where,
                  friction_.read(contact, side.gap, locals), law);
    }
  }
  formulas_.add_gap(name, keep);
  contact.finish();
}

void ConstraintReader::add_contact(TableReader& contact, std::string name, NodeId gap, NodeId where,
                                   model::Slip slip, const ImpactReader::Law& law) {
  system_.contacts.push_back(std::move(name));
  system_.gaps.push_back(gap);
  system_.where.push_back(where);
  system_.slips.push_back(std::move(slip));
  take_slip_restitution(contact, law);
  if (law.node >= 0) {
    system_.restitution_nodes.emplace_back(system_.restitution.size(), law.node);
  }
  system_.restitution.push_back(law.restitution);
  system_.laws.push_back(law.impact);
}

/// A row between two shapes: its law is a table of [pair].
void ConstraintReader::add_shapes(const ShapeRow& row) {
  const auto& names = system_.contacts;
  if (std::find(names.begin(), names.end(), row.name) != names.end()) {
    throw base::InputError(row.key, fmt::format("two contacts are called '{}'", row.name),
                           "choose another name for a frame, a body or a [contact]",
                           document_.spot_of_key(*row.law));
  }
  TableReader table(document_, *row.law, row.key);
  const ImpactReader::Law law = impacts_.read(table, {});
  model::Slip slip;
  if (const Value* friction = table.find("friction"); friction != nullptr && !row.slips.empty()) {
    frictions_.emplace_back(table.full("friction"), friction);
    slip = friction_.read_on(table, row.slips);
  }
  add_contact(table, row.name, row.gap, row.where, std::move(slip), law);
}

void ConstraintReader::take_slip_restitution(TableReader& contact, const ImpactReader::Law& law) {
  if (law.tangential > 0.0 && system_.slips.back().velocities.empty()) {
    contact.fail(*contact.find("restitution"), "restitution",
                 "has a tangential part, but the contact has no friction",
                 "add slip and friction, or write a number");
  }
  system_.slips.back().restitution = law.tangential;
}

/// The command line changed a contact that the scene does not have.
void ConstraintReader::refuse_new(const std::string& name, const Value& table) const {
  std::vector<std::string> known;
  for (const auto& [other, value] : document_.root().find("contact")->entries) {
    if (other != name) known.push_back(other);
  }
  const std::optional<std::string> near = base::nearest_name(name, known);
  throw base::InputError("contact." + name, "the scene has no such contact, and no keep makes one",
                         fmt::format("{}contacts of the scene: {}",
                                     near ? fmt::format("did you mean '{}'? ", *near) : "",
                                     known.empty() ? "none" : base::list_names(known)),
                         document_.spot_of(table));
}

/// A gap that a program gives as a function: a formula of every coordinate holds its place.
bool ConstraintReader::take_outside(const std::string& name, TableReader& contact,
                                    const Value& keep) {
  const int number = system_.outside ? system_.outside->find_gap(name) : -1;
  if (number < 0 || keep.kind != Value::Kind::Text || keep.text != kOutside) return false;
  for (const char* key : {"normal", "body", "for"}) {
    const Value* value = contact.find(key);
    if (value == nullptr) continue;
    contact.fail(*value, key, "needs a formula of the gap, and this gap is a function",
                 "write keep as an inequality");
  }
  formula::Graph& graph = formulas_.graph();
  NodeId gap = graph.constant(0.0);
  for (const int slot : system_.position_slots()) gap = graph.add(gap, graph.input(slot));
  const NodeId where = read_where(contact, {});
  const ImpactReader::Law law = impacts_.read(contact, {});
  if (const Value* friction = contact.find("friction")) {
    frictions_.emplace_back(contact.full("friction"), friction);
  }
  system_.outside_gaps.resize(system_.gaps.size(), -1);
  system_.outside_gaps.push_back(number);
  system_.contacts.push_back(name);
  system_.gaps.push_back(gap);
  system_.where.push_back(where);
  system_.slips.push_back(friction_.read(contact, gap, {}, true));
  take_slip_restitution(contact, law);
  system_.restitution.push_back(law.restitution);
  system_.laws.push_back(law.impact);
  contact.finish();
  return true;
}

/// left <= right has the gap right - left; a <= g <= b has two, "lower" and "upper".
std::vector<ConstraintReader::Side> ConstraintReader::sides_of(TableReader& contact,
                                                               const Value& keep,
                                                               const formula::Locals& locals) {
  const std::vector<formula::Comparison> relation =
      formulas_.relation(keep, contact.full("keep"), Speaks::Position, locals);
  formula::Graph& graph = formulas_.graph();
  std::vector<NodeId> gaps;
  for (const formula::Comparison& one : relation) {
    if (one.op != relation[0].op || (one.op != "<=" && one.op != ">=") || relation.size() > 2) {
      const bool is_strict = relation.size() <= 2 && (one.op == "<" || one.op == ">");
      contact.fail(keep, "keep", "must be an inequality with <= or >=, or a <= g <= b",
                   is_strict ? fmt::format("write {}= in place of {}: what touches is allowed",
                                           one.op, one.op)
                             : "write left <= right, and one contact for each inequality");
    }
    gaps.push_back(one.op == "<=" ? graph.subtract(one.right, one.left)
                                  : graph.subtract(one.left, one.right));
  }
  if (gaps.size() == 1) return {{"", gaps[0]}};
  const NodeId room = relation[0].op == "<=" ? graph.subtract(relation[1].right, relation[0].left)
                                             : graph.subtract(relation[0].left, relation[1].right);
  if (formula::range_of(graph, room).high < 0.0) {
    contact.fail(keep, "keep", "leaves no room: the lower bound is above the upper one",
                 "exchange the bounds");
  }
  if (relation[0].op == ">=") std::swap(gaps[0], gaps[1]);
  return {{".lower", gaps[0]}, {".upper", gaps[1]}};
}

NodeId ConstraintReader::read_where(TableReader& contact, const formula::Locals& locals) {
  const Value* value = contact.find("where");
  if (value == nullptr) return -1;
  const NodeId where = formulas_.formula(*value, contact.full("where"), Speaks::Position, locals);
  const formula::Range range = formula::range_of(formulas_.graph(), where);
  if (range.low == 0.0 && range.high == 0.0) {
    contact.fail(*value, "where", "never holds, so the contact never exists",
                 "check the condition, or remove the contact");
  }
  return where;
}

void ConstraintReader::check_moves(TableReader& table, const Value& value, const std::string& key,
                                   NodeId gap) const {
  const int first = system_.position_slot(0);
  if (formulas_.graph().depends_on(gap, first, first + system_.dofs())) return;
  table.fail(value, key, "does not depend on any coordinate",
             "a condition that no motion can change is no constraint");
}

void ConstraintReader::add_joint(const std::string& name, NodeId gap) {
  system_.contacts.push_back(name);
  system_.gaps.push_back(gap);
  system_.where.push_back(-1);
  system_.slips.emplace_back();
  system_.restitution.push_back(0.0);
  system_.laws.emplace_back();
  ++system_.joints;
}

/// A velocity that is kept at 0: friction without a bound.       [Moreau 1986, par. 11, appendix]
void ConstraintReader::read_roll(const std::string& name, const Value& table) {
  check_name("roll", name, table);
  TableReader roll(document_, table, "roll." + name);
  const Value& zero = roll.require("zero", "write zero = \"x' - R*phi'\", linear in velocities");
  for (const formula::Locals& locals : read_indices(roll)) {
    system_.rolls.push_back(friction_.read_velocity(roll, zero, "zero", locals));
    add_joint(numbered(name, locals), formulas_.graph().constant(0.0));
  }
  roll.finish();
}

void ConstraintReader::read_hold(const std::string& name, const Value& table) {
  check_name("hold", name, table);
  TableReader hold(document_, table, "hold." + name);
  const Value& zero = hold.require("zero", "write zero = \"x^2 + y^2 - L^2\"");
  for (const formula::Locals& locals : read_indices(hold)) {
    const NodeId gap = formulas_.formula(zero, hold.full("zero"), Speaks::Position, locals);
    check_moves(hold, zero, "zero", gap);
    const formula::Range values = formula::range_of(formulas_.graph(), gap);
    if (values.low > 0.0 || values.high < 0.0) {
      hold.fail(zero, "zero", "is never zero", "check the signs in it");
    }
    add_joint(numbered(name, locals), gap);
  }
  if (zero.kind == Value::Kind::Text &&
      formula::parse(zero.text).kind == formula::Syntax::Kind::Relation) {
    hold.fail(zero, "zero", "is a comparison",
              "write the formula that is kept at 0, as \"x - 1\"; an inequality is a [contact]");
  }
  if (const Value* friction = hold.find("friction")) {
    hold.fail(*friction, "friction", "has a table of its own, since a joint has no slip",
              fmt::format("write [friction.rough] with hold = \"{}\", slip = \"...\" and friction",
                          name));
  }
  hold.finish();
}

/// A row that always touches, without a normal.
void ConstraintReader::read_friction(const std::string& name, const Value& table) {
  check_name("friction", name, table);
  TableReader friction(document_, table, "friction." + name);
  const Value& slip = friction.require("slip", "write slip = \"x' - v\", the velocity it opposes");
  frictions_.emplace_back(friction.full("slip"), &slip);
  const Value* hold = friction.find("hold");
  for (const formula::Locals& locals : read_indices(friction)) {
    if (hold != nullptr) {
      on_holds_.push_back({system_.gaps.size(), locals, friction.full("hold"), hold});
    }
    system_.contacts.push_back(numbered(name, locals));
    system_.gaps.push_back(formulas_.graph().constant(0.0));
    system_.where.push_back(read_where(friction, locals));
    system_.slips.push_back(friction_.read_alone(friction, locals));
    system_.restitution.push_back(0.0);
    system_.laws.emplace_back();
  }
  friction.finish();
}

/// The joints that friction lies on, by their names; of a family that with the same indices.
void ConstraintReader::find_holds() {
  const auto joints = system_.contacts.end() - system_.joints;
  const auto end = system_.contacts.end() - static_cast<std::ptrdiff_t>(system_.rolls.size());
  for (const OnHolds& one : on_holds_) {
    const auto fail = [&](const std::string& message, const std::string& remedy) {
      throw base::InputError(one.key, message, remedy, document_.spot_of(*one.value));
    };
    std::vector<const Value*> names = {one.value};
    if (one.value->kind == Value::Kind::Array) {
      names.clear();
      for (const Value& item : one.value->items) names.push_back(&item);
    }
    std::vector<formula::NodeId> gaps;
    for (const Value* name : names) {
      auto found = std::find(joints, end, numbered(name->text, one.locals));
      if (found == end) {
        found = std::find(joints, end, name->text);
      }
      if (found == end) {
        fail(fmt::format("there is no [hold.{}]", name->text),
             "write the name of a joint, or a list of those whose reactions press");
      }
      const auto row = static_cast<std::size_t>(found - system_.contacts.begin());
      system_.slips[one.row].holds.push_back(static_cast<int>(row));
      gaps.push_back(system_.gaps[row]);
    }
    if (gaps.empty()) fail("names no joint", "write hold = \"wire\"");
    friction_.check_reactions(gaps, one.key, *one.value);
  }
}

void ConstraintReader::check_laws(const step::Scheme& scheme) const {
  impacts_.check(scheme, !frictions_.empty());
  check_joints(scheme);
  if (scheme.info().has_friction || frictions_.empty()) return;
  const auto follows = [](const model::ImpactLaw& law) {
    return law.kind == model::ImpactKind::ImpulseTime;
  };
  if (scheme.info().follows_shocks &&
      std::all_of(system_.laws.begin(), system_.laws.end(), follows)) {
    return;  // friction in shocks alone
  }
  std::vector<std::string> able;
  for (const step::SchemeInfo* info : step::all_schemes()) {
    if (info->runs_systems && info->has_friction) able.emplace_back(info->name);
  }
  const auto& [key, value] = frictions_[0];
  throw base::InputError(key, fmt::format("the scheme {} has no friction", step::name_of(scheme)),
                         fmt::format("schemes that have it: {}", base::list_names(able)),
                         document_.spot_of(*value));
}

void ConstraintReader::check_joints(const step::Scheme& scheme) const {
  const bool rolls = !system_.rolls.empty();
  const auto has = [&](const step::SchemeInfo& info) {
    return info.is_staggered || (rolls ? info.has_rolls : info.has_joints);
  };
  if (has(scheme.info()) || system_.joints == 0) return;
  std::vector<std::string> able;
  for (const step::SchemeInfo* info : step::all_schemes()) {
    if (info->runs_systems && has(*info)) able.emplace_back(info->name);
  }
  const char* kind = rolls ? "roll" : "hold";
  throw base::InputError(
      kind,
      fmt::format("the scheme {} {}", step::name_of(scheme),
                  rolls ? "keeps no velocity at 0" : "has no joints"),
      fmt::format("schemes that {}: {}", rolls ? "do" : "have them", base::list_names(able)),
      document_.spot_of_key(document_.root().find(kind)->entries[0].second));
}

}  // namespace ricochet::scene
