#include "ricochet/scene/world_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/body/finder.h"

namespace ricochet::scene {
namespace {

using base::index;
constexpr int kTimeSlot = 0;

/// Runs a tape of t; few registers, so that nothing is allocated.
void run_tape(const formula::Tape& tape, const std::vector<double>& fresh, double t, double* out) {
  constexpr std::size_t kRoom = 256;
  std::array<double, kRoom> room;
  std::vector<double> more;
  double* registers = room.data();
  if (fresh.size() > kRoom) {
    more = fresh;
    registers = more.data();
  } else {
    std::copy(fresh.begin(), fresh.end(), registers);
  }
  registers[kTimeSlot] = t;
  tape.run(0, registers);
  for (const std::size_t at : tape.outputs(0)) *out++ = registers[at];
}

/// A function of t from nodes of the graph.
std::function<void(double, double*)> function_of(const formula::Graph& graph,
                                                 const std::vector<formula::NodeId>& nodes) {
  const auto tape = std::make_shared<const formula::Tape>(
      graph, 1, std::vector<std::vector<formula::NodeId>>{nodes});
  const auto fresh = std::make_shared<const std::vector<double>>(tape->registers());
  return [tape, fresh](double t, double* out) { run_tape(*tape, *fresh, t, out); };
}

std::string material_words(const std::string& name) {
  return name.empty() ? "bodies without a material" : fmt::format("'{}'", name);
}

}  // namespace

template <>
std::function<void(double, body::Motion<2>&)> drive_of(const formula::Graph& graph,
                                                       const std::vector<formula::NodeId>& nodes) {
  return [of = function_of(graph, nodes)](double t, body::Motion<2>& place) {
    std::array<double, 3> found{};
    of(t, found.data());
    place.x = {found[0], found[1]};
    place.angle = found[2];
  };
}
template <>
std::function<void(double, body::Motion<3>&)> drive_of(const formula::Graph& graph,
                                                       const std::vector<formula::NodeId>& nodes) {
  return [of = function_of(graph, nodes)](double t, body::Motion<3>& place) {
    std::array<double, 7> found{};
    of(t, found.data());
    place.x = {found[0], found[1], found[2]};
    const body::Vec<3> axis = body::Vec<3>(found[3], found[4], found[5]).normalized();
    place.turn = body::rotation(found[6] * axis).normalized();
  };
}

std::vector<std::string> names_of(const Watch& watch) {
  const bool is_plane = watch.dimension == 2;
  std::vector<std::string> parts =
      is_plane ? std::vector<std::string>{".x", ".y"} : std::vector<std::string>{".x", ".y", ".z"};
  switch (watch.kind) {
    case Watch::Kind::ForceOn:
    case Watch::Kind::Centre: break;
    case Watch::Kind::Joint: parts.emplace_back(".value"); break;
    case Watch::Kind::Momentum:
      if (is_plane) parts.emplace_back(".spin");
      if (!is_plane) parts.insert(parts.end(), {".spin_x", ".spin_y", ".spin_z"});
      break;
    default: parts = {""};
  }
  for (std::string& part : parts) part.insert(0, watch.name);
  return parts;
}

namespace {

template <int D>
step::Columns columns_of(const WorldPart& part, const body::World<D>& world) {
  step::Columns columns;
  columns.has_potential = world.gravity_is_constant;
  for (const int i : part.told) {
    for (std::size_t k = 0; k < body::Figures<D>::kPlaces; ++k) {
      columns.coordinates.push_back(world.body(i).name + "." + body::Figures<D>::kNames[k]);
    }
  }
  for (const Watch& watch : part.watches) {
    for (const std::string& name : names_of(watch)) columns.watches.push_back(name);
  }
  return columns;
}

template <int D>
std::vector<FigureName> figure_names(const body::World<D>& world) {
  std::vector<FigureName> names;
  for (std::size_t what = 0; what < body::Figures<D>::kNames.size(); ++what) {
    for (int i = 0; i < world.count(); ++i) {
      names.push_back({world.body(i).name + "." + body::Figures<D>::kNames[what], i,
                       static_cast<int>(what), what < body::Figures<D>::kPlaces});
    }
  }
  return names;
}

}  // namespace

step::Columns columns_of(const WorldPart& part) {
  return part.visit([&](const auto& world) { return columns_of(part, world); });
}

std::vector<FigureName> figure_names(const WorldPart& part) {
  return part.visit([](const auto& world) { return figure_names(world); });
}

int dimension_of(const Document& document, TableReader& root) {
  TableReader table(document, *root.table("world"), "world");
  const Value& dimension = table.require("dimension", "write dimension = 2, or 3");
  const bool is_number = dimension.kind == Value::Kind::Number;
  if (is_number && (dimension.number == 2.0 || dimension.number == 3.0)) {
    return dimension.number == 2.0 ? 2 : 3;
  }
  table.fail(dimension, "dimension", "must be 2 or 3",
             "write dimension = 2 for a plane, 3 for space");
}

std::array<std::size_t, 2> pair_of(const Document& document, const std::string& key,
                                   const Value& value, const std::vector<std::string>& materials) {
  const std::size_t blank = key.find(' ');
  const std::array<std::string, 2> names = {
      base::trimmed(key.substr(0, blank)),
      blank == std::string::npos ? "" : base::trimmed(key.substr(blank))};
  std::array<std::size_t, 2> which{};
  for (std::size_t k = 0; k < 2; ++k) {
    const auto at = std::find(materials.begin() + 1, materials.end(), names[k]);
    if (names[k].empty() || at == materials.end()) {
      const std::vector<std::string> known(materials.begin() + 1, materials.end());
      throw base::InputError(fmt::format("pair.\"{}\"", key),
                             fmt::format("'{}' is no material", names[k]),
                             fmt::format("write two materials, as \"stone stone\"; known: {}",
                                         known.empty() ? "none" : base::list_names(known)),
                             document.spot_of_key(value));
    }
    which[k] = static_cast<std::size_t>(at - materials.begin());
  }
  return which;
}

template <int D>
double WorldReader<D>::number(TableReader& table, const Value& value, const std::string& key,
                              const Locals& locals) {
  expect_unit(value, table.full(key), locals);
  return formulas_.number(value, table.full(key), locals);
}

/// Where scenes state units: those of the numbers of bodies, by the last word of their key. Indices
/// and local definitions have none, and what is made of them is not checked.
template <int D>
void WorldReader<D>::expect_unit(const Value& value, const std::string& key,
                                 const Locals& locals) const {
  if (!formulas_.has_units() || !locals.empty()) return;
  using formula::Dimension;
  constexpr double d = D;
  static const std::vector<std::pair<std::vector<std::string>, std::pair<Dimension, std::string>>>
      kUnits = {
          {{"mass"}, {Dimension{{0, 1, 0}}, "a mass"}},
          {{"inertia"}, {Dimension{{2, 1, 0}}, "a moment of inertia"}},
          {{"density"}, {Dimension{{-d, 1, 0}}, "a density"}},
          {{"velocity"}, {Dimension{{1, 0, -1}}, "a velocity"}},
          {{"gravity"}, {Dimension{{1, 0, -2}}, "an acceleration"}},
          {{"spin", "rates"}, {Dimension{{0, 0, -1}}, "a rate of rotation"}},
          {{"angle", "friction", "restitution"}, {Dimension{}, "a number"}},
          {{"at", "centre", "disc", "sphere", "box", "polygon", "polytope", "capsule", "point",
            "chain", "round", "hollow", "cylinder", "ellipsoid", "rolling", "spinning", "position"},
           {Dimension{{1, 0, 0}}, "a length"}},
      };
  const std::string word = key.substr(key.rfind('.') + 1);
  for (const auto& [words, unit] : kUnits) {
    if (std::find(words.begin(), words.end(), word) == words.end()) continue;
    formulas_.expect(value, key, unit.first, unit.second);
  }
}

template <int D>
double WorldReader<D>::at_least(TableReader& table, const Value& value, const std::string& key,
                                double least, const Locals& locals) {
  const double found = number(table, value, key, locals);
  if (found >= least) return found;
  table.fail(value, key, fmt::format("must be at least {}, not {}", least, found),
             "write a larger number");
}

template <int D>
typename WorldReader<D>::Vec WorldReader<D>::vector(const Value& value, const std::string& key,
                                                    const Locals& locals) {
  if (value.kind != Value::Kind::Array || value.items.size() != D) {
    throw base::InputError(
        key, fmt::format("must be a list of {} numbers or formulas", D == 2 ? "two" : "three"),
        D == 2 ? "write [x, y]: the world is a plane" : "write [x, y, z]: the world is space",
        document_.spot_of(value));
  }
  Vec made;
  for (int k = 0; k < D; ++k) {
    expect_unit(value.items[index(k)], key, locals);
    made[k] = formulas_.number(value.items[index(k)], key, locals);
  }
  return made;
}

template <int D>
bool WorldReader<D>::boolean(TableReader& table, const std::string& key) {
  const Value* value = table.find(key);
  if (value == nullptr) return false;
  if (value->kind == Value::Kind::Boolean) return value->boolean;
  table.fail(*value, key, "must be true or false", fmt::format("write {} = true", key));
}

template <int D>
void WorldReader<D>::read_names(TableReader& root) {
  TableReader world(document_, *root.table("world"), "world");
  if (const Value* parameters = world.table("parameters")) {
    formulas_.add_parameters(*parameters, "world.parameters");
  }
  formulas_.add_coordinates({});  // t alone
  if (const Value* define = world.table("define")) {
    formulas_.add_definitions(*define, "world.define");
  }
}

template <int D>
void WorldReader<D>::check_run(const Value* table, const step::Scheme& scheme) const {
  if (table == nullptr) return;
  TableReader run(document_, *table, "run");
  const std::string own = step::name_of(step::default_scheme(false));
  if (step::name_of(scheme) != own) {
    run.fail(*run.find("scheme"), "scheme", fmt::format("bodies are run by {}", own),
             fmt::format("write scheme = \"{}\"", own));
  }
  if (const Value* step = run.find("step"); step && step->kind == Value::Kind::Table) {
    run.fail(*step, "step", "bodies have steps of one length", "write a number");
  }
  for (const char* key : {"anticipation", "correction", "contact"}) {
    const Value* value = run.find(key);
    if (value == nullptr) continue;
    run.fail(*value, key, "is no setting of bodies",
             "remove it: pairs with e = 0 look ahead, others act where they touch, and what lies "
             "inside is put back");
  }
}

template <int D>
void WorldReader<D>::read_gravity(TableReader& world, World& made) {
  const Value* gravity = world.find("gravity");
  if (gravity == nullptr) return;
  if (gravity->kind != Value::Kind::Array || gravity->items.size() != D) {
    world.fail(
        *gravity, "gravity",
        fmt::format("must be a list of {} numbers or formulas of t", D == 2 ? "two" : "three"),
        D == 2 ? "write gravity = [0, -9.81]" : "write gravity = [0, 0, -9.81]");
  }
  std::vector<formula::NodeId> nodes;
  for (const Value& item : gravity->items) {
    nodes.push_back(formulas_.formula(item, "world.gravity", Speaks::Position));
    if (formulas_.graph().depends_on(nodes.back(), kTimeSlot, kTimeSlot + 1)) {
      made.gravity_is_constant = false;
    }
  }
  made.gravity = [of = function_of(formulas_.graph(), nodes)](double t) -> Vec {
    Vec g;
    of(t, g.data());
    return g;
  };
}

template <int D>
void WorldReader<D>::read_materials(const Value* table, World& world) {
  world.materials = {""};
  densities_ = {0.0};
  if (table == nullptr) return;
  for (const auto& [name, value] : table->entries) {
    const std::string path = "material." + name;
    if (value.kind != Value::Kind::Table || !formula::is_plain_name(name)) {
      throw base::InputError(path, "is no material", "write [material.stone] with density = 2000",
                             document_.spot_of_key(value));
    }
    TableReader one(document_, value, path);
    world.materials.push_back(name);
    densities_.push_back(0.0);
    if (const Value* density = one.find("density")) {
      densities_.back() = number(one, *density, "density");
      if (!(densities_.back() > 0.0)) {
        one.fail(*density, "density", "must be positive",
                 D == 2 ? "in the plane it is a mass per area" : "write a mass per volume");
      }
    }
    one.finish();
  }
}

template <int D>
body::PairLaw WorldReader<D>::read_law(const Value& value, const std::string& key) {
  body::PairLaw law;
  law.is_stated = true;
  if (value.kind == Value::Kind::Text && value.text == "none") {
    law.touches = false;
    return law;
  }
  if (value.kind != Value::Kind::Table) {
    throw base::InputError(key, "is no law of a pair",
                           "write { friction = 0.5, restitution = 0 }, or \"none\"",
                           document_.spot_of(value));
  }
  TableReader one(document_, value, key);
  if (const Value* friction = one.find("friction")) {
    if (friction->kind == Value::Kind::Table) {
      one.fail(*friction, "friction", "pairs of bodies have one coefficient in this version",
               "write a number, such as friction = 0.5");
    }
    law.friction = at_least(one, *friction, "friction", 0.0);
    if (law.friction > 1e6) {
      one.fail(*friction, "friction", "must be at most a million", "write a smaller number");
    }
  }
  if (const Value* e = one.find("restitution")) {
    law.restitution = at_least(one, *e, "restitution", 0.0);
    if (law.restitution > 1.0) {
      one.fail(*e, "restitution", fmt::format("must lie in [0, 1], not {}", law.restitution),
               "0: no rebound, 1: no loss");
    }
  }
  read_rolling(one, law);
  one.not_yet({"law"}, "leave it out");
  one.finish();
  return law;
}

/// Lengths: a moment is at most so long times the normal impulse.
template <int D>
void WorldReader<D>::read_rolling(TableReader& table, body::PairLaw& law) {
  const auto read = [&](const std::string& key) {
    const Value* value = table.find(key);
    if (value == nullptr) return 0.0;
    const double length = number(table, *value, key);
    if (length >= 0.0 && length <= 1e6) return length;
    table.fail(*value, key, fmt::format("must be a length from 0 to a million, not {:.6g}", length),
               "write the arm of the moment that resists, in metres: a small part of a radius");
  };
  law.rolling = read("rolling");
  if (const Value* value = table.find("spinning"); value != nullptr && D == 2) {
    table.fail(*value, "spinning", "is friction about the normal, of bodies in space",
               "in the plane write rolling");
  }
  law.spinning = read("spinning");
}

template <int D>
void WorldReader<D>::read_pairs(const Value* table, World& world) {
  const std::size_t count = world.materials.size();
  world.laws.assign(count * count, {});
  pairs_ = table;
  if (table == nullptr) return;
  if (const Value* common = table->find("default")) {
    std::fill(world.laws.begin(), world.laws.end(), read_law(*common, "pair.default"));
  }
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const auto& [key, value] : table->entries) {
    if (key == "default") continue;
    const std::string path = fmt::format("pair.\"{}\"", key);
    const std::array<std::size_t, 2> which = pair_of(document_, key, value, world.materials);
    if (!seen.insert(std::minmax(which[0], which[1])).second) {
      throw base::InputError(path, "is stated twice", "remove one of the two",
                             document_.spot_of_key(value));
    }
    const body::PairLaw law = read_law(value, path);
    world.laws[which[0] * count + which[1]] = world.laws[which[1] * count + which[0]] = law;
  }
}

