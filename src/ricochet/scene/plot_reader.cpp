#include "ricochet/scene/plot_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/formula/letters.h"

namespace ricochet::scene {
namespace {

constexpr const char* kPanelKeys =
    "write for example x = \"x\" and y = \"y\", or kind = \"energy\" or \"events\"";

const Value* first_of(const Value& list) { return list.items.empty() ? nullptr : &list.items[0]; }

/// Whether two formulas may share a scale, as far as can be told.
bool are_alike(const PlotFormula& a, const PlotFormula& b) {
  const auto has = [](const PlotFormula& f, char c) { return f.text.find(c) != std::string::npos; };
  const auto is_angle = [](const PlotFormula& f) {
    return f.unit == "rad" || (f.unit.empty() && is_angle_name(base::trimmed(f.text)));
  };
  return a.unit == b.unit && is_angle(a) == is_angle(b) && has(a, '\'') == has(b, '\'') &&
         has(a, '.') == has(b, '.');
}

}  // namespace

void PlotReader::fail(const Value& value, const std::string& key, const std::string& message,
                      const std::string& remedy) const {
  throw base::InputError(key, message, remedy, document_.spot_of(value));
}

PlotPlan PlotReader::read(const Value& table) {
  plan_.columns = rows_.columns;
  plan_.angles = rows_.angles;
  plan_.units = rows_.units;
  plan_.joints = rows_.joints;
  plan_.has_walls = rows_.has_walls;
  plan_.rows_are_sums = rows_.rows_are_sums;
  plan_.graph = formulas_.graph();
  plan_.is_written = true;
  const auto coordinates = static_cast<std::ptrdiff_t>(names_.coordinates.size());
  extra_columns_.assign(plan_.columns.begin() + 1 + 2 * coordinates, plan_.columns.end());
  TableReader reader(document_, table, "plot");
  read_units(reader);
  read_body(reader);
  plan_.caption = reader.text("caption").value_or("");
  if (const Value* value = reader.find("columns")) {
    plan_.side_by_side = static_cast<int>(std::min(read_count(*value, "plot.columns"), 4LL));
    if (plan_.side_by_side < 1) fail(*value, "plot.columns", "must be 1 to 4", "leave it out");
  }
  const Value* panels = reader.find("panel");
  if (panels == nullptr) {
    read_panel(table, "plot", true);
    return std::move(plan_);
  }
  if (panels->kind != Value::Kind::Array || panels->items.empty()) {
    fail(*panels, "plot.panel", "must be a list of tables", "write [[plot.panel]] for each panel");
  }
  for (std::size_t k = 0; k < panels->items.size(); ++k) {
    const std::string path = fmt::format("plot.panel[{}]", k + 1);
    if (panels->items[k].kind != Value::Kind::Table) {
      fail(panels->items[k], path, "must be a table", "write [[plot.panel]] for each panel");
    }
    read_panel(panels->items[k], path, false);
  }
  reader.finish();
  return std::move(plan_);
}

void PlotReader::read_units(TableReader& reader) {
  const Value* table = reader.table("units");
  if (table == nullptr) return;
  for (const auto& [name, value] : table->entries) {
    const bool known =
        name == "t" || std::find(names_.coordinates.begin(), names_.coordinates.end(), name) !=
                           names_.coordinates.end();
    const std::string key = "plot.units." + name;
    if (!known) fail(value, key, "is no coordinate, and not t", "name a coordinate of the scene");
    if (value.kind != Value::Kind::Text) {
      fail(value, key, "must be a string", "write for example \"cm\"");
    }
    units_.emplace_back(name, value.text);
  }
}

/// The unit of a formula that is a coordinate, its velocity, or t; "" when it is not known.
std::string PlotReader::unit_of(const std::string& text) const {
  const auto find = [&](const std::string& name) -> std::string {
    for (const auto& [known, unit] : units_) {
      if (known == name) return unit;
    }
    if (const std::string unit = formulas_.unit_of(name); !unit.empty()) return unit;
    for (std::size_t i = 0; i < plan_.angles.size(); ++i) {
      if (names_.coordinates[i] == name && plan_.angles[i]) return "rad";
    }
    return "";
  };
  const std::string name = base::trimmed(text);
  if (!name.ends_with('\'')) return find(name);
  const std::string unit = find(name.substr(0, name.size() - 1));
  const std::string time = find("t");
  return unit.empty() || time.empty() ? "" : fmt::format("{}/{}", unit, time);
}

PlotFormula PlotReader::read_formula(const Value& value, const std::string& key) {
  const formula::NodeId node = formulas_.row_formula(value, key, extra_columns_, plan_.graph);
  return {value.text, node, unit_of(value.text)};
}

PlotPoint PlotReader::read_point(const Value& value, const std::string& key) {
  if (value.kind != Value::Kind::Array || value.items.size() != 2) {
    fail(value, key, "must be a point: a list of two formulas", "write for example [\"x\", \"y\"]");
  }
  return {read_formula(value.items[0], key).node, read_formula(value.items[1], key).node};
}

long long PlotReader::read_count(const Value& value, const std::string& key) {
  const double number = formulas_.number(value, key);
  if (number >= 0.0 && number == std::floor(number) && number < 1e15) {
    return static_cast<long long>(number);
  }
  fail(value, key, fmt::format("must be a whole number >= 0, not {}", number), "write 1, 2, ...");
}

bool PlotReader::read_flag(TableReader& reader, const std::string& key, bool otherwise) {
  const Value* value = reader.find(key);
  if (value == nullptr) return otherwise;
  if (value->kind != Value::Kind::Boolean) {
    reader.fail(*value, key, "must be true or false", "write true or false, without quotes");
  }
  return value->boolean;
}

Every PlotReader::read_every(TableReader& reader, const std::string& key) {
  const Value* value = reader.find(key);
  if (value == nullptr) return {};
  if (value->kind != Value::Kind::Table) return {read_count(*value, reader.full(key)), 0};
  TableReader table(document_, *value, reader.full(key));
  Every every;
  every.rows =
      read_count(table.require("every", "write for example every = 5"), table.full("every"));
  if (const Value* numbers = table.find("numbers")) {
    every.numbers = read_count(*numbers, table.full("numbers"));
  }
  table.finish();
  return every;
}

std::optional<std::pair<double, double>> PlotReader::read_range(TableReader& reader,
                                                                const std::string& key) {
  const Value* value = reader.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Value::Kind::Array && value->items.size() == 2) {
    const double low = formulas_.number(value->items[0], reader.full(key));
    const double high = formulas_.number(value->items[1], reader.full(key));
    if (low < high) return std::pair{low, high};
  }
  reader.fail(*value, key, "must be two numbers, the smaller one first",
              "write for example [-1, 1]");
}

