#include "ricochet/step/structure_scheme.h"

#include <fmt/format.h>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::step {
namespace {

/// In the order of StructureScheme.
const std::vector<const SchemeInfo*>& infos() {
  static const std::vector<const SchemeInfo*> all = [] {
    std::vector<const SchemeInfo*> found = {&kNewmark};
    for (const SchemeInfo* info : all_schemes()) {
      if (info->runs_structures) found.push_back(info);
    }
    return found;
  }();
  return all;
}

}  // namespace

std::vector<std::string> structure_scheme_names() {
  std::vector<std::string> names;
  for (const SchemeInfo* info : infos()) names.emplace_back(info->name);
  return names;
}

std::string name_of(StructureScheme scheme) {
  return std::string(infos()[static_cast<std::size_t>(scheme)]->name);
}

StructureScheme make_structure_scheme(const std::string& name) {
  const std::vector<std::string> known = structure_scheme_names();
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (known[k] == name) return static_cast<StructureScheme>(k);
  }
  std::string remedy = fmt::format("a structure is run by {}", base::list_names(known));
  if (const auto near = base::nearest_name(name, known)) {
    remedy = fmt::format("did you mean '{}'? {}", *near, remedy);
  }
  throw base::InputError("run.scheme", fmt::format("'{}' does not run structures", name), remedy);
}

bool has_friction(StructureScheme scheme) {
  return scheme == StructureScheme::Newmark || scheme == StructureScheme::Moreau;
}

}  // namespace ricochet::step