template <int D>
void WorldReader<D>::read(TableReader& root, WorldPart& part) {
  TableReader table(document_, *root.table("world"), "world");
  const auto world = std::make_shared<World>();
  (void)table.find("parameters");
  (void)table.find("define");
  (void)table.find("dimension");
  read_gravity(table, *world);
  world->sleeps = boolean(table, "sleep");
  table.finish();
  read_materials(root.table("material"), *world);
  read_pairs(root.table("pair"), *world);
  if (const Value* frame = root.find("frame")) {
    throw base::InputError("frame", "rides on formulas of [system], and the scene has none",
                           "write [system] with coordinates and kinetic, or a [body]",
                           document_.spot_of_key(*frame));
  }
  (void)root.find("write");  // read once the step is known
  bodies_ = root.table("body");
  const Value* fills = root.table("fill");
  const bool has_fill = fills != nullptr && !fills->entries.empty();
  if (!has_fill && (bodies_ == nullptr || bodies_->entries.empty())) {
    (void)root.require("body", D == 2 ? "write [body.ball] with disc = 0.1, at = [0, 1]"
                                      : "write [body.ball] with sphere = 0.1, at = [0, 0, 1]");
  }
  if (bodies_ == nullptr) bodies_ = fills;
  for (std::size_t k = 0; bodies_ != fills && k < bodies_->entries.size(); ++k) {
    read_family(bodies_->entries[k].first, bodies_->entries[k].second, *world, part);
  }
  for (std::size_t k = 0; has_fill && k < fills->entries.size(); ++k) {
    read_fill(fills->entries[k].first, fills->entries[k].second, *world, part);
  }
  read_remove(root.table("remove"), *world);
  check_laws(*world);
  check_rolling(*world);
  read_joints(root.table("joint"), root.table("run"), *world, part);
  check_shapes(*world);
  part.definitions = formulas_.definitions();
  constexpr int kMostTold = 24;
  for (int i = 0; i < world->count(); ++i) {
    if (world->body(i).moves()) part.told.push_back(i);
  }
  if (static_cast<int>(part.told.size()) > kMostTold) part.told.clear();
  if constexpr (D == 2) part.plane = world;
  if constexpr (D == 3) part.space = world;
}

