#include "ricochet/study/inspect.h"

#include <algorithm>
#include <cmath>

#include "ricochet/convex/dense.h"
#include "ricochet/formula/derivative.h"
#include "ricochet/problem/unilateral.h"
#include "ricochet/solve/unilateral.h"

namespace ricochet::study {
namespace {

using formula::NodeId;
using Vec = model::Vector<model::kDynamic>;

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

/// p >= 0, U = A^T A p + b >= 0, p . U = 0, joints U = 0. What is rounding of b is no push.
problem::Report find_multipliers(const problem::Unilateral& rows, Vec& p) {
  solve::UnilateralSolver solver;
  problem::Report report = solver.solve(rows);
  if (report.status == problem::Status::Degenerate) report.status = problem::Status::Infeasible;
  p = Vec::Zero(rows.count);
  if (report.status != problem::Status::Solved) return report;
  for (Eigen::Index k = 0; k < rows.count; ++k) {
    const double push = std::abs(solver.impulse(k)) * rows.factor.col(k).squaredNorm();
    if (push > rows.noise[k]) p[k] = solver.impulse(k);
  }
  return report;
}

/// Whether the columns are linearly independent: else other multipliers do as well.
bool are_independent(Eigen::MatrixXd columns) {
  if (columns.cols() == 0) return true;
  if (columns.cols() > columns.rows()) return false;
  for (Eigen::Index j = 0; j < columns.cols(); ++j) {
    const double length = columns.col(j).norm();
    if (!(length > 0.0)) return false;
    columns.col(j) /= length;
  }
  return convex::rank_of(columns, Inspector::kRounding) == columns.cols();
}

}  // namespace

std::string name_of(Standing standing) {
  switch (standing) {
    case Standing::Pushing: return "pushing";
    case Standing::Touching: return "touching";
    case Standing::Opening: return "opening";
    case Standing::Leaving: return "leaving";
    case Standing::Penetrating: return "penetrating";
    case Standing::Held: return "held";
  }
  return "";
}

/// One inspection under way.
struct Inspector::Work {
  Inspection found;
  View::Place place;
  Vec free;        // a
  Vec gamma;       // by row: d2g/dt2 along the motion, without J q''
  Vec gamma_size;  // sum of the sizes of its terms
  Vec normal;
  Vec response;
  Eigen::MatrixXd factor;  // A = L^-1 J^T, a column for each active row

  void fail(problem::Status status) {
    if (found.status == problem::Status::Solved) found.status = status;
  }
};

Inspector::Inspector(const model::FormulaModel& model)
    : model_(model), view_(model), tape_(compile(model)) {}

Inspection Inspector::at(const State& state, double step) const {
  Work work{};
  work.found.state = state;
  work.found.step = step;
  work.found.right_velocity = state.u;
  work.place = view_.make_place();
  work.free = work.normal = work.response = Vec::Zero(model_.dofs());
  const bool regular = view_.load_mass(state.q, work.place);
  if (!regular || !view_.mass(work.place).is_valid()) {
    work.fail(problem::Status::SingularMass);
    return work.found;
  }
  evaluate(state.u, work);  // gaps, J, dg/dt, gamma, a
  find_active(step, work);  // A = { a : g_a <= 0 }
  if (!is_finite(work)) {
    work.fail(problem::Status::Degenerate);
    return work.found;
  }
  meet_shock(work);  // u in V, else prox(V, u)
  if (!work.found.ok()) return work.found;
  if (!work.found.in_tangent_cone) evaluate(work.found.right_velocity, work);
  apply_gauss(work);  // q'' = nearest admissible to a
  judge_rows(work);
  return work.found;
}

/// Everything that depends on the velocity, at the velocity u.
void Inspector::evaluate(const Vec& u, Work& work) const {
  const State& state = work.found.state;
  model::IndexList<model::kDynamic> rows(model_.contacts());
  for (int a = 0; a < model_.contacts(); ++a) rows.push(a);
  view_.gaps(state.t, state.q, work.place);
  view_.gradients(rows, work.place);
  std::vector<double> registers = tape_.registers();
  registers[0] = state.t;
  for (int i = 0; i < model_.dofs(); ++i) {
    registers[index(1 + i)] = state.q[i];
    registers[index(1 + model_.dofs() + i)] = u[i];
  }
  tape_.run(0, registers.data());
  const std::vector<std::size_t>& at = tape_.outputs(0);
  const model::Pattern& pattern = model_.pattern();
  work.gamma = work.gamma_size = Vec::Zero(model_.contacts());
  std::size_t next = 0;
  const auto add = [&](int a, double term) {
    work.gamma[a] += term;
    work.gamma_size[a] += std::abs(term);
  };
  for (int a = 0; a < model_.contacts(); ++a) {
    for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
      add(a, registers[at[next++]] * u[pattern.coordinates[e]]);
    }
    add(a, registers[at[next++]]);
  }
  view_.force(state.t, state.q, u, work.place, work.normal);
  for (int i = 0; i < model_.dofs(); ++i) work.normal[i] -= registers[at[next++]];
  view_.mass(work.place).solve(work.normal, work.free);  // a = M^-1 (Q - c)
  work.found.free_acceleration = work.free;
}

