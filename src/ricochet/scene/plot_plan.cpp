#include "ricochet/scene/plot_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "ricochet/formula/letters.h"
#include "ricochet/formula/lower.h"
#include "ricochet/formula/scope.h"

namespace ricochet::scene {
namespace {

constexpr std::size_t kMostHistories = 6;
constexpr std::size_t kMostBars = 12;  // contacts in one panel of events

/// What the columns of a trajectory are, by their names alone.
struct Layout {
  std::vector<int> coordinates;  // slots
  std::vector<int> velocities;
  std::vector<std::string> contacts;
  bool has_kinetic{false};
  bool has_potential{false};
};

int slot_of(const std::vector<std::string>& columns, const std::string& name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

Layout layout_of(const std::vector<std::string>& columns) {
  constexpr std::string_view kImpulse = ".impulse_n";
  std::unordered_map<std::string, int> slots;  // there may be tens of thousands
  for (std::size_t k = 0; k < columns.size(); ++k) slots.emplace(columns[k], static_cast<int>(k));
  Layout layout;
  for (std::size_t k = 1; k < columns.size(); ++k) {
    const std::string& name = columns[k];
    if (const auto velocity = slots.find("d_" + name); velocity != slots.end()) {
      layout.coordinates.push_back(static_cast<int>(k));
      layout.velocities.push_back(velocity->second);
    }
    if (name.ends_with(kImpulse)) {
      layout.contacts.push_back(name.substr(0, name.size() - kImpulse.size()));
    }
  }
  layout.has_kinetic = slots.contains("energy.kinetic");
  layout.has_potential = slots.contains("energy.potential");
  return layout;
}

/// Names of the columns, as formulas have them.
formula::Scope scope_of(PlotPlan& plan) {
  formula::Scope scope;
  for (std::size_t k = 0; k < plan.columns.size(); ++k) {
    const std::string& name = plan.columns[k];
    const formula::NodeId node = plan.graph.input(static_cast<int>(k));
    scope.define(name, node);
    if (name.rfind("d_", 0) == 0) scope.define(name.substr(2) + "'", node);
  }
  return scope;
}

/// Fills a plan with panels, from the names of columns and the kinds of coordinates.
class Planner {
 public:
  explicit Planner(PlotPlan& plan)
      : plan_(plan), layout_(layout_of(plan.columns)), angles_(plan.angles) {
    layout_.contacts.resize(layout_.contacts.size() - static_cast<std::size_t>(plan.joints));
    angles_.resize(layout_.coordinates.size(), false);
  }

  std::size_t dofs() const { return layout_.coordinates.size(); }
  bool is_angle(std::size_t i) const {
    return angles_[i] || is_angle_name(name_of(layout_.coordinates[i]));
  }

  void add_history(std::size_t i) { add_curves(time(), coordinate(i)); }
  void add_histories() {
    for (std::size_t i = 0; i < std::min(dofs(), kMostHistories); ++i) add_history(i);
  }
  void add_velocity(std::size_t i) { add_curves(time(), velocity(i)); }
  void add_phase(std::size_t i) { add_curves(coordinate(i), velocity(i)); }
  void add_plane(std::size_t i, std::size_t j, bool tells_first = true) {
    const int number = static_cast<int>(plan_.panels.size());
    PlotPanel& plane = add_curves(coordinate(i), coordinate(j));
    plane.equal = is_angle(i) == is_angle(j);
    plane.gives_way = true;
    for (const bool of_y : {false, true}) {
      if (!of_y && !tells_first) continue;
      add_history(of_y ? j : i);
      add_phase(of_y ? j : i);
      for (std::size_t k = plan_.panels.size() - 2; k < plan_.panels.size(); ++k) {
        plan_.panels[k].instead_of = number;
        plan_.panels[k].is_of_y = of_y;
      }
    }
  }

  /// The one coordinate as a place on a line: along it where its name is that of a way, else up.
  void add_line() {
    const PlotFormula none{"", plan_.graph.constant(0.0), ""};
    const PlotFormula way = coordinate(0);
    const bool lies = way.text == "x" || way.text == "s" || way.text == "u";
    PlotPanel& line = lies ? add_curves(way, none) : add_curves(none, way);
    line.equal = line.only_played = true;
  }

  void set_side_by_side(int panels) { plan_.side_by_side = panels; }

  void add_events() {
    if (layout_.contacts.empty()) return;
    PlotPanel& panel = add(PlotPanel::Kind::Events);
    panel.x = time();
    const std::size_t shown = std::min(layout_.contacts.size(), kMostBars);
    for (std::size_t a = 0; a < shown; ++a) add_bar(panel, layout_.contacts[a]);
    if (shown < layout_.contacts.size()) {
      panel.title = fmt::format("the first {} of {} contacts", shown, layout_.contacts.size());
    }
  }

  void add_energy() {
    if (!layout_.has_kinetic) return;
    PlotPanel& panel = add(PlotPanel::Kind::Energy);
    panel.x = time();
    const formula::NodeId kinetic = input(slot_of(plan_.columns, "energy.kinetic"));
    if (!layout_.has_potential) {
      panel.y = {{"T", kinetic, ""}};
      panel.labels = {"kinetic T"};
      return;
    }
    const formula::NodeId potential = input(slot_of(plan_.columns, "energy.potential"));
    panel.y = {{"V", potential, ""}, {"T + V", plan_.graph.add(kinetic, potential), ""}};
    panel.labels = {"potential V, from its lowest", "kinetic T"};
  }

  /// Gaps and impulses of the first few contacts against time.
  void add_contact_histories() {
    for (const char* quantity : {".gap", ".impulse_n"}) {
      if (layout_.contacts.empty()) return;
      PlotPanel& panel = add(PlotPanel::Kind::Curves);
      panel.x = time();
      panel.y_label = quantity[1] == 'g' ? "gap" : "impulse";
      const std::size_t shown = std::min(layout_.contacts.size(), std::size_t{4});
      for (std::size_t a = 0; a < shown; ++a) {
        const int slot = slot_of(plan_.columns, layout_.contacts[a] + quantity);
        panel.y.push_back({plan_.columns[static_cast<std::size_t>(slot)], input(slot), ""});
        panel.labels.push_back(layout_.contacts[a]);
      }
    }
  }

  /// The two coordinates that make the plane of what moves: of one kind, lengths first.
  std::pair<std::size_t, std::size_t> plane() const {
    for (const bool angle : {false, true}) {
      std::vector<std::size_t> same;
      for (std::size_t i = 0; i < dofs(); ++i) {
        if (is_angle(i) == angle) same.push_back(i);
      }
      if (same.size() >= 2) return {same[0], same[1]};
    }
    return {0, 1};
  }
  bool all_alike() const {
    for (std::size_t i = 1; i < dofs(); ++i) {
      if (is_angle(i) != is_angle(0)) return false;
    }
    return true;
  }

 private:
  formula::NodeId input(int slot) { return plan_.graph.input(slot); }
  PlotFormula time() { return {"t", input(0), plan_.units.empty() ? "" : plan_.units.back()}; }
  std::string unit_of(std::size_t i) const {
    if (i < plan_.units.size() && !plan_.units[i].empty()) return plan_.units[i];
    return angles_[i] ? "rad" : "";
  }
  std::string name_of(int slot) const { return plan_.columns[static_cast<std::size_t>(slot)]; }
  PlotFormula coordinate(std::size_t i) {
    const int slot = layout_.coordinates[i];
    return {name_of(slot), input(slot), unit_of(i)};
  }
  PlotFormula velocity(std::size_t i) {
    const std::string time_unit = plan_.units.empty() ? "" : plan_.units.back();
    const std::string unit = unit_of(i);
    return {name_of(layout_.coordinates[i]) + "'", input(layout_.velocities[i]),
            unit.empty() || time_unit.empty() ? "" : unit + "/" + time_unit};
  }
  PlotPanel& add(PlotPanel::Kind kind) {
    plan_.panels.emplace_back();
    plan_.panels.back().kind = kind;
    return plan_.panels.back();
  }
  PlotPanel& add_curves(const PlotFormula& x, const PlotFormula& y) {
    PlotPanel& panel = add(PlotPanel::Kind::Curves);
    panel.x = x;
    panel.y = {y};
    panel.labels = {formula::typeset(y.text)};
    return panel;
  }
  /// The state of a contact: its own column with friction, else whether it pushed.
  void add_bar(PlotPanel& panel, const std::string& contact) {
    const int state = slot_of(plan_.columns, contact + ".state");
    const int impulse = slot_of(plan_.columns, contact + ".impulse_n");
    const formula::NodeId zero = plan_.graph.constant(0.0);
    const formula::NodeId node =
        state >= 0 ? input(state) : plan_.graph.make(formula::Op::Less, zero, input(impulse));
    panel.y.push_back({contact, node, ""});
    panel.labels.push_back(contact);
  }

  PlotPlan& plan_;
  Layout layout_;
  std::vector<bool> angles_;
};

void plan_by_coordinates(Planner planner) {
  const std::size_t n = planner.dofs();
  if (n == 1) {
    planner.add_history(0);
    planner.add_phase(0);
  } else if (n == 2) {
    planner.add_plane(0, 1);
  } else if (n == 3) {
    const auto [i, j] = planner.plane();
    planner.add_plane(i, j);
    const std::size_t rest = 3 - i - j;
    if (planner.all_alike()) {
      planner.add_plane(i, rest, false);
      planner.set_side_by_side(2);
    } else {
      planner.add_history(rest);
    }
  } else {
    planner.add_histories();
  }
  planner.add_events();
  if (n == 1 && !planner.is_angle(0)) planner.add_line();
}

PlotPlan without_panels(const PlotPlan& rows) {
  PlotPlan plan;
  plan.columns = rows.columns;
  plan.angles = rows.angles;
  plan.units = rows.units;
  plan.joints = rows.joints;
  plan.has_walls = rows.has_walls;
  plan.rows_are_sums = rows.rows_are_sums;
  return plan;
}

/// The inputs that a sum or difference of inputs and constants is made of.
void add_terms(const formula::Graph& graph, formula::NodeId id, std::vector<int>& slots) {
  const formula::Node& node = graph[id];
  if (node.op == formula::Op::Input) slots.push_back(node.input);
  if (node.op == formula::Op::Negate) add_terms(graph, node.operands[0], slots);
  if (node.op == formula::Op::Add || node.op == formula::Op::Subtract) {
    add_terms(graph, node.operands[0], slots);
    add_terms(graph, node.operands[1], slots);
  }
}

}  // namespace

bool PlotPanel::is_history() const { return x.text == "t"; }

bool is_angle_name(const std::string& name) {
  static const std::vector<std::string> kNames = {"alpha",  "beta",   "gamma",  "phi",    "psi",
                                                  "theta",  "angle",  "\u03b1", "\u03b2", "\u03b3",
                                                  "\u03c6", "\u03d5", "\u03c8", "\u03b8"};
  static const std::string kIndices =
      "0123456789_[]'\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089";
  return std::any_of(kNames.begin(), kNames.end(), [&](const std::string& known) {
    const bool begins = name.starts_with(known);
    return begins && name.find_first_not_of(kIndices, known.size()) == std::string::npos;
  });
}

std::vector<bool> angles_of(const model::FormulaModel& model) {
  const formula::Graph& graph = model.system().graph;
  std::vector<bool> angles(static_cast<std::size_t>(model.dofs()), false);
  std::vector<int> slots;
  for (formula::NodeId id = 0; id < static_cast<formula::NodeId>(graph.size()); ++id) {
    const formula::Node& node = graph[id];
    if (node.op != formula::Op::Sin && node.op != formula::Op::Cos) continue;
    slots.clear();
    add_terms(graph, node.operands[0], slots);
    for (const int slot : slots) {
      const int coordinate = slot - model.system().position_slot(0);
      if (coordinate < 0 || coordinate >= model.dofs()) continue;
      angles[static_cast<std::size_t>(coordinate)] = true;
    }
  }
  return angles;
}

PlotPlan bare_plan(const step::Columns& columns, std::vector<bool> angles,
                   std::vector<std::string> units) {
  PlotPlan plan;
  plan.columns = step::names_of(columns);
  plan.angles = std::move(angles);
  plan.units = std::move(units);
  plan.joints = columns.joints;
  return plan;
}

PlotPlan default_plan(const PlotPlan& rows) {
  PlotPlan plan = without_panels(rows);
  plan_by_coordinates(Planner(plan));
  return plan;
}

PlotPlan default_plan(const std::vector<std::string>& columns) {
  PlotPlan rows;
  rows.columns = columns;
  return default_plan(rows);
}

PlotPlan history_plan(const PlotPlan& rows) {
  PlotPlan plan = without_panels(rows);
  Planner planner(plan);
  planner.add_histories();
  planner.add_events();
  return plan;
}

PlotPlan report_plan(const PlotPlan& rows) {
  PlotPlan plan = without_panels(rows);
  Planner planner(plan);
  const std::size_t shown = std::min(planner.dofs(), kMostHistories);
  for (std::size_t i = 0; i < shown; ++i) {
    planner.add_history(i);
    planner.add_velocity(i);
  }
  for (std::size_t i = 0; i < std::min(shown, std::size_t{4}); ++i) planner.add_phase(i);
  plan.side_by_side = 2;
  return plan;
}

PlotPlan energy_plan(const PlotPlan& rows) {
  PlotPlan plan = without_panels(rows);
  Planner planner(plan);
  planner.add_energy();
  planner.add_contact_histories();
  return plan;
}

void add_energy_panel(PlotPlan& plan) { Planner(plan).add_energy(); }

void add_events_panel(PlotPlan& plan) { Planner(plan).add_events(); }

PlotFormula plot_formula(const std::string& text, PlotPlan& plan) {
  const formula::Scope scope = scope_of(plan);
  return {text, formula::lower(formula::parse(text), scope, plan.graph), ""};
}

}  // namespace ricochet::scene