template <int D>
void WorldReader<D>::read_remove(const Value* table, World& world) {
  if (table == nullptr) return;
  TableReader remove(document_, *table, "remove");
  if (const Value* below = remove.find("below"))
    world.kept_low[D - 1] = number(remove, *below, "below");
  if (const Value* outside = remove.find("outside")) {
    if (outside->kind != Value::Kind::Array || outside->items.size() != 2) {
      remove.fail(*outside, "outside", "must be two corners",
                  D == 2 ? "write [[-1, -1], [1, 1]]" : "write [[-1, -1, -1], [1, 1, 1]]");
    }
    const auto low = vector(outside->items[0], "remove.outside", {});
    world.kept_high = vector(outside->items[1], "remove.outside", {});
    if ((low.array() >= world.kept_high.array()).any()) {
      remove.fail(*outside, "outside",
                  "has no inside: each number of the first corner must be less",
                  "write the lowest corner, then the highest");
    }
    world.kept_low = world.kept_low.cwiseMax(low);
  }
  remove.finish();
}

template <int D>
void WorldReader<D>::check_laws(const World& world) const {
  std::vector<std::vector<int>> some(world.materials.size());  // two free ones and one that is not
  for (int i = 0; i < world.count(); ++i) {
    std::vector<int>& those = some[index(world.body(i).material)];
    const auto alike = std::count_if(those.begin(), those.end(), [&](int other) {
      return world.body(other).is_free() == world.body(i).is_free();
    });
    if (alike < 2) those.push_back(i);
  }
  std::vector<int> all;
  for (const std::vector<int>& those : some) all.insert(all.end(), those.begin(), those.end());
  for (const int a : all) {
    for (const int b : all) {
      const Body& one = world.body(a);
      const Body& other = world.body(b);
      if (a >= b || (!one.is_free() && !other.is_free())) continue;
      if (world.law(one.material, other.material).is_stated) continue;
      const bool known = one.material > 0 && other.material > 0;
      throw base::InputError(
          "pair",
          fmt::format("nothing is said of {} and {}, and '{}' may touch '{}'",
                      material_words(world.materials[index(one.material)]),
                      material_words(world.materials[index(other.material)]), one.name, other.name),
          known ? fmt::format("write \"{} {}\" = {{ friction = ... }} in [pair], or \"none\"",
                              world.materials[index(one.material)],
                              world.materials[index(other.material)])
                : "write default = { friction = ... } in [pair], or give both a material",
          pairs_ == nullptr ? base::Spot{document_.file(), 0, 0, 1, ""}
                            : document_.spot_of_key(*pairs_));
    }
  }
}