/// Contacts that touch and all joints. At an exact state a gap counts as closed up to kTolerance of
/// the size of its terms; after steps of length h also up to what it may change in one,
/// h |U| + h^2/2 (|J| |a| + |gamma|), and its rate U counts as 0 up to h (|J| |a| + |gamma|).
void Inspector::find_active(double step, Work& work) const {
  const State& state = work.found.state;
  const auto& normals = work.place.normals;
  const int contacts = model_.contacts() - model_.joints();
  for (int a = 0; a < model_.contacts(); ++a) {
    ActiveRow row;
    row.row = a;
    row.is_joint = a >= contacts;
    row.gap = work.place.gap[a];
    row.velocity = normals.dot(a, state.u) + work.place.rate[a];
    const double change = normals.abs_dot(a, work.free) + work.gamma_size[a];
    const double reach = state.q.size() > 0 ? state.q.cwiseAbs().maxCoeff() : 0.0;
    row.gap_tolerance =
        std::max(model_.slack()[index(a)], kTolerance * normals.abs_sum(a) * reach) +
        step * std::abs(row.velocity) + 0.5 * step * step * change;
    row.velocity_tolerance =
        kTolerance * (normals.abs_dot(a, state.u) + std::abs(work.place.rate[a])) + step * change;
    const bool touches = row.gap <= row.gap_tolerance && view_.exists(a, work.place);
    if (!row.is_joint && !touches) continue;
    normals.copy_to(a, work.normal);
    view_.mass(work.place).solve(work.normal, work.response);
    row.generator = -work.response;
    work.found.active.push_back(std::move(row));
  }
  work.factor.resize(model_.dofs(), static_cast<Eigen::Index>(work.found.active.size()));
  for (std::size_t k = 0; k < work.found.active.size(); ++k) {
    normals.copy_to(work.found.active[k].row, work.normal);
    view_.mass(work.place).half_solve(work.normal, work.response);
    work.factor.col(static_cast<Eigen::Index>(k)) = work.response;
  }
}

bool Inspector::is_finite(const Work& work) {
  bool finite = work.free.allFinite();
  for (const ActiveRow& row : work.found.active) {
    finite = finite && row.generator.allFinite() && std::isfinite(work.gamma[row.row]) &&
             std::isfinite(row.velocity);
  }
  return finite;
}

/// U at the right velocity.
double Inspector::right_rate(const ActiveRow& row, const Work& work) {
  return work.place.normals.dot(row.row, work.found.right_velocity) + work.place.rate[row.row];
}

