#include "ricochet/scene/members.h"

#include <fmt/format.h>

#include <algorithm>

#include "ricochet/scene/dynamics_reader.h"
#include "ricochet/scene/start_check.h"

namespace ricochet::scene {
namespace {

bool is_number(const Value& value) { return value.kind == Value::Kind::Number; }

/// A value among those of the key at which no formula is special by chance.
double plain_value(const FamilyKey& key) {
  constexpr double kPart = 0.38196601125010515;  // of the way from the first to the last
  const double first = key.values.front().number;
  double last = key.values.back().number;
  for (const Value& value : key.values) {
    if (last == first) last = value.number;
  }
  return first + kPart * (last - first);
}

}  // namespace

Members::Members(const Scene& scene, const std::vector<Override>& overrides, const Family& family)
    : scene_(scene), family_(family), overrides_(overrides) {
  const SystemPart* system = std::get_if<SystemPart>(&scene.part);
  if (system == nullptr || system->outside != nullptr || !find_keys()) return;
  try {
    read_pattern();
  } catch (const base::InputError&) {
    pattern_.reset();  // no value in between is a scene; members may be
  }
}

/// Whether all that varies is parameters and coordinates of the start, by numbers.
bool Members::find_keys() {
  for (const FamilyKey& key : family_.keys) {
    if (!std::all_of(key.values.begin(), key.values.end(), is_number)) return false;
    Key found;
    found.is_velocity = key.name.starts_with("start.velocity.");
    if (key.name.find('.') == std::string::npos) {
      found.slot = static_cast<int>(names_.size());
      names_.push_back(key.name);
    } else if (found.is_velocity || key.name.starts_with("start.position.")) {
      const std::vector<std::string>& names = scene_.columns.coordinates;
      const auto at = std::find(names.begin(), names.end(), key.name.substr(15));
      if (at == names.end()) return false;
      found.coordinate = static_cast<int>(at - names.begin());
    } else {
      return false;
    }
    keys_.push_back(found);
  }
  return !keys_.empty();
}

void Members::read_pattern() {
  std::vector<Override> all = overrides_;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const FamilyKey& key = family_.keys[k];
    const double value = keys_[k].slot >= 0 ? plain_value(key) : key.values[0].number;
    all.push_back({key.name, fmt::format("{}", value), key.name});
  }
  ++documents_;
  pattern_ = read_scene(scene_.file, scene_.text, all, nullptr, names_);
  pattern_->run.backward = scene_.run.backward;
  const int count = static_cast<int>(names_.size());
  if (pattern_->slots->count != count) return pattern_.reset();  // one has a unit
  if (pattern_->slots->has_period) document_ = std::make_unique<Document>(scene_.file, scene_.text);
}

Members::Place Members::make_place() const {
  Place place;
  if (!pattern_) return place;
  place.scene_ = &*pattern_;
  place.model_ = std::make_unique<model::FormulaModel>(*pattern_->formulas());
  place.graph_ = pattern_->slots->graph;
  place.kept_ = pattern_->dynamics.section.graph;
  place.values_.resize(names_.size());
  return place;
}

void Members::load(std::size_t member, Place& place) const {
  place.read_.reset();
  if (pattern_ && refill(member, place)) return;
  std::vector<Override> all = overrides_;
  for (Override& change : family_.member(member)) all.push_back(std::move(change));
  ++documents_;
  try {
    const SystemPart* system = std::get_if<SystemPart>(&scene_.part);
    place.read_ = read_scene(scene_.file, scene_.text, all, system ? system->outside : nullptr);
    place.read_->run.backward = scene_.run.backward;
  } catch (const base::InputError& error) {
    throw blame_member(error, Document(scene_.file, scene_.text), family_, member);
  }
}

bool Members::differ_by_start() const {
  if (!pattern_ || pattern_->formulas()->follows_slots()) return false;
  const Slots& slots = *pattern_->slots;
  const SectionPlan& section = pattern_->dynamics.section;
  if (slots.period >= 0 && slots.graph.varies(slots.period)) return false;
  if (section.when >= 0 && pattern_->formulas()->system().graph.any_varies({section.when})) {
    return false;
  }
  return !section.graph.any_varies(section.keep);
}

bool Members::take_start(std::size_t member, Place& place) const {
  set_values(member, place);
  const std::vector<double>& values = place.values_;
  // What was decided by other values, of an if or a sign, makes other equations.
  if (!place.graph_.refill(values) || !place.model_->refill(values)) return false;
  if (!place.kept_.refill(values)) return false;
  place.read_.reset();
  set_start(member, place);
  return true;
}

void Members::set_values(std::size_t member, Place& place) const {
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (keys_[k].slot < 0) continue;
    place.values_[static_cast<std::size_t>(keys_[k].slot)] = family_.value(member, k).number;
  }
}

/// Where and how fast, of the numbers that are set.
void Members::set_start(std::size_t member, Place& place) const {
  const Slots& slots = *pattern_->slots;
  const formula::Graph& graph = place.graph_;
  place.start_ = pattern_->start;
  const auto take = [&](const std::vector<formula::NodeId>& nodes, Eigen::VectorXd& part) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] >= 0) part[static_cast<Eigen::Index>(i)] = graph[nodes[i]].value;
    }
  };
  if (slots.count > 0) take(slots.start.q, place.start_.q);
  if (slots.count > 0) take(slots.start.u, place.start_.u);
  if (slots.count > 0 && slots.start.t >= 0) place.start_.t = graph[slots.start.t].value;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (keys_[k].coordinate < 0) continue;
    Eigen::VectorXd& part = keys_[k].is_velocity ? place.start_.u : place.start_.q;
    part[keys_[k].coordinate] = family_.value(member, k).number;
  }
}

/// False where the member has to be read.
bool Members::refill(std::size_t member, Place& place) const {
  const Slots& slots = *pattern_->slots;
  formula::Graph& graph = place.graph_;
  if (slots.start.t >= 0 && graph.varies(slots.start.t)) return false;  // the end is to be found
  set_values(member, place);
  if (!graph.refill(place.values_) || !place.model_->refill(place.values_)) return false;
  set_start(member, place);
  if (slots.has_period && slots.count > 0) {
    const double period = slots.period >= 0 ? graph[slots.period].value : pattern_->dynamics.period;
    try {
      check_period(*document_, place.model_->system(), period);
    } catch (const base::InputError&) {
      return false;  // reading says what is wrong
    }
  }
  StartCheck check(*place.model_, place.start_, pattern_->run.step, slots.start.tolerance);
  if (check.first_fault()) return false;
  place.model_->take_scale(place.start_.t, place.start_.q);
  return true;
}

}  // namespace ricochet::scene
