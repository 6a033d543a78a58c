#include "ricochet/plot/walls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "ricochet/formula/derivative.h"
#include "ricochet/formula/tape.h"
#include "ricochet/plot/contour.h"

namespace ricochet::plot {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kCell = 2.0;  // pixels between the points of the grid

/// The column that an axis shows, or -1 when it is a formula of several.
int slot_of_axis(const scene::PlotPlan& plan, const scene::PlotFormula& axis) {
  const formula::Node& node = plan.graph[axis.node];
  return node.op == formula::Op::Input ? node.input : -1;
}

/// An axis along which nothing happens, beside a coordinate on a line.
bool is_idle(const scene::PlotPlan& plan, const scene::PlotFormula& axis) {
  return plan.graph.is_constant(axis.node);
}

/// Solves X(q) = xi, Y(q) = eta for two of the coordinates by Newton's method, the others standing
/// still. The two are those in which the particle is affine, where there are such (the centre of a
/// body: one iteration is exact), else those that move it best.
class Particle {
 public:
  Particle(const scene::PlotPlan& plan, const scene::PlotPoint& point, int dofs,
           std::span<const double> row)
      : graph_(plan.graph), reference_(row.begin(), row.end()) {
    std::vector<int> slots;
    for (int i = 0; i < dofs; ++i) slots.push_back(1 + i);
    const std::vector<formula::NodeId> dx = formula::gradient(graph_, point[0], slots);
    const std::vector<formula::NodeId> dy = formula::gradient(graph_, point[1], slots);
    choose(dx, dy);
    const auto i = static_cast<std::size_t>(moved_[0] - 1);
    const auto j = static_cast<std::size_t>(moved_[1] - 1);
    tape_ = formula::Tape(graph_, static_cast<int>(row.size()),
                          {{point[0], point[1], dx[i], dx[j], dy[i], dy[j]}});
    registers_ = tape_.registers();
    start_over();
  }

  /// Sets the two coordinates among `inputs`; false when there is no such place.
  bool place(Point wanted, double* inputs) {
    if (!solvable_) return false;
    if (!solve(wanted)) {
      start_over();
      if (!solve(wanted)) {
        start_over();
        return false;
      }
    }
    inputs[moved_[0]] = first();
    inputs[moved_[1]] = second();
    return true;
  }

 private:
  struct Values {
    Point at;
    double xa, xb, ya, yb;  // derivatives by the two coordinates
  };

  void choose(const std::vector<formula::NodeId>& dx, const std::vector<formula::NodeId>& dy) {
    double best = 0.0;
    bool best_is_affine = false;
    for (std::size_t i = 0; i < dx.size(); ++i) {
      for (std::size_t j = i + 1; j < dx.size(); ++j) {
        const auto at = [&](formula::NodeId node) { return graph_.evaluate(node, reference_); };
        const double det = std::abs(at(dx[i]) * at(dy[j]) - at(dx[j]) * at(dy[i]));
        const bool affine = graph_.is_constant(dx[i]) && graph_.is_constant(dx[j]) &&
                            graph_.is_constant(dy[i]) && graph_.is_constant(dy[j]);
        const bool better = affine == best_is_affine ? det > best : affine;
        if (!(det > 0.0) || !better) continue;
        best = det;
        best_is_affine = affine;
        moved_ = {1 + static_cast<int>(i), 1 + static_cast<int>(j)};
      }
    }
    solvable_ = best > 0.0;
  }

  void start_over() { std::copy(reference_.begin(), reference_.end(), registers_.begin()); }
  double& first() { return registers_[static_cast<std::size_t>(moved_[0])]; }
  double& second() { return registers_[static_cast<std::size_t>(moved_[1])]; }

  Values evaluate() {
    tape_.run(0, registers_.data());
    const auto out = [&](std::size_t k) { return registers_[tape_.outputs(0)[k]]; };
    return {{out(0), out(1)}, out(2), out(3), out(4), out(5)};
  }

