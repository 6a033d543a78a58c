#include "ricochet/scene/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/scene/coordinate_values.h"
#include "ricochet/scene/document.h"
#include "ricochet/scene/dynamics_reader.h"
#include "ricochet/scene/expectations.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/plot_reader.h"
#include "ricochet/scene/record_reader.h"
#include "ricochet/scene/run_reader.h"
#include "ricochet/scene/structure_reader.h"
#include "ricochet/scene/system_reader.h"
#include "ricochet/scene/table_reader.h"
#include "ricochet/scene/world_reader.h"

namespace ricochet::scene {
namespace {

/// The tables that every scene may have.
struct Tables {
  const Value* start;
  const Value* run;
  const Value* expect;
  const Value* plot;
  const Value* record;
  const Value* section;
  const Value* sweep;

  explicit Tables(TableReader& root)
      : start(root.table("start")),
        run(root.table("run")),
        expect(root.table("expect")),
        plot(root.table("plot")),
        record(root.table("record")),
        section(root.table("section")),
        sweep(root.table("sweep")) {
    root.finish();
  }
};

bool names_scheme(const Tables& tables) {
  return tables.run != nullptr && tables.run->find("scheme") != nullptr;
}

/// expect.motion: every coordinate as a formula of t.
std::shared_ptr<const ClosedForm> read_closed_form(const Document& document, const Value* table,
                                                   FormulaReader& formulas,
                                                   const std::vector<CoordinateGroup>& groups,
                                                   const std::vector<std::string>& names) {
  const Value* stated = table == nullptr ? nullptr : table->find(kMotion);
  if (stated == nullptr) return nullptr;
  const std::string path = std::string("expect.") + kMotion;
  if (names.empty()) {
    throw base::InputError(path, "no point is named, so there is no motion to state",
                           "write [structure.point.tip] with at = ...",
                           document.spot_of_key(*stated));
  }
  const std::string example = fmt::format("write motion = {{ {} = \"cos(t)\" }}", names[0]);
  const int dofs = static_cast<int>(names.size());
  std::vector<formula::NodeId> nodes(names.size(), -1);
  const auto take = [&](int i, const Value& value, const std::string& key,
                        const formula::Locals& locals) {
    formulas.expect(value, key, formulas.dimension_of(i), "its coordinate");
    const formula::NodeId node = formulas.formula(value, key, Speaks::Position, locals);
    constexpr int kFirst = model::FormulaSystem::kTimeSlot + 1;
    if (formulas.graph().depends_on(node, kFirst, kFirst + dofs)) {
      throw base::InputError(key, "is made of coordinates; a stated motion is made of time",
                             "use t, parameters, and definitions made of them",
                             document.spot_of(value));
    }
    nodes[static_cast<std::size_t>(i)] = node;
  };
  CoordinateValues(document, groups).for_each(*stated, path, example, take);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= 0) continue;
    throw base::InputError(path + "." + names[i], "is missing",
                           "state the motion of every coordinate", document.spot_of_key(*stated));
  }
  return formulas.guarded(*stated, path, [&] {
    return std::make_shared<const ClosedForm>(formulas.graph(), nodes,
                                              model::FormulaSystem::kTimeSlot);
  });
}

/// What is said of the rows of the run, by formulas whose coordinates are those of the rows.
void read_about_rows(const Document& document, const Tables& tables, FormulaReader& formulas,
                     const std::vector<CoordinateGroup>& groups, Scene& scene) {
  scene.plot.rows_are_sums = scene.run.record_every != 1;
  scene.expectations = read_expectations(document, tables.expect, formulas, fact_names(scene));
  if (tables.plot != nullptr) {
    scene.plot = PlotReader(document, formulas, scene.columns, scene.plot).read(*tables.plot);
  }
  scene.record = read_record(document, tables.record, formulas, scene.columns);
  scene.closed_form =
      read_closed_form(document, tables.expect, formulas, groups, scene.columns.coordinates);
}

