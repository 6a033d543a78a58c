#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/scene/world_reader.h"

namespace ricochet::scene {
namespace {

using base::index;

/// Names with what follows their indices: ("stone", "speed") of stone[4].speed.
void collect_members(const formula::Syntax& syntax,
                     std::set<std::pair<std::string, std::string>>& names) {
  if (syntax.kind == formula::Syntax::Kind::Name) {
    const std::size_t dot = syntax.text.find('.');
    names.insert(dot == std::string::npos
                     ? std::pair(syntax.text, syntax.suffix)
                     : std::pair(syntax.text.substr(0, dot), syntax.text.substr(dot + 1)));
  }
  for (const formula::Syntax& child : syntax.children) collect_members(child, names);
}

constexpr std::array<std::pair<const char*, Watch::Kind>, 9> kWatches = {{
    {"force_on", Watch::Kind::ForceOn},
    {"displacement", Watch::Kind::Displacement},
    {"height", Watch::Kind::Height},
    {"centre", Watch::Kind::Centre},
    {"momentum", Watch::Kind::Momentum},
    {"slip", Watch::Kind::Slip},
    {"touching", Watch::Kind::Touching},
    {"joint", Watch::Kind::Joint},
    {"formula", Watch::Kind::Formula},
}};

}  // namespace

/// "stone", "stone[3]", "all", or a list of them.
template <int D>
std::vector<int> WorldReader<D>::bodies_of(const Value& value, const std::string& key,
                                           const WorldPart& part) {
  std::vector<int> bodies;
  if (value.kind == Value::Kind::Array) {
    for (const Value& item : value.items) {
      for (const int i : bodies_of(item, key, part)) bodies.push_back(i);
    }
    return bodies;
  }
  const std::string name = value.kind == Value::Kind::Text ? value.text : "";
  std::vector<std::string> known = {"all"};
  for (const BodyFamily& family : part.families) {
    known.push_back(family.name);
    for (int i = family.begin; i < family.begin + family.count; ++i) {
      const Body& body = world_of(part).body(i);
      const bool is_meant =
          name == "all" ? body.is_free() : name == family.name || name == body.name;
      if (is_meant) bodies.push_back(i);
    }
  }
  if (!bodies.empty()) return bodies;
  const auto near = base::nearest_name(name, known);
  throw base::InputError(
      key, fmt::format("'{}' is no body", name),
      fmt::format("{}known: {}", near ? fmt::format("did you mean '{}'? ", *near) : "",
                  base::list_names(known)),
      document_.spot_of(value));
}

/// Whether a formula is true or false: a comparison, what is made of some, or the name of one.
static bool is_condition(
    const formula::Syntax& syntax,
    const std::vector<std::pair<std::string, formula::Definition>>& definitions) {
  using Kind = formula::Syntax::Kind;
  const auto holds = [&](const formula::Syntax& part) { return is_condition(part, definitions); };
  const std::string& word = syntax.text;
  switch (syntax.kind) {
    case Kind::Relation: return true;
    case Kind::Unary: return word == "not" && holds(syntax.children[0]);
    case Kind::Binary:
      return (word == "and" || word == "or") && holds(syntax.children[0]) &&
             holds(syntax.children[1]);
    case Kind::Call:
      return word == "if" && syntax.children.size() == 3 && holds(syntax.children[1]) &&
             holds(syntax.children[2]);
    case Kind::Name:
      return std::any_of(definitions.begin(), definitions.end(), [&](const auto& one) {
        return one.first == word && holds(one.second.body);
      });
    default: return false;
  }
}

template <int D>
Probe WorldReader<D>::read_probe(const Value& value, const std::string& key,
                                 const WorldPart& part) {
  if (value.kind != Value::Kind::Text) {
    throw base::InputError(key, "must be a formula in quotes",
                           "write for example \"ball.speed > 0.01\"", document_.spot_of(value));
  }
  std::set<std::pair<std::string, std::string>> used;
  formulas_.guarded(value, key, [&] { collect_members(formula::parse(value.text), used); });
  Probe probe;
  std::vector<std::string> names;
  for (const auto& [name, what] : used) {
    for (const Watch& watch : part.watches) {
      const std::vector<std::string> own = names_of(watch);
      for (std::size_t k = 0; watch.name == name && k < own.size(); ++k) {
        names.push_back(own[k]);
        probe.inputs.push_back({-1, watch.column + static_cast<int>(k)});
      }
    }
    constexpr auto& kFigures = body::Figures<D>::kNames;
    const auto figure = std::find(kFigures.begin(), kFigures.end(), what);
    for (const BodyFamily& family : part.families) {
      if (family.name != name) continue;
      if (figure == kFigures.end()) {
        const std::vector<std::string> known(kFigures.begin(), kFigures.end());
        const auto near = base::nearest_name(what, known);
        throw base::InputError(
            key, fmt::format("'{}' has no '{}'", name, what),
            fmt::format("{}known: {}", near ? fmt::format("did you mean '{}'? ", *near) : "",
                        base::list_names(known)),
            document_.spot_of(value));
      }
      for (int i = family.begin; i < family.begin + family.count; ++i) {
        names.push_back(world_of(part).body(i).name + "." + what);
        probe.inputs.push_back({i, static_cast<int>(figure - kFigures.begin())});
      }
    }
  }
  formula::Graph graph = formulas_.graph();
  const formula::NodeId node = formulas_.row_formula(value, key, names, graph);
  probe.tape = formula::Tape(graph, static_cast<int>(names.size()) + 1, {{node}});
  return probe;
}

template <int D>
int WorldReader<D>::joint_called(const Value& value, const std::string& key,
                                 const World& world) const {
  std::vector<std::string> known;
  for (std::size_t j = 0; j < world.joints.size(); ++j) {
    known.push_back(world.joints[j].name);
    if (value.kind == Value::Kind::Text && value.text == known.back()) return static_cast<int>(j);
  }
  const auto near = base::nearest_name(value.text, known);
  throw base::InputError(
      key, fmt::format("'{}' is no joint", value.text),
      fmt::format("{}known: {}", near ? fmt::format("did you mean '{}'? ", *near) : "",
                  known.empty() ? "none" : base::list_names(known)),
      document_.spot_of(value));
}

template <int D>
void WorldReader<D>::read_watch(const std::string& name, const Value& value, WorldPart& part) {
  const std::string path = "watch." + name;
  formulas_.check_new_name(name, path, value);
  const bool is_taken = std::any_of(part.families.begin(), part.families.end(),
                                    [&](const BodyFamily& family) { return family.name == name; });
  if (is_taken) {
    throw base::InputError(path, fmt::format("a body is called '{}'", name), "choose another name",
                           document_.spot_of_key(value));
  }
  TableReader table(document_, value, path);
  Watch watch;
  watch.name = name;
  watch.dimension = D;
  const Value* what = nullptr;
  const char* key = "";
  for (const auto& [word, kind] : kWatches) {
    const Value* found = table.find(word);
    if (found == nullptr) continue;
    if (what != nullptr) {
      table.fail(*found, word, fmt::format("stands beside {}", key), "a watch looks at one thing");
    }
    what = found;
    key = word;
    watch.kind = kind;
  }
  table.finish();
  if (what == nullptr) {
    throw base::InputError(
        path, "does not say what to watch",
        "write force_on, displacement, height, centre, momentum, slip, touching, "
        "joint or formula",
        document_.spot_of_key(value));
  }
  if (watch.kind == Watch::Kind::Formula) {
    watch.formula = read_probe(*what, table.full(key), part);
  } else if (watch.kind == Watch::Kind::Slip) {
    if (what->kind != Value::Kind::Array || what->items.size() != 2) {
      table.fail(*what, key, "needs two bodies", "write slip = [\"box\", \"floor\"]");
    }
    watch.bodies = bodies_of(what->items[0], table.full(key), part);
    watch.others = bodies_of(what->items[1], table.full(key), part);
  } else if (watch.kind == Watch::Kind::Joint) {
    watch.joint = joint_called(*what, table.full(key), world_of(part));
  } else {
    watch.bodies = bodies_of(*what, table.full(key), part);
  }
  watch.numbers = static_cast<int>(names_of(watch).size());
  for (const Watch& before : part.watches) watch.column += before.numbers;
  part.watches.push_back(std::move(watch));
}

template <int D>
void WorldReader<D>::read_watches(const Value* table, WorldPart& part) {
  if (table == nullptr) return;
  for (const auto& [name, value] : table->entries) {
    if (value.kind != Value::Kind::Table) {
      throw base::InputError("watch." + name, "must be a table",
                             "write [watch.load] with force_on = \"floor\"",
                             document_.spot_of_key(value));
    }
    read_watch(name, value, part);
  }
}

template <int D>
void WorldReader<D>::read_stop(const Value* run, WorldPart& part) {
  const Value* stop = run == nullptr ? nullptr : run->find("stop");
  if (stop == nullptr) return;
  part.stop = read_probe(*stop, "run.stop", part);
  part.stop_spot = document_.spot_of(*stop);
  if (is_condition(formula::parse(stop->text), part.definitions)) return;
  throw base::InputError("run.stop", "is no condition, which holds or does not",
                         "write a comparison, as \"ball.speed < 0.01\"", part.stop_spot);
}

template <int D>
SeriesPlan WorldReader<D>::read_series(TableReader& table, const std::string& key, double step) {
  constexpr const char* kForm = "write { every = 0.01, format = \"vtk\" }";
  SeriesPlan plan;
  const Value* value = table.find(key);
  if (value == nullptr) return plan;
  if (value->kind != Value::Kind::Table) table.fail(*value, key, "must be a table", kForm);
  TableReader one(document_, *value, table.full(key));
  const Value& every = one.require("every", kForm);
  const double time = number(one, every, "every");
  const double steps = std::round(time / step);
  const bool is_whole = steps >= 1.0 && std::abs(time - steps * step) <= 1e-9 * time;
  if (!is_whole || steps > 1e15) {
    one.fail(
        every, "every", fmt::format("must be a whole number of steps of {:.6g}", step),
        fmt::format("write a multiple of it, such as {:.6g}", step * std::clamp(steps, 1.0, 1e15)));
  }
  plan.stride = static_cast<long long>(steps);
  const std::string format = one.text("format").value_or("vtk");
  plan.hdf5 = format == "hdf5";
  if (!plan.hdf5 && format != "vtk") {
    one.fail(*one.find("format"), "format", fmt::format("'{}' is not known", format),
             "write \"vtk\", for ParaView, or \"hdf5\"");
  }
  one.finish();
  return plan;
}

template <int D>
void WorldReader<D>::read_write(TableReader& root, double step, WorldPart& part) {
  const Value* value = root.table("write");
  if (value == nullptr) return;
  if (root.find("family") != nullptr) {
    throw base::InputError("write", "stands beside [family]",
                           "series are of one run: leave one of the two out",
                           document_.spot_of_key(*value));
  }
  TableReader table(document_, *value, "write");
  part.write_bodies = read_series(table, "bodies", step);
  part.write_contacts = read_series(table, "contacts", step);
  table.finish();
}

template void WorldReader<2>::read_watches(const Value*, WorldPart&);
template void WorldReader<2>::read_write(TableReader&, double, WorldPart&);
template void WorldReader<3>::read_write(TableReader&, double, WorldPart&);
template void WorldReader<2>::read_stop(const Value*, WorldPart&);
template void WorldReader<3>::read_watches(const Value*, WorldPart&);
template void WorldReader<3>::read_stop(const Value*, WorldPart&);

}  // namespace ricochet::scene