  /// Newton's method, its steps halved where they lead away; false where no part of a step leads
  /// nearer, as at the border of what the particle can reach.
  bool solve(Point wanted) {
    constexpr int kMost = 40;
    const double scale = std::abs(wanted.x) + std::abs(wanted.y) + 1e-300;
    Values now = evaluate();
    for (int k = 0; k < kMost; ++k) {
      const double rx = wanted.x - now.at.x;
      const double ry = wanted.y - now.at.y;
      const double off = std::hypot(rx, ry);
      if (off <= 1e-11 * (scale + std::abs(now.at.x) + std::abs(now.at.y))) return true;
      const double det = now.xa * now.yb - now.xb * now.ya;
      if (!(std::abs(det) > 0.0)) return false;
      const double a = first();
      const double b = second();
      const double da = (rx * now.yb - ry * now.xb) / det;
      const double db = (ry * now.xa - rx * now.ya) / det;
      bool is_nearer = false;
      for (double part = 1.0; part > 2e-4 && !is_nearer; part *= 0.5) {
        first() = a + part * da;
        second() = b + part * db;
        now = evaluate();
        is_nearer = std::hypot(wanted.x - now.at.x, wanted.y - now.at.y) < off;
      }
      if (!is_nearer) return false;
    }
    return false;
  }

  formula::Graph graph_;
  std::vector<double> reference_;
  std::array<int, 2> moved_{1, 1};
  formula::Tape tape_;
  std::vector<double> registers_;
  bool solvable_{false};
};

/// The gap of one contact, and whether it exists, as functions of a point of the panel.
class GapInPlane {
 public:
  GapInPlane(const model::FormulaModel& model, const scene::PlotPlan& plan,
             const scene::PlotPanel& panel, const scene::WallPlan& wall,
             std::span<const double> row)
      : x_slot_(slot_of_axis(plan, panel.x)), y_slot_(slot_of_axis(plan, panel.y[0])) {
    const model::FormulaSystem& system = model.system();
    const auto a = static_cast<std::size_t>(wall.contact);
    std::vector<formula::NodeId> roots = {system.gaps[a]};
    if (system.where[a] >= 0) roots.push_back(system.where[a]);
    tape_ = formula::Tape(system.graph, system.inputs(), {roots});
    registers_ = tape_.registers();
    const auto inputs = static_cast<std::size_t>(system.inputs());
    std::copy_n(row.begin(), std::min(inputs, row.size()), registers_.begin());
    for (const auto& [slot, value] : panel.at) registers_[static_cast<std::size_t>(slot)] = value;
    if (wall.particle) particle_.emplace(plan, *wall.particle, model.dofs(), row);
  }

  double gap(Point p) { return run(p) ? registers_[tape_.outputs(0)[0]] : kNone; }
  bool exists(Point p) {
    return tape_.outputs(0).size() < 2 || (run(p) && registers_[tape_.outputs(0)[1]] != 0.0);
  }

 private:
  bool run(Point p) {
    if (particle_) {
      if (!particle_->place(p, registers_.data())) return false;
    } else {
      if (x_slot_ >= 0) registers_[static_cast<std::size_t>(x_slot_)] = p.x;
      if (y_slot_ >= 0) registers_[static_cast<std::size_t>(y_slot_)] = p.y;
    }
    tape_.run(0, registers_.data());
    return true;
  }

  int x_slot_;
  int y_slot_;
  formula::Tape tape_;
  std::vector<double> registers_;
  std::optional<Particle> particle_;
};

/// Cuts a curve to where the contact exists; the ends are found by bisection.
void add_existing(GapInPlane& gap, const std::vector<Point>& curve, int contact,
                  std::vector<WallCurve>& walls) {
  const auto between = [](Point a, Point b, double s) {
    return Point{a.x + s * (b.x - a.x), a.y + s * (b.y - a.y)};
  };
  const auto end = [&](Point in, Point out) {
    double low = 0.0;
    double high = 1.0;
    for (int k = 0; k < 20; ++k) {
      const double middle = 0.5 * (low + high);
      (gap.exists(between(in, out, middle)) ? low : high) = middle;
    }
    return between(in, out, low);
  };
  bool inside = false;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    const bool exists = gap.exists(curve[k]);
    if (exists && !inside) {
      walls.push_back({contact, {}});
      if (k > 0) walls.back().points.push_back(end(curve[k], curve[k - 1]));
    }
    if (exists) walls.back().points.push_back(curve[k]);
    if (!exists && inside) walls.back().points.push_back(end(curve[k - 1], curve[k]));
    inside = exists;
  }
}

