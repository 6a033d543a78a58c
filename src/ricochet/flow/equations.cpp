#include "ricochet/flow/equations.h"

#include <algorithm>
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
  for (int a = 0; model.has_friction() && a < model.contacts(); ++a) {
    const model::Slip& slip = model.slip(a);
    const model::FrictionKind kind = slip.friction.kind;
    const bool is_known = kind == model::FrictionKind::None ||
                          kind == model::FrictionKind::Isotropic ||
                          kind == model::FrictionKind::StaticDynamic;
    if (slip.velocities.size() < 2 && slip.holds.empty() && slip.restitution == 0.0 && is_known) {
      continue;
    }
    refuse("contact.friction",
           "arcs between impacts have friction in the plane, with one coefficient or a static and "
           "a dynamic one",
           "state the friction so, or run a stepping scheme");
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
  derive_grips();
  derive_contacts();
}

bool Equations::is_load(int row) const {
  return std::any_of(grips_.begin(), grips_.end(),
                     [&](const Grip& grip) { return grip.row == row && grip.load >= 0; });
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

Equations::Vector Equations::times(const Matrix& matrix, const Vector& b) {
  Vector product;
  for (const Vector& line : matrix) product.push_back(dot(line, b));
  return product;
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
  for (const Grip& grip : grips_) {
    const Vector second = formula::gradient(g, grip.velocity, system_.position_slots());
    const NodeId more = g.subtract(grip.still, coefficient(grip, 1));
    outputs.insert(outputs.end(), {g.constant(0.0), grip.velocity, more});
    for (const Vector& part : {grip.slopes, second, times(inverse_mass_, grip.slopes)}) {
      outputs.insert(outputs.end(), part.begin(), part.end());
    }
    outputs.push_back(g.add(dot(grip.slopes, free_), grip.bend));
  }
  contact_tape_ = formula::Tape(g, inputs(), {outputs});
}

/// M^-1 J^T.
Equations::Vector Equations::response_of(int row) {
  return times(inverse_mass_, J_[static_cast<std::size_t>(row)]);
}

void Equations::derive_grips() {
  formula::Graph& g = graph();
  Vector velocity;
  for (const int slot : system_.velocity_slots()) velocity.push_back(g.input(slot));
  std::vector<int> slots = system_.position_slots();
  slots.push_back(model::FormulaSystem::kTimeSlot);
  for (std::size_t a = 0; a < system_.slips.size(); ++a) {
    const model::Slip& slip = system_.slips[a];
    if (slip.velocities.empty() || slip.friction.kind == model::FrictionKind::None) continue;
    Grip grip{static_cast<int>(a), slip.velocities[0], -1, slip.load, -1, -1, {}, slip.friction};
    grip.slopes = formula::gradient(g, grip.velocity, system_.velocity_slots());
    Vector slopes = formula::gradient(g, grip.velocity, slots);
    grip.bend = slopes.back();
    slopes.pop_back();
    grip.bend = g.add(grip.bend, dot(slopes, velocity));
    if (slip.normal >= 0) {  // dg/dq = scale d(normal velocity)/du
      const Vector J = formula::gradient(g, system_.gaps[a], system_.position_slots());
      const Vector K = formula::gradient(g, slip.normal, system_.velocity_slots());
      grip.scale = g.divide(dot(J, K), dot(K, K));
    }
    grips_.push_back(std::move(grip));
    grips_.back().still = coefficient(grips_.back(), 0);
  }
}

/// What friction holds for a reaction of 1, or the bound of a load's force; the speed of sliding is
/// s V.
NodeId Equations::coefficient(const Grip& grip, int state) {
  formula::Graph& g = graph();
  const bool two = grip.law.kind == model::FrictionKind::StaticDynamic;
  const NodeId node = grip.law.coefficients[two && state != 0 ? 1 : 0];
  const NodeId pressed = grip.load < 0 ? grip.scale : grip.load;
  const NodeId whole = pressed < 0 ? node : g.multiply(node, pressed);
  const NodeId speed = g.multiply(g.constant(state), grip.velocity);
  return formula::replace(g, whole, g.make(formula::Op::Abs, grip.velocity), speed);
}

Equations::Vector Equations::slipping(const Grip& grip, int state) {
  formula::Graph& g = graph();
  Vector column = J_[static_cast<std::size_t>(grip.row)];
  const NodeId mu = g.multiply(g.constant(-state), coefficient(grip, state));
  for (std::size_t i = 0; i < column.size(); ++i) {
    column[i] = g.add(column[i], g.multiply(mu, grip.slopes[i]));
  }
  return column;
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

/// du/dt with these rows held and grips that stick or slip, and what holds them.
void Equations::solve(const Rows& rows, Pushes& pushes) {
  formula::Graph& g = graph();
  pushes.free = free_;
  for (const int one : rows) {
    if (one < this->rows()) {
      const auto row = static_cast<std::size_t>(one);
      pushes.gradients.push_back(J_[row]);
      pushes.bends.push_back(bend_[row]);
      pushes.columns.push_back(J_[row]);
      continue;
    }
    const Grip& grip = grips_[static_cast<std::size_t>(grip_of(one))];
    const int state = state_of(one);
    if (state == 0) {
      pushes.gradients.push_back(grip.slopes);
      pushes.bends.push_back(grip.bend);
      pushes.columns.push_back(grip.slopes);
    } else if (grip.load < 0) {
      const auto place = std::find(rows.begin(), rows.end(), grip.row) - rows.begin();
      pushes.columns[static_cast<std::size_t>(place)] = slipping(grip, state);
    } else {
      const NodeId force = g.multiply(g.constant(-state), coefficient(grip, state));
      const Vector response = times(inverse_mass_, grip.slopes);
      for (std::size_t i = 0; i < response.size(); ++i) {
        pushes.free[i] = g.add(pushes.free[i], g.multiply(force, response[i]));
      }
    }
  }
  Matrix responses, W;
  for (const Vector& column : pushes.columns) responses.push_back(times(inverse_mass_, column));
  for (const Vector& gradient : pushes.gradients) W.push_back(times(responses, gradient));
  const Matrix inverse = invert(W);
  Vector rest;
  for (std::size_t k = 0; k < pushes.bends.size(); ++k) {
    rest.push_back(g.add(dot(pushes.gradients[k], pushes.free), pushes.bends[k]));
  }
  pushes.acceleration = pushes.free;
  for (std::size_t k = 0; k < rest.size(); ++k) {
    pushes.reactions.push_back(g.negate(dot(inverse[k], rest)));
    for (std::size_t i = 0; i < pushes.acceleration.size(); ++i) {
      pushes.acceleration[i] =
          g.add(pushes.acceleration[i], g.multiply(responses[k][i], pushes.reactions[k]));
    }
  }
  add_functions(rows, pushes);
}

/// What a grip is watched by, and what tells whether it does what it does.
void Equations::add_functions(const Rows& rows, Pushes& pushes) {
  formula::Graph& g = graph();
  std::size_t unknown = 0;
  for (const int one : rows) unknown += one < this->rows() ? 1 : 0;
  for (const int one : rows) {
    if (one < this->rows()) continue;
    const Grip& grip = grips_[static_cast<std::size_t>(grip_of(one))];
    const int state = state_of(one);
    if (state != 0) {
      const NodeId sign = g.constant(state);
      pushes.functions.push_back({g.multiply(sign, grip.velocity)});
      const NodeId rate = g.add(dot(grip.slopes, pushes.acceleration), grip.bend);
      pushes.holding.push_back(g.multiply(sign, rate));
      continue;
    }
    const NodeId pulled = pushes.reactions[unknown++];
    NodeId most = grip.still;
    if (grip.load < 0) {
      const auto place = std::find(rows.begin(), rows.end(), grip.row) - rows.begin();
      most = g.multiply(most, pushes.reactions[static_cast<std::size_t>(place)]);
    }
    pushes.functions.push_back({g.subtract(most, pulled), g.add(most, pulled)});
    for (const NodeId margin : pushes.functions.back()) pushes.holding.push_back(margin);
  }
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
  Pushes pushes;
  solve(held, pushes);
  const Vector& acceleration = pushes.acceleration;
  std::vector<formula::Jet::Rate> rates = {{model::FormulaSystem::kTimeSlot, g.constant(1.0)}};
  for (int i = 0; i < n_; ++i) {
    rates.push_back({system_.position_slot(i), g.input(system_.velocity_slot(i))});
    rates.push_back({system_.velocity_slot(i), acceleration[static_cast<std::size_t>(i)]});
  }
  if (with_variations_) add_variations(acceleration, rates);
  Vector seen = system_.gaps;
  const auto contacts = std::count_if(held.begin(), held.end(), [&](int a) { return a < rows(); });
  seen.insert(seen.end(), pushes.reactions.begin(), pushes.reactions.begin() + contacts);
  seen.insert(seen.end(), watched_.begin(), watched_.end());
  Vector slopes, turns;
  const auto add_slopes = [&](NodeId node, Vector& list) {
    const Vector slope = formula::gradient(g, node, state_slots());
    list.insert(list.end(), slope.begin(), slope.end());
  };
  for (const Vector& functions : pushes.functions) {
    for (const NodeId node : functions) {
      seen.push_back(node);
      add_slopes(node, turns);
    }
  }
  mode->jet = formula::Jet(g, jet_inputs(), rates, seen);
  mode->acceleration = formula::Tape(g, inputs(), {acceleration});
  for (const auto& [a, b] : mode->jet.switch_nodes()) {
    add_slopes(b < 0 ? a : g.subtract(a, b), slopes);
  }
  mode->switching = formula::Tape(g, inputs(), {slopes});
  mode->holding = formula::Tape(g, inputs(), {pushes.holding});
  mode->letting_go = formula::Tape(g, inputs(), {turns});
  return *mode;
}

const Reset& Equations::reset(const Rows& struck, bool is_plastic) {
  std::unique_ptr<Reset>& reset = resets_[{struck, is_plastic}];
  if (reset) return *reset;
  reset = std::make_unique<Reset>();
  formula::Graph& g = graph();
  Matrix gradients, responses, W;
  Vector stopped;  // what impulses take off the velocities of contacts
  for (const int a : struck) {
    if (a >= rows()) {
      const Grip& grip = grips_[static_cast<std::size_t>(grip_of(a))];
      if (state_of(a) != 0) {
        responses.back() = times(inverse_mass_, slipping(grip, state_of(a)));
        continue;
      }
      gradients.push_back(grip.slopes);
      responses.push_back(times(inverse_mass_, grip.slopes));
      stopped.push_back(grip.velocity);
      continue;
    }
    const NodeId e = is_plastic ? g.constant(0.0) : restitution_of(a);
    const NodeId U = speed_[static_cast<std::size_t>(a)];
    gradients.push_back(J_[static_cast<std::size_t>(a)]);
    responses.push_back(response_of(a));
    stopped.push_back(g.multiply(g.add(g.constant(1.0), e), U));
  }
  for (const Vector& gradient : gradients) W.push_back(times(responses, gradient));
  const Matrix inverse = invert(W);
  Vector after, impulses;
  for (const int slot : system_.velocity_slots()) after.push_back(g.input(slot));
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    impulses.push_back(g.negate(dot(inverse[k], stopped)));
    for (std::size_t i = 0; i < after.size(); ++i) {
      after[i] = g.add(after[i], g.multiply(responses[k][i], impulses[k]));
    }
  }
  const auto a = static_cast<std::size_t>(struck.back());
  const bool is_own = a < static_cast<std::size_t>(rows()) && a < system_.laws.size() &&
                      system_.laws[a].kind == model::ImpactKind::Own && !is_plastic;
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
  if (struck.back() >= rows()) add_grip_outputs(struck, after, impulses, outputs);
  reset->tape = formula::Tape(g, inputs(), {outputs});
  return *reset;
}

/// Of a grip in an impact s V+, or both margins of its impulse: negative, it does otherwise.
void Equations::add_grip_outputs(const Rows& struck, const Vector& after, const Vector& impulses,
                                 Vector& outputs) {
  formula::Graph& g = graph();
  const int state = state_of(struck.back());
  const Grip& grip = grips_[static_cast<std::size_t>(grip_of(struck.back()))];
  if (state == 0) {
    const NodeId most = g.multiply(coefficient(grip, 1), impulses[0]);
    outputs.push_back(g.subtract(most, impulses[1]));
    outputs.push_back(g.add(most, impulses[1]));
    return;
  }
  Vector change = after;
  for (std::size_t i = 0; i < change.size(); ++i) {
    change[i] = g.subtract(after[i], g.input(system_.velocity_slot(static_cast<int>(i))));
  }
  const NodeId speed = g.add(grip.velocity, dot(grip.slopes, change));
  outputs.push_back(g.multiply(g.constant(state), speed));
}

}  // namespace ricochet::flow
