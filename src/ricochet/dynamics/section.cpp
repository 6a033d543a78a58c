#include "ricochet/dynamics/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/scene/document.h"

namespace ricochet::dynamics {
namespace {

using Kind = scene::SectionPlan::Kind;

const model::FormulaModel& formulas_of(const scene::Scene& scene) {
  if (scene.world() != nullptr) {
    throw base::InputError("world", "sections of bodies are not computed",
                           "write the motion as formulas of a [system]");
  }
  if (scene.formulas() == nullptr) {
    throw base::InputError("structure", "sections are those of a [system] in formulas",
                           "write the structure's modes as a system");
  }
  if (scene.dynamics.section.kind == Kind::None) {
    throw base::InputError("section", "is missing, and the scene states no period",
                           "write [section] with every, when or at, or period in [system]");
  }
  return *scene.formulas();
}

std::vector<formula::NodeId> watched_by(const scene::SectionPlan& plan) {
  if (plan.kind != Kind::When) return {};
  return {plan.when};
}

flow::FlowSettings settings_of(const scene::Scene& scene) {
  flow::FlowSettings settings;
  settings.period = scene.dynamics.period;
  const int direction = scene.dynamics.section.direction;
  settings.watched = {direction > 0   ? flow::Direction::Up
                      : direction < 0 ? flow::Direction::Down
                                      : flow::Direction::Both};
  return settings;
}

double longest_of(const scene::Scene& scene) {
  const double run = static_cast<double>(scene.run.steps) * scene.run.step;
  return std::max(
      {1000.0 * scene.dynamics.period, 1000.0 * scene.dynamics.section.every, 100.0 * run, 1e4});
}

}  // namespace

std::vector<scene::Override> exact_changes(const std::string& file, const std::string& text,
                                           std::vector<scene::Override> changes) {
  const scene::Document document(file, text);
  const scene::Value* const run = document.root().find("run");
  const auto says = [&](const std::string& key) {
    const scene::Value* const value = run == nullptr ? nullptr : run->find(key);
    const bool is_stated = value != nullptr && value->kind != scene::Value::Kind::Table;
    return is_stated || std::any_of(changes.begin(), changes.end(),
                                    [&](const auto& change) { return change.key == "run." + key; });
  };
  const auto fill = [&](const std::string& key, const std::string& value) {
    changes.push_back({"run." + key, value, "--" + key + " " + value});
  };
  if (!says("step")) fill("step", "1e-3");  // step control is of others
  if (!says("until") && !says("steps")) fill("steps", "1");
  const bool names_scheme = std::any_of(changes.begin(), changes.end(), [](const auto& change) {
    return change.key == "run.scheme";
  });
  bool has_friction = document.root().find("friction") != nullptr;  // other schemes read it
  const scene::Value* const contacts = document.root().find("contact");
  if (contacts != nullptr) {
    for (const auto& [name, contact] : contacts->entries) {
      has_friction = has_friction || contact.find("friction") != nullptr;
    }
  }
  if (has_friction || names_scheme) return changes;
  for (const step::SchemeInfo* info : step::all_schemes()) {
    if (info->integrator == certify::Integrator::Arcs) fill("scheme", std::string(info->name));
  }
  return changes;
}

SectionFlow::SectionFlow(const scene::Scene& scene, bool with_variations)
    : plan_(scene.dynamics.section),
      period_(scene.dynamics.period),
      longest_(longest_of(scene)),
      equations_(formulas_of(scene), with_variations, watched_by(plan_)),
      flow_(equations_, settings_of(scene)),
      tape_(plan_.graph, equations_.inputs() + 1, {plan_.keep}),
      registers_(tape_.registers()) {}

void SectionFlow::start(const Instant& from) {
  flow_.start(from.t, from.q, from.u);
  impacts_ = 0;
  last_ = flight_ = 0.0;
  ended_.clear();
  if (plan_.kind == Kind::Every) {  // at multiples of it, whenever the motion starts
    at_ = plan_.every * std::floor(from.t / plan_.every * (1.0 + 1e-15)) - from.t;
  }
  const double size = std::max({1.0, from.q.cwiseAbs().maxCoeff(), from.u.cwiseAbs().maxCoeff()});
  largest_ = 1e8 * size;
}

bool SectionFlow::next() {
  constexpr int kMostEvents = 1000000;
  if (plan_.kind == Kind::Every) at_ += plan_.every;
  const double end = plan_.kind == Kind::Every ? at_ : flow_.elapsed() + longest_;
  for (int events = 0; events < kMostEvents; ++events) {
    const flow::Event event = flow_.advance(end - flow_.elapsed());
    if (event.kind == flow::EventKind::Failure) {
      ended_ = flow_.failure();
      return false;
    }
    if (!(std::max(flow_.q().cwiseAbs().maxCoeff(), flow_.u().cwiseAbs().maxCoeff()) < largest_)) {
      ended_ = "escapes";
      return false;
    }
    if (event.kind == flow::EventKind::Impact) ++impacts_;
    if (event.kind == flow::EventKind::Watch) return take(0.0, flow_.u());
    if (event.kind == flow::EventKind::Impact && plan_.kind == Kind::Impact &&
        event.row == plan_.contact) {
      return take(event.approach, plan_.is_after ? flow_.u() : flow_.u_before());
    }
    if (event.kind == flow::EventKind::End && flow_.elapsed() >= end) break;
  }
  if (plan_.kind == Kind::Every) return take(0.0, flow_.u());
  ended_ = "never";
  return false;
}

Eigen::VectorXd SectionFlow::returning() const {
  constexpr double kPart = 0.1;  // of a state, beside which it stands
  constexpr double kShortest = 1e-300;
  if (plan_.kind != Kind::Impact) return state_;
  Eigen::VectorXd all(state_.size() + 1);
  all << state_, kPart * std::log(std::max(flight_, kShortest));
  return all;
}

bool SectionFlow::take(double approach, const Eigen::VectorXd& u) {
  flight_ = flow_.elapsed() - last_;
  last_ = flow_.elapsed();
  const Eigen::Index n = flow_.q().size();
  double t = flow_.t();
  if (period_ > 0.0) t -= period_ * std::floor(t / period_);
  const bool has_phase = plan_.kind != Kind::Every && period_ > 0.0;
  state_.resize(2 * n + (has_phase ? 2 : 0));
  state_.head(n) = flow_.q();
  state_.segment(n, n) = u;
  const double phase = period_ > 0.0 ? 2.0 * std::numbers::pi * t / period_ : t;
  if (has_phase) state_.tail(2) << std::cos(phase), std::sin(phase);
  registers_[0] = flow_.t();
  for (Eigen::Index i = 0; i < 2 * n; ++i) registers_[static_cast<std::size_t>(1 + i)] = state_[i];
  registers_[static_cast<std::size_t>(1 + 2 * n)] = phase;
  registers_[static_cast<std::size_t>(2 + 2 * n)] = approach;
  tape_.run(0, registers_.data());
  kept_.clear();
  for (const std::size_t at : tape_.outputs(0)) kept_.push_back(registers_[at]);
  return true;
}

int period_of(const std::vector<Eigen::VectorXd>& states, int most, double tolerance) {
  if (states.size() < 3) return 0;
  Eigen::VectorXd low = states[0], high = states[0];
  double size = 0.0;
  for (const Eigen::VectorXd& state : states) {
    low = low.cwiseMin(state);
    high = high.cwiseMax(state);
    size = std::max(size, state.cwiseAbs().maxCoeff());
  }
  const double range = std::max((high - low).maxCoeff(), 1e-3 * size);
  const auto count = static_cast<int>(states.size());
  for (int period = 1; period <= std::min(most, count / 2); ++period) {
    bool repeats = true;
    for (int k = 0; k < period && repeats; ++k) {
      const Eigen::VectorXd& now = states[static_cast<std::size_t>(count - 1 - k)];
      const Eigen::VectorXd& then = states[static_cast<std::size_t>(count - 1 - k - period)];
      repeats = (now - then).cwiseAbs().maxCoeff() <= tolerance * range;
    }
    if (repeats) return period;
  }
  return 0;
}

SectionResult take_section(const scene::Scene& scene, const SectionSettings& settings,
                           step::Monitor* monitor) {
  SectionFlow motion(scene);
  motion.start({scene.start.t, scene.start.q, scene.start.u});
  SectionResult found;
  found.names = scene.dynamics.section.names;
  std::vector<Eigen::VectorXd> states;
  double begin = 0.0;
  long long before = 0;
  for (int k = 0; k < settings.settle + settings.show; ++k) {
    if (monitor != nullptr) monitor->steps = k;
    found.interrupted = monitor != nullptr && monitor->stop;
    if (found.interrupted || !motion.next()) break;
    if (k < settings.settle) {
      begin = motion.time();
      before = motion.impacts();
      continue;
    }
    found.times.push_back(scene.start.t + motion.time());
    found.rows.push_back(motion.kept());
    states.push_back(motion.returning());
  }
  found.ended = motion.ended();
  if (found.ended == "never" && states.empty()) {
    throw base::InputError("section", "the motion never meets it",
                           "look at the motion with `ricochet run`, and choose another section");
  }
  if (motion.time() > begin) {
    found.rate = static_cast<double>(motion.impacts() - before) / (motion.time() - begin);
  }
  found.period = period_of(states, 128);
  return found;
}

std::string section_csv(const SectionResult& found) {
  std::string text = "t";
  for (const std::string& name : found.names) text += "," + name;
  text += "\n";
  for (std::size_t k = 0; k < found.rows.size(); ++k) {
    text += fmt::format("{:.17g}", found.times[k]);
    for (const double value : found.rows[k]) text += fmt::format(",{:.17g}", value);
    text += "\n";
  }
  return text;
}

std::string describe(const SectionResult& found, const scene::Scene& scene) {
  using base::entry;
  std::string text = scene.title + "\n\n";
  text += entry("sections", fmt::format("{}", found.rows.size()));
  text +=
      entry("period", found.period > 0 ? base::counted(found.period, "section")
                                       : std::string("none up to 128: the motion does not repeat"));
  text += entry("impacts", fmt::format("{:.6g} per unit of time", found.rate));
  if (!found.ended.empty()) text += entry("ended", "the motion " + found.ended);
  const std::size_t shown = std::min<std::size_t>(
      found.rows.size(),
      found.period > 0 ? static_cast<std::size_t>(std::min(found.period, 8)) : 0);
  for (std::size_t k = 0; k < shown; ++k) {
    const std::vector<double>& row = found.rows[found.rows.size() - shown + k];
    std::string words;
    for (std::size_t i = 0; i < row.size(); ++i) {
      words += fmt::format("{}{} = {:.10g}", i > 0 ? ", " : "", found.names[i], row[i]);
    }
    text += entry(k == 0 ? "points" : "", words);
  }
  return text;
}

}  // namespace ricochet::dynamics
