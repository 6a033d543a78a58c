#include "ricochet/scene/system_reader.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numeric>

#include "ricochet/base/random.h"
#include "ricochet/base/text.h"
#include "ricochet/formula/derivative.h"

namespace ricochet::scene {
namespace {

using formula::NodeId;

constexpr const char* kNoFriction = "this version runs billiard, elast and inel without friction";

/// A kinetic energy is quadratic when 2 T = u^T M u; tested at random states, since an identity may
/// hold that no simplification shows.
bool is_quadratic(const formula::Graph& graph, NodeId kinetic, const Eigen::MatrixXd& mass) {
  base::Random random(1);
  const auto n = static_cast<std::size_t>(mass.rows());
  for (int trial = 0; trial < 8; ++trial) {
    std::vector<double> inputs(1 + 2 * n, 0.0);
    Eigen::VectorXd u(mass.rows());
    for (double& input : inputs) input = random.uniform(-2.0, 2.0);
    for (std::size_t i = 0; i < n; ++i) u[static_cast<Eigen::Index>(i)] = inputs[1 + n + i];
    const double expected = 0.5 * u.dot(mass * u);
    const double size = 0.5 * u.cwiseAbs().dot(mass.cwiseAbs() * u.cwiseAbs());
    const double given = graph.evaluate(kinetic, inputs);
    if (!(std::abs(given - expected) <= 1e-9 * (size + std::abs(given)))) return false;
  }
  return true;
}

}  // namespace

void SystemReader::read(TableReader& root) {
  const Value& table = root.require("system", "write [system] with coordinates and kinetic");
  root.table("system");
  TableReader system(document_, table, "system");
  if (const Value* parameters = system.table("parameters")) formulas_.add_parameters(*parameters);
  read_coordinates(system);
  if (const Value* definitions = system.table("define")) formulas_.add_definitions(*definitions);
  read_mass(system);
  read_forces(system);
  system.not_yet({"damping"}, "write it as a force, which may use velocities");
  system.finish();
  if (const Value* contacts = root.table("contact")) {
    for (const auto& [name, contact] : contacts->entries) read_contact(name, contact);
  }
}

void SystemReader::read_coordinates(TableReader& system) {
  const Value& value =
      system.require("coordinates", "list their names, for example coordinates = [\"x\", \"y\"]");
  if (value.kind != Value::Kind::Array || value.items.empty()) {
    system.fail(value, "coordinates", "must be a list of at least one name",
                "write for example coordinates = [\"x\", \"y\"]");
  }
  for (const Value& item : value.items) {
    if (item.kind != Value::Kind::Text) {
      system.fail(item, "coordinates", fmt::format("a name is a string, not {}", item.kind_name()),
                  "put each name in double quotes");
    }
    if (item.text.find('[') != std::string::npos) {
      system.fail(item, "coordinates", "indexed coordinates are not available in this version",
                  "list the coordinates one by one");
    }
    formulas_.check_new_name(item.text, "system.coordinates", item);
    const auto& names = system_.coordinates;
    if (std::find(names.begin(), names.end(), item.text) != names.end()) {
      system.fail(item, "coordinates", fmt::format("the name '{}' is used twice", item.text),
                  "choose another name for one of them");
    }
    system_.coordinates.push_back(item.text);
  }
  formulas_.add_coordinates(system_.coordinates);
}

void SystemReader::read_mass(TableReader& system) {
  const Value* kinetic = system.find("kinetic");
  const Value* mass = system.find("mass");
  if (kinetic != nullptr && mass != nullptr) {
    system.fail(*mass, "mass", "is given twice: by kinetic and by mass", "keep one of the two");
  }
  if (kinetic == nullptr && mass == nullptr) {
    system.require("kinetic", "write kinetic = \"0.5*x'^2\" or mass = [1]");
  }
  if (kinetic != nullptr) {
    read_kinetic(*kinetic);
  } else {
    read_mass_numbers(*mass);
  }
}

void SystemReader::read_mass_numbers(const Value& value) {
  const auto n = static_cast<Eigen::Index>(system_.coordinates.size());
  const auto fail = [&](const Value& at, const std::string& message) {
    throw base::InputError(
        "system.mass", message,
        fmt::format("write a list of {} masses, or {} lists of {} numbers", n, n, n),
        document_.spot_of(at));
  };
  if (value.kind != Value::Kind::Array) fail(value, "must be a list");
  if (static_cast<Eigen::Index>(value.items.size()) != n) {
    fail(value, fmt::format("has {} entries for {} coordinates", value.items.size(), n));
  }
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(n, n);
  const bool full = value.items[0].kind == Value::Kind::Array;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Value& row = value.items[static_cast<std::size_t>(i)];
    if (!full) {
      mass(i, i) = formulas_.number(row, "system.mass");
      continue;
    }
    if (row.kind != Value::Kind::Array || static_cast<Eigen::Index>(row.items.size()) != n) {
      fail(row, fmt::format("row {} must be a list of {} numbers", i + 1, n));
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      mass(i, j) = formulas_.number(row.items[static_cast<std::size_t>(j)], "system.mass");
    }
  }
  check_mass(mass, !full, "system.mass", value);
}

