#include "ricochet/step/columns.h"

#include "ricochet/model/formula_model.h"
#include "ricochet/structure/linear_structure.h"

namespace ricochet::step {

Columns columns_of(const model::FormulaModel& model) {
  Columns columns{model.coordinates(), model.contact_names(), model.has_potential()};
  columns.joints = model.joints();
  if (!model.has_friction()) return columns;
  for (int a = 0; a < model.contacts(); ++a) columns.slips.push_back(model.slips(a));
  return columns;
}

Columns columns_of(const structure::LinearStructure& structure) {
  Columns columns;
  columns.has_potential = true;
  for (const structure::Point& point : structure.points) columns.coordinates.push_back(point.name);
  bool rubs = false;
  for (const structure::ContactSide& side : structure::sides_of(structure)) {
    columns.contacts.push_back(structure::name_of(side, structure));
    columns.slips.push_back(structure.guides[side.guide].friction > 0.0 ? 1 : 0);
    rubs = rubs || columns.slips.back() > 0;
  }
  if (!rubs) columns.slips.clear();
  return columns;
}

std::vector<std::string> names_of(const Columns& columns) {
  std::vector<std::string> names = {"t"};
  for (const std::string& name : columns.coordinates) names.push_back(name);
  for (const std::string& name : columns.coordinates) names.push_back("d_" + name);
  for (std::size_t a = 0; a < columns.contacts.size(); ++a) {
    const std::string& name = columns.contacts[a];
    names.push_back(name + ".gap");
    names.push_back(name + ".impulse_n");
    const int slips = columns.slips_of(a);
    for (const char* what : {".impulse_t", ".slip"}) {
      for (int j = 1; j <= slips; ++j) {
        names.push_back(name + what + (slips > 1 ? std::to_string(j) : ""));
      }
    }
    if (slips > 0) names.push_back(name + ".state");
  }
  names.emplace_back("energy.kinetic");
  if (columns.has_potential) names.emplace_back("energy.potential");
  names.insert(names.end(), columns.watches.begin(), columns.watches.end());
  return names;
}

}  // namespace ricochet::step