/// To be asked before formulas of rows are read, which say nothing of the motion.
std::shared_ptr<const Slots> slots_of(const FormulaReader& formulas, const RunReader& runs,
                                      const SystemReader& system) {
  Slots slots;
  slots.start = runs.start_slots();
  slots.period = system.period_node();
  slots.has_period = system.has_period();
  slots.count = formulas.found_slots();
  if (slots.count > 0) slots.graph = formulas.graph();
  return std::make_shared<const Slots>(std::move(slots));
}

void read_system(const Document& document, TableReader& root,
                 std::shared_ptr<const model::Outside> outside,
                 const std::vector<std::string>& slots, Scene& scene) {
  FormulaReader formulas(document);
  formulas.open_slots(slots);
  SystemPart part;
  part.outside = outside;
  SystemReader system(document, formulas, std::move(outside));
  system.read(root);
  const Tables tables(root);
  RunReader runs(document, formulas);
  scene.scheme = runs.read_scheme(tables.run);
  system.check_laws(scene.scheme);
  scene.dynamics.period = system.period();
  read_dynamics(document, formulas, system.groups(), system.contact_names(), tables.section,
                tables.sweep, scene.dynamics);
  const std::shared_ptr<model::FormulaModel> model = system.build();
  if (system.has_period()) check_period(document, model->system(), system.period());
  part.model = model;
  part.groups = system.groups();
  part.definitions = formulas.definitions();
  scene.parameters = formulas.parameters();
  scene.run = runs.read_run(tables.run, scene.scheme, scene.warnings);
  scene.names_scheme = names_scheme(tables);
  scene.warnings.insert(scene.warnings.end(), system.warnings().begin(), system.warnings().end());
  scene.start = runs.read_start(tables.start, system.own_groups(), system.free_bodies(), *model,
                                scene.run, scene.warnings);
  scene.slots = slots_of(formulas, runs, system);
  scene.columns = step::columns_of(*model);
  std::vector<std::string> units;
  if (formulas.has_units()) {
    for (const std::string& name : scene.columns.coordinates) {
      units.push_back(formulas.unit_of(name));
    }
    units.push_back(formulas.unit_of("t"));
  }
  scene.plot = default_plan(bare_plan(scene.columns, angles_of(*model), std::move(units)));
  const std::vector<CoordinateGroup> groups = part.groups;
  scene.part = std::move(part);
  read_about_rows(document, tables, formulas, groups, scene);
}

/// Tables that belong to the other kinds of scene.
void refuse_tables_of_systems(const Document& document, TableReader& root, const char* kind) {
  for (const char* key : {"system", "contact", "friction", "hold", "roll", "section", "sweep"}) {
    if (const Value* value = root.find(key)) {
      throw base::InputError(key, fmt::format("stands beside [{}]", kind),
                             "a scene is a system with contacts, a structure with guides, or a "
                             "world of bodies",
                             document.spot_of_key(*value));
    }
  }
}

bool has_rough_guides(const Value& structure) {
  const Value* guides = structure.find("guide");
  return guides != nullptr &&
         std::any_of(guides->entries.begin(), guides->entries.end(),
                     [](const auto& guide) { return guide.second.find("friction") != nullptr; });
}

void read_structure(const Document& document, TableReader& root, Scene& scene) {
  refuse_tables_of_systems(document, root, "structure");
  const Value& table = *root.table("structure");
  const Tables tables(root);
  FormulaReader formulas(document);  // of t and the abscissa x
  StructurePart part;
  StructureReader reader(document, formulas);
  reader.read_parameters(table);
  RunReader runs(document, formulas);
  scene.scheme = runs.read_scheme(tables.run, true, has_rough_guides(table));
  scene.run = runs.read_run(tables.run, scene.scheme, scene.warnings, true);
  scene.names_scheme = names_scheme(tables);
  reader.read(table, scene.scheme, scene.run, part);
  reader.read_start(tables.start, scene.run, part);
  scene.parameters = formulas.parameters();
  scene.columns = step::columns_of(*part.model);
  scene.start.t = part.start.t;
  scene.start.q = part.model->at_points(part.start.q);
  scene.start.u = part.model->at_points(part.start.u);
  PlotPlan rows = bare_plan(scene.columns);
  rows.has_walls = false;
  scene.plot = history_plan(rows);
  scene.part = std::move(part);
  FormulaReader of_rows(document);
  if (const Value* parameters = table.find("parameters")) {
    of_rows.add_parameters(*parameters, "structure.parameters");
  }
  std::vector<CoordinateGroup> groups;
  for (const std::string& point : scene.columns.coordinates) {
    groups.push_back({.name = point, .begin = static_cast<int>(groups.size())});
  }
  of_rows.add_coordinates(groups);
  read_about_rows(document, tables, of_rows, groups, scene);
}

