#include "ricochet/scene/system_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/random.h"
#include "ricochet/base/text.h"
#include "ricochet/convex/dense.h"
#include "ricochet/formula/derivative.h"
#include "ricochet/scene/coordinate_values.h"

namespace ricochet::scene {
namespace {

using formula::NodeId;
using model::MassEntry;

constexpr formula::Dimension kEnergy{{2, 1, -2}};

constexpr const char* kQuadratic =
    "write one half of a sum of masses times products of two velocities";

/// Values of t, q and u at which identities are tested: one may hold that no simplification shows.
std::vector<double> random_inputs(base::Random& random, const model::FormulaSystem& system,
                                  bool at_rest) {
  std::vector<double> inputs(static_cast<std::size_t>(system.inputs()), 0.0);
  for (int slot = 0; slot < system.inputs(); ++slot) {
    const double value = random.uniform(-2.0, 2.0);
    if (at_rest && slot >= system.velocity_slot(0)) continue;
    inputs[static_cast<std::size_t>(slot)] = value;
  }
  return inputs;
}

bool is_outside(const model::FormulaSystem& system, const Value& value) {
  return system.outside && value.kind == Value::Kind::Text && value.text == kOutside;
}

}  // namespace

void SystemReader::read(TableReader& root) {
  const Value& table = root.require("system", "write [system] with coordinates and kinetic");
  root.table("system");
  TableReader system(document_, table, "system");
  const Value* parameters = system.table("parameters");
  const Value* units = system.table("units");
  frames_.open(root);
  formulas_.open_units(parameters, units);
  frames_.open_units();
  if (parameters != nullptr) formulas_.add_parameters(*parameters);
  frames_.read_parameters();
  read_coordinates(system);
  if (units != nullptr) formulas_.add_units(*units, own_groups_);
  for (std::size_t k = own_groups_.size(); k < groups_.size(); ++k) {
    formulas_.add_unit(groups_[k], groups_[k].name.ends_with(".angle") ? "rad" : "m");
  }
  if (const Value* definitions = system.table("define")) formulas_.add_definitions(*definitions);
  frames_.read_definitions();
  frames_.read();
  read_mass(system);
  read_forces(system);
  frames_.add_gravity();
  if (const Value* period = system.find("period")) {
    has_period_ = true;
    period_ = formulas_.number(*period, "system.period", {}, &period_node_);
  }
  system.finish();
  constraints_.read(root, frames_.rows());
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
    CoordinateGroup group = formulas_.coordinate_group(item, "system.coordinates");
    const auto same = [&](const CoordinateGroup& other) { return other.name == group.name; };
    if (std::any_of(groups_.begin(), groups_.end(), same)) {
      system.fail(item, "coordinates", fmt::format("the name '{}' is used twice", group.name),
                  "choose another name for one of them");
    }
    group.begin = static_cast<int>(system_.coordinates.size());
    for (int k = 0; k < group.count; ++k) system_.coordinates.push_back(group.full_name(k));
    groups_.push_back(group);
  }
  constexpr std::size_t kMost = 500'000;
  if (system_.coordinates.size() > kMost) {
    system.fail(value, "coordinates", fmt::format("there are more than {} of them", kMost),
                "split the system into smaller ones");
  }
  own_groups_ = groups_;
  frames_.add_coordinates(groups_);
  check_column_names(value);
  formulas_.add_coordinates(groups_);
}

/// A velocity is the column d_<name> of a trajectory: no coordinate may be called that.
void SystemReader::check_column_names(const Value& coordinates) const {
  for (const CoordinateGroup& group : groups_) {
    const auto is_velocity = [&](const CoordinateGroup& other) {
      return "d_" + group.name == other.name;
    };
    const auto clash = std::find_if(groups_.begin(), groups_.end(), is_velocity);
    if (clash == groups_.end()) continue;
    throw base::InputError(
        "system.coordinates",
        fmt::format("'{}' is the column of the velocity of '{}'", clash->name, group.name),
        "choose another name", document_.spot_of(coordinates));
  }
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
  } else if (is_outside(system_, *mass) && system_.outside->has_mass()) {
    take_outside_mass();
  } else if (mass->kind == Value::Kind::Array && !mass->items.empty() &&
             mass->items[0].kind == Value::Kind::Array) {
    read_mass_matrix(*mass);
  } else {
    read_mass_numbers(*mass);
  }
}

/// The kinetic energy holds the place of the function, and says that the mass varies.
void SystemReader::take_outside_mass() {
  formula::Graph& graph = formulas_.graph();
  system_.kinetic = graph.constant(0.0);
  for (const int slot : system_.velocity_slots()) {
    const NodeId u = graph.input(slot);
    const NodeId half = graph.multiply(graph.constant(0.5), graph.multiply(u, u));
    system_.kinetic = graph.add(system_.kinetic, half);
  }
  system_.mass = convex::Metric<convex::kDynamic>::diagonal(Eigen::VectorXd::Ones(system_.dofs()));
  system_.outside_mass = true;
}

