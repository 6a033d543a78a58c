#include "ricochet/scene/structure_scene.h"

#include <algorithm>

#include "ricochet/base/error.h"
#include "ricochet/scene/document.h"
#include "ricochet/scene/expectations.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/run_reader.h"
#include "ricochet/scene/structure_reader.h"
#include "ricochet/scene/table_reader.h"

namespace ricochet::scene {
namespace {

/// Tables that belong to the other kind of scene.
void refuse_others(const Document& document, TableReader& root) {
  for (const char* key : {"system", "contact", "hold"}) {
    if (const Value* value = root.find(key)) {
      throw base::InputError(key, "stands beside [structure]",
                             "a scene is a system with contacts, or a structure with guides",
                             document.spot_of_key(*value));
    }
  }
  for (const char* key : {"family", "plot"}) {
    if (const Value* value = root.find(key)) {
      throw base::InputError(key, "is not for structures",
                             std::string(key) == "plot"
                                 ? "pictures of structures are chosen by the program; remove it"
                                 : "run the members one by one with --set",
                             document.spot_of_key(*value));
    }
  }
}

}  // namespace

bool has_structure(const std::string& file, const std::string& text) {
  try {
    return Document(file, text).root().find("structure") != nullptr;
  } catch (const base::InputError&) {
    return false;
  }
}

StructureScene read_structure_scene(const std::string& file, const std::string& text,
                                    const std::vector<Override>& overrides) {
  Document document(file, text);
  apply_overrides(document, overrides);
  TableReader root(document, document.root(), "");
  StructureScene scene;
  scene.file = file;
  scene.name = stem_of(file);
  scene.title = root.text("title").value_or(scene.name);
  scene.source = root.text("source").value_or("");
  scene.notes = root.text("notes").value_or("");
  refuse_others(document, root);
  const Value* structure = root.table("structure");
  const Value* start = root.table("start");
  const Value* run = root.table("run");
  const Value* expect = root.table("expect");
  root.finish();
  FormulaReader formulas(document);
  scene.shapes = 24;
  StructureReader reader(document, formulas);
  reader.read_parameters(*structure);
  scene.run = RunReader(document, formulas).read_structure_run(run, scene.settings);
  reader.read(*structure, scene);
  reader.read_start(start, scene);
  scene.parameters = formulas.parameters();
  scene.expectations = read_expectations(document, expect, formulas, fact_names(*scene.model));
  return scene;
}

std::vector<std::string> fact_names(const structure::LinearStructure& model) {
  std::vector<std::string> names = {
      "energy.start",   "energy.end",     "energy.lowest",   "energy.highest", "energy.forces",
      "energy.loads",   "energy.damping", "energy.contacts", "energy.shocks",  "energy.friction",
      "energy.closure", "violation.max",  "residual.max",    "average.gap",    "steps"};
  for (const structure::Point& point : model.points) {
    names.push_back(point.name);
    names.push_back(point.name + "'");
    for (const char* figure : {".rms", ".lowest", ".highest", ".frequency"}) {
      names.push_back(point.name + figure);
    }
  }
  for (const structure::ContactSide& side : structure::sides_of(model)) {
    names.push_back(structure::name_of(side, model) + ".gap");
    names.push_back(structure::name_of(side, model) + ".shocks");
  }
  for (const structure::Guide& guide : model.guides) {
    for (const char* figure : {".impacts", ".rate", ".contact_ratio", ".impulse", ".impulse_max",
                               ".force_max", ".work_normal", ".work_sliding", ".first", ".last"}) {
      names.push_back(guide.name + figure);
    }
  }
  return names;
}

}  // namespace ricochet::scene
