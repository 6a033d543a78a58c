#include "ricochet/model/flight.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "ricochet/model/forces.h"

namespace ricochet::model {
namespace {

using formula::NodeId;
using formula::Op;

constexpr int kMostDofs = 12;
constexpr double kMostDegree = 6.0;

/// The degree in inputs, sines and cosines; infinite where there is another function.
double degree_of(const formula::Graph& graph, NodeId root) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::unordered_map<NodeId, double> degrees;
  for (const NodeId id : graph.reachable({root})) {
    const formula::Node& node = graph[id];
    const auto of = [&](std::size_t k) { return degrees.at(node.operands[k]); };
    double& degree = degrees[id];
    switch (node.op) {
      case Op::Constant: degree = 0.0; break;
      case Op::Input: degree = 1.0; break;
      case Op::Negate: degree = of(0); break;
      case Op::Add:
      case Op::Subtract: degree = std::max(of(0), of(1)); break;
      case Op::Multiply: degree = of(0) + of(1); break;
      case Op::Divide: degree = of(1) == 0.0 ? of(0) : kNone; break;
      case Op::Sin:
      case Op::Cos: degree = of(0) <= 1.0 ? 1.0 : kNone; break;
      default: degree = kNone;
    }
  }
  return degrees.at(root);
}

}  // namespace

bool has_flights(const FormulaModel& model) {
  if (model.outside() != nullptr || !model.has_constant_mass() || model.joints() > 0 ||
      model.has_friction() || model.dofs() > kMostDofs) {
    return false;
  }
  FormulaSystem system = model.system();
  const std::vector<NodeId> forces = total_forces(system);
  return std::all_of(forces.begin(), forces.end(),
                     [&](NodeId force) { return degree_of(system.graph, force) <= kMostDegree; });
}

Flight::Flight(const FormulaModel& model) {
  if (!has_flights(model)) return;
  n_ = model.dofs();
  FormulaSystem system = model.system();
  formula::Graph& graph = system.graph;
  const std::vector<NodeId> forces = total_forces(system);
  std::vector<NodeId> accelerations(forces.size(), graph.constant(0.0));
  for (int j = 0; j < n_; ++j) {
    Vector<kDynamic> column(n_);
    system.mass.solve(Vector<kDynamic>::Unit(n_, j), column);
    for (int i = 0; i < n_; ++i) {
      NodeId& sum = accelerations[static_cast<std::size_t>(i)];
      sum = graph.add(
          sum, graph.multiply(graph.constant(column[i]), forces[static_cast<std::size_t>(j)]));
    }
  }
  std::vector<formula::Jet::Rate> rates = {{FormulaSystem::kTimeSlot, graph.constant(1.0)}};
  for (int i = 0; i < n_; ++i) {
    rates.push_back({system.position_slot(i), graph.input(system.velocity_slot(i))});
    rates.push_back({system.velocity_slot(i), accelerations[static_cast<std::size_t>(i)]});
  }
  jet_ = formula::Jet(graph, system.inputs(), rates, {});
  series_ = jet_.coefficients();
}

double Flight::open(double t, const double* q, const double* u, double accuracy) {
  const auto slot = [&](int index) {
    return series_.data() + static_cast<std::size_t>(index) * formula::Jet::kStride;
  };
  *slot(0) = t;
  for (int i = 0; i < n_; ++i) {
    *slot(1 + i) = q[i];
    *slot(1 + n_ + i) = u[i];
  }
  jet_.expand(series_.data(), nullptr);
  return std::exp2(std::min(formula::Jet::reach(row(1), n_, accuracy),
                            formula::Jet::reach(row(1 + n_), n_, accuracy)));
}

bool Flight::is_short() const {
  for (int i = 0; i < n_; ++i) {
    if (std::any_of(positions(i) + 6, positions(i) + formula::Jet::kStride,
                    [](double c) { return c != 0.0; })) {
      return false;
    }
  }
  return true;
}

double Flight::acceleration(int i, double s) const {
  const double* const u = row(1 + n_ + i);
  double sum = 0.0;
  for (int k = formula::Jet::kOrder; k > 0; --k) sum = sum * s + k * u[k];
  return sum;
}

}  // namespace ricochet::model