/// Whether the gap depends on nothing but these slots.
bool depends_only_on(const model::FormulaModel& model, int contact, const std::vector<int>& slots) {
  const model::FormulaSystem& system = model.system();
  const auto a = static_cast<std::size_t>(contact);
  // No formula to draw, or no wall at all.
  if (model.outside_gap(contact) >= 0 || model.slip(contact).is_loaded()) return false;
  for (const int slot : system.graph.inputs_of(system.gaps[a])) {
    if (std::find(slots.begin(), slots.end(), slot) == slots.end()) return false;
  }
  return true;
}

}  // namespace

std::vector<scene::WallPlan> walls_of(const model::FormulaModel& model, const scene::PlotPlan& plan,
                                      const scene::PlotPanel& panel) {
  if (panel.kind != scene::PlotPanel::Kind::Curves || panel.y.empty()) return {};
  std::vector<scene::WallPlan> walls;
  const int x = slot_of_axis(plan, panel.x);
  const int y = slot_of_axis(plan, panel.y[0]);
  const bool shows_places = (x >= 0 || is_idle(plan, panel.x)) &&
                            (y >= 1 || is_idle(plan, panel.y[0])) && x <= model.dofs() &&
                            y <= model.dofs();
  for (const scene::WallPlan& wall : panel.walls) {
    if (wall.particle || shows_places) walls.push_back(wall);
  }
  if (!panel.all_walls || !shows_places || x == y) return walls;
  std::vector<int> slots = {model::FormulaSystem::kTimeSlot, x, y};
  for (const auto& [slot, value] : panel.at) slots.push_back(slot);
  constexpr std::size_t kMost = 64;
  for (int a = 0; a < model.contacts() - model.joints() && walls.size() < kMost; ++a) {
    if (depends_only_on(model, a, slots)) walls.push_back({a, std::nullopt});
  }
  return walls;
}

bool has_moving_walls(const model::FormulaModel& model, const scene::PlotPanel& panel,
                      const scene::PlotPlan& plan) {
  if (panel.is_history()) return false;
  constexpr int kTime = model::FormulaSystem::kTimeSlot;
  for (const scene::WallPlan& wall : walls_of(model, plan, panel)) {
    const formula::NodeId gap = model.system().gaps[static_cast<std::size_t>(wall.contact)];
    if (model.system().graph.depends_on(gap, kTime, kTime + 1)) return true;
  }
  return false;
}

std::vector<WallCurve> find_walls(const model::FormulaModel& model, const scene::PlotPlan& plan,
                                  const scene::PlotPanel& panel, const Window& window,
                                  std::span<const double> row) {
  std::vector<WallCurve> walls;
  Grid grid;
  grid.columns = std::clamp(static_cast<int>(window.width / kCell), 2, 1000) + 1;
  grid.rows = std::clamp(static_cast<int>(window.height / kCell), 2, 1000) + 1;
  grid.low = {window.x.low, window.y.low};
  grid.high = {window.x.high, window.y.high};
  for (const scene::WallPlan& wall : walls_of(model, plan, panel)) {
    GapInPlane gap(model, plan, panel, wall, row);
    grid.values.clear();
    for (int r = 0; r < grid.rows; ++r) {
      for (int c = 0; c < grid.columns; ++c) grid.values.push_back(gap.gap(grid.point(c, r)));
    }
    const auto curves = zero_curves(grid, [&](Point p) { return gap.gap(p); });
    for (const std::vector<Point>& curve : curves) add_existing(gap, curve, wall.contact, walls);
  }
  return walls;
}