/// Rolling friction of a body that is a point has nothing to act on; beyond a million times the
/// reach it is a joint.
template <int D>
void WorldReader<D>::check_rolling(const World& world) const {
  const std::size_t count = world.materials.size();
  for (const Body& one : world.bodies) {
    if (!one.is_free()) continue;
    for (std::size_t other = 0; other < count; ++other) {
      const body::PairLaw& law = world.law(one.material, static_cast<int>(other));
      const double length = std::max(law.rolling, law.spinning);
      if (one.reach > 0.0 && length > 1e6 * one.reach) {
        throw base::InputError(
            "pair",
            fmt::format("rolling friction of '{}' is {:.3g} times its size", one.name,
                        length / one.reach),
            "write the arm of the moment that resists, in metres: a small part of a radius",
            document_.spot_of_key(*pairs_));
      }
      if (one.reach > 0.0 || !law.resists_turning()) continue;
      throw base::InputError(
          "pair",
          fmt::format("'{}' is a point at its mass centre, and its pairs have rolling friction",
                      one.name),
          "give it a shape with an extent, or a material whose pairs have no rolling",
          document_.spot_of_key(*pairs_));
    }
  }
}

/// Cylinders, ellipsoids and surfaces of space know some shapes only.
template <int D>
void WorldReader<D>::check_shapes(const World& world) const {
  for (std::size_t a = 0; a < world.solids.size(); ++a) {
    const auto& one = world.solids[a];
    if (one.shape.kind == shape::Kind::Core || one.shape.kind == shape::Kind::HalfSpace) continue;
    for (const auto& other : world.solids) {
      if (one.body == other.body || !world.may_touch(one.body, other.body)) continue;
      if (shape::can_meet(one.shape, other.shape)) continue;
      throw base::InputError(
          "body",
          fmt::format("'{}' and '{}' may touch, and have shapes between which gaps are not known",
                      world.body(one.body).name, world.body(other.body).name),
          "write \"a b\" = \"none\" of their materials in [pair], or other shapes: cylinders and "
          "ellipsoids know half-spaces, meshes and heightfields know spheres and capsules",
          document_.spot_of_key(*bodies_));
    }
  }
}

