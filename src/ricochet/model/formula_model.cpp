#include "ricochet/model/formula_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "ricochet/formula/derivative.h"
#include "ricochet/formula/range.h"
#include "ricochet/formula/substitute.h"
#include "ricochet/model/forces.h"

namespace ricochet::model {
namespace {

using formula::NodeId;

std::vector<int> slots_from(int first, int count) {
  std::vector<int> slots(static_cast<std::size_t>(count));
  std::iota(slots.begin(), slots.end(), first);
  return slots;
}

/// c with normal = c J: the normal velocity over the rate of the gap.
NodeId stretch_of(FormulaSystem& system, NodeId gap, NodeId normal) {
  formula::Graph& graph = system.graph;
  if (normal < 0) return graph.constant(1.0);
  std::vector<int> slots = graph.inputs_of(gap);
  std::erase(slots, FormulaSystem::kTimeSlot);
  const std::vector<NodeId> J = formula::gradient(graph, gap, slots);
  for (int& slot : slots) slot += system.velocity_slot(0) - system.position_slot(0);
  const std::vector<NodeId> n = formula::gradient(graph, normal, slots);
  NodeId product = graph.constant(0.0);
  NodeId square = graph.constant(0.0);
  for (std::size_t i = 0; i < J.size(); ++i) {
    product = graph.add(product, graph.multiply(J[i], n[i]));
    square = graph.add(square, graph.multiply(J[i], J[i]));
  }
  return graph.divide(product, square);
}

/// dU/du by the velocities it has, then U at u = 0.
void add_velocity_row(FormulaSystem& system, NodeId velocity, Pattern& pattern,
                      std::vector<NodeId>& outputs) {
  formula::Graph& graph = system.graph;
  const int first = system.velocity_slot(0);
  std::vector<int> used = graph.inputs_of(velocity);
  std::erase_if(used, [&](int slot) { return slot < first; });
  const std::vector<NodeId> entries = formula::gradient(graph, velocity, used);
  for (std::size_t e = 0; e < used.size(); ++e) {
    pattern.coordinates.push_back(used[e] - first);
    outputs.push_back(entries[e]);
  }
  outputs.push_back(formula::substitute(graph, velocity, first, first + system.dofs(), 0.0));
}

}  // namespace

FormulaSystem::FormulaSystem() = default;
FormulaSystem::FormulaSystem(const FormulaSystem&) = default;
FormulaSystem::FormulaSystem(FormulaSystem&&) noexcept = default;
FormulaSystem& FormulaSystem::operator=(const FormulaSystem&) = default;
FormulaSystem& FormulaSystem::operator=(FormulaSystem&&) noexcept = default;
FormulaSystem::~FormulaSystem() = default;

std::vector<int> FormulaSystem::position_slots() const {
  return slots_from(position_slot(0), dofs());
}

std::vector<int> FormulaSystem::velocity_slots() const {
  return slots_from(velocity_slot(0), dofs());
}

std::vector<NodeId> total_forces(FormulaSystem& system) {
  std::vector<NodeId> forces = system.forces;
  if (forces.empty()) forces.assign(system.coordinates.size(), system.graph.constant(0.0));
  const auto take = [&](NodeId function, const std::vector<int>& slots) {
    if (function < 0) return;
    const std::vector<NodeId> slopes = formula::gradient(system.graph, function, slots);
    for (std::size_t i = 0; i < forces.size(); ++i) {
      forces[i] = system.graph.subtract(forces[i], slopes[i]);
    }
  };
  take(system.potential, system.position_slots());
  take(system.damping, system.velocity_slots());
  return forces;
}

std::vector<MassEntry> mass_entries(FormulaSystem& system, NodeId kinetic) {
  formula::Graph& graph = system.graph;
  const std::vector<NodeId> momenta = formula::gradient(graph, kinetic, system.velocity_slots());
  std::vector<MassEntry> entries;
  for (int i = 0; i < system.dofs(); ++i) {
    const NodeId momentum = momenta[static_cast<std::size_t>(i)];
    std::vector<int> used = graph.inputs_of(momentum);  // sorted
    std::erase_if(used, [&](int slot) {
      return slot < system.velocity_slot(0) || slot > system.velocity_slot(i);
    });
    const std::vector<NodeId> row = formula::gradient(graph, momentum, used);
    for (std::size_t k = 0; k < used.size(); ++k) {
      if (graph.is_constant(row[k], 0.0)) continue;
      entries.push_back({i, used[k] - system.velocity_slot(0), row[k]});
    }
  }
  return entries;
}

std::vector<NodeId> inertia_terms(FormulaSystem& system) {
  formula::Graph& graph = system.graph;
  std::vector<NodeId> terms(system.coordinates.size(), graph.constant(0.0));
  if (system.kinetic < 0) return terms;
  const std::vector<NodeId> momenta =
      formula::gradient(graph, system.kinetic, system.velocity_slots());
  const std::vector<NodeId> slopes =
      formula::gradient(graph, system.kinetic, system.position_slots());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::vector<NodeId> row = formula::gradient(graph, momenta[i], system.position_slots());
    for (int j = 0; j < system.dofs(); ++j) {
      const NodeId part =
          graph.multiply(row[static_cast<std::size_t>(j)], graph.input(system.velocity_slot(j)));
      terms[i] = graph.add(terms[i], part);
    }
    terms[i] = graph.subtract(terms[i], slopes[i]);
  }
  return terms;
}