/// Where u is not in V: prox(V, u) = u + M^-1 J^T p, p >= 0.          [Moreau 1986 (8.1)]
void Inspector::meet_shock(Work& work) const {
  std::vector<ActiveRow>& active = work.found.active;
  const Vec& u = work.found.state.u;
  for (const ActiveRow& row : active) {
    const double into = row.is_joint ? -std::abs(row.velocity) : row.velocity;
    work.found.in_tangent_cone = work.found.in_tangent_cone && into >= -row.velocity_tolerance;
  }
  if (work.found.in_tangent_cone) return;
  const auto count = static_cast<Eigen::Index>(active.size());
  problem::Unilateral rows{model_.dofs(), count,      model_.joints(),
                           work.factor,   Vec(count), Vec(count)};
  for (std::size_t k = 0; k < active.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    rows.free[at] = active[k].velocity;
    rows.noise[at] = kRounding * (work.place.normals.abs_dot(active[k].row, u) +
                                  std::abs(work.place.rate[active[k].row]));
  }
  Vec impulses;
  work.found.shock = find_multipliers(rows, impulses);
  work.fail(work.found.shock.status);
  for (std::size_t k = 0; k < active.size(); ++k) {
    active[k].impulse = impulses[static_cast<Eigen::Index>(k)];
    work.found.right_velocity -= active[k].impulse * active[k].generator;
  }
  std::vector<Eigen::Index> closed;  // rows that may have an impulse
  for (std::size_t k = 0; k < active.size(); ++k) {
    const double U = right_rate(active[k], work);
    if (U <= active[k].velocity_tolerance) closed.push_back(static_cast<Eigen::Index>(k));
  }
  work.found.shock.unique = are_independent(work.factor(Eigen::all, closed));
}

/// Gauss' principle on the rows with U = 0, and all joints.            [Moreau 1986, par. 3-4]
void Inspector::apply_gauss(Work& work) const {
  std::vector<ActiveRow>& active = work.found.active;
  const auto& normals = work.place.normals;
  std::vector<std::size_t> closed;
  for (std::size_t k = 0; k < active.size(); ++k) {
    const ActiveRow& row = active[k];
    if (row.is_joint || right_rate(row, work) <= row.velocity_tolerance) closed.push_back(k);
  }
  const auto count = static_cast<Eigen::Index>(closed.size());
  problem::Unilateral rows{model_.dofs(),   count,
                           model_.joints(), work.factor(Eigen::all, closed),
                           Vec(count),      Vec(count)};
  for (Eigen::Index k = 0; k < count; ++k) {
    const int a = active[closed[static_cast<std::size_t>(k)]].row;
    rows.free[k] = normals.dot(a, work.free) + work.gamma[a];
    rows.noise[k] = kRounding * (normals.abs_dot(a, work.free) + work.gamma_size[a]);
  }
  Vec reactions;
  work.found.gauss = find_multipliers(rows, reactions);
  work.fail(work.found.gauss.status);
  work.found.acceleration = work.free;
  for (Eigen::Index k = 0; k < count; ++k) {
    ActiveRow& row = active[closed[static_cast<std::size_t>(k)]];
    row.reaction = reactions[k];
    work.found.acceleration -= row.reaction * row.generator;
  }
}

/// What each row does, by its velocity, and by its acceleration where that is 0.
void Inspector::judge_rows(Work& work) const {
  const auto& normals = work.place.normals;
  std::vector<Eigen::Index> closed;  // rows that stay closed, whose reactions may share a load
  for (std::size_t k = 0; k < work.found.active.size(); ++k) {
    ActiveRow& row = work.found.active[k];
    const int a = row.row;
    row.acceleration = normals.dot(a, work.found.acceleration) + work.gamma[a];
    const double size = normals.abs_dot(a, work.found.acceleration) +
                        normals.abs_dot(a, work.free) + work.gamma_size[a];
    const double push = row.reaction * work.factor.col(static_cast<Eigen::Index>(k)).squaredNorm();
    const bool left = right_rate(row, work) > row.velocity_tolerance;
    const bool pushes = push > kRounding * size;
    row.opens = !row.is_joint && (left || (!pushes && row.acceleration > kRounding * size));
    if (!row.opens) closed.push_back(static_cast<Eigen::Index>(k));
    const bool enters = row.velocity < -row.velocity_tolerance;
    row.standing = row.is_joint ? Standing::Held
                   : enters     ? Standing::Penetrating
                   : left       ? Standing::Leaving
                   : pushes     ? Standing::Pushing
                   : row.opens  ? Standing::Opening
                                : Standing::Touching;
  }
  work.found.gauss.unique = are_independent(work.factor(Eigen::all, closed));
}

}  // namespace ricochet::study