/// M = d2T/du2. Deviation from what is to come: the mass must not depend on the configuration.
void SystemReader::read_kinetic(const Value& value) {
  formula::Graph& graph = formulas_.graph();
  const NodeId kinetic = formulas_.formula(value, "system.kinetic", Speaks::Velocity);
  const int n = static_cast<int>(system_.coordinates.size());
  std::vector<int> slots(static_cast<std::size_t>(n));
  std::iota(slots.begin(), slots.end(), system_.velocity_slot(0));
  Eigen::MatrixXd mass(n, n);
  const auto fail = [&](const std::string& message, const std::string& remedy) {
    throw base::InputError("system.kinetic", message, remedy, document_.spot_of(value));
  };
  formulas_.guarded(value, "system.kinetic", [&] {
    const std::vector<NodeId> momenta = formula::gradient(graph, kinetic, slots);
    for (int i = 0; i < n; ++i) {
      const std::vector<NodeId> row =
          formula::gradient(graph, momenta[static_cast<std::size_t>(i)], slots);
      for (int j = 0; j < n; ++j) {
        const NodeId entry = row[static_cast<std::size_t>(j)];
        const auto& names = system_.coordinates;
        const auto pair = fmt::format("{}' {}'", names[static_cast<std::size_t>(i)],
                                      names[static_cast<std::size_t>(j)]);
        if (graph.depends_on(entry, system_.velocity_slot(0), system_.velocity_slot(n))) {
          fail(fmt::format("is not quadratic in the velocities: its part in {} is not", pair),
               "write one half of a sum of masses times products of two velocities");
        }
        if (!graph.is_constant(entry)) {
          fail(fmt::format("the coefficient of {} depends on the configuration or on time", pair),
               "this version needs a constant mass; choose coordinates in which it is");
        }
        mass(i, j) = graph[entry].value;
      }
    }
  });
  if (!is_quadratic(graph, kinetic, mass)) {
    fail("is not quadratic in the velocities", "it has terms without two velocities; remove them");
  }
  const Eigen::MatrixXd off = mass - Eigen::MatrixXd(mass.diagonal().asDiagonal());
  check_mass(mass, off.isZero(0.0), "system.kinetic", value);
}

void SystemReader::check_mass(const Eigen::MatrixXd& mass, bool diagonal, const std::string& key,
                              const Value& value) {
  const auto& names = system_.coordinates;
  const auto fail = [&](const std::string& message, const std::string& remedy) {
    throw base::InputError(key, message, remedy, document_.spot_of(value));
  };
  for (Eigen::Index i = 0; i < mass.rows(); ++i) {
    const std::string& name = names[static_cast<std::size_t>(i)];
    if (!(mass(i, i) > 0.0)) {
      fail(fmt::format("the mass of '{}' is {}", name, mass(i, i)),
           "every coordinate needs a positive mass");
    }
    for (Eigen::Index j = 0; j < i; ++j) {
      const double difference = std::abs(mass(i, j) - mass(j, i));
      if (difference > 1e-12 * std::sqrt(mass(i, i) * mass(j, j))) {
        fail(fmt::format("the mass matrix is not symmetric: entries ({0}, {1}) and ({1}, {0}) are "
                         "{2} and {3}",
                         i + 1, j + 1, mass(i, j), mass(j, i)),
             "make the two entries equal");
      }
    }
  }
  system_.mass = diagonal ? convex::Metric<convex::kDynamic>::diagonal(mass.diagonal())
                          : convex::Metric<convex::kDynamic>::full(mass);
  if (system_.mass.is_valid()) return;
  const double lowest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(mass).eigenvalues()[0];
  fail(fmt::format("the mass matrix is not positive definite: its least eigenvalue is {:.3g}",
                   lowest),
       "a velocity must never have a kinetic energy of zero or less");
}