FormulaModel::FormulaModel(FormulaSystem system) : system_(std::move(system)) {
  formula::Graph& graph = system_.graph;
  system_.where.resize(system_.gaps.size(), -1);
  has_where_ = std::any_of(system_.where.begin(), system_.where.end(),
                           [](NodeId node) { return node >= 0; });
  slack_.assign(system_.gaps.size(), 0.0);
  system_.slips.resize(system_.gaps.size());
  system_.restitution.resize(system_.gaps.size(), 0.0);
  system_.laws.resize(system_.gaps.size());
  if (system_.outside) system_.outside_gaps.resize(system_.gaps.size(), -1);
  const std::vector<NodeId> forces = total_forces(system_);
  const std::vector<NodeId> slopes = derive_slopes();
  compile_friction();
  const auto uses = [&](NodeId root, int first, int last) {
    return root >= 0 && graph.depends_on(root, first, last);
  };
  bool walls_move = false;
  for (int a = 0; a < contacts(); ++a) {
    const NodeId rate = slopes[pattern_.end(a) + static_cast<std::size_t>(a)];
    walls_move = walls_move || !graph.is_constant(rate, 0.0);
  }
  const auto is_zero = [&](NodeId force) { return graph.is_constant(force, 0.0); };
  // A function of a program may hide anything.
  const bool has_energy = system_.outside == nullptr &&
                          std::all_of(system_.forces.begin(), system_.forces.end(), is_zero);
  force_uses_velocity_ =
      (system_.outside_force && system_.outside->force_uses_velocity()) ||
      std::any_of(forces.begin(), forces.end(), [&](NodeId force) {
        return uses(force, system_.velocity_slot(0), system_.velocity_slot(dofs()));
      });
  // Seen backwards, damping gives back what it took, so that the energy may grow without limit.
  is_conservative_ = has_energy && !is_reversed();
  is_autonomous_ = has_energy && !walls_move && !has_moving_belt_ &&
                   !uses(system_.potential, 0, 1) && !(is_reversed() && force_uses_velocity_);
  compile(slopes, forces);
  compile_mass();
  if (system_.wants_inertia && !has_constant_mass()) {
    std::vector<NodeId> applied = inertia_terms(system_);
    for (std::size_t i = 0; i < applied.size(); ++i) {
      applied[i] = graph.subtract(forces[i], applied[i]);
    }
    applied_tape_ = formula::Tape(graph, system_.inputs(), {applied});
  }
  if (system_.wants_inertia) compile_bends();
  compile_laws();
  slopes_ = slopes;
  derive_curves();
  describe(slopes, forces);
}