void PlotReader::read_body(TableReader& reader) {
  const Value* list = reader.find("body");
  if (list == nullptr) return;
  if (list->kind != Value::Kind::Array || list->items.empty()) {
    fail(*list, "plot.body", "must be a list of parts",
         "write for example body = [{ line = [[\"x\", \"y\"], [\"x + 1\", \"y\"]] }]");
  }
  for (std::size_t k = 0; k < list->items.size(); ++k) {
    plan_.body.push_back(read_part(list->items[k], fmt::format("plot.body[{}]", k + 1)));
  }
}

BodyPart PlotReader::read_part(const Value& value, const std::string& path) {
  constexpr const char* kForms =
      "write { line = [[x, y], ...] }, { outline = [[x, y], ...] }, { circle = [x, y, radius] } or "
      "{ point = [x, y] }, with formulas in quotes";
  if (value.kind != Value::Kind::Table) fail(value, path, "must be a table", kForms);
  TableReader reader(document_, value, path);
  BodyPart part;
  const Value* points = nullptr;
  const auto take = [&](const char* key, BodyPart::Kind kind) {
    const Value* found = reader.find(key);
    if (found == nullptr) return;
    if (points != nullptr) fail(*found, reader.full(key), "is a second shape", kForms);
    points = found;
    part.kind = kind;
  };
  take("line", BodyPart::Kind::Line);
  take("outline", BodyPart::Kind::Outline);
  take("circle", BodyPart::Kind::Circle);
  take("point", BodyPart::Kind::Point);
  if (points == nullptr || points->kind != Value::Kind::Array)
    fail(value, path, "no shape", kForms);
  if (part.kind == BodyPart::Kind::Circle) {
    if (points->items.size() != 3) fail(*points, reader.full("circle"), "needs three", kForms);
    part.points = {
        {read_formula(points->items[0], path).node, read_formula(points->items[1], path).node}};
    part.radius = read_formula(points->items[2], path).node;
  } else if (part.kind == BodyPart::Kind::Point) {
    part.points = {read_point(*points, reader.full("point"))};
  } else {
    for (const Value& item : points->items) part.points.push_back(read_point(item, path));
    if (part.points.size() < 2) fail(*points, path, "needs two points at least", kForms);
  }
  if (const Value* marks = reader.find("marks")) {
    for (const Value& mark : marks->items) part.marks.push_back(mark.text);
    const bool known = std::all_of(part.marks.begin(), part.marks.end(), [](const auto& mark) {
      return mark.empty() || mark == "+" || mark == "x" || mark == "o";
    });
    if (part.marks.size() != part.points.size() || !known) {
      fail(*marks, reader.full("marks"), "must be one of \"+\", \"x\", \"o\", \"\" for each point",
           "write for example marks = [\"+\", \"x\"]");
    }
  }
  reader.finish();
  return part;
}