template double WorldReader<2>::number(TableReader&, const Value&, const std::string&,
                                       const Locals&);
template double WorldReader<2>::at_least(TableReader&, const Value&, const std::string&, double,
                                         const Locals&);
template void WorldReader<2>::expect_unit(const Value&, const std::string&, const Locals&) const;
template void WorldReader<3>::expect_unit(const Value&, const std::string&, const Locals&) const;
template body::Vec<2> WorldReader<2>::vector(const Value&, const std::string&, const Locals&);
template bool WorldReader<2>::boolean(TableReader&, const std::string&);
template void WorldReader<2>::read_names(TableReader&);
template void WorldReader<2>::read_materials(const Value*, body::World<2>&);
template void WorldReader<2>::check_run(const Value*, const step::Scheme&) const;
template void WorldReader<2>::read(TableReader&, WorldPart&);
template double WorldReader<3>::number(TableReader&, const Value&, const std::string&,
                                       const Locals&);
template double WorldReader<3>::at_least(TableReader&, const Value&, const std::string&, double,
                                         const Locals&);
template body::Vec<3> WorldReader<3>::vector(const Value&, const std::string&, const Locals&);
template bool WorldReader<3>::boolean(TableReader&, const std::string&);
template void WorldReader<3>::read_names(TableReader&);
template void WorldReader<3>::read_materials(const Value*, body::World<3>&);
template void WorldReader<3>::check_run(const Value*, const step::Scheme&) const;
template void WorldReader<3>::read(TableReader&, WorldPart&);

}  // namespace ricochet::scene