NodeId FormulaModel::roll_of(std::size_t row) const {
  const std::size_t first = system_.gaps.size() - system_.rolls.size();
  return row < first ? -1 : system_.rolls[row - first];
}

/// dg/dq, only by the coordinates each gap depends on, then dg/dt: row by row. Of a velocity that
/// is kept at 0 its derivatives by the velocities, and what it is without them.
std::vector<NodeId> FormulaModel::derive_slopes() {
  std::vector<NodeId> slopes;
  for (std::size_t a = 0; a < system_.gaps.size(); ++a) {
    if (const NodeId roll = roll_of(a); roll >= 0) {
      add_velocity_row(system_, roll, pattern_, slopes);
      pattern_.offsets.push_back(pattern_.coordinates.size());
      continue;
    }
    const NodeId gap = system_.gaps[a];
    std::vector<int> slots = system_.graph.inputs_of(gap);
    std::erase(slots, FormulaSystem::kTimeSlot);
    for (const int slot : slots) pattern_.coordinates.push_back(slot - system_.position_slot(0));
    pattern_.offsets.push_back(pattern_.coordinates.size());
    slots.push_back(FormulaSystem::kTimeSlot);
    const std::vector<NodeId> gradient = formula::gradient(system_.graph, gap, slots);
    slopes.insert(slopes.end(), gradient.begin(), gradient.end());
  }
  return slopes;
}

void FormulaModel::compile(const std::vector<NodeId>& slopes, const std::vector<NodeId>& forces) {
  formula::Graph& graph = system_.graph;
  std::vector<NodeId> tests = system_.gaps;
  if (has_where_) {
    for (const NodeId where : system_.where) {
      tests.push_back(where >= 0 ? where : graph.constant(1.0));
    }
  }
  std::vector<NodeId> tests_and_slopes = tests;
  tests_and_slopes.insert(tests_and_slopes.end(), slopes.begin(), slopes.end());
  std::vector<NodeId> tests_and_potential = tests;
  tests_and_potential.push_back(has_potential() ? system_.potential : graph.constant(0.0));
  gap_tape_ = formula::Tape(graph, system_.inputs(), {tests, slopes});
  cone_tape_ = formula::Tape(graph, system_.inputs(), {tests_and_slopes});
  end_tape_ = formula::Tape(graph, system_.inputs(), {tests_and_potential});
  force_tape_ = formula::Tape(graph, system_.inputs(), {forces});
}

void FormulaModel::compile_mass() {
  if (has_constant_mass()) return;
  formula::Graph& graph = system_.graph;
  std::vector<NodeId> entries;
  for (const MassEntry& entry : mass_entries(system_, system_.kinetic)) {
    entries.push_back(entry.node);
    mass_places_.emplace_back(entry.row, entry.column);
  }
  std::vector<NodeId> momenta = formula::gradient(graph, system_.kinetic, system_.velocity_slots());
  const std::vector<NodeId> slopes =
      formula::gradient(graph, system_.kinetic, system_.position_slots());
  momenta.insert(momenta.end(), slopes.begin(), slopes.end());
  mass_tape_ = formula::Tape(graph, system_.inputs(), {entries});
  momentum_tape_ = formula::Tape(graph, system_.inputs(), {momenta});
}

/// What the curve of a wall, and its own motion, add to d2g/dt2: the second derivative of g along
/// (1, u), taken twice in the same way.
void FormulaModel::compile_bends() {
  formula::Graph& graph = system_.graph;
  std::vector<int> slots = system_.position_slots();
  slots.push_back(FormulaSystem::kTimeSlot);
  const auto along = [&](NodeId root) {
    const std::vector<NodeId> slopes = formula::gradient(graph, root, slots);
    NodeId sum = slopes.back();
    for (int i = 0; i < dofs(); ++i) {
      const NodeId speed = graph.input(system_.velocity_slot(i));
      sum = graph.add(sum, graph.multiply(slopes[static_cast<std::size_t>(i)], speed));
    }
    return sum;
  };
  std::vector<NodeId> bends;
  for (std::size_t a = 0; a < system_.gaps.size(); ++a) {
    const NodeId roll = roll_of(a);
    bends.push_back(along(roll >= 0 ? roll : along(system_.gaps[a])));
  }
  bend_tape_ = formula::Tape(graph, system_.inputs(), {bends});
}

