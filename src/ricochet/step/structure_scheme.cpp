#include "ricochet/step/structure_scheme.h"

#include <fmt/format.h>

#include <algorithm>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::step {
namespace {

constexpr std::string_view kStiffness = "stiffness";

/// In the order of StructureScheme.
const std::vector<SchemeInfo>& infos() {
  static const std::vector<SchemeInfo> all = [] {
    std::vector<SchemeInfo> found = {kNewmark};
    for (const SchemeInfo* info : all_schemes()) {
      if (!info->runs_structures) continue;
      SchemeInfo& own = found.emplace_back(*info);
      const bool has_spring = own.settings.size() == 1 && own.settings[0].name == kStiffness;
      if (!has_spring) own.settings = {};
      own.is_staggered = false;
      own.gains_by_correction = false;
    }
    return found;
  }();
  return all;
}

}  // namespace

std::vector<std::string> structure_scheme_names() {
  std::vector<std::string> names;
  for (const SchemeInfo& info : infos()) names.emplace_back(info.name);
  return names;
}

Scheme make_structure_scheme(const std::string& name) {
  for (const SchemeInfo& info : infos()) {
    if (info.name == name) return Scheme(info);
  }
  const std::vector<std::string> known = structure_scheme_names();
  std::string remedy = fmt::format("a structure is run by {}", base::list_names(known));
  if (const auto near = base::nearest_name(name, known)) {
    remedy = fmt::format("did you mean '{}'? {}", *near, remedy);
  }
  throw base::InputError("run.scheme", fmt::format("'{}' does not run structures", name), remedy);
}

StructureSettings structure_settings(const Scheme& scheme) {
  const auto found = std::find_if(infos().begin(), infos().end(), [&](const SchemeInfo& info) {
    return info.name == scheme.info().name;
  });
  return {static_cast<StructureScheme>(found - infos().begin()), scheme.value(kStiffness)};
}

}  // namespace ricochet::step
