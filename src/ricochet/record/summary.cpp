#include "ricochet/record/summary.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/version.h"
#include "ricochet/record/summary_json.h"

namespace ricochet::record {
namespace {

using base::Json;

std::string contact_name(const Summary& s, int contact) {
  return contact < 0 ? "" : s.columns.contacts[static_cast<std::size_t>(contact)];
}

void add_scheme_settings(Json& json, const step::Scheme& scheme) {
  for (const step::Setting& setting : scheme.info().settings) {
    const std::string name(setting.name);
    const double value = scheme.value(setting.name);
    if (setting.is_choice()) {
      json[name] = std::string(setting.words[static_cast<std::size_t>(value)]);
    } else if (!setting.is_automatic || value != setting.standard) {
      json[name] = value;
    }
  }
}

/// What only a scheme of systems has.
void add_settings_of_system(Json& json, const Summary& s) {
  add_scheme_settings(json, s.scheme);
  if (const auto e = s.scheme.info().restitution) {
    json["restitution"] = *e;
  } else {
    json["restitution"] = "of each contact";
  }
}

Json settings_json(const Summary& s) {
  const certify::Limits& limits = s.run.limits;
  Json json;
  json["start_time"] = s.run.start_time;
  if (s.run.control.is_on()) {
    json["until"] = s.run.end_time;
  } else {
    json["steps_asked"] = s.run.steps;
  }
  if (s.run.backward) json["backward"] = true;
  if (s.run.control.is_on()) {
    json["step_control"] = {{"max", s.run.step},
                            {"min", s.run.control.smallest},
                            {"tolerance", s.run.control.tolerance}};
  }
  json["record"] = s.run.record_every;
  if (!s.structure) {
    add_settings_of_system(json, s);
  } else if (s.structure->contact_stiffness > 0.0) {
    json["stiffness"] = s.structure->contact_stiffness;
  }
  json["residual_limit"] = limits.residual;
  if (s.world && limits.creep_part() > 0.0) json["meeting_limit"] = limits.creep_part();
  json["balance_limit"] = limits.balance;
  if (s.structure) json["closure_limit"] = limits.closure;
  if (std::isfinite(limits.violation)) json["violation_limit"] = limits.violation;
  if (!s.structure) json["correction_limit"] = limits.correction;
  json["growth_limit"] = limits.growth;
  json["lost_limit"] = limits.lost;
  json["created_limit"] = limits.created;
  if (s.outcome.certificate.arc_limit > 0.0) {
    json["arc_limit"] = s.outcome.certificate.arc_limit;
    json["touching_limit"] = limits.touching;
    json["rest_limit"] = limits.rest;
  }
  json["shock_fraction"] = limits.shock_fraction;
  return json;
}

Json by_name(const std::vector<std::string>& names, const model::Vector<model::kDynamic>& values) {
  Json json = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    json[names[i]] = values[static_cast<Eigen::Index>(i)];
  }
  return json;
}

Json parameters_json(const Summary& s) {
  Json json = Json::object();
  for (const auto& [name, value] : s.parameters) json[name] = value;
  return json;
}

Json state_json(const Summary& s) {
  Json json;
  json["t"] = s.final_state.t;
  const auto& names = s.columns.coordinates;
  for (std::size_t i = 0; i < names.size(); ++i) {
    json[names[i]] = s.final_state.q[static_cast<Eigen::Index>(i)];
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    json["d_" + names[i]] = s.final_state.u[static_cast<Eigen::Index>(i)];
  }
  return json;
}

/// By the names of `final`; null where there is none.
Json error_bar_json(const Summary& s) {
  const auto& names = s.columns.coordinates;
  const ErrorBar& bar = s.error_bar;
  if (!bar.made || bar.position.size() != names.size()) return nullptr;
  Json json = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) json[names[i]] = bar.position[i];
  for (std::size_t i = 0; i < names.size(); ++i) json["d_" + names[i]] = bar.velocity[i];
  return json;
}

/// What the error bar rests on.
Json resolution_json(const ErrorBar& bar) {
  Json json;
  if (bar.made && bar.steps[0] > 0) {
    json["companions"] = std::vector<long long>(bar.steps.begin(), bar.steps.end());
  } else {
    json["companions"] = nullptr;
  }
  json["unresolved"] = bar.unresolved.empty() ? Json(nullptr) : Json(bar.unresolved);
  json["horizon"] = bar.horizon ? Json(*bar.horizon) : Json(nullptr);
  if (!bar.made) json["not_made"] = bar.not_made;
  if (!bar.farthest_of.empty()) {
    json["largest"] = {{"body", bar.farthest_of}, {"bar", bar.farthest}};
  }
  if (bar.end_time) json["stop_time"] = *bar.end_time;
  if (bar.watches.empty()) return json;
  Json watches = Json::object();
  for (const ErrorBar::OfWatch& watch : bar.watches) {
    watches[watch.name] = {{"bar", watch.width}, {"holds", watch.holds && !watch.is_left_open}};
    if (watch.is_left_open) watches[watch.name]["one_of_many"] = true;
  }
  json["watches"] = watches;
  return json;
}

