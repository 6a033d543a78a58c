#include "ricochet/scene/closed_form.h"

#include <cmath>

#include "ricochet/formula/derivative.h"

namespace ricochet::scene {

using formula::NodeId;
using formula::Op;

ClosedForm::ClosedForm(formula::Graph& graph, const std::vector<NodeId>& positions, int time_slot)
    : time_slot_(time_slot), size_(static_cast<int>(positions.size())) {
  std::vector<NodeId> velocities;
  for (const NodeId q : positions) {
    velocities.push_back(formula::gradient(graph, q, {time_slot}).at(0));
  }
  std::vector<NodeId> roots = positions;
  roots.insert(roots.end(), velocities.begin(), velocities.end());
  for (const NodeId node : graph.reachable(velocities)) {
    const Op op = graph[node].op;
    if (op == Op::Less || op == Op::LessEqual || op == Op::Sign) roots.push_back(node);
  }
  tape_ = formula::Tape(graph, time_slot + 1, {roots});
}

void ClosedForm::at(double t, std::vector<double>& registers, double* q, double* u) const {
  registers[static_cast<std::size_t>(time_slot_)] = t;
  tape_.run(0, registers.data());
  const std::vector<std::size_t>& outputs = tape_.outputs(0);
  const auto n = static_cast<std::size_t>(size_);
  for (std::size_t i = 0; i < n; ++i) {
    q[i] = registers[outputs[i]];
    u[i] = registers[outputs[n + i]];
  }
}

std::vector<double> ClosedForm::branches_at(double t, std::vector<double>& registers) const {
  registers[static_cast<std::size_t>(time_slot_)] = t;
  tape_.run(0, registers.data());
  const std::vector<std::size_t>& outputs = tape_.outputs(0);
  std::vector<double> branches;
  for (std::size_t k = 2 * static_cast<std::size_t>(size_); k < outputs.size(); ++k) {
    const double branch = registers[outputs[k]];
    constexpr double kNone = 2.0;  // no value is a branch of its own, equal to itself
    branches.push_back(std::isnan(branch) ? kNone : branch);
  }
  return branches;
}

void ClosedForm::add_switches(double from, double to, std::vector<double>& registers,
                              std::vector<Switch>& found) const {
  const std::vector<double> last = branches_at(to, registers);
  std::vector<double> first = branches_at(from, registers);
  while (first != last && found.size() < kMostSwitches) {
    // Halved until no number lies between: `before` has the branches of `from`, `after` others.
    double before = from;
    double after = to;
    for (double middle = 0.5 * (before + after); before < middle && middle < after;
         middle = 0.5 * (before + after)) {
      (branches_at(middle, registers) == first ? before : after) = middle;
    }
    found.push_back({before, after});
    from = after;
    first = branches_at(from, registers);
    if (from >= to) break;
  }
}

std::vector<ClosedForm::Switch> ClosedForm::switches(double from, double to,
                                                     long long samples) const {
  std::vector<Switch> found;
  if (tape_.outputs(0).size() == 2 * static_cast<std::size_t>(size_)) return found;
  std::vector<double> registers = tape_.registers();
  double last = from;
  for (long long k = 1; k <= samples; ++k) {
    const double part = static_cast<double>(k) / static_cast<double>(samples);
    const double now = k == samples ? to : from + (to - from) * part;
    add_switches(last, now, registers, found);
    last = now;
  }
  return found;
}

}  // namespace ricochet::scene
