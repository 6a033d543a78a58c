#include "ricochet/scene/structure_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/formula/derivative.h"
#include "ricochet/structure/modes.h"
#include "ricochet/structure/structure_model.h"

namespace ricochet::scene {
namespace {

using structure::End;
using structure::Form;
using structure::Kind;

constexpr int kTime = 0;  // slots of the formulas: t and the abscissa x
constexpr int kAbscissa = 1;
constexpr int kMostNodes = 100'000;
constexpr double kMostColumns = 4e7;  // numbers that the columns of all guides may take
constexpr std::size_t kShapePoints = 400;
constexpr int kShownFrequencies = 5;
constexpr int kMostModeNodes = 10'000;  // with more, K cannot be inverted in double precision
constexpr int kCompanionNodes = 2000;   // then frequencies are those of a coarser line

const char* name_of(Kind kind) {
  constexpr std::array kNames = {"beam", "string", "bar"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string list(const std::vector<std::string>& words) { return base::list_names(words); }

}  // namespace

std::optional<base::InputError> fault_of_step(const StructurePart& part, const step::Scheme& scheme,
                                              double h) {
  const structure::LinearStructure& model = *part.model;
  if (scheme.info().integrator == certify::Integrator::End) {
    const double highest = structure::highest_frequency(model);
    const double largest = 2.0 / (1.01 * highest);
    if (h <= largest) return std::nullopt;
    return base::InputError(
        "run.step",
        fmt::format("{:g} is unstable: mabrouk takes the stiffness at the end of the step, and the "
                    "highest frequency of these nodes is {:.4g} rad/s",
                    h, highest),
        fmt::format("take a step of at most {:.3g}, fewer nodes, or the scheme newmark or moreau, "
                    "which are stable for every step",
                    largest));
  }
  const double condition = structure::StructureModel::condition(model, h);
  if (condition > structure::StructureModel::kMostCondition) {
    return base::InputError(
        "run.step",
        fmt::format("{:g} is too large for {} nodes: the two differ by more digits than numbers "
                    "have (condition {:.1g})",
                    h, part.line.cells, condition),
        fmt::format("take a step of at most {:.2g}, fewer nodes, or form = \"corrected\"",
                    h * std::sqrt(structure::StructureModel::kMostCondition / condition)));
  }
  const double stiffness = scheme.value("stiffness");  // of springs
  if (!(stiffness > 0.0) || model.guides.empty()) return std::nullopt;
  const double weight = structure::StructureModel(model, h, false).largest_compliance();
  if (h * h * stiffness * weight < 1.0) return std::nullopt;
  return base::InputError(
      "run.stiffness",
      fmt::format("{:g} is unstable with this step: springs would give more energy than they take",
                  stiffness),
      fmt::format("take a stiffness below {:.3g}, a smaller step, or leave stiffness out",
                  1.0 / (h * h * weight)));
}

double StructureReader::positive_value(TableReader& table, const Value& value,
                                       const std::string& key) {
  const double number = formulas_.number(value, table.full(key));
  if (number > 0.0) return number;
  table.fail(value, key, fmt::format("must be positive, not {}", number), "write a number > 0");
}

double StructureReader::positive(TableReader& table, const std::string& key,
                                 const std::string& remedy) {
  return positive_value(table, table.require(key, remedy), key);
}

int StructureReader::whole(TableReader& table, const Value& value, const std::string& key,
                           int least, int most) {
  const double number = formulas_.number(value, table.full(key));
  if (number == std::floor(number) && number >= least && number <= most) {
    return static_cast<int>(number);
  }
  table.fail(value, key,
             fmt::format("must be a whole number from {} to {}, not {}", least, most, number),
             fmt::format("write {} = {}", key, least));
}

void StructureReader::read_form(TableReader& table, structure::Line& line) {
  const std::vector<std::string> forms =
      line.kind == Kind::Beam ? std::vector<std::string>{"printed", "corrected", "hermite"}
                              : std::vector<std::string>{"lumped", "consistent"};
  const std::optional<std::string> form = table.text("form");
  line.form = line.kind == Kind::Beam ? Form::Elements : Form::Corrected;
  if (!form) return;
  const auto found = std::find(forms.begin(), forms.end(), *form);
  if (found == forms.end()) {
    table.fail(*table.find("form"), "form",
               fmt::format("'{}' is no form of a {}", *form, name_of(line.kind)),
               fmt::format("write one of {}", list(forms)));
  }
  const auto index = static_cast<std::size_t>(found - forms.begin());
  constexpr std::array kBeam = {Form::Printed, Form::Corrected, Form::Elements};
  constexpr std::array kOther = {Form::Corrected, Form::Elements};
  line.form = line.kind == Kind::Beam ? kBeam[index] : kOther[index];
}

End StructureReader::end_of(TableReader& table, const Value& value, const Value& item, Kind kind) {
  const std::string word = item.kind == Value::Kind::Text ? item.text : "";
  if (word == "free") return End::Free;
  if (word == "clamped" || word == "pinned") return word == "pinned" ? End::Pinned : End::Clamped;
  const std::string remedy =
      kind == Kind::Beam ? "write ends = [\"clamped\", \"free\"]; known: clamped, pinned, free"
                         : "write ends = [\"pinned\", \"free\"]; known: pinned, free";
  if (item.kind != Value::Kind::Text) table.fail(value, "ends", "must be two words", remedy);
  table.fail(item, "ends", fmt::format("'{}' is no end", word), remedy);
}

std::optional<structure::Section> StructureReader::section_of(const Value& value) {
  if (value.kind != Value::Kind::Table || value.entries.size() != 1) return std::nullopt;
  const auto& [shape, measures] = value.entries[0];
  std::vector<double> sizes;
  if (measures.kind == Value::Kind::Array) {
    for (const Value& item : measures.items) {
      sizes.push_back(formulas_.number(item, "structure.section." + shape));
    }
  } else {
    sizes.push_back(formulas_.number(measures, "structure.section." + shape));
  }
  for (const double size : sizes) {
    if (!(size > 0.0)) return std::nullopt;
  }
  if (shape == "tube" && sizes.size() == 2 && 2.0 * sizes[1] < sizes[0]) {
    return structure::Section::tube(sizes[0], sizes[1]);
  }
  if (shape == "circle" && sizes.size() == 1) return structure::Section::circle(sizes[0]);
  if (shape == "rectangle" && sizes.size() == 2) {
    return structure::Section::rectangle(sizes[0], sizes[1]);
  }
  return std::nullopt;
}

/// Stiffness and mass a length: stated, or from material and section.
void StructureReader::read_section(TableReader& table, structure::Line& line) {
  const std::array<const char*, 3> keys = {"EI", "tension", "EA"};
  const std::string key = keys[static_cast<std::size_t>(line.kind)];
  const Value* section = table.find("section");
  const Value* stiffness = table.find(key);
  const Value* mass = table.find("rho_S");
  structure::Section measures;
  if (section != nullptr) {
    const std::optional<structure::Section> found = section_of(*section);
    if (!found) {
      table.fail(*section, "section", "is no section that exists",
                 "write { tube = [outer diameter, wall] }, { circle = diameter } or "
                 "{ rectangle = [width, height] }, all positive");
    }
    measures = *found;
  }
  const std::string material = "give a section with young and density, or the products";
  if (stiffness != nullptr) {
    line.stiffness = positive_value(table, *stiffness, key);
  } else if (line.kind == Kind::String || section == nullptr) {
    line.stiffness = positive(table, key, fmt::format("write {} = ..., or {}", key, material));
  } else {
    const double young = positive(table, "young", "write young = 2.1e11, or " + key);
    line.stiffness = young * (line.kind == Kind::Beam ? measures.inertia : measures.area);
  }
  if (mass != nullptr) {
    line.mass_per_length = positive_value(table, *mass, "rho_S");
  } else if (section == nullptr) {
    line.mass_per_length = positive(table, "rho_S", "write rho_S = mass a length, or " + material);
  } else {
    line.mass_per_length =
        measures.area * positive(table, "density", "write density = 7850, or rho_S");
  }
  const bool bends = section != nullptr && stiffness == nullptr && line.kind != Kind::String;
  const bool weighs = section != nullptr && mass == nullptr;
  const auto refuse_unused = [&](const char* unused, bool is_used, const std::string& instead) {
    const Value* value = table.find(unused);
    if (value == nullptr || is_used) return;
    table.fail(*value, unused, "is not used beside " + instead,
               fmt::format("leave {} out", unused));
  };
  refuse_unused("young", bends, key);
  refuse_unused("density", weighs, "rho_S");
  refuse_unused("section", bends || weighs, key + " and rho_S");
}

void StructureReader::read_line(TableReader& table, structure::Line& line) {
  const std::optional<std::string> kind = table.text("kind");
  if (kind && *kind != "beam" && *kind != "string" && *kind != "bar") {
    table.fail(*table.find("kind"), "kind", fmt::format("'{}' is not known", *kind),
               "write \"beam\", \"string\" or \"bar\"");
  }
  line.kind = !kind || *kind == "beam" ? Kind::Beam : *kind == "string" ? Kind::String : Kind::Bar;
  line.length = positive(table, "length", "write length = 1.5");
  read_section(table, line);
  const Value& ends = table.require(
      "ends", "a structure needs a condition at both ends: write ends = [\"clamped\", \"free\"]");
  if (ends.kind != Value::Kind::Array || ends.items.size() != 2) {
    table.fail(ends, "ends", "must be a list of two", "write ends = [\"clamped\", \"free\"]");
  }
  line.left = end_of(table, ends, ends.items[0], line.kind);
  line.right = end_of(table, ends, ends.items[1], line.kind);
  line.cells = whole(table, table.require("nodes", "write nodes = 100: as many cells of the line"),
                     "nodes", 4, kMostNodes);
  read_form(table, line);
  if (const Value* planes = table.find("planes")) {
    line.planes = whole(table, *planes, "planes", 1, 2);
    if (line.planes == 2 && line.kind == Kind::Bar) {
      table.fail(*planes, "planes", "a bar moves along itself only", "write planes = 1");
    }
  }
}

double StructureReader::place(TableReader& table, const Value& value, const std::string& key) {
  const double x = formulas_.number(value, table.full(key));
  const double length = mesh_->line().length;
  if (x >= 0.0 && x <= length * (1.0 + 1e-12)) return std::min(x, length);
  table.fail(value, key,
             fmt::format("{} lies outside the {}, which goes from 0 to {}", x,
                         name_of(mesh_->line().kind), length),
             "choose an abscissa on it");
}

structure::Row StructureReader::row_at(TableReader& table, const Value& value,
                                       const std::string& key, double x) {
  structure::Row row = mesh_->row_at(x);
  if (row.count() > 0) return row;
  table.fail(value, key, fmt::format("at {} the {} is held", x, name_of(mesh_->line().kind)),
             "choose an abscissa that can move");
}

int StructureReader::plane_of(TableReader& table) {
  const std::optional<std::string> direction = table.text("direction");
  if (!direction || *direction == "y") return 0;
  const Value& value = *table.find("direction");
  if (*direction != "z") {
    table.fail(value, "direction", fmt::format("'{}' is not known", *direction),
               "write \"y\" or \"z\"");
  }
  if (mesh_->line().planes == 1) {
    table.fail(value, "direction", "the structure bends in one plane, y",
               "write planes = 2 in [structure], or direction = \"y\"");
  }
  return 1;
}

void StructureReader::read_masses(const Value* table, Model& model) {
  if (table == nullptr) return;
  for (const auto& [name, value] : table->entries) {
    TableReader one(document_, value, "structure.mass." + name);
    const Value& at = one.require("at", "write at = 0.5");
    const structure::Row row = row_at(one, at, "at", place(one, at, "at"));
    masses_.emplace_back(place(one, at, "at"), positive(one, "mass", "write mass = 0.1"));
    structure::add_point_mass(model, row, masses_.back().second);
    one.finish();
  }
}

void StructureReader::read_forces(const Value* table, Model& model) {
  if (table == nullptr) return;
  for (const auto& [name, value] : table->entries) {
    TableReader one(document_, value, "structure.force." + name);
    structure::Load load;
    load.name = name;
    const Value& at = one.require("at", "write at = 0.5");
    load.at = place(one, at, "at");
    load.row = row_at(one, at, "at", load.at);
    load.plane = plane_of(one);
    const Value& formula = one.require("value", "write value = \"10*sin(2*pi*15*t)\"");
    const formula::NodeId node = formulas_.formula(formula, one.full("value"), Speaks::Position);
    if (formulas_.graph().depends_on(node, kAbscissa, kAbscissa + 1)) {
      one.fail(formula, "value", "a point force is a formula of t, not of x",
               "write the abscissa as a number");
    }
    load_nodes_.push_back(node);
    model.loads.push_back(load);
    one.finish();
  }
  if (load_nodes_.empty()) return;
  model.load_tape = formula::Tape(formulas_.graph(), 1, {load_nodes_});
  for (std::size_t k = 0; k < load_nodes_.size(); ++k) {
    model.loads[k].output = model.load_tape.outputs(0)[k];
  }
}

void StructureReader::read_points(const Value* table, Model& model) {
  if (table == nullptr) return;
  for (const auto& [name, value] : table->entries) {
    TableReader one(document_, value, "structure.point." + name);
    formulas_.check_new_name(name, one.path(), value);
    const Value& at = one.require("at", "write at = 1.5");
    const double x = place(one, at, "at");
    const structure::Row row = row_at(one, at, "at", x);
    one.finish();
    if (model.planes == 1) {
      model.points.push_back({name, x, 0, row});
    } else {
      model.points.push_back({name + "_y", x, 0, row});
      model.points.push_back({name + "_z", x, 1, row});
    }
  }
}

/// A clearance, which may be a formula of x.
double StructureReader::clearance(TableReader& table, const char* key, double x) {
  const Value& value = *table.find(key);
  const std::string full = table.full(key);
  const formula::NodeId node = formulas_.formula(value, full, Speaks::Position);
  if (formulas_.graph().depends_on(node, kTime, kTime + 1)) {
    table.fail(value, key, "a clearance does not change in time", "write a number or formula of x");
  }
  const double found = formulas_.graph().evaluate(node, {0.0, x});
  if (found >= 0.0 && std::isfinite(found)) return found;
  table.fail(value, key,
             fmt::format("a clearance must not be negative, and is {} at x = {}", found, x),
             "measure it from the straight line outwards, 0 or more");
}

void StructureReader::add_guide(TableReader& table, structure::Guide guide, double x,
                                Model& model) {
  guide.at = x;
  if (table.find("clearance") != nullptr) {
    guide.upper = clearance(table, "clearance", x);
    guide.lower = -guide.upper;
  }
  if (table.find("above") != nullptr) guide.upper = clearance(table, "above", x);
  if (table.find("below") != nullptr) guide.lower = -clearance(table, "below", x);
  model.guides.push_back(std::move(guide));
}

void StructureReader::read_guide(const std::string& name, const Value& value, Model& model) {
  TableReader one(document_, value, "structure.guide." + name);
  formulas_.check_new_name(name, one.path(), value);
  structure::Guide guide;
  guide.name = name;
  guide.plane = plane_of(one);
  if (const Value* e = one.find("restitution")) {
    guide.restitution = formulas_.number(*e, one.full("restitution"));
    if (!(guide.restitution >= 0.0 && guide.restitution <= 1.0)) {
      one.fail(*e, "restitution", fmt::format("must lie in [0, 1], not {}", guide.restitution),
               "0: no rebound, 1: no loss");
    }
  }
  if (const Value* mu = one.find("friction")) {
    guide.friction = formulas_.number(*mu, one.full("friction"));
    if (!(guide.friction >= 0.0)) {
      one.fail(*mu, "friction", "must not be negative", "write a number >= 0");
    }
    if (guide.friction > 0.0 && model.planes == 1) {
      one.fail(*mu, "friction", "acts along the second plane, and the structure has one",
               "write planes = 2 in [structure], or leave friction out");
    }
  }
  const bool both = one.find("clearance") != nullptr;
  const bool sides = one.find("above") != nullptr || one.find("below") != nullptr;
  if (both == sides) {
    throw base::InputError(one.path(),
                           both ? "has clearance beside above or below" : "has no clearance",
                           "write clearance = 1e-3 for both sides, or above = ..., below = ...",
                           document_.spot_of_key(value));
  }
  if (const Value* from = one.find("from")) {
    const Value& to = one.require("to", "write from = 0, to = 1, or at = 0.5");
    const double first = place(one, *from, "from");
    const double last = place(one, to, "to");
    int count = 0;
    for (int j = 0; j < mesh_->nodes(); ++j) {
      const double x = mesh_->abscissa(j);
      if (x < first - 1e-9 * mesh_->cell() || x > last + 1e-9 * mesh_->cell()) continue;
      guide.row = mesh_->row_at(x);
      if (guide.row.count() == 0) continue;
      guide.name = fmt::format("{}[{}]", name, ++count);
      add_guide(one, guide, x, model);
    }
    if (count == 0) one.fail(to, "to", "there is no free node in between", "choose a wider range");
  } else {
    const Value& at = one.require("at", "write at = 1.0, or from = 0, to = 1");
    const double x = place(one, at, "at");
    guide.row = row_at(one, at, "at", x);
    add_guide(one, guide, x, model);
  }
  one.finish();
}

void StructureReader::read_guides(const Value* table, Model& model) {
  if (table == nullptr) return;
  for (const auto& [name, value] : table->entries) read_guide(name, value, model);
  if (static_cast<double>(model.guides.size()) * model.dofs > kMostColumns) {
    throw base::InputError(
        "structure.guide",
        fmt::format("{} guides on {} nodes are too many", model.guides.size(), model.dofs),
        "take fewer nodes, or guide fewer of them", document_.spot_of_key(*table));
  }
}

void StructureReader::read_damping(TableReader& table, Model& model) {
  const Value* damping = table.table("damping");
  if (damping == nullptr) return;
  TableReader one(document_, *damping, "structure.damping");
  const auto number = [&](const char* key) {
    const Value* value = one.find(key);
    if (value == nullptr) return 0.0;
    const double found = formulas_.number(*value, one.full(key));
    if (!(found >= 0.0)) one.fail(*value, key, "must not be negative", "write a number >= 0");
    return found;
  };
  model.damping.mass = number("mass");
  model.damping.stiffness = number("stiffness");
  std::vector<double> ratios;
  const Value* list_of = one.find("ratios");
  if (list_of != nullptr && list_of->kind != Value::Kind::Array) {
    one.fail(*list_of, "ratios", "is no list", "write ratios = [0.01, 0.02], or ratio = 0.01");
  }
  if (list_of != nullptr && list_of->items.size() > structure::Damping::kMostModes) {
    one.fail(*list_of, "ratios",
             fmt::format("has more than {} entries", structure::Damping::kMostModes),
             "damp the lowest modes; `stiffness` damps all");
  }
  if (list_of != nullptr) {
    for (const Value& item : list_of->items) {
      ratios.push_back(formulas_.number(item, "structure.damping.ratios"));
    }
  }
  const double ratio = number("ratio");
  if (const Value* modes = one.find("modes"); modes != nullptr || ratio > 0.0) {
    if (modes != nullptr && one.find("ratio") == nullptr) {
      one.fail(*modes, "modes", "says how many, not how much", "add ratio = 0.01");
    }
    const int count =
        modes == nullptr ? 6 : whole(one, *modes, "modes", 1, structure::Damping::kMostModes);
    ratios.resize(std::max(ratios.size(), static_cast<std::size_t>(count)), ratio);
  }
  for (const double one_ratio : ratios) {
    if (!(one_ratio >= 0.0 && one_ratio < 1.0)) {
      one.fail(*damping, "ratio", fmt::format("must lie in [0, 1), not {}", one_ratio),
               "write ratio = 0.01 for one per cent of critical damping");
    }
  }
  one.finish();
  if (ratios.empty()) return;
  check_mode_nodes(*damping, one.path());
  const auto count = static_cast<int>(ratios.size());
  const std::vector<structure::Mode> modes = structure::find_modes(model, count);
  if (modes.empty()) {
    throw base::InputError(one.path(), "the modes to be damped could not be found",
                           "take fewer nodes, or mass = ..., stiffness = ...",
                           document_.spot_of_key(*damping));
  }
  structure::set_modal_damping(model, modes, ratios);
}

void StructureReader::read_reduction(TableReader& table, StructurePart& part) {
  const Value* reduction = table.table("reduction");
  if (reduction == nullptr) return;
  TableReader one(document_, *reduction, "structure.reduction");
  check_mode_nodes(*reduction, one.path());
  const int most = std::max(1, mesh_->dofs() / 2);
  part.reduced_modes =
      whole(one, one.require("modes", "write modes = 12"), "modes", 1, std::min(most, 200));
  if (const Value* compare = one.find("compare")) {
    if (compare->kind != Value::Kind::Boolean) {
      one.fail(*compare, "compare", "must be true or false", "write compare = false");
    }
    part.compare_full = compare->boolean;
  }
  one.finish();
}

void StructureReader::check_mode_nodes(const Value& value, const std::string& key) const {
  if (mesh_->line().cells <= kMostModeNodes) return;
  throw base::InputError(key,
                         fmt::format("modes are found for up to {} nodes, and there are {}",
                                     kMostModeNodes, mesh_->line().cells),
                         "take fewer nodes, or damping = { mass = ..., stiffness = ... }",
                         document_.spot_of_key(value));
}

/// The first frequencies, without guides; of very many nodes, of a coarser line.
std::vector<double> StructureReader::frequencies_of(const Model& model) const {
  std::vector<structure::Mode> modes;
  if (mesh_->line().cells <= kMostModeNodes) {
    modes = structure::find_modes(model, kShownFrequencies);
  } else {
    structure::Line coarse = mesh_->line();
    coarse.cells = kCompanionNodes;
    const structure::Mesh mesh(coarse);
    Model companion = structure::build_line(mesh);
    for (const auto& [x, mass] : masses_) {
      structure::add_point_mass(companion, mesh.row_at(x), mass);
    }
    modes = structure::find_modes(companion, kShownFrequencies);
  }
  std::vector<double> frequencies;
  for (const structure::Mode& mode : modes) {
    frequencies.push_back(mode.omega / (2.0 * std::acos(-1.0)));
  }
  return frequencies;
}

/// What separates two impacts: stated, or a hundredth of the longest period.
void StructureReader::set_quiet_time(TableReader& table, Model& model,
                                     const std::vector<double>& frequencies) {
  if (const Value* quiet = table.find("quiet")) {
    model.quiet_time = positive_value(table, *quiet, "quiet");
    return;
  }
  constexpr double kPart = 0.01;
  const double unit = model.lowest_frequency / (2.0 * std::acos(-1.0));
  for (const double frequency : frequencies) {
    if (frequency < 1e-3 * unit) continue;  // a rigid mode
    model.quiet_time = kPart / frequency;
    return;
  }
}

void StructureReader::read_parameters(const Value& value) {
  TableReader table(document_, value, "structure");
  if (const Value* parameters = table.table("parameters")) {
    formulas_.add_parameters(*parameters, "structure.parameters");
  }
  formulas_.add_coordinates({CoordinateGroup{.name = "x"}});  // the abscissa
}

void StructureReader::read(const Value& value, const step::Scheme& scheme,
                           const step::RunSettings& run, StructurePart& part) {
  TableReader table(document_, value, "structure");
  (void)table.find("parameters");
  read_line(table, part.line);
  mesh_ = std::make_unique<structure::Mesh>(part.line);
  auto model = std::make_shared<Model>(structure::build_line(*mesh_));
  read_masses(table.table("mass"), *model);
  read_forces(table.table("force"), *model);
  read_points(table.table("point"), *model);
  read_guides(table.table("guide"), *model);
  read_damping(table, *model);
  read_reduction(table, part);
  if (const Value* shapes = table.find("shapes")) {
    part.shapes = whole(table, *shapes, "shapes", 0, 1000);
  }
  (void)table.find("quiet");
  table.finish();
  for (const structure::Guide& guide : model->guides) {
    if (guide.friction > 0.0 && !scheme.info().has_friction) {
      throw base::InputError("structure.guide." + guide.name + ".friction",
                             fmt::format("the scheme {} has no friction", step::name_of(scheme)),
                             "run newmark or moreau, or leave friction out",
                             document_.spot_of_key(value));
    }
  }
  part.model = model;
  if (const std::optional<base::InputError> fault = fault_of_step(part, scheme, run.step)) {
    throw base::InputError(fault->key(), fault->message(), fault->remedy(),
                           document_.spot_of_key(value));
  }
  part.frequencies = frequencies_of(*model);
  set_quiet_time(table, *model, part.frequencies);
  const std::size_t cells = std::min(static_cast<std::size_t>(part.line.cells), kShapePoints);
  for (std::size_t k = 0; k <= cells; ++k) {
    part.abscissae.push_back(part.line.length * static_cast<double>(k) /
                             static_cast<double>(cells));
    part.shape_rows.push_back(mesh_->row_at(part.abscissae.back()));
  }
}

void StructureReader::set_shape(const Value& value, const std::string& key, int plane,
                                Eigen::VectorXd& vector) {
  const formula::NodeId node = formulas_.formula(value, key, Speaks::Position);
  formula::Graph& graph = formulas_.graph();
  if (graph.depends_on(node, kTime, kTime + 1)) {
    throw base::InputError(key, "a start is a shape, a formula of x", "leave t out",
                           document_.spot_of(value));
  }
  const formula::NodeId slope = formula::gradient(graph, node, {kAbscissa})[0];
  const int offset = plane * mesh_->dofs();
  for (int j = 0; j < mesh_->nodes(); ++j) {
    const double x = mesh_->abscissa(j);
    if (const int dof = mesh_->displacement(j); dof >= 0) {
      vector[offset + dof] = graph.evaluate(node, {0.0, x});
    }
    if (const int dof = mesh_->slope(j); dof >= 0) {
      vector[offset + dof] = mesh_->cell() * graph.evaluate(slope, {0.0, x});
    }
  }
  if (!vector.allFinite()) {
    throw base::InputError(key, "is not a number everywhere on the structure",
                           "check the formula for divisions by zero", document_.spot_of(value));
  }
}

void StructureReader::read_start(const Value* table, const step::RunSettings& run,
                                 StructurePart& part) {
  part.start.t = run.start_time;
  part.start.q.setZero(part.model->size());
  part.start.u.setZero(part.model->size());
  if (table == nullptr) return;
  TableReader start(document_, *table, "start");
  const auto read = [&](const char* key, Eigen::VectorXd& vector) {
    const Value* value = start.find(key);
    if (value == nullptr) return;
    if (value->kind != Value::Kind::Table) {
      return set_shape(*value, start.full(key), 0, vector);
    }
    TableReader planes(document_, *value, start.full(key));
    if (const Value* y = planes.find("y")) set_shape(*y, planes.full("y"), 0, vector);
    if (const Value* z = planes.find("z")) {
      if (part.model->planes == 1) {
        planes.fail(*z, "z", "the structure bends in one plane, y",
                    "write planes = 2 in [structure], or leave z out");
      }
      set_shape(*z, planes.full("z"), 1, vector);
    }
    planes.finish();
  };
  read("position", part.start.q);
  read("velocity", part.start.u);
  start.finish();
  check_start(*table, part);
}

void StructureReader::check_start(const Value& table, const StructurePart& part) {
  for (const structure::Guide& guide : part.model->guides) {
    const double at = part.model->value_at(guide.row, guide.plane, part.start.q.data());
    const double over = std::max(guide.lower - at, at - guide.upper);
    const double size = std::max({std::abs(at), std::abs(guide.lower), 1e-300});
    if (!(over > 1e-9 * (std::isfinite(size) ? size : std::abs(at)))) continue;
    throw base::InputError("start.position",
                           fmt::format("lies {:.3g} beyond the guide '{}'", over, guide.name),
                           "start between the clearances", document_.spot_of_key(table));
  }
}

}  // namespace ricochet::scene