/// Second derivatives of the gaps that are not affine: see `curves`.
void FormulaModel::derive_curves() {
  constexpr std::size_t kMost = 400;  // larger systems do without
  if (has_outside_gaps()) return;
  std::size_t entries = 0;
  for (int a = 0; a < contacts() - joints(); ++a) {
    const std::size_t n = pattern_.end(a) - pattern_.begin(a) + 1;
    entries += n * (n + 1) / 2;
  }
  if (entries > kMost) return;
  for (int a = 0; a < contacts() - joints(); ++a) {
    std::vector<int> slots;
    for (std::size_t e = pattern_.begin(a); e < pattern_.end(a); ++e) {
      slots.push_back(system_.position_slot(pattern_.coordinates[e]));
    }
    slots.push_back(FormulaSystem::kTimeSlot);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const NodeId slope = slopes_[pattern_.begin(a) + static_cast<std::size_t>(a) + i];
      const std::vector<int> others(slots.begin() + static_cast<std::ptrdiff_t>(i), slots.end());
      const std::vector<NodeId> row = formula::gradient(system_.graph, slope, others);
      curves_.insert(curves_.end(), row.begin(), row.end());
    }
  }
}

void FormulaModel::compile_friction() {
  formula::Graph& graph = system_.graph;
  std::vector<NodeId> outputs;
  fewest_slips_ = 2;
  for (int a = 0; a < contacts(); ++a) {
    const Slip& tangential = slip(a);
    friction_outputs_.push_back(outputs.size());
    for (int j = 0; j < 2; ++j) {
      if (j < slips(a)) {
        add_velocity_row(system_, tangential.velocities[static_cast<std::size_t>(j)], slip_pattern_,
                         outputs);
        has_moving_belt_ = has_moving_belt_ || !graph.is_constant(outputs.back(), 0.0);
      }
      slip_pattern_.offsets.push_back(slip_pattern_.coordinates.size());
    }
    if (a < contacts() - joints()) {
      most_slips_ = std::max(most_slips_, slips(a));
      fewest_slips_ = std::min(fewest_slips_, slips(a));
    }
    has_special_slips_ =
        has_special_slips_ || tangential.is_loaded() || tangential.restitution > 0.0;
    if (slips(a) == 0) continue;
    outputs.push_back(
        tangential.load >= 0
            ? tangential.load
            : stretch_of(system_, system_.gaps[static_cast<std::size_t>(a)], tangential.normal));
    for (const NodeId node : tangential.friction.coefficients) {
      outputs.push_back(node >= 0 ? node : graph.constant(0.0));
    }
  }
  if (has_friction()) friction_tape_ = formula::Tape(graph, system_.inputs(), {outputs});
}

void FormulaModel::compile_laws() {
  for (int a = 0; a < contacts(); ++a) has_laws_ = has_laws_ || !law(a).is_plain();
  if (!has_laws_) return;
  std::vector<std::vector<NodeId>> groups;
  for (int a = 0; a < contacts(); ++a) {
    groups.emplace_back();
    if (law(a).restitution >= 0) groups.back().push_back(law(a).restitution);
    groups.push_back(law(a).after);
  }
  law_tape_ = formula::Tape(system_.graph, system_.inputs() + 1, groups);
}

