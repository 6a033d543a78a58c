#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/formula/derivative.h"
#include "ricochet/structure/structure_model.h"
#include "ricochet/study/inspect.h"

namespace ricochet::study {
namespace {

using formula::NodeId;
using Vec = Inspection::Vec;
using base::index;
constexpr int kAny = model::kDynamic;
using View = model::FormulaView<kAny, kAny>;

/// dU/dq, by the coordinates the gap depends on, and dU/dt, for U = dg/dq u + dg/dt: the second
/// derivatives of a gap along the motion.
void append_slopes_of_rate(model::FormulaSystem& system, int row, std::vector<NodeId>& roots) {
  formula::Graph& graph = system.graph;
  const NodeId gap = system.gaps[index(row)];
  std::vector<int> slots = graph.inputs_of(gap);
  std::erase(slots, model::FormulaSystem::kTimeSlot);
  slots.push_back(model::FormulaSystem::kTimeSlot);
  const std::vector<NodeId> slopes = formula::gradient(graph, gap, slots);
  NodeId rate = slopes.back();
  for (std::size_t e = 0; e + 1 < slots.size(); ++e) {
    const NodeId velocity = graph.input(slots[e] + system.dofs());
    rate = graph.add(rate, graph.multiply(slopes[e], velocity));
  }
  const std::vector<NodeId> second = formula::gradient(graph, rate, slots);
  roots.insert(roots.end(), second.begin(), second.end());
}

/// dU/dt without accelerations, of velocities such as slips.
void append_gammas(model::FormulaSystem& system, const std::vector<NodeId>& velocities,
                   std::vector<NodeId>& roots) {
  formula::Graph& graph = system.graph;
  for (const NodeId slip : velocities) {
    std::vector<int> slots = graph.inputs_of(slip);
    std::erase_if(slots, [&](int slot) { return slot >= system.velocity_slot(0); });
    const std::vector<NodeId> slopes = formula::gradient(graph, slip, slots);
    NodeId sum = graph.constant(0.0);
    for (std::size_t e = 0; e < slots.size(); ++e) {
      const bool is_time = slots[e] == model::FormulaSystem::kTimeSlot;
      const NodeId rate = is_time ? graph.constant(1.0) : graph.input(slots[e] + system.dofs());
      sum = graph.add(sum, graph.multiply(slopes[e], rate));
    }
    roots.push_back(sum);
  }
}

formula::Tape compile(const model::FormulaModel& model) {
  model::FormulaSystem system = model.system();
  std::vector<NodeId> roots;
  for (int a = 0; a < model.contacts() - model.rolls(); ++a)
    append_slopes_of_rate(system, a, roots);
  append_gammas(system, system.rolls, roots);
  const std::vector<NodeId> inertia = model::inertia_terms(system);
  roots.insert(roots.end(), inertia.begin(), inertia.end());
  for (int a = 0; a < model.contacts(); ++a) {
    append_gammas(system, system.slips[index(a)].velocities, roots);
  }
  return formula::Tape(system.graph, system.inputs(), {roots});
}

}  // namespace

/// What a model tells of its rows at one place.
template <class M>
class AtPlace : public Instant {
 public:
  AtPlace(const M& model, double t, const Vec& at)
      : model_(model), t_(t), place_(model.make_place()) {
    q = at;
  }

  double dot(int row, const Vec& v) const override { return place_.normals.dot(row, v); }
  double abs_dot(int row, const Vec& v) const override { return place_.normals.abs_dot(row, v); }
  double abs_sum(int row) const override { return place_.normals.abs_sum(row); }
  Vec response(int row) const override {
    Vec found = normal(row);
    model_.mass(place_).solve(normal(row), found);
    return found;
  }
  Vec half_response(int row) const override {
    Vec found = normal(row);
    model_.mass(place_).half_solve(normal(row), found);
    return found;
  }

 protected:
  void take_rows() {
    model::IndexList<kAny> rows(model_.contacts());
    for (int a = 0; a < model_.contacts(); ++a) rows.push(a);
    model_.gaps(t_, q, place_);
    model_.gradients(rows, place_);
    gap = place_.gap.head(model_.contacts());
    rate = place_.rate.head(model_.contacts());
  }

  const M& model_;
  const double t_;
  typename M::Place place_;

 private:
  Vec normal(int row) const {
    Vec found = Vec::Zero(model_.dofs());
    place_.normals.copy_to(row, found);
    return found;
  }
};

namespace {

/// A structure between two steps; the model is that of steps of no length, A = M.
class AtMotion : public AtPlace<structure::StructureModel> {
 public:
  AtMotion(const structure::StructureModel& model, const structure::Motion& state)
      : AtPlace(model, state.t, state.q) {
    take_rows();
    gamma = gamma_size = Vec::Zero(model.contacts());  // guides stand still and are linear
  }

  bool is_regular() const override { return model_.is_ready(); }
  void set_velocity(const Vec& u) override {  // a = M^-1 (f - C u - K q)
    Vec force = Vec::Zero(model_.dofs());
    model_.force(t_, q, u, place_, force);
    model_.mass(place_).solve(force, free);
  }
  std::optional<double> restitution(int row) const override { return model_.restitution(row); }
  double slack(int row) const override {
    const structure::Guide& of = model_.guide(model_.guide_at(row));
    return kInspectTolerance * std::abs(model_.side(row).is_upper ? of.upper : of.lower);
  }
};

}  // namespace

/// A model of formulas at a state.
class Inspector::AtState : public AtPlace<View> {
 public:
  AtState(const Inspector& inspector, const State& state)
      : AtPlace(inspector.view_, state.t, state.q),
        formulas_(inspector.model_),
        tape_(inspector.tape_) {
    is_regular_ = model_.load_mass(q, place_) && model_.mass(place_).is_valid();
    if (is_regular_) take_rows();
  }