void SystemReader::read_forces(TableReader& system) {
  if (const Value* potential = system.find("potential")) {
    system_.potential = formulas_.formula(*potential, "system.potential", Speaks::Position);
  }
  const Value* force = system.find("force");
  if (force == nullptr) return;
  const std::size_t n = system_.coordinates.size();
  system_.forces.assign(n, formulas_.graph().constant(0.0));
  if (force->kind == Value::Kind::Table) {
    for (const auto& [name, value] : force->entries) {
      const auto& names = system_.coordinates;
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        throw base::InputError("system.force." + name, "is no coordinate",
                               fmt::format("coordinates: {}", base::list_names(names)),
                               document_.spot_of_key(value));
      }
      system_.forces[static_cast<std::size_t>(found - names.begin())] =
          formulas_.formula(value, "system.force." + name, Speaks::Velocity);
    }
    return;
  }
  if (force->kind != Value::Kind::Array || force->items.size() != n) {
    system.fail(*force, "force", fmt::format("must be a list of {} formulas", n),
                "give one for each coordinate, or a table { x = \"...\" }");
  }
  for (std::size_t i = 0; i < n; ++i) {
    system_.forces[i] = formulas_.formula(force->items[i], "system.force", Speaks::Velocity);
  }
}

void SystemReader::read_contact(const std::string& name, const Value& table) {
  const std::string path = "contact." + name;
  if (table.kind != Value::Kind::Table) {
    throw base::InputError(path, fmt::format("must be a table, not {}", table.kind_name()),
                           fmt::format("write [contact.{}] and keep = \"...\" below", name),
                           document_.spot_of(table));
  }
  if (!formula::is_plain_name(name)) {
    throw base::InputError(path, fmt::format("'{}' is not a name", name),
                           "names are letters, digits and _", document_.spot_of_key(table));
  }
  TableReader contact(document_, table, path);
  const Value& keep = contact.require("keep", "write keep = \"x >= 0\"");
  const std::string key = contact.full("keep");
  const std::vector<formula::Comparison> relation = formulas_.relation(keep, key, Speaks::Position);
  const std::string& op = relation[0].op;
  if (relation.size() != 1 || (op != "<=" && op != ">=")) {
    contact.fail(keep, "keep", "must be one inequality with <= or >=",
                 "write left <= right, and one contact for each inequality");
  }
  formula::Graph& graph = formulas_.graph();
  const bool below = op == "<=";  // g = right - left, or left - right for >=
  const NodeId gap = below ? graph.subtract(relation[0].right, relation[0].left)
                           : graph.subtract(relation[0].left, relation[0].right);
  const int n = static_cast<int>(system_.coordinates.size());
  if (!graph.depends_on(gap, system_.position_slot(0), system_.position_slot(n))) {
    contact.fail(keep, "keep", "does not depend on any coordinate",
                 "an inequality that no motion can change is no contact");
  }
  if (const Value* restitution = contact.find("restitution")) {
    const double e = formulas_.number(*restitution, contact.full("restitution"));
    if (!(e >= 0.0 && e <= 1.0)) {
      contact.fail(*restitution, "restitution", fmt::format("must lie in [0, 1], not {}", e),
                   "0 is inelastic, 1 elastic");
    }
    laws_.push_back({contact.full("restitution"), e, restitution});
  }
  contact.not_yet(
      {"where", "for", "dissipation_index", "law", "slip", "normal", "friction", "body"},
      kNoFriction);
  contact.finish();
  system_.contacts.push_back(name);
  system_.gaps.push_back(gap);
}

void SystemReader::check_laws(const step::Scheme& scheme) const {
  const double implied = step::implied_restitution(scheme);
  for (const StatedLaw& law : laws_) {
    if (law.restitution == implied) continue;
    std::vector<std::string> able;
    for (const std::string& name : step::scheme_names()) {
      if (step::implied_restitution(step::make_scheme(name)) == law.restitution) {
        able.push_back(name);
      }
    }
    throw base::InputError(
        law.key,
        fmt::format("the scheme {} has restitution {}, not {}", step::name_of(scheme), implied,
                    law.restitution),
        able.empty() ? "no scheme of this version has it; 0 (inel) and 1 (elast, billiard) exist"
                     : fmt::format("schemes that have it: {}", base::list_names(able)),
        document_.spot_of(*law.value));
  }
}

std::shared_ptr<const model::FormulaModel> SystemReader::build() {
  system_.graph = formulas_.graph();  // a copy: numbers of [run] and [start] are still to be read
  const Value& at = *document_.root().find("system");
  return formulas_.guarded(at, "system", [&] {
    return std::make_shared<const model::FormulaModel>(std::move(system_));
  });
}

}  // namespace ricochet::scene