std::vector<std::size_t> FormulaModel::slope_registers(const formula::Tape& tape, int group,
                                                       std::size_t first) const {
  const auto n = static_cast<std::size_t>(dofs());
  const std::vector<std::size_t>& at = tape.outputs(group);
  std::vector<std::size_t> registers(system_.gaps.size() * (n + 1), tape.zero());
  for (std::size_t a = 0; a < system_.gaps.size(); ++a) {
    std::size_t output = first + pattern_.offsets[a] + a;
    for (std::size_t e = pattern_.offsets[a]; e < pattern_.offsets[a + 1]; ++e) {
      registers[a * (n + 1) + static_cast<std::size_t>(pattern_.coordinates[e])] = at[output++];
    }
    registers[a * (n + 1) + n] = at[output];
  }
  return registers;
}

bool FormulaModel::refill(std::span<const double> slots) {
  const formula::Graph& graph = system_.graph;
  if (!system_.graph.refill(slots)) return false;
  for (formula::Tape* tape :
       {&gap_tape_, &cone_tape_, &end_tape_, &force_tape_, &mass_tape_, &momentum_tape_,
        &friction_tape_, &applied_tape_, &bend_tape_, &law_tape_}) {
    tape->refill(graph);
  }
  for (const auto& [row, node] : system_.restitution_nodes) {
    system_.restitution[row] = graph[node].value;
    if (!(graph[node].value >= 0.0 && graph[node].value <= 1.0)) return false;
  }
  if (!refill_mass()) return false;
  std::fill(slack_.begin(), slack_.end(), 0.0);
  derived_.clear();  // they tell other numbers
  return true;
}

bool FormulaModel::follows_slots() const {
  const formula::Graph& graph = system_.graph;
  for (const auto& [row, node] : system_.restitution_nodes) {
    if (graph.varies(node)) return true;
  }
  for (const MassEntry& entry : system_.mass_nodes) {
    if (graph.varies(entry.node)) return true;
  }
  for (const formula::Tape* tape :
       {&gap_tape_, &cone_tape_, &end_tape_, &force_tape_, &mass_tape_, &momentum_tape_,
        &friction_tape_, &applied_tape_, &bend_tape_, &law_tape_}) {
    if (tape->follows_slots()) return true;
  }
  return graph.any_varies(slopes_) || graph.any_varies(curves_);
}

bool FormulaModel::refill_mass() {
  if (system_.mass_nodes.empty()) return true;
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(dofs(), dofs());
  bool is_diagonal = true;
  for (const MassEntry& entry : system_.mass_nodes) {
    const double value = system_.graph[entry.node].value;
    mass(entry.row, entry.column) = mass(entry.column, entry.row) = value;
    is_diagonal = is_diagonal && entry.row == entry.column;
  }
  if (!(mass.diagonal().minCoeff() > 0.0)) return false;
  system_.mass = is_diagonal ? convex::Metric<kDynamic>::diagonal(mass.diagonal())
                             : convex::Metric<kDynamic>::full(0.5 * (mass + mass.transpose()));
  return system_.mass.is_valid();
}

void FormulaModel::take_scale(double t, const Vector<kDynamic>& q) {
  std::vector<double> registers = cone_tape_.registers();
  registers[0] = t;
  for (Eigen::Index i = 0; i < q.size(); ++i) registers[static_cast<std::size_t>(i) + 1] = q[i];
  cone_tape_.run(0, registers.data());
  const std::vector<std::size_t>& at = cone_tape_.outputs(0);
  const std::size_t first_slope = system_.gaps.size() * (has_where_ ? 2 : 1);
  for (int a = 0; a < contacts(); ++a) {
    const std::size_t row = first_slope + static_cast<std::size_t>(a);
    double size = std::abs(registers[at[row + pattern_.end(a)]] * t);
    for (std::size_t e = pattern_.begin(a); e < pattern_.end(a); ++e) {
      size += std::abs(registers[at[row + e]] * q[pattern_.coordinates[e]]);
    }
    const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * size;
    const bool is_formula = outside_gap(a) < 0;
    slack_[static_cast<std::size_t>(a)] = is_formula && std::isfinite(rounding) ? rounding : 0.0;
  }
}