/// Formulas of the rows of bodies: places by name, parameters, definitions of t.
void read_about_bodies(const Document& document, const Value& table, const Tables& tables,
                       Scene& scene) {
  FormulaReader of_rows(document);
  if (const Value* parameters = table.find("parameters")) {
    of_rows.add_parameters(*parameters, "world.parameters");
  }
  std::vector<CoordinateGroup> groups;
  for (const std::string& name : scene.columns.coordinates) {
    groups.push_back({.name = name, .begin = static_cast<int>(groups.size())});
  }
  of_rows.add_coordinates(groups);
  if (const Value* define = table.find("define")) of_rows.add_definitions(*define, "world.define");
  read_about_rows(document, tables, of_rows, groups, scene);
}

/// Where the bodies that are told begin.
template <int D>
void set_start(const body::World<D>& world, const std::vector<int>& told, Scene& scene) {
  scene.start.t = scene.run.start_time;
  const auto size = static_cast<Eigen::Index>(scene.columns.coordinates.size());
  scene.start.q.resize(size);
  scene.start.u.resize(size);
  Eigen::Index at = 0;
  for (const int i : told) {
    body::Motion<D> place = world.body(i).start;
    if (world.body(i).drive) world.body(i).drive(scene.start.t, place);
    const auto places = body::places_of(place);
    const auto rates = body::rates_of(place);
    for (std::size_t k = 0; k < places.size(); ++k, ++at) {
      scene.start.q[at] = places[k];
      scene.start.u[at] = rates[k];
    }
  }
}

template <int D>
void read_bodies(const Document& document, TableReader& root, Scene& scene) {
  FormulaReader formulas(document);
  WorldReader<D> reader(document, formulas);
  WorldPart part;
  reader.read_names(root);
  reader.read(root, part);
  reader.read_watches(root.table("watch"), part);
  const Tables tables(root);
  RunReader runs(document, formulas);
  scene.scheme = runs.read_scheme(tables.run);
  reader.check_run(tables.run, scene.scheme);
  scene.run = runs.read_run(tables.run, scene.scheme, scene.warnings);
  reader.read_stop(tables.run, part);
  reader.read_write(root, scene.run.step, part);
  scene.names_scheme = names_scheme(tables);
  reader.check_start(tables.start, scene.run.start_time, part);
  scene.parameters = formulas.parameters();
  scene.columns = columns_of(part);
  part.visit([&](const auto& world) { set_start(world, part.told, scene); });
  PlotPlan rows = bare_plan(scene.columns);
  rows.has_walls = false;
  scene.plot = history_plan(rows);
  scene.part = std::move(part);
  read_about_bodies(document, *document.root().find("world"), tables, scene);
}

void read_world(const Document& document, TableReader& root, Scene& scene) {
  refuse_tables_of_systems(document, root, "world");
  if (dimension_of(document, root) == 2) return read_bodies<2>(document, root, scene);
  read_bodies<3>(document, root, scene);
}

std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return text;
}

Scene read_document(const Document& document, std::shared_ptr<const model::Outside> outside,
                    const std::vector<std::string>& slots = {}) {
  TableReader root(document, document.root(), "");
  Scene scene;
  scene.file = document.file();
  scene.name = stem_of(scene.file);
  scene.text = document.text();
  scene.title = in_one_line(root.text("title").value_or(scene.name));
  scene.source = in_one_line(root.text("source").value_or(""));
  scene.notes = root.text("notes").value_or("");
  (void)root.find("family");  // read before: its first member is in the document
  try {
    if (root.find("structure") != nullptr) {
      read_structure(document, root, scene);
    } else if (root.find("world") != nullptr && root.find("system") == nullptr) {
      read_world(document, root, scene);
    } else {
      read_system(document, root, std::move(outside), slots, scene);
    }
  } catch (const formula::GraphTooLarge& error) {
    throw base::InputError("", error.what(), "split the system into smaller ones",
                           {scene.file, 0, 0, 1, ""});
  }
  return scene;
}

}  // namespace