int PlotReader::contact_of(const std::string& name, const Value& at, const std::string& key) const {
  const std::vector<std::string>& names = names_.contacts;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  std::string remedy = fmt::format("contacts: {}", base::list_names(names));
  if (const auto near = base::nearest_name(name, names)) {
    remedy = fmt::format("did you mean '{}'? {}", *near, remedy);
  }
  fail(at, key, fmt::format("there is no contact '{}'", name), remedy);
}

void PlotReader::read_walls(TableReader& reader, PlotPanel& panel) {
  const Value* value = reader.find("walls");
  if (value == nullptr) return;
  if (!plan_.has_walls) {
    reader.fail(*value, "walls", "the guides of a structure are no walls of a plane",
                "leave it out; their gaps are columns, such as guide_above.gap");
  }
  const std::string key = reader.full("walls");
  if (value->kind == Value::Kind::Boolean) {
    panel.all_walls = value->boolean;
    return;
  }
  panel.all_walls = false;
  if (value->kind == Value::Kind::Table) {
    for (const auto& [name, point] : value->entries) {
      panel.walls.push_back({contact_of(name, point, key), read_point(point, key + "." + name)});
    }
    return;
  }
  if (value->kind != Value::Kind::Array) {
    reader.fail(*value, "walls", "must be true, false, names of contacts, or a table",
                "write walls = [\"floor\"], or walls = { floor = [\"x\", \"y\"] } with the "
                "particle that the contact keeps");
  }
  for (const Value& name : value->items) {
    panel.walls.push_back({contact_of(name.text, name, key), std::nullopt});
  }
}

void PlotReader::read_at(TableReader& reader, PlotPanel& panel) {
  const Value* table = reader.table("at");
  if (table == nullptr) return;
  for (const auto& [name, value] : table->entries) {
    const std::string key = reader.full("at") + "." + name;
    const auto& names = names_.coordinates;
    const auto found = std::find(names.begin(), names.end(), name);
    if (name != "t" && found == names.end()) {
      fail(value, key, "is no coordinate, and not t", "name a coordinate of the scene");
    }
    const int slot = name == "t" ? 0 : 1 + static_cast<int>(found - names.begin());  // of a row
    panel.at.emplace_back(slot, formulas_.number(value, key));
  }
}