/// One contact: the gradient of its gap in the plane, as formulas of a row.
struct Pushes::Contact {
  int contact{0};
  int impulse{-1};     // column
  formula::Tape tape;  // place x, y; dg/dx, dg/dy in the plane
  std::vector<double> registers;
};

namespace {

/// dg/d(X, Y) for a particle (X, Y): the derivatives by the two coordinates that move it freely,
/// divided by how they move it. Nothing when the particle does not move freely in the plane.
std::optional<std::array<formula::NodeId, 4>> plane_gradient(formula::Graph& graph,
                                                             const scene::PlotPoint& particle,
                                                             formula::NodeId gap, int dofs) {
  std::vector<int> slots;
  for (int i = 0; i < dofs; ++i) slots.push_back(1 + i);
  const auto dx = formula::gradient(graph, particle[0], slots);
  const auto dy = formula::gradient(graph, particle[1], slots);
  const auto dg = formula::gradient(graph, gap, slots);
  for (std::size_t i = 0; i < dx.size(); ++i) {
    for (std::size_t j = 0; j < dx.size(); ++j) {
      const bool is_place = graph.is_constant(dx[i], 1.0) && graph.is_constant(dy[i], 0.0) &&
                            graph.is_constant(dx[j], 0.0) && graph.is_constant(dy[j], 1.0);
      if (is_place) return std::array{particle[0], particle[1], dg[i], dg[j]};
    }
  }
  return std::nullopt;
}

}  // namespace

Pushes::Pushes(const model::FormulaModel& model, const scene::PlotPlan& plan,
               const scene::PlotPanel& panel)
    : columns_(plan.columns) {
  constexpr int kMost = 24;
  if (!panel.equal || panel.kind != scene::PlotPanel::Kind::Curves) return;
  const int dofs = model.dofs();
  for (int a = 0; a < std::min(model.contacts() - model.joints(), kMost); ++a) {
    const std::string& name = model.contact_names()[static_cast<std::size_t>(a)];
    const auto column = std::find(columns_.begin(), columns_.end(), name + ".impulse_n");
    if (column == columns_.end() || model.outside_gap(a) >= 0 || model.slip(a).is_loaded()) {
      continue;
    }
    formula::Graph graph = model.system().graph;
    scene::PlotPoint particle = {-1, -1};
    const int x = slot_of_axis(plan, panel.x);
    const int y = slot_of_axis(plan, panel.y[0]);
    if (x >= 1 && y >= 1 && x <= dofs && y <= dofs) particle = {graph.input(x), graph.input(y)};
    for (const scene::WallPlan& wall : panel.walls) {
      // The graph of the plan begins as that of the system, whose nodes keep their numbers in it.
      if (wall.contact != a || !wall.particle) continue;
      graph = plan.graph;
      particle = *wall.particle;
    }
    if (particle[0] < 0) continue;
    const auto nodes =
        plane_gradient(graph, particle, model.system().gaps[static_cast<std::size_t>(a)], dofs);
    if (!nodes) continue;
    Contact contact;
    contact.contact = a;
    contact.impulse = static_cast<int>(column - columns_.begin());
    contact.tape = formula::Tape(graph, static_cast<int>(columns_.size()),
                                 {{(*nodes)[0], (*nodes)[1], (*nodes)[2], (*nodes)[3]}});
    contact.registers = contact.tape.registers();
    contacts_.push_back(std::move(contact));
  }
}

Pushes::~Pushes() = default;

std::vector<Push> Pushes::at(std::span<const double> row) {
  std::vector<Push> pushes;
  for (Contact& contact : contacts_) {
    const double impulse = row[static_cast<std::size_t>(contact.impulse)];
    if (!(impulse > 0.0)) continue;
    std::copy(row.begin(), row.end(), contact.registers.begin());
    contact.tape.run(0, contact.registers.data());
    const auto out = [&](std::size_t k) { return contact.registers[contact.tape.outputs(0)[k]]; };
    pushes.push_back({contact.contact, {out(0), out(1)}, {impulse * out(2), impulse * out(3)}});
  }
  return pushes;
}

}  // namespace ricochet::plot
