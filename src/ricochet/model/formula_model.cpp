#include "ricochet/model/formula_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "ricochet/formula/derivative.h"

namespace ricochet::model {
namespace {

using formula::NodeId;

/// Q = force - dV/dq.
std::vector<NodeId> total_forces(FormulaSystem& system, const std::vector<int>& position_slots) {
  std::vector<NodeId> forces = system.forces;
  if (forces.empty()) forces.assign(position_slots.size(), system.graph.constant(0.0));
  if (system.potential < 0) return forces;
  const std::vector<NodeId> slopes =
      formula::gradient(system.graph, system.potential, position_slots);
  for (std::size_t i = 0; i < forces.size(); ++i) {
    forces[i] = system.graph.subtract(forces[i], slopes[i]);
  }
  return forces;
}

}  // namespace

FormulaModel::FormulaModel(FormulaSystem system)
    : coordinates_(system.coordinates), contact_names_(system.contacts), mass_(system.mass) {
  formula::Graph& graph = system.graph;
  const int n = dofs();
  std::vector<int> slots(static_cast<std::size_t>(n));  // of q, then of t
  std::iota(slots.begin(), slots.end(), system.position_slot(0));
  const std::vector<NodeId> forces = total_forces(system, slots);
  slots.push_back(FormulaSystem::kTimeSlot);

  std::vector<NodeId> slopes;  // of each gap: dg/dq, then dg/dt
  bool walls_move = false;
  for (const NodeId gap : system.gaps) {
    const std::vector<NodeId> gradient = formula::gradient(graph, gap, slots);
    slopes.insert(slopes.end(), gradient.begin(), gradient.end());
    walls_move = walls_move || !graph.is_constant(gradient.back(), 0.0);
  }

  has_potential_ = system.potential >= 0;
  const auto uses = [&](NodeId root, int first, int last) {
    return graph.depends_on(root, first, last);
  };
  const auto is_zero = [&](NodeId force) { return graph.is_constant(force, 0.0); };
  is_autonomous_ = std::all_of(system.forces.begin(), system.forces.end(), is_zero) &&
                   !walls_move && !(has_potential_ && uses(system.potential, 0, 1));
  force_uses_velocity_ = std::any_of(forces.begin(), forces.end(), [&](NodeId force) {
    return uses(force, system.velocity_slot(0), system.velocity_slot(n));
  });

  std::vector<NodeId> gaps_and_slopes = system.gaps;
  gaps_and_slopes.insert(gaps_and_slopes.end(), slopes.begin(), slopes.end());
  std::vector<NodeId> gaps_and_potential = system.gaps;
  gaps_and_potential.push_back(has_potential_ ? system.potential : graph.constant(0.0));
  gap_tape_ = formula::Tape(graph, system.inputs(), {system.gaps, slopes});
  cone_tape_ = formula::Tape(graph, system.inputs(), {gaps_and_slopes});
  end_tape_ = formula::Tape(graph, system.inputs(), {gaps_and_potential});
  force_tape_ = formula::Tape(graph, system.inputs(), {forces});
  describe(system, slopes, forces);
}

void FormulaModel::describe(const FormulaSystem& system, const std::vector<NodeId>& slopes,
                            const std::vector<NodeId>& forces) {
  constexpr int kMostNames = 12;         // longer systems are not described
  constexpr std::size_t kLongest = 300;  // characters of one formula
  const int n = dofs();
  if (n > kMostNames || contacts() > kMostNames) return;
  std::vector<std::string> names = {"t"};
  names.insert(names.end(), coordinates_.begin(), coordinates_.end());
  for (const std::string& coordinate : coordinates_) names.push_back(coordinate + "'");
  const auto text = [&](NodeId node) { return system.graph.to_text(node, names, kLongest); };
  for (std::size_t i = 0; i < coordinates_.size(); ++i) {
    derived_.push_back({"force", fmt::format("on {} = {}", coordinates_[i], text(forces[i]))});
  }
  const std::size_t stride = coordinates_.size() + 1;
  for (std::size_t a = 0; a < system.gaps.size(); ++a) {
    const std::string& contact = contact_names_[a];
    derived_.push_back({contact, fmt::format("gap = {}", text(system.gaps[a]))});
    for (std::size_t i = 0; i < stride; ++i) {
      const NodeId slope = slopes[a * stride + i];
      const std::string by = i + 1 == stride ? "t" : coordinates_[i];
      if (by == "t" && system.graph.is_constant(slope, 0.0)) continue;
      derived_.push_back({contact, fmt::format("d/d{} = {}", by, text(slope))});
    }
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

}  // namespace ricochet::model