void SystemReader::read_mass_numbers(const Value& value) {
  const auto n = static_cast<Eigen::Index>(system_.coordinates.size());
  Eigen::VectorXd mass = Eigen::VectorXd::Zero(n);
  const std::string remedy =
      fmt::format("write a list of {} masses, a table by name, or {} lists of {} numbers",
                  own_groups_.size(), own_dofs(), own_dofs());
  CoordinateValues(document_, own_groups_)
      .for_each(
          value, "system.mass", remedy,
          [&](int i, const Value& entry, const std::string& key, const formula::Locals& locals) {
            const formula::Dimension way = formulas_.dimension_of(i).times({{0, 0, 1}}, -1.0);
            formulas_.expect(entry, key, kEnergy.times(way, -2.0), "what makes it an energy");
            NodeId node = -1;
            mass[i] = formulas_.number(entry, key, locals, &node);
            if (!formulas_.graph().has_slots()) return;
            if (node < 0) node = formulas_.graph().constant(mass[i]);
            system_.mass_nodes.push_back({i, i, node});
          });
  for (const FreeBody& body : frames_.free_bodies()) {
    for (int k = 0; k < 3; ++k) {
      mass[body.begin + k] = k < 2 ? body.mass : body.inertia;
      if (!formulas_.graph().has_slots()) continue;
      const NodeId node = formulas_.graph().constant(mass[body.begin + k]);
      system_.mass_nodes.push_back({body.begin + k, body.begin + k, node});
    }
  }
  set_diagonal_mass(mass, "system.mass", value);
}

void SystemReader::read_mass_matrix(const Value& value) {
  const Eigen::Index n = own_dofs();
  const auto fail = [&](const Value& at, const std::string& message) {
    throw base::InputError("system.mass", message,
                           fmt::format("write {} lists of {} numbers", n, n),
                           document_.spot_of(at));
  };
  if (static_cast<Eigen::Index>(value.items.size()) != n) {
    fail(value, fmt::format("has {} entries for {} coordinates", value.items.size(), n));
  }
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(system_.dofs(), system_.dofs());
  for (const FreeBody& body : frames_.free_bodies()) {
    mass.diagonal().segment<3>(body.begin) << body.mass, body.mass, body.inertia;
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    const Value& row = value.items[static_cast<std::size_t>(i)];
    if (row.kind != Value::Kind::Array || static_cast<Eigen::Index>(row.items.size()) != n) {
      fail(row, fmt::format("row {} must be a list of {} numbers", i + 1, n));
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      mass(i, j) = formulas_.number(row.items[static_cast<std::size_t>(j)], "system.mass");
    }
  }
  set_mass(mass, "system.mass", value);
}

/// M = d2T/du2, in symbols. Where it is constant it is kept as numbers.
void SystemReader::read_kinetic(const Value& value) {
  formulas_.expect(value, "system.kinetic", kEnergy, "an energy");
  const NodeId kinetic =
      frames_.kinetic(formulas_.formula(value, "system.kinetic", Speaks::Velocity));
  system_.graph = formulas_.graph();
  const std::vector<MassEntry> entries = formulas_.guarded(
      value, "system.kinetic", [&] { return model::mass_entries(system_, kinetic); });
  check_quadratic(value, kinetic, entries);
  const formula::Graph& graph = system_.graph;
  bool is_constant = true;
  bool is_diagonal = true;
  for (const MassEntry& entry : entries) {
    is_constant = is_constant && graph.is_constant(entry.node);
    is_diagonal = is_diagonal && entry.row == entry.column;
  }
  if (!is_constant) {
    system_.kinetic = kinetic;  // its positive definiteness is a matter of the configuration
    const Eigen::VectorXd unit = Eigen::VectorXd::Ones(system_.dofs());
    system_.mass = convex::Metric<convex::kDynamic>::diagonal(unit);
    return;
  }
  Eigen::VectorXd diagonal = Eigen::VectorXd::Zero(system_.dofs());
  for (const MassEntry& entry : entries) diagonal[entry.row] = 0.0;
  if (is_diagonal) {
    for (const MassEntry& entry : entries) diagonal[entry.row] = graph[entry.node].value;
    keep_mass_nodes(entries);
    return set_diagonal_mass(diagonal, "system.kinetic", value);
  }
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(system_.dofs(), system_.dofs());
  for (const MassEntry& entry : entries) {
    mass(entry.row, entry.column) = mass(entry.column, entry.row) = graph[entry.node].value;
  }
  keep_mass_nodes(entries);
  set_mass(mass, "system.kinetic", value);
}

/// Slots may set the mass: then its entries stay in the graph.
void SystemReader::keep_mass_nodes(const std::vector<MassEntry>& entries) {
  if (!system_.graph.has_slots()) return;
  formulas_.graph() = system_.graph;
  system_.mass_nodes = entries;
}

