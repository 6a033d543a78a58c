#include "ricochet/step/structure_scheme.h"

#include <fmt/format.h>

#include <array>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::step {
namespace {

constexpr std::array kNames = {"newmark", "moreau", "mabrouk", "penalty"};

}  // namespace

std::vector<std::string> structure_scheme_names() { return {kNames.begin(), kNames.end()}; }

std::string name_of(StructureScheme scheme) { return kNames[static_cast<std::size_t>(scheme)]; }

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
