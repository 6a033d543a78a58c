#include "ricochet/scene/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/scene/coordinate_values.h"
#include "ricochet/scene/start_check.h"

namespace ricochet::scene {
namespace {

constexpr double kMostSteps = 1e15;  // a double counts this far without gaps

const Value& empty_table() {
  static const Value empty = [] {
    Value value;
    value.kind = Value::Kind::Table;
    return value;
  }();
  return empty;
}

}  // namespace

step::Scheme RunReader::read_scheme(const Value* table, bool of_structure, bool has_friction) {
  TableReader run(document_, table == nullptr ? empty_table() : *table, "run");
  const auto names = step::scheme_names(of_structure);
  if (run.find("scheme") == nullptr && !run.is_misspelt("scheme")) {
    return step::default_scheme(of_structure, has_friction);
  }
  const Value& value =
      run.require("scheme", fmt::format("write scheme = \"{}\" in [run]; known: {}",
                                        of_structure ? names[0] : "...", base::list_names(names)));
  const std::string name = run.text("scheme").value();
  try {
    return step::make_scheme(name, of_structure);
  } catch (const base::InputError& error) {
    throw base::InputError(error.key(), error.message(), error.remedy(), document_.spot_of(value));
  }
}

double RunReader::positive(TableReader& table, const Value& value, const std::string& key) {
  const double number = formulas_.number(value, table.full(key));
  if (number > 0.0) return number;
  table.fail(value, key, fmt::format("must be positive, not {}", number), "write a number > 0");
}

double RunReader::whole(TableReader& table, const Value& value, const std::string& key) {
  const double number = formulas_.number(value, table.full(key));
  if (number >= 0.0 && number == std::floor(number) && number <= kMostSteps) return number;
  table.fail(value, key, fmt::format("must be a whole number >= 0, not {}", number),
             "write 0, 1, 2, ...");
}

step::RunSettings RunReader::read_run(const Value* table, step::Scheme& scheme,
                                      std::vector<std::string>& warnings, bool of_structure) {
  TableReader run(document_, table == nullptr ? empty_table() : *table, "run");
  (void)run.find("scheme");
  step::RunSettings settings;
  const bool has_bodies =
      document_.root().find("world") != nullptr && document_.root().find("system") == nullptr;
  if (has_bodies) (void)run.find("stop");
  if (has_bodies) read_level(run, settings);
  const Value& step = run.require("step", "write step = 0.001, in the scene's unit of time");
  if (step.kind == Value::Kind::Table) {
    if (of_structure) {
      run.fail(step, "step", "a structure has steps of one length", "write a number");
    }
    if (!scheme.info().is_staggered) {
      run.fail(step, "step",
               fmt::format("the scheme {} has steps of one length", step::name_of(scheme)),
               fmt::format("write a number; step control is for {}",
                           base::list_names(step::staggered_names())));
    }
    read_step_control(step, settings);
  } else {
    formulas_.expect(step, "run.step", formula::Dimension{{0, 0, 1}}, "a time");
    settings.step = positive(run, step, "step");
  }
  if (const Value* value = run.find("start_time")) {
    settings.start_time = formulas_.number(*value, "run.start_time", {}, &slots_.t);
  }
  read_duration(run, settings);
  if (const Value* value = run.find("record")) {
    settings.record_every = static_cast<long long>(whole(run, *value, "record"));
  }
  read_limits(run, settings);
  read_scheme_settings(run, scheme, warnings, of_structure);
  run.finish();
  return settings;
}

void RunReader::read_duration(TableReader& run, step::RunSettings& settings) {
  const Value* until = run.find("until");
  const Value* steps = run.find("steps");
  const char* const remedy = "write either until = 1 or steps = 200";
  if (until != nullptr && steps != nullptr) {
    run.fail(*until, "steps", "is given beside until", remedy);
  }
  if (until == nullptr && steps == nullptr) {
    (void)run.require(run.is_misspelt("steps") ? "steps" : "until", remedy);
  }
  if (steps != nullptr) {
    if (settings.control.is_on()) {
      run.fail(*steps, "steps", "the number of steps is what step control chooses",
               "write until = 1 instead");
    }
    settings.steps = static_cast<long long>(whole(run, *steps, "steps"));
    return;
  }
  formulas_.expect(*until, "run.until", formula::Dimension{{0, 0, 1}}, "a time");
  const double end = formulas_.number(*until, "run.until");
  if (end < settings.start_time) {
    run.fail(*until, "until",
             fmt::format("{} lies before the start at {}", end, settings.start_time),
             "choose a later time");
  }
  if ((end - settings.start_time) / settings.step > kMostSteps) {
    run.fail(*until, "until", "needs more steps than can be counted", "choose a larger step");
  }
  const double longest = (end - settings.start_time) * (1.0 + 1e-6);
  if (end > settings.start_time && settings.step > longest && !settings.control.is_on()) {
    run.fail(*run.find("step"), "step",
             fmt::format("{:g} is longer than the run, from t = {:g} to {:g}", settings.step,
                         settings.start_time, end),
             "choose a shorter step, or a later end");
  }
  settings.steps = step::steps_until(settings.start_time, end, settings.step);
  settings.end_time = end;
}

void RunReader::read_step_control(const Value& table, step::RunSettings& settings) {
  TableReader control(document_, table, "run.step");
  const char* const remedy = "write step = { max = 0.01, min = 1e-6, tolerance = 1e-5 }";
  const auto number = [&](const char* key) {
    return positive(control, control.require(key, remedy), key);
  };
  settings.step = number("max");
  settings.control.smallest = number("min");
  settings.control.tolerance = number("tolerance");
  control.finish();
  if (settings.control.smallest > settings.step) {
    control.fail(*control.find("min"), "min", "is larger than max", "exchange the two");
  }
}

void RunReader::read_limits(TableReader& run, step::RunSettings& settings) {
  if (const Value* value = run.find("shock_speed")) {
    settings.limits.shock_speed = formulas_.number(*value, "run.shock_speed");
    if (settings.limits.shock_speed < 0.0) {
      run.fail(*value, "shock_speed", "must not be negative", "write a speed >= 0");
    }
  }
  if (const Value* value = run.find("residual_limit")) {
    settings.limits.residual = positive(run, *value, "residual_limit");
    if (settings.limits.aim != settings.limits.least) {  // no level is stated, but this is
      settings.limits.aim = settings.limits.least = certify::Level::Exact;
    }
  }
  if (const Value* value = run.find("violation_limit")) {
    settings.limits.violation = positive(run, *value, "violation_limit");
  }
}

/// Of bodies: what their contacts are solved to, `level` or `tolerance = { residual }`, `{ speed }`
/// or `{ meeting }`.
void RunReader::read_level(TableReader& run, step::RunSettings& settings) {
  using certify::Level;
  certify::Limits& limits = settings.limits;
  const Value* level = run.find("level");
  const Value* tolerance = run.find("tolerance");
  if (level != nullptr) {
    const std::string word = run.text("level").value();
    if (word != "exact" && word != "tight" && word != "bounded") {
      run.fail(*level, "level", fmt::format("'{}' is not known", word),
               "write \"exact\", \"tight\" or \"bounded\"");
    }
    limits.aim = limits.least =
        word == "exact" ? Level::Exact : (word == "tight" ? Level::Tight : Level::Bounded);
  }
  if (tolerance == nullptr) return;
  TableReader stated(document_, *tolerance, "run.tolerance");
  const Value* residual = stated.find("residual");
  const Value* speed = stated.find("speed");
  const Value* meeting = stated.find("meeting");
  stated.finish();
  const char* const remedy =
      "write tolerance = { residual = 1e-10 }, { speed = 1e-5 } or { meeting = 1e-4 }";
  const int stated_numbers = (residual != nullptr) + (speed != nullptr) + (meeting != nullptr);
  if (stated_numbers != 1) {
    run.fail(*tolerance, "tolerance", "has one number", remedy);
  }
  const Level means = residual != nullptr ? Level::Exact : Level::Bounded;
  if (level != nullptr && limits.least != means) {
    run.fail(*tolerance, "tolerance", "is of another level", remedy);
  }
  limits.aim = limits.least = means;
  if (residual != nullptr) limits.residual = positive(stated, *residual, "residual");
  if (speed != nullptr) limits.speed = positive(stated, *speed, "speed");
  if (meeting == nullptr) return;
  limits.meeting = positive(stated, *meeting, "meeting");
  constexpr double kMostMeeting = 0.01;
  if (limits.meeting > kMostMeeting) {
    stated.fail(*meeting, "meeting", "is a part of the speed at which bodies meet, 0.01 at most",
                "write a smaller one, as 1e-3");
  }
}

/// What the scheme lets a scene choose; what only other schemes have is refused.
void RunReader::read_scheme_settings(TableReader& run, step::Scheme& scheme,
                                     std::vector<std::string>& warnings, bool of_structure) {
  const auto settings = scheme.info().settings;
  for (const std::string& name : step::setting_names()) {
    const Value* value = run.find(name);
    if (value == nullptr) continue;
    const auto setting = std::find_if(settings.begin(), settings.end(),
                                      [&](const step::Setting& one) { return one.name == name; });
    if (setting == settings.end() || (of_structure && !setting->of_structures)) {
      if (name == "correction" && value->text == "none") continue;  // what all others do anyway
      refuse_key(run, *value, name, step::name_of(scheme), warnings);
    } else {
      scheme.set(name, read_setting(run, *value, *setting));
    }
  }
  const Value* theta = run.find("theta");
  if (theta != nullptr && scheme.value("contact") > 0.0 && scheme.value("theta") > 0.5) {
    run.fail(*theta, "theta",
             "must be 1/2 with contact = \"ahead\", which looks at middles of steps",
             "remove theta, or contact");
  }
}

double RunReader::read_setting(TableReader& run, const Value& value, const step::Setting& setting) {
  const std::string key(setting.name);
  if (setting.is_choice()) {
    const std::string word = run.text(key).value();
    const auto found = std::find(setting.words.begin(), setting.words.end(), word);
    if (found != setting.words.end()) return static_cast<double>(found - setting.words.begin());
    run.fail(value, key, fmt::format("'{}' is not known", word),
             fmt::format("write \"{}\"", fmt::join(setting.words, "\" or \"")));
  }
  if (setting.is_positive) return positive(run, value, key);
  const double number = formulas_.number(value, run.full(key));
  if (number >= setting.least && number <= setting.most) return number;
  run.fail(value, key,
           fmt::format("must lie in [{}, {}], not {}", setting.least, setting.most, number),
           std::string(setting.remedy));
}

void RunReader::refuse_key(TableReader& run, const Value& value, const std::string& key,
                           const std::string& scheme, std::vector<std::string>& warnings) {
  // A scheme named on the command line: the scene's own one may have had the setting.
  const Value* named = run.find("scheme");
  if (named != nullptr && !named->override_text.empty() && value.override_text.empty()) {
    warnings.push_back(
        fmt::format("the scheme {} has no setting {}: that of the scene is left out", scheme, key));
    return;
  }
  run.fail(value, key, fmt::format("the scheme {} has no such setting", scheme),
           fmt::format("remove {}", key));
}

void RunReader::read_vector(TableReader& start, const std::string& key,
                            const std::vector<CoordinateGroup>& groups,
                            const model::FormulaModel& model, int dofs, bool required,
                            model::Vector<model::kDynamic>& vector,
                            std::vector<formula::NodeId>& nodes) {
  vector.setZero(model.dofs());
  nodes.assign(static_cast<std::size_t>(model.dofs()), -1);
  if (start.find(key) == nullptr && !required) return;
  const std::string example = fmt::format("write {} = {{ {} = 0 }}", key, groups[0].name);
  const Value& table = start.require(key, example);
  std::vector<char> given(static_cast<std::size_t>(model.dofs()), 0);
  CoordinateValues(document_, groups)
      .for_each(
          table, start.full(key), example,
          [&](int i, const Value& value, const std::string& name, const formula::Locals& locals) {
            const double power = key == "velocity" ? -1.0 : 0.0;
            formulas_.expect(value, name, formulas_.dimension_of(i).times({{0, 0, 1}}, power),
                             "what is asked for");
            vector[i] = formulas_.number(value, name, locals, &nodes[static_cast<std::size_t>(i)]);
            given[static_cast<std::size_t>(i)] = 1;
          });
  for (int i = 0; i < dofs && required; ++i) {
    if (given[static_cast<std::size_t>(i)] != 0) continue;
    const std::string& name = model.coordinates()[static_cast<std::size_t>(i)];
    throw base::InputError(start.full(key) + "." + name, "is missing",
                           fmt::format("give every coordinate a {}", key),
                           document_.spot_of_key(table));
  }
}

double RunReader::read_tolerance(TableReader& start) {
  const Value* stated = start.find("tolerance");
  if (stated == nullptr) return -1.0;
  const double given = formulas_.number(*stated, "start.tolerance");
  if (given < 0.0) {
    start.fail(*stated, "tolerance", "must not be negative", "write a number >= 0");
  }
  return given;
}

RunReader::State RunReader::read_start(const Value* table,
                                       const std::vector<CoordinateGroup>& groups,
                                       const std::vector<FreeBody>& bodies,
                                       model::FormulaModel& model, const step::RunSettings& run,
                                       std::vector<std::string>& warnings) {
  if (table == nullptr) {
    throw base::InputError("start", "is missing",
                           "write [start] with position = { ... } and velocity = { ... }",
                           {document_.file(), 0, 0, 1, ""});
  }
  TableReader start(document_, *table, "start");
  State state;
  state.t = run.start_time;
  const int dofs = model.dofs() - 3 * static_cast<int>(bodies.size());
  read_vector(start, "position", groups, model, dofs, true, state.q, slots_.q);
  read_vector(start, "velocity", groups, model, dofs, false, state.u, slots_.u);
  for (const FreeBody& body : bodies) {
    for (int k = 0; k < 3; ++k) {
      state.q[body.begin + k] = body.place[static_cast<std::size_t>(k)];
      state.u[body.begin + k] = body.velocity[static_cast<std::size_t>(k)];
    }
  }
  const double tolerance = slots_.tolerance = read_tolerance(start);
  start.finish();
  StartCheck check(model, state, run.step, tolerance);
  if (const std::optional<StartFault> fault = check.first_fault()) {
    start.fail(*start.find("position"), "position", fault->message, fault->remedy);
  }
  const std::vector<std::string> found = check.warnings();
  warnings.insert(warnings.end(), found.begin(), found.end());
  model.take_scale(state.t, state.q);
  return state;
}

}  // namespace ricochet::scene
