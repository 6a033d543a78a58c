#pragma once

#include <string>
#include <vector>

namespace ricochet::model {
class FormulaModel;
}
namespace ricochet::structure {
struct LinearStructure;
}

namespace ricochet::step {

/// What the numbers of a sample are called, so that those who tell of runs need not know of what.
struct Columns {
  std::vector<std::string> coordinates;
  std::vector<std::string> contacts;  // joints come last
  bool has_potential{false};
  std::vector<int> slips{};  // tangential directions by contact, 0 to 2; empty: no friction at all
  int joints{0};
  std::vector<std::string> watches{};  // further numbers, the last of a row

  int slips_of(std::size_t contact) const { return contact < slips.size() ? slips[contact] : 0; }
  bool has_friction() const { return !slips.empty(); }
};

Columns columns_of(const model::FormulaModel& model);

/// Points for coordinates, sides of guides for contacts.
Columns columns_of(const structure::LinearStructure& structure);

/// The columns of a trajectory in their order: t, coordinates, d_<coordinate>, <contact>.gap,
/// <contact>.impulse_n, energy.kinetic, energy.potential if there is one, watches. A contact with
/// friction adds impulse_t, slip (with 1 and 2 in space) and state: 0 free, 1 stick, 2 slip,
/// 3 shock.
std::vector<std::string> names_of(const Columns& columns);

}  // namespace ricochet::step
