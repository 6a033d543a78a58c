#include <algorithm>
#include <cmath>

#include "ricochet/formula/derivative.h"
#include "ricochet/study/inspect.h"

namespace ricochet::study {
namespace {

using formula::NodeId;
using Vec = Inspection::Vec;
constexpr int kAny = model::kDynamic;
using View = model::FormulaView<kAny, kAny>;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

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

formula::Tape compile(const model::FormulaModel& model) {
  model::FormulaSystem system = model.system();
  std::vector<NodeId> roots;
  for (int a = 0; a < model.contacts(); ++a) append_slopes_of_rate(system, a, roots);
  const std::vector<NodeId> inertia = model::inertia_terms(system);
  roots.insert(roots.end(), inertia.begin(), inertia.end());
  return formula::Tape(system.graph, system.inputs(), {roots});
}

/// A structure between two steps.
class AtMotion : public Instant {
 public:
  AtMotion(const structure::LinearStructure& structure, const structure::Motion& state)
      : structure_(structure), t_(state.t), sides_(structure::sides_of(structure)) {
    q = state.q;
    is_regular_ = mass_.factor(structure.mass);
    const auto rows = static_cast<Eigen::Index>(sides_.size());
    gap.resize(rows);
    for (std::size_t a = 0; a < sides_.size(); ++a) {
      gap[static_cast<Eigen::Index>(a)] = sides_[a].gap(guide(a), value(a, q));
    }
    rate = gamma = gamma_size = Vec::Zero(rows);  // guides stand still and are linear
  }

  bool is_regular() const override { return is_regular_; }

  void set_velocity(const Vec& u) override {  // a = M^-1 (f - C u - K q)
    const structure::LinearStructure& s = structure_;
    std::vector<double> registers = s.load_tape.registers();
    Vec loads = Vec::Zero(static_cast<Eigen::Index>(s.loads.size()));
    s.load_values(t_, registers, loads);
    free = Vec::Zero(s.size());
    for (std::size_t k = 0; k < s.loads.size(); ++k) {
      const structure::Load& load = s.loads[k];
      load.row.add_to(loads[static_cast<Eigen::Index>(k)], free.data() + load.plane * s.dofs);
    }
    Vec scratch = Vec::Zero(s.scratch_size());
    s.add_damping(-1.0, u.data(), scratch.data(), free.data());
    s.add_stiffness(-1.0, q.data(), scratch.data(), free.data());
    for (int p = 0; p < s.planes; ++p) mass_.solve(free.data() + p * s.dofs);
  }

  double slack(int row) const override {
    const structure::Guide& of = guide(index(row));
    return kInspectTolerance * std::abs(sides_[index(row)].is_upper ? of.upper : of.lower);
  }
  double dot(int row, const Vec& v) const override { return sign(row) * value(index(row), v); }
  double abs_dot(int row, const Vec& v) const override {
    const structure::Guide& of = guide(index(row));
    const double* const at = v.data() + of.plane * structure_.dofs + of.row.first;
    double sum = 0.0;
    for (std::size_t k = 0; k < of.row.value.size(); ++k) sum += std::abs(of.row.value[k] * at[k]);
    return sum;
  }
  double abs_sum(int row) const override {
    double sum = 0.0;
    for (const double value : guide(index(row)).row.value) sum += std::abs(value);
    return sum;
  }
  Vec response(int row) const override {
    Vec found = normal(row);
    mass_.solve(found.data() + guide(index(row)).plane * structure_.dofs);
    return found;
  }
  Vec half_response(int row) const override {
    Vec found = normal(row);
    mass_.half_solve(found.data() + guide(index(row)).plane * structure_.dofs);
    return found;
  }

 private:
  const structure::Guide& guide(std::size_t row) const {
    return structure_.guides[sides_[row].guide];
  }
  double value(std::size_t row, const Vec& v) const {
    return structure_.value_at(guide(row).row, guide(row).plane, v.data());
  }
  double sign(int row) const { return sides_[index(row)].is_upper ? -1.0 : 1.0; }
  Vec normal(int row) const {
    Vec found = Vec::Zero(structure_.size());
    const structure::Guide& of = guide(index(row));
    of.row.add_to(sign(row), found.data() + of.plane * structure_.dofs);
    return found;
  }

  const structure::LinearStructure& structure_;
  const double t_;
  std::vector<structure::ContactSide> sides_;
  structure::BandFactor mass_;
  bool is_regular_{false};
};

}  // namespace

/// A model of formulas at a state.
class Inspector::AtState : public Instant {
 public:
  AtState(const Inspector& inspector, const State& state)
      : model_(inspector.model_),
        view_(inspector.view_),
        tape_(inspector.tape_),
        t_(state.t),
        place_(view_.make_place()) {
    q = state.q;
    is_regular_ = view_.load_mass(q, place_) && view_.mass(place_).is_valid();
    if (!is_regular_) return;
    model::IndexList<kAny> rows(model_.contacts());
    for (int a = 0; a < model_.contacts(); ++a) rows.push(a);
    view_.gaps(t_, q, place_);
    view_.gradients(rows, place_);
    gap = place_.gap.head(model_.contacts());
    rate = place_.rate.head(model_.contacts());
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
    const model::Pattern& pattern = model_.pattern();
    gamma = gamma_size = Vec::Zero(model_.contacts());
    std::size_t next = 0;
    const auto add = [&](int a, double term) {
      gamma[a] += term;
      gamma_size[a] += std::abs(term);
    };
    for (int a = 0; a < model_.contacts(); ++a) {
      for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
        add(a, registers[at[next++]] * u[pattern.coordinates[e]]);
      }
      add(a, registers[at[next++]]);
    }
    Vec force = Vec::Zero(model_.dofs());
    view_.force(t_, q, u, place_, force);
    for (int i = 0; i < model_.dofs(); ++i) force[i] -= registers[at[next++]];
    free = Vec::Zero(model_.dofs());
    view_.mass(place_).solve(force, free);  // a = M^-1 (Q - c)
  }

  bool exists(int row) const override { return view_.exists(row, place_); }
  double slack(int row) const override { return model_.slack()[index(row)]; }
  double dot(int row, const Vec& v) const override { return place_.normals.dot(row, v); }
  double abs_dot(int row, const Vec& v) const override { return place_.normals.abs_dot(row, v); }
  double abs_sum(int row) const override { return place_.normals.abs_sum(row); }
  Vec response(int row) const override {
    Vec normal = Vec::Zero(model_.dofs());
    Vec found = normal;
    place_.normals.copy_to(row, normal);
    view_.mass(place_).solve(normal, found);
    return found;
  }
  Vec half_response(int row) const override {
    Vec normal = Vec::Zero(model_.dofs());
    Vec found = normal;
    place_.normals.copy_to(row, normal);
    view_.mass(place_).half_solve(normal, found);
    return found;
  }

 private:
  const model::FormulaModel& model_;
  const View& view_;
  const formula::Tape& tape_;
  const double t_;
  View::Place place_;
  bool is_regular_{false};
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
  AtMotion instant(structure, state);
  Inspection found = inspect(instant, state.u, step);
  found.state.t = state.t;
  found.state.q = state.q;
  found.state.u = state.u;
  for (Vec* v : {&found.state.q, &found.state.u, &found.right_velocity, &found.free_acceleration,
                 &found.acceleration}) {
    if (v->size() > 0) *v = structure.at_points(*v);
  }
  for (ActiveRow& row : found.active) row.generator = structure.at_points(row.generator);
  return found;
}

}  // namespace ricochet::study
