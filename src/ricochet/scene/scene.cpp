#include "ricochet/scene/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/scene/coordinate_values.h"
#include "ricochet/scene/document.h"
#include "ricochet/scene/expectations.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/plot_reader.h"
#include "ricochet/scene/run_reader.h"
#include "ricochet/scene/system_reader.h"
#include "ricochet/scene/table_reader.h"

namespace ricochet::scene {
namespace {

/// expect.motion: every coordinate as a formula of t.
std::shared_ptr<const ClosedForm> read_closed_form(const Document& document, const Value* table,
                                                   FormulaReader& formulas, const Scene& scene) {
  const Value* stated = table == nullptr ? nullptr : table->find(kMotion);
  if (stated == nullptr) return nullptr;
  const std::string path = std::string("expect.") + kMotion;
  const std::string example =
      fmt::format("write motion = {{ {} = \"cos(t)\" }}", scene.model->coordinates()[0]);
  const int dofs = scene.model->dofs();
  std::vector<formula::NodeId> nodes(static_cast<std::size_t>(dofs), -1);
  const auto take = [&](int i, const Value& value, const std::string& key,
                        const formula::Locals& locals) {
    const formula::NodeId node = formulas.formula(value, key, Speaks::Position, locals);
    constexpr int kFirst = model::FormulaSystem::kTimeSlot + 1;
    if (formulas.graph().depends_on(node, kFirst, kFirst + dofs)) {
      throw base::InputError(key, "is made of coordinates; a stated motion is made of time",
                             "use t, parameters, and definitions made of them",
                             document.spot_of(value));
    }
    nodes[static_cast<std::size_t>(i)] = node;
  };
  CoordinateValues(document, scene.groups).for_each(*stated, path, example, take);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= 0) continue;
    throw base::InputError(path + "." + scene.model->coordinates()[i], "is missing",
                           "state the motion of every coordinate", document.spot_of_key(*stated));
  }
  return formulas.guarded(*stated, path, [&] {
    return std::make_shared<const ClosedForm>(formulas.graph(), nodes,
                                              model::FormulaSystem::kTimeSlot);
  });
}

Scene read_document(const Document& document, std::shared_ptr<const model::Outside> outside) {
  TableReader root(document, document.root(), "");

  Scene scene;
  scene.file = document.file();
  scene.name = stem_of(scene.file);
  scene.text = document.text();
  scene.title = root.text("title").value_or(scene.name);
  scene.source = root.text("source").value_or("");
  scene.notes = root.text("notes").value_or("");
  (void)root.find("family");  // read before: its first member is in the document
  if (const Value* structure = root.find("structure")) {
    throw base::InputError("structure", "is not what this command works on",
                           "structures are for run, check, converge and compare",
                           document.spot_of_key(*structure));
  }

  FormulaReader formulas(document);
  scene.outside = outside;
  SystemReader system(document, formulas, std::move(outside));
  system.read(root);
  const Value* start = root.table("start");
  const Value* run = root.table("run");
  const Value* expect = root.table("expect");
  const Value* plot = root.table("plot");
  root.finish();

  RunReader runs(document, formulas);
  scene.scheme = runs.read_scheme(run);
  system.check_laws(scene.scheme);
  const std::shared_ptr<model::FormulaModel> model = system.build();
  scene.model = model;
  scene.groups = system.groups();
  scene.parameters = formulas.parameters();
  scene.definitions = formulas.definitions();
  scene.run = runs.read_run(run, scene.scheme);
  scene.start = runs.read_start(start, scene.groups, *model, scene.run, scene.warnings);
  scene.expectations = read_expectations(document, expect, formulas, fact_names(*scene.model));
  scene.plot = PlotReader(document, formulas, *scene.model).read(plot);
  scene.closed_form = read_closed_form(document, expect, formulas, scene);
  return scene;
}

}  // namespace

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
                 std::shared_ptr<const model::Outside> outside) {
  Document document(file, text);
  apply_overrides(document, overrides);
  const Family family = read_family(document, overrides);
  if (family.empty()) return read_document(document, std::move(outside));
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
    Scene found = read_scene(scene.file, scene.text, all, scene.outside);
    found.run.backward = scene.run.backward;
    return found;
  } catch (const base::InputError& error) {
    throw blame_member(error, Document(scene.file, scene.text), scene.family, member);
  }
}

std::vector<std::string> fact_names(const model::FormulaModel& model) {
  std::vector<std::string> names = {
      "energy.start",       "energy.end",    "energy.lowest",   "energy.highest",
      "energy.kinetic_max", "energy.forces", "energy.contacts", "energy.shocks",
      "energy.friction",    "violation.max", "violation.mean",  "violation.rms",
      "residual.max",       "steps"};
  for (int a = 0; a < model.contacts(); ++a) {
    const std::string& contact = model.contact_names()[static_cast<std::size_t>(a)];
    names.push_back(contact + ".gap");
    if (a < model.contacts() - model.joints()) names.push_back(contact + ".shocks");
    if (model.slips(a) == 0) continue;
    for (const char* figure : {".stick_time", ".slip_time", ".dissipated", ".tangential_shocks"}) {
      names.push_back(contact + figure);
    }
  }
  return names;
}

}  // namespace ricochet::scene