  int joints() const override { return model_.joints(); }
  bool is_regular() const override { return is_regular_; }

  void set_velocity(const Vec& u) override {
    std::vector<double> registers = tape_.registers();
    registers[0] = t_;
    for (int i = 0; i < model_.dofs(); ++i) {
      registers[index(1 + i)] = q[i];
      registers[index(1 + model_.dofs() + i)] = u[i];
    }
    tape_.run(0, registers.data());
    const std::vector<std::size_t>& at = tape_.outputs(0);
    const model::Pattern& pattern = formulas_.pattern();
    gamma = gamma_size = Vec::Zero(model_.contacts());
    std::size_t next = 0;
    const auto add = [&](int a, double term) {
      gamma[a] += term;
      gamma_size[a] += std::abs(term);
    };
    for (int a = 0; a < model_.contacts(); ++a) {
      const bool has_gap = a < model_.contacts() - model_.rolls();
      for (std::size_t e = pattern.begin(a); has_gap && e < pattern.end(a); ++e) {
        add(a, registers[at[next++]] * u[pattern.coordinates[e]]);
      }
      add(a, registers[at[next++]]);
    }
    Vec force = Vec::Zero(model_.dofs());
    model_.force(t_, q, u, place_, force);
    for (int i = 0; i < model_.dofs(); ++i) force[i] -= registers[at[next++]];
    slip_gamma_.setZero(2, model_.contacts());
    for (int a = 0; a < model_.contacts(); ++a) {
      for (int j = 0; j < model_.slips(a); ++j) slip_gamma_(j, a) = registers[at[next++]];
    }
    if (formulas_.has_friction()) {
      model::IndexList<kAny> rows(model_.contacts());
      for (int a = 0; a < model_.contacts() - model_.joints(); ++a) rows.push(a);
      model_.friction(t_, q, u, rows, place_);
    }
    free = Vec::Zero(model_.dofs());
    model_.mass(place_).solve(force, free);  // a = M^-1 (Q - c)
  }

  bool exists(int row) const override { return model_.exists(row, place_); }
  std::optional<double> restitution(int row) const override {
    if (formulas_.has_laws() && !formulas_.law(row).is_plain()) return std::nullopt;
    return formulas_.restitution(row);
  }
  double slack(int row) const override { return formulas_.slack()[index(row)]; }

  int slips(int row) const override { return is_contact(row) ? model_.slips(row) : 0; }
  Vec slip_row(int row, int j) const override {
    Vec found = Vec::Zero(model_.dofs());
    place_.tangents.copy_to(View::kSlips * row + j, found);
    return found;
  }
  Vec slip_response(int row, int j) const override {
    Vec found = slip_row(row, j);
    model_.mass(place_).solve(slip_row(row, j), found);
    return found;
  }
  Vec slip_half_response(int row, int j) const override {
    Vec found = slip_row(row, j);
    model_.mass(place_).half_solve(slip_row(row, j), found);
    return found;
  }
  double slip_rate(int row, int j) const override {
    return place_.slip_rate[View::kSlips * row + j];
  }
  double slip_gamma(int row, int j) const override { return slip_gamma_(j, row); }
  double stretch(int row) const override {
    return slips(row) > 0 && !is_loaded(row) ? place_.stretch[row] : 1.0;
  }
  convex::Section section(int row, bool sticks) const override {
    return model_.section(row, sticks, place_);
  }
  bool is_loaded(int row) const override { return is_contact(row) && model_.is_loaded(row); }
  double load(int row) const override { return place_.stretch[row]; }
  std::vector<int> holds(int row) const override {
    return is_loaded(row) ? model_.holds(row) : std::vector<int>{};
  }

 private:
  bool is_contact(int row) const { return row < model_.contacts() - model_.joints(); }
  const model::FormulaModel& formulas_;
  const formula::Tape& tape_;
  bool is_regular_{false};
  Eigen::MatrixXd slip_gamma_;  // by direction and row
};

Inspector::Inspector(const model::FormulaModel& model)
    : model_(model), view_(model), tape_(compile(model)) {}

Inspection Inspector::at(const State& state, double step) const {
  AtState instant(*this, state);
  Inspection found = inspect(instant, state.u, step);
  found.state = state;
  return found;
}

Inspection inspect_structure(const structure::LinearStructure& structure,
                             const structure::Motion& state, double step) {
  const structure::StructureModel model(structure, 0.0, false);
  AtMotion instant(model, state);
  Inspection found = inspect(instant, state.u, step);
  found.state.t = state.t;
  found.state.q = state.q;
  found.state.u = state.u;
  for (Vec* v : {&found.state.q, &found.state.u, &found.right_velocity, &found.free_acceleration,
                 &found.acceleration}) {
    if (v->size() > 0) *v = structure.at_points(*v);
  }
  for (ActiveRow& row : found.active) row.generator = structure.at_points(row.generator);
  for (CornerLimit& limit : found.corner.limits) {
    limit.velocity = structure.at_points(limit.velocity);
  }
  return found;
}

}  // namespace ricochet::study