void PlotReader::read_curves(TableReader& reader, PlotPanel& panel) {
  if (const Value* x = reader.find("x")) {
    panel.x = read_formula(*x, reader.full("x"));
  } else {
    panel.x = {"t", plan_.graph.input(0), unit_of("t")};
  }
  const Value& y = reader.require("y", kPanelKeys);
  if (y.kind == Value::Kind::Array) {
    if (first_of(y) == nullptr) fail(y, reader.full("y"), "is empty", kPanelKeys);
    for (const Value& item : y.items) panel.y.push_back(read_formula(item, reader.full("y")));
  } else {
    panel.y.push_back(read_formula(y, reader.full("y")));
  }
  for (const PlotFormula& formula : panel.y) panel.labels.push_back(formula::typeset(formula.text));
  if (const Value* labels = reader.find("labels")) {
    if (labels->kind != Value::Kind::Array || labels->items.size() != panel.y.size()) {
      fail(*labels, reader.full("labels"), "must be a list with a string for each y",
           "write as many as there are formulas in y");
    }
    for (std::size_t k = 0; k < panel.y.size(); ++k) panel.labels[k] = labels->items[k].text;
  }
}

void PlotReader::read_kind(TableReader& reader, PlotPanel& panel) {
  const std::string kind = reader.text("kind").value_or("curves");
  if (kind == "events" || kind == "energy") {
    panel.kind = kind == "events" ? PlotPanel::Kind::Events : PlotPanel::Kind::Energy;
  } else if (kind != "curves") {
    reader.fail(*reader.find("kind"), "kind", fmt::format("there is no kind '{}'", kind),
                "known: curves, events, energy");
  }
  const std::string scale = reader.text("log").value_or("");
  if (scale.empty()) return;
  if (scale == "x") panel.scale = PlotPanel::Scale::LogX;
  if (scale == "y") panel.scale = PlotPanel::Scale::LogY;
  if (scale == "xy") panel.scale = PlotPanel::Scale::LogLog;
  if (panel.scale == PlotPanel::Scale::Linear) {
    reader.fail(*reader.find("log"), "log", "must be \"x\", \"y\" or \"xy\"",
                "leave it out for linear scales");
  }
}

/// Curves of different units do not share a scale: each unit gets a panel of its own.
void PlotReader::add_split(const PlotPanel& panel) {
  std::vector<std::string> units;
  for (const PlotFormula& y : panel.y) {
    if (std::find(units.begin(), units.end(), y.unit) == units.end()) units.push_back(y.unit);
  }
  for (const std::string& unit : units) {
    PlotPanel part = panel;
    part.y.clear();
    part.labels.clear();
    for (std::size_t k = 0; k < panel.y.size(); ++k) {
      if (panel.y[k].unit != unit) continue;
      part.y.push_back(panel.y[k]);
      part.labels.push_back(panel.labels[k]);
    }
    plan_.panels.push_back(part);
  }
}

void PlotReader::read_panel(const Value& table, const std::string& path, bool is_root) {
  TableReader reader(document_, table, path);
  if (is_root) {
    for (const char* key : {"units", "body", "caption", "columns", "panel"}) (void)reader.find(key);
  }
  PlotPanel panel;
  read_kind(reader, panel);
  panel.title = reader.text("title").value_or("");
  panel.x_label = reader.text("x_label").value_or("");
  panel.y_label = reader.text("y_label").value_or("");
  panel.x_range = read_range(reader, "x_range");
  panel.y_range = read_range(reader, "y_range");
  panel.marks = read_every(reader, "marks");
  panel.snapshots = read_every(reader, "snapshots");
  if (panel.snapshots.is_on() && plan_.body.empty()) {
    reader.fail(*reader.find("snapshots"), "snapshots", "there is no body to draw",
                "write plot.body, the lines and circles of the body");
  }
  read_walls(reader, panel);
  read_at(reader, panel);
  if (panel.kind == PlotPanel::Kind::Curves) {
    read_curves(reader, panel);
    const bool same = !panel.is_history() && are_alike(panel.x, panel.y[0]);
    panel.equal = read_flag(reader, "equal", same && panel.scale == PlotPanel::Scale::Linear);
    reader.finish();
    add_split(panel);
    return;
  }
  reader.finish();
  const std::size_t before = plan_.panels.size();
  if (panel.kind == PlotPanel::Kind::Energy) {
    add_energy_panel(plan_);
  } else {
    add_events_panel(plan_);
  }
  if (plan_.panels.size() > before && !panel.title.empty()) plan_.panels.back().title = panel.title;
}

}  // namespace ricochet::scene