/// Names the term that is not quadratic: a part of M that has velocities, a momentum at rest, an
/// energy at rest, or one that depends on time.
void SystemReader::check_quadratic(const Value& value, NodeId kinetic,
                                   const std::vector<MassEntry>& entries) {
  formula::Graph& graph = system_.graph;
  const auto& names = system_.coordinates;
  const auto fail = [&](const std::string& message, const std::string& remedy) {
    throw base::InputError("system.kinetic", message, remedy, document_.spot_of(value));
  };
  const auto name_of = [&](int i) { return names[static_cast<std::size_t>(i)]; };
  if (graph.depends_on(kinetic, model::FormulaSystem::kTimeSlot, 1)) {
    fail("depends on time", "write it in coordinates in which it does not");
  }
  const int first = system_.velocity_slot(0);
  for (const MassEntry& entry : entries) {
    if (!graph.depends_on(entry.node, first, first + system_.dofs())) continue;
    fail(fmt::format("is not quadratic in the velocities: its part in {}' {}' is not",
                     name_of(entry.row), name_of(entry.column)),
         kQuadratic);
  }
  base::Random random(1);
  const std::vector<NodeId> momenta = formula::gradient(graph, kinetic, system_.velocity_slots());
  for (int trial = 0; trial < 4; ++trial) {
    const std::vector<double> inputs = random_inputs(random, system_, true);
    for (int i = 0; i < system_.dofs(); ++i) {
      const double linear = graph.evaluate(momenta[static_cast<std::size_t>(i)], inputs);
      if (!(std::abs(linear) > 1e-12)) continue;
      fail(fmt::format("is not quadratic in the velocities: it has a term linear in {}'",
                       name_of(i)),
           kQuadratic);
    }
    const double at_rest = graph.evaluate(kinetic, inputs);
    if (std::abs(at_rest) > 1e-12) {
      fail("is not quadratic in the velocities: it has a term without velocities",
           "a term without velocities belongs to the potential, with the sign turned");
    }
  }
}

void SystemReader::set_diagonal_mass(const Eigen::VectorXd& mass, const std::string& key,
                                     const Value& value) {
  for (Eigen::Index i = 0; i < mass.size(); ++i) {
    if (mass[i] > 0.0) continue;
    throw base::InputError(key,
                           fmt::format("the mass of '{}' is {}",
                                       system_.coordinates[static_cast<std::size_t>(i)], mass[i]),
                           "every coordinate needs a positive mass", document_.spot_of(value));
  }
  system_.mass = convex::Metric<convex::kDynamic>::diagonal(mass);
}

void SystemReader::set_mass(const Eigen::MatrixXd& mass, const std::string& key,
                            const Value& value) {
  set_diagonal_mass(mass.diagonal(), key, value);
  const auto fail = [&](const std::string& message, const std::string& remedy) {
    throw base::InputError(key, message, remedy, document_.spot_of(value));
  };
  for (Eigen::Index i = 0; i < mass.rows(); ++i) {
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
  const Eigen::MatrixXd symmetric = 0.5 * (mass + mass.transpose());
  system_.mass = convex::Metric<convex::kDynamic>::full(symmetric);
  if (system_.mass.is_valid()) return;
  const double lowest = convex::symmetric_eigenvalues(mass)[0];
  fail(fmt::format("the mass matrix is not positive definite: its least eigenvalue is {:.3g}",
                   lowest),
       "a velocity must never have a kinetic energy of zero or less");
}

void SystemReader::read_forces(TableReader& system) {
  if (const Value* potential = system.find("potential")) {
    formulas_.expect(*potential, "system.potential", kEnergy, "an energy");
    system_.potential = formulas_.formula(*potential, "system.potential", Speaks::Position);
  }
  if (const Value* damping = system.find("damping")) {
    formulas_.expect(*damping, "system.damping", kEnergy.times({{0, 0, 1}}, -1.0), "a power");
    system_.damping = formulas_.formula(*damping, "system.damping", Speaks::Velocity);
  }
  const Value* force = system.find("force");
  if (force == nullptr) return;
  system_.forces.assign(system_.coordinates.size(), formulas_.graph().constant(0.0));
  if (is_outside(system_, *force) && system_.outside->has_force()) {
    system_.outside_force = true;
    return;
  }
  const bool is_list = force->kind == Value::Kind::Array;  // of the coordinates of [system] alone
  CoordinateValues(document_, is_list ? own_groups_ : groups_)
      .for_each(
          *force, "system.force", "give one for each coordinate, or a table { x = \"...\" }",
          [&](int i, const Value& entry, const std::string& key, const formula::Locals& locals) {
            formulas_.expect(entry, key, kEnergy.times(formulas_.dimension_of(i), -1.0),
                             "a force on this coordinate");
            system_.forces[static_cast<std::size_t>(i)] =
                formulas_.formula(entry, key, Speaks::Velocity, locals);
          });
}

std::shared_ptr<model::FormulaModel> SystemReader::build() {
  system_.graph = formulas_.graph();  // a copy: numbers of [run] and [start] are still to be read
  const Value& at = *document_.root().find("system");
  return formulas_.guarded(
      at, "system", [&] { return std::make_shared<model::FormulaModel>(std::move(system_)); });
}

}  // namespace ricochet::scene