Json violation_json(const Summary& s) {
  const certify::Certificate& c = s.outcome.certificate;
  Json json;
  json["max"] = c.violation_max;
  json["mean"] = c.violation_mean();
  json["rms"] = c.violation_rms();
  if (c.violation_contact >= 0) {
    json["contact"] = contact_name(s, c.violation_contact);
    json["time"] = c.violation_time;
    json["depth"] = c.violation_depth;
  }
  return json;
}

Json energy_json(const Summary& s) {
  const certify::Ledger& ledger = s.outcome.certificate.ledger;
  Json json;
  json["kinetic_start"] = ledger.kinetic_start;
  json["kinetic_end"] = ledger.kinetic_end;
  json["kinetic_max"] = ledger.kinetic_max;
  if (s.columns.has_potential) {
    json["potential_start"] = ledger.potential_start;
    json["potential_end"] = ledger.potential_end;
    json["total_start"] = ledger.kinetic_start + ledger.potential_start;
    json["total_end"] = ledger.kinetic_end + ledger.potential_end;
    json["total_min"] = ledger.lowest;
    json["total_max"] = ledger.highest;
  }
  json["work_forces"] = ledger.forces.value();
  Json contacts;
  contacts["normal"] = ledger.contacts.value() - ledger.tangential.value();
  contacts["tangential"] = ledger.tangential.value();
  contacts["friction"] = ledger.friction.value();
  contacts["shocks"] = ledger.shocks.value();
  contacts["contact"] = ledger.contacts.value() - ledger.shocks.value();
  json["work_contacts"] = contacts;
  if (ledger.gain.value() > 0.0) json["energy_gain"] = ledger.gain.value();
  json["joints"] = ledger.joints.value();
  json["explicit_gain"] = ledger.explicit_gain.value();
  json["correction"] = ledger.correction.value();
  json["defect"] = ledger.defect.value();
  json["defect_max"] = ledger.defect_max;
  if (!s.structure) return json;
  json["work_loads"] = ledger.loads.value();
  json["work_damping"] = ledger.damping.value();
  json["work_elastic"] = ledger.elastic.value();
  json["closure"] = ledger.closure.value();
  json["closure_max"] = ledger.closure_max;
  return json;
}

/// A number in the plane, a pair in space.
Json slip_json(const std::array<double, 2>& slip, int slips) {
  return slips == 1 ? Json(slip[0]) : Json(slip);
}

Json friction_json(const Summary& s) {
  const certify::Certificate& c = s.outcome.certificate;
  const double time = std::abs(s.final_state.t - s.run.start_time);
  Json json = Json::object();
  for (std::size_t a = 0; a < c.friction.size(); ++a) {
    if (s.columns.slips_of(a) == 0) continue;
    const certify::FrictionRecord& record = c.friction[a];
    Json one;
    one["time"] = {{"free", std::max(0.0, time - record.stick_time - record.slip_time)},
                   {"stick", record.stick_time},
                   {"slip", record.slip_time}};
    one["dissipated"] = record.dissipated.value();
    one["tangential_shocks"] = record.tangential_shocks;
    json[s.columns.contacts[a]] = one;
  }
  return json;
}

Json shocks_json(const Summary& s) {
  const certify::Certificate& c = s.outcome.certificate;
  Json json;
  Json count = Json::object();
  for (std::size_t a = 0; a < c.shock_counts.size(); ++a) {
    count[s.columns.contacts[a]] = c.shock_counts[a];
  }
  json["count"] = count;
  json["speed"] = c.shock_threshold;
  json["speed_unit"] = s.run.limits.shock_speed >= 0.0 ? "rate of the gap"
                       : s.structure                   ? "part of the largest speed at a guide"
                                                       : "sqrt(2 T)";
  Json instants = Json::list();
  for (const certify::Shock& shock : c.shocks) {
    Json one;
    one["t"] = shock.t;
    one["contact"] = contact_name(s, shock.contact);
    one["approach"] = shock.approach;
    one["impulse"] = shock.impulse;
    one["work"] = shock.work;
    if (shock.transmitted) one["transmitted"] = true;
    if (shock.tangential) one["tangential"] = true;
    if (const int slips = s.columns.slips_of(static_cast<std::size_t>(shock.contact))) {
      one["slip_before"] = slip_json(shock.slip_before, slips);
      one["slip_after"] = slip_json(shock.slip_after, slips);
    }
    instants.push_back(one);
  }
  json["instants"] = instants;
  json["instants_cut"] = c.shocks_cut;
  return json;
}

