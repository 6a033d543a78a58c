#include "ricochet/scene/run_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/model/formula_view.h"

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

step::Scheme RunReader::read_scheme(const Value* table) {
  TableReader run(document_, table == nullptr ? empty_table() : *table, "run");
  const std::string remedy = fmt::format("write scheme = \"...\" in [run]; known: {}",
                                         base::list_names(step::scheme_names()));
  const Value& value = run.require("scheme", remedy);
  const std::string name = run.text("scheme").value();
  try {
    return step::make_scheme(name);
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

step::RunSettings RunReader::read_run(const Value* table, step::Scheme& scheme) {
  TableReader run(document_, *table, "run");
  (void)run.find("scheme");
  step::RunSettings settings;
  const Value& step = run.require("step", "write step = 0.001, in the scene's unit of time");
  if (step.kind == Value::Kind::Table) {
    run.fail(step, "step", "step control is not available in this version", "write one number");
  }
  settings.step = positive(run, step, "step");
  if (const Value* value = run.find("start_time")) {
    settings.start_time = formulas_.number(*value, "run.start_time");
  }
  const Value* until = run.find("until");
  const Value* steps = run.find("steps");
  if ((until == nullptr) == (steps == nullptr)) {
    run.fail(until == nullptr ? *table : *until, until == nullptr ? "until" : "steps",
             until == nullptr ? "is missing" : "is given beside until",
             "write either until = 1 or steps = 200");
  }
  if (steps != nullptr) settings.steps = static_cast<long long>(whole(run, *steps, "steps"));
  if (until != nullptr) {
    const double end = formulas_.number(*until, "run.until");
    if (end < settings.start_time) {
      run.fail(*until, "until",
               fmt::format("{} lies before the start at {}", end, settings.start_time),
               "choose a later time");
    }
    if ((end - settings.start_time) / settings.step > kMostSteps) {
      run.fail(*until, "until", "needs more steps than can be counted", "choose a larger step");
    }
    settings.steps = step::steps_until(settings.start_time, end, settings.step);
  }
  if (const Value* value = run.find("record")) {
    settings.record_every = static_cast<long long>(whole(run, *value, "record"));
  }
  if (const Value* value = run.find("shock_speed")) {
    settings.limits.shock_speed = formulas_.number(*value, "run.shock_speed");
    if (settings.limits.shock_speed < 0.0) {
      run.fail(*value, "shock_speed", "must not be negative", "write a speed >= 0");
    }
  }
  if (const Value* value = run.find("residual_limit")) {
    settings.limits.residual = positive(run, *value, "residual_limit");
  }
  if (const Value* value = run.find("violation_limit")) {
    settings.limits.violation = positive(run, *value, "violation_limit");
  }
  read_scheme_settings(run, scheme);
  run.finish();
  return settings;
}

void RunReader::read_scheme_settings(TableReader& run, step::Scheme& scheme) {
  if (const Value* value = run.find("anticipation")) {
    const double anticipation = formulas_.number(*value, "run.anticipation");
    std::visit([&](auto& chosen) { chosen.anticipation = anticipation; }, scheme);
  }
  const std::optional<std::string> correction = run.text("correction");
  if (!correction) return;
  if (*correction != "none" && *correction != "project") {
    run.fail(*run.find("correction"), "correction", fmt::format("'{}' is not known", *correction),
             "write \"none\" or \"project\"");
  }
  std::visit(
      [&](auto& chosen) {
        chosen.correction =
            *correction == "project" ? step::Correction::Project : step::Correction::None;
      },
      scheme);
}

void RunReader::read_vector(TableReader& start, const std::string& key,
                            const model::FormulaModel& model, bool required,
                            model::Vector<model::kDynamic>& vector) {
  vector.setZero(model.dofs());
  if (start.find(key) == nullptr && !required) return;
  const std::string example = fmt::format("write {} = {{ {} = 0 }}", key, model.coordinates()[0]);
  start.require(key, example);
  const Value& table = *start.table(key);
  TableReader reader(document_, table, start.full(key));
  for (int i = 0; i < model.dofs(); ++i) {
    const std::string& name = model.coordinates()[static_cast<std::size_t>(i)];
    const Value& value = reader.require(name, fmt::format("give every coordinate a {}", key));
    vector[i] = formulas_.number(value, reader.full(name));
  }
  reader.finish();
}

RunReader::State RunReader::read_start(const Value* table, const model::FormulaModel& model,
                                       const step::RunSettings& run,
                                       std::vector<std::string>& warnings) {
  if (table == nullptr) {
    throw base::InputError("start", "is missing",
                           "write [start] with position = { ... } and velocity = { ... }",
                           {document_.file(), 0, 0, 1, ""});
  }
  TableReader start(document_, *table, "start");
  State state;
  state.t = run.start_time;
  read_vector(start, "position", model, true, state.q);
  read_vector(start, "velocity", model, false, state.u);
  check_start(start, state, model, run, warnings);
  start.finish();
  return state;
}

void RunReader::check_start(TableReader& start, const State& state,
                            const model::FormulaModel& model, const step::RunSettings& run,
                            std::vector<std::string>& warnings) {
  constexpr int kAny = model::kDynamic;
  const model::FormulaView<kAny, kAny> view(model);
  auto place = view.make_place();
  view.gaps(state.t, state.q, place);
  model::IndexList<kAny> all(model.contacts());
  for (int a = 0; a < model.contacts(); ++a) all.push(a);
  view.gradients(all, place);
  const Value* stated = start.find("tolerance");
  const double given = stated == nullptr ? -1.0 : formulas_.number(*stated, "start.tolerance");
  if (stated != nullptr && given < 0.0) {
    start.fail(*stated, "tolerance", "must not be negative", "write a number >= 0");
  }
  const Value& position = *start.find("position");
  const double reach =
      std::max(state.q.cwiseAbs().maxCoeff(), run.step * state.u.cwiseAbs().maxCoeff());
  for (int a = 0; a < model.contacts(); ++a) {
    const std::string& name = model.contact_names()[static_cast<std::size_t>(a)];
    const double gap = place.gap[a];
    if (!std::isfinite(gap)) {
      start.fail(position, "position", fmt::format("the gap of '{}' is {} at the start", name, gap),
                 "check the inequality at this position");
    }
    // 1e-9 of the scene's scale: what the gap changes over the largest coordinate.
    const double usual = 1e-9 * place.normals.abs_sum(a) * reach;
    const double tolerance = stated == nullptr ? usual : given;
    if (gap < -tolerance) {
      start.fail(
          position, "position",
          fmt::format("violates '{}': its gap is {:.6g}, below -{:.3g}", name, gap, tolerance),
          fmt::format("move the start, or allow it with start.tolerance = {:.1g}", -2.0 * gap));
    }
    const double velocity = place.normals.dot(a, state.u) + place.rate[a];
    const double slack = 1e-12 * place.normals.abs_dot(a, state.u);
    if (gap <= tolerance && velocity < -slack) {
      warnings.push_back(
          fmt::format("the start touches '{}' and moves into it at {:.4g} (gap units per time): "
                      "the first step will be a shock",
                      name, -velocity));
    }
  }
  model::Vector<kAny> force(model.dofs());
  view.force(state.t, state.q, state.u, place, force);
  if (!force.allFinite() || !std::isfinite(view.gaps_and_potential(state.t, state.q, place))) {
    start.fail(position, "position", "a force or the potential is not finite at the start",
               "check system.force and system.potential at this position");
  }
}

}  // namespace ricochet::scene