// Compiled once, and not wherever a scene is copied.
Scene::Scene() = default;
Scene::Scene(const Scene& other) = default;
Scene::Scene(Scene&& other) noexcept = default;
Scene& Scene::operator=(const Scene& other) = default;
Scene& Scene::operator=(Scene&& other) noexcept = default;
Scene::~Scene() = default;

Override parse_override(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw base::InputError("--set " + argument, "is not of the form name=value",
                           "write for example --set R=20 or --set run.step=0.001");
  }
  return {base::trimmed(argument.substr(0, equals)), base::trimmed(argument.substr(equals + 1)),
          argument};
}

Scene read_scene(const std::string& file, const std::string& text,
                 const std::vector<Override>& overrides,
                 std::shared_ptr<const model::Outside> outside,
                 const std::vector<std::string>& slots) {
  Document document(file, text);
  apply_overrides(document, overrides);
  const Family family = read_family(document, overrides);
  if (family.empty()) return read_document(document, std::move(outside), slots);
  try {
    apply_overrides(document, family.member(0));
    Scene scene = read_document(document, std::move(outside));
    scene.family = family;
    return scene;
  } catch (const base::InputError& error) {
    throw blame_member(error, document, family, 0);
  }
}

Scene read_member(const Scene& scene, const std::vector<Override>& overrides, std::size_t member) {
  std::vector<Override> all = overrides;
  for (Override& change : scene.family.member(member)) all.push_back(std::move(change));
  try {
    const SystemPart* system = std::get_if<SystemPart>(&scene.part);
    Scene found = read_scene(scene.file, scene.text, all, system ? system->outside : nullptr);
    found.run.backward = scene.run.backward;
    return found;
  } catch (const base::InputError& error) {
    throw blame_member(error, Document(scene.file, scene.text), scene.family, member);
  }
}

std::vector<std::string> fact_names(const Scene& scene) {
  const step::Columns& columns = scene.columns;
  std::vector<std::string> names = {
      "energy.start",       "energy.end",    "energy.lowest",   "energy.highest",
      "energy.kinetic_max", "energy.forces", "energy.contacts", "energy.shocks",
      "energy.friction",    "violation.max", "violation.mean",  "violation.rms",
      "residual.max",       "steps"};
  for (std::size_t a = 0; a < columns.contacts.size(); ++a) {
    const std::string& contact = columns.contacts[a];
    names.push_back(contact + ".gap");
    if (a + static_cast<std::size_t>(columns.joints) < columns.contacts.size()) {
      names.push_back(contact + ".shocks");
    }
    if (columns.slips_of(a) == 0) continue;
    for (const char* figure : {".stick_time", ".slip_time", ".dissipated", ".tangential_shocks"}) {
      names.push_back(contact + figure);
    }
  }
  if (const WorldPart* world = scene.world()) {
    names.emplace_back("joint.max");
    names.insert(names.end(), columns.watches.begin(), columns.watches.end());
    for (const FigureName& figure : figure_names(*world)) {
      const bool is_told = std::binary_search(world->told.begin(), world->told.end(), figure.body);
      if (!figure.is_place || !is_told) names.push_back(figure.name);  // others are in rows
    }
  }
  if (scene.structure() == nullptr) return names;
  for (const char* name : {"energy.loads", "energy.damping", "energy.closure", "average.gap"}) {
    names.emplace_back(name);
  }
  for (const std::string& point : columns.coordinates) {
    for (const char* figure : {".rms", ".lowest", ".highest", ".frequency"}) {
      names.push_back(point + figure);
    }
  }
  for (const structure::Guide& guide : scene.structure()->model->guides) {
    for (const char* figure : {".impacts", ".rate", ".contact_ratio", ".impulse", ".impulse_max",
                               ".force_max", ".work_normal", ".work_sliding", ".first", ".last"}) {
      names.push_back(guide.name + figure);
    }
  }
  return names;
}

}  // namespace ricochet::scene