void FormulaModel::describe(const std::vector<NodeId>& slopes, const std::vector<NodeId>& forces) {
  constexpr int kMostNames = 12;         // longer systems are not described
  constexpr std::size_t kLongest = 300;  // characters of one formula
  if (dofs() > kMostNames || contacts() > kMostNames) return;
  std::vector<std::string> names = {"t"};
  names.insert(names.end(), coordinates().begin(), coordinates().end());
  for (const std::string& coordinate : coordinates()) names.push_back(coordinate + "'");
  const auto text = [&](NodeId node) { return system_.graph.to_text(node, names, kLongest); };
  const auto name_of = [&](int i) { return coordinates()[static_cast<std::size_t>(i)]; };
  if (!has_constant_mass()) {
    for (const MassEntry& entry : mass_entries(system_, system_.kinetic)) {
      derived_.push_back({"mass", fmt::format("of {}' {}' = {}", name_of(entry.row),
                                              name_of(entry.column), text(entry.node))});
    }
    const std::vector<NodeId> inertia = inertia_terms(system_);
    for (int i = 0; i < dofs(); ++i) {
      derived_.push_back({"inertia", fmt::format("on {} = {}", name_of(i),
                                                 text(inertia[static_cast<std::size_t>(i)]))});
    }
  }
  for (int i = 0; i < dofs(); ++i) {
    derived_.push_back({"force", fmt::format("on {} = {}", name_of(i),
                                             text(forces[static_cast<std::size_t>(i)]))});
  }
  for (int a = 0; a < contacts(); ++a) {
    const auto row = static_cast<std::size_t>(a);
    const std::string& contact = contact_names()[row];
    if (slip(a).is_loaded()) continue;
    const NodeId roll = roll_of(row);
    derived_.push_back({contact, roll >= 0 ? fmt::format("velocity = {}", text(roll))
                                           : fmt::format("gap = {}", text(system_.gaps[row]))});
    if (roll >= 0) continue;
    for (std::size_t e = pattern_.begin(a); e < pattern_.end(a); ++e) {
      derived_.push_back({contact, fmt::format("d/d{} = {}", name_of(pattern_.coordinates[e]),
                                               text(slopes[e + row]))});
    }
    const NodeId rate = slopes[pattern_.end(a) + row];
    if (system_.graph.is_constant(rate, 0.0)) continue;
    derived_.push_back({contact, fmt::format("d/dt = {}", text(rate))});
  }
}

void FormulaModel::gap_grid(int contact, double t, const std::vector<Vector<kDynamic>>& points,
                            std::vector<double>& gaps) const {
  constexpr std::size_t kLanes = formula::Tape::kLanes;
  std::vector<double> registers = gap_tape_.batch_registers();
  const std::size_t row = gap_tape_.outputs(kGaps)[static_cast<std::size_t>(contact)] * kLanes;
  gaps.resize(points.size());
  std::fill_n(registers.begin(), kLanes, t);
  for (std::size_t begin = 0; begin < points.size(); begin += kLanes) {
    const std::size_t count = std::min(kLanes, points.size() - begin);
    for (std::size_t j = 0; j < count; ++j) {
      const Vector<kDynamic>& q = points[begin + j];
      for (Eigen::Index i = 0; i < q.size(); ++i) {
        registers[(1 + static_cast<std::size_t>(i)) * kLanes + j] = q[i];
      }
    }
    gap_tape_.run_batch(kGaps, registers.data());
    std::copy_n(registers.begin() + static_cast<std::ptrdiff_t>(row), count,
                gaps.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

double FormulaModel::gap_rounding(int a, double t, const double* q) const {
  if (outside_gap(a) >= 0) return 0.0;
  std::vector<double> inputs(static_cast<std::size_t>(system_.inputs()), 0.0);
  inputs[0] = t;
  std::copy_n(q, dofs(), inputs.begin() + 1);
  return formula::rounding_of(system_.graph, system_.gaps[static_cast<std::size_t>(a)], inputs);
}

}  // namespace ricochet::model