Json failure_json(const Summary& s) {
  const certify::Certificate& c = s.outcome.certificate;
  const certify::FailureText text = certify::describe(c.failure);
  Json json;
  json["kind"] = text.name;
  json["time"] = c.failure_time;
  if (c.failure_contact >= 0) json["contact"] = contact_name(s, c.failure_contact);
  json["value"] = c.failure_value;
  json["meaning"] = text.meaning;
  json["try"] = step::remedy_of(c.failure, s.scheme);
  return json;
}

}  // namespace

std::string status_word(const step::Outcome& outcome, const certify::Limits& limits,
                        const ErrorBar& bar) {
  const certify::Certificate& c = outcome.certificate;
  if (!c.ok()) return certify::describe(c.failure).name;
  if (!outcome.certified) return "uncertified";
  if (outcome.interrupted) return "interrupted";
  const bool loses = c.lost_displacement > limits.lost || !bar.unresolved.empty();
  return loses ? "unresolved" : "ok";
}

std::string status_of(const Summary& s) {
  const bool fails = !s.outcome.certificate.ok();
  if (!fails && !s.output_error.empty()) return "output_error";
  return status_word(s.outcome, s.run.limits, s.error_bar);
}

Json json_of(const Summary& s) {
  const certify::Certificate& c = s.outcome.certificate;
  Json json;
  json["format"] = kFormatVersion;
  json["status"] = status_of(s);
  if (!c.ok()) json["failure"] = failure_json(s);
  if (!s.output_error.empty()) json["output_error"] = s.output_error;
  json["scene"] = {{"title", s.title}, {"source", s.source}, {"file", s.file}};
  if (!s.story.empty()) json["story"] = s.story;
  json["scheme"] = step::name_of(s.scheme);
  json["step"] = s.run.step;
  json["steps"] = s.outcome.steps;
  if (s.run.control.is_on()) json["forced"] = s.outcome.forced;
  json["settings"] = settings_json(s);
  json["parameters"] = parameters_json(s);
  json["overrides"] = s.overrides;
  json["start"] = {{"position", by_name(s.columns.coordinates, s.start.q)},
                   {"velocity", by_name(s.columns.coordinates, s.start.u)}};
  json["final"] = state_json(s);
  json["error_bar"] = error_bar_json(s);
  json["resolution"] = resolution_json(s.error_bar);
  json["violation"] = violation_json(s);
  json["residual"] = {{"max", c.residual_max}, {"mean", c.residual_mean()}, {"creep", c.creep_max}};
  json["balance"] = {{"max", c.balance_max}};
  if (c.arc_limit > 0.0) json["arcs"] = {{"max", c.arc_max}};
  json["energy"] = energy_json(s);
  json["shocks"] = shocks_json(s);
  if (!c.friction.empty()) json["friction"] = friction_json(s);
  if (c.joint_max > 0.0) json["joints"] = {{"max", c.joint_max}};
  if (c.roll_max > 0.0) json["rolls"] = {{"max", c.roll_max}};
  json["adhesive"] = {{"count", c.adhesive_count}, {"max", c.adhesive_max}};
  if (c.lost_displacement > 0.0) json["lost_displacement"] = c.lost_displacement;
  if (!s.world || !c.impulses_unique) json["impulses_unique"] = c.impulses_unique;
  const long long others = s.outcome.shared_steps + s.outcome.several_steps;
  if (others > 0) json["steps_with_other_motions"] = others;
  const long long unlooked = s.outcome.unlooked_steps;
  if (unlooked > 0) json["steps_without_a_look_for_other_motions"] = unlooked;
  if (s.outcome.general_steps > 0) {
    json["contact_solver"] = {{"general_steps", s.outcome.general_steps},
                              {"auto_steps", s.outcome.fallback_steps}};
  }
  json["warnings"] = s.warnings;
  if (!s.facts.empty()) {
    Json facts = Json::list();
    for (const StatedFact& fact : s.facts) {
      facts.push_back(
          {{"statement", fact.statement}, {"found", fact.found}, {"holds", fact.holds}});
    }
    json["facts"] = facts;
  }
  if (!s.facts_not_checked.empty()) json["facts_not_checked"] = s.facts_not_checked;
  json["wall_seconds"] = s.outcome.wall_seconds;
  json["steps_per_second"] = s.outcome.wall_seconds > 0.0
                                 ? static_cast<double>(s.outcome.steps) / s.outcome.wall_seconds
                                 : 0.0;
  json["version"] = base::kVersion;
  if (s.structure) json["structure"] = json_of(*s.structure, s.outcome.certificate);
  if (s.world) json["world"] = json_of(*s.world);
  return json;
}

std::string to_json(const Summary& s) { return json_of(s).pretty() + "\n"; }

}  // namespace ricochet::record
