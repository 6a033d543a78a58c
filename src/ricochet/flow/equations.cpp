#include "ricochet/flow/equations.h"

#include <fmt/format.h>

#include <numeric>

#include "ricochet/base/error.h"
#include "ricochet/formula/derivative.h"
#include "ricochet/formula/substitute.h"
#include "ricochet/model/forces.h"

namespace ricochet::flow {
namespace {

void refuse(const std::string& key, const std::string& message, const std::string& remedy) {
  throw base::InputError(key, message, remedy);
}

void check(const model::FormulaModel& model) {
  if (model.outside() != nullptr) {
    refuse("system", "is made of functions of a program, whose derivatives are not known",
           "write the system in formulas");
  }
  if (model.has_friction()) {
    refuse("contact.friction", "arcs between impacts have no friction yet",
           "leave the friction out, or run a stepping scheme");
  }
  if (model.rolls() > 0) {
    refuse("roll", "arcs with their variations keep no velocity at 0 yet",
           "run the scene: `event-driven` and Moreau's schemes do");
  }
  if (model.has_where()) {
    refuse("contact.where", "arcs between impacts need contacts that exist everywhere",
           "leave `where` out; a gap may have min, max, abs and if");
  }
}

}  // namespace

Equations::Equations(const model::FormulaModel& model, bool with_variations,
                     const std::vector<NodeId>& watched)
    : system_(model.system()),
      with_variations_(with_variations),
      watched_(watched),
      n_(model.dofs()) {
  check(model);
  derive_mass();
  derive_contacts();
}

std::vector<int> Equations::state_slots() const {
  std::vector<int> slots(static_cast<std::size_t>(system_.inputs()));
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

NodeId Equations::dot(const Vector& a, const Vector& b) {
  NodeId sum = graph().constant(0.0);
  for (std::size_t i = 0; i < a.size(); ++i) sum = graph().add(sum, graph().multiply(a[i], b[i]));
  return sum;
}

/// The inverse of a positive definite matrix in symbols, by elimination without exchanges.
Equations::Matrix Equations::invert(Matrix matrix) {
  formula::Graph& g = graph();
  const std::size_t size = matrix.size();
  Matrix inverse(size, Vector(size, g.constant(0.0)));
  for (std::size_t i = 0; i < size; ++i) inverse[i][i] = g.constant(1.0);
  for (std::size_t k = 0; k < size; ++k) {
    const NodeId pivot = matrix[k][k];
    for (std::size_t j = 0; j < size; ++j) {
      matrix[k][j] = g.divide(matrix[k][j], pivot);
      inverse[k][j] = g.divide(inverse[k][j], pivot);
    }
    for (std::size_t i = 0; i < size; ++i) {
      const NodeId factor = matrix[i][k];
      if (i == k || g.is_constant(factor, 0.0)) continue;
      for (std::size_t j = 0; j < size; ++j) {
        matrix[i][j] = g.subtract(matrix[i][j], g.multiply(factor, matrix[k][j]));
        inverse[i][j] = g.subtract(inverse[i][j], g.multiply(factor, inverse[k][j]));
      }
    }
  }
  return inverse;
}

/// M^-1 and the accelerations M^-1 (Q - c) of the free motion.
void Equations::derive_mass() {
  formula::Graph& g = graph();
  const auto n = static_cast<std::size_t>(n_);
  Matrix mass(n, Vector(n, g.constant(0.0)));
  if (system_.kinetic >= 0) {
    for (const model::MassEntry& entry : model::mass_entries(system_, system_.kinetic)) {
      const auto i = static_cast<std::size_t>(entry.row),
                 j = static_cast<std::size_t>(entry.column);
      mass[i][j] = mass[j][i] = entry.node;
    }
    inverse_mass_ = invert(mass);
  } else {
    Eigen::VectorXd unit(n_), column(n_);
    inverse_mass_ = mass;
    for (int j = 0; j < n_; ++j) {
      unit = Eigen::VectorXd::Unit(n_, j);
      system_.mass.solve(unit, column);
      for (int i = 0; i < n_; ++i) {
        inverse_mass_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
            g.constant(column[i]);
      }
    }
  }
  Vector force = model::total_forces(system_);
  const Vector inertia = model::inertia_terms(system_);
  for (std::size_t i = 0; i < n; ++i) force[i] = g.subtract(force[i], inertia[i]);
  for (std::size_t i = 0; i < n; ++i) free_.push_back(dot(inverse_mass_[i], force));
}

void Equations::derive_contacts() {
  formula::Graph& g = graph();
  std::vector<int> slots = system_.position_slots();
  slots.push_back(model::FormulaSystem::kTimeSlot);
  Vector velocity;
  for (const int slot : system_.velocity_slots()) velocity.push_back(g.input(slot));
  const auto along = [&](NodeId root, Vector& slopes) {  // d/dt along (1, u)
    slopes = formula::gradient(g, root, slots);
    const NodeId rate = slopes.back();
    slopes.pop_back();
    return g.add(dot(slopes, velocity), rate);
  };
  Vector outputs;
  for (int a = 0; a < rows(); ++a) {
    Vector slopes, second;
    speed_.push_back(along(system_.gaps[static_cast<std::size_t>(a)], slopes));
    J_.push_back(slopes);
    bend_.push_back(along(speed_.back(), second));
    outputs.push_back(system_.gaps[static_cast<std::size_t>(a)]);
    outputs.push_back(speed_.back());
    outputs.push_back(restitution_of(a));
    const Vector response = response_of(a);
    for (const Vector& part : {slopes, second, response}) {
      outputs.insert(outputs.end(), part.begin(), part.end());
    }
    outputs.push_back(g.add(dot(slopes, free_), bend_.back()));
  }
  contact_tape_ = formula::Tape(g, inputs(), {outputs});
}

/// M^-1 J^T.
Equations::Vector Equations::response_of(int row) {
  Vector response;
  for (const Vector& line : inverse_mass_) {
    response.push_back(dot(line, J_[static_cast<std::size_t>(row)]));
  }
  return response;
}

/// J M^-1 J^T.
Equations::Matrix Equations::delassus(const Rows& rows) {
  Matrix matrix;
  for (const int a : rows) {
    matrix.emplace_back();
    for (const int b : rows) {
      matrix.back().push_back(dot(J_[static_cast<std::size_t>(a)], response_of(b)));
    }
  }
  return matrix;
}

/// e, with the approach -U put in.
NodeId Equations::restitution_of(int row) {
  const auto a = static_cast<std::size_t>(row);
  if (row >= rows() - joints()) return graph().constant(0.0);
  if (a < system_.laws.size() && system_.laws[a].restitution >= 0) {
    return formula::substitute(graph(), system_.laws[a].restitution, system_.approach_slot(),
                               graph().negate(speed_[a]));
  }
  return graph().constant(a < system_.restitution.size() ? system_.restitution[a] : 0.0);
}

/// du/dt with these rows held, and what holds them.
Equations::Vector Equations::accelerations(const Rows& held, Vector& reactions) {
  formula::Graph& g = graph();
  const Matrix inverse = invert(delassus(held));
  Vector rest;
  for (const int a : held) {
    const auto row = static_cast<std::size_t>(a);
    rest.push_back(g.add(dot(J_[row], free_), bend_[row]));
  }
  Vector acceleration = free_;
  for (std::size_t k = 0; k < held.size(); ++k) {
    reactions.push_back(g.negate(dot(inverse[k], rest)));
    const Vector response = response_of(held[k]);
    for (std::size_t i = 0; i < acceleration.size(); ++i) {
      acceleration[i] = g.add(acceleration[i], g.multiply(response[i], reactions.back()));
    }
  }
  return acceleration;
}

/// d(dq)/dt = du,  d(du)/dt = a_q dq + a_u du  for each column, and d/dt of the integral of tr f_y.
void Equations::add_variations(const Vector& acceleration, std::vector<formula::Jet::Rate>& rates) {
  formula::Graph& g = graph();
  std::vector<int> slots = state_slots();
  slots.erase(slots.begin());
  NodeId trace = g.constant(0.0);
  Matrix jacobian;
  for (std::size_t i = 0; i < acceleration.size(); ++i) {
    jacobian.push_back(formula::gradient(g, acceleration[i], slots));
    trace = g.add(trace, jacobian[i][static_cast<std::size_t>(n_) + i]);
  }
  for (int column = 0; column < 2 * n_; ++column) {
    const int first = variation_slot(column);
    Vector variation;
    for (int i = 0; i < 2 * n_; ++i) variation.push_back(g.input(first + i));
    for (int i = 0; i < n_; ++i) {
      rates.push_back({first + i, variation[static_cast<std::size_t>(n_ + i)]});
      rates.push_back({first + n_ + i, dot(jacobian[static_cast<std::size_t>(i)], variation)});
    }
  }
  rates.push_back({trace_slot(), trace});
}

const Mode& Equations::mode(const Rows& held) {
  std::unique_ptr<Mode>& mode = modes_[held];
  if (mode) return *mode;
  mode = std::make_unique<Mode>();
  formula::Graph& g = graph();
  Vector reactions;
  const Vector acceleration = accelerations(held, reactions);
  std::vector<formula::Jet::Rate> rates = {{model::FormulaSystem::kTimeSlot, g.constant(1.0)}};
  for (int i = 0; i < n_; ++i) {
    rates.push_back({system_.position_slot(i), g.input(system_.velocity_slot(i))});
    rates.push_back({system_.velocity_slot(i), acceleration[static_cast<std::size_t>(i)]});
  }
  if (with_variations_) add_variations(acceleration, rates);
  Vector seen = system_.gaps;
  seen.insert(seen.end(), reactions.begin(), reactions.end());
  seen.insert(seen.end(), watched_.begin(), watched_.end());
  mode->jet = formula::Jet(g, jet_inputs(), rates, seen);
  mode->acceleration = formula::Tape(g, inputs(), {acceleration});
  Vector slopes;
  for (const auto& [a, b] : mode->jet.switch_nodes()) {
    const Vector slope = formula::gradient(g, b < 0 ? a : g.subtract(a, b), state_slots());
    slopes.insert(slopes.end(), slope.begin(), slope.end());
  }
  mode->switching = formula::Tape(g, inputs(), {slopes});
  return *mode;
}

const Reset& Equations::reset(const Rows& struck, bool is_plastic) {
  std::unique_ptr<Reset>& reset = resets_[{struck, is_plastic}];
  if (reset) return *reset;
  reset = std::make_unique<Reset>();
  formula::Graph& g = graph();
  const Matrix inverse = invert(delassus(struck));
  Vector stopped;
  for (const int a : struck) {
    const NodeId e = is_plastic ? g.constant(0.0) : restitution_of(a);
    const NodeId U = speed_[static_cast<std::size_t>(a)];
    stopped.push_back(g.multiply(g.add(g.constant(1.0), e), U));
  }
  Vector after;
  for (const int slot : system_.velocity_slots()) after.push_back(g.input(slot));
  for (std::size_t k = 0; k < struck.size(); ++k) {
    const NodeId impulse = dot(inverse[k], stopped);
    const Vector response = response_of(struck[k]);
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i] = g.subtract(after[i], g.multiply(response[i], impulse));
    }
  }
  const auto a = static_cast<std::size_t>(struck.back());
  const bool is_own =
      a < system_.laws.size() && system_.laws[a].kind == model::ImpactKind::Own && !is_plastic;
  if (is_own) {
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i] = formula::substitute(g, system_.laws[a].after[i], system_.approach_slot(),
                                     g.negate(speed_[a]));
    }
  }
  Vector outputs = after;
  for (const NodeId node : after) {
    const Vector slopes = formula::gradient(g, node, state_slots());
    outputs.insert(outputs.end(), slopes.begin(), slopes.end());
  }
  reset->tape = formula::Tape(g, inputs(), {outputs});
  return *reset;
}

}  // namespace ricochet::flow
